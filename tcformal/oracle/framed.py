"""Sums whose c is aligned in another way than the products: RDNA3's and RDNA4's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.oracle.products import exact_specials
from tcformal.oracle.rounding import round_to, round_units, sign_of_sum
from tcformal.oracle.text import of_units
from tcformal.oracle.values import ExactValue


def framed_sum(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """One block: everything on a grid, counted in its units, added and converted.

    Shapes: products: L values.
    Ranges and units: the grid is 2^g, g the larger of the products' exponents less fraction_bits and of c's
    exponent less c_fraction_bits.
    Zero, NaN, Inf: specials as `exact_specials`; zeros have the design's zero_exponent less fraction_bits;
    where nothing has an exponent the sum is 0.
    Source: ROCm emulator, gfx11_dot2.h and gfx12_dot.h, issue #12056.
    """
    special = exact_specials([*products, c])
    if special is not None:
        return special
    f, of_c = design.fraction_bits, design.c_fraction_bits
    if f is None or of_c is None:
        raise InputError("expected fraction_bits and c_fraction_bits for a sum with c apart, but got None")
    grouped = design.aligned_group is not None
    grids = [g for g in (_grid(design, p, f, not grouped) for p in products) if g is not None]
    own = _grid(design, c, of_c, True, f)
    grid = max([*grids, *([] if own is None else [own])], default=0)
    counts = _group_counts(design, products, f, grid) if grouped else _counts(design, products, c, grid)
    of_c_units = round_units(c.number, grid, design.alignment_rounding)
    if design.vanished_c == "dropped" and grid > design.rho.e_min and not round_units(c.number, grid, "RZ"):
        of_c_units = 0
    counts.append(of_c_units)
    total = of_units(sum(counts), grid)
    if all(x.is_zero for x in (*products, c)):
        total, counts = Fraction(0), [0]
    sign = sign_of_sum(total, [x.sign for x in (*products, c)], counts, design.step.mode)
    if design.accumulator is None:
        return round_to(design, sign, abs(total), design.rho)
    first = round_to(replace(design, zero_sign="positive"), sign, abs(total), design.step)
    overflow = exact_specials([first])
    return overflow if overflow is not None else round_to(design, first.sign, first.magnitude, design.rho)


def _grid(design: Design, x: ExactValue, bits: int, zeros: bool, f: int | None = None) -> int | None:
    """The exponent of the unit that a term asks for; None: it asks for none."""
    if not x.is_zero:
        return x.exponent - bits
    if not zeros or design.zero_exponent == "none":
        return None
    if isinstance(design.zero_exponent, int):
        return design.zero_exponent - (bits if f is None else f)
    return x.exponent - bits


def _counts(design: Design, products: Sequence[ExactValue], c: ExactValue, grid: int) -> list[int]:
    """Every product in units of the grid; under ones_complement, those of the other sign than c's apart."""
    counts = [round_units(x.number, grid, design.alignment_rounding) for x in products]
    if design.accumulation != "ones_complement":
        return counts
    # The complement of n is -n - 1, seen from c: away from c by a unit more.
    away = 1 if c.sign else -1
    return [n + away * (x.sign != c.sign) for n, x in zip(counts, products, strict=True)]


def _group_counts(design: Design, products: Sequence[ExactValue], f: int, grid: int) -> list[int]:
    """The sum of each group, its products cut at their own largest exponent, in units of the grid."""
    size = design.aligned_group or len(products)
    counts = []
    for i in range(0, len(products), size):
        members = [x for x in products[i : i + size] if not x.is_zero]
        unit = max((x.exponent - f for x in members), default=grid)
        total = sum(round_units(x.number, unit, design.alignment_rounding) for x in members)
        counts.append(round_units(of_units(total, unit), grid, design.alignment_rounding))
    return counts
