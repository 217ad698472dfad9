"""A pool of test inputs: sparse and dense sums, carries, wide cancellation, sums near underflow, corners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.batch import encoded, inputs_to_try, powers, product, rows_of, together
from tcformal.simulation.operands.random import Batch, Raw, edge_encodings, with_scales

#: Binades between the terms of wide sums, and the share of those in which some term is there.
_WIDEST, _SMALL = 64, 0.75
#: Binades below the smallest number of D in which the terms of low sums begin, and over which they spread.
_UNDER, _SPANS = 12, (0, 3, 8, 16)


def pool_of(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """About n dot products without NaN operands: half directed and random, the rest of the families here.

    Zero, NaN, Inf: infinities occur, NaN operands do not: which word a NaN becomes is asked apart.
    """
    rng = np.random.default_rng([seed, 7])
    pool = together(
        inputs_to_try(spec, k, n // 2, seed), _sums(rng, spec, k, n // 6), _corners(rng, spec, k, n // 6),
        _wide(rng, spec, k, n // 6), _low(np.random.default_rng([seed, 8]), spec, k, n // 6),
        _split(np.random.default_rng([seed, 9]), spec, k, n // 6),
    )  # fmt: skip
    if scale_count(spec, k) > 1:
        pool = together(pool, _scaled_apart(np.random.default_rng([seed, 15]), spec, k, n // 6))
    return rows_of(pool, without_nan(spec, pool))


def without_nan(spec: UnitSpec, batch: Batch) -> NDArray[np.intp]:
    """The rows of a batch without NaN operands."""
    clean = np.ones(len(batch.c), np.bool_)
    for name, fmt in spec.input_formats().items():
        words = batch.named()[name]
        clean &= ~_nan(fmt, words).reshape(len(batch.c), -1).any(axis=1)
    return np.flatnonzero(clean)


def _nan(fmt: Format, words: Raw) -> Raw:
    """A mask of the encodings that are NaN."""
    body = words & np.uint64((1 << (fmt.width - 1)) - 1 if fmt.sign_bit else (1 << fmt.width) - 1)
    if fmt.specials is Specials.IEEE:
        return np.asarray(fmt.is_nan(words))
    if fmt.specials is Specials.ALL_ONES_NAN:
        return np.asarray(body == np.uint64((1 << (fmt.exponent_bits + fmt.fraction_bits)) - 1))
    if fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        return np.asarray(words == np.uint64(fmt.sign_bit))
    return np.zeros(words.shape, np.bool_)


def _sums(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """Products of one magnitude and one sign, in all, half or few terms: maximal carries."""
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    for words, fmt in ((a, spec.a_format), (b, spec.b_format)):
        full = np.uint64(fmt.one | (((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits))
        words[:] = np.where(rng.random((n, 1)) < 0.7, full, np.uint64(fmt.one))
        if spec.scale_format is not None:
            # Products that are added before they are scaled carry further with all of their exponents.
            words[rng.random(n) < 0.5] = fmt.largest
    live = rng.random((n, k)) < rng.choice([0.2, 0.5, 1.0, 1.0], (n, 1))
    a[~live] = 0
    minus = rng.random((n, 1)) < 0.5
    a = np.where(minus & live, a | np.uint64(spec.a_format.sign_bit), a)
    c_full = np.uint64(
        spec.c_format.one | (((1 << spec.c_format.fraction_bits) - 1) << spec.c_format.ignored_low_bits)
    )
    c = rng.choice(np.array([0, spec.c_format.one, int(c_full)], np.uint64), n)
    c = np.where(minus[:, 0] & (c != 0), c | np.uint64(spec.c_format.sign_bit), c)
    return with_scales(spec, Batch(a, b, c))


def _corners(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """One or two products and c from zeros, subnormals, the smallest and largest numbers, and Inf."""
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    for words, fmt in ((a, spec.a_format), (b, spec.b_format)):
        corners = np.array(edge_encodings(fmt), np.uint64)
        for _ in range(2):
            place = rng.integers(0, k, n)
            words[np.arange(n), place] = rng.choice(corners, n)
    # Both factors at the same places, for most.
    b = np.where(
        (a != 0) & (rng.random((n, 1)) < 0.8),
        rng.choice(np.array(edge_encodings(spec.b_format), np.uint64), (n, k)),
        b,
    )
    none = rng.random(n) < 0.4
    a[none], b[none] = 0, 0
    # All zeros negative but for one product: whether that is a zero, and which, decides the sum's sign.
    rows = np.flatnonzero(rng.random(n) < 0.4)
    place = rng.integers(0, k, len(rows))
    a[rows], b[rows] = np.uint64(spec.a_format.sign_bit), 0
    for words, fmt in ((a, spec.a_format), (b, spec.b_format)):
        words[rows, place] = rng.choice(np.array(edge_encodings(fmt), np.uint64), len(rows))
    c = rng.choice(np.array(edge_encodings(spec.c_format), np.uint64), n)
    c[rows[::2]] = spec.c_format.sign_bit
    return with_scales(spec, Batch(a, b, c))


def _wide(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """Two maximal terms that cancel, with one or two terms far below them.

    What few formats reach is cut off below terms that are near the largest numbers only.
    """
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    rows = np.arange(n)
    formats = (spec.a_format, spec.b_format)
    most = sum(fmt.e_max for fmt in formats)
    least = sum(fmt.e_min - fmt.fraction_bits for fmt in formats)
    top = min(most, spec.d_format.e_max + 1) - rng.integers(0, 3, n)
    first, second = rng.integers(0, k, n), rng.integers(0, k, n)
    for _ in range(2):
        place, down = rng.integers(0, k, n), rng.integers(0, max(1, min(_WIDEST, most - least)), n)
        some = rows[rng.random(n) < _SMALL]
        x, y = product(rng, spec, top - down)
        a[some, place[some]], b[some, place[some]] = x[some], y[some]
    a[rows, first], b[rows, first] = product(rng, spec, top)
    c = np.where(rng.random(n) < _SMALL, np.uint64(0), encoded(rng, spec.c_format, top))
    both = rows[(first != second) & (rng.random(n) < _SMALL)]
    a[both, second[both]] = a[both, first[both]] ^ np.uint64(spec.a_format.sign_bit)
    b[both, second[both]] = b[both, first[both]]
    return with_scales(spec, Batch(a, b, c))


def _low(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """Sums near the smallest number of D, of few or many terms; most without c.

    What is cut off such sums is cut at the exponent of zero terms.  Where the formats of A and B do not reach
    that low, scales do.
    """
    floor = spec.d_format.e_min - spec.d_format.fraction_bits
    top = floor + rng.integers(-_UNDER, 4, n)
    least, scales = _scales_down(spec, k, top)
    span = rng.choice(np.array(_SPANS), n)[:, np.newaxis]
    exponents = (top - least)[:, np.newaxis] - rng.integers(0, span + 1, (n, k))
    a, b = product(rng, spec, exponents)
    live = rng.random((n, k)) < rng.choice([2 / k, 0.5, 1.0], (n, 1))
    a, b = np.where(live, a, np.uint64(0)), np.where(live, b, np.uint64(0))
    c = np.where(rng.random(n) < _SMALL, np.uint64(0), encoded(rng, spec.c_format, top))
    return Batch(a, b, c, *scales)


def _split(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """Powers of two that add up to one: any truncated bit changes the sum.

    Half of the sums are the smallest number of D or twice that.  Equal terms come first, then one of them
    becomes two halves, again and again, as far down as products of powers of two lie apart.
    """
    floor = spec.d_format.e_min - spec.d_format.fraction_bits
    rows = np.arange(n)
    formats = (spec.a_format, spec.b_format)
    lowest = sum(fmt.least_exponent for fmt in formats)
    top = np.where(rng.random(n) < 0.5, floor + rng.integers(0, 2, n), rng.integers(-2, 3, n))
    halvings = rng.integers(0, k.bit_length(), n)
    most = rng.integers(1 << halvings, k + 1)
    bottom = top - halvings - (sum(fmt.e_max for fmt in formats) - lowest)
    exponents = np.repeat((top - halvings)[:, np.newaxis], k, axis=1)
    deeper = rng.random(n)
    for new in range(1, k):
        at = np.where(rng.random(n) < deeper, new - 1, rng.integers(0, new, n))
        # What is at the bottom stays whole; the largest is split instead.
        at = np.where(exponents[rows, at] > bottom, at, np.argmax(exponents[:, :new], axis=1))
        more = rows[(new >= 1 << halvings) & (new < most)]
        exponents[more, at[more]] -= 1
        exponents[more, new] = exponents[more, at[more]]
    live = np.arange(k) < most[:, np.newaxis]
    lying = np.where(live, exponents, np.iinfo(np.int64).max).min(axis=1)
    least, scales = _scales_down(spec, k, lying - lowest)
    exponents -= least[:, np.newaxis]
    low, high = spec.b_format.least_exponent, spec.b_format.e_max
    first = np.clip(exponents // 2, exponents - high, exponents - low)
    first = np.clip(first, spec.a_format.least_exponent, spec.a_format.e_max)
    a, b = powers(spec.a_format, first), powers(spec.b_format, exponents - first)
    a, b = np.where(live, a, np.uint64(0)), np.where(live, b, np.uint64(0))
    minus = (rng.random((n, 1)) < 0.5) & live
    a = np.where(minus, a | np.uint64(spec.a_format.sign_bit), a)
    order = rng.permuted(np.broadcast_to(np.arange(k), (n, k)), axis=1)
    return Batch(
        np.take_along_axis(a, order, 1), np.take_along_axis(b, order, 1), np.zeros(n, np.uint64), *scales
    )


def _scaled_apart(rng: np.random.Generator, spec: UnitSpec, k: int, n: int) -> Batch:
    """A power of two, often near the smallest number of D, and far below it a product under another scale.

    Most of these have the other sign: the sum is then one unit less, or is not where they are cut off.
    """
    count, block = scale_count(spec, k), spec.scale_block or k
    floor = spec.d_format.e_min - spec.d_format.fraction_bits
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    made = with_scales(spec, Batch(a, b, np.zeros(n, np.uint64)))
    scales = [np.array(x) for x in (made.scale_a, made.scale_b)]
    rows, sign = np.arange(n), np.uint64(spec.a_format.sign_bit)
    top = np.where(rng.random(n) < 0.5, floor + rng.integers(0, 3, n), rng.integers(-2, 3, n))
    first = rng.integers(0, count, n)
    second = (first + rng.integers(1, count, n)) % count
    minus, other = rng.random(n) < 0.5, rng.random(n) < _SMALL
    terms = ((first, top, minus), (second, top - rng.integers(1, _WIDEST, n), minus ^ other))
    for place, exponent, negative in terms:
        least, own = _scales_down(spec, k, exponent)
        column = place * block + rng.integers(0, np.minimum(block, k - place * block))
        left = exponent - least
        x, y = powers(spec.a_format, left // 2), powers(spec.b_format, left - left // 2)
        a[rows, column], b[rows, column] = np.where(negative, x | sign, x), y
        for words, scale in zip(scales, own, strict=True):
            words[rows, place] = scale[:, 0]
    c = np.where(rng.random(n) < _SMALL, np.uint64(0), encoded(rng, spec.c_format, top))
    return Batch(a, b, c, *scales)


def _scales_down(spec: UnitSpec, k: int, exponent: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Raw]]:
    """The exponents nearest to given ones that the scales of a and b reach together, and those scales."""
    of, n = spec.scale_format, len(exponent)
    if of is None:
        return np.zeros(n, np.int64), []
    exponent = np.clip(exponent, 2 * of.e_min, 2 * of.e_max)
    halves = exponent // 2, exponent - exponent // 2
    shape = n, scale_count(spec, k)
    return exponent, [np.broadcast_to(powers(of, x)[:, np.newaxis], shape) for x in halves]
