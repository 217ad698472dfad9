"""Dot products of a few terms beside the boundaries of units; apart, because these are inputs, no search."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tcformal.design.rounding import Conversion
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import encoded, exponent_of
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.batch import Batch, batch_of, rows_of
from tcformal.simulation.operands.inputs import without_nan
from tcformal.simulation.operands.witness import Witness

#: Distances between neighbouring terms: chains, pairs and groups take every second or fourth product.
_STRIDES = (1, 1, 2, 2, 4, 8)
#: Places of small terms, in bits above the last one that the boundary has.
_BITS = (-4, -3, -2, -2, -1, -1, 0, 1)
#: Exponents of plain numbers beside which there are ties and cuts.
_PLAIN = 12
#: The share of rows of many equal products.
_DENSE = 0.03
#: Shares of the others: with c, with a term and its negative, with one small term more, with negative zeros;
#: and of factors that are subnormal.
_C, _CANCELLED, _SMALLER, _MINUS, _SUBNORMAL = 0.4, 0.25, 0.3, 0.2, 0.2


@dataclass(frozen=True, slots=True)
class Boundary:
    """A boundary number, such as the least normal one, with the weight of its last bit.

    Also the largest product that is a power of two, and the weight of the least one.
    """

    number: Fraction
    last: int


def few(spec: UnitSpec, k: int, n: int, seed: int) -> Batch:
    """Dot products of one to six nonzero terms near a boundary.

    The number at the boundary is one term, or a few where it has more bits than a product, or c; beside it
    are terms about its last bit, of both signs.  Terms are neighbours, or every second one and so on.
    Zero, NaN, Inf: no operand is NaN or Inf.
    """
    rng, of = random.Random(f"few {seed}"), boundaries_of(spec)
    rows = [w for _ in range(n) if (w := _row(rng, spec, k, rng.choice(of))) is not None]
    if not rows:  # no boundary is in reach of these formats
        ones = (0,) if spec.scale_format is None else (spec.scale_format.one,)
        scales = ones * scale_count(spec, k) if spec.scale_format is not None else ()
        rows = [Witness((0,) * k, (0,) * k, 0, scales, scales)]
    tried = batch_of(rows)
    return rows_of(tried, without_nan(spec, tried))


def boundaries_of(spec: UnitSpec) -> list[list[Boundary]]:
    """The boundaries of a unit's roundings, truncations and formats, grouped by kind."""
    design = spec.design
    rounded = {design.rho, design.step}
    if design.product_rounding is not None:
        rounded.add(design.product_conversion)
    least, below, largest, ties = [], [], [], []
    for x in sorted(rounded, key=str):
        least.append(Boundary(power_of_two(x.e_min), x.e_min - x.fraction_bits))
        below.append(Boundary(power_of_two(x.e_min - x.fraction_bits), x.e_min - x.fraction_bits))
        largest += _largest(x)
        ties += [
            Boundary(power_of_two(e) + odd * power_of_two(e - x.fraction_bits), e - x.fraction_bits)
            for e in range(-_PLAIN, _PLAIN, 3)
            for odd in (0, 1)
        ]
    c = spec.c_format
    below.append(Boundary(power_of_two(c.least_exponent), c.least_exponent))
    below.append(Boundary(power_of_two(c.e_min) - power_of_two(c.least_exponent), c.least_exponent))
    widths = {design.fraction_bits, design.sum_fraction_bits, design.c_fraction_bits} - {None}
    cuts = [Boundary(power_of_two(e), e - (w or 0)) for w in sorted(widths, key=str) for e in (-9, 0, 7)]
    if design.product_limit is not None:
        largest.append(Boundary(power_of_two(design.product_limit), design.product_limit - c.fraction_bits))
    a, b = spec.a_format, spec.b_format
    far = [Boundary(power_of_two(a.e_max + b.e_max), a.least_exponent + b.least_exponent)]
    return [x for x in (least, least, below, largest, ties, cuts, far) if x]


def _largest(x: Conversion) -> list[Boundary]:
    """The overflow boundaries of a conversion: its largest number, and the next power of two."""
    last = x.e_max - x.fraction_bits
    over = power_of_two(x.e_max if x.integer_bits is not None else x.e_max + 1)
    return [Boundary(over - power_of_two(last), last), Boundary(over, last)]


def _row(rng: random.Random, spec: UnitSpec, k: int, of: Sequence[Boundary]) -> Witness | None:
    """A random dot product near a boundary; None where the formats cannot represent it."""
    if rng.random() < _DENSE:
        return _dense(rng, spec, k)
    at = rng.choice(of)
    sign = rng.choice((1, -1))
    small = [_small(rng, at.last)] if rng.random() < 0.9 else []
    if small and rng.random() < _SMALLER:
        small.append(_small(rng, at.last - rng.choice((1, 2, 6, 20))))
    c: Fraction | None = None
    head = [sign * x for x in _chunks(at.number, max(spec.a_format.precision, spec.b_format.precision))]
    if rng.random() < _C:
        if small and rng.random() < 0.3:
            c = small.pop()
        elif encoded(spec.c_format, sign * at.number) is not None:
            c, head = sign * at.number, []
    terms = [*head, *small]
    if rng.random() < _CANCELLED:
        place = rng.randrange(len(terms) + 1)
        more = power_of_two(exponent_of(at.number) + rng.choice((0, 1, 2, 5, 10)))
        terms[place:place] = [more]
        terms.insert(rng.randrange(place + 1, len(terms) + 1), -more)
    if rng.random() < 0.3:
        rng.shuffle(terms)
    if len(terms) > k:
        return None
    scale, scales = _scales(rng, spec, k, terms)
    stride = rng.choice([s for s in _STRIDES if (len(terms) - 1) * s < k] or [1])
    first = rng.randrange(k - max(len(terms) - 1, 0) * stride)
    zero = _negative_zero(spec.a_format) if rng.random() < _MINUS else 0
    # A word of B that is not 0: a call whose words of B are all 0 may be left out.
    other = encoded(spec.b_format, Fraction(1)) if zero and rng.random() < 0.5 else 0
    a, b = [zero] * k, [other or 0] * k
    for i, x in enumerate(terms):
        made = _factors(rng, spec.a_format, spec.b_format, x / scale)
        if made is None:
            return None
        a[first + i * stride], b[first + i * stride] = made
    word = _negative_zero(spec.c_format) if zero else 0
    if c is not None:
        found = encoded(spec.c_format, c)
        if found is None:
            return None
        word = found
    return Witness(tuple(a), tuple(b), word, *scales)


def _dense(rng: random.Random, spec: UnitSpec, k: int) -> Witness | None:
    """Equal products in all positions or in one block: the sums that need most carry bits."""
    o, count = spec.operands, rng.choice((k, k, min(k, spec.design.products)))
    significands = [2 - power_of_two(-fmt.fraction_bits) for fmt in (o.a, o.b, o.c)]
    e = rng.choice((0, 1, -3, o.a.e_max))
    numbers = (rng.choice((1, -1)) * significands[0] * power_of_two(e), significands[1], significands[2])
    a, b, c = (encoded(fmt, x) for fmt, x in zip((o.a, o.b, o.c), numbers, strict=True))
    if a is None or b is None or c is None:
        return None
    rest = (0,) * (k - count)
    of_c = rng.choice((0, c, c ^ o.c.sign_bit))
    ones = () if spec.scale_format is None else (spec.scale_format.one,) * scale_count(spec, k)
    return Witness((a,) * count + rest, (b,) * count + rest, of_c, ones, ones)


def _small(rng: random.Random, last: int) -> Fraction:
    """A random number near the weight of a last bit."""
    beside = rng.choice((0, 0, 0, Fraction(1, 2), Fraction(1, 8), Fraction(-1, 8)))
    return rng.choice((1, -1)) * (1 + beside) * power_of_two(last + rng.choice(_BITS))


def _chunks(number: Fraction, bits: int) -> list[Fraction]:
    """Split a number into a sum of numbers of `bits` bits, largest first."""
    parts = []
    while number:
        unit = power_of_two(exponent_of(number) - bits + 1)
        parts.append(number // unit * unit)
        number -= parts[-1]
    return parts


def _negative_zero(fmt: Format) -> int:
    """The encoding of -0; 0 in a format without it."""
    return 0 if fmt.specials is Specials.NEGATIVE_ZERO_NAN or not fmt.has_zero else fmt.sign_bit


def _scales(
    rng: random.Random, spec: UnitSpec, k: int, terms: Sequence[Fraction]
) -> tuple[Fraction, list[tuple[int, ...]]]:
    """Uniform random scales: the power of two by which they multiply products, and their encodings."""
    of = spec.scale_format
    if of is None:
        return Fraction(1), []
    near = max((exponent_of(abs(x)) for x in terms), default=0) - rng.randrange(-2, 6)
    near = min(max(near, 2 * of.e_min), 2 * of.e_max)
    halves = near // 2, near - near // 2
    words = [encoded(of, power_of_two(x)) for x in halves]
    return power_of_two(near), [(word or 0,) * scale_count(spec, k) for word in words]


def _factors(rng: random.Random, a: Format, b: Format, product: Fraction) -> tuple[int, int] | None:
    """Encodings of a number and a power of two with the given product; None where the formats lack them."""
    if rng.random() < 0.5 and (other := _in_order(rng, b, a, product)) is not None:
        return other[::-1]
    return _in_order(rng, a, b, product)


def _in_order(rng: random.Random, a: Format, b: Format, product: Fraction) -> tuple[int, int] | None:
    if a.sign is not Sign.PRESENT and product < 0:
        return None
    top = exponent_of(abs(product))
    low, high = max(b.e_min, top - a.e_max), min(b.e_max, top - a.e_min)
    if low > high or rng.random() < _SUBNORMAL:
        low, high = max(b.least_exponent, top - a.e_max), min(b.e_max, top - a.least_exponent)
    if low > high:
        return None
    # Few distinct choices, which are found again in the table of words.
    y = min(max(top // 2, low), high) if rng.random() < 0.5 else rng.choice((low, high))
    x, z = _word(a, product / power_of_two(y)), _word(b, power_of_two(y))
    return None if x is None or z is None else (x, z)


_word = lru_cache(maxsize=1 << 14)(encoded)
