"""Inputs built to attain a bound: few large terms, and all others just below multiples of what is cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.directed import Ints, encoded, just_below, significands
from tcformal.analysis.bounds.ascent import of_cut_terms
from tcformal.analysis.bounds.attained import Construction, filled
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.simulation.operands.batch import Batch, with_scales

Words = NDArray[np.uint64]
#: Words of formats so wide at most are all tried.
_NARROW = 8
#: Whole units that a product keeps at most, and products tried for each number of them.
_WHOLE, _EACH = 16, 3
#: Binades above the largest term to which a sum of them can have grown.
_GROWN = 9
#: Inputs of one kind at least, which differ in signs and in what is drawn for each.
_GROUP = 12


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
def every_product(a: Format, b: Format, normal: bool) -> Products:
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
    with np.errstate(under="ignore", over="ignore"):
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
def _cut(
    a: Format, b: Format, normal: bool, pieces: tuple[int | None, int], q: int
) -> tuple[Words, Words, Ints]:
    """Products of which most is lost below 2^q, and how many units of it they keep: best first."""
    every = every_product(a, b, normal)
    with np.errstate(under="ignore", over="ignore"):
        size = np.ldexp(every.size, -q)
    rows = np.flatnonzero((size < _WHOLE) & (size > 0))
    kept_units = np.floor(size[rows]) if pieces[0] is None else _in_pieces(a, b, every, rows, pieces, q)
    whole, part = kept_units.astype(np.int64), size[rows] - kept_units
    kept: list[int] = []
    for units in range(_WHOLE):
        some = np.flatnonzero((whole == units) & (part > 0))
        kept += some[np.argsort(-part[some], kind="stable")[:_EACH]].tolist()
    chosen = rows[kept]
    return every.a[chosen], every.b[chosen], whole[kept]


def _in_pieces(
    a: Format, b: Format, every: Products, rows: Ints, pieces: tuple[int | None, int], q: int
) -> NDArray[np.float64]:
    """The units of 2^q that are left of products whose factors are cut into pieces of so many bits."""
    bits, dropped = pieces
    assert bits is not None
    cut = []
    for fmt, words in ((a, every.a[rows]), (b, every.b[rows])):
        body = (words >> np.uint64(fmt.ignored_low_bits)).astype(np.int64)
        t = fmt.fraction_bits
        whole = (body & ((1 << t) - 1)) | np.where((body >> t == 0) & fmt.has_zero, 0, 1 << t)
        cut.append([(whole >> i) & ((1 << bits) - 1) for i in range(0, t + 1, bits)])
    shift = every.exponent[rows] - a.fraction_bits - b.fraction_bits - q
    made = np.zeros(len(rows))
    for i, x in enumerate(cut[0]):
        for j, y in enumerate(cut[1]):
            if i + j >= dropped:
                up = np.clip(shift + bits * (i + j), -1000, 1000).astype(np.int32)
                made += np.floor(np.ldexp((x * y).astype(np.float64), up))
    return made


@lru_cache(maxsize=4096)
def _tops(a: Format, b: Format, normal: bool, e: int) -> tuple[Words, Words]:
    """Products of an exponent: the largest, the least, powers of two, and others."""
    every = every_product(a, b, normal)
    rows = np.flatnonzero(every.exponent == e)
    rows = rows[np.argsort(every.size[rows], kind="stable")]
    if len(rows) > 64:
        rows = np.concatenate([rows[:8], rows[:: max(len(rows) // 32, 1)], rows[-24:]])
    return every.a[rows], every.b[rows]


def built(rng: np.random.Generator, spec: UnitSpec, n: int, *, normal: bool = False) -> Batch:
    """n dot products in groups of one kind: the exponents of large terms and of the unit, and how many."""
    k, design = spec.k, spec.design
    words = np.zeros((2, n, k), np.uint64)
    last = np.zeros(n, np.uint64)
    bits = [design.rho.fraction_bits + 1, design.step.fraction_bits + 1]
    bits = [design.fraction_bits] * 3 + bits if design.fraction_bits is not None else bits
    size = max(_GROUP, n // 200)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        count = rows.stop - start
        f = int(rng.choice(bits))
        grown = int(rng.choice([0, 0, 0, *range(_GROWN)]))
        kind = int(rng.choice([0, 2, 3] if normal else [0, 1, 2, 3]))
        e = _exponent(rng, spec, f - grown, kind)
        minus = rng.random((count, 1)) < 0.5
        minus = np.broadcast_to(minus, (count, k)) ^ (rng.random((count, k)) < rng.choice([0, 0, 0, 0.1]))
        # The first block of a chain is cut where its own terms are large, later ones where its sum is.
        first = min(design.products, k) if rng.random() < 0.5 else k
        for columns, q in ((slice(0, first), e - f + grown * (first == k)), (slice(first, k), e - f + grown)):
            words[:, rows, columns] = _lost(rng, spec, normal, q, (count, columns.stop - columns.start))
        minus = _large(rng, spec, normal, e, kind, first, words[:, rows], minus)
        if spec.a_format.sign is Sign.PRESENT:
            sign = minus & (words[0, rows] != 0)
            words[0, rows] |= sign.astype(np.uint64) * np.uint64(spec.a_format.sign_bit)
        last[rows] = _last(rng, spec.c_format, count, e, e - f + grown, minus[:, 0], alone=kind == 0)
    return with_scales(spec, Batch(words[0], words[1], last))


def _lost(rng: np.random.Generator, spec: UnitSpec, normal: bool, q: int, shape: tuple[int, int]) -> Words:
    """Products that are nothing but lost below 2^q, and some of the best that keep a few units of it."""
    pieces = spec.design.piece_bits, spec.design.dropped_pieces
    first, second, whole = _cut(spec.a_format, spec.b_format, normal, pieces, q)
    if not len(first):
        return np.zeros((2, *shape), np.uint64)
    k = max(shape[1], 1)
    some = rng.random(shape) < rng.choice([0, 0, 1 / k, 2 / k, 0.3], (shape[0], 1))
    chosen = np.where(some, rng.integers(0, len(first), shape), int(np.argmin(whole)))
    return np.stack([first[chosen], second[chosen]])


def _large(
    rng: np.random.Generator, spec: UnitSpec, normal: bool, e: int, kind: int, first: int, words: Words,
    minus: NDArray[np.bool_],
) -> NDArray[np.bool_]:  # fmt: skip
    """Puts large products in the place of some: the largest, the smallest, or any; and their signs."""
    x, y = _tops(spec.a_format, spec.b_format, normal, e)
    count, k = minus.shape
    many = [1, 1, 1, 1, 2, 3, int(rng.integers(1, first + 1)), min(spec.design.products, k)]
    tops = min(int(rng.choice(many)), k)
    if kind == 0 or not len(x):
        return minus
    place = rng.integers(0, len(x), (count, k))
    place = np.where(rng.random((count, 1)) < 0.5, place[:, :1], place)
    place = np.where(rng.random((count, 1)) < 0.3, len(x) - 1, place)
    head = np.broadcast_to(np.arange(k) < tops, (count, k))
    if rng.random() < 0.3:
        head = rng.permuted(head, axis=1)
    for row, new in ((0, x), (1, y)):
        words[row] = np.where(head, new[place], words[row])
    return minus ^ (head & (rng.random((count, k)) < 0.5)) if rng.random() < 0.25 else minus


def _exponent(rng: np.random.Generator, spec: UnitSpec, f: int, kind: int) -> int:
    """An exponent of the large terms at which there are others about a unit, if there is one."""
    a, b, c, d = spec.a_format, spec.b_format, spec.c_format, spec.d_format
    low, high = a.e_min + b.e_min, a.e_max + b.e_max
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
