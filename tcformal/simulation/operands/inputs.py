"""Test inputs for comparing designs: sparse operands, carries, cancellation, and rounding boundaries."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec, product_signs
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.oracle.values import NumberClass, decode
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch,
    edge_encodings,
    numbers,
    rows_of,
    together,
    with_scales,
)

# --------------------------------------------------------------------- Sparse operands that a person can read
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
    if spec.operands.d.integer:
        return integers(spec, k, n, seed)
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


def integers(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Dot products of integers about the ends of D's range: a few products, or equal ones everywhere.

    c is what the products leave to an end, plus or minus a little, or without the last product.
    """
    rng, o = np.random.default_rng([seed, 7]), spec.operands
    edges = [np.array(edge_encodings(f), np.uint64) for f in (o.a, o.b)]
    a, b = (rng.choice(e, (n, k)) for e in edges)
    equal, few = rng.random(n) < 0.4, rng.random((n, k)) < 2 / k
    a, b = (np.where(equal[:, None], x[:, :1], np.where(few, x, np.uint64(0))) for x in (a, b))
    of_a, of_b = (numbers(f, w, np.int64) for f, w in ((o.a, a), (o.b, b)))
    signs = np.array(product_signs(spec, k), np.int64)
    products = of_a * of_b * signs
    cut = np.where(rng.random(n) < 0.5, 0, products[np.arange(n), rng.integers(0, k, n)])
    end = np.where(rng.random(n) < 0.5, o.d.largest, -(1 << o.d.fraction_bits) if o.d.sign_bit else 0)
    c = (end - products.sum(axis=1) + cut + rng.integers(-2, 3, n)).astype(np.uint64)
    c = np.where(rng.random(n) < 0.1, np.uint64(0), c & np.uint64((1 << o.c.width) - 1))
    # First the least that can overflow: one product 1 or -1 beside an end of C's range.
    ones = [(x, y, z) for z in (o.c.largest, o.c.sign_bit) for x in _units(o.a) for y in _units(o.b)][:n]
    a[: len(ones)] = b[: len(ones)] = 0
    for row, (x, y, z) in enumerate(ones):
        a[row, 0], b[row, 0], c[row] = x, y, z
    return Batch(a, b, c)


def _units(fmt: Format) -> list[int]:
    """The encodings of 1 and, in a format with negative numbers, of -1."""
    return [1, (1 << fmt.width) - 1] if fmt.sign_bit else [1]


#: The bits of two operands up to which all pairs are asked, and products of like size that stand in one sum.
_PAIR_BITS, _LIKE_SIZE = 16, 256


def every_product(spec: UnitSpec, k: int, seed: int) -> Batch | None:
    """Every pair of short operands at every place of k, as a table of products has them; None for long ones.

    Of operands of more than 8 bits every pair of fractions, as numbers from 1 to 2.  The products of one sum
    are of like size: none hides another one.
    """
    rows = []
    for fmt in (spec.a_format, spec.b_format):
        if fmt.width <= _PAIR_BITS // 2:
            words = range(1 << fmt.width)
        elif fmt.fraction_bits <= _PAIR_BITS // 2:
            one, step = fmt.one, 1 << fmt.ignored_low_bits
            words = range(one, one + (step << fmt.fraction_bits), step)
        else:
            return None
        found = {word: decode(fmt, word) for word in words}
        rows.append({w: float(x.magnitude) for w, x in found.items() if x.kind is NumberClass.FINITE})
    of_a, of_b = (np.array([*row], np.uint64) for row in rows)
    by_size = np.argsort(np.multiply.outer(*([*row.values()] for row in rows)), axis=None, kind="stable")
    rng, n = np.random.default_rng([seed, 8]), by_size.size
    near = np.arange(n)[:, None] // _LIKE_SIZE + rng.random((n, k))
    first, second = np.divmod(by_size[np.argsort(near, axis=0)], len(of_b))
    return with_scales(spec, Batch(of_a[first], of_b[second], np.zeros(n, np.uint64)))


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


# ----------------------------------- The pool: sums, carries, wide cancellation, sums near underflow, corners
#: Binades between the terms of wide sums, and the share of those in which some term is there.
_WIDEST, _SMALL = 64, 0.75
#: Binades below the smallest number of D in which the terms of low sums begin, and over which they spread.
_UNDER, _SPANS = 12, (0, 3, 8, 16)


def pool_of(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """About n dot products without NaN operands: half directed and random, the rest of the families here.

    Zero, NaN, Inf: infinities occur, NaN operands do not: which word a NaN becomes is asked apart.
    """
    if spec.operands.d.integer:
        return inputs_to_try(spec, k, n, seed)
    rng = np.random.default_rng([seed, 7])
    pool = together(
        inputs_to_try(spec, k, n // 2, seed), _sums(rng, spec, k, n // 6), _corners(rng, spec, k, n // 6),
        _wide(rng, spec, k, n // 6), _low(np.random.default_rng([seed, 8]), spec, k, n // 6),
        _split(np.random.default_rng([seed, 9]), spec, k, n // 6),
    )  # fmt: skip
    if scale_count(spec, k) > 1:
        pool = together(pool, _scaled_apart(np.random.default_rng([seed, 15]), spec, k, n // 6))
    return _clean(spec, pool)


def without_nan(spec: UnitSpec, batch: Batch) -> NDArray[np.intp]:
    """The rows of a batch without NaN operands."""
    clean = np.ones(len(batch.c), np.bool_)
    for name, fmt in spec.input_formats().items():
        words = batch.named()[name]
        clean &= ~_nan(fmt, words).reshape(len(batch.c), -1).any(axis=1)
    return np.flatnonzero(clean)


def _clean(spec: UnitSpec, batch: Batch) -> Batch:
    return rows_of(batch, without_nan(spec, batch))


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
        words[:] = np.where(rng.random((n, 1)) < 0.7, _below_two(fmt), np.uint64(fmt.one))
        if spec.scale_format is not None:
            # Products that are added before they are scaled carry further with all of their exponents.
            words[rng.random(n) < 0.5] = fmt.largest
    live = rng.random((n, k)) < rng.choice([0.2, 0.5, 1.0, 1.0], (n, 1))
    a[~live] = 0
    minus = rng.random((n, 1)) < 0.5
    a = np.where(minus & live, a | np.uint64(spec.a_format.sign_bit), a)
    c = rng.choice(np.array([0, spec.c_format.one, int(_below_two(spec.c_format))], np.uint64), n)
    c = np.where(minus[:, 0] & (c != 0), c | np.uint64(spec.c_format.sign_bit), c)
    return with_scales(spec, Batch(a, b, c))


def _below_two(fmt: Format) -> np.uint64:
    return np.uint64(fmt.one | (((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits))


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


# ----------------------- Rounding boundaries: around the least normal number of D, below it, and at ties of D
#: Inputs around the least normal number, as many below it, and those beside halves of D's last bit.
_BELOW, _RESTS, _TIES = 500, 2000, 4000
#: The share of those around the least normal number that have it as a product, before the other one.
_PRODUCTS = 0.5
#: Products at most beside a tie.
_BESIDE = 3
#: Products that cancel each other.
_PAIR = 2
#: The share of ties beyond a power of two, and binades below a tie from which smaller products are.
_CARRIED, _NEAR = 0.25, (12, 1000)
#: Products of sums that leave a small rest, codes of exponents of their factors, and factors to choose from.
_TERMS, _SPAN, _DRAWN = 4, 16, 200


def boundaries(spec: UnitSpec, k: int, seed: int) -> Batch:
    """Some thousand dot products of all families below, without NaN operands and without scales."""
    if spec.operands.d.integer:
        return integers(spec, k, 1024, seed)
    return together(
        below_normal(spec, k, _BELOW, seed), alone(spec, k, _BELOW, seed), vanishing(spec, k, _BELOW, seed),
        leading_zeros(spec, k, _BELOW, seed), rests(spec, k, _RESTS, seed), ties(spec, k, _TIES, seed),
        unnormalised(spec, k, _BELOW, seed),
    )  # fmt: skip


def ends(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """About 4n sums of few terms near the least normal number of D, and near its largest; no scales."""
    return together(
        below_normal(spec, k, 2 * n, seed), vanishing(spec, k, n, seed), near_largest(spec, k, n, seed)
    )


def near_largest(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """The largest number of D as c, and a product of about half its ulp; no scales.

    Which of these sums overflow depends on the rounding, and on what too large sums become.
    """
    rng, d = np.random.default_rng([seed, 17]), spec.d_format
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    rows, place = np.arange(n), rng.integers(0, k, n)
    a[rows, place], b[rows, place] = product(rng, spec, d.e_max - d.fraction_bits - rng.integers(0, 3, n))
    most = np.uint64(min(spec.c_format.largest, spec.c_format.sign_bit - 1))
    c = most | rng.integers(0, 2, n, dtype=np.uint64) * np.uint64(spec.c_format.sign_bit)
    return _clean(spec, Batch(a, b, c))


def below_normal(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """The least normal number of D, as c or a product, and a product near D's least number; no scales.

    Which of these sums is subnormal depends on when that is looked at: before or after rounding, and to how
    many bits.
    """
    rng, d = np.random.default_rng([seed, 10]), spec.d_format
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    rows, place = np.arange(n), rng.integers(0, k, n)
    near = d.e_min - d.fraction_bits + rng.integers(-4, 3, n)
    a[rows, place], b[rows, place] = product(rng, spec, near)
    sign = rng.integers(0, 2, n, dtype=np.uint64) * np.uint64(spec.c_format.sign_bit)
    c = powers(spec.c_format, np.full(n, d.e_min, np.int64)) | sign
    some = np.flatnonzero((rng.random(n) < _PRODUCTS) & (place > 0))
    first, half = rng.integers(0, np.maximum(place, 1))[some], np.full(len(some), d.e_min // 2, np.int64)
    a[some, first], b[some, first] = powers(spec.a_format, half), powers(spec.b_format, d.e_min - half)
    c[some] = 0
    return _clean(spec, Batch(a, b, c))


def alone(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """One product below the least normal number, with every other term zero; no scales.

    Zero terms that count as numbers are as large as it, or a little smaller.
    """
    rng = np.random.default_rng([seed, 11])
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    rows, place = np.arange(n), rng.integers(0, k, n)
    least = spec.a_format.least_exponent + spec.b_format.least_exponent
    exponents = rng.integers(least, spec.a_format.e_min + spec.b_format.e_min + 2, n)
    a[rows, place], b[rows, place] = product(rng, spec, exponents)
    return _clean(spec, Batch(a, b, np.zeros(n, np.uint64)))


def vanishing(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Zeros, subnormal factors and products that underflow in D, all of one sign per row; no scales.

    c is a zero or subnormal.  Where all of these are made zeros, their signs decide that of the sum.
    """
    rng, d = np.random.default_rng([seed, 13]), spec.d_format
    near = d.e_min - d.fraction_bits - rng.integers(1, 4, n * k)
    a, b = product(rng, spec, near)
    kind = np.maximum(rng.integers(-1, 3, n * k), 0)
    small = _small(rng, spec.a_format, n * k, 1)
    a = np.where(kind == 1, small, np.where(kind == 2, 0, a)).astype(np.uint64)
    b = np.where(kind == 0, b, powers(spec.b_format, np.zeros(n * k, np.int64)))
    a, b = ((x & ~np.uint64(f.sign_bit)).reshape(n, k) for x, f in ((a, spec.a_format), (b, spec.b_format)))
    minus = (rng.random((n, 1)) < 0.8) * np.uint64(spec.a_format.sign_bit)
    c = _small(rng, spec.c_format, n, 1)
    c = np.where(rng.random(n) < 0.3, np.uint64(0), c)
    c |= rng.integers(0, 2, n, dtype=np.uint64) * np.uint64(spec.c_format.sign_bit)
    return _clean(spec, Batch(a | minus, b, c))


def leading_zeros(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Two cancelling products with a subnormal factor, and one far below them; no scales.

    Beside their exponents more is cut off the third than beside those of their leading bits.
    """
    rng, formats = np.random.default_rng([seed, 15]), (spec.a_format, spec.b_format)
    a, b = words = [np.zeros((n, k), np.uint64) for _ in range(2)]
    rows, places = np.arange(n), rng.permuted(np.broadcast_to(np.arange(k), (n, k)), axis=1)
    low, high = (sum(getattr(f, name) for f in formats) for name in ("least_exponent", "e_max"))
    for i, (factor, other) in enumerate((formats, formats[::-1])):
        some, first = rows[i::2], places[:, 0]
        words[i][some, first[some]] = _small(rng, factor, some.size, 1)
        top = np.where(
            rng.random(some.size) < 0.5, rng.integers(other.e_min, other.e_max + 1, some.size), other.e_max
        )
        words[1 - i][some, first[some]] = powers(other, top)
    if k > 1:
        second = places[:, 1]
        a[rows, second] = a[rows, places[:, 0]] ^ np.uint64(formats[0].sign_bit)
        b[rows, second] = b[rows, places[:, 0]]
    third = rng.integers(low, (low + high) // 2 + 1, n)
    if k > _PAIR:
        a[rows, places[:, 2]], b[rows, places[:, 2]] = product(rng, spec, third)
    c = np.where(rng.random(n) < 0.7, np.uint64(0), encoded(rng, spec.c_format, third))
    return _clean(spec, Batch(a, b, c))


def rests(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Products that cancel up to a small remainder, and c near half an ulp of that remainder in D.

    Many factors are subnormal.  Where the formats of A and B are narrow, a bit of c that is cut off below the
    largest product decides such a sum, and no other.
    """
    rng, formats = np.random.default_rng([seed, 12]), (spec.a_format, spec.b_format)
    words, sizes = [], []
    for fmt in formats:
        t = fmt.fraction_bits
        most = min(_SPAN << t, (fmt.largest >> fmt.ignored_low_bits) + 1)
        body = rng.integers(1, np.where(rng.random(_DRAWN) < 0.3, min(2 << t, most), most))
        words.append(body.astype(np.uint64) << np.uint64(fmt.ignored_low_bits))
        least = Fraction(2) ** fmt.least_exponent
        sizes.append(np.array([float(decode(fmt, int(x)).number / least) for x in words[-1]]))
    # Wide formats have products of more bits: what is next to what is only guessed then.
    of = sizes[0] * sizes[1]
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    places = rng.permuted(np.broadcast_to(np.arange(k), (n, k)), axis=1)
    rest = np.zeros(n)
    for i in range(min(k, _TERMS)):
        # The first product is any; those after it take away most of what is there.
        live = np.flatnonzero((rng.random(n) < 0.8) & (rest != 0)) if i else np.arange(n)
        near = np.abs(np.abs(rest[live])[:, np.newaxis] - of).argmin(axis=1)
        near = near if i else rng.integers(0, _DRAWN, n)
        minus = rest[live] > 0
        a[live, places[live, i]] = words[0][near] | np.where(minus, np.uint64(spec.a_format.sign_bit), 0)
        b[live, places[live, i]] = words[1][near]
        rest[live] += np.where(minus, -of[near], of[near])
    size = np.frexp(np.abs(rest))[1] - 1 + sum(fmt.least_exponent for fmt in formats)
    c = powers(spec.c_format, size - spec.d_format.fraction_bits - rng.integers(1, 3, n))
    c += rng.integers(-1, 2, n).astype(np.uint64)
    c |= np.where(rng.random(n) < 0.5, np.uint64(spec.c_format.sign_bit), 0).astype(np.uint64)
    return _clean(spec, Batch(a, b, c))


def ties(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """c and a product of half an ulp of c in D, with a few far smaller products.

    How alignment rounds the small ones then decides the result, where D is so narrow that nothing else does.
    Some c are next below a power of two, and the product takes the sum beyond it: by how many bits it is
    rounded decides then, before or after that.
    """
    rng, d, formats = np.random.default_rng([seed, 14]), spec.d_format, (spec.a_format, spec.b_format)
    least, most = (sum(getattr(f, name) for f in formats) for name in ("least_exponent", "e_max"))
    high = min(d.e_max, spec.c_format.e_max, most + d.fraction_bits + 1)
    low = max(d.e_min, spec.c_format.e_min, least + d.fraction_bits + 1)
    # Alignment cuts most off beside the largest numbers, from the least products.
    top = np.maximum(rng.integers(min(low, high), high + 1, n), high - rng.integers(0, 10, n))
    a, b = (np.zeros((n, k), np.uint64) for _ in range(2))
    rows, places = np.arange(n), rng.permuted(np.broadcast_to(np.arange(k), (n, k)), axis=1)
    half = np.clip(top - d.fraction_bits - 1, least, most)
    below = rng.random(n) < _CARRIED
    size = np.minimum(half + below, most)
    first = np.clip(size // 2, size - formats[1].e_max, size - formats[1].e_min)
    first = np.clip(first, formats[0].e_min, formats[0].e_max)
    a[rows, places[:, 0]] = powers(formats[0], first)
    b[rows, places[:, 0]] = powers(formats[1], size - first)
    for i in range(1, min(k, 1 + _BESIDE)):
        live = np.flatnonzero(rng.random(n) < 2 / (1 + i))
        near = np.maximum(least, half[live] - rng.choice(_NEAR, live.size))
        x, y = product(rng, spec, rng.integers(near, np.maximum(half[live] - 4, near + 1)))
        lowest, (p, q) = rng.random(live.size) < 0.5, (_small(rng, f, live.size, 2) for f in formats)
        x, y = np.where(lowest, p, x), np.where(lowest, q, y)
        minus = np.where(rng.random(live.size) < 0.7, np.uint64(formats[0].sign_bit), 0).astype(np.uint64)
        a[live, places[live, i]], b[live, places[live, i]] = x ^ minus, y
    one = np.uint64(1 << spec.c_format.ignored_low_bits)
    last = rng.integers(0, 4, n).astype(np.uint64) * one
    c = np.where(below, powers(spec.c_format, top) - one, powers(spec.c_format, top) | last)
    return _clean(spec, Batch(a, b, c))


def unnormalised(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """A product of a subnormal factor and a power of two, with a far smaller product and c = 0; no scales.

    What is cut off beside it depends on whether that factor is normalised before it is multiplied.
    """
    rng, formats = np.random.default_rng([seed, 15]), (spec.a_format, spec.b_format)
    words = [np.zeros((n, k), np.uint64) for _ in formats]
    rows, place = np.arange(n), rng.integers(0, k, n)
    beside = np.where(rng.random(n) < 0.5, place ^ 1, rng.integers(0, k, n)) % k
    least, most = (sum(getattr(f, name) for f in formats) for name in ("least_exponent", "e_max"))
    for into, row in zip(
        words, product(rng, spec, rng.integers(least, (least + most) // 2 + 1, n)), strict=True
    ):
        into[rows, beside] = row
    words[0][rows, beside] ^= rng.integers(0, 2, n, dtype=np.uint64) * np.uint64(spec.a_format.sign_bit)
    first = rng.random(n) < 0.5
    for into, fmt, small in zip(words, formats, (first, ~first), strict=True):
        power = powers(fmt, rng.integers(fmt.e_min, fmt.e_max + 1, n))
        into[rows, place] = np.where(small, _small(rng, fmt, n, 1), power)
    return _clean(spec, Batch(words[0], words[1], np.zeros(n, np.uint64)))


def _small(rng: np.random.Generator, fmt: Format, n: int, codes: int) -> Raw:
    """Positive numbers of the first exponent codes: subnormal and small normal ones."""
    return rng.integers(1, codes << fmt.fraction_bits, n).astype(np.uint64) << np.uint64(fmt.ignored_low_bits)
