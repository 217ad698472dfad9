"""The oracle's sum of one block in exact fractions: a file of its own, as in `semantics`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.spec import Alignment, Design
from tcformal.errors import InputError
from tcformal.oracle.numerals import exact_sum, of_units
from tcformal.oracle.products import exact_specials
from tcformal.oracle.rounded import align, round_to, round_units, sign_of_sum
from tcformal.oracle.sums import aligned_sum, fused_sum, largest_exponent
from tcformal.oracle.values import ExactValue, NumberClass, exponent_of


@dataclass(frozen=True, slots=True)
class Partial:
    """An unrounded sum of products with its e_max, which is None where there is none."""

    total: Fraction
    sign: int
    exponent: int | None


def round_down_sum(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """TR-FDPA (summation `tr`) or GTR-FDPA (`gtr`) of one block.

    Shapes: products: L values.
    Zero, NaN, Inf: specials of products and c as `exact_specials`.
    Source: XIE Algorithms 10 and 11; MMA-Sim 2.1.1 where it says otherwise.
    """
    special = exact_specials([*products, c])
    if special is not None:
        return special
    if design.summation == "tr":
        return add_c(design, truncated(design, products), c)
    sides = [truncated(design, side) for side in (products[0::2], products[1::2]) if side]
    return add_c(design, sum_of_sides(design, sides), c)


def truncated(design: Design, products: Sequence[ExactValue]) -> Partial:
    """The truncated sum of products, aligned at their largest exponent (XIE Algorithm 10, step 2)."""
    total, sign = aligned_sum(design, products, design.rho.mode)
    return Partial(total, sign, largest_exponent(design, products))


def sum_of_sides(design: Design, sides: Sequence[Partial]) -> Partial:
    """The sums of even and odd products, rounded down at the larger exponent (XIE Algorithm 11, step 3)."""
    exponents = [side.exponent for side in sides if side.exponent is not None]
    e_max = max(exponents) if exponents else None
    addends = [side.total for side in sides]
    if e_max is not None:
        addends = [align(addend, e_max - _bits(design.fraction_bits), "RD") for addend in addends]
    total = exact_sum(addends)
    return Partial(total, sign_of_sum(total, [s.sign for s in sides], addends, design.rho.mode), e_max)


def add_c(design: Design, products: Partial, c: ExactValue) -> ExactValue:
    """TR-FDPA's final sum: both addends rounded down at the larger exponent, then the sum, then the
    conversion.

    With sum_rounding RZ the three are cut toward zero (the hypothetical instruction of XIE §6.2.4), with
    RD_ADDENDS only the addends are rounded down, the products' sum to F2 bits (the printed algorithms).
    Ranges and units: the products' sum keeps F2 + 1 fraction bits and c keeps F, or none at all in `gtr`
    where Exp(c) < E - F - 1; their sum keeps F2 bits below its own exponent, which is at least e_min.
    Zero, NaN, Inf: a sum of zero has the sign that `sign_of_sum` gives it; a sum that the last cut
    makes zero keeps its sign.
    Source: XIE Algorithm 10, steps 3 and 4; MMA-Sim 2.1.1 (F2 + 1, the normalised sum).
    """
    f, f2, mode = _bits(design.fraction_bits), _bits(design.sum_fraction_bits), design.sum_rounding
    again, spare = True, 1
    if mode == "RD_ADDENDS":
        mode, again, spare = "RD", False, 0
    e = c.exponent if products.exponent is None else max(products.exponent, c.exponent)
    addends = [
        align(products.total, e - (f2 + spare), mode),
        align(c.number, e - f, mode),
    ]
    if design.summation == "gtr" and c.exponent < e - f - 1:
        addends[1] = Fraction(0)
    total = addends[0] + addends[1]
    sign = sign_of_sum(total, [products.sign, c.sign], addends, design.rho.mode)
    if total and again:
        own = max(exponent_of(abs(total)), design.rho.e_min)
        total = align(total, own - f2, mode)
    return round_to(design, sign, abs(total), design.rho)


def _bits(number: int | None) -> int:
    """A number of fraction bits that these summations always define."""
    if number is None:
        raise InputError(
            "expected fraction_bits and sum_fraction_bits for summation=tr and gtr, but got None"
        )
    return number


def framed_sum(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """One block with c aligned differently: all terms in units of one grid, added and converted.

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


def _grid(design: Alignment, x: ExactValue, bits: int, zeros: bool, f: int | None = None) -> int | None:
    """The exponent of the grid unit that a term requires; None if it requires none."""
    if not x.is_zero:
        return x.exponent - bits
    if not zeros or design.zero_exponent == "none":
        return None
    if isinstance(design.zero_exponent, int):
        return design.zero_exponent - (bits if f is None else f)
    return x.exponent - bits


def _counts(design: Design, products: Sequence[ExactValue], c: ExactValue, grid: int) -> list[int]:
    """Each product in grid units; under ones_complement, products of the other sign than c's are one unit
    further away from c."""
    counts = [round_units(x.number, grid, design.alignment_rounding) for x in products]
    if design.accumulation != "ones_complement":
        return counts
    # The complement of n is -n - 1, seen from c: away from c by a unit more.
    away = 1 if c.sign else -1
    return [n + away * (x.sign != c.sign) for n, x in zip(counts, products, strict=True)]


def _group_counts(design: Alignment, products: Sequence[ExactValue], f: int, grid: int) -> list[int]:
    """Each group's sum in grid units, its products truncated at the group's largest exponent."""
    size = design.aligned_group or len(products)
    counts = []
    for i in range(0, len(products), size):
        members = [x for x in products[i : i + size] if not x.is_zero]
        unit = max((x.exponent - f for x in members), default=grid)
        total = sum(round_units(x.number, unit, design.alignment_rounding) for x in members)
        counts.append(round_units(of_units(total, unit), grid, design.alignment_rounding))
    return counts


def dot_block(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """The sum of one block's products and c, rounded by `design.conversion`.

    Shapes: products: L values (groups count as one), in the design's order.
    Zero, NaN, Inf: as `fused_sum`, step by step; c comes with its subnormals already flushed.
    Source: XIE Algorithms 2, 4 to 11, Figure 2; FASI and VALPEY §4.3 (orders of accumulation);
    Intel SDM, TDPBF16PS (two chains).
    """
    if design.summation in ("tr", "gtr"):
        return round_down_sum(design, products, c)
    if design.framed:
        return framed_sum(design, products, c)
    if design.c_position == "joined":
        return fused_sum(design, [*products, c], design.rho, len(products))
    if design.c_position == "after":
        return products_then_c(design, products, c)
    if design.c_position == "first":
        return chain_from_c(design, products, c)[-1]
    if design.summation == "fused":
        partial = fused_sum(design, products, design.step)
    elif design.summation == "sequential":
        partial = chain(design, products[0], products[1:])
    elif design.summation == "pair_chains":
        partial = pair_chains(design, products)
    elif design.summation == "pairwise":
        partial = pairwise_sum(design, products)
    else:
        partial = two_chains(design, products)
    return fused_sum(design, [partial, c], design.rho)


def products_then_c(design: Design, products: Sequence[ExactValue], c: ExactValue) -> ExactValue:
    """The truncated sum of products, plus c untruncated, with one rounding.

    Zero, NaN, Inf: specials as `exact_specials`; the sign of a zero as IEEE 754 gives it, for the sum of the
    products and then for that with c.
    Source: Gaudi 2, fma_mul_add_tree_n (add_C_before_norm).
    """
    special = exact_specials([*products, c])
    if special is not None:
        return special
    mode = design.rho.mode
    first, sign = aligned_sum(design, products, mode)
    both = [first, c.number]
    total = first + c.number
    return round_to(design, sign_of_sum(total, [sign, c.sign], both, mode), abs(total), design.rho)


def chain(design: Design, start: ExactValue, terms: Sequence[ExactValue]) -> ExactValue:
    """A chain of sums from a start value, each rounded as a partial sum."""
    partial = start
    for term in terms:
        partial = fused_sum(design, [partial, term], design.step)
    return partial


def chain_from_c(design: Design, products: Sequence[ExactValue], c: ExactValue) -> list[ExactValue]:
    """The result of each step of a chain that starts with c; the last step uses the final conversion."""
    results: list[ExactValue] = []
    for k, term in enumerate(products):
        target = design.rho if k == len(products) - 1 else design.step
        results.append(fused_sum(design, [results[-1] if results else c, term], target))
    return results


def pairwise_sum(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """Pairwise summation of the products; an odd element passes to the next level."""
    level = list(products)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [fused_sum(design, pair, design.step) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def two_chains(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """The sum of two chains, of even-index and odd-index products."""
    even, odd = (chain_from_zero(design, products[first::2])[-1] for first in (0, 1))
    return fused_sum(design, [even, odd], design.step)


def pair_chains(design: Design, products: Sequence[ExactValue]) -> ExactValue:
    """Sums of neighbouring pairs, added in two alternating chains, then the sum of both."""
    sums = [fused_sum(design, products[i : i + 2], design.step) for i in range(0, len(products), 2)]
    return two_chains(design, sums)


def chain_from_zero(design: Design, products: Sequence[ExactValue]) -> list[ExactValue]:
    """A chain that starts with the accumulator's +0: the start, then the result of each step."""
    results = [ExactValue(NumberClass.FINITE, 0, Fraction(0), design.step.e_min)]
    for term in products:
        results.append(fused_sum(design, [results[-1], term], design.step))
    return results
