"""Bounds of long dot products, from the proved error of one block."""

from __future__ import annotations

import math
from fractions import Fraction

from tcformal.bounds.theorems import Proved, Sides

#: Half an ulp of binary32 in units of the result: what an addition of a promotion loses at most.
_UNIT_ROUNDOFF = Fraction(1, 1 << 24)
#: How many blocks are multiplied exactly, and binary places that are kept beyond.
_EXACTLY, _PLACES = 64, 400


class Recurrence:
    """C of a dot product of any length: C_{i+1} = (1 + κ)·C_i + κ for every block, from C_1 of the first.

    The result of i blocks is at most (1 + C_i)·A_i, A_i = Σ|x_k·y_k| so far, so that the next block loses at
    most κ·(A_{i+1} + C_i·A_i).
    """

    def __init__(self, proved: Proved) -> None:
        self.proved = proved
        self.steps: tuple[str, ...] = ()

    def _blocks(self, length: int) -> int:
        """Blocks of so many products: those of whole calls, and as many of the last as have products."""
        return -(-length // self.proved.size)

    def of(self, length: int) -> Fraction:
        """C of one chain."""
        first, other, blocks = self.proved.first, self.proved.other, self._blocks(length)
        assert first is not None
        if self.proved.constants is not None:
            return self.proved.constants.of(length)
        if blocks == 1 or other is None:
            return first
        if self.proved.sides is not None:
            return self._of_sides(*self.proved.sides, blocks)
        self.steps = (
            f"{blocks} blocks: C = (1 + κ_1)·(1 + κ)^{blocks - 1} - 1 with κ_1 = {first} of the first and "
            f"κ = {other}, from |result| <= (1 + C)·Σ|x_k·y_k| by induction",
        )
        return grown(first, other, blocks - 1)

    def _of_sides(self, one: Sides, other: Sides, blocks: int) -> Fraction:
        """C of one chain whose blocks lose more against the sign of c than along it."""
        most = two_sided(one, other, min(blocks, _EXACTLY))
        self.steps = (
            f"{blocks} blocks lose, against the sign of c, {one.same} and then {other.same} of the products "
            f"with that sign, {one.other} and then {other.other} of the others, and {other.of_c} of |c|, and "
            f"along it {one.along} and then {other.along} of all; in units of the positive products and of "
            "the negative ones apart, what results are too small and too large by grows from block to block, "
            "|c| being their difference and what it is wrong by",
        )
        return grown(most, max(other.of_c, other.along), max(blocks - _EXACTLY, 0))

    def promoted(self, length: int, every: int) -> Fraction:
        """C of sums of `every` products, each added to a binary32 sum to nearest."""
        own, parts = self.of(every), -(-length // every)
        total = grown(own, _UNIT_ROUNDOFF, parts - 1)
        self.steps = (
            *self.steps,
            f"{parts} partial sums: D = (1 + u)·D + u for each addition after the first, u = 2^-24, from D = "
            f"C of {every} products",
        )
        return total


def two_sided(one: Sides, other: Sides, blocks: int) -> Fraction:
    """C of so many blocks from c = +0, by what is lost of positive products, P, and of negative ones, M.

    A result is too small by x·P + y·M at most, and too large by u·P + v·M: a c that is not negative is at
    most (1 + u)·P - (1 - v)·M, and -c of another (1 + y)·M - (1 - x)·P.
    """
    x, y, u, v = one.same, one.other, one.along, one.along
    for _ in range(blocks - 1):
        up, down = (1 + u, v - 1), (x - 1, 1 + y)
        x, y, u, v = (
            max(x + other.of_c * up[0], x + other.along * down[0], other.same, other.along),
            max(y + other.of_c * up[1], y + other.along * down[1], other.other, other.along),
            max(u + other.along * up[0], u + other.of_c * down[0], other.other, other.along),
            max(v + other.along * up[1], v + other.of_c * down[1], other.same, other.along),
        )
    return max(x, y, u, v)


def as_much(first: Fraction, beside: Fraction, other: Fraction) -> Fraction:
    """What the first block loses at most, or more: that a later one loses no more of its own products.

    From an error of C·Σ|a_k·b_k| a block with `other` of c comes to (1 + C)·(1 + other) - 1, and that is to
    be at least `beside`.
    """
    return max(first, (beside - other) / (1 + other))


def grown(first: Fraction, each: Fraction, times: int) -> Fraction:
    """(1 + first)·(1 + each)^times - 1; rounded up to a multiple of 2^-400 where that is many times."""
    total, power = 1 + first, 1 + each
    if times <= _EXACTLY:
        return total * power**times - 1
    while times:
        if times & 1:
            total = _up(total * power)
        power, times = _up(power * power), times >> 1
    return total - 1


def _up(x: Fraction) -> Fraction:
    """The least multiple of 2^-400 that is at least x."""
    return Fraction(math.ceil(x * (1 << _PLACES)), 1 << _PLACES)
