"""The sums of AMD CDNA3: products in a truncated sum, or two, and then c by rounding down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.oracle.products import exact_specials
from tcformal.oracle.rounding import align, round_to, sign_of_sum
from tcformal.oracle.sums import aligned_sum, largest_exponent
from tcformal.oracle.text import exact_sum
from tcformal.oracle.values import ExactValue, exponent_of


@dataclass(frozen=True, slots=True)
class Partial:
    """A sum of products that is not yet rounded; the exponent is its e_max, None where there is none."""

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
    """The products cut at their largest exponent and summed (XIE Algorithm 10, step 2)."""
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
    """The final sum: both addends rounded down at the larger exponent, the sum again, and then converted.

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
    """A number of fraction bits, which these summations always have."""
    if number is None:
        raise InputError(
            "expected fraction_bits and sum_fraction_bits for summation=tr and gtr, but got None"
        )
    return number
