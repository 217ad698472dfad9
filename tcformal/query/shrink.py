"""Shrink a witness for people: fewest non-zero terms, round values, exponents near zero."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np

from tcformal.errors import ValueTextError
from tcformal.formats.spec import Format, Sign
from tcformal.interp.vector import Vector
from tcformal.oracle.values import Kind, decode, encode_exact
from tcformal.query.spec import Question, Witness

#: Costs: a term that is not zero, a fraction bit that is set, NaN or Inf.
_TERM, _BIT, _SPECIAL = 400, 12, 2000
#: Candidates judged at once.
_BATCH = 2048


def value_cost(fmt: Format, raw: int) -> int:
    """How hard a value is to read: 0 for +0, small for powers of two near 1, large for NaN and Inf."""
    if raw == 0:
        return 0
    value = decode(fmt, raw)
    if value.kind is not Kind.FINITE:
        return _SPECIAL
    fraction = (raw >> fmt.ignored_low_bits) & ((1 << fmt.fraction_bits) - 1)
    ignored = raw & ((1 << fmt.ignored_low_bits) - 1)
    subnormal = 30 if value.exponent == fmt.e_min and not _field(fmt, raw) else 0
    spread = fraction.bit_length() and fmt.fraction_bits - (fraction & -fraction).bit_length() + 1
    sign = 3 if raw >> (fmt.width - 1) and fmt.sign is Sign.PRESENT else 0
    return (
        _TERM
        + _BIT * fraction.bit_count()
        + spread
        + abs(value.exponent)
        + subnormal
        + sign
        + 5 * ignored.bit_count()
    )


def witness_cost(question: Question, w: Witness) -> int:
    """The sum over all operands, and a little for every position that a non-zero product stands back."""
    o = question.first.operands
    places = sum(i for i, (x, y) in enumerate(zip(w.a, w.b, strict=True)) if x or y)
    factors = sum(value_cost(o.a, x) for x in w.a) + sum(value_cost(o.b, x) for x in w.b)
    return places + factors + value_cost(o.c, w.c)


def shrink(question: Question, witness: Witness, *, seconds: float = 4.0) -> Witness:
    """A witness that still separates and costs no more: greedy, in rounds of whole batches.

    Errors: none; the given witness comes back where nothing simpler separates.
    """
    deadline = time.monotonic() + seconds
    penalty = _result_cost(question, [witness])[0]
    if penalty is None:
        return witness
    best, cost = witness, witness_cost(question, witness) + penalty
    while time.monotonic() < deadline:
        improved = False
        candidates = _candidates(question, best)
        while batch := [w for w in islice(candidates, _BATCH) if w != best]:
            penalties = _result_cost(question, batch)
            costs = [
                witness_cost(question, w) + p if p is not None else None
                for w, p in zip(batch, penalties, strict=True)
            ]
            found = min((c, i) for i, c in enumerate([*costs, cost]) if c is not None)
            if found[0] < cost:
                cost, best, improved = found[0], batch[found[1]], True
                break
            if time.monotonic() > deadline:
                break
        if not improved:
            break
    return best


def _result_cost(question: Question, batch: list[Witness]) -> list[int | None]:
    """None where a candidate does not separate; else a penalty for NaN or Inf among the results."""
    inputs = {name: np.array(column, dtype=np.uint64) for name, column in _columns(question, batch)}
    roots = [question.differ, *question.results]
    differ, first, second = (
        np.broadcast_to(v, (len(batch),)) for v in Vector(question.graph, inputs).run(roots)
    )
    d = question.first.operands.d
    limit = d.infinity
    body = (1 << (d.width - 1)) - 1
    penalties: list[int | None] = []
    for ok, x, y in zip(differ.tolist(), first.tolist(), second.tolist(), strict=True):
        special = sum((int(r) & body) >= limit for r in (x, y))
        penalties.append(_SPECIAL * special if ok else None)
    return penalties


def _columns(question: Question, batch: list[Witness]) -> Iterator[tuple[str, list[int]]]:
    for i in range(question.k):
        yield f"a[{i}]", [w.a[i] for w in batch]
        yield f"b[{i}]", [w.b[i] for w in batch]
    yield "c", [w.c for w in batch]


def _candidates(question: Question, w: Witness) -> Iterator[Witness]:
    """Simpler neighbours of a witness, the boldest first."""
    o, k = question.first.operands, question.k
    live = [i for i in range(k) if w.a[i] or w.b[i]]
    for i in live:
        yield _put(w, i, 0, 0)
    for i in live:
        for j in live:
            if i < j:
                yield _put(_put(w, i, 0, 0), j, 0, 0)
    yield replace(w, c=0)
    for i in live:
        yield from (_put(w, i, x, y) for x, y in _factorings(o.a, o.b, w.a[i], w.b[i]))
        yield from (_put(w, i, x, w.b[i]) for x in _simpler(o.a, w.a[i]))
        yield from (_put(w, i, w.a[i], y) for y in _simpler(o.b, w.b[i]))
    yield from (replace(w, c=x) for x in _simpler(o.c, w.c))
    yield from _scaled(question, w)
    yield from _negated(question, w)
    yield from _moved(w, live)


def _put(w: Witness, i: int, x: int, y: int) -> Witness:
    return replace(w, a=(*w.a[:i], x, *w.a[i + 1 :]), b=(*w.b[:i], y, *w.b[i + 1 :]))


def _field(fmt: Format, raw: int) -> int:
    return (raw >> (fmt.ignored_low_bits + fmt.fraction_bits)) & ((1 << fmt.exponent_bits) - 1)


def _sign_bit(fmt: Format) -> int:
    return 1 << (fmt.width - 1) if fmt.sign is Sign.PRESENT else 0


def _moved_exponent(fmt: Format, raw: int, by: int) -> int | None:
    """The encoding with its exponent field moved; None where it would leave the normal numbers."""
    field = _field(fmt, raw)
    if field == 0:
        return None if raw & ~_sign_bit(fmt) else raw
    if not 1 <= field + by <= fmt.e_max + fmt.bias:
        return None
    return raw + (by << (fmt.ignored_low_bits + fmt.fraction_bits))


def _simpler(fmt: Format, raw: int) -> Iterator[int]:
    """Simpler values in place of one."""
    if raw == 0:
        return
    yield 0
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    sign = raw & _sign_bit(fmt)
    one = fmt.bias << (t + low)
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
    yield raw ^ _sign_bit(fmt)
    distance = fmt.bias - _field(fmt, raw)
    for by in {distance, distance // 2, -(-distance // 2), distance // 4, 1, -1, 2, -2}:
        moved = _moved_exponent(fmt, raw, by)
        if moved is not None:
            yield moved
            yield moved & ~fraction


def _powers_inside(fmt: Format, raw: int) -> Iterator[int]:
    """The power of two that each set bit of the significand stands for, sign kept."""
    value = decode(fmt, raw)
    if value.kind is not Kind.FINITE or not value.magnitude:
        return
    unit = value.magnitude.denominator
    whole = value.magnitude.numerator
    for bit in range(whole.bit_length()):
        if whole >> bit & 1:
            power = Fraction(1 << bit, unit)
            yield encode_exact(fmt, -power if value.sign else power)


def _factored(a_fmt: Format, b_fmt: Format, whole: Fraction) -> tuple[int, int] | None:
    """Encodings whose product is exactly `whole`, as much as can be in one factor; None if there are none."""
    if not whole:
        return 0, 0
    for down in (0, *(sign * by for by in range(1, 25) for sign in (1, -1))):
        power = Fraction(1 << down) if down >= 0 else Fraction(1, 1 << -down)
        for first, second, swap in ((a_fmt, b_fmt, False), (b_fmt, a_fmt, True)):
            try:
                big, small = encode_exact(first, whole / power), encode_exact(second, power)
            except ValueTextError:
                continue
            return (small, big) if swap else (big, small)
    return None


def _product(a_fmt: Format, b_fmt: Format, x: int, y: int) -> Fraction | None:
    """The exact product of two finite encodings."""
    u, v = decode(a_fmt, x), decode(b_fmt, y)
    if u.kind is not Kind.FINITE or v.kind is not Kind.FINITE:
        return None
    return u.number * v.number


def _factorings(a_fmt: Format, b_fmt: Format, x: int, y: int) -> Iterator[tuple[int, int]]:
    """The same product with everything in one factor."""
    whole = _product(a_fmt, b_fmt, x, y)
    pair = None if whole is None else _factored(a_fmt, b_fmt, whole)
    if pair is not None:
        yield pair


def _scaled(question: Question, w: Witness) -> Iterator[Witness]:
    """All products and c times a power of two, near where the largest product becomes 1."""
    o = question.first.operands
    products = [_product(o.a, o.b, x, y) for x, y in zip(w.a, w.b, strict=True)]
    c = decode(o.c, w.c)
    if c.kind is not Kind.FINITE or any(p is None for p in products):
        return
    finite = [p for p in products if p is not None]
    largest = max((abs(x) for x in (*finite, c.number)), default=Fraction(0))
    if not largest:
        return
    top = largest.numerator.bit_length() - largest.denominator.bit_length()
    for by in (*range(-top - 2, -top + 3), *range(-12, 13)):
        scale = Fraction(1 << by) if by >= 0 else Fraction(1, 1 << -by)
        pairs = [_factored(o.a, o.b, p * scale) for p in finite]
        try:
            new_c = encode_exact(o.c, c.number * scale, bool(c.sign))
        except ValueTextError:
            continue
        if all(pair is not None for pair in pairs):
            a, b = zip(*(pair for pair in pairs if pair is not None), strict=True)
            yield Witness(a, b, new_c)


def _negated(question: Question, w: Witness) -> Iterator[Witness]:
    """Everything negated, c included; and each product's signs moved to a."""
    o = question.first.operands
    sa, sb, sc = _sign_bit(o.a), _sign_bit(o.b), _sign_bit(o.c)
    yield Witness(tuple(x ^ sa if x else x for x in w.a), w.b, w.c ^ sc if w.c else w.c)
    moved_a = tuple(x ^ sa if y & sb else x for x, y in zip(w.a, w.b, strict=True))
    yield Witness(moved_a, tuple(y & ~sb for y in w.b), w.c)


def _moved(w: Witness, live: list[int]) -> Iterator[Witness]:
    """The non-zero products packed to the front, and each moved to the first free place before it."""
    for i in live:
        free = next((j for j in range(i) if j not in live), None)
        if free is not None:
            yield _put(_put(w, free, w.a[i], w.b[i]), i, 0, 0)
    order = [*live, *(i for i in range(len(w.a)) if i not in live)]
    yield Witness(tuple(w.a[i] for i in order), tuple(w.b[i] for i in order), w.c)
