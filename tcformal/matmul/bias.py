"""The mean of what a unit's dot products lose: exact where all of them can be counted."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.matmul.errors import difference, error_sample, in_units, signs_of, table, values_of
from tcformal.matmul.unit import Unit

#: Dot products that are enumerated for an exact mean, and pairs of a sum so far and what is added to it.
_ENUMERATED, _PAIRS = 1 << 20, 1 << 22
Encodings = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bias:
    """The mean of fl - xᵀy, and of (fl - xᵀy) / (u·Σ|x_k·y_k|).

    Ranges and units: `mean` is exact where `exact`; else `low` and `high` enclose the true mean of the
    relative error with a confidence of 95 % (a normal approximation).  Where sums are followed call by call,
    `relative` is the mean error over u times the mean of Σ|x_k·y_k|.
    """

    count: int
    exact: bool
    mean: Fraction
    relative: float
    low: float
    high: float


def bias(
    unit: Unit, length: int, *, distribution: str = "encodings", count: int = 4096, seed: int = 0
) -> Bias:
    """The mean of fl - xᵀy over a distribution of independent elements, c = 0.

    Ranges and units: exact, over every tuple of finite values as likely (`encodings`), where these are at
    most 2^20, or where few sums so far are reached after each call, or each fused multiply-add of a chain;
    else over `count` random dot products, with a confidence interval.
    Zero, NaN, Inf: sampled, too, where a sum may overflow.
    Errors: those of `error_sample`.
    """
    if distribution == "encodings":
        found = _enumerated(unit, length) or _followed(unit, length)
        if found is not None:
            return found
    sample = error_sample(unit, length, elements=count, distribution=distribution, seed=seed)
    relative, n = sample.relative, max(1, len(sample.errors))
    middle = math.fsum(relative) / n
    spread = 1.96 * float(np.std(relative, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    mean = sum(map(Fraction, sample.errors.tolist()), Fraction(0)) / n
    return Bias(n, False, mean, middle, middle - spread, middle + spread)


def _enumerated(unit: Unit, length: int) -> Bias | None:
    """Over every tuple of operands of one call."""
    every = _every(unit, length)
    if every is None:
        return None
    a, b = every
    result = values_of(unit.dot_bits(a, b, np.zeros(len(a), _type(unit))), unit.d_format)
    if not np.isfinite(result).all():
        return None
    x, y = values_of(a, unit.a_format) * signs_of(unit, unit.k), values_of(b, unit.b_format)
    rows = [difference(unit, float(d), *row) for d, *row in zip(result, x, y, strict=True)]
    relative = in_units(unit.d_format, np.array(rows), np.abs(x * y).sum(1))
    middle = math.fsum(relative) / len(rows)
    return Bias(len(rows), True, sum(map(Fraction, rows), Fraction(0)) / len(rows), middle, middle, middle)


def _followed(unit: Unit, length: int) -> Bias | None:
    """From the sums that each call can reach, and how many tuples of operands reach each of them.

    Elements are independent, so that what a call adds does not depend on the sum before it.
    """
    step = _step(unit)
    if length <= step.k or unit.c_format != unit.d_format or unit.spec.design.negated != "none":
        return None
    sums, tuples = {0: 1}, 1
    for done in range(0, length, step.k):
        every = _every(step, min(step.k, length - done))
        if every is None:
            return None
        a, b, times = _distinct(step, *every)
        if len(sums) * len(times) > _PAIRS:
            return None
        words = np.array(list(sums), _type(step))
        rows = [np.repeat(np.arange(len(words)), len(times)), np.tile(np.arange(len(times)), len(words))]
        ends = step.dot_bits(a[rows[1]], b[rows[1]], words[rows[0]])
        if not np.isfinite(values_of(ends, unit.d_format)).all():
            return None
        reached, places = np.unique(ends, return_inverse=True)
        met = [0] * len(reached)
        for row, before in zip(places.reshape(len(words), -1), sums.values(), strict=True):
            ways = np.zeros(len(reached), np.int64)
            np.add.at(ways, row, times)
            for j in np.flatnonzero(ways).tolist():
                met[j] += before * int(ways[j])
        sums, tuples = dict(zip(reached.tolist(), met, strict=True)), tuples * int(times.sum())
    x, y = (table(f)[0].tolist() for f in (unit.a_format, unit.b_format))
    values = values_of(np.array(list(sums), _type(unit)), unit.d_format).tolist()
    total = sum((Fraction(v) * n for v, n in zip(values, sums.values(), strict=True)), Fraction(0))
    mean = total / tuples - length * _mean(x) * _mean(y)
    size = length * _mean(map(abs, x)) * _mean(map(abs, y))
    relative = float(mean / size * (1 << unit.d_format.precision)) if size else 0.0
    return Bias(tuples, True, mean, relative, relative, relative)


def _step(unit: Unit) -> Unit:
    """One fused multiply-add of a chain of them; of other units a call."""
    d = unit.spec.design
    chain = d.summation == "sequential" and d.c_position == "first" and d.step == d.rho
    plain = d.product_rounding is None and unit.spec.emulation is None and unit.spec.tree is None
    return Unit(replace(unit.spec, k=1)) if chain and plain else unit


def _every(unit: Unit, length: int) -> tuple[Encodings, Encodings] | None:
    """All tuples of finite operands of one call, if they are few; the rest of the call is zeros."""
    if length > unit.k or unit.scale_format is not None or unit.a_format.width + unit.b_format.width > 20:
        return None
    first, second = (table(f)[1] for f in (unit.a_format, unit.b_format))
    if (len(first) * len(second)) ** length > _ENUMERATED:
        return None
    rows = [first] * length + [second] * length
    grid = np.array(list(itertools.product(*rows)), np.uint64)
    a, b = np.zeros((len(grid), unit.k), np.uint64), np.zeros((len(grid), unit.k), np.uint64)
    a[:, :length], b[:, :length] = grid[:, :length], grid[:, length:]
    return a, b


def _distinct(unit: Unit, a: Encodings, b: Encodings) -> tuple[Encodings, Encodings, NDArray[np.int64]]:
    """Of operands of one product, one pair for each of its values, and how many have it; all of more."""
    if unit.k > 1:
        return a, b, np.ones(len(a), np.int64)
    # The sign of a zero is that of the pair that is kept: it changes no finite value.
    product = values_of(a[:, 0], unit.a_format) * values_of(b[:, 0], unit.b_format)
    _, first, times = np.unique(product, return_index=True, return_counts=True)
    return a[first], b[first], times.astype(np.int64)


def _mean(values: Any) -> Fraction:
    made = [Fraction(x) for x in values]
    return sum(made, Fraction(0)) / len(made)


def _type(unit: Unit) -> str:
    return f"u{unit.c_format.storage_bits // 8}"
