"""Bias: the mean rounding error of dot products, exact where operands are enumerated; apart."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis import samples
from tcformal.checks import check_int
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram

#: Dot products that are enumerated for an exact mean, and pairs of a sum so far and what is added to it.
_ENUMERATED, _PAIRS = 1 << 20, 1 << 22
#: Standard deviations of a normal distribution on either side of its mean that hold 95 % of it.
_TWO_SIDED = NormalDist().inv_cdf(0.975)
#: What weights may add up to: below, products and sums of them are exact in 64 bits.
_LARGEST_WEIGHT = 1 << 62
Encodings = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Bias:
    """The mean of fl - xᵀy, and of (fl - xᵀy) / (u·Σ|x_k·y_k|).

    Ranges and units: `mean` is exact where `exact`; else `low` and `high` enclose the true mean of the
    relative error with a two-sided confidence of 95 % (a normal approximation).  Where sums are followed
    call by call, `relative` is the mean error over u times the mean of Σ|x_k·y_k|.
    """

    #: Tuples of operands that can be, or random ones.
    count: int
    exact: bool
    mean: Fraction
    relative: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Law:
    """The distributions of the elements of A and of B."""

    a: samples.Weighted
    b: samples.Weighted

    def tuples(self, length: int) -> int:
        """The number of operand tuples of a dot product."""
        return int((len(self.a.words) * len(self.b.words)) ** length)

    def mean(self, unit: Unit | RunnableProgram, length: int) -> Fraction:
        """The expectation E[xᵀy]: elements are independent."""
        return Fraction(float(samples.signs_of(unit, length).sum())) * self.a.mean() * self.b.mean()


def bias(
    unit: Unit | RunnableProgram,
    length: int,
    *,
    distribution: str = "encodings",
    count: int = 4096,
    seed: int = 0,
) -> Bias:
    """The mean of fl - xᵀy over a distribution of independent elements, c = 0.

    Ranges and units: exact for a discrete distribution (`encodings`: every finite value of a format of at
    most 16 bits as likely; or values with weights, as `1:3,-1/2:1`) where all tuples of operands are at most
    2^20, or where few sums so far are reached after each call, or each fused multiply-add of a chain; else
    over `count` random dot products, with a confidence interval.
    Zero, NaN, Inf: sampled, too, where a sum may overflow.
    Errors: those of `error_sample`.
    """
    check_int("length", length, low=1, high=1 << 20)
    laws = samples.weighted(unit.a_format, distribution), samples.weighted(unit.b_format, distribution, "b")
    if laws[0] is not None and laws[1] is not None:
        law = _Law(laws[0], laws[1])
        found = _enumerated(unit, law, length)
        if found is None and isinstance(unit, Unit):
            found = _followed(unit, law, length)
        if found is not None:
            return found
    sample = samples.error_sample(unit, length, elements=count, distribution=distribution, seed=seed)
    relative, n = sample.relative, max(1, len(sample.errors))
    middle = math.fsum(relative) / n
    spread = _TWO_SIDED * float(np.std(relative, ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    mean = sum(map(Fraction, sample.errors.tolist()), Fraction(0)) / n
    return Bias(n, False, mean, middle, middle - spread, middle + spread)


def _enumerated(unit: Unit | RunnableProgram, law: _Law, length: int) -> Bias | None:
    """The bias by enumeration of all operand tuples; None where they are too many."""
    every = _every(unit, law, length)
    if every is None:
        return None
    a, b, times = every
    c = np.zeros(len(a), _type(unit))
    words = unit.dot_bits(a, b, c) if isinstance(unit, Unit) else unit.evaluate(a, b, c)
    result = samples.values_of(words, unit.d_format)
    if not np.isfinite(result).all():
        return None
    total = int(times.sum())
    mean = _mean(result, times.tolist()) / total - law.mean(unit, length)
    x = samples.values_of(a, unit.a_format) * samples.signs_of(unit, a.shape[1])
    y = samples.values_of(b, unit.b_format)
    rows = [samples.difference(unit, float(d), *row) for d, *row in zip(result, x, y, strict=True)]
    relative = samples.in_units(unit.d_format, np.array(rows), np.abs(x * y).sum(1))
    middle = math.fsum(relative * times) / total
    return Bias(law.tuples(length), True, mean, middle, middle, middle)


def _followed(unit: Unit, law: _Law, length: int) -> Bias | None:
    """The bias by dynamic programming over the reachable sums after each call; None where they are too many.

    Elements are independent, so that what a call adds does not depend on the sum before it.
    """
    step = _step(unit)
    if length <= step.k or unit.c_format != unit.d_format or unit.spec.design.negated != "none":
        return None
    sums, total = {0: 1}, 1
    for done in range(0, length, step.k):
        every = _every(step, law, min(step.k, length - done))
        if every is None:
            return None
        a, b, times = _distinct(step, *every)
        if len(sums) * len(times) > _PAIRS:
            return None
        words = np.array(list(sums), _type(step))
        rows = [np.repeat(np.arange(len(words)), len(times)), np.tile(np.arange(len(times)), len(words))]
        ends = step.dot_bits(a[rows[1]], b[rows[1]], words[rows[0]])
        if not np.isfinite(samples.values_of(ends, unit.d_format)).all():
            return None
        reached, places = np.unique(ends, return_inverse=True)
        met = [0] * len(reached)
        for row, before in zip(places.reshape(len(words), -1), sums.values(), strict=True):
            ways = np.zeros(len(reached), np.int64)
            np.add.at(ways, row, times)
            for j in np.flatnonzero(ways).tolist():
                met[j] += before * int(ways[j])
        sums, total = dict(zip(reached.tolist(), met, strict=True)), total * int(times.sum())
    values = samples.values_of(np.array(list(sums), _type(unit)), unit.d_format)
    mean = _mean(values, list(sums.values())) / total - law.mean(unit, length)
    size = length * law.a.mean(size=True) * law.b.mean(size=True)
    relative = float(mean / size * (1 << unit.d_format.precision)) if size else 0.0
    return Bias(law.tuples(length), True, mean, relative, relative, relative)


def _mean(values: NDArray[np.float64], times: list[int]) -> Fraction:
    """The exact sum Σ value · times; results of units are binary64 numbers."""
    return sum((Fraction(v) * n for v, n in zip(values.tolist(), times, strict=True)), Fraction(0))


def _step(unit: Unit) -> Unit:
    """The unit of one step: a single fused multiply-add of a chain, else a whole call."""
    d = unit.spec.design
    chain = d.summation == "sequential" and d.c_position == "first" and d.step == d.rho
    plain = d.product_rounding is None and unit.spec.emulation is None and unit.spec.tree is None
    return Unit(replace(unit.spec, k=1)) if chain and plain else unit


def _every(
    unit: Unit | RunnableProgram, law: _Law, length: int
) -> tuple[Encodings, Encodings, NDArray[np.int64]] | None:
    """All operand tuples of one call, padded with zeros, with their weights; None where they are too many.

    Where a unit's signs are the products' alone, (-a)·b stands for a·(-b).
    """
    k, signed = length, False
    if isinstance(unit, Unit):
        k, signed = unit.k, unit.spec.emulation is None
        if length > k or unit.scale_format is not None:
            return None
    # Signs leave at least half of the pairs.
    if len(law.a.words) * len(law.b.words) > 2 * _ENUMERATED:
        return None
    pairs: dict[tuple[int, int], int] = {}
    signs = law.a.fmt.sign_bit, law.b.fmt.sign_bit
    for (x, p), (y, q) in itertools.product(*(zip(w.words, w.weights, strict=True) for w in (law.a, law.b))):
        # A zero keeps its word: there is a format in which that with the other sign is a NaN.
        moved = signed and all(signs) and x & signs[0] and y & ~signs[1]
        key = (x ^ signs[0], y ^ signs[1]) if moved else (x, y)
        pairs[key] = pairs.get(key, 0) + p * q
    many = len(pairs) ** length > _ENUMERATED
    if many or (law.a.total * law.b.total) ** length >= _LARGEST_WEIGHT:
        return None
    found = np.array(list(pairs), np.uint64)
    which = np.array(list(itertools.product(range(len(pairs)), repeat=length)), np.int64)
    a, b = np.zeros((len(which), k), np.uint64), np.zeros((len(which), k), np.uint64)
    a[:, :length], b[:, :length] = found[which, 0], found[which, 1]
    return a, b, np.prod(np.array(list(pairs.values()), np.int64)[which], axis=1)


def _distinct(
    unit: Unit, a: Encodings, b: Encodings, times: NDArray[np.int64]
) -> tuple[Encodings, Encodings, NDArray[np.int64]]:
    """Operand pairs with distinct products and summed weights, for one-product calls; else all tuples."""
    if unit.k > 1 or unit.a_format.precision + unit.b_format.precision > 53:
        return a, b, times
    # The sign of a zero is that of the pair that is kept: it changes no finite value.
    product = samples.values_of(a[:, 0], unit.a_format) * samples.values_of(b[:, 0], unit.b_format)
    _, first, places = np.unique(product, return_index=True, return_inverse=True)
    added = np.zeros(len(first), np.int64)
    np.add.at(added, places.reshape(-1), times)
    return a[first], b[first], added


def _type(unit: Unit | RunnableProgram) -> str:
    return f"u{unit.c_format.storage_bits // 8}"
