"""Test inputs at rounding boundaries: around the least normal number of D, below it, and at ties of D."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.oracle.values import decode
from tcformal.simulation.operands.batch import encoded, powers, product, rows_of, together
from tcformal.simulation.operands.pool import without_nan
from tcformal.simulation.operands.random import Batch, Raw

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
    return together(
        below_normal(spec, k, _BELOW, seed), alone(spec, k, _BELOW, seed), vanishing(spec, k, _BELOW, seed),
        leading_zeros(spec, k, _BELOW, seed), rests(spec, k, _RESTS, seed), ties(spec, k, _TIES, seed),
        unnormalised(spec, k, _BELOW, seed),
    )  # fmt: skip


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
    made = Batch(a, b, c)
    return rows_of(made, without_nan(spec, made))


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
    x = Batch(a, b, np.zeros(n, np.uint64))
    return rows_of(x, without_nan(spec, x))


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
    made = Batch(a | minus, b, c)
    return rows_of(made, without_nan(spec, made))


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
    made = Batch(a, b, c)
    return rows_of(made, without_nan(spec, made))


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
    made = Batch(a, b, c)
    return rows_of(made, without_nan(spec, made))


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
    made = Batch(a, b, c)
    return rows_of(made, without_nan(spec, made))


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
    made = Batch(words[0], words[1], np.zeros(n, np.uint64))
    return rows_of(made, without_nan(spec, made))


def _small(rng: np.random.Generator, fmt: Format, n: int, codes: int) -> Raw:
    """Positive numbers of the first exponent codes: subnormal and small normal ones."""
    return rng.integers(1, codes << fmt.fraction_bits, n).astype(np.uint64) << np.uint64(fmt.ignored_low_bits)
