"""Simpler neighbours of a witness with block scales: scales nearer to 1, or moved into what they scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from tcformal.encodings.spec import Format
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import NumberClass, decode, encoded, exponent_of
from tcformal.query.pair import EqualityQuestion
from tcformal.query.shrink.simpler import all_factored, exact_product, factored, leading
from tcformal.simulation.operands.factors import factors
from tcformal.simulation.operands.witness import Witness

#: How far all scales and c are moved together, either way.
_NEAR = 12


def rescaled(question: EqualityQuestion, w: Witness, live: list[int]) -> Iterator[Witness]:
    """Neighbours that differ in their scales; nothing for units without."""
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
    """Simpler scales in place of one: 1, fewer bits, exponents nearer to zero."""
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
        w,
        scale_a=(*w.scale_a[:i], x, *w.scale_a[i + 1 :]),
        scale_b=(*w.scale_b[:i], y, *w.scale_b[i + 1 :]),
    )


def _with_products(w: Witness, new: Mapping[int, tuple[int, int]]) -> Witness:
    pairs = [new.get(k, pair) for k, pair in enumerate(zip(w.a, w.b, strict=True))]
    return replace(w, a=tuple(x for x, _ in pairs), b=tuple(y for _, y in pairs))


def _simpler_pairs(fmt: Format, w: Witness, i: int) -> Iterator[Witness]:
    """One scale of a block simpler, or both multiplied into one."""
    x, y = w.scale_a[i], w.scale_b[i]
    yield from (_with_scales(w, i, new, y) for new in simpler_scales(fmt, x))
    yield from (_with_scales(w, i, x, new) for new in simpler_scales(fmt, y))
    whole = exact_product(fmt, fmt, x, y)
    if whole is not None:
        one = encoded(fmt, whole)
        if one is not None:
            yield _with_scales(w, i, one, fmt.one)
            yield _with_scales(w, i, fmt.one, one)


def _absorbed(
    question: EqualityQuestion, w: Witness, fmt: Format, i: int, members: list[int]
) -> Iterator[Witness]:
    """The same scaled products with smaller scales, or with the largest product near 1."""
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


def _with_c(question: EqualityQuestion, w: Witness, fmt: Format, used: set[int]) -> Iterator[Witness]:
    """One scale of every used block, and c, times a power of two, so that a scale or c is near 1."""
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
                yield (
                    replace(w, scale_a=new, c=new_c)
                    if name == "scale_a"
                    else replace(w, scale_b=new, c=new_c)
                )


def _swapped(w: Witness, block: int, live: list[int]) -> Iterator[Witness]:
    """Each block of products, with its scales, exchanged with an earlier block without products."""
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


def _carried(question: EqualityQuestion, w: Witness, block: int, live: list[int]) -> Iterator[Witness]:
    """One scaled product moved to the first free position of another block, under that block's scales."""
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
