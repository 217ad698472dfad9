"""Exact sums, results that are the exact sum rounded once, and where sums of integers end to be exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.theory.claims import integer_sums
from tcformal.theory.conditions import least, nearest, plain
from tcformal.theory.grid import Grid, grid, holds, log2, plan_of
from tcformal.theory.instances import Instance


@dataclass(frozen=True, slots=True)
class Exactness:
    """What the theorems say of all sums of a unit, one call each.

    Ranges and units: `width` is the least number of fraction bits that keep every term whole.  `sum` says
    that every sum is exact, and `result` that every result is the exact sum rounded once to a number of D;
    None where a side condition fails, of which `failed` says which, in a clause each.
    """

    width: int
    sum: Instance | None
    result: Instance | None
    failed: tuple[str, ...]


def exactness(unit: UnitSpec, *, zero_c: bool = False) -> Exactness | None:
    """Whether every sum of a unit is exact, and every result correctly rounded; `zero_c`: with c = +0.

    None for a unit whose sums the theorems do not describe, whatever their widths.
    """
    plan, n = plan_of(unit), unit.k
    if plan is None or (zero_c and not unit.c_format.has_zero):
        return None
    g = _all_terms(unit, zero_c=zero_c)
    width, room, bits = plan.width(g), plan.room(g), unit.design.fraction_bits
    if room is None:
        why = f"terms reach from 2^{g.lowest} to the exponent {g.high}, which takes {width} fraction bits"
        if bits is None or bits >= width:
            why = "partial sums are rounded, or zeros of either sign tell sums apart"
        return Exactness(width, None, None, (why,))
    given = (f"{n}%nat", "true" if zero_c else "false", f"({room[0]})", f"({room[1]})")
    numbers = {"width": Fraction(width)}
    exact = Instance(
        claim="exact-sum", unit=unit, theorem="sum_is_exact",
        says=f"every result is the exact sum of {n} finite products and c{_with(zero_c)}, rounded once by "
        f"{plan.final.design.conversion}",
        arguments=given, binders=("ps", "c", "x"), conditions=(f"exact_ok d {' '.join(given)} = true",),
        numbers=numbers,
    )  # fmt: skip
    failed = _not_to_format(unit, plan.final.design, plan.final.target, g)
    if failed:
        return Exactness(width, exact, None, failed)
    rounded = Instance(
        claim="correctly-rounded", unit=unit, theorem="correctly_rounded",
        says=f"every finite result is the exact sum of {n} products and c{_with(zero_c)}, rounded once to "
        f"{unit.d_format.name} by {plan.final.target.mode}",
        arguments=given, binders=("ps", "c", "x", "z"),
        conditions=(f"correct_ok d {' '.join(given)} = true",),
        numbers=numbers,
    )  # fmt: skip
    return Exactness(width, exact, rounded, ())


def integers_end(unit: UnitSpec) -> Instance | None:
    """The bound of claim `integer-sums` is the largest: 2^B + 1 is no result, but it is a sum."""
    found, target = integer_sums(unit), _result(unit)
    if found is None or target is None:
        return None
    bound, a, b = int(found.numbers["exponent"]), unit.a_format, unit.b_format
    ones = (a, b, *([] if unit.scale_format is None else [unit.scale_format]))
    if bound != target.fraction_bits + 1 or not all(f.e_min <= 0 <= f.e_max for f in ones):
        return None
    # A product of ones beside 2^B, which is c, or another product.
    if bound > unit.c_format.e_max and (unit.k < 2 or bound > a.e_max + b.e_max):
        return None
    return Instance(
        claim="integer-sums", unit=unit, theorem="integers_end",
        says=f"no result is 2^{bound} + 1, though there are such sums, as 2^{bound} and a product 1",
        arguments=(str(bound),), binders=("w", "z"), conditions=(f"integers_end_ok d {bound} = true",),
        numbers={"exponent": Fraction(bound)},
    )  # fmt: skip


def _all_terms(unit: UnitSpec, *, zero_c: bool) -> Grid:
    """Every finite product and c, as `Exactness.lowest` and `highest` have them."""
    a, b, c = unit.a_format, unit.b_format, unit.c_format
    low, high = least(a) + least(b), _greatest(a) + _greatest(b)
    if not zero_c:
        low, high = min(low, least(c)), max(high, _greatest(c))
    return grid(unit, unit.k, low, high, high - low, zero_c=zero_c)


def _greatest(f: Format) -> int:
    """`Exactness.greatest`."""
    return max(1 - f.bias, (1 << f.exponent_bits) - (2 if f.specials is Specials.IEEE else 1) - f.bias)


def _not_to_format(unit: UnitSpec, d: Design, c: Conversion, g: Grid) -> tuple[str, ...]:
    """What keeps a conversion from being to all numbers of D."""
    f, failed = unit.d_format, []
    if not holds(f, c) or c.fraction_bits != f.fraction_bits:
        failed.append(f"results are rounded to {c.fraction_bits} fraction bits, not to {f.name}")
    if not plain(d):
        failed.append("subnormal results become zeros, or overflow is not that of the rounding")
    if not nearest(d) and log2(g.all) + 1 + g.lowest > c.e_max:
        failed.append(f"sums above {f.name} become infinities")
    return tuple(failed)


def _result(unit: UnitSpec) -> Conversion | None:
    """`Exactness.result_rounding`."""
    d = unit.design if unit.emulation is None else unit.emulation.addition
    if unit.emulation is None and (
        d.group is not None or d.piece_bits is not None or d.zero_words != "summed"
    ):
        return None
    if unit.tree is not None:
        d = stage_designs(unit.tree, d)[unit.tree.root.stage]
    return None if d.rho.integer_bits is not None else d.rho


def _with(zero_c: bool) -> str:
    return " = +0" if zero_c else ""
