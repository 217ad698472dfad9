"""Directed dot products: each separates values of one design parameter, which its name states.

The questions are directed dot products from papers, with the designs that each distinguishes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tcformal.design.axes import around, catalogued_rivals, changed, nan_words, other_shapes
from tcformal.design.rounding import MODES, NAN_RULES
from tcformal.design.unit import UnitSpec
from tcformal.devices.plan import Directed
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import ValueTextError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import decode, encode_exact, encoded, exponent_of, parse_value
from tcformal.semantics.chain import scale_count
from tcformal.simulation.operands.witness import Witness

#: Encodings of two factors.
Pair = tuple[int, int]
#: Binades between a large and a small term: around the ends of 13, 23, 24, 25, 31 and 35 bits.
_BELOW = (1, 11, 12, 13, 14, 15, *range(21, 38), 40, 45)
#: Roles of three terms of a sum.
_LARGE, _MINUS, _SMALL = range(3)
_SIGNS = {"plus": 1, "minus": -1}


@dataclass(frozen=True, slots=True)
class Halves:
    """A product whose factors have similar exponents, so that neither is subnormal."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Squared:
    """A product x, with 9/4 as 3/2 · 3/2: a significand product of at least 2."""

    value: Fraction


Product = Pair | Fraction | Halves | Squared


class DirectedMaker:
    """A builder of dot products of `k` terms for one unit."""

    def __init__(self, spec: UnitSpec, k: int) -> None:
        self.spec, self.k, self.o = spec, k, spec.operands
        one = spec.scale_format.one if spec.scale_format is not None else 0
        self._scales = [(one, one)] * scale_count(spec, k)

    def raw(
        self,
        id_: str,
        why: str,
        products: Mapping[int, Product],
        c: int | Fraction,
        scales: Mapping[int, Pair] | None = None,
    ) -> Directed:
        """A dot product from encodings or values, with products 0·0 and scales 1 elsewhere.

        Errors: ValueTextError for values that the formats lack.
        """
        pairs = [self.factors(products[i]) if i in products else (0, 0) for i in range(self.k)]
        given = scales or {}
        sides = [given.get(i, one) for i, one in enumerate(self._scales)]
        a, b = (tuple(pair[side] for pair in pairs) for side in (0, 1))
        scale_a, scale_b = (tuple(pair[side] for pair in sides) for side in (0, 1))
        word = encode_exact(self.o.c, c) if isinstance(c, Fraction) else c
        return Directed(id_, why, Witness(a, b, word, scale_a, scale_b))

    def held(self, id_: str, why: str, products: Mapping[int, Product], c: int | Fraction) -> list[Directed]:
        """The dot product `raw`, unless the formats lack one of its values."""
        with suppress(ValueTextError):
            return [self.raw(id_, why, products, c)]
        return []

    def every(self, pair: Pair, count: int | None = None) -> dict[int, Product]:
        """The first `count` products, or all, from the same factors."""
        return dict.fromkeys(range(self.k if count is None else count), pair)

    def factors(self, x: Product) -> Pair:
        """Two operands whose product is x; a Fraction becomes a significand and a power of two."""
        if isinstance(x, Halves):
            power = power_of_two(exponent_of(abs(x.value)) // 2)
            return encode_exact(self.o.a, x.value / power), encode_exact(self.o.b, power)
        if isinstance(x, Squared):
            if abs(x.value.numerator) % 9:
                return self.factors(x.value)
            pair, half = self.factors(x.value / Fraction(9, 4)), Fraction(3, 2)
            a, b = (
                encode_exact(f, decode(f, w).number * half)
                for f, w in zip((self.o.a, self.o.b), pair, strict=True)
            )
            return a, b
        if isinstance(x, tuple):
            return x
        found = _factors(self.o.a, self.o.b, x)
        if found is None:
            raise ValueTextError(f"expected a product that {self.o} holds, but got {x}")
        return found

    def pairs(self) -> list[Pair]:
        """Pairs of positions for products: first and last, neighbours, both sides of the middle."""
        k = self.k
        places = [(0, k - 1), (0, 1), (1, 0), (k // 2 - 1, k // 2)]
        return [(i, j) for i, j in dict.fromkeys(places) if 0 <= i < k and 0 <= j < k and i != j]

    def ends(self) -> list[int]:
        """The first and the last position."""
        return list(dict.fromkeys((0, self.k - 1)))


@lru_cache(maxsize=4096)
def _factors(a: Format, b: Format, x: Fraction) -> Pair | None:
    """Two operands with product x, the power of two being nearest to 1; None if impossible."""
    odd = abs(x.numerator) // (x.numerator & -x.numerator) if x else 0
    if odd.bit_length() > a.precision or x.denominator & (x.denominator - 1):
        return None
    reach = max(b.e_max, b.fraction_bits - b.e_min)
    for e in sorted(range(-reach, reach + 1), key=abs):
        first, second = encoded(a, x / power_of_two(e)), encoded(b, power_of_two(e))
        if first is not None and second is not None:
            return first, second
    return None


def _nans_of(fmt: Format) -> Iterator[int]:
    """NaNs of a format: signalling and quiet ones of different payloads and signs, or the format's own."""
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    if fmt.specials is Specials.IEEE:
        quiet = 1 << (t - 1)
        for fraction, sign in ((1, 0), (quiet | 1, 1), (quiet - 1, 0), (quiet, 0), (2 * quiet - 1, 1)):
            if fraction:
                yield fmt.infinity | fraction << low | sign * fmt.sign_bit
    elif fmt.specials is Specials.ALL_ONES_NAN:
        yield from (fmt.largest + 1, fmt.largest + 1 | fmt.sign_bit)
    elif fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        yield fmt.sign_bit


def _below_two(fmt: Format, sign: int = 1) -> int:
    """The predecessor of 2 in a format, or its negative."""
    return _signed(fmt, fmt.one + (((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits), sign)


def _signed(fmt: Format, word: int, sign: int) -> int:
    """A number with its sign bit set where `sign` is negative."""
    return word | (fmt.sign_bit if sign < 0 else 0)


def directed(spec: UnitSpec, k: int | None = None) -> Iterator[Directed]:
    """All directed dot products of a unit that its formats can hold."""
    m = DirectedMaker(spec, spec.k if k is None else k)
    if spec.operands.d.integer:
        yield from _integers(m)
        return
    kinds = (_zeros, _roundings, _alignments, _small_c, _small_operands, _small_results,
             _extremes, _specials, _scales)  # fmt: skip
    for make in kinds:
        yield from make(m)


def _integers(m: DirectedMaker) -> Iterator[Directed]:
    """Sums of integers at both ends of the result's numbers, in reach and out of it, and back again."""
    o = m.o
    least = [(f.sign_bit, f.largest) for f in (o.a, o.b)]
    yield m.raw("integer/zero", "all operands 0", {}, 0)
    for (x, pair), (end, c) in itertools.product(
        {"least": (0, 0), "largest": (1, 1), "mixed": (0, 1), "mixed-too": (1, 0)}.items(),
        {"high": o.c.largest, "low": o.c.sign_bit, "zero": 0}.items(),
    ):  # fmt: skip
        both = (least[0][pair[0]], least[1][pair[1]])
        for count in dict.fromkeys((1, m.k)):
            id_ = f"integer/{x}-{count}-{end}"
            yield m.raw(id_, "overflow: at the end of the range of c", m.every(both, count), c)
        for i, j in m.pairs():
            other = (least[0][1 - pair[0]], both[1])
            back = (both[0], least[1][1 - pair[1]]) if o.b.sign_bit else other
            id_ = f"integer/back-{x}-{end}-{i}-{j}"
            yield m.raw(id_, "overflow and back: where a sum saturates", {i: both, j: back}, c)
    for bit in range(o.a.width):
        one = (1 << bit, 1)
        yield m.raw(f"integer/bit-{bit}", "the weight of a bit of a", m.every(one), 0)


def _zeros(m: DirectedMaker) -> Iterator[Directed]:
    o = m.o
    minus, negative = o.c.sign_bit, (o.a.sign_bit, 0)
    yield m.raw("zero/plus", "all operands +0", {}, 0)
    yield m.raw("zero/c-minus", "c = -0, products +0", {}, minus)
    yield m.raw("zero/all-minus", "c = -0, every product -0", m.every(negative), minus)
    yield m.raw("zero/products-minus", "c = +0, every product -0", m.every(negative), 0)
    one = m.factors(Fraction(1))
    for i, j in m.pairs():
        cancelled = {i: one, j: (one[0] | o.a.sign_bit, one[1])}
        yield m.raw(f"zero/cancelled-{i}-{j}", "1 - 1 with c = -0", cancelled, minus)


def _roundings(m: DirectedMaker) -> Iterator[Directed]:
    """Ties and neighbours of ties at every precision that a result can have."""
    for bits in sorted({m.o.d.fraction_bits, 13, 10}):
        if bits > m.o.d.fraction_bits:
            continue
        half, why = power_of_two(-bits - 1), f"rounding to {bits} fraction bits"
        parts = {"tie": half, "above": half * Fraction(9, 8), "below": half * Fraction(7, 8)}
        for (mark, sign), odd in itertools.product(_SIGNS.items(), (0, 1)):
            base = sign * (1 + odd * 2 * half)
            for name, part in parts.items():
                id_ = f"rounding/{bits}-{'odd' if odd else 'even'}-{name}-{mark}"
                yield from m.held(id_, why, {m.k - 1: sign * part}, base)
                yield from m.held(f"{id_}-c", why, {0: base}, sign * part)


def _alignments(m: DirectedMaker) -> Iterator[Directed]:
    """A large term, its negative and a small one in every order: they reveal where the small one is
    truncated."""
    large = {"one": Fraction(1), "wide": Fraction(9, 4)}
    for below, (mark, sign) in itertools.product(_BELOW, _SIGNS.items()):
        for (i, j), (shape, top) in itertools.product(m.pairs() or [(0, 0)], large.items()):
            for roles in itertools.permutations((_LARGE, _MINUS, _SMALL)):
                values = (top, -top, sign * power_of_two(-below))
                order = "".join("LMS"[role] for role in roles)
                for up in (0, 6):
                    first, second, third = (values[role] * power_of_two(up) for role in roles)
                    id_ = f"align/{shape}-{below}{'-up' if up else ''}-{mark}-at-{i}-{j}-{order}"
                    why = f"a term {below} binades below a {shape} one, which cancels"
                    pairs: dict[int, Product] = {i: Squared(first), j: Squared(second)}
                    item = m.held(id_, why, {i: first + second} if i == j else pairs, third)
                    yield from item
                    if item:
                        break


def _small_c(m: DirectedMaker) -> Iterator[Directed]:
    """Subnormal c, and c near the exponents of zero terms."""
    o = m.o
    least, ulp = power_of_two(o.c.e_min), power_of_two(o.c.e_min - o.c.fraction_bits)
    sizes = {"least": ulp, "most": least - ulp, "normal": least + ulp, "mixed": 5 * ulp}
    sizes |= {f"binade-{j}": (least + ulp) * power_of_two(j) for j in range(1, 12)}
    others = {"once": least, "less": -least, "twice": 2 * least}
    for (name, size), (mark, sign) in itertools.product(sizes.items(), _SIGNS.items()):
        c, id_ = sign * size, f"small/c-{name}-{mark}"
        if not m.held(id_, "", {}, c):
            continue
        yield m.raw(id_, "a small c beside products of zero", {}, c)
        yield m.raw(f"{id_}-ones", "a small c beside 1·0", m.every((o.a.one, 0)), c)
        yield m.raw(f"{id_}-minus", "a small c beside -0", m.every((o.a.sign_bit, 0)), c)
        for (text, other), i in itertools.product(others.items(), m.ends()):
            why = "a small c beside a product about as small"
            yield from m.held(f"{id_}-{text}-{i}", why, {i: Halves(other)}, c)


def _small_operands(m: DirectedMaker) -> Iterator[Directed]:
    """Subnormal operands."""
    o = m.o
    sides = (("a", o.a, o.b), ("b", o.b, o.a))
    for i, (side, fmt, other), (mark, sign) in itertools.product(m.ends(), sides, _SIGNS.items()):
        factors = {"one": other.one, "largest": other.largest, "least": 1 << other.ignored_low_bits}
        for fraction in dict.fromkeys((1, 3, (1 << fmt.fraction_bits) - 1)):
            if not 0 < fraction < 1 << fmt.fraction_bits:
                continue
            word = _signed(fmt, fraction << fmt.ignored_low_bits, sign)
            for name, factor in factors.items():
                pair = (word, factor) if side == "a" else (factor, word)
                id_ = f"small/{side}[{i}]-{fraction}-{mark}-{name}"
                yield m.raw(id_, "a subnormal operand", {i: pair}, 0)
                if fraction == 1:
                    beside = m.every((o.a.sign_bit, 0)) | {i: pair}
                    yield m.raw(f"{id_}-minus", "a subnormal operand beside -0", beside, o.c.sign_bit)


def _small_results(m: DirectedMaker) -> Iterator[Directed]:
    """Subnormal results."""
    d = m.o.d
    for i, (mark, sign) in itertools.product(m.ends(), _SIGNS.items()):
        for e in (d.e_min - d.fraction_bits - 1, d.e_min - d.fraction_bits, d.e_min - 1, d.e_min):
            value = Halves(sign * power_of_two(e) * Fraction(3, 2))
            yield from m.held(f"small/result-{i}-{e}-{mark}", "a result about the smallest", {i: value}, 0)


def _extremes(m: DirectedMaker) -> Iterator[Directed]:
    """Overflows, and sums that need carry bits."""
    o, k = m.o, m.k
    largest = decode(o.d, o.d.largest).number
    ulp = power_of_two(o.d.e_max - o.d.fraction_bits)
    parts = {"ulp": ulp, "half": ulp / 2, "quarter": ulp / 4, "three-quarters": 3 * ulp / 4}
    for mark, sign in _SIGNS.items():
        for name, part in parts.items():
            id_, why = f"overflow/{name}-{mark}", "the largest number and a little"
            yield from m.held(id_, why, {0: sign * part}, sign * largest)
        most = o.a.largest, _signed(o.b, o.b.largest, sign)
        wide, c_wide = (_below_two(o.a), _below_two(o.b, sign)), _below_two(o.c, sign)
        for count in sorted({1, 2, 3, 4, 5, 8, 9, k // 2, k - 1, k}):
            if not 0 < count <= k:
                continue
            id_, products, c = (
                f"overflow/products-{count}",
                m.every(most, count),
                _signed(o.c, o.c.largest, sign),
            )
            yield m.raw(f"{id_}-{mark}", "the largest products", products, 0)
            yield m.raw(f"{id_}-c-{mark}", "the largest products and c", products, c)
            for name, word in (("0", 0), ("c", c_wide)):
                id_ = f"carry/{count}-{name}-{mark}"
                yield m.raw(id_, "products just below 4", m.every(wide, count), word)
        for i, j in m.pairs():
            pairs = {i: (o.a.largest, o.b.largest), j: (o.a.largest | o.a.sign_bit, o.b.largest)}
            id_, why = f"overflow/cancelled-{i}-{j}-{mark}", "the largest products cancel"
            yield m.raw(id_, why, pairs, o.c.one if sign < 0 else 0)


def _specials(m: DirectedMaker) -> Iterator[Directed]:
    """Inf, Inf·0, Inf - Inf, and NaNs with various payloads in one or two operands."""
    o = m.o
    one = (o.a.one, o.b.one)
    places: dict[str, tuple[int, str, Format]] = {"c": (-1, "c", o.c)}
    for i in dict.fromkeys((0, 1, m.k - 1)):
        if i < m.k:
            places |= {f"a[{i}]": (i, "a", o.a), f"b[{i}]": (i, "b", o.b)}

    def with_words(words: Mapping[str, int], id_: str, why: str, rest: Pair = one) -> Directed:
        products: dict[int, list[int]] = {}
        for name, word in words.items():
            i, side, _ = places[name]
            if side != "c":
                products.setdefault(i, list(rest))[side == "b"] = word
        return m.raw(id_, why, {i: (x, y) for i, (x, y) in products.items()}, words.get("c", 0))

    nans = {name: list(_nans_of(fmt)) for name, (_, _, fmt) in places.items()}
    for name, words in nans.items():
        for n, word in enumerate(words):
            yield with_words({name: word}, f"nan/{name}-{n}", "one NaN")
    for first, second in itertools.permutations(places, 2):
        if nans[first] and nans[second]:
            two = {first: nans[first][0], second: nans[second][-1]}
            yield with_words(two, f"nan/{first}-{second}", "two NaNs of different payloads")
    infinite = {n: f.infinity for n, (_, _, f) in places.items() if f.specials is Specials.IEEE}
    for name, word in infinite.items():
        yield with_words({name: word}, f"inf/{name}-plus", "one Inf")
        yield with_words({name: word | places[name][2].sign_bit}, f"inf/{name}-minus", "one -Inf")
        yield with_words({name: word}, f"inf/{name}-zero", "Inf · 0", (0, 0))
        for other, (_, _, fmt) in places.items():
            if other in infinite and other != name:
                both = {name: word, other: infinite[other] | fmt.sign_bit}
                yield with_words(both, f"inf/{name}-{other}", "Inf and -Inf")
            if other != name and nans[other]:
                both = {name: word, other: nans[other][0]}
                yield with_words(both, f"inf/{name}-nan-{other}", "Inf and a NaN")


def _scales(m: DirectedMaker) -> Iterator[Directed]:
    """All kinds of scales, on products of 1, on zero products and on zero sums; empty without scales."""
    fmt, block = m.spec.scale_format, m.spec.scale_block
    if fmt is None or block is None:
        return
    one, minus = (m.o.a.one, m.o.b.one), (m.o.a.one | m.o.a.sign_bit, m.o.b.one)
    words = {"least": 0, "small": 1, "half": fmt.one - (1 << fmt.fraction_bits), "largest": fmt.largest}
    words |= {"nan": fmt.largest + 1} if fmt.specials is not Specials.NONE else {}
    words |= {"odd": fmt.one | 3} if fmt.fraction_bits else {}
    last = m.k // block - 1
    contents: dict[str, dict[int, Product]] = {
        "one": {last * block: one}, "zeros": {},
        "cancelled": {last * block: one, last * block + 1: minus}, "all": m.every(one),
    }  # fmt: skip
    for (name, word), (content, products), c in itertools.product(
        words.items(), contents.items(), (0, m.o.c.one)
    ):
        for side in ("a", "b", "both"):
            pair = (word if side != "b" else fmt.one, word if side != "a" else fmt.one)
            id_ = f"scale/{name}-{side}-{content}-{'one' if c else 'zero'}"
            yield m.raw(id_, f"the last scale {name}, products {content}", products, c, {last: pair})
    for name, word in words.items() if last else ():
        why = f"1 and -1 in two blocks, the scales of the first {name}"
        opposed = {0: one, block: minus}
        yield m.raw(f"scale/{name}-opposed", why, opposed, 0, {0: (word, fmt.one)})
        yield m.raw(f"scale/{name}-opposed-c", why, opposed, m.o.c.one, {0: (word, word)})


# ------------------------------------------------------------------ questions
Values = dict[str, Iterable[object]]


@dataclass(frozen=True, slots=True)
class ProbeQuestion:
    """A question to a device: dot products, and the candidate designs that they distinguish."""

    id: str
    title: str
    #: The dot products; none for units that the question does not apply to.
    inputs: Callable[[DirectedMaker], Iterator[Directed]]
    #: Parameters and the values among which the answer is; empty for every catalogued design.
    values: Callable[[UnitSpec], Values]


def asked(spec: UnitSpec) -> list[tuple[ProbeQuestion, list[Directed]]]:
    """The questions that apply to a unit, with their dot products; none is about integers."""
    questions: list[tuple[ProbeQuestion, list[Directed]]] = []
    if spec.operands.d.integer:
        return questions
    for question in QUESTIONS:
        items: list[Directed] = []
        with suppress(ValueTextError):
            items.extend(question.inputs(DirectedMaker(spec, spec.k)))
        if items:
            questions.append((question, items))
    return questions


def candidates(question: ProbeQuestion, spec: UnitSpec) -> list[UnitSpec]:
    """The candidate designs of a question, the catalogued unit first."""
    values = question.values(spec)
    if not values:
        return [spec, *(u for u in catalogued_rivals(spec, spec.k) if u.name != spec.name)]
    return [spec, *changed(spec, values)]


def _hawkeye(m: DirectedMaker) -> Iterator[Directed]:
    """The example of HAWKEYE §1; .001 becomes 0x1419, the nearest fp16 number."""
    texts = (("65504", "1"), ("1", "0x1419"), ("-65504", "1"), ("1", "0x1419"))
    if m.o.a.name == "fp16" and m.k >= len(texts):
        pairs = {i: (parse_value(m.o.a, x), parse_value(m.o.b, y)) for i, (x, y) in enumerate(texts)}
        yield m.raw("ask/hawkeye", "[65504 1 -65504 1] · [1 .001 1 .001]", pairs, 0)


def _table_8(m: DirectedMaker) -> Iterator[Directed]:
    """The examples of XIE Table 8."""
    if m.k < 4:
        return
    pairs: dict[int, Product] = {i: Fraction(-1, 2**i) for i in (1, 2, 3)}
    try:
        pairs[0] = encode_exact(m.o.a, Fraction(-(2**13))), encode_exact(m.o.b, Fraction(2**10))
    except ValueTextError:
        pairs[0] = Halves(Fraction(-(2**23)))
    yield m.raw("ask/table-8", "-2^23 - 1/2 - 1/4 - 1/8 + 2^23", pairs, Fraction(2**23))


def _width(m: DirectedMaker) -> Iterator[Directed]:
    """A full step of products just below 4, with c just below 2 (HAWKEYE's simulator: -62.06)."""
    o = m.o
    c = _below_two(o.c)
    with suppress(ValueTextError):
        c = encode_exact(o.c, Fraction(2047, 1024))
    for mark, sign in _SIGNS.items():
        products = m.every((_below_two(o.a), _below_two(o.b, sign)))
        why = "every product just below 4 and c just below 2"
        yield m.raw(f"ask/width-{mark}", why, products, _signed(o.c, c, sign))


def _nan(m: DirectedMaker) -> Iterator[Directed]:
    """NaNs of every kind as operands, and invalid operations that produce NaN."""
    o = m.o
    for n, word in enumerate(_nans_of(o.a)):
        yield m.raw(f"ask/nan-a-{n}", "a NaN in a", {0: (word, o.b.one)}, 0)
    for n, word in enumerate(_nans_of(o.b)):
        yield m.raw(f"ask/nan-b-{n}", "a NaN in b", {0: (o.a.one, word)}, 0)
    for n, word in enumerate(_nans_of(o.c)):
        yield m.raw(f"ask/nan-c-{n}", "a NaN in c", {}, word)
    if o.a.specials is Specials.IEEE:
        yield m.raw("ask/nan-inf-times-0", "Inf · 0", {0: (o.a.infinity, 0)}, 0)
        if o.c.specials is Specials.IEEE:
            minus = o.c.infinity | o.c.sign_bit
            yield m.raw("ask/nan-inf-minus-inf", "Inf - Inf", {0: (o.a.infinity, o.b.one)}, minus)


def _zero_exponent(m: DirectedMaker) -> Iterator[Directed]:
    """The least number minus a smaller one, with zero products: it is truncated below e_zero - F.

    Where zeros take no part in the largest exponent, the difference is rounded toward zero to 0; where
    they do, it stays the least number as soon as the smaller one is cut off.
    """
    least = power_of_two(m.o.d.e_min - m.o.d.fraction_bits)
    for below in range(1, 36) if m.k >= 3 else ():
        why = f"the least number less one {below} binades below it, beside zero products"
        products: dict[int, Product] = {0: Halves(least), 1: Halves(-least / 2**below)}
        yield from m.held(f"ask/zero-exponent-{below}", why, products, 0)


def _zero_product(m: DirectedMaker) -> Iterator[Directed]:
    """c = 2^e_min (1 + ulp) with products that have one zero factor."""
    o = m.o
    c = power_of_two(o.c.e_min) * (1 + power_of_two(-o.c.fraction_bits))
    for name, word in (("0", 0), ("1", o.a.one), ("largest", o.a.largest)):
        why = f"c just above the least normal number beside {name} · 0"
        for count in dict.fromkeys((1, m.k)):
            yield m.raw(f"ask/zero-product-{name}-{count}", why, m.every((word, 0), count), c)


def _precision(m: DirectedMaker) -> Iterator[Directed]:
    """Small terms with 1, -1 and a sum of ones, in c or in a product: they reveal the retained bits."""
    o, k = m.o, m.k
    for base, unit in {"one": 1, "minus-one": -1}.items():
        pair, c_one = (_signed(o.a, o.a.one, unit), o.b.one), _signed(o.c, o.c.one, unit)
        for j, (mark, sign) in itertools.product(range(8, 32), _SIGNS.items()):
            part, id_, what = Fraction(sign, 2**j), f"{base}-{mark}-{j}", f"{sign}·2^-{j}"
            yield from m.held(f"ask/c-{id_}", f"a product of {base}, c = {what}", {0: pair}, part)
            why = f"c = {base}, a product of {what}"
            yield from m.held(f"ask/product-{id_}", why, {k - 1: Halves(part)}, c_one)
            yield from m.held(f"ask/alone-{id_}", f"c = {base} and {what}, products of zero", {}, unit + part)
            yield from m.held(f"ask/sum-{id_}", f"{k} products of {base}, c = {what}", m.every(pair), part)


def _every(_: UnitSpec) -> Values:
    return {}


def _zero_exponents(spec: UnitSpec) -> Values:
    return {"zero_exponent": ("own", "none", *around(spec.design.zero_exponent, range(-12, 13)))}


def _bits(spec: UnitSpec) -> Values:
    shape = spec.design.conversion.partition("-")[2]
    shapes = [shape, *other_shapes(shape)]
    return {"fraction_bits": range(8, 33), "conversion": [f"{m}-{s}" for m in MODES for s in shapes]}


def _carries(_: UnitSpec) -> Values:
    return {"carry_bits": range(2, 10)}


def _nan_words(spec: UnitSpec) -> Values:
    return {"nan_word": nan_words(spec), "nan_rule": NAN_RULES}


#: All questions, in order.
QUESTIONS: tuple[ProbeQuestion, ...] = (
    ProbeQuestion("hawkeye", "HAWKEYE's example: which accumulator gives its fp16 result", _hawkeye, _every),
    ProbeQuestion("table-8", "XIE's Table 8: which architecture gives this result", _table_8, _every),
    ProbeQuestion("width", "the width of the sum: products just below 4, all of them", _width, _carries),
    ProbeQuestion("nan", "the NaN that is given", _nan, _nan_words),
    ProbeQuestion("zero-exponent", "the exponent of zero terms", _zero_exponent, _zero_exponents),
    ProbeQuestion("zero-product", "whether a product of zero takes part in the largest exponent",
             _zero_product, _zero_exponents),
    ProbeQuestion("precision", "to how many bits products, a c that is not 0 and the result are kept",
             _precision, _bits),
)  # fmt: skip
