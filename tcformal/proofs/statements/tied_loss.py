"""What products of few bits lose, tied to the bits that they leave below an ulp of the result.

A conversion loses what a sum has below an ulp.  A product of few significant bits that brings some of that
keeps the more, the less it can lose: both are counted together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tcformal.design.rounding import NEAREST
from tcformal.design.unit import UnitSpec

#: Products of at most so many fraction bits, sums of at most so many bits below an ulp.
_FEW, _BELOW = 6, 4
#: Losses are rounded up to parts of a unit; rates are multiples of a part, up to 1/2.
_PARTS, _RATES = 1 << 12, 1 << 6


@dataclass(frozen=True, slots=True)
class Tied:
    """A product shifted by s, with v units below an ulp, loses loss · (1 - 2^-s) - rate · v units at most.

    Ranges and units: v < 2^bits, of the term's two's complement or of its opposite, on that side; `beside` in
    place of `loss` of a c whose last place is an ulp at least, before it is shifted.
    """

    bits: int
    loss: Fraction
    rate: Fraction
    share: Fraction
    cut: int
    fraction_bits: int
    products: int

    @property
    def beside(self) -> Fraction:
        """v is 0 where c is not shifted, and 1 - 2^-s at least 1/2 where it is."""
        return 1 + 2 * self.rate * ((1 << self.bits) - 1)

    @property
    def kept(self) -> Fraction:
        """Units of 2^(E - F) that a sum loses beyond the conversion, c being the largest or zero."""
        return self.products * self.loss - self.cut * (1 - self.rate)

    @property
    def more(self) -> Fraction:
        """Units that it loses besides where a product is the largest."""
        return self.beside - self.loss

    @property
    def most(self) -> Fraction:
        """Of 2^E, at a result whose exponent is at most E."""
        return self.kept / (1 << self.fraction_bits) + (1 - self.rate) * self.ulp

    @property
    def most_beside(self) -> Fraction:
        """Of 2^E where a product has that exponent."""
        return self.most + self.more / (1 << self.fraction_bits)

    @property
    def ulp(self) -> Fraction:
        """What the conversion alone loses of 2^E, at such a result."""
        return self.share / (1 << self.fraction_bits - self.bits)

    def above(self, units: Fraction) -> Fraction:
        """What is lost of Σ|terms| at a result of a larger exponent, of a sum that loses units · 2^E.

        2^E is half of the result's power of two at most.
        """
        return (units / 2 + self.ulp) / (1 - self.ulp - units / 2)


@lru_cache(maxsize=256)
def tied(unit: UnitSpec, products: int, *, zero_c: bool) -> Tied | None:
    """The loss and the rate with the least bound of a block; None where no two go with the unit's products.

    Ranges and units: `products` of a block; with `zero_c`, one of them is the largest term.
    """
    o, design = unit.operands, unit.design
    bits, p = int(design.fraction_bits or 0), design.rho.fraction_bits
    own, places = bits - p, o.a.fraction_bits + o.b.fraction_bits
    nearest = design.rho.mode in NEAREST
    joined = design.one_sum and design.c_position == "joined" and design.group is None
    if not joined or design.piece_bits is not None:
        return None
    if design.alignment_rounding != "RZ" or design.step != design.rho:
        return None
    if not (nearest or design.rho.mode == "RZ") or places > _FEW or not 1 <= own <= _BELOW:
        return None
    if unit.scale_format is not None and unit.scale_format.fraction_bits:
        return None
    low = bits - places
    if low < own:
        return None
    share, cut = (Fraction(1, 2), 0) if nearest else (Fraction(1), 1)
    most, count = _most(o.a.fraction_bits, o.b.fraction_bits, bits, own), products - zero_c
    rates = [Fraction(q, _RATES) for q in range(1, _RATES // 2 + 1)]
    made = [Tied(own, _loss(most, rate), rate, share, cut, bits, count) for rate in rates]
    made = [x for x in made if x.loss <= 1]
    # Units are lost at a result above 2^E too, where what is below an ulp is not counted.
    made = [x for x in made if x.kept > cut * x.rate and x.above(_units(x, zero_c)) <= x.most]
    return min(made, key=lambda x: x.most, default=None)


def _units(x: Tied, zero_c: bool) -> Fraction:
    """What a sum loses of 2^E at most, whichever term is the largest."""
    return (x.kept + (0 if zero_c else x.more)) / (1 << x.fraction_bits)


def _most(first: int, second: int, bits: int, own: int) -> dict[tuple[int, int], int]:
    """Of products of normal significands of so many fraction bits, by the shift and what they have below an
    ulp: what is shifted out at most, on the side where that is lost, and 0 on the other."""
    most: dict[tuple[int, int], int] = {}
    sizes = {
        x * y << bits - first - second
        for x in range(1 << first, 2 << first) for y in range(1 << second, 2 << second)
    }  # fmt: skip
    mask = (1 << own) - 1
    for s in range(1, bits + 3):
        for x in sizes:
            kept, lost = x >> s, x & (1 << s) - 1
            for v, rest in ((kept & mask, lost), (-kept & mask, 0)):
                most[s, v] = max(most.get((s, v), 0), rest)
    return most


def _loss(most: dict[tuple[int, int], int], rate: Fraction) -> Fraction:
    """The least loss that goes with a rate, rounded up."""
    loss = max((rest + rate * (v << s)) / ((1 << s) - 1) for (s, v), rest in most.items())
    return Fraction(math.ceil(loss * _PARTS), _PARTS)
