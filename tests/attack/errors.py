"""Error theorems on inputs: the exact error of every row, and how much of the bound it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.exact import Ints, Numbers, Reals, Sums, Truth, decoded
from attack.statements import ErrorStatement
from tcformal.design.spec import subtracts
from tcformal.design.unit import UnitSpec
from tcformal.simulation.operands.batch import Batch

#: Ratios are rounded by less than this: rows above 1 less this are decided on exact fractions.
_NEAR = 1e-9
#: Exponents below those of all numbers: of what is left out of a maximum.
_NONE = -(1 << 20)


@dataclass(frozen=True, slots=True)
class Ratios:
    """What rows lose of what a theorem allows.

    Shapes: arrays [n]; `met`: rows that obey its hypotheses; `broken`: rows that break it,
    on exact fractions.
    """

    ratio: Reals
    met: Truth
    broken: Truth


@dataclass(slots=True)
class _Row:
    """Products, c and d of all rows of a batch, decoded.

    Shapes: factors [n, k] each; sign [n, k]; c, d [n]; exponent, nonzero [n, k].
    """

    factors: list[Numbers]
    negative: Truth
    exponent: Ints
    nonzero: Truth
    c: Numbers
    d: Numbers


def ratios(spec: UnitSpec, s: ErrorStatement, x: Batch, words: NDArray[Any]) -> Ratios:
    """How much of its bound each row of a batch loses, of results that the unit gave."""
    r = _decoded(spec, s, x, words)
    n = len(r.exponent)
    met = _met(spec, s, r)
    at = _limits(s, r)
    _, size, e = _errors(r).sizes()
    base = np.maximum(at["E"], at["ulp"])
    magnitudes = _magnitudes(s, r, base)
    lost = size * np.ldexp(1.0, np.clip(e - base, -1000, 1000).astype(np.int32))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size == 0, 0.0, lost / s.bound.rounded(at, magnitudes, base))
    ratio = np.where(met, np.nan_to_num(ratio, nan=0.0, posinf=np.inf), 0.0)
    broken = np.zeros(n, np.bool_)
    for i in np.flatnonzero(ratio > 1 - _NEAR):
        broken[i] = _breaks(s, r, at, int(i))
    return Ratios(ratio, met, broken)


def _decoded(spec: UnitSpec, s: ErrorStatement, x: Batch, words: NDArray[Any]) -> _Row:
    a, b = decoded(spec.a_format, x.a), decoded(spec.b_format, x.b)
    c, d = decoded(spec.c_format, x.c), decoded(spec.d_format, words)
    a, b, c = (f.flushed() if x in s.flushed else f for x, f in zip("abc", (a, b, c), strict=True))
    factors = [a, b]
    if spec.scale_format is not None and spec.scale_block is not None:
        where = np.arange(x.a.shape[1]) // spec.scale_block
        assert x.scale_a is not None
        assert x.scale_b is not None
        factors += [decoded(spec.scale_format, y[:, where]) for y in (x.scale_a, x.scale_b)]
    taken = np.array([subtracts(s.subtracted, i) for i in range(x.a.shape[1])])
    nonzero = np.logical_and.reduce([~f.zero for f in factors])
    exponents = [_leading_bit(f) if s.normalised and i < 2 else f.exponent for i, f in enumerate(factors)]
    return _Row(factors, a.negative ^ b.negative ^ taken, np.asarray(sum(exponents)), nonzero, c, d)


def _leading_bit(f: Numbers) -> Ints:
    """The exponent of the leading bit of each number."""
    lead = np.frexp(np.maximum(f.significand, np.uint64(1)).astype(np.float64))[1] - 1
    return np.asarray(f.exponent + np.where(f.subnormal, lead - f.fraction_bits, 0))


def _met(spec: UnitSpec, s: ErrorStatement, r: _Row) -> Truth:
    met = r.d.finite & r.c.finite
    for letter, f in zip("abss", r.factors, strict=False):
        met = met & f.finite.all(axis=1)
        if letter in s.leading:
            met = met & ~f.subnormal.any(axis=1)
    if s.c_bits is not None and (more := spec.c_format.fraction_bits - s.c_bits) > 0:
        met = met & (r.c.significand & np.uint64((1 << more) - 1) == 0)
    return np.asarray(met & r.c.zero if s.zero_c else met)


def _limits(s: ErrorStatement, r: _Row) -> dict[str, Ints]:
    """The exponents that a bound is made of, the least that the hypotheses allow."""
    of_c = np.where(r.c.zero | s.apart, _NONE, r.c.exponent)
    exponent = np.asarray(sum(f.exponent for f in r.factors[2:])) if s.of_scales else r.exponent
    largest = np.maximum(np.where(r.nonzero, exponent, _NONE).max(axis=1), of_c)
    ulp = np.maximum(r.d.exponent, s.least) - s.places
    return {"1": np.zeros_like(ulp), "ulp": ulp, "E": np.maximum(largest, s.least)}


def _errors(r: _Row) -> Sums:
    """d less the exact sum."""
    n, k = r.exponent.shape
    parts = [r.c, r.d, *r.factors]
    low = min(
        [sum(int(f.exponent.min(initial=0)) - f.fraction_bits for f in r.factors)]
        + [int(f.exponent.min(initial=0)) - f.fraction_bits for f in parts[:2]]
    )
    high = max(
        [sum(int(f.exponent.max(initial=0)) + 1 for f in r.factors)]
        + [int(f.exponent.max(initial=0)) + 1 for f in parts[:2]]
    )
    made = Sums(n, low, high)
    for i in range(k):
        place = (slice(None), i)
        made.add_product(~r.negative[place], [f.at(place) for f in r.factors])
    made.add(~r.c.negative, r.c.significand, r.c.exponent - r.c.fraction_bits)
    # What is infinite or NaN is no number, and no row that counts.
    size = np.where(r.d.finite, r.d.significand, np.uint64(0))
    made.add(r.d.negative, size, r.d.exponent - r.d.fraction_bits)
    return made


def _magnitudes(s: ErrorStatement, r: _Row, base: Ints) -> tuple[Reals, Reals]:
    """Of the products, and of c, in units of 2^base."""
    if not any(s.bound.weights):
        return np.zeros(base.shape), np.zeros(base.shape)
    size, exponent = np.ones(r.exponent.shape), np.zeros(r.exponent.shape, np.int64)
    for f in r.factors:
        size = size * np.ldexp(f.significand.astype(np.float64), -f.fraction_bits)
        exponent = exponent + f.exponent
    size = size * np.ldexp(1.0, np.clip(exponent - base[:, None], -1000, 1000).astype(np.int32))
    c = np.ldexp(
        r.c.significand.astype(np.float64),
        np.clip(r.c.exponent - r.c.fraction_bits - base, -1000, 0).astype(np.int32),
    )
    return size.sum(axis=1), c


def _breaks(s: ErrorStatement, r: _Row, at: dict[str, Ints], i: int) -> bool:
    """Whether one row breaks the theorem, on exact fractions."""
    total, size = r.c.value(i), Fraction(0)
    for j in range(r.exponent.shape[1]):
        product = Fraction(1)
        for f in r.factors:
            product *= abs(f.value((i, j)))
        total += -product if r.negative[i, j] else product
        size += product
    limits = {name: int(x[i]) for name, x in at.items()}
    return abs(r.d.value(i) - total) > s.bound.exact(limits, (size, abs(r.c.value(i))))
