"""Test inputs for comparing designs: seeded families, and sparse operands that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.vector import Lanes
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.random import Batch, Raw, batch, with_scales
from tcformal.simulation.operands.witness import Witness

if TYPE_CHECKING:  # as in tcformal.simulation.unit
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.work import Words

Index = NDArray[np.intp]
Integers = NDArray[np.int64]

#: A directed dot product has at most so many products that are not 0·0.
_LIVE = 5
#: The lowest exponent of a directed product, below that of the largest.
_DEPTH = 45
#: The share of directed dot products near the smallest number of D.
_LOW = 0.3


def inputs_to_try(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """A batch of n test dot products: half of them directed, half from the random families."""
    return together(directed(spec, k, n - n // 2, seed), batch(spec, k, n // 2, seed))


def directed(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Sparse dot products of powers of two and neighbouring numbers, widely spaced, often cancelling.

    Most have their largest term near 1, some near the smallest number of D, where zero terms matter.
    """
    rng = np.random.default_rng([seed, 1])
    places = np.array([*{0, 1, 2, 3, k // 2, k - 1} & set(range(k))])
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    low = rng.random(n) < _LOW
    floor = spec.d_format.e_min - spec.d_format.fraction_bits
    near = np.where(rng.random(n) < 0.5, rng.integers(-3, 4, n), rng.integers(-3, 2 * _DEPTH, n))
    top = np.where(low, floor + near, rng.integers(-2, 3, n))
    for j in range(_LIVE):
        place = rng.choice(places, n)
        depth = np.where(rng.random(n) < 0.4, 0, rng.integers(0, _DEPTH, n))
        # Below the smallest number of D what is cut is cut near it, so the terms are closer together.
        depth = np.where(low, rng.integers(0, 2 * _DEPTH // 3, n), depth)
        x, y = product(rng, spec, top - depth)
        live = rng.random(n) < (0.9 if j == 0 else 0.5)
        rows = np.flatnonzero(live)
        a[rows, place[rows]], b[rows, place[rows]] = x[rows], y[rows]
    if k > 1:
        # The first product is taken away by the second, so that what was cut before can be seen.
        rows = np.flatnonzero(rng.random(n) < 0.35)
        a[rows, 1], b[rows, 1] = _negated(spec.a_format, a[rows, 0]), b[rows, 0]
    depth = np.where(rng.random(n) < 0.5, rng.integers(-2, 3, n), rng.integers(0, _DEPTH, n))
    c = encoded(rng, spec.c_format, top - depth)
    c = np.where(rng.random(n) < np.where(low, 0.6, 0.25), np.uint64(0), c)
    # Nothing but negative zeros (NaN in formats without them): what shows the sign of a zero sum.
    a[:1], b[:1] = _negated(spec.a_format, np.zeros_like(a[:1])), 0
    c[:1] = _negated(spec.c_format, np.zeros_like(c[:1]))
    if k > 1:
        # Half the smallest number of D, a tie, with ever less beside it: whether that is kept decides, and
        # where c and the other products are zero, the exponent of zero terms decides whether it is.
        depths = np.arange(1, min(n, _DEPTH))
        rows = 1 + np.arange(len(depths))
        a[rows], b[rows], c[rows] = 0, 0, 0
        for column, exponents in enumerate((np.full_like(depths, floor - 1), floor - 1 - depths)):
            first = exponents // 2
            a[rows, column] = powers(spec.a_format, first)
            b[rows, column] = powers(spec.b_format, exponents - first)
    return with_scales(spec, Batch(a, b, c))


def product(rng: np.random.Generator, spec: UnitSpec, exponent: Integers) -> tuple[Raw, Raw]:
    """Encodings of factors a and b whose exponents add up to `exponent`, clamped to the formats' ranges."""
    a, b = spec.a_format, spec.b_format
    first = np.clip(exponent, a.e_min, a.e_max)
    halves = rng.random(exponent.shape) < 0.5
    first = np.where(halves, np.clip(exponent // 2, a.e_min, a.e_max), first)
    return encoded(rng, a, first), encoded(rng, b, exponent - first)


def powers(fmt: Format, exponent: Integers) -> Raw:
    """Encodings of powers of two, clamped to the format's exponent range."""
    t = fmt.fraction_bits
    field = np.clip(exponent, fmt.e_min, fmt.e_max) + fmt.bias
    subnormal = np.int64(1) << np.clip(t + exponent - fmt.e_min, 0, t)
    body = np.where(exponent < fmt.e_min, subnormal, field << t).astype(np.uint64)
    return body << np.uint64(fmt.ignored_low_bits)


def encoded(rng: np.random.Generator, fmt: Format, exponent: Integers) -> Raw:
    """Encodings of numbers with given exponents: powers of two, powers with one more bit, or predecessors."""
    t, n = fmt.fraction_bits, exponent.shape
    field = np.clip(exponent, fmt.e_min, fmt.e_max) + fmt.bias
    # Below the smallest normal number: the power of two that a subnormal has, if any.
    below = np.clip(t + exponent - fmt.e_min, 0, t)
    subnormal = exponent < fmt.e_min
    bit = np.int64(1) << rng.integers(0, max(t, 1), n)
    kind = rng.random(n)
    fraction = np.where(kind < 0.5, 0, np.where(kind < 0.75, bit if t else 0, (1 << t) - 1))
    body = np.where(subnormal, np.int64(1) << below, (field << t) | fraction).astype(np.uint64)
    sign = rng.integers(0, 2, n, dtype=np.uint64)
    if fmt.sign is not Sign.PRESENT:
        sign = np.zeros(n, np.uint64)
    # A format of few exponents may have NaN where its largest significand would be.
    body = np.minimum(body, np.uint64(fmt.largest >> fmt.ignored_low_bits))
    return (sign << np.uint64(fmt.width - 1)) | (body << np.uint64(fmt.ignored_low_bits))


def _negated(fmt: Format, raw: Raw) -> Raw:
    return raw ^ np.uint64(fmt.sign_bit)


def columns(x: Batch) -> dict[str, Lanes]:
    """The operands by input name: an array over the batch for each."""
    named: dict[str, Lanes] = {}
    for name, array in x.named().items():
        named |= {"c": array} if name == "c" else {f"{name}[{i}]": row for i, row in enumerate(array.T)}
    return named


def rows_of(x: Batch, rows: slice | Index) -> Batch:
    """The selected rows of a batch."""
    return Batch(**{name: array[rows] for name, array in x.named().items()})


def together(*batches: Batch) -> Batch:
    """Concatenate batches of one shape."""
    rows = [x.named() for x in batches]
    return Batch(**{name: np.concatenate([row[name] for row in rows]) for name in rows[0]})


def batch_of(witnesses: Sequence[Witness]) -> Batch:
    """Witnesses of one k as a batch."""
    rows = ("a", "b", "c", *(("scale_a", "scale_b") if witnesses[0].scale_a else ()))
    return Batch(**{name: np.array([getattr(w, name) for w in witnesses], np.uint64) for name in rows})


def lengthened(w: Witness, k: int) -> list[Witness]:
    """A witness padded to k products 0·0, once at the end and once at the start."""
    zeros = (0,) * (k - len(w.a))
    return [Witness(w.a + zeros, w.b + zeros, w.c), Witness(zeros + w.a, zeros + w.b, w.c)]


def witness_at(x: Batch, row: int) -> Witness:
    """Row `row` of a batch as a witness."""

    def words(array: Raw | None) -> tuple[int, ...]:
        return () if array is None else tuple(int(v) for v in array[row])

    return Witness(words(x.a), words(x.b), int(x.c[row]), words(x.scale_a), words(x.scale_b))


def element_at(spec: UnitSpec, x: MatrixWords, i: int, j: int, k: int) -> Witness:
    """The dot product of one element D[i, j], padded to k with zeros and scales of 1."""

    def words(row: Words | None, count: int, fill: int) -> tuple[int, ...]:
        return () if row is None else (*(int(v) for v in row), *[fill] * (count - len(row)))

    count = scale_count(spec, k)
    one = 0 if spec.scale_format is None else spec.scale_format.one
    return Witness(
        words(x.a[i], k, 0),
        words(x.b[:, j], k, 0),
        0 if x.c is None else int(x.c[i, j]),
        words(None if x.scale_a is None else x.scale_a[i], count, one),
        words(None if x.scale_b is None else x.scale_b[:, j], count, one),
    )
