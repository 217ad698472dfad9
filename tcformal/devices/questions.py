"""Probe questions: inputs from papers, with the designs that each one distinguishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from tcformal.design.axes import around, catalogued_rivals, changed, nan_words, other_shapes
from tcformal.design.rounding import MODES, NAN_RULES
from tcformal.design.unit import UnitSpec
from tcformal.devices.directed import DirectedMaker, below_two, nans_of
from tcformal.devices.plan import Directed
from tcformal.encodings.spec import Specials
from tcformal.errors import ValueTextError
from tcformal.oracle.text import power_of_two
from tcformal.oracle.values import encode_exact, parse_value

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
    """The questions that apply to a unit, with their dot products."""
    questions = []
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


def _every(_: UnitSpec) -> Values:
    return {}


def _fp16(
    m: DirectedMaker, texts_a: list[str], texts_b: list[str], c: str, id_: str, why: str
) -> Iterator[Directed]:
    """A dot product of fp16 numbers and c; decimals are rounded to nearest."""
    if m.o.a.name != "fp16" or m.k < len(texts_a):
        return
    pairs = {
        i: (parse_value(m.o.a, x), parse_value(m.o.b, y))
        for i, (x, y) in enumerate(zip(texts_a, texts_b, strict=True))
    }
    yield m.raw(id_, why, pairs, parse_value(m.o.c, c))


def _hawkeye(m: DirectedMaker) -> Iterator[Directed]:
    """The example of HAWKEYE §1; .001 becomes 0x1419, the nearest fp16 number."""
    a, b = ["65504", "1", "-65504", "1"], ["1", "0x1419", "1", "0x1419"]
    yield from _fp16(m, a, b, "0", "ask/hawkeye", "[65504 1 -65504 1] · [1 .001 1 .001]")


def _table_8(m: DirectedMaker) -> Iterator[Directed]:
    """The examples of XIE Table 8."""
    values = [Fraction(-(2**23)), *(Fraction(-1, 2**i) for i in (1, 2, 3))]
    if m.k < 4:
        return
    try:
        pairs = {0: (encode_exact(m.o.a, Fraction(-(2**13))), encode_exact(m.o.b, Fraction(2**10)))}
    except ValueTextError:
        pairs = {0: m.halved(values[0])}
    pairs |= {i: m.factors(x) for i, x in enumerate(values[1:], 1)}
    yield m.raw("ask/table-8", "-2^23 - 1/2 - 1/4 - 1/8 + 2^23", pairs, encode_exact(m.o.c, Fraction(2**23)))


def _width(m: DirectedMaker) -> Iterator[Directed]:
    """A full step of products just below 4, with c just below 2 (HAWKEYE's simulator: -62.06)."""
    o = m.o
    pair, c = (below_two(o.a), below_two(o.b)), below_two(o.c)
    with suppress(ValueTextError):
        c = encode_exact(o.c, Fraction(2047, 1024))
    for sign in (0, 1):
        products = dict.fromkeys(range(m.k), (pair[0], pair[1] | sign * o.b.sign_bit))
        why = "every product just below 4 and c just below 2"
        yield m.raw(f"ask/width-{'minus' if sign else 'plus'}", why, products, c | sign * o.c.sign_bit)


def _nan(m: DirectedMaker) -> Iterator[Directed]:
    """NaNs of every kind as operands, and invalid operations that produce NaN."""
    o = m.o
    for side, fmt in (("a", o.a), ("b", o.b)):
        for n, word in enumerate(nans_of(fmt)):
            pair = (word, o.b.one) if side == "a" else (o.a.one, word)
            yield m.raw(f"ask/nan-{side}-{n}", f"a NaN in {side}", {0: pair}, 0)
    for n, word in enumerate(nans_of(o.c)):
        yield m.raw(f"ask/nan-c-{n}", "a NaN in c", {}, word)
    if o.a.specials is Specials.IEEE:
        yield m.raw("ask/nan-inf-times-0", "Inf · 0", {0: (o.a.infinity, 0)}, 0)
    if o.a.specials is Specials.IEEE and o.c.specials is Specials.IEEE:
        minus = o.c.infinity | o.c.sign_bit
        yield m.raw("ask/nan-inf-minus-inf", "Inf - Inf", {0: (o.a.infinity, o.b.one)}, minus)


def _zero_exponent(m: DirectedMaker) -> Iterator[Directed]:
    """The least number minus a smaller one, with zero products: it is truncated below e_zero - F.

    Where zeros take no part in the largest exponent, the difference is rounded toward zero to 0; where
    they do, it stays the least number as soon as the smaller one is cut off.
    """
    o = m.o
    least = power_of_two(o.d.e_min - o.d.fraction_bits)
    if m.k < 3:
        return
    first = m.halved(least)
    for below in range(1, 36):
        with suppress(ValueTextError):
            why = f"the least number less one {below} binades below it, beside zero products"
            yield m.raw(f"ask/zero-exponent-{below}", why, {0: first, 1: m.halved(-least / 2**below)}, 0)


def _zero_product(m: DirectedMaker) -> Iterator[Directed]:
    """c = 2^e_min (1 + ulp) with products that have one zero factor."""
    o = m.o
    c = encode_exact(o.c, power_of_two(o.c.e_min) * (1 + power_of_two(-o.c.fraction_bits)))
    for name, word in (("0", 0), ("1", o.a.one), ("largest", o.a.largest)):
        why = f"c just above the least normal number beside {name} · 0"
        for count in dict.fromkeys((1, m.k)):
            yield m.raw(f"ask/zero-product-{name}-{count}", why, dict.fromkeys(range(count), (word, 0)), c)


def _precision(m: DirectedMaker) -> Iterator[Directed]:
    """Small terms with 1, -1 and a sum of ones, in c or in a product: they reveal the retained bits."""
    o, k = m.o, m.k
    one, minus = (o.a.one, o.b.one), (o.a.one | o.a.sign_bit, o.b.one)
    for base, (pair, c_one) in {"one": (one, o.c.one), "minus-one": (minus, o.c.one | o.c.sign_bit)}.items():
        for j, (mark, sign) in ((j, s) for j in range(8, 32) for s in (("plus", 1), ("minus", -1))):
            part, id_ = Fraction(sign, 2**j), f"{base}-{mark}-{j}"
            what = f"{sign}·2^-{j}"
            with suppress(ValueTextError):
                yield m.raw(
                    f"ask/c-{id_}", f"a product of {base}, c = {what}", {0: pair}, encode_exact(o.c, part)
                )
            with suppress(ValueTextError):
                yield m.raw(
                    f"ask/product-{id_}", f"c = {base}, a product of {what}", {k - 1: m.halved(part)}, c_one
                )
            with suppress(ValueTextError):
                c = encode_exact(o.c, (1 if base == "one" else -1) + part)
                yield m.raw(f"ask/alone-{id_}", f"c = {base} and {what}, products of zero", {}, c)
            with suppress(ValueTextError):
                ones = dict.fromkeys(range(k), pair)
                yield m.raw(
                    f"ask/sum-{id_}", f"{k} products of {base}, c = {what}", ones, encode_exact(o.c, part)
                )


def _zero_exponents(spec: UnitSpec) -> Values:
    return {"zero_exponent": ("own", "none", *around(spec.design.zero_exponent, range(-12, 13)))}


def _bits(spec: UnitSpec) -> Values:
    shape = spec.design.conversion.partition("-")[2]
    shapes = [shape, *other_shapes(shape)]
    return {"fraction_bits": range(8, 33), "conversion": [f"{m}-{s}" for m in MODES for s in shapes]}


def _carries(spec: UnitSpec) -> Values:
    del spec
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
