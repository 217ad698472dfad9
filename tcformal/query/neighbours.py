"""Simpler neighbours of a witness: fewer terms, rounder values, exponents nearer to zero."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from tcformal.errors import ValueTextError
from tcformal.formats.spec import Format, Sign
from tcformal.oracle.values import Kind, decode, encode_exact, power_of_two
from tcformal.query.spec import Question, Witness


def candidates(question: Question, w: Witness) -> Iterator[Witness]:
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
    yield from _alike(w, live)
    for i in live:
        yield from (_put(w, i, x, y) for x, y in _simpler_products(o.a, o.b, w.a[i], w.b[i]))
        yield from (_put(w, i, x, w.b[i]) for x in _simpler(o.a, w.a[i]))
        yield from (_put(w, i, w.a[i], y) for y in _simpler(o.b, w.b[i]))
    yield from (replace(w, c=x) for x in _simpler(o.c, w.c))
    yield from _joined(question, w, live)
    yield from _scaled(question, w)
    yield from _negated(question, w)
    yield from _moved(w, live)


def templates(question: Question, w: Witness) -> Iterator[Witness]:
    """c = 1 or 0, and two products that are powers of two at most 1, of either sign."""
    o, k = question.first.operands, question.k
    pairs = list(_small_powers(o.a, o.b))
    one = o.c.one
    for c, last in itertools.product((one, 0), {1, k - 1} if k > 1 else ()):
        bare = replace(w, a=(0,) * k, b=(0,) * k, c=c)
        for first, second in itertools.product(pairs, repeat=2):
            yield _put(_put(bare, 0, *first), last, *second)


def _small_powers(a_fmt: Format, b_fmt: Format) -> Iterator[tuple[int, int]]:
    """±1, ±2^-1, … as products: times 1 as long as that is normal, then of two factors of like size."""
    for down in range(50):
        other = 0 if down <= -a_fmt.e_min else down // 2
        for sign in (1, -1):
            with suppress(ValueTextError):
                yield (
                    encode_exact(a_fmt, sign * power_of_two(other - down)),
                    encode_exact(b_fmt, power_of_two(-other)),
                )


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


def _simpler_products(a_fmt: Format, b_fmt: Format, x: int, y: int) -> Iterator[tuple[int, int]]:
    """The same product with everything in one factor, or one factor in [1, 2); its leading bits."""
    whole = _product(a_fmt, b_fmt, x, y)
    values = [] if whole is None else [whole, *_leading(whole)]
    yield from (pair for pair in (_factored(a_fmt, b_fmt, v) for v in values) if pair is not None)
    for by in {a_fmt.bias - _field(a_fmt, x), _field(b_fmt, y) - b_fmt.bias}:
        first, second = _moved_exponent(a_fmt, x, by), _moved_exponent(b_fmt, y, -by)
        if first is not None and second is not None:
            yield first, second


def _leading(number: Fraction) -> Iterator[Fraction]:
    """A number cut, and rounded up, to few leading bits."""
    size, top = abs(number), number.numerator.bit_length()
    for bits in (1, 2, 3, 4, 8):
        if number and bits < top:
            unit = Fraction(1 << (top - bits), size.denominator)
            for kept in (size // unit, size // unit + 1):
                yield kept * unit if number > 0 else -kept * unit


def _alike(w: Witness, live: list[int]) -> Iterator[Witness]:
    """All products, or one of them, the same as another."""
    for j in live:
        a = tuple(w.a[j] if i in live else x for i, x in enumerate(w.a))
        b = tuple(w.b[j] if i in live else x for i, x in enumerate(w.b))
        yield replace(w, a=a, b=b)
        yield from (_put(w, i, w.a[j], w.b[j]) for i in live if i != j)


def _joined(question: Question, w: Witness, live: list[int]) -> Iterator[Witness]:
    """Two products, or c and a product, added to one."""
    o = question.first.operands
    exact = {i: _product(o.a, o.b, w.a[i], w.b[i]) for i in live}
    products = {i: p for i, p in exact.items() if p is not None}
    c = decode(o.c, w.c)
    for i, p in products.items():
        for j, q in products.items():
            pair = _factored(o.a, o.b, p + q) if i < j else None
            if pair is not None:
                yield _put(_put(w, i, *pair), j, 0, 0)
        if c.kind is Kind.FINITE:
            pair = _factored(o.a, o.b, c.number + p)
            if pair is not None:
                yield replace(_put(w, i, *pair), c=0)
            with suppress(ValueTextError):
                yield replace(_put(w, i, 0, 0), c=encode_exact(o.c, c.number + p))


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
            yield replace(w, a=a, b=b, c=new_c)


def _negated(question: Question, w: Witness) -> Iterator[Witness]:
    """Everything negated, c included; and each product's signs moved to a."""
    o = question.first.operands
    sa, sb, sc = _sign_bit(o.a), _sign_bit(o.b), _sign_bit(o.c)
    yield replace(w, a=tuple(x ^ sa if x else x for x in w.a), c=w.c ^ sc if w.c else w.c)
    moved_a = tuple(x ^ sa if y & sb else x for x, y in zip(w.a, w.b, strict=True))
    yield replace(w, a=moved_a, b=tuple(y & ~sb for y in w.b))


def _moved(w: Witness, live: list[int]) -> Iterator[Witness]:
    """The non-zero products packed to the front, and each moved to the first free place before it."""
    for i in live:
        free = next((j for j in range(i) if j not in live), None)
        if free is not None:
            yield _put(_put(w, free, w.a[i], w.b[i]), i, 0, 0)
    order = [*live, *(i for i in range(len(w.a)) if i not in live)]
    yield replace(w, a=tuple(w.a[i] for i in order), b=tuple(w.b[i] for i in order))
