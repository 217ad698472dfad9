"""Greedy shrinking of a witness: fewer nonzero terms, rounder values, exponents nearer to zero."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Protocol, TypeAlias

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode, encode_exact, encoded, exponent_of
from tcformal.simulation.operands.batch import batch_of, columns
from tcformal.simulation.operands.witness import Witness, factors


class Separation(Protocol):
    """What inputs are shrunk for: two results on `k` products of one unit's operands, which `differ`."""

    @property
    def first(self) -> UnitSpec: ...
    @property
    def k(self) -> int: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def results(self) -> tuple[Node, Node]: ...
    @property
    def differ(self) -> Node: ...


def _field(fmt: Format, raw: int) -> int:
    return (raw >> (fmt.ignored_low_bits + fmt.fraction_bits)) & ((1 << fmt.exponent_bits) - 1)


def _moved_exponent(fmt: Format, raw: int, by: int) -> int | None:
    """An encoding with a shifted exponent; None outside the normal range."""
    field = _field(fmt, raw)
    if field == 0:
        return None if raw & ~fmt.sign_bit else raw
    if not 1 <= field + by <= fmt.e_max + fmt.bias:
        return None
    return raw + (by << (fmt.ignored_low_bits + fmt.fraction_bits))


def simpler_values(fmt: Format, raw: int) -> Iterator[int]:
    """Simpler values of the same format: fewer bits, exponents nearer to zero."""
    if raw == 0:
        return
    yield 0
    if fmt.integer:
        n, span = int(decode(fmt, raw).number), 1 << fmt.width
        sign = -1 if n < 0 else 1
        for near in (
            sign,
            -sign,
            -n,
            n // 2,
            n - sign,
            n + sign,
            sign << (abs(n).bit_length() - 1),
            fmt.largest,
        ):
            yield near % span
        return
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    sign = raw & fmt.sign_bit
    one = fmt.one
    yield one
    yield one | sign
    fraction = ((1 << t) - 1) << low
    yield raw & ~fraction
    yield from _powers_inside(fmt, raw)
    for bit in range(low, low + t):
        yield raw & ~(1 << bit)
        if raw >> bit & 1:
            kept = raw & ~((1 << bit) - 1)
            yield kept
            rounded = kept + (1 << bit)
            if rounded >> fmt.width == 0:
                yield rounded
    if low:
        yield raw >> low << low
    yield raw ^ fmt.sign_bit
    distance = fmt.bias - _field(fmt, raw)
    for by in {distance, distance // 2, -(-distance // 2), distance // 4, 1, -1, 2, -2}:
        moved = _moved_exponent(fmt, raw, by)
        if moved is not None:
            yield moved
            yield moved & ~fraction


def _powers_inside(fmt: Format, raw: int) -> Iterator[int]:
    """The powers of two of a significand's set bits, with the number's sign."""
    value = decode(fmt, raw)
    if value.kind is not NumberClass.FINITE or not value.magnitude:
        return
    unit = value.magnitude.denominator
    whole = value.magnitude.numerator
    for bit in range(whole.bit_length()):
        if whole >> bit & 1:
            power = Fraction(1 << bit, unit)
            yield encode_exact(fmt, -power if value.sign else power)


@lru_cache(maxsize=1 << 16)
def factored(a_fmt: Format, b_fmt: Format, whole: Fraction) -> tuple[int, int] | None:
    """Encodings with the exact product `whole`, as much as possible in one factor; None if none exist."""
    if not whole:
        return 0, 0
    for down in (0, *(sign * by for by in range(1, 25) for sign in (1, -1))):
        power = power_of_two(down)
        for first, second, swap in ((a_fmt, b_fmt, False), (b_fmt, a_fmt, True)):
            big, small = encoded(first, whole / power), encoded(second, power)
            if big is not None and small is not None:
                return (small, big) if swap else (big, small)
    return None


def all_factored(a_fmt: Format, b_fmt: Format, wholes: Sequence[Fraction]) -> list[tuple[int, int]] | None:
    """Encodings for every one of several products; None if one of them has none."""
    pairs = []
    for whole in wholes:
        pair = factored(a_fmt, b_fmt, whole)
        if pair is None:
            return None
        pairs.append(pair)
    return pairs


def exact_product(a_fmt: Format, b_fmt: Format, x: int, y: int) -> Fraction | None:
    """The exact product of two finite encodings."""
    u, v = decode(a_fmt, x), decode(b_fmt, y)
    if u.kind is not NumberClass.FINITE or v.kind is not NumberClass.FINITE:
        return None
    return u.number * v.number


def simpler_products(a_fmt: Format, b_fmt: Format, x: int, y: int) -> Iterator[tuple[int, int]]:
    """Factor pairs with the same product: all bits in one factor, or one factor in [1, 2); and
    truncations."""
    whole = exact_product(a_fmt, b_fmt, x, y)
    values = [] if whole is None else [whole, *leading(whole)]
    yield from (pair for pair in (factored(a_fmt, b_fmt, v) for v in values) if pair is not None)
    for by in {a_fmt.bias - _field(a_fmt, x), _field(b_fmt, y) - b_fmt.bias}:
        first, second = _moved_exponent(a_fmt, x, by), _moved_exponent(b_fmt, y, -by)
        if first is not None and second is not None:
            yield first, second


def leading(number: Fraction) -> Iterator[Fraction]:
    """A number's leading few bits: truncated, and rounded up."""
    size, top = abs(number), number.numerator.bit_length()
    for bits in (1, 2, 3, 4, 8):
        if number and bits < top:
            unit = Fraction(1 << (top - bits), size.denominator)
            for kept in (size // unit, size // unit + 1):
                yield kept * unit if number > 0 else -kept * unit


#: How far all scales and c are moved together, either way.
_NEAR = 12


def rescaled(question: Separation, w: Witness, live: list[int]) -> Iterator[Witness]:
    """Neighbours with other scales; none for units without scales."""
    fmt, block = question.first.scale_format, question.first.scale_block
    if fmt is None or block is None:
        return
    count = len(w.scale_a)
    ones = (fmt.one,) * count
    yield replace(w, scale_a=ones, scale_b=ones)
    for i in range(count):
        yield _with_scales(w, i, fmt.one, fmt.one)
    for i in range(count):
        yield from _simpler_pairs(fmt, w, i)
    for i in range(count):
        yield replace(w, scale_a=(w.scale_a[i],) * count, scale_b=(w.scale_b[i],) * count)
        yield from _absorbed(question, w, fmt, i, [k for k in live if k // block == i])
    yield from _with_c(question, w, fmt, {k // block for k in live})
    yield from _swapped(w, block, live)
    yield from _carried(question, w, block, live)


def simpler_scales(fmt: Format, raw: int) -> Iterator[int]:
    """Simpler replacements of a scale: 1, fewer bits, exponents nearer to zero."""
    yield fmt.one
    value = decode(fmt, raw)
    if value.kind is not NumberClass.FINITE or not value.magnitude:
        return
    e = exponent_of(value.magnitude)
    rounder = [value.magnitude, power_of_two(e), *leading(value.magnitude)]
    steps = dict.fromkeys((0, -e, -(e // 2), -(e // 4), 1, -1, 2, -2))
    for by in steps:
        for number in rounder:
            simpler = encoded(fmt, number * power_of_two(by))
            if simpler is not None:
                yield simpler


def _with_scales(w: Witness, i: int, x: int, y: int) -> Witness:
    return replace(
        w, scale_a=(*w.scale_a[:i], x, *w.scale_a[i + 1 :]), scale_b=(*w.scale_b[:i], y, *w.scale_b[i + 1 :])
    )


def _with_products(w: Witness, new: Mapping[int, tuple[int, int]]) -> Witness:
    pairs = [new.get(k, pair) for k, pair in enumerate(zip(w.a, w.b, strict=True))]
    return replace(w, a=tuple(x for x, _ in pairs), b=tuple(y for _, y in pairs))


def _simpler_pairs(fmt: Format, w: Witness, i: int) -> Iterator[Witness]:
    """Neighbours with one simpler scale in a block, or both scales multiplied into one."""
    x, y = w.scale_a[i], w.scale_b[i]
    yield from (_with_scales(w, i, new, y) for new in simpler_scales(fmt, x))
    yield from (_with_scales(w, i, x, new) for new in simpler_scales(fmt, y))
    whole = exact_product(fmt, fmt, x, y)
    if whole is not None:
        one = encoded(fmt, whole)
        if one is not None:
            yield _with_scales(w, i, one, fmt.one)
            yield _with_scales(w, i, fmt.one, one)


def _absorbed(question: Separation, w: Witness, fmt: Format, i: int, members: list[int]) -> Iterator[Witness]:
    """Neighbours with the same scaled products, but smaller scales, or the largest product near 1."""
    o = question.first.operands
    products = [exact_product(o.a, o.b, w.a[k], w.b[k]) for k in members]
    numbers = [p for p in products if p]
    scales = [decode(fmt, raw) for raw in (w.scale_a[i], w.scale_b[i])]
    if not numbers or len(numbers) < len(members) or any(s.kind is not NumberClass.FINITE for s in scales):
        return
    for place, scale in enumerate(scales):
        if not scale.magnitude:
            continue
        e, top = exponent_of(scale.magnitude), exponent_of(max(map(abs, numbers)))
        by = [power_of_two(n) for n in dict.fromkeys((e, e // 2, -top, 1, -1))]
        for moved in (scale.magnitude, *by):
            raw = encoded(fmt, scale.magnitude / moved)
            if raw is not None:
                pairs = all_factored(o.a, o.b, [p * moved for p in numbers])
                if pairs is not None:
                    new = _with_scales(w, i, *((raw, w.scale_b[i]) if place == 0 else (w.scale_a[i], raw)))
                    yield _with_products(new, dict(zip(members, pairs, strict=True)))


def _with_c(question: Separation, w: Witness, fmt: Format, used: set[int]) -> Iterator[Witness]:
    """Neighbours with c and one scale of every used block times a power of two, so that one is near 1."""
    o = question.first.operands
    c = decode(o.c, w.c)
    if c.kind is not NumberClass.FINITE:
        return
    for name, row in (("scale_a", w.scale_a), ("scale_b", w.scale_b)):
        values = {i: decode(fmt, row[i]) for i in sorted(used)}
        if any(v.kind is not NumberClass.FINITE for v in values.values()):
            continue
        numbers = {i: v.magnitude for i, v in values.items()}
        tops = [-exponent_of(x) for x in (*numbers.values(), c.magnitude) if x]
        for by in dict.fromkeys((*tops, *range(-_NEAR, _NEAR + 1))):
            new_c = encoded(o.c, c.number * power_of_two(by), bool(c.sign))
            moved = {i: encoded(fmt, x * power_of_two(by)) for i, x in numbers.items()}
            if new_c is not None and None not in moved.values():
                new = tuple(x if (m := moved.get(i)) is None else m for i, x in enumerate(row))
                yield replace(w, c=new_c, **{name: new})


def _swapped(w: Witness, block: int, live: list[int]) -> Iterator[Witness]:
    """Neighbours with a block of products and scales exchanged with an earlier empty block."""
    used = {k // block for k in live}
    for i in sorted(used):
        free = next((j for j in range(i) if j not in used), None)
        if free is None or (i + 1) * block > len(w.a):
            continue
        order = list(range(len(w.scale_a)))
        order[free], order[i] = i, free
        places = [k for j in order for k in range(j * block, min((j + 1) * block, len(w.a)))]
        yield replace(
            w,
            a=tuple(w.a[k] for k in places),
            b=tuple(w.b[k] for k in places),
            scale_a=tuple(w.scale_a[j] for j in order),
            scale_b=tuple(w.scale_b[j] for j in order),
        )


def _carried(question: Separation, w: Witness, block: int, live: list[int]) -> Iterator[Witness]:
    """Neighbours with one scaled product moved to another block, and adapted to that block's scales."""
    o = question.first.operands
    worth = factors(question.first, w)
    for k in live:
        product, mine = exact_product(o.a, o.b, w.a[k], w.b[k]), worth[k]
        if not product or not mine:
            continue
        for start in range(0, len(w.a), block):
            there = next((j for j in range(start, min(start + block, len(w.a))) if j not in live), None)
            theirs = None if there is None else worth[there]
            if there is None or not theirs or start == k // block * block:
                continue
            pair = factored(o.a, o.b, Fraction(product * mine / theirs))
            if pair is not None:
                yield _with_products(w, {there: pair, k: (0, 0)})


#: A product by the encodings of its factors.
_Factors: TypeAlias = tuple[int, int]
#: Smallest scale of a template: 2^-_DEEPEST.  With scales, _FEW_POWERS powers of two are tried as products.
_DEEPEST, _FEW_POWERS = 64, 8


def candidates(question: Separation, w: Witness) -> Iterator[Witness]:
    """Simpler neighbours of a witness, the largest simplifications first."""
    o, k = question.first.operands, question.k
    live = [i for i in range(k) if w.a[i] or w.b[i]]
    for i in live:
        yield _put(w, i, 0, 0)
    for i, j in itertools.combinations(live, 2):
        yield _put(_put(w, i, 0, 0), j, 0, 0)
    yield replace(w, c=0)
    yield from rescaled(question, w, live)
    yield from _copied(w, live)
    for i in live:
        yield from (_put(w, i, x, y) for x, y in simpler_products(o.a, o.b, w.a[i], w.b[i]))
        yield from (_put(w, i, x, w.b[i]) for x in simpler_values(o.a, w.a[i]))
        yield from (_put(w, i, w.a[i], y) for y in simpler_values(o.b, w.b[i]))
    yield from (replace(w, c=x) for x in simpler_values(o.c, w.c))
    yield from _joined(question, w, live)
    yield from _scaled(question, w)
    yield from _negated(question, w)
    yield from _moved(w, live)


def templates(question: Separation, w: Witness) -> Iterator[Witness]:
    """Simple witnesses: c = 1 or 0, and two products that are powers of two of at most 1, of either sign.

    With scales: all are 1, then those of the last block are smaller powers of two.
    """
    o, k = question.first.operands, question.k
    fmt = question.first.scale_format
    powers = list(_small_powers(o.a, o.b))
    bare = replace(w, a=(0,) * k, b=(0,) * k)
    if fmt is not None:
        ones = (fmt.one,) * len(w.scale_a)
        bare = replace(bare, scale_a=ones, scale_b=ones)
    yield from _two_products(bare, _two_powers(question, powers))
    if fmt is not None:
        few = _two_powers(question, powers[:_FEW_POWERS])
        for down in range(1, _DEEPEST):
            smaller = encoded(fmt, power_of_two(-down))
            if smaller is not None:
                yield from _two_products(replace(bare, scale_a=(*ones[:-1], smaller)), few)


def _two_powers(question: Separation, powers: list[_Factors]) -> list[tuple[int, _Factors, _Factors]]:
    """Choices of c and two products: c = 1 with any two, c = 0 with one at a bound of the results.

    With c = 0 only the distance of the two matters, and their distance from half the smallest result.
    """
    o = question.first.operands
    ends = (Fraction(1), power_of_two(o.d.e_min - o.d.fraction_bits - 1))
    anchors = [p for p in powers if abs(exact_product(o.a, o.b, *p) or 0) in ends]
    pairs = list(itertools.product(powers, repeat=2))
    beside_zero = [(0, x, y) for x, y in pairs if x in anchors or y in anchors]
    return [(o.c.one, x, y) for x, y in pairs] + beside_zero


def _two_products(bare: Witness, chosen: list[tuple[int, _Factors, _Factors]]) -> Iterator[Witness]:
    """Choices of c with the first product and one other."""
    k = len(bare.a)
    for last in {1, k - 1} if k > 1 else ():
        between, after = (0,) * (last - 1), (0,) * (k - 1 - last)
        # There are tens of thousands, so each is built directly rather than by changes to the one before.
        for c, (a, b), (x, y) in chosen:
            first, second = (a, *between, x, *after), (b, *between, y, *after)
            yield Witness(first, second, c, bare.scale_a, bare.scale_b)


def _small_powers(a_fmt: Format, b_fmt: Format) -> Iterator[_Factors]:
    """Factor pairs of ±1, ±2^-1, …: a power times 1 while it is normal, then two similar factors."""
    for down in range(50):
        other = 0 if down <= -a_fmt.e_min else down // 2
        for sign in (1, -1):
            a, b = encoded(a_fmt, sign * power_of_two(other - down)), encoded(b_fmt, power_of_two(-other))
            if a is not None and b is not None:
                yield a, b


def _put(w: Witness, i: int, x: int, y: int) -> Witness:
    return replace(w, a=(*w.a[:i], x, *w.a[i + 1 :]), b=(*w.b[:i], y, *w.b[i + 1 :]))


def _copied(w: Witness, live: list[int]) -> Iterator[Witness]:
    """Neighbours with all products, or one, replaced by a copy of another."""
    for j in live:
        a = tuple(w.a[j] if i in live else x for i, x in enumerate(w.a))
        b = tuple(w.b[j] if i in live else x for i, x in enumerate(w.b))
        yield replace(w, a=a, b=b)
        yield from (_put(w, i, w.a[j], w.b[j]) for i in live if i != j)


def _joined(question: Separation, w: Witness, live: list[int]) -> Iterator[Witness]:
    """Neighbours with two products, or c and a product, merged into their sum."""
    o = question.first.operands
    worth = {i: f for i, f in enumerate(factors(question.first, w)) if f}
    exact = {i: exact_product(o.a, o.b, w.a[i], w.b[i]) for i in live if i in worth}
    products = {i: p * worth[i] for i, p in exact.items() if p is not None}
    c = decode(o.c, w.c)
    for i, p in products.items():
        for j, q in products.items():
            pair = factored(o.a, o.b, (p + q) / worth[i]) if i < j else None
            if pair is not None:
                yield _put(_put(w, i, *pair), j, 0, 0)
        if c.kind is NumberClass.FINITE:
            pair = factored(o.a, o.b, (c.number + p) / worth[i])
            if pair is not None:
                yield replace(_put(w, i, *pair), c=0)
            new_c = encoded(o.c, c.number + p)
            if new_c is not None:
                yield replace(_put(w, i, 0, 0), c=new_c)


def _scaled(question: Separation, w: Witness) -> Iterator[Witness]:
    """Neighbours with all products and c times a power of two, so that the largest product is near 1."""
    o = question.first.operands
    products = [exact_product(o.a, o.b, x, y) for x, y in zip(w.a, w.b, strict=True)]
    c = decode(o.c, w.c)
    if c.kind is not NumberClass.FINITE or any(p is None for p in products):
        return
    finite = [p for p in products if p is not None]
    worth = [f or Fraction(0) for f in factors(question.first, w)]
    scaled = (p * f for p, f in zip(finite, worth, strict=True))
    largest = max((abs(x) for x in (*scaled, c.number)), default=Fraction(0))
    if not largest:
        return
    top = largest.numerator.bit_length() - largest.denominator.bit_length()
    for by in (*range(-top - 2, -top + 3), *range(-12, 13)):
        scale = power_of_two(by)
        new_c = encoded(o.c, c.number * scale, bool(c.sign))
        if new_c is not None:
            pairs = all_factored(o.a, o.b, [p * scale for p in finite])
            if pairs is not None:
                a, b = zip(*pairs, strict=True)
                yield replace(w, a=a, b=b, c=new_c)


def _negated(question: Separation, w: Witness) -> Iterator[Witness]:
    """Neighbours with all signs flipped, or with a product's sign moved to a."""
    o = question.first.operands
    sa, sb, sc = o.a.sign_bit, o.b.sign_bit, o.c.sign_bit
    yield replace(w, a=tuple(x ^ sa if x else x for x in w.a), c=w.c ^ sc if w.c else w.c)
    moved_a = tuple(x ^ sa if y & sb else x for x, y in zip(w.a, w.b, strict=True))
    yield replace(w, a=moved_a, b=tuple(y & ~sb for y in w.b))


def _moved(w: Witness, live: list[int]) -> Iterator[Witness]:
    """Neighbours with the nonzero products packed to the front, or one moved to an earlier free position."""
    for i in live:
        free = next((j for j in range(i) if j not in live), None)
        if free is not None:
            yield _put(_put(w, free, w.a[i], w.b[i]), i, 0, 0)
    order = [*live, *(i for i in range(len(w.a)) if i not in live)]
    yield replace(w, a=tuple(w.a[i] for i in order), b=tuple(w.b[i] for i in order))


#: Costs: a term that is not zero, a scale that is not 1, a fraction bit that is set, NaN or Inf.
_TERM, _SCALE, _BIT, _SPECIAL = 400, 150, 12, 2000
#: Candidates evaluated in one batch.
_BATCH = 4096
#: Number of products up to which templates are not tried.
_FEW = 2
#: A changed part of a witness: `product` i, `scale_a` or `scale_b` i, or `c` 0.
ChangedPart = tuple[str, int]
_C: ChangedPart = ("c", 0)


@lru_cache(maxsize=1 << 16)
def value_cost(fmt: Format, raw: int) -> int:
    """The cost of reading a value: 0 for +0, small for powers of two near 1, large for NaN and Inf."""
    return _digits_cost(fmt, raw, _TERM) if raw else 0


@lru_cache(maxsize=1 << 16)
def scale_cost(fmt: Format, raw: int) -> int:
    """The cost of reading a scale: 0 for 1, small for powers of two near 1, more for zero, large for NaN."""
    return 0 if raw == fmt.one else _digits_cost(fmt, raw, _SCALE)


def _digits_cost(fmt: Format, raw: int, cost: int) -> int:
    """`cost`, and that of a finite number's bits: set fraction bits, exponent, sign, ignored bits."""
    value = decode(fmt, raw)
    if value.kind is not NumberClass.FINITE:
        return _SPECIAL
    if fmt.integer:
        whole = value.magnitude.numerator
        return cost + 3 * whole.bit_length() + whole.bit_count() + 3 * value.sign
    fraction = (raw >> fmt.ignored_low_bits) & ((1 << fmt.fraction_bits) - 1)
    ignored = raw & ((1 << fmt.ignored_low_bits) - 1)
    if fmt.sign is Sign.IGNORED:
        ignored |= raw & (1 << (fmt.width - 1))
    subnormal = 30 if value.magnitude < power_of_two(fmt.e_min) else 0
    spread = fraction.bit_length() and fmt.fraction_bits - (fraction & -fraction).bit_length() + 1
    sign = 3 if raw >> (fmt.width - 1) and fmt.sign is Sign.PRESENT else 0
    bits = _BIT * fraction.bit_count() + spread + 5 * ignored.bit_count()
    return cost + bits + abs(value.exponent) + subnormal + sign


def witness_cost(question: Separation, w: Witness) -> int:
    """The cost of reading a witness: the sum over operands, plus a little for each product's position."""
    o = question.first.operands
    places = sum(i for i, (x, y) in enumerate(zip(w.a, w.b, strict=True)) if x or y)
    factors = sum(value_cost(o.a, x) for x in w.a) + sum(value_cost(o.b, x) for x in w.b)
    fmt = question.first.scale_format
    scales = sum(scale_cost(fmt, x) for x in (*w.scale_a, *w.scale_b)) if fmt is not None else 0
    return places + factors + scales + value_cost(o.c, w.c)


def shrink(question: Separation, witness: Witness, *, seconds: float = 4.0) -> Witness:
    """A separating witness of at most the same cost, by greedy descent in batches.

    The given witness is returned where no simpler one separates within `seconds`.
    """
    deadline = time.monotonic() + seconds
    if not (start := _costs(question, [witness])):
        return witness
    cost, best = _descend(question, *start[0], deadline)
    live = sum(1 for x, y in zip(best.a, best.b, strict=True) if x or y)
    if live > _FEW:
        cheaper = _first_cheaper(question, templates(question, best), cost, deadline)
        if cheaper is not None:
            best = _descend(question, *cheaper, deadline)[1]
    return best


def _descend(question: Separation, cost: int, best: Witness, deadline: float) -> tuple[int, Witness]:
    """Greedy descent: move to the cheapest neighbour until none is cheaper."""
    while (cheaper := _first_cheaper(question, candidates(question, best), cost, deadline, best)) is not None:
        cost, best = cheaper
    return cost, best


def _first_cheaper(
    question: Separation,
    tried: Iterator[Witness],
    cost: int,
    deadline: float,
    base: Witness | None = None,
) -> tuple[int, Witness] | None:
    """The cheapest witness of the first batch that has one below `cost`; None if there is none.

    After the deadline no further batch is evaluated.  With `base`, whose neighbours the batch holds,
    combinations of the batch's changes are tried too.
    """
    while time.monotonic() < deadline and (batch := list(islice(tried, _BATCH))):
        better = _cheaper(question, batch, cost)
        if better and base is not None:
            # Changes of different products and of c go together more often than not.
            better += _cheaper(question, _merged(base, [w for _, w in better]), cost)
        if better:
            return min(better, key=lambda entry: entry[0])
    return None


def _costs(question: Separation, batch: Sequence[Witness]) -> list[tuple[int, Witness]]:
    """The candidates that separate, each with its cost, and a penalty for NaN and Inf results."""
    if not batch:
        return []
    roots = [question.differ, *question.results]
    lanes = Vector(question.graph, columns(batch_of(batch))).run(roots)
    differ, *results = (np.broadcast_to(v, (len(batch),)) for v in lanes)
    d = question.first.operands.d
    special = np.sum([d.is_special(r.astype(np.uint64)) for r in results], axis=0)
    return [
        (_SPECIAL * int(special[i]) + witness_cost(question, batch[i]), batch[i])
        for i in np.flatnonzero(differ).tolist()
    ]


def _cheaper(question: Separation, batch: Sequence[Witness], cost: int) -> list[tuple[int, Witness]]:
    """The separating candidates below a cost, cheapest first."""
    return sorted((c for c in _costs(question, batch) if c[0] < cost), key=lambda c: c[0])


def _merged(base: Witness, better: Sequence[Witness]) -> list[Witness]:
    """The first candidate, with the disjoint changes of the following ones applied cumulatively."""
    merged, steps = better[0], []
    for other in better[1:]:
        changed = _changed(base, other)
        if changed and not changed & _changed(base, merged):
            merged = replace(
                merged,
                a=_merged_row("product", merged.a, other.a, changed),
                b=_merged_row("product", merged.b, other.b, changed),
                c=other.c if _C in changed else merged.c,
                scale_a=_merged_row("scale_a", merged.scale_a, other.scale_a, changed),
                scale_b=_merged_row("scale_b", merged.scale_b, other.scale_b, changed),
            )
            steps.append(merged)
    return steps


def _merged_row(
    what: str, mine: tuple[int, ...], theirs: tuple[int, ...], changed: set[ChangedPart]
) -> tuple[int, ...]:
    return tuple(theirs[i] if (what, i) in changed else x for i, x in enumerate(mine))


def _changed(base: Witness, other: Witness) -> set[ChangedPart]:
    """The parts (products, scales, c) in which two witnesses differ."""
    rows: dict[str, tuple[Iterable[object], Iterable[object]]] = {
        "product": (zip(base.a, base.b, strict=True), zip(other.a, other.b, strict=True)),
        "scale_a": (base.scale_a, other.scale_a),
        "scale_b": (base.scale_b, other.scale_b),
        "c": ((base.c,), (other.c,)),
    }
    return {
        (what, i)
        for what, (mine, theirs) in rows.items()
        for i, (x, y) in enumerate(zip(mine, theirs, strict=True))
        if x != y
    }
