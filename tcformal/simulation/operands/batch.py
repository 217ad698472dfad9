"""Batches of dot products as raw encodings, and seeded families that reach every class of numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.vector import Lanes
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.witness import Witness

if TYPE_CHECKING:
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.threads import Words


# -------------------------------------------------------------------------------------------- Random families
#: An array of raw encodings.
Raw = NDArray[np.unsignedinteger[Any]]

#: What a batch is made of, in equal parts.
FAMILIES: dict[str, str] = {
    "bits": "uniform raw bits",
    "near": "exponents within a few of zero, some products zero",
    "cancelling": "the second half of the products cancels the first",
    "zeros": "most operands zero",
    "subnormal": "subnormals and the smallest normals",
    "edges": "zeros, extremes, one and its neighbours, Inf, NaN",
}


@dataclass(frozen=True, slots=True)
class Batch:
    """The operands of n dot products as raw encodings in uint64.

    Shapes: a, b [n, K]; c [n]; scale_a, scale_b [n, scales] or None without scales.
    """

    a: Raw
    b: Raw
    c: Raw
    scale_a: Raw | None = None
    scale_b: Raw | None = None

    def named(self) -> dict[str, Raw]:
        """The arrays by operand name, without absent scales."""
        arrays = {"a": self.a, "b": self.b, "c": self.c, "scale_a": self.scale_a, "scale_b": self.scale_b}
        return {name: x for name, x in arrays.items() if x is not None}


def numbers(fmt: Format, words: Raw, dtype: Any) -> NDArray[Any]:
    """The numbers of encodings of an integer format, in a dtype that holds them."""
    if not fmt.sign_bit:
        return words.astype(dtype)
    signed = words.view(f"i{words.itemsize}")
    if fmt.width < 8 * words.itemsize:
        signed = (signed ^ fmt.sign_bit) - fmt.sign_bit
    return signed.astype(dtype)


def with_scales(spec: UnitSpec, x: Batch) -> Batch:
    """The batch with scales of 1 added where the unit takes scales."""
    if spec.scale_format is None:
        return x
    ones = np.full((len(x.c), scale_count(spec, x.a.shape[1])), spec.scale_format.one, np.uint64)
    return replace(x, scale_a=ones, scale_b=ones)


def edge_encodings(fmt: Format) -> list[int]:
    """The edge cases of a format: zeros, extreme subnormals and normals, one and neighbours, Inf, NaN."""
    low, t, e = fmt.ignored_low_bits, fmt.fraction_bits, fmt.exponent_bits
    if fmt.integer:  # every sign of 0, 1, 2, and of the ends of the range
        near = {0, 1, 2, 3, fmt.largest - 1, fmt.largest, fmt.largest + 1, fmt.largest // 2 + 1}
        return sorted({x * sign % (1 << fmt.width) for x in near for sign in (1, -1)})
    one = fmt.bias << t if fmt.bias < (1 << e) else 0
    top = (1 << (t + e)) - 1
    magnitudes = {0, 1, (1 << t) - 1, 1 << t, one, one + 1, max(one - 1, 0), 3 << t}
    magnitudes |= {top, top - 1, top - (1 << t)}
    if fmt.specials is Specials.IEEE:
        inf = ((1 << e) - 1) << t
        magnitudes |= {inf, inf - 1, inf + 1, inf | 1 << (t - 1)}
    signed = [m << low for m in magnitudes if 0 <= m <= top]
    sign = 1 << (fmt.width - 1)
    return sorted({*signed, *(m | sign for m in signed if fmt.width > t + e + low)})


def _field(rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], low: int, high: int) -> Raw:
    """Random encodings with exponent fields in [low, high]."""
    t, e = fmt.fraction_bits, fmt.exponent_bits
    sign = rng.integers(0, 2, shape, dtype=np.uint64)
    field = rng.integers(low, high + 1, shape, dtype=np.uint64)
    fraction = rng.integers(0, 1 << t, shape, dtype=np.uint64) if t else np.zeros(shape, np.uint64)
    sparse = rng.random(shape) < 0.3
    fraction = np.where(sparse, fraction & rng.integers(0, 1 << t, shape, dtype=np.uint64), fraction)
    body = (sign << np.uint64(e + t)) | (field << np.uint64(t)) | fraction
    return (body << np.uint64(fmt.ignored_low_bits)) & np.uint64((1 << fmt.width) - 1)


def one_operand(rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], family: str) -> Raw:
    """Random encodings of one operand from the family `family`."""
    top = (1 << fmt.exponent_bits) - 1
    if fmt.integer and family in ("near", "cancelling", "subnormal"):
        # Small numbers of either sign, and products of all sizes beside a c near the ends of its range.
        wide = family == "near" and len(shape) == 1
        x = rng.integers(
            0, 1 << (max(2, fmt.width - 12) if wide else min(3, fmt.width)), shape, dtype=np.uint64
        )
        ends = np.array([fmt.largest, fmt.largest + 1], np.uint64)[rng.integers(0, 2, shape)]
        x = np.where(rng.random(shape) < 0.5, x, np.uint64(0) - x) + (ends if wide else np.uint64(0))
        return x & np.uint64((1 << fmt.width) - 1)
    if family in ("near", "cancelling"):
        span = min(4, max(1, top // 6))
        middle = min(fmt.bias, top)
        return _field(rng, fmt, shape, max(0, middle - span), min(top, middle + span))
    if family == "subnormal":
        return _field(rng, fmt, shape, 0, min(2, top))
    if family == "edges":
        return rng.choice(np.array(edge_encodings(fmt), dtype=np.uint64), shape)
    bits = rng.integers(0, (1 << fmt.width) - 1, shape, dtype=np.uint64, endpoint=True)
    if family == "zeros":
        return np.where(rng.random(shape) < 0.6, np.uint64(0), bits)
    return bits


def negated(fmt: Format, raw: Raw) -> Raw:
    """Encodings of the opposite sign; of an integer, its negative modulo 2^width."""
    if fmt.integer:
        return (np.uint64(0) - raw) & np.uint64((1 << fmt.width) - 1)
    return raw ^ np.uint64(1 << (fmt.width - 1))


def batch(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """A random batch of n dot products of k terms, with equal shares of all families."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, family in enumerate(FAMILIES):
        size = n // len(FAMILIES) + (i < n % len(FAMILIES))
        parts.append(_part(rng, spec, k, size, family))
    a, b, c = (np.concatenate([part[j] for part in parts]) for j in range(3))
    count = scale_count(spec, k)
    if spec.scale_format is None or not count:
        return Batch(a, b, c)
    scales = [_scale_rows(rng, spec.scale_format, n, count) for _ in range(2)]
    return Batch(a, b, c, scales[0], scales[1])


def _part(rng: np.random.Generator, spec: UnitSpec, k: int, size: int, family: str) -> tuple[Raw, Raw, Raw]:
    a = one_operand(rng, spec.a_format, (size, k), family)
    b = one_operand(rng, spec.b_format, (size, k), family)
    c = one_operand(rng, spec.c_format, (size,), family)
    if family == "cancelling" and k > 1:
        half = k // 2
        a[:, half : 2 * half] = negated(spec.a_format, a[:, :half])
        b[:, half : 2 * half] = b[:, :half]
    if family in ("near", "edges"):
        sparse = rng.random((size, k)) < 0.3
        a = np.where(sparse, np.uint64(0), a)
    return a, b, c


def _scale_rows(rng: np.random.Generator, fmt: Format, n: int, count: int) -> Raw:
    """Random scales: some near one, some arbitrary, a few NaN or zero."""
    one = fmt.one
    reach = 6 << fmt.fraction_bits
    near = rng.integers(one - reach, one + reach, (n, count), dtype=np.uint64)
    anywhere = rng.integers(0, 1 << fmt.width, (n, count), dtype=np.uint64)
    return np.where(rng.random((n, 1)) < 0.6, near, anywhere)


# -------------------------------------------------------------------------------------------- Rows of batches
Index = NDArray[np.intp]
Integers = NDArray[np.int64]


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


# ----------------------------------------------------------------------------------------- Digests of batches
def digest_of(*arrays: Raw | None) -> str:
    """SHA-256 of raw encodings, each as eight little-endian bytes."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is not None:
            digest.update(np.ascontiguousarray(array, dtype="<u8").tobytes())
    return digest.hexdigest()


def inputs_digest(batch: Batch) -> str:
    """SHA-256 of a batch's operands."""
    return digest_of(batch.a, batch.b, batch.c, batch.scale_a, batch.scale_b)
