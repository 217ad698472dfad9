"""Directed dot products: each separates values of one design parameter, which its name states."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from tcformal.design.unit import UnitSpec
from tcformal.devices.plan import Directed
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import ValueTextError
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import decode, encode_exact, encoded, exponent_of
from tcformal.programs.chain import scale_count
from tcformal.simulation.operands.witness import Witness


class DirectedMaker:
    """A builder of dot products for one unit; ValueTextError for values that its formats lack."""

    def __init__(self, spec: UnitSpec, k: int) -> None:
        self.spec, self.k, self.o = spec, k, spec.operands
        count = scale_count(spec, k)
        one = spec.scale_format.one if spec.scale_format is not None else 0
        self._scales = (one,) * count

    def raw(
        self,
        id_: str,
        why: str,
        products: Mapping[int, tuple[int, int]],
        c: int,
        scales: Mapping[int, tuple[int, int]] | None = None,
    ) -> Directed:
        """A dot product from raw encodings, with products 0·0 and scales 1 elsewhere."""
        a, b = ([products.get(i, (0, 0))[side] for i in range(self.k)] for side in (0, 1))
        ones, given = self._scales, scales or {}
        scale_a, scale_b = (
            tuple(given.get(i, (one, one))[side] for i, one in enumerate(ones)) for side in (0, 1)
        )
        return Directed(id_, why, Witness(tuple(a), tuple(b), c, scale_a, scale_b))

    def of_values(self, id_: str, why: str, products: Mapping[int, Fraction], c: Fraction) -> Directed:
        """A dot product from the exact values of its products."""
        pairs = {i: self.factors(x) for i, x in products.items()}
        return self.raw(id_, why, pairs, encode_exact(self.o.c, c))

    def factors(self, x: Fraction) -> tuple[int, int]:
        """Two operands whose product is x: a significand and a power of two."""
        pair = _factors(self.o.a, self.o.b, x)
        if pair is None:
            raise ValueTextError(f"expected a product that {self.o} holds, but got {x}")
        return pair

    def halved(self, x: Fraction) -> tuple[int, int]:
        """Two operands whose product is x, of similar exponents, so that neither is subnormal."""
        e = exponent_of(abs(x)) // 2
        return encode_exact(self.o.a, x / power_of_two(e)), encode_exact(self.o.b, power_of_two(e))

    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of positions for products: first and last, neighbours, both sides of the middle."""
        k = self.k
        places = [(0, k - 1), (0, 1), (1, 0), (k // 2 - 1, k // 2)]
        return [(i, j) for i, j in dict.fromkeys(places) if 0 <= i < k and 0 <= j < k and i != j]


@lru_cache(maxsize=4096)
def _factors(a: Format, b: Format, x: Fraction) -> tuple[int, int] | None:
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


def nans_of(fmt: Format) -> Iterator[int]:
    """NaNs of a format: signalling and quiet ones of different payloads and signs, or the format's own."""
    low, t = fmt.ignored_low_bits, fmt.fraction_bits
    if fmt.specials is Specials.IEEE:
        quiet = 1 << (t - 1)
        for fraction, sign in ((1, 0), (quiet | 1, 1), (quiet - 1, 0), (quiet, 0), (2 * quiet - 1, 1)):
            if fraction:
                yield fmt.infinity | fraction << low | (fmt.sign_bit if sign else 0)
    elif fmt.specials is Specials.ALL_ONES_NAN:
        yield fmt.largest + 1
        yield fmt.largest + 1 | fmt.sign_bit
    elif fmt.specials is Specials.NEGATIVE_ZERO_NAN:
        yield fmt.sign_bit


def below_two(fmt: Format) -> int:
    """The predecessor of 2 in a format."""
    return fmt.one + (((1 << fmt.fraction_bits) - 1) << fmt.ignored_low_bits)


#: Binades between a large and a small term: around the ends of 13, 23, 24, 25, 31 and 35 bits.
_BELOW = (1, 11, 12, 13, 14, 15, *range(21, 38), 40, 45)
#: Roles of three terms of a sum.
_LARGE, _MINUS, _SMALL = range(3)
_SIGNS = {"plus": 1, "minus": -1}


def directed(spec: UnitSpec, k: int | None = None) -> Iterator[Directed]:
    """All directed dot products of a unit that its formats can hold."""
    m = DirectedMaker(spec, spec.k if k is None else k)
    yield from _zeros(m)
    yield from _roundings(m)
    yield from _alignments(m)
    yield from _small(m)
    yield from _extremes(m)
    yield from _specials(m)
    yield from _scales(m)


def _zeros(m: DirectedMaker) -> Iterator[Directed]:
    o = m.o
    minus = o.c.sign_bit
    one = m.factors(Fraction(1))
    negative = o.a.sign_bit
    yield m.raw("zero/plus", "all operands +0", {}, 0)
    yield m.raw("zero/c-minus", "c = -0, products +0", {}, minus)
    every = dict.fromkeys(range(m.k), (negative, 0))
    yield m.raw("zero/all-minus", "c = -0, every product -0", every, minus)
    yield m.raw("zero/products-minus", "c = +0, every product -0", every, 0)
    for i, j in m.pairs():
        cancelled = {i: one, j: (one[0] | negative, one[1])}
        yield m.raw(f"zero/cancelled-{i}-{j}", "1 - 1 with c = -0", cancelled, minus)


def _roundings(m: DirectedMaker) -> Iterator[Directed]:
    """Ties and neighbours of ties at every precision that a result can have."""
    last = m.k - 1
    for bits in sorted({m.o.d.fraction_bits, 13, 10}):
        if bits > m.o.d.fraction_bits:
            continue
        half = power_of_two(-bits - 1)
        for sign, odd in itertools.product((1, -1), (0, 1)):
            base = sign * (1 + odd * 2 * half)
            for name, part in (
                ("tie", half),
                ("above", half * Fraction(9, 8)),
                ("below", half * Fraction(7, 8)),
            ):
                where = f"rounding/{bits}-{'odd' if odd else 'even'}-{name}-{'plus' if sign > 0 else 'minus'}"
                with suppress(ValueTextError):
                    yield m.of_values(where, f"rounding to {bits} fraction bits", {last: sign * part}, base)
                with suppress(ValueTextError):
                    yield m.of_values(
                        f"{where}-c", f"rounding to {bits} fraction bits", {0: base}, sign * part
                    )


def _alignments(m: DirectedMaker) -> Iterator[Directed]:
    """A large term, its negative and a small one in every order: they reveal where the small one is
    truncated."""
    large = {"one": Fraction(1), "wide": Fraction(9, 4)}
    for below, sign in itertools.product(_BELOW, (1, -1)):
        for (i, j), (shape, top) in itertools.product(m.pairs() or [(0, 0)], large.items()):
            for roles in itertools.permutations((_LARGE, _MINUS, _SMALL)):
                small = sign * power_of_two(-below)
                for up in (0, 6):
                    values = [x * power_of_two(up) for x in (top, -top, small)]
                    terms = [values[role] for role in roles]
                    order = "".join("LMS"[role] for role in roles)
                    mark = "plus" if sign > 0 else "minus"
                    id_ = f"align/{shape}-{below}{'-up' if up else ''}-{mark}-at-{i}-{j}-{order}"
                    why = f"a term {below} binades below a {shape} one, which cancels"
                    with suppress(ValueTextError):
                        if i == j:
                            yield m.of_values(id_, why, {i: terms[0] + terms[1]}, terms[2])
                        else:
                            pair = {i: _wide_pair(m, terms[0]), j: _wide_pair(m, terms[1])}
                            yield m.raw(id_, why, pair, encode_exact(m.o.c, terms[2]))
                        break


def _wide_pair(m: DirectedMaker, x: Fraction) -> tuple[int, int]:
    """Factors of a product x, with 9/4 as 3/2 · 3/2: a significand product of at least 2."""
    if abs(x.numerator) % 9:
        return m.factors(x)
    a, b = m.factors(x / Fraction(9, 4))
    value_a, value_b = decode(m.o.a, a).number, decode(m.o.b, b).number
    return encode_exact(m.o.a, value_a * Fraction(3, 2)), encode_exact(m.o.b, value_b * Fraction(3, 2))


def _small(m: DirectedMaker) -> Iterator[Directed]:
    """Subnormal operands and results, and c near the exponents of zero terms."""
    yield from _small_c(m)
    yield from _small_operands(m)
    yield from _small_results(m)


def _small_c(m: DirectedMaker) -> Iterator[Directed]:
    o = m.o
    least = power_of_two(o.c.e_min)
    ulp = power_of_two(o.c.e_min - o.c.fraction_bits)
    sizes = {"least": ulp, "most": least - ulp, "normal": least + ulp, "mixed": 5 * ulp}
    sizes |= {f"binade-{j}": (least + ulp) * power_of_two(j) for j in range(1, 12)}
    minus = dict.fromkeys(range(m.k), (o.a.sign_bit, 0))
    for (name, c), (mark, sign) in itertools.product(sizes.items(), _SIGNS.items()):
        with suppress(ValueTextError):
            word = encode_exact(o.c, sign * c)
            id_ = f"small/c-{name}-{mark}"
            yield m.raw(id_, "a small c beside products of zero", {}, word)
            yield m.raw(f"{id_}-ones", "a small c beside 1·0", dict.fromkeys(range(m.k), (o.a.one, 0)), word)
            yield m.raw(f"{id_}-minus", "a small c beside -0", minus, word)
            for other, i in itertools.product((least, -least, 2 * least), dict.fromkeys((0, m.k - 1))):
                text = "less" if other < 0 else "once" if other == least else "twice"
                with suppress(ValueTextError):
                    pair = {i: m.halved(other)}
                    yield m.raw(f"{id_}-{text}-{i}", "a small c beside a product about as small", pair, word)


def _small_operands(m: DirectedMaker) -> Iterator[Directed]:
    o = m.o
    sides = (("a", o.a, o.b), ("b", o.b, o.a))
    for i, (side, fmt, other), (mark, sign) in itertools.product(
        dict.fromkeys((0, m.k - 1)), sides, _SIGNS.items()
    ):
        factors = {"one": other.one, "largest": other.largest, "least": 1 << other.ignored_low_bits}
        for fraction in dict.fromkeys((1, 3, (1 << fmt.fraction_bits) - 1)):
            if not 0 < fraction < 1 << fmt.fraction_bits:
                continue
            word = fraction << fmt.ignored_low_bits | (fmt.sign_bit if sign < 0 else 0)
            for name, factor in factors.items():
                pair = (word, factor) if side == "a" else (factor, word)
                id_ = f"small/{side}[{i}]-{fraction}-{mark}-{name}"
                yield m.raw(id_, "a subnormal operand", {i: pair}, 0)
                if fraction == 1:
                    zeros = dict.fromkeys(range(m.k), (o.a.sign_bit, 0))
                    yield m.raw(
                        f"{id_}-minus", "a subnormal operand beside -0", zeros | {i: pair}, o.c.sign_bit
                    )


def _small_results(m: DirectedMaker) -> Iterator[Directed]:
    d = m.o.d
    for i, (mark, sign) in itertools.product(dict.fromkeys((0, m.k - 1)), _SIGNS.items()):
        for e in (d.e_min - d.fraction_bits - 1, d.e_min - d.fraction_bits, d.e_min - 1, d.e_min):
            with suppress(ValueTextError):
                pair = {i: m.halved(sign * power_of_two(e) * Fraction(3, 2))}
                yield m.raw(f"small/result-{i}-{e}-{mark}", "a result about the smallest", pair, 0)


def _extremes(m: DirectedMaker) -> Iterator[Directed]:
    """Overflows, and sums that need carry bits."""
    o, k = m.o, m.k
    largest = decode(o.d, o.d.largest).number
    ulp = power_of_two(o.d.e_max - o.d.fraction_bits)
    for sign in (1, -1):
        mark = "plus" if sign > 0 else "minus"
        for name, part in (
            ("ulp", ulp),
            ("half", ulp / 2),
            ("quarter", ulp / 4),
            ("three-quarters", 3 * ulp / 4),
        ):
            with suppress(ValueTextError):
                yield m.of_values(
                    f"overflow/{name}-{mark}",
                    "the largest number and a little",
                    {0: sign * part},
                    sign * largest,
                )
        a, b = (
            fmt.largest | (fmt.sign_bit if side and sign < 0 else 0) for side, fmt in enumerate((o.a, o.b))
        )
        for count in sorted({1, 2, 3, 4, 5, 8, 9, k // 2, k - 1, k}):
            if not 0 < count <= k:
                continue
            c = o.c.largest | (o.c.sign_bit if sign < 0 else 0)
            yield m.raw(
                f"overflow/products-{count}-{mark}",
                "the largest products",
                dict.fromkeys(range(count), (a, b)),
                0,
            )
            yield m.raw(
                f"overflow/products-{count}-c-{mark}",
                "the largest products and c",
                dict.fromkeys(range(count), (a, b)),
                c,
            )
            wide = below_two(o.a), below_two(o.b) | (o.b.sign_bit if sign < 0 else 0)
            c_wide = below_two(o.c) | (o.c.sign_bit if sign < 0 else 0)
            for c_name, word in (("0", 0), ("c", c_wide)):
                yield m.raw(
                    f"carry/{count}-{c_name}-{mark}",
                    "products just below 4",
                    dict.fromkeys(range(count), wide),
                    word,
                )
        for i, j in m.pairs():
            pairs = {i: (o.a.largest, o.b.largest), j: (o.a.largest | o.a.sign_bit, o.b.largest)}
            yield m.raw(
                f"overflow/cancelled-{i}-{j}-{mark}",
                "the largest products cancel",
                pairs,
                o.c.one if sign < 0 else 0,
            )


def _specials(m: DirectedMaker) -> Iterator[Directed]:
    """Inf, Inf·0, Inf - Inf, and NaNs with various payloads in one or two operands."""
    o, last = m.o, m.k - 1
    one = (o.a.one, o.b.one)
    places: dict[str, tuple[int, str, Format]] = {"c": (-1, "c", o.c)}
    for i in dict.fromkeys((0, 1, last)):
        if i <= last:
            places |= {f"a[{i}]": (i, "a", o.a), f"b[{i}]": (i, "b", o.b)}

    def with_words(words: Mapping[str, int], rest: tuple[int, int], id_: str, why: str) -> Directed:
        products: dict[int, list[int]] = {}
        c = words.get("c", 0)
        for name, word in words.items():
            i, side, _ = places[name]
            if side != "c":
                products.setdefault(i, list(rest))[side == "b"] = word
        return m.raw(id_, why, {i: (x, y) for i, (x, y) in products.items()}, c)

    nans = {name: list(nans_of(fmt)) for name, (_, _, fmt) in places.items()}
    for name, words in nans.items():
        for n, word in enumerate(words):
            yield with_words({name: word}, one, f"nan/{name}-{n}", "one NaN")
    for first, second in itertools.permutations(places, 2):
        if nans[first] and nans[second]:
            two = {first: nans[first][0], second: nans[second][-1]}
            yield with_words(two, one, f"nan/{first}-{second}", "two NaNs of different payloads")
    infinite = {n: f.infinity for n, (_, _, f) in places.items() if f.specials is Specials.IEEE}
    for name, word in infinite.items():
        sign = places[name][2].sign_bit
        yield with_words({name: word}, one, f"inf/{name}-plus", "one Inf")
        yield with_words({name: word | sign}, one, f"inf/{name}-minus", "one -Inf")
        yield with_words({name: word}, (0, 0), f"inf/{name}-zero", "Inf · 0")
        for other, (_, _, fmt) in places.items():
            if other in infinite and other != name:
                pair = {name: word, other: infinite[other] | fmt.sign_bit}
                yield with_words(pair, one, f"inf/{name}-{other}", "Inf and -Inf")
            if other != name and nans[other]:
                yield with_words(
                    {name: word, other: nans[other][0]}, one, f"inf/{name}-nan-{other}", "Inf and a NaN"
                )


def _scales(m: DirectedMaker) -> Iterator[Directed]:
    """All kinds of scales, on products of 1, on zero products and on zero sums; empty without scales."""
    fmt, block = m.spec.scale_format, m.spec.scale_block
    if fmt is None or block is None:
        return
    one, minus = (m.o.a.one, m.o.b.one), (m.o.a.one | m.o.a.sign_bit, m.o.b.one)
    words = {"least": 0, "small": 1, "half": fmt.one - (1 << fmt.fraction_bits), "largest": fmt.largest}
    if fmt.specials is not Specials.NONE:
        words["nan"] = fmt.largest + 1
    if fmt.fraction_bits:
        words["odd"] = fmt.one | 3
    last = m.k // block - 1
    contents = {
        "one": {last * block: one},
        "zeros": {},
        "cancelled": {last * block: one, last * block + 1: minus},
        "all": dict.fromkeys(range(m.k), one),
    }
    for (name, word), (content, products), c in itertools.product(
        words.items(), contents.items(), (0, m.o.c.one)
    ):
        for side in ("a", "b", "both"):
            pair = (word if side != "b" else fmt.one, word if side != "a" else fmt.one)
            id_ = f"scale/{name}-{side}-{content}-{'one' if c else 'zero'}"
            yield m.raw(id_, f"the last scale {name}, products {content}", products, c, {last: pair})
    if last:
        for name, word in words.items():
            opposed = {0: one, block: minus}
            why = f"1 and -1 in two blocks, the scales of the first {name}"
            yield m.raw(f"scale/{name}-opposed", why, opposed, 0, {0: (word, fmt.one)})
            yield m.raw(f"scale/{name}-opposed-c", why, opposed, m.o.c.one, {0: (word, word)})
