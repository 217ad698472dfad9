"""Assumptions for pairs of units: inputs on which both should agree."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.programs.chain import common_k
from tcformal.query.assume import Assumptions


def no_overflow(first: UnitSpec, second: UnitSpec) -> tuple[int, int]:
    """The exponent range of elements in which no product or sum overflows or underflows D.

    Ranges and units: the largest sum of all products and c is below overflow, every product is a multiple
    of the least subnormal of D, and no zero term of either unit lies above a product.
    """
    o, k = first.operands, common_k(first, second)
    high = (o.d.e_max - 2 - k.bit_length()) // 2
    bits = o.a.fraction_bits + o.b.fraction_bits
    zeros = [u.design.zero_exponent for u in (first, second) if isinstance(u.design.zero_exponent, int)]
    low = -(-max([o.d.e_min - o.d.fraction_bits + bits, *zeros]) // 2)
    return low, high


def variants(first: UnitSpec, second: UnitSpec) -> list[Assumptions]:
    """The assumption sets for a pair, the most restrictive first."""
    sets = []
    for span in (no_overflow(first, second), None):
        for c in (0, None):
            sets.append(Assumptions(("finite",), span, c))
    return sets
