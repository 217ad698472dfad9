"""Random dot products whose terms' exponents lie close together."""

from __future__ import annotations

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.simulation.operands.batch import Integers
from tcformal.simulation.operands.random import Batch, Raw, with_scales

#: Shares: of rows in which two products cancel, of rows of the largest spread, of subnormals where they fit.
_CANCELLING, _WIDEST, _SUBNORMAL = 0.3, 0.7, 0.25
#: Shares of products that have the largest exponent.
_AT_TOP = (0.3, 0.5, 0.8, 0.95)


def close(spec: UnitSpec, k: int, n: int, seed: int, most: int, span: tuple[int, int] | None = None) -> Batch:
    """n dot products of K terms, each of some spread of 0 to `most`: products, and c in half of them.

    Ranges and units: the exponents of elements are in `span`, or anywhere; scales are 1.
    Zero, NaN, Inf: a few encodings of large exponents are NaN or Inf.
    """
    rng = np.random.default_rng([seed, most, 2])
    (alow, ahigh), (blow, bhigh), (clow, chigh) = (
        _range(fmt, span) for fmt in (spec.a_format, spec.b_format, spec.c_format)
    )
    spread = np.where(rng.random(n) < _WIDEST, most, rng.integers(0, most + 1, n))
    top = rng.integers(alow + blow, ahigh + bhigh + 1, n)
    shape = (n, k)
    depth = rng.integers(0, spread[:, None] + 1, shape)
    edge, at_top = rng.random(shape), rng.choice(_AT_TOP, n)[:, None]
    depth = np.where(edge < at_top, 0, np.where(edge < (1 + at_top) / 2, spread[:, None], depth))
    e = np.maximum(top[:, None] - depth, alow + blow)
    first = rng.integers(np.maximum(alow, e - bhigh), np.minimum(ahigh, e - blow) + 1)
    style = rng.integers(0, 9, n)
    a = _encoded(rng, spec.a_format, first, style[:, None])
    b = _encoded(rng, spec.b_format, e - first, style[:, None])
    # One sign up to some place, the other from there on, so that what a first block loses is seen.
    late = (style[:, None] >= 6) & (np.arange(k) >= rng.integers(0, k + 1, n)[:, None])
    a ^= late.astype(np.uint64) << np.uint64(spec.a_format.width - 1)
    density = rng.choice([2 / k, 0.3, 0.7, 1.0], n)
    a = np.where(rng.random(shape) < density[:, None], a, np.uint64(0))
    if k > 1:
        rows = np.flatnonzero(rng.random(n) < _CANCELLING)
        x, y = rng.integers(0, k, len(rows)), rng.integers(0, k, len(rows))
        sign = np.uint64(1 << (spec.a_format.width - 1))
        a[rows, y], b[rows, y] = np.where(x != y, a[rows, x] ^ sign, a[rows, y]), b[rows, x]
    at = np.clip(top - np.where(rng.random(n) < 0.5, spread, rng.integers(0, spread + 1)), clow, chigh)
    c = _encoded(rng, spec.c_format, at, style)
    c = np.where(rng.random(n) < 0.5, np.uint64(0), c)
    b = np.where(a == 0, np.uint64(0), b)
    # Nothing but negative zeros, which shows the sign of a zero sum.
    a[:1], b[:1], c[:1] = (
        a[:1] & 0 | np.uint64(1 << (spec.a_format.width - 1)),
        0,
        1 << (spec.c_format.width - 1),
    )
    return with_scales(spec, Batch(a, b, c))


def _range(fmt: Format, span: tuple[int, int] | None) -> tuple[int, int]:
    """The exponents of finite numbers of a format, in a span."""
    low, high = span or (fmt.e_min, fmt.e_max)
    return max(low, fmt.e_min), min(high, fmt.e_max)


def _encoded(rng: np.random.Generator, fmt: Format, exponent: Integers, style: Integers) -> Raw:
    """Numbers with these exponents; `style`, of a row: of one sign or both, mostly of all bits or of any."""
    shape, t = exponent.shape, fmt.fraction_bits
    full = (1 << t) - 1
    random = rng.integers(0, full + 1, shape)
    kinds = np.where((style % 3 == 2) & (rng.random(shape) < 0.9), 1, rng.integers(0, 5, shape))
    fraction = np.select([kinds == 0, kinds == 1, kinds == 2], [0, full, 1], random) & full
    field = exponent + fmt.bias
    low = (exponent == fmt.e_min) & (rng.random(shape) < _SUBNORMAL)
    field = np.where(low, 0, field)
    word = (field.astype(np.uint64) << np.uint64(t)) | fraction.astype(np.uint64)
    if fmt.sign is Sign.PRESENT:
        negative = (rng.random(shape) < 0.5) & (style // 3 == 1)
        word |= negative.astype(np.uint64) << np.uint64(t + fmt.exponent_bits)
    return word << np.uint64(fmt.ignored_low_bits)
