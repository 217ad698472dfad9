"""The operands of products of matrices as real numbers, and the exact sums that theorems are about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.errors import values_of
from tcformal.design.unit import UnitSpec, product_signs
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.theory.stated_sum import StatedSum

#: Sums of |A||B| are computed in binary64, whose rounding errors this share of them covers, for each k.
ROUNDED = 2.0**-52
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SummedOperands:
    """The operands of exact sums A·B + C, those that count as 0 as 0, and B negative for what is taken away.

    Shapes: a [M, K], b [K, N], c [M, N].
    """

    a: Reals
    b: Reals
    c: Reals


class MatrixOperands:
    """What bounds of units of equal formats need of the matrices.

    Shapes: sizes, raised [M, N]: Σ|x_k·y_k|, and the same with every factor that is not zero at least the
    least normal number, rounded up; last, raised_last [M, N]: |c|, likewise; usable [M, N].
    Ranges and units: all products and c are multiples of 2^grid.
    """

    def __init__(self, u: UnitSpec, x: MatrixWords) -> None:
        self.products = x.a.shape[1]
        p, q = values_of(x.a, u.a_format), values_of(x.b, u.b_format)
        shape = (len(p), q.shape[1])
        z = np.zeros(shape) if x.c is None else np.broadcast_to(values_of(x.c, u.c_format), shape)
        self.zero_c = not z.any()
        rows, columns = np.isfinite(p).all(1), np.isfinite(q).all(0)
        finite = np.outer(rows, columns) & np.isfinite(z)
        self.values = SummedOperands(*(np.where(np.isfinite(v), v, 0) for v in (p, q, z)))
        grown = 1 + (self.products + 8) * ROUNDED
        a, b, self.last = (np.abs(v) for v in (self.values.a, self.values.b, self.values.c))
        self.sizes = (a @ b) * grown
        formats = u.a_format, u.b_format, u.c_format
        self.least = dict(zip("abc", (2.0**f.e_min for f in formats), strict=True))
        high = [
            np.where(v > 0, np.maximum(v, self.least[x]), 0)
            for x, v in zip("abc", (a, b, self.last), strict=True)
        ]
        self.raised, self.raised_last = (high[0] @ high[1]) * grown, high[2]
        self.usable = finite & np.isfinite(self.raised)
        self.grid = min(_grid(a) + _grid(b), _grid(self.last))

    def inside(self, stated: StatedSum) -> NDArray[np.bool_]:
        """Of which elements a theorem speaks: their operands are zero or normal, and c has so few bits."""
        fine = {}
        for letter, v in zip("abc", (self.values.a, self.values.b, self.values.c), strict=True):
            fine[letter] = (v == 0) | (np.abs(v) >= self.least[letter]) | (letter not in stated.normal)
        made = np.outer(fine["a"].all(1), fine["b"].all(0)) & fine["c"]
        if stated.c_bits is not None:
            scaled = np.ldexp(np.frexp(self.values.c)[0], stated.c_bits + 1)
            made &= scaled == np.trunc(scaled)
        return np.asarray(made)

    def summed(self, flushed: frozenset[str], u: UnitSpec) -> SummedOperands:
        """The operands as the exact sum of a unit has them; those that are given where it has all of them."""
        signs = np.array(product_signs(u, self.products), float)
        whole = {}
        for letter, v in zip("abc", (self.values.a, self.values.b, self.values.c), strict=True):
            small = (np.abs(v) < self.least[letter]) & (v != 0) & (letter in flushed)
            whole[letter] = np.where(small, 0, v) if small.any() else v
        if (signs < 0).any():
            whole["b"] = whole["b"] * signs[:, None]
        same = all(
            whole[x] is v for x, v in zip("abc", (self.values.a, self.values.b, self.values.c), strict=True)
        )
        return self.values if same else SummedOperands(whole["a"], whole["b"], whole["c"])


def apart_sums(given: MatrixOperands, first: SummedOperands, second: SummedOperands) -> tuple[Reals, Reals]:
    """The second exact sums less the first ones, and what these are wrong by at most."""
    if first is second:
        nothing = np.zeros(given.sizes.shape)
        return nothing, nothing
    more = (second.a @ second.b - first.a @ first.b) + (second.c - first.c)
    # Of either sum of products, of both differences, and of their sum.
    return more, (given.sizes + given.last) * 2 * (given.products + 8) * ROUNDED


def _grid(values: Reals) -> int:
    """The e of the largest 2^e of which all numbers are multiples; a large one for zeros."""
    some = np.unique(values[values > 0])
    if not some.size:
        return 1 << 12
    fraction, exponent = np.frexp(some)
    whole = (fraction * 2.0**53).astype(np.int64)
    low = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - 53 + low).min())
