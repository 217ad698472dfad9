"""Encodings as exact numbers, and exact sums of many of them: integers in limbs of 32 bits, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.encodings.spec import Format, Sign, Specials

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Truth = NDArray[np.bool_]

_LIMB = 32
_MASK = np.uint64((1 << _LIMB) - 1)
_LOW = np.int64((1 << _LIMB) - 1)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Words decoded: (-1)^negative · significand · 2^(exponent - fraction_bits).

    Shapes: arrays of one shape, that of the words.
    Zero, NaN, Inf: `finite` says which words are numbers; a zero has the exponent of the least normal one.
    """

    negative: Truth
    significand: NDArray[np.uint64]
    exponent: Ints
    finite: Truth
    #: Whether the exponent field is 0 and the fraction is not.
    subnormal: Truth
    fraction_bits: int

    @property
    def zero(self) -> Truth:
        """Which are zeros."""
        return np.asarray(self.significand == 0)

    def flushed(self) -> Numbers:
        """The numbers with zeros of the same sign in place of subnormal ones."""
        significand = np.where(self.subnormal, np.uint64(0), self.significand)
        off = np.zeros_like(self.subnormal)
        return Numbers(self.negative, significand, self.exponent, self.finite, off, self.fraction_bits)

    def at(self, place: Any) -> Numbers:
        """Some of the numbers."""
        return Numbers(
            self.negative[place], self.significand[place], self.exponent[place], self.finite[place],
            self.subnormal[place], self.fraction_bits,
        )  # fmt: skip

    def value(self, place: Any) -> Fraction:
        """One number."""
        size = int(self.significand[place]) * Fraction(2) ** int(self.exponent[place] - self.fraction_bits)
        return -size if self.negative[place] else size


def decoded(fmt: Format, words: NDArray[Any]) -> Numbers:
    """Words of a format as numbers, from the facts of the format alone."""
    raw = np.asarray(words, np.uint64) >> np.uint64(fmt.ignored_low_bits)
    t, e = fmt.fraction_bits, fmt.exponent_bits
    fraction = raw & np.uint64((1 << t) - 1)
    field = ((raw >> np.uint64(t)) & np.uint64((1 << e) - 1)).astype(np.int64)
    top = (raw >> np.uint64(t + e)) & np.uint64(1)
    negative = (top == 1) if fmt.sign is Sign.PRESENT else np.zeros(raw.shape, np.bool_)
    finite = np.ones(raw.shape, np.bool_)
    if fmt.specials is Specials.IEEE:
        finite = field != (1 << e) - 1
    elif fmt.specials is Specials.ALL_ONES_NAN:
        finite = ~((field == (1 << e) - 1) & (fraction == (1 << t) - 1))
    elif fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        finite = ~((top == 1) & (field == 0) & (fraction == 0))
    low = (field == 0) & fmt.has_zero
    kept = fraction if fmt.subnormals else np.zeros_like(fraction)
    significand = np.where(low, kept, fraction | np.uint64(1 << t))
    if fmt.integer:
        significand = np.where(negative, np.uint64(1 << t) - fraction, fraction)
    exponent = (np.maximum(field, 1) if fmt.has_zero else field) - fmt.bias
    return Numbers(negative, significand, exponent, finite, low & (significand != 0), t)


class Sums:
    """Exact sums, one for each of n rows.

    Ranges and units: multiples of 2^low below 2^high in magnitude.
    """

    def __init__(self, n: int, low: int, high: int) -> None:
        self.n, self.low = n, low
        self.limbs = np.zeros((max(high - low, 0) // _LIMB + 5, n), np.int64)
        self._flat = self.limbs.reshape(-1)
        self._rows = np.arange(n)

    def add(self, negative: Truth, size: NDArray[np.uint64], exponent: Ints) -> None:
        """Add ±size · 2^exponent to every row; sizes of 0 may have any exponent."""
        place = np.where(size == 0, 0, exponent - self.low)
        if place.min(initial=0) < 0 or (place >> 5).max(initial=0) + 3 > len(self.limbs):
            raise AssertionError(f"expected exponents from {self.low}, but got {exponent}")
        limb, shift = place >> 5, (place & 31).astype(np.uint64)
        first, second = (size & _MASK) << shift, (size >> np.uint64(_LIMB)) << shift
        sign = np.where(negative, np.int64(-1), np.int64(1))
        at = limb * self.n + self._rows
        thirty_two = np.uint64(_LIMB)
        self._flat[at] += sign * (first & _MASK).astype(np.int64)
        self._flat[at + self.n] += sign * ((first >> thirty_two) + (second & _MASK)).astype(np.int64)
        self._flat[at + 2 * self.n] += sign * (second >> thirty_two).astype(np.int64)

    def add_product(self, negative: Truth, factors: list[Numbers]) -> None:
        """Add the product of two numbers, and of two powers of two or small numbers beside them."""
        exponent = sum(f.exponent - f.fraction_bits for f in factors)
        sizes = sorted((f for f in factors), key=lambda f: -f.fraction_bits)
        rest = np.ones(self.n, np.uint64)
        for f in sizes[1:]:
            rest = rest * f.significand  # at most 53 bits: one factor of each pair, and scales of few bits
        whole = sizes[0].significand
        if sizes[0].fraction_bits + sum(f.fraction_bits + 1 for f in sizes[1:]) < 63:
            self.add(negative, whole * rest, np.asarray(exponent))
            return
        half = np.uint64(27)
        for x, up in ((whole & np.uint64((1 << 27) - 1), 0), (whole >> half, 27)):
            for y, more in ((rest & np.uint64((1 << 27) - 1), 0), (rest >> half, 27)):
                self.add(negative, x * y, np.asarray(exponent) + up + more)

    def sizes(self) -> tuple[Truth, Reals, Ints]:
        """The sums as sign, m and e: m · 2^e, m from 1 to 2^96 or 0, rounded a little."""
        limbs = _carried(self.limbs.copy())
        negative = limbs[-1] < 0
        limbs = _carried(np.where(negative, -limbs, limbs))
        some = limbs != 0
        top = len(limbs) - 1 - np.argmax(some[::-1], axis=0)
        top = np.maximum(top, 2)
        parts = [limbs[top - i, self._rows].astype(np.float64) for i in range(3)]
        size = parts[0] * 2.0**64 + parts[1] * 2.0**32 + parts[2]
        return negative, size, self.low + _LIMB * (top - 2)


def _carried(limbs: Ints) -> Ints:
    """The same sums with every limb but the last from 0 to 2^32 - 1."""
    for i in range(len(limbs) - 1):
        limbs[i + 1] += limbs[i] >> _LIMB
        limbs[i] &= _LOW
    return limbs
