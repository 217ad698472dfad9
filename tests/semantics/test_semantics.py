"""Each stage of the arithmetic on small widths, on every input, against integers and fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sampled import one_in
from tcformal.backends.vector import Vector
from tcformal.design.rounding import Conversion
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import NumberClass, decode
from tcformal.semantics.align import (
    align,
    align_sticky,
    distance_below,
    effective_exponents,
    largest_exponent,
)
from tcformal.semantics.normalise import normalise_term, shift_left_by_leading_zeros
from tcformal.semantics.number import Exponent, Term, bits_for
from tcformal.semantics.pack import check_output_format, pack
from tcformal.semantics.product import product
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.round import clamp, convert, drop_low_bits, round_away, shift_right_sticky
from tcformal.semantics.sums import windows
from tcformal.semantics.unpack import unpack

#: Each rounding of a signed number to an integer, in the words of IEEE 754 §4.3.
TO_INTEGER: dict[str, Callable[[Fraction], int]] = {
    "RNE": round,
    "RNA": lambda x: math.floor(abs(x) + Fraction(1, 2)) * (-1 if x < 0 else 1),
    "RZ": math.trunc,
    "RD": math.floor,
    "RU": math.ceil,
    # To odd: an inexact result is the neighbour that is odd.
    "RO": lambda x: math.floor(x) if math.floor(x) == x or math.floor(x) % 2 else math.ceil(x),
}


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def every(
    g: Graph, roots: Sequence[Node], above: dict[str, int] | None = None
) -> Iterator[tuple[list[int], list[int]]]:
    """(inputs, results) for every value of every input, or those up to `above` where one is given."""
    limits = {name: (1 << node.width) - 1 for name, node in g.inputs.items()} | (above or {})
    rows = np.array(list(itertools.product(*(range(limits[name] + 1) for name in g.inputs))), np.uint64)
    lanes = {name: rows[:, i] for i, name in enumerate(g.inputs)}
    columns = [np.broadcast_to(x, (len(rows),)) for x in Vector(g, lanes).run(roots)]
    yield from zip(rows.tolist(), np.stack(columns, axis=1).tolist(), strict=True)


def exponent(g: Graph, name: str, low: int, high: int) -> Exponent:
    """An exponent that is an input in [low, high]."""
    return Exponent(g.input(name, bits_for(high - low)), low, high)


# --------------------------------------------------------------------- exponents
RANGES = [(-3, 0), (-3, 2), (0, 0), (2, 6), (-9, -4), (-1, 6)]


def test_bits_for() -> None:
    assert [bits_for(n) for n in (0, 1, 2, 3, 4, 7, 8, 255, 256)] == [1, 1, 2, 2, 3, 3, 4, 8, 9]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_exponent_rebased(low: int, high: int) -> None:
    for below, beyond in itertools.product(range(4), range(4)):
        g = Graph()
        code = exponent(g, "e", low, high).rebased(g, low - below, high + beyond)
        assert code.width == bits_for(high + beyond - low + below)
        for (e,), (moved,) in every(g, [code], {"e": high - low}):
            assert moved + low - below == e + low


@pytest.mark.parametrize(("first", "second"), list(itertools.product(RANGES, RANGES)))
def test_exponent_plus(first: tuple[int, int], second: tuple[int, int]) -> None:
    g = Graph()
    total = exponent(g, "e", *first).plus(g, exponent(g, "f", *second))
    assert (total.low, total.high) == (first[0] + second[0], first[1] + second[1])
    assert total.bits.width == bits_for(total.high - total.low)
    for (e, f), (code,) in every(g, [total.bits], {"e": first[1] - first[0], "f": second[1] - second[0]}):
        assert code + total.low == e + first[0] + f + second[0]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_exponent_raised_and_shifted(low: int, high: int) -> None:
    for floor in range(low, high + 1):
        g = Graph()
        raised = exponent(g, "e", low, high).raised(g, floor)
        assert (raised.low, raised.high) == (floor, high)
        assert raised.bits.width == bits_for(high - floor)
        for (e,), (code,) in every(g, [raised.bits], {"e": high - low}):
            if e + low >= floor:
                assert code + floor == e + low
    g = Graph()
    moved = exponent(g, "e", low, high).shifted(-5)
    assert (moved.bits, moved.low, moved.high) == (g.inputs["e"], low - 5, high - 5)


# --------------------------------------------------------------------- normalise
def leading_zeros(x: int, width: int) -> int:
    return width - x.bit_length()


@pytest.mark.parametrize("width", range(1, 10))
def test_shift_left_by_leading_zeros(width: int) -> None:
    g = Graph()
    shifted, distance = shift_left_by_leading_zeros(g, g.input("x", width))
    reach = (1 << distance.width) - 1 if width > 1 else 0
    for (x,), (moved, by) in every(g, [shifted, distance]):
        assert by == (leading_zeros(x, width) if x else reach)
        assert moved == (x << by) % (1 << width) == (x << by if x else 0)
    assert shifted.width == width


@pytest.mark.parametrize("width", range(1, 9))
def test_shift_left_obeys_its_limit(width: int) -> None:
    for limit_width in (1, 2, 3, 4, 6):
        g = Graph()
        x, most = g.input("x", width), g.input("limit", limit_width)
        shifted, distance = shift_left_by_leading_zeros(g, x, most)
        reach = (1 << distance.width) - 1 if width > 1 else 0
        for (value, limit), (moved, by) in every(g, [shifted, distance]):
            assert by == min(leading_zeros(value, width) if value else reach, limit)
            assert moved == (value << by if value else 0)


def term(g: Graph, width: int, fraction_bits: int, low: int, high: int) -> Term:
    """A term of inputs s, x, e."""
    sign, significand = g.input("s", 1), g.input("x", width)
    return Term(sign, significand, exponent(g, "e", low, high), fraction_bits, g.is_zero(significand))


@pytest.mark.parametrize("width", range(1, 7))
@pytest.mark.parametrize("above", [0, 1, 2])
def test_normalise_term(width: int, above: int) -> None:
    """The value stays; the significand is in [1, 2); a zero keeps its exponent."""
    g = Graph()
    low, high, fraction_bits = -2, 3, width - above
    made = normalise_term(g, term(g, width, fraction_bits, low, high))
    assert made.fraction_bits == made.significand.width - 1 == width - 1
    roots = [made.sign, made.significand, made.exponent.bits, made.zero]
    for (s, x, e), (sign, significand, code, zero) in every(g, roots, {"e": high - low}):
        found = code + made.exponent.low
        assert made.exponent.low <= found <= made.exponent.high
        assert (sign, zero) == (s, x == 0)
        if x == 0:
            assert (significand, found) == (0, e + low)
        else:
            assert significand >> (width - 1) == 1
            assert significand * power(found - made.fraction_bits) == x * power(e + low - fraction_bits)


# --------------------------------------------------------------------- rounding
@pytest.mark.parametrize("mode", TO_INTEGER)
def test_round_away(mode: str) -> None:
    """The whole truth table: kept bit, first and further dropped bits, sign."""
    g = Graph()
    names = ("sign", "odd", "guard", "sticky")
    away = round_away(g, mode, *(g.input(name, 1) for name in names))
    for (sign, odd, guard, sticky), (up,) in every(g, [away]):
        magnitude = odd + Fraction(guard, 2) + Fraction(sticky, 4)
        assert up == abs(TO_INTEGER[mode](-magnitude if sign else magnitude)) - odd


def test_drop_low_bits() -> None:
    for width in range(2, 7):
        for amount in range(1, width):
            g = Graph()
            for (x,), (kept, guard, sticky) in every(g, drop_low_bits(g, g.input("x", width), amount)):
                rest = Fraction(x % (1 << amount), 1 << amount)
                assert kept == x >> amount
                assert guard == (rest >= Fraction(1, 2))
                assert sticky == (rest not in (0, Fraction(1, 2)))


def test_shift_right_sticky() -> None:
    for width, amount_width in itertools.product(range(1, 6), range(1, 5)):
        g = Graph()
        roots = shift_right_sticky(g, g.input("x", width), g.input("by", amount_width))
        for (x, by), (shifted, lost) in every(g, roots):
            assert (shifted, lost) == (x >> by, x % (1 << by) != 0)


def test_clamp() -> None:
    for width, largest in itertools.product(range(1, 6), range(20)):
        g = Graph()
        root = clamp(g, g.input("x", width), largest)
        assert root.width <= max(width, bits_for(largest))
        for (x,), (found,) in every(g, [root]):
            assert found == min(x, largest)


def values_of(target: Conversion) -> list[Fraction]:
    """Every number of 0 and above that the target holds, in order, and the first that it does not."""
    steps = 1 << target.fraction_bits
    subnormal = [Fraction(t, steps) * power(target.e_min) for t in range(steps)]
    exponents = range(target.e_min, target.e_max + 1)
    normal = [(1 + Fraction(t, steps)) * power(e) for e in exponents for t in range(steps)]
    return [*subnormal, *normal, power(target.e_max + 1)]


def converted(
    values: list[Fraction], mode: str, sign: int, magnitude: Fraction, overflow: str
) -> Fraction | None:
    """The rounded magnitude by its definition, a choice between two neighbours; None: Inf."""
    limit = values[-1]
    nearest = mode in ("RNE", "RNA")
    outward = nearest or mode == ("RD" if sign else "RU")
    to_odd = mode == "RO"
    infinite = overflow != "largest" and (outward or overflow == "infinity")
    if magnitude >= limit:
        return None if infinite else values[-2]
    i = max(i for i, value in enumerate(values) if value <= magnitude)
    low, high = values[i], values[i + 1] if values[i] < magnitude else values[i]
    if nearest:
        up = high - magnitude < magnitude - low
        if high - magnitude == magnitude - low:
            up = mode == "RNA" or i % 2 == 1
    else:
        up = i % 2 == 0 if to_odd else outward
    result = high if up else low
    if result < limit:
        return result
    return None if infinite else values[-2]


@pytest.mark.parametrize("overflow", ["infinity", "ieee", "largest"])
@pytest.mark.parametrize("mode", TO_INTEGER)
@pytest.mark.parametrize(
    ("width", "low", "high", "exponent_bits", "fraction_bits"),
    one_in(
        2,
        [
            (1, -4, 3, 2, 1),
            (4, -5, 1, 2, 1),
            (6, -7, 0, 2, 2),
            (7, -9, -2, 3, 1),
            (7, -3, 2, 3, 2),
            (3, -9, 4, 3, 4),
            (8, 0, 0, 4, 2),
            (5, -20, -13, 2, 3),
            (5, 4, 6, 2, 1),
        ],
    ),
)
def test_convert(
    mode: str, overflow: str, width: int, low: int, high: int, exponent_bits: int, fraction_bits: int
) -> None:
    """Every magnitude at every weight, sign and mode: subnormal results, ties, overflow."""
    target = Conversion(mode, exponent_bits, fraction_bits)
    values = values_of(target)
    g = Graph()
    sign, magnitude = g.input("s", 1), g.input("x", width)
    made = convert(g, sign, magnitude, exponent(g, "e", low, high), target, overflow=overflow).result
    t = made.term
    assert (t.exponent.low, t.exponent.high) == (target.e_min, target.e_max)
    assert t.significand.width == t.fraction_bits + 1 == target.precision
    roots = [t.sign, t.significand, t.exponent.bits, t.zero, made.nan, made.inf]
    for (s, x, e), (negative, significand, code, zero, nan, inf) in every(g, roots, {"e": high - low}):
        expected = converted(values, mode, s, x * power(e + low), overflow)
        assert (negative, nan, bool(inf)) == (s, 0, expected is None), (s, x, e)
        if expected is None:
            continue
        found = code + target.e_min
        assert significand * power(found - t.fraction_bits) == expected, (s, x, e)
        assert zero == (expected == 0)
        assert target.e_min <= found <= target.e_max
        assert significand >> t.fraction_bits or found == target.e_min


# --------------------------------------------------------------------- align
@pytest.mark.parametrize("mode", TO_INTEGER)
@pytest.mark.parametrize(("width", "fraction_bits"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (4, 4)])
def test_align(mode: str, width: int, fraction_bits: int) -> None:
    """Every significand at every distance, cut to fewer, as many and more bits than it has."""
    for kept_bits in range(1, 7):
        g = Graph()
        t = term(g, width, fraction_bits, 0, 0)
        root = align(g, t, g.input("by", 4), kept_bits, mode)
        for (s, x, _, by), (kept,) in every(g, [root], {"e": 0}):
            exact = x * power(kept_bits - fraction_bits - by)
            assert kept == abs(TO_INTEGER[mode](-exact if s else exact)), (kept_bits, s, x, by)


def test_align_sticky() -> None:
    """What is lost shows in the lowest bit, and nothing else changes."""
    for width, extra in itertools.product(range(1, 5), range(4)):
        g = Graph()
        fraction_bits = width - 1
        root = align_sticky(g, term(g, width, fraction_bits, 0, 0), g.input("by", 4), fraction_bits + extra)
        for (_, x, _, by), (kept,) in every(g, [root], {"e": 0}):
            whole, rest = divmod(x << extra, 1 << by)
            assert kept == whole | (rest != 0)


@pytest.mark.parametrize("zero_exponent", ["own", "none", -7, -1, 0, 2, 9])
def test_exponents_that_take_part(zero_exponent: int | str) -> None:
    """The effective exponents, e_max and the distances below it, for three terms of different ranges."""
    g = Graph()
    ranges = [(-2, 1), (0, 2), (-4, -1)]
    terms = [
        Term(g.truth(False), g.const(0, 1), exponent(g, f"e{i}", low, high), 0, g.input(f"z{i}", 1))
        for i, (low, high) in enumerate(ranges)
    ]
    exponents = effective_exponents(g, terms, zero_exponent)  # type: ignore[arg-type]
    e_max = largest_exponent(g, exponents)
    distances = [distance_below(g, e, e_max) for e in exponents]
    limits = {f"e{i}": high - low for i, (low, high) in enumerate(ranges)}
    smallest = min(low for low, _ in ranges)
    for row, results in every(g, [*(e.bits for e in exponents), e_max.bits, *distances], limits):
        expected = []
        for i, (low, _) in enumerate(ranges):
            own, zero = row[2 * i] + low, row[2 * i + 1]
            substitute = {"own": own, "none": smallest}.get(str(zero_exponent), zero_exponent)
            expected.append(substitute if zero else own)
        found = [code + e.low for code, e in zip(results[:3], exponents, strict=True)]
        assert found == expected
        assert results[3] + e_max.low == max(found)
        assert results[4:] == [max(found) - e for e in found]


# --------------------------------------------------------------------- unpack, pack, product
def toy(exponent_bits: int, fraction_bits: int, bias: int, specials: Specials) -> Format:
    return Format(
        name=f"toy_e{exponent_bits}m{fraction_bits}_{specials.name.lower()}",
        exponent_bits=exponent_bits, fraction_bits=fraction_bits, bias=bias, specials=specials,
    )  # fmt: skip


TOYS = [
    toy(e, f, e, s) for e in (1, 2, 3) for f in (0, 1, 3) for s in Specials if f or s is not Specials.IEEE
]
SMALL = [*TOYS, *(f for f in FORMATS.values() if f.width <= 8)]


def check_unpack(fmt: Format, words: Sequence[int]) -> None:
    """Sign, exponent, significand and class of these encodings as the oracle decodes them."""
    g = Graph()
    x = unpack(g, g.input("w", fmt.width), fmt)
    t = x.term
    assert (t.fraction_bits, t.significand.width) == (fmt.fraction_bits, fmt.precision)
    lanes = Vector(g, {"w": np.array(words, np.uint64)})
    roots = [t.sign, t.significand, t.exponent.bits, t.zero, x.nan, x.inf]
    columns = np.stack([np.broadcast_to(c, (len(words),)) for c in lanes.run(roots)], axis=1).tolist()
    for word, (sign, significand, code, zero, nan, inf) in zip(words, columns, strict=True):
        value = decode(fmt, word)
        assert (nan, inf) == (value.kind is NumberClass.NAN, value.kind is NumberClass.INF), hex(word)
        if not nan:
            assert sign == value.sign, hex(word)
        if value.kind is NumberClass.FINITE:
            e = code + t.exponent.low
            assert (e, zero) == (value.exponent, value.is_zero), hex(word)
            assert significand * power(e - fmt.fraction_bits) == value.magnitude, hex(word)
            assert t.exponent.low <= e <= t.exponent.high


@pytest.mark.parametrize("fmt", SMALL, ids=str)
def test_unpack_all_encodings(fmt: Format) -> None:
    check_unpack(fmt, range(1 << fmt.width))


@pytest.mark.parametrize("name", ["fp16", pytest.param("bf16", marks=pytest.mark.long)])
def test_unpack_all_encodings_of_16_bits(name: str) -> None:
    check_unpack(FORMATS[name], range(1 << 16))


@pytest.mark.parametrize("name", ["tf32", "fp32", "fp64"])
def test_unpack_of_large_formats(name: str) -> None:
    """Every exponent field with the ends of the fraction field, and random words."""
    f = FORMATS[name]
    t = f.fraction_bits + f.ignored_low_bits
    tails = [0, 1, (1 << t) - 1, 1 << (t - 1), 1 << f.ignored_low_bits, (1 << f.ignored_low_bits) - 1]
    words = [head << t | tail for head in range(1 << (f.width - t)) for tail in tails]
    rng = np.random.default_rng(20260713)
    check_unpack(f, words + rng.integers(0, 1 << f.width, 3000, dtype=np.uint64).tolist())


def check_pack(fmt: Format, words: Sequence[int], nan_word: int) -> None:
    """Unpacked and packed again, every number is itself and every NaN the NaN word; ignored bits are zero."""
    g = Graph()
    x = unpack(g, g.input("w", fmt.width), fmt)
    number = replace(x, term=replace(x.term, exponent=x.term.exponent.raised(g, fmt.e_min)))
    root = pack(g, number, fmt, g.const(nan_word, fmt.width))
    (found,) = Vector(g, {"w": np.array(words, np.uint64)}).run([root])
    low = fmt.ignored_low_bits
    expected = [nan_word if decode(fmt, w).kind is NumberClass.NAN else w >> low << low for w in words]
    assert found.tolist() == expected


@pytest.mark.parametrize("fmt", [f for f in SMALL if f.specials is Specials.IEEE], ids=str)
def test_pack_returns_all_encodings(fmt: Format) -> None:
    for nan_word in (fmt.infinity + 1, (1 << fmt.width) - 1):
        check_pack(fmt, range(1 << fmt.width), nan_word)


@pytest.mark.parametrize(
    ("name", "nan_word"), [pytest.param("fp16", 0x7FFF, marks=pytest.mark.long), ("bf16", 0xFFC0)]
)
def test_pack_returns_all_encodings_of_16_bits(name: str, nan_word: int) -> None:
    check_pack(FORMATS[name], range(1 << 16), nan_word)


def test_pack_clears_ignored_bits() -> None:
    words = np.random.default_rng(20260714).integers(0, 1 << 32, 3000, dtype=np.uint64).tolist()
    check_pack(FORMATS["tf32"], [*words, 0x7F800000, 0xFF801FFF, 0x1FFF], 0x7FC00000)


@pytest.mark.parametrize(
    ("name", "nan_word", "sentence"),
    [
        ("e4m3", 0x7F, "expected a result format with Inf and NaN, but got e4m3"),
        ("fp16", 0x7C00, "expected a NaN encoding of fp16 for nan_word, but got 0x7c00"),
        ("fp16", 0x17FFF, "expected a NaN encoding of fp16 for nan_word, but got 0x17fff"),
        ("tf32", 0x7F800001, "expected a NaN encoding of tf32 for nan_word, but got 0x7f800001"),
    ],
)
def test_output_format_rejects(name: str, nan_word: int, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        check_output_format(FORMATS[name], nan_word)
    assert str(error.value) == sentence


def test_output_format_takes_every_nan() -> None:
    """The words that are taken are those that the oracle decodes as NaN."""
    for fmt in (FORMATS["e5m2"], toy(2, 1, 1, Specials.IEEE)):
        taken = []
        for word in range(2 << fmt.width):
            with suppress(InputError):
                check_output_format(fmt, word)
                taken.append(word)
        assert taken == [w for w in range(1 << fmt.width) if decode(fmt, w).kind is NumberClass.NAN]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (toy(2, 1, 1, Specials.IEEE), toy(3, 1, 3, Specials.IEEE)),
        (toy(2, 1, 1, Specials.ALL_ONES_NAN), toy(1, 3, 0, Specials.NONE)),
        (FORMATS["e2m1"], FORMATS["e3m2"]),
        (toy(2, 2, 2, Specials.NEGATIVE_ZERO_NAN), toy(2, 1, 1, Specials.IEEE)),
    ],
    ids=str,
)
def test_product(a: Format, b: Format) -> None:
    """Every pair: exact, exponents added, never renormalised; NaN, Inf and Inf·0."""
    g = Graph()
    made = product(g, unpack(g, g.input("a", a.width), a), unpack(g, g.input("b", b.width), b))
    t = made.term
    roots = [t.sign, t.significand, t.exponent.bits, t.zero, made.nan, made.inf]
    for (x, y), (sign, significand, code, zero, nan, inf) in every(g, roots):
        u, v = decode(a, x), decode(b, y)
        kinds = {u.kind, v.kind}
        invalid = NumberClass.NAN in kinds or (NumberClass.INF in kinds and (u.is_zero or v.is_zero))
        assert (nan, inf) == (invalid, NumberClass.INF in kinds and not invalid)
        if not nan:
            assert sign == u.sign ^ v.sign
        if kinds == {NumberClass.FINITE}:
            assert code + t.exponent.low == u.exponent + v.exponent
            assert significand * power(u.exponent + v.exponent - t.fraction_bits) == u.magnitude * v.magnitude
            assert zero == (u.is_zero or v.is_zero)


# --------------------------------------------------------------------- exact sums in windows
def wide_terms(g: Graph, count: int, span: int, width: int) -> list[Term]:
    """Terms of inputs s0, x0, e0, ...: exponents in [0, span], significands of `width` bits in [0, 2)."""
    terms = []
    for i in range(count):
        x = g.input(f"x{i}", width)
        e = exponent(g, f"e{i}", 0, span)
        terms.append(Term(g.input(f"s{i}", 1), x, e, width - 1, g.is_zero(x)))
    return terms


def rows_of_terms(rng: np.random.Generator, count: int, span: int, width: int, n: int) -> list[list[int]]:
    """Seeded rows: distances near the gaps that windows allow, ties, cancellation; (s, x, e) per term."""
    made = []
    for _ in range(n):
        top = int(rng.integers(0, span + 1))
        row: list[int] = []
        for i in range(count):
            near = int(rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28]))
            e = (
                min(span, max(0, top - (0 if i == 0 else near)))
                if rng.random() < 0.8
                else int(rng.integers(span + 1))
            )
            x = int(rng.choice([0, 1, 1 << (width - 1), (1 << width) - 1, int(rng.integers(1 << width))]))
            row += [int(rng.integers(2)), x, e]
        if rng.random() < 0.3:
            row[3:6] = [1 - row[0], *row[1:3]]
        elif count > 2 and rng.random() < 0.3:
            # All but the lowest bit cancels, and what is left has a far smaller term taken off or added.
            x = int(rng.integers(1, 1 << width))
            row[1], row[2], row[3:6] = x, top, [1 - row[0], x - 1, top]
            row[6:9] = [
                int(rng.integers(2)),
                int(rng.integers(1 << width)),
                max(0, top - int(rng.integers(3, 20))),
            ]
        order = rng.permutation(count)
        made.append([value for i in order for value in row[3 * i : 3 * i + 3]])
    return made


@pytest.mark.parametrize("mode", one_in(2, TO_INTEGER))
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_exact_sums_round_as_if_nothing_was_cut(
    count: int, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One to four terms of any distance: the sum in its window rounds as the exact sum does."""
    monkeypatch.setattr(windows, "FIXED_WINDOW", 0)
    span, width = 60, 3
    target = Conversion(mode, 7, 2)
    g = Graph()
    terms = wide_terms(g, count, span, width)
    total = windows.exact_total(g, terms, target.precision)
    negative, magnitude = split_sign(g, total.bits)
    made = convert(g, negative, magnitude, total.lsb, target, overflow="infinity").result
    rows = rows_of_terms(np.random.default_rng(20260715), count, span, width, 800)
    names = [f"{letter}{i}" for i in range(count) for letter in "sxe"]
    columns = np.array(rows, np.uint64)
    lanes = Vector(g, {name: columns[:, i] for i, name in enumerate(names)})
    roots = [negative, made.term.significand, made.term.exponent.bits, made.inf]
    results = np.stack([np.broadcast_to(x, (len(rows),)) for x in lanes.run(roots)], axis=1).tolist()
    for row, (sign, significand, code, inf) in zip(rows, results, strict=True):
        parts = [row[3 * i : 3 * i + 3] for i in range(count)]
        whole = sum((-x if s else x) << e for s, x, e in parts) * power(1 - width)
        unit = power(whole.numerator.bit_length() - whole.denominator.bit_length() - 2)
        expected = abs(TO_INTEGER[mode](whole / unit)) * unit
        assert not inf
        assert significand * power(code + target.e_min - 2) == expected, dict(zip(names, row, strict=True))
        assert expected == 0 or sign == (whole < 0)
