"""Inputs that lose much: few large terms, many just below what is cut, ties, edges; and changes of these."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.simulation.operands.batch import Batch, Raw, batch, together, with_scales
from tcformal.simulation.operands.inputs import directed

Ints = NDArray[np.int64]

#: How the significands of a row are chosen: powers of two, the next number, all ones, just below a power of
#: two as products, a power of two and one bit more, any.
_POWER, _NEXT, _FULL, BELOW, _BIT, _ANY = range(6)


@lru_cache(maxsize=256)
def just_below(first: int, second: int, powers: bool = True) -> list[tuple[int, int, int]]:
    """Significands of so many fraction bits whose product is as little below 2^m as can be, for every m."""
    found: dict[int, tuple[int, int]] = {}
    most = 1 << 9
    ranges = []
    for bits in (first, second):
        low, high = 1 << bits, 2 << bits
        some = range(low, high) if high - low <= most else [*range(low, low + 64), *range(high - 64, high)]
        ranges.append(some)
    for x in ranges[0]:
        for y in ranges[1]:
            p = x * y
            m = (p - 1).bit_length() if p & (p - 1) else p.bit_length()
            old = found.get(m)
            if p < 1 << m and (old is None or p > old[0] * old[1]):
                found[m] = x, y
    # Of wide formats also the divisors of a number just below a power of two.
    for m in (first + second + 1, first + second + 2):
        for y in ranges[1]:
            x = ((1 << m) - 1) // y
            if 1 << first <= x < 2 << first and (m not in found or x * y > found[m][0] * found[m][1]):
                found[m] = x, y
    return [(x, y, m) for m, (x, y) in sorted(found.items())]


def encoded(fmt: Format, negative: NDArray[np.bool_], significand: Ints, exponent: Ints) -> Raw:
    """The words of ±significand · 2^(exponent - fraction_bits), cut where that is subnormal or too large.

    Ranges and units: significand from 2^fraction_bits below twice that.
    """
    t, one = fmt.fraction_bits, np.int64(1)
    field = np.clip(exponent, fmt.e_min, fmt.e_max) + fmt.bias
    body = (field << t) + (significand - (one << t))
    down = np.clip(fmt.e_min - exponent, 0, t + 1)
    small = (significand >> down) if fmt.has_zero and fmt.subnormals else np.zeros_like(significand)
    body = np.where((exponent < fmt.e_min) & fmt.has_zero, small, body)
    body = np.clip(body, 0, fmt.largest >> fmt.ignored_low_bits)
    word = body.astype(np.uint64) << np.uint64(fmt.ignored_low_bits)
    if fmt.sign is not Sign.PRESENT:
        return np.asarray(word)
    sign = negative & ((body != 0) | ~np.array(fmt.specials.name == "NEGATIVE_ZERO_NAN"))
    return np.asarray(word | (sign.astype(np.uint64) << np.uint64(fmt.width - 1)))


def drawn(rng: np.random.Generator, spec: UnitSpec, n: int, *, normal: bool = False) -> Batch:
    """n dot products: a quarter from the package's families, the others built to lose much."""
    seed = int(rng.integers(1 << 31))
    few = n // 8
    parts = [directed(spec, spec.k, few, seed), batch(spec, spec.k, few, seed)]
    return together(*parts, lossy(rng, spec, n - 2 * few, normal=normal))


def lossy(rng: np.random.Generator, spec: UnitSpec, n: int, *, normal: bool = False) -> Batch:
    """One to three terms of an exponent E, the others at one depth below, in some pattern of signs."""
    k, d, design = spec.k, spec.d_format, spec.design
    a, b, c = spec.a_format, spec.b_format, spec.c_format
    shape = (n, k + 1)
    low = a.e_min + b.e_min - (0 if normal else a.fraction_bits + b.fraction_bits)
    high = a.e_max + b.e_max + 1
    places = (
        rng.integers(d.e_min - d.fraction_bits, d.e_min + 4, n),
        rng.integers(d.e_max - 6, d.e_max + 1, n), rng.integers(low, high + 1, n), rng.integers(-4, 5, n),
        np.full(n, high - 1), np.full(n, low + 40),
    )  # fmt: skip
    top = np.choose(rng.integers(0, len(places), n), np.broadcast_to(np.stack(places), (len(places), n)))
    top = np.clip(top, min(low, c.e_min), max(high, c.e_max))
    bits = design.fraction_bits if design.fraction_bits is not None else design.rho.fraction_bits
    own = np.array([bits, bits + 1, bits + 2, design.rho.fraction_bits + 1, d.fraction_bits + 1, 0])
    common = np.where(
        rng.random(n) < 0.75, rng.choice(own, n) + rng.integers(-1, 2, n), rng.integers(0, bits + 8, n)
    )
    depth = common[:, None] + np.where(rng.random(shape) < 0.75, 0, rng.integers(-2, 4, shape))
    depth = np.where(
        rng.random(shape) < rng.choice([0, 0, 0.2], n)[:, None], rng.integers(0, bits + 8, shape), depth
    )
    large = rng.random(shape).argsort(axis=1) < rng.choice([1, 1, 1, 2, 3], n)[:, None]
    e = top[:, None] - np.where(large, 0, depth)
    # Some terms are what another one's negative is.
    pattern = rng.integers(0, 4, n)[:, None]
    signs = rng.random(shape) < 0.5
    one = np.broadcast_to(rng.random((n, 1)) < 0.5, shape)
    negative = np.select(
        [pattern == 0, pattern == 1, pattern == 2], [one, one ^ large, signs], one ^ signs & large
    )
    dead = rng.random(shape) < rng.choice([0, 0, 0, 0.4, 0.9], n)[:, None]
    style = np.where(rng.random(shape) < 0.85, rng.integers(0, 6, n)[:, None], rng.integers(0, 6, shape))
    style = np.where(large & (rng.random(shape) < 0.5), _POWER, style)
    x, y, up = pairs_of(rng, spec, style[:, :k])
    exponent = e[:, :k] - up
    half = np.clip(exponent // 2 + rng.integers(-2, 3, (n, k)), a.e_min, a.e_max)
    half = np.where(
        rng.random((n, 1)) < 0.2,
        np.clip(exponent - rng.integers(b.e_min, b.e_max + 1, (n, 1)), a.e_min, a.e_max),
        half,
    )
    half = np.clip(half, exponent - b.e_max, exponent - b.e_min)
    half = np.clip(half, a.e_min, a.e_max) if normal else np.clip(half, a.e_min - a.fraction_bits, a.e_max)
    plus = np.zeros((n, k), np.bool_)
    words = [encoded(a, negative[:, :k], x, half), encoded(b, plus, y, exponent - half)]
    words = [
        np.where(dead[:, :k], w & np.uint64(f.sign_bit if a.specials.name != "NEGATIVE_ZERO_NAN" else 0), w)
        for w, f in zip(words, (a, b), strict=True)
    ]
    z, _, _ = significands(rng, style[:, k:], c.fraction_bits)
    last = encoded(c, negative[:, k], z[:, 0], e[:, k])
    last = np.where(rng.random(n) < 0.3, last & np.uint64(c.sign_bit), last)
    made = with_scales(spec, Batch(words[0], words[1], last))
    return made if spec.scale_format is None else _scaled(rng, spec, made)


def _scaled(rng: np.random.Generator, spec: UnitSpec, x: Batch) -> Batch:
    """Other scales for some rows: near 1, of few bits more, or anywhere."""
    fmt = spec.scale_format
    assert fmt is not None
    assert x.scale_a is not None
    assert x.scale_b is not None
    made = {}
    for name, ones in (("scale_a", x.scale_a), ("scale_b", x.scale_b)):
        kind = rng.random((len(x.c), 1))
        step = rng.integers(-3, 4, ones.shape) << fmt.fraction_bits
        near = ones.astype(np.int64) + np.where(rng.random(ones.shape) < 0.4, step, 0)
        fraction = rng.integers(0, 1 << fmt.fraction_bits, ones.shape)
        near = np.where(rng.random((len(x.c), 1)) < 0.5, near, near | fraction)
        far = rng.integers(1, fmt.largest + 1, ones.shape)
        made[name] = np.where(kind < 0.4, ones, np.where(kind < 0.9, near, far)).astype(np.uint64)
    return replace(x, **made)


def significands(rng: np.random.Generator, style: Ints, t: int) -> tuple[Ints, Ints, Ints]:
    one = np.int64(1) << t
    z = np.select(
        [style == _POWER, style == _NEXT, style == _FULL, style == _BIT],
        [
            np.full(style.shape, one),
            np.full(style.shape, one + (t > 0)),
            np.full(style.shape, 2 * one - 1),
            one | (one >> rng.integers(1, t + 2, style.shape)),
        ],
        one + rng.integers(0, one, style.shape),
    )
    return z, z, np.zeros_like(z)


def pairs_of(rng: np.random.Generator, spec: UnitSpec, style: Ints) -> tuple[Ints, Ints, Ints]:
    """Significands of both factors, and how far above the sum of exponents what they are just below is."""
    t, u = spec.a_format.fraction_bits, spec.b_format.fraction_bits
    x, _, up = significands(rng, style, t)
    y, _, _ = significands(rng, style, u)
    rows = just_below(t, u)
    chosen = rng.integers(0, len(rows), style.shape)
    pairs = np.array(rows, np.int64)
    below = (style == BELOW) & (rng.random(style.shape) < 0.95)
    x, y = np.where(below, pairs[chosen, 0], x), np.where(below, pairs[chosen, 1], y)
    return x, y, np.where(below, pairs[chosen, 2] - t - u, up)


def same_scales(spec: UnitSpec, x: Batch, first: int) -> Batch:
    """The same with scales of 1 after the first ones."""
    assert spec.scale_format is not None
    made = {}
    for name in ("scale_a", "scale_b"):
        words = getattr(x, name).copy()
        words[:, first:] = spec.scale_format.one
        made[name] = words
    return replace(x, **made)


def within(fmt: Format, words: Raw, low: int, high: int) -> Raw:
    """Numbers that are zero, or normal with exponents in a range: others come to its nearest end."""
    t = fmt.fraction_bits
    body = words >> np.uint64(fmt.ignored_low_bits)
    mask = np.uint64((1 << fmt.exponent_bits) - 1) << np.uint64(t)
    field = ((body & mask) >> np.uint64(t)).astype(np.int64)
    low, high = max(low, fmt.e_min) + fmt.bias, min(high, fmt.e_max) + fmt.bias
    # Far from the range a number keeps its distance to others as far as there is room.
    span = high - low + 1
    inside = np.where(
        field < low, low + (low - field) % span, np.where(field > high, high - (field - high) % span, field)
    )
    made = (body & ~mask) | (inside.astype(np.uint64) << np.uint64(t))
    zero = body & np.uint64((1 << fmt.exponent_bits + t) - 1) == 0
    return np.where(zero, words, made << np.uint64(fmt.ignored_low_bits))
