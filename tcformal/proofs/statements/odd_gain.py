"""What sums rounded to odd gain: not all that tiny products, and the sum's own rounding, could each gain.

A tiny product counts a unit, and so many of them leave the sum far from where its own rounding gains an ulp.
A product that counts another odd number of units, and may bring it there, gains less than a unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

from tcformal.design.unit import UnitSpec

#: Products of at most so many fraction bits, and units of which they gain so many parts.
_FEW, _PARTS = 6, 1 << 12


@dataclass(frozen=True, slots=True)
class OddGain:
    """Of a sum whose terms below an ulp and a result's last bit are not 0 or 1 alone, one loses `less` less.

    Ranges and units: `bits` of a sum decide how it is rounded; `loss` · (1 - 2^-s) units is what a product
    shifted by s gains or loses that has none of these two there; it is shifted by `least` at least.
    """

    bits: int
    products: int
    fraction_bits: int
    loss: Fraction
    least: int

    @property
    def less(self) -> Fraction:
        """1 - 2^-s less what such a product gains: at least this."""
        return 1 - self.loss - Fraction(1, 1 << self.least)

    @property
    def half(self) -> int:
        """Units of an ulp of a result of exponent E."""
        return 1 << self.bits - 1

    @property
    def units(self) -> Fraction:
        """Units of 2^(E - F) that the terms lose but for one."""
        return Fraction(self.products - 1)

    @property
    def most(self) -> Fraction:
        """Of 2^E, at a result whose exponent is at most E: of tiny products alone an ulp, or as is said."""
        return (self.units - self.less + self.half - 1) / (1 << self.fraction_bits)

    @property
    def above(self) -> Fraction:
        """Of Σ|terms| at a result of a larger exponent: 2^E is half of its power of two at most."""
        units, ulp = ((x / (1 << self.fraction_bits)) for x in (self.units - 1, Fraction(self.half)))
        return (units / 2 + ulp) / (1 - ulp - units / 2)


@lru_cache(maxsize=256)
def odd_gain(unit: UnitSpec, products: int) -> OddGain | None:
    """What a block from c = 0 gains at most; None of other sums."""
    o, design = unit.operands, unit.design
    bits, p = int(design.fraction_bits or 0), design.rho.fraction_bits
    own, places = bits - p + 1, o.a.fraction_bits + o.b.fraction_bits
    odd = design.alignment_rounding == design.rho.mode == "RO" and design.step == design.rho
    if not odd or not design.one_sum or design.c_position != "joined" or design.group is not None:
        return None
    least = bits - places - own + 1
    if unit.scale_format is not None or places > _FEW or least < 4 or products + 1 >= 1 << own:
        return None
    both = (range(1 << f.fraction_bits, 2 << f.fraction_bits) for f in (o.a, o.b))
    sizes, most, mask = {x * y << bits - places for x, y in product(*both)}, Fraction(0), (1 << own) - 1
    for s, x in product(range(1, bits + 3), sizes):
        aligned = x >> s | (x & (1 << s) - 1 != 0)
        gain = Fraction((aligned << s) - x, (1 << s) - 1)
        for v, lost in ((aligned & mask, gain), (-aligned & mask, -gain)):
            most = most if v < 2 else max(most, lost)
    made = OddGain(own, products, bits, Fraction(math.ceil(most * _PARTS), _PARTS), least)
    return made if made.less > 0 and made.above <= made.most else None
