"""Sums of integers about as large as a theorem allows, and whether results of them are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.directed import encoded
from attack.exact import Numbers, Truth, decoded
from tcformal.design.unit import UnitSpec
from tcformal.simulation.operands.batch import Batch, with_scales

Ints = NDArray[np.int64]


def integers(rng: np.random.Generator, spec: UnitSpec, n: int, limit: Fraction) -> Batch:
    """n dot products of integers whose magnitudes add up to the limit, a little less, or any less."""
    k, a, b = spec.k, spec.a_format, spec.b_format
    most = int(limit)
    total = np.where(
        rng.random(n) < 0.6, most - rng.integers(0, 4, n), (most * rng.random(n) ** 3).astype(np.int64)
    )
    left, live = total.copy(), rng.choice([1, 2, 3, k, k], n)
    order = rng.random((n, k)).argsort(axis=1)
    words = np.zeros((2, n, k), np.uint64)
    sign = np.where(rng.random((n, 1)) < 0.4, rng.random((n, 1)) < 0.5, rng.random((n, k)) < 0.5)
    small = rng.random(n) < 0.5
    top_a, top_b = ((2 << f.fraction_bits) - 1 for f in (a, b))
    biggest = [min(62, f.e_max) for f in (a, b)]
    for i in range(k):
        share = np.where(rng.random(n) < 0.3, 1.0, rng.random(n) * 2 / np.maximum(live - i, 1))
        want = np.where(
            small & (i > 0), rng.integers(0, 8, n), (left * np.minimum(share, 1)).astype(np.int64)
        )
        want = np.where(i < live, want, 0)
        x = np.minimum(rng.integers(1, 1 << rng.integers(1, a.fraction_bits + 2), n), np.maximum(want, 1))
        x = np.where(rng.random(n) < 0.2, 1, np.minimum(x, top_a))
        y = want // x
        # What the second format cannot hold is left over.
        over = np.maximum(
            np.ceil(np.log2(np.maximum(y, 1) + 0.5)).astype(np.int64) - (b.fraction_bits + 1), 0
        )
        y = (y >> over) << over
        y = np.minimum(y, top_b << max(min(b.e_max, 60) - b.fraction_bits, 0))
        dead = (y == 0) | (x == 0)
        shift = np.where(rng.random(n) < 0.5, rng.integers(-8, 9, n), 0)
        ex, ey = (np.frexp(np.maximum(v, 1).astype(np.float64))[1].astype(np.int64) - 1 for v in (x, y))
        shift = np.clip(
            shift, np.maximum(a.e_min - ex, ey - biggest[1]), np.minimum(biggest[0] - ex, ey - b.e_min)
        )
        place = order[:, i]
        rows = np.arange(n)
        minus = sign[rows, place]
        words[0, rows, place] = np.where(dead, 0, _word(a, minus, x, ex, shift))
        words[1, rows, place] = np.where(dead, 0, _word(b, np.zeros(n, np.bool_), y, ey, -shift))
        left -= np.where(dead, 0, x * y)
    c = spec.c_format
    rest = np.maximum(left, 0)
    rest = np.where(rng.random(n) < 0.8, rest, 0)
    over = np.maximum(np.ceil(np.log2(rest + 0.5)).astype(np.int64) - (c.fraction_bits + 1), 0)
    rest = (rest >> over) << over
    e = np.frexp(np.maximum(rest, 1).astype(np.float64))[1].astype(np.int64) - 1
    last = np.where(rest == 0, 0, _word(c, rng.random(n) < 0.5, rest, e, 0))
    made = Batch(words[0], words[1], np.where(e > c.e_max, 0, last).astype(np.uint64))
    return with_scales(spec, made)


def _word(fmt: Any, negative: Truth, size: Ints, exponent: Ints, shift: Any) -> NDArray[np.uint64]:
    """±size · 2^shift, of sizes that the format has the bits for."""
    up = fmt.fraction_bits - exponent
    significand = np.where(up >= 0, size << np.maximum(up, 0), size >> np.maximum(-up, 0))
    return np.asarray(encoded(fmt, negative, significand, exponent + shift))


def sums_of_integers(
    spec: UnitSpec, limit: Fraction, normal: tuple[bool, bool], x: Batch, words: NDArray[Any]
) -> tuple[Truth, Truth]:
    """Which rows obey the hypotheses, and which of these have another result than the exact sum."""
    n, k = x.a.shape
    factors = [decoded(spec.a_format, x.a), decoded(spec.b_format, x.b)]
    c, d = decoded(spec.c_format, x.c), decoded(spec.d_format, words)
    if spec.scale_format is not None and spec.scale_block is not None:
        where = np.arange(k) // spec.scale_block
        assert x.scale_a is not None
        assert x.scale_b is not None
        factors += [decoded(spec.scale_format, y[:, where]) for y in (x.scale_a, x.scale_b)]
    met = c.finite.copy()
    for i, f in enumerate(factors):
        met &= f.finite.all(axis=1)
        if normal[i % 2]:
            met &= ~f.subnormal.any(axis=1)
    negative = factors[0].negative ^ factors[1].negative
    if spec.design.negated == "odd":
        negative = negative ^ (np.arange(k) % 2 == 1)
    total, size = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(k):
        whole, value = _whole([f.at((slice(None), i)) for f in factors], limit)
        met &= whole & (size <= int(limit))
        value = np.where(met, value, 0)
        total += np.where(negative[:, i], -value, value)
        size += value
    whole, value = _whole([c], limit)
    met &= whole
    value = np.where(met, value, 0)
    total, size = total + np.where(c.negative, -value, value), size + value
    met &= size <= int(limit)
    whole, made = _whole([d], limit * 4)
    right = d.finite & whole & (np.where(d.negative, -made, made) == total)
    return met, met & ~right


def _whole(factors: list[Numbers], limit: Fraction) -> tuple[Truth, Ints]:
    """Whether a product is an integer of at most the limit, and its magnitude."""
    odd = np.ones(factors[0].significand.shape, np.int64)
    exponent, about = np.zeros(odd.shape, np.int64), np.zeros(odd.shape)
    zero = np.zeros(odd.shape, np.bool_)
    for f in factors:
        zero |= f.zero
        size = np.where(f.zero, np.uint64(1), f.significand).astype(np.int64)
        low = np.log2((size & -size).astype(np.float64)).astype(np.int64)
        size >>= low
        exponent += f.exponent - f.fraction_bits + low
        about += np.log2(size.astype(np.float64))
        odd = np.where(about < 61, odd * size, odd)
    small = (exponent >= 0) & (about + exponent < float(np.log2(float(limit))) + 0.5)
    value = np.where(small, odd << np.where(small, exponent, 0), 0)
    value = np.where(zero, 0, value)
    return np.asarray(zero | (small & (value <= int(limit)))), value
