"""Inputs built to attain a bound: few large terms, and every other one just below a multiple of a unit cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.directed import Ints, encoded, just_below, significands
from tcformal.bounds.attained import Construction
from tcformal.bounds.cut_terms import of_cut_terms
from tcformal.bounds.grid import filled
from tcformal.design.unit import UnitSpec
from tcformal.formats.spec import Format, Sign
from tcformal.operands.random import Batch, with_scales

Words = NDArray[np.uint64]
#: Words of formats so wide at most are all tried.
_NARROW = 8
#: Whole units that a product keeps at most, and products tried for each number of them.
_WHOLE, _EACH = 16, 3
#: Binades above the largest term to which a sum of them can have grown.
_GROWN = 9


@dataclass(frozen=True, slots=True)
class Products:
    """Positive products as pairs of words, by size.

    Shapes: arrays of one length.  Ranges and units: `exponent`: the sum of those of the factors.
    """

    a: Words
    b: Words
    size: NDArray[np.float64]
    exponent: Ints


@lru_cache(maxsize=64)
def _every(a: Format, b: Format, normal: bool) -> Products:
    """Products of narrow formats, all of them; of others, of significands that matter, at few exponents."""
    if max(a.width, b.width) <= _NARROW:
        x, y = (_positive(f) for f in (a, b))
        first, second = (np.repeat(x, len(y)), np.tile(y, len(x)))
    else:
        first, second = _some(a, b)
    if normal:
        keep = _normal(a, first) & _normal(b, second)
        first, second = first[keep], second[keep]
    sizes, exponents = zip(*(_values(f, w) for f, w in ((a, first), (b, second))), strict=True)
    return Products(first, second, sizes[0] * sizes[1], exponents[0] + exponents[1])


def _positive(fmt: Format) -> Words:
    return np.arange(1, (fmt.largest >> fmt.ignored_low_bits) + 1, dtype=np.uint64) << np.uint64(
        fmt.ignored_low_bits
    )


def _normal(fmt: Format, words: Words) -> NDArray[np.bool_]:
    return np.asarray(
        (words >> np.uint64(fmt.ignored_low_bits + fmt.fraction_bits) != 0) | (not fmt.has_zero)
    )


def _some(a: Format, b: Format) -> tuple[Words, Words]:
    rng = np.random.default_rng(7)
    t, u = a.fraction_bits, b.fraction_bits
    pairs = [(x, y) for x, y, _ in just_below(t, u)]
    pairs += [(1 << t, 1 << u), ((2 << t) - 1, (2 << u) - 1), ((2 << t) - 1, 1 << u), (1 << t, (2 << u) - 1)]
    x, y = (np.array(z, np.int64) for z in zip(*pairs, strict=True))
    # Nearly the largest, and any: of these sums of few have every last bit.
    for low in (0.97, 0.0):
        for first, bits in ((True, t), (False, u)):
            z = ((1 << bits) * (1 + low + (1 - low) * rng.random(60))).astype(np.int64)
            x, y = (np.append(x, z), y) if first else (x, np.append(y, z))
    span = np.arange(a.e_min, a.e_max + 1)
    made: list[Words] = [np.zeros(0, np.uint64), np.zeros(0, np.uint64)]
    # Every sum of exponents once, shared in halves, and the ends of the other format.
    for total in range(a.e_min + b.e_min, a.e_max + b.e_max + 1):
        fits = span[(total - span >= b.e_min) & (total - span <= b.e_max)]
        one = fits[np.argmin(np.abs(2 * fits - total))]
        off = np.zeros(len(x), np.bool_)
        made[0] = np.append(made[0], encoded(a, off, x, np.full(len(x), one)))
        made[1] = np.append(made[1], encoded(b, off, y, np.full(len(x), total - one)))
    # A subnormal factor beside any power of two: as large in exponents as a normal one, and nearly nothing.
    for turned, (f, g) in enumerate(((a, b), (b, a))):
        if not f.subnormals or not f.has_zero:
            continue
        e = np.arange(g.e_min, g.e_max + 1)
        other = encoded(g, np.zeros(len(e), np.bool_), np.full(len(e), 1 << g.fraction_bits, np.int64), e)
        for bits in {1, 2, 3, (1 << f.fraction_bits) - 1}:
            if 0 < bits < 1 << f.fraction_bits:
                tiny = np.full(len(e), bits << f.ignored_low_bits, np.uint64)
                made[turned], made[1 - turned] = (
                    np.append(made[turned], tiny),
                    np.append(made[1 - turned], other),
                )
    return made[0], made[1]


def _values(fmt: Format, words: Words) -> tuple[NDArray[np.float64], Ints]:
    """Positive words as numbers, exact up to 53 bits, and their exponents."""
    body = words >> np.uint64(fmt.ignored_low_bits)
    t = fmt.fraction_bits
    field = (body >> np.uint64(t)).astype(np.int64)
    low = (field == 0) & fmt.has_zero
    fraction = (body & np.uint64((1 << t) - 1)) | np.where(low, np.uint64(0), np.uint64(1 << t))
    exponent = np.where(low, 1, field) - fmt.bias
    with np.errstate(under="ignore", over="ignore"):
        size = np.ldexp(fraction.astype(np.float64), np.clip(exponent - t, -1000, 1000).astype(np.int32))
    return size, exponent


@lru_cache(maxsize=4096)
def _cut(a: Format, b: Format, normal: bool, q: int) -> tuple[Words, Words, NDArray[np.float64], Ints]:
    """Products with the largest part below a unit 2^q, and how many units they have beside it: best first."""
    every = _every(a, b, normal)
    with np.errstate(under="ignore", over="ignore"):
        size = np.ldexp(every.size, -q)
    rows = np.flatnonzero((size < _WHOLE) & (size > 0))
    whole = np.floor(size[rows]).astype(np.int64)
    part = size[rows] - whole
    kept: list[int] = []
    for units in range(_WHOLE):
        some = np.flatnonzero((whole == units) & (part > 0))
        kept += some[np.argsort(-part[some], kind="stable")[:_EACH]].tolist()
    chosen = rows[kept]
    return every.a[chosen], every.b[chosen], part[kept], whole[kept]


@lru_cache(maxsize=4096)
def _tops(a: Format, b: Format, normal: bool, e: int) -> tuple[Words, Words]:
    """Products of an exponent: the largest, the least, powers of two, and others."""
    every = _every(a, b, normal)
    rows = np.flatnonzero(every.exponent == e)
    if len(rows) > 64:
        order = rows[np.argsort(every.size[rows], kind="stable")]
        rows = np.concatenate([order[:8], order[-24:], order[:: max(len(order) // 32, 1)]])
    return every.a[rows], every.b[rows]


def built(rng: np.random.Generator, spec: UnitSpec, n: int, *, normal: bool = False) -> Batch:
    """n dot products in small groups of one kind: exponents of the large terms and of the unit, and how many."""
    a, b, c = spec.a_format, spec.b_format, spec.c_format
    k, design = spec.k, spec.design
    words = np.zeros((2, n, k), np.uint64)
    last = np.zeros(n, np.uint64)
    low, high = a.e_min + b.e_min, a.e_max + b.e_max
    bits = [design.rho.fraction_bits + 1, design.step.fraction_bits + 1]
    bits = [design.fraction_bits] * 3 + bits if design.fraction_bits is not None else bits
    size = max(4, n // 400)
    for start in range(0, n, size):
        count = min(size, n - start)
        rows = slice(start, start + count)
        f = int(rng.choice(bits))
        grown = int(rng.choice([0, 0, 0, *range(_GROWN)]))
        kind = int(rng.choice([0, 2, 3] if normal else [0, 1, 2, 3]))
        e = _exponent(rng, spec, low, high, f - grown, kind)
        q = e - f + grown
        first, second, part, whole = _cut(a, b, normal, q)
        x, y = _tops(a, b, normal, e)
        many = [1, 1, 1, 1, 2, 3, int(rng.integers(1, k + 1)), min(design.products, k)]
        tops = 0 if kind == 0 or not len(x) else min(int(rng.choice(many)), k)
        minus = rng.random((count, 1)) < 0.5
        minus = np.broadcast_to(minus, (count, k)) ^ (rng.random((count, k)) < rng.choice([0, 0, 0, 0.1]))
        if len(first):
            # Those that are nothing but lost, or bring some units with them: of the best of each number.
            alone = np.flatnonzero(whole == whole.min())[:1]
            others = rng.integers(0, len(first), (count, k))
            some = rng.random((count, k)) < rng.choice([0, 0, 1 / k, 2 / k, 0.3], (count, 1))
            chosen = np.where(some, others, alone[0])
            words[0, rows], words[1, rows] = first[chosen], second[chosen]
        if tops:
            # Those that are nearly the largest, the smallest, or any.
            place = rng.integers(0, len(x), (count, k))
            same = rng.random((count, 1)) < 0.6
            place = np.where(same, place[:, :1], place)
            head = np.broadcast_to(np.arange(k) < tops, (count, k))
            if rng.random() < 0.3:
                head = rng.permuted(head, axis=1)
            words[0, rows] = np.where(head, x[place], words[0, rows])
            words[1, rows] = np.where(head, y[place], words[1, rows])
            if rng.random() < 0.25:
                minus = minus ^ (head & (rng.random((count, k)) < 0.5))
        if a.sign is Sign.PRESENT:
            nothing = words[0, rows] == 0
            sign = (minus & ~nothing).astype(np.uint64) * np.uint64(a.sign_bit)
            words[0, rows] |= sign
        last[rows] = _last(rng, c, count, e, q, minus[:, 0], alone=kind == 0)
    made = Batch(words[0], words[1], last)
    return with_scales(spec, made)


def _exponent(rng: np.random.Generator, spec: UnitSpec, low: int, high: int, f: int, kind: int) -> int:
    """An exponent of the large terms at which there are others about a unit, if there is one."""
    a, b, c, d = spec.a_format, spec.b_format, spec.c_format, spec.d_format
    if kind == 0:  # c alone is large
        least, most = low - b.fraction_bits - a.fraction_bits + f, min(high + f + 1, c.e_max, d.e_max - 1)
        least = max(least, c.e_min)
    elif kind == 1:  # with a subnormal factor
        least, most = max(a.e_min + b.e_min + f, d.e_min), max(a.e_min + b.e_max, b.e_min + a.e_max)
    else:
        least, most = low + f, min(high, d.e_max - 1)
    if least > most:
        least, most = max(low, d.e_min), min(high, d.e_max - 1)
    if rng.random() < 0.3 and least <= 0 <= most:
        return int(rng.integers(max(least, -2), min(most, 3) + 1))
    return int(rng.integers(least, max(least, most) + 1))


def _last(
    rng: np.random.Generator, c: Format, n: int, e: int, q: int, minus: NDArray[np.bool_], *, alone: bool
) -> Words:
    """c: nothing, large, or just below a number of units that is a power of two."""
    t = c.fraction_bits
    style = rng.integers(0, 6, (n, 1))
    large = significands(rng, style, t)[0][:, 0]
    units = rng.integers(0, 10, n)
    kind = rng.choice([1] if alone else [0, 1, 2, 2, 2], n)
    size: Any = np.where(kind == 1, large, (2 << t) - 1)
    exponent = np.where(kind == 1, e, q + units - 1)
    turned = minus ^ (rng.random(n) < 0.15)
    made = encoded(c, turned, size, exponent)
    return np.asarray(
        np.where(kind == 0, made & np.uint64(c.sign_bit if c.specials.name == "IEEE" else 0), made)
    )


@lru_cache(maxsize=512)
def attained(spec: UnitSpec) -> Batch:
    """The inputs with which the package shows what its bounds by length attain, for one call."""
    build = Construction(spec)
    found = [build.best(spec.k), filled(build, spec.k), *of_cut_terms(build, spec.k, build.exponents())]
    calls = [w for x in found if x is not None for w, _ in x.calls]
    columns = [np.array([getattr(w, name) for w in calls], np.uint64) for name in ("a", "b", "c")]
    if spec.scale_format is None:
        return Batch(*columns)
    scales = [np.array([getattr(w, name) for w in calls], np.uint64) for name in ("scale_a", "scale_b")]
    return Batch(*columns, *scales)
