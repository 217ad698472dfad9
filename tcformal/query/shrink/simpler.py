"""Simpler values for one encoding, and simpler factors for one product."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from tcformal.encodings.spec import Format
from tcformal.oracle.values import NumberClass, decode, encode_exact, encoded


def _field(fmt: Format, raw: int) -> int:
    return (raw >> (fmt.ignored_low_bits + fmt.fraction_bits)) & ((1 << fmt.exponent_bits) - 1)


def _moved_exponent(fmt: Format, raw: int, by: int) -> int | None:
    """The encoding with its exponent field moved; None where it would leave the normal numbers."""
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
    """The power of two of each set bit of the significand, with the sign kept."""
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
        power = Fraction(1 << down) if down >= 0 else Fraction(1, 1 << -down)
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
    """The same product with all bits in one factor, or one factor in [1, 2); its leading bits."""
    whole = exact_product(a_fmt, b_fmt, x, y)
    values = [] if whole is None else [whole, *leading(whole)]
    yield from (pair for pair in (factored(a_fmt, b_fmt, v) for v in values) if pair is not None)
    for by in {a_fmt.bias - _field(a_fmt, x), _field(b_fmt, y) - b_fmt.bias}:
        first, second = _moved_exponent(a_fmt, x, by), _moved_exponent(b_fmt, y, -by)
        if first is not None and second is not None:
            yield first, second


def leading(number: Fraction) -> Iterator[Fraction]:
    """The number truncated, and rounded up, to few leading bits."""
    size, top = abs(number), number.numerator.bit_length()
    for bits in (1, 2, 3, 4, 8):
        if number and bits < top:
            unit = Fraction(1 << (top - bits), size.denominator)
            for kept in (size // unit, size // unit + 1):
                yield kept * unit if number > 0 else -kept * unit
