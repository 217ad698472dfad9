"""What aligned products of few bits lose: less than a unit, or nothing where exponents are near."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from tcformal.design.unit import UnitSpec
from tcformal.proofs.statements.error_bound import pieces_of

#: Products of at most so many fraction bits lose visibly less than a unit, which is counted in parts.
_FEW, _PARTS = 6, 1 << 12


def block_of(unit: UnitSpec) -> UnitSpec:
    """One block of a unit as a unit."""
    return replace(unit, k=min(unit.k, unit.design.products))


@lru_cache(maxsize=256)
def product_loss(unit: UnitSpec, *, zero_c: bool) -> Fraction:
    """How much of a unit, shifted by s, a product of normal operands loses at most: loss · (1 - 2^-s) units.

    Ranges and units: from 1/2 to 1, rounded up to 12 bits; 1 where operands have many bits, 0 where c is zero
    and no two products are so far apart that one is cut; more than 1 of factors in pieces.
    """
    o, bits = unit.operands, int(unit.design.fraction_bits or 0)
    low = bits - o.a.fraction_bits - o.b.fraction_bits
    if unit.design.piece_bits is not None:
        # Each piece a unit; the lowest and the highest, which have no bit in common, one together.
        return Fraction(len(pieces_of(unit)) - (max(pieces_of(unit)) > 1))
    if unit.design.alignment_rounding == "RO":
        return _odd_loss(unit) if zero_c else Fraction(1)
    if unit.design.alignment_rounding != "RZ":
        return Fraction(1)
    if low < 0 or bits - low > _FEW or (unit.scale_format is not None and unit.scale_format.fraction_bits):
        return Fraction(1)
    if zero_c and one_scale(unit) and product_span(unit)[1] - product_span(unit)[0] <= low:
        return Fraction(0)
    return few_bits_loss(unit, 1 << o.a.fraction_bits, 1 << o.b.fraction_bits)


@lru_cache(maxsize=256)
def few_bits_loss(unit: UnitSpec, first: int = 0, second: int = 0) -> Fraction:
    """As `product_loss`, of significands from `first` and `second` up: of any unless these are given."""
    o, bits = unit.operands, int(unit.design.fraction_bits or 0)
    low = bits - o.a.fraction_bits - o.b.fraction_bits
    if low < 0 or bits - low > _FEW:
        return Fraction(1)
    both = range(first, 2 << o.a.fraction_bits), range(second, 2 << o.b.fraction_bits)
    sizes = {x * y << low for x in both[0] for y in both[1]}
    most = max(Fraction(x % (1 << s), (1 << s) - 1) for x in sizes for s in range(1, bits + 3))
    return max(Fraction(1, 2), Fraction(-(-most.numerator * _PARTS // most.denominator), _PARTS))


def _odd_loss(unit: UnitSpec) -> Fraction:
    """As `product_loss`, of products rounded to odd: 1 where one can lie far below another."""
    o, bits = unit.operands, int(unit.design.fraction_bits or 0)
    low, span = bits - o.a.fraction_bits - o.b.fraction_bits, product_span(unit)
    far = span[1] - span[0]
    if low < 0 or bits - low > _FEW or far > bits + 1 or unit.scale_format is not None:
        return Fraction(1)
    both = (range(1 << f.fraction_bits, 2 << f.fraction_bits) for f in (o.a, o.b))
    sizes, most = {x * y << low for x, y in product(*both)}, Fraction(1, 2)
    for s, x in product(range(1, far + 1), sizes):
        odd = x >> s | (x & (1 << s) - 1 != 0)
        most = max(most, Fraction(abs((odd << s) - x), (1 << s) - 1))
    return Fraction(-(-most.numerator * _PARTS // most.denominator), _PARTS)


def one_scale(unit: UnitSpec) -> bool:
    """Whether all products of one block have the same power of two as their scale, or none."""
    scale = unit.scale_format
    if scale is None:
        return True
    return not scale.fraction_bits and (unit.scale_block or 0) >= block_of(unit).k


def product_span(unit: UnitSpec) -> tuple[int, int]:
    """The least and the largest exponent of a product of two normal operands."""
    pair = (unit.operands.a, unit.operands.b)
    return sum(f.e_min for f in pair), sum((1 << f.exponent_bits) - 1 - f.bias for f in pair)
