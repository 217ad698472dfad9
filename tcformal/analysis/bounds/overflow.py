"""The shortest sum of integers that overflows, run on the unit; apart, because `accuracy` runs none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tcformal.design.integer_sums import IntegerSums, integer_sums
from tcformal.design.unit import UnitSpec
from tcformal.errors import InvariantError
from tcformal.oracle.rounded import to_fixed
from tcformal.simulation.arrays import from_raw
from tcformal.simulation.matrix_unit import Unit

#: The most products that are replayed.
LONGEST = 1 << 22


@dataclass(frozen=True, slots=True)
class Overflow:
    """Equal products whose sum leaves the numbers of the result, computed by the unit call by call."""

    sums: IntegerSums
    products: int
    total: int
    result: int

    @property
    def says(self) -> str:
        """The exact sum and the result, as a sentence."""
        return f"of {self.products:,} such products the sum is {self.total}, and the result {self.result}"


def overflow(unit: UnitSpec, products: int | None = None) -> Overflow | None:
    """So many products, by default the fewest that overflow, replayed; None for more than are replayed.

    Errors: InvariantError where calls of the unit do not end at what one sum is converted to.
    """
    sums = integer_sums(unit)
    n = sums.exact + 1 if products is None else products
    if n > LONGEST or (n > unit.k and unit.c_format != unit.d_format):
        return None
    words = (np.full(shape, word) for shape, word in zip(((1, n), (n, 1)), sums.words, strict=True))
    formats = unit.a_format, unit.b_format
    a, b = (from_raw(x.astype(f"u{f.storage_bits // 8}"), f) for x, f in zip(words, formats, strict=True))
    total = n * sums.extreme
    got = int(Unit(unit).matmul(a, b)[0, 0])
    once = int(to_fixed(int(total < 0), Fraction(abs(total)), unit.design.rho).number)
    if got != once:
        what = f"expected {n} products of {sums.words} on {unit.name} to be {once}"
        raise InvariantError(f"{what}, but got {got}")
    return Overflow(sums, n, total, got)
