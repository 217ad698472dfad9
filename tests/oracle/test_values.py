"""Decoding, encoding, reading and printing of exact values."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError, ValueTextError
from tcformal.oracle.values import (
    ExactValue,
    NumberClass,
    decode,
    encode_exact,
    encoded,
    exponent_of,
    format_value,
    parse_printed,
    parse_value,
)
from tcformal.semantics.chain import circuit
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result

SEED = 20260

DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
WIDE = {"fp32": (np.uint32, np.float32), "fp64": (np.uint64, np.float64)}


def wide_words(fmt: Format, count: int) -> list[int]:
    """Edge cases of a wide IEEE format of either sign, then seeded random words."""
    top, hidden = 2 ** (fmt.width - 1), 2 ** (fmt.fraction_bits + fmt.ignored_low_bits)
    infinity = fmt.infinity
    edges = [0, 1, 2, hidden - 1, hidden, hidden + 1, infinity - 1, infinity, infinity + 1, top - 1]
    edges += [(2**fmt.exponent_bits // 2 - 1) * hidden, infinity + hidden // 2]
    rng = random.Random(SEED)
    return [sign + edge for sign in (0, top) for edge in edges] + [
        rng.randrange(2 * top) for _ in range(count)
    ]


def words_of(fmt: Format) -> list[int]:
    if fmt.integer and fmt.width > 8:
        ends = [0, 1, fmt.largest, fmt.largest + 1, 2**fmt.width - 1]
        return [x % 2**fmt.width for x in ends] + random.Random(SEED).sample(range(2**fmt.width), 3000)
    return list(range(2**fmt.width)) if fmt.width <= 8 else wide_words(fmt, 3000)


def assert_same(fmt: Format, value: ExactValue, reference: float) -> None:
    """The value is the reference float's: kind, sign, number and exponent."""
    if math.isnan(reference):
        assert value.kind is NumberClass.NAN
        return
    assert value.sign == int(math.copysign(1.0, reference) < 0)
    if math.isinf(reference):
        assert value.kind is NumberClass.INF
        return
    assert value.kind is NumberClass.FINITE
    assert value.number == Fraction(reference)
    assert value.exponent == (max(math.frexp(reference)[1] - 1, fmt.e_min) if reference else fmt.e_min)


@pytest.mark.parametrize("name", DTYPES)
def test_decode_agrees_exhaustively_with_the_numpy_type(name: str) -> None:
    fmt = FORMATS[name]
    words = np.arange(2**fmt.width, dtype=np.uint16 if fmt.width > 8 else np.uint8)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        references = words.view(DTYPES[name]).astype(np.float64)
    for bits, reference in enumerate(references.tolist()):
        assert_same(fmt, decode(fmt, bits), reference)


@pytest.mark.parametrize("name", WIDE)
def test_decode_agrees_with_the_wide_numpy_type(name: str) -> None:
    fmt, (word_type, float_type) = FORMATS[name], WIDE[name]
    for bits in wide_words(fmt, 5000):
        assert_same(fmt, decode(fmt, bits), float(np.array([bits], word_type).view(float_type)[0]))


def test_tf32_is_fp32_with_the_low_13_bits_dropped_first() -> None:
    tf32 = FORMATS["tf32"]
    for bits in wide_words(FORMATS["fp32"], 5000):
        assert decode(tf32, bits) == decode(FORMATS["fp32"], bits // 2**13 * 2**13)
    assert decode(tf32, 0x7F800001).kind is NumberClass.INF
    assert decode(tf32, 0xFF802000).kind is NumberClass.NAN
    assert decode(tf32, 0x80001FFF) == ExactValue(NumberClass.FINITE, 1, Fraction(0), -126)


def test_ue4m3_is_e4m3_with_the_sign_bit_ignored() -> None:
    for bits in range(256):
        assert decode(FORMATS["ue4m3"], bits) == decode(FORMATS["e4m3"], bits % 128)


def test_exponents_of_subnormals_and_scales() -> None:
    assert decode(FORMATS["fp16"], 0x0001) == ExactValue(NumberClass.FINITE, 0, Fraction(1, 2**24), -14)
    assert decode(FORMATS["fp16"], 0x8000) == ExactValue(NumberClass.FINITE, 1, Fraction(0), -14)
    assert decode(FORMATS["e8m0"], 0) == ExactValue(NumberClass.FINITE, 0, Fraction(1, 2**127), -127)


@pytest.mark.parametrize("name", FORMATS)
def test_finite_values_survive_encode_and_text(name: str) -> None:
    fmt = FORMATS[name]
    ignored = 2**fmt.ignored_low_bits
    for bits in words_of(fmt):
        value, text = decode(fmt, bits), format_value(fmt, bits)
        kept = bits % 128 if name == "ue4m3" else bits // ignored * ignored
        if value.kind is NumberClass.FINITE:
            assert encode_exact(fmt, value.number, negative_zero=bool(value.sign)) == kept
            assert parse_value(fmt, text) == kept
        else:
            assert parse_value(fmt, text) == (bits if value.kind is NumberClass.NAN else kept)


def test_exponent_of() -> None:
    for value, exponent in ((1, 0), (Fraction(3, 2), 0), (2, 1), (Fraction(1, 2), -1), (Fraction(1, 3), -2)):
        assert exponent_of(Fraction(value)) == exponent
    assert exponent_of(Fraction(2**200 - 1)) == 199
    assert exponent_of(Fraction(1, 2**200 - 1)) == -200


@pytest.mark.parametrize(
    ("name", "text", "bits"),
    [
        ("fp16", "1.5", 0x3E00),
        ("fp16", " +1.5 ", 0x3E00),
        ("fp16", "-0", 0x8000),
        ("fp16", "-0.0", 0x8000),
        ("fp16", "-0*2^5", 0x8000),
        ("fp16", "0", 0x0000),
        ("fp16", "2^-24", 0x0001),
        ("fp16", "-2^-24", 0x8001),
        ("fp16", "1.5*2^7", 0x5A00),
        ("fp16", "1.5 * 2^7", 0x5A00),
        ("fp16", "-1.998046875*2^+7", 0xDBFE),
        ("fp16", "0x3c00", 0x3C00),
        ("fp16", "0X3C00", 0x3C00),
        ("fp16", "0xfc01", 0xFC01),
        ("fp16", "0x1.8p3", 0x4A00),
        ("fp16", "-0x1p-24", 0x8001),
        ("fp16", "0x18p-1", 0x4A00),
        ("fp16", ".5", 0x3800),
        ("fp16", "5.", 0x4500),
        ("fp16", "6.5504e4", 0x7BFF),
        ("fp16", "5e-1", 0x3800),
        ("fp16", "1/4", 0x3400),
        ("fp16", "-3/6", 0xB800),
        ("fp16", "inf", 0x7C00),
        ("fp16", "+inf", 0x7C00),
        ("fp16", "-Inf", 0xFC00),
        ("fp16", "nan", 0x7E00),
        ("fp16", "nan(0xfc01)", 0xFC01),
        ("fp32", "nan", 0x7FC00000),
        ("tf32", "nan", 0x7FC00000),
        ("tf32", "inf", 0x7F800000),
        ("tf32", "1.0009765625", 0x3F802000),
        ("e5m2", "nan", 0x7E),
        ("e4m3", "nan", 0x7F),
        ("e4m3", "448", 0x7E),
        ("e5m2fnuz", "nan", 0x80),
        ("e8m0", "nan", 0xFF),
        ("e8m0", "2^-127", 0x00),
        ("ue4m3", "nan", 0x7F),
        ("fp64", "2^-1074", 0x1),
    ],
)
def test_parse(name: str, text: str, bits: int) -> None:
    assert parse_value(FORMATS[name], text) == bits


@pytest.mark.parametrize(
    ("name", "bits", "text"),
    [
        ("fp16", 0x0000, "0"),
        ("fp16", 0x8000, "-0"),
        ("fp16", 0x3E00, "1.5"),
        ("fp16", 0x7BFF, "65504"),
        ("fp16", 0xC900, "-10"),
        ("fp16", 0x0400, "2^-14"),
        ("fp16", 0x1419, "1049*2^-20"),
        ("fp16", 0x7C00, "inf"),
        ("fp16", 0xFC00, "-inf"),
        ("fp16", 0xFC01, "nan(0xfc01)"),
        ("fp32", 0x7FFFFFFF, "nan(0x7fffffff)"),
        ("fp32", 0x3DCCCCCD, "13421773*2^-27"),
        ("fp32", 0x80000001, "-2^-149"),
        ("fp32", 0x3A800000, "0.0009765625"),
        ("tf32", 0x3F801FFF, "1"),
        ("e3m2", 0x1F, "28"),
        ("e8m0", 0xFE, "2^127"),
    ],
)
def test_format(name: str, bits: int, text: str) -> None:
    assert format_value(FORMATS[name], bits) == text


UNREADABLE = (
    "expected a value such as 1.5, 1e-3, 1/4, 2^-24, 1.5*2^7, 0x1.8p3, inf, nan or a raw encoding such as "
    "0x3c00, but got "
)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("fp16", "0x13c00", "expected a raw encoding of fp16 below 0x10000, but got '0x13c00'"),
        ("e3m2", "0x40", "expected a raw encoding of e3m2 below 0x40, but got '0x40'"),
        ("fp16", "one", UNREADABLE + "'one'"),
        ("fp16", "", UNREADABLE + "''"),
        ("fp16", "--1", UNREADABLE + "'--1'"),
        ("fp16", "-0x3c00", UNREADABLE + "'-0x3c00'"),
        ("fp16", "1/0", UNREADABLE + "'1/0'"),
        ("fp16", "3^2", UNREADABLE + "'3^2'"),
        ("fp16", "1_0", UNREADABLE + "'1_0'"),
        ("fp16", "1e999999999", UNREADABLE + "'1e999999999'"),
        ("fp16", "1*2^999999999", UNREADABLE + "'1*2^999999999'"),
        ("fp16", "0x1p999999999", UNREADABLE + "'0x1p999999999'"),
        ("fp16", "1" * 5000, UNREADABLE + "'" + "1" * 100 + "...'"),
        ("fp16", "-nan", "expected nan without a sign, or a NaN of fp16 by its word, but got '-nan'"),
        (
            "fp16",
            "nan(0x7c00)",
            "expected nan without a sign, or a NaN of fp16 by its word, but got 'nan(0x7c00)'",
        ),
        (
            "fp16",
            "nan(0x17e00)",
            "expected nan without a sign, or a NaN of fp16 by its word, but got 'nan(0x17e00)'",
        ),
        ("e2m1", "nan", "expected a finite value, because e2m1 has no NaN, but got 'nan'"),
        ("e2m1", "inf", "expected a finite value, because e2m1 has no Inf, but got 'inf'"),
        ("e4m3", "-inf", "expected a finite value, because e4m3 has no Inf, but got '-inf'"),
        (
            "fp16",
            "0.1",
            "expected a value that fp16 holds exactly, but got 0.1: "
            "its neighbours are 819*2^-13 and 1639*2^-14",
        ),
        (
            "fp16",
            "-1/3",
            "expected a value that fp16 holds exactly, but got -1/3: "
            "its neighbours are -0.33349609375 and -0.333251953125",
        ),
        (
            "e4m3",
            "-2^-10",
            "expected a value that e4m3 holds exactly, but got -2^-10: its neighbours are -0.001953125 and 0",
        ),
        ("fp16", "65505", "expected a value that fp16 holds exactly, but got 65505: the largest is 65504"),
        (
            "e4m3",
            "-480",
            "expected a value that e4m3 holds exactly, but got -480: the largest in magnitude is 448",
        ),
        ("e2m1", "1e9", "expected a value that e2m1 holds exactly, but got 1e9: the largest is 6"),
        ("e8m0", "0", "expected a value that e8m0 holds exactly, but got 0: the smallest is 2^-127"),
        ("e8m0", "3", "expected a value that e8m0 holds exactly, but got 3: its neighbours are 2 and 4"),
        ("e8m0", "-1", "expected a value that e8m0 holds exactly, but got -1: the format has no sign"),
        ("ue4m3", "-0", "expected a value that ue4m3 holds exactly, but got -0: the format has no sign"),
        (
            "e4m3fnuz",
            "-0.0",
            "expected a value that e4m3fnuz holds exactly, but got -0.0: the format has no -0",
        ),
    ],
)
def test_parse_rejects(name: str, text: str, sentence: str) -> None:
    with pytest.raises(ValueTextError) as error:
        parse_value(FORMATS[name], text)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (Fraction(1, 3), "1/3: its neighbours are 0.333251953125 and 0.33349609375"),
        (Fraction(-(2**16)), "-65536: the largest in magnitude is 65504"),
        (1 + Fraction(1, 2**60), "1152921504606846977*2^-60: its neighbours are 1 and 1.0009765625"),
    ],
)
def test_encode_exact_rejects(value: Fraction, sentence: str) -> None:
    with pytest.raises(ValueTextError) as error:
        encode_exact(FORMATS["fp16"], value)
    assert str(error.value) == "expected a value that fp16 holds exactly, but got " + sentence


@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if fmt.width <= 8])
def test_what_a_format_does_not_hold_has_no_encoding(name: str) -> None:
    """Every number of half a unit, up to beyond the largest, is among the format's own or has none."""
    fmt = FORMATS[name]
    values = [decode(fmt, bits) for bits in range(1 << fmt.width)]
    held = {(v.number, v.sign) for v in values if v.kind is NumberClass.FINITE}
    numbers = {n for n, _ in held}
    between = {(x + y) / 2 for x, y in itertools.pairwise(sorted(numbers))}
    for number in (*numbers, *between, 2 * max(numbers), 2 * min(numbers) - 1, Fraction(1, 3)):
        for negative_zero in (False, True):
            sign = int(number < 0 or (negative_zero and number == 0))
            word = encoded(fmt, number, negative_zero)
            assert (word is not None) == ((number, sign) in held)
            assert word is None or word == encode_exact(fmt, number, negative_zero)


@pytest.mark.parametrize(("name", "bits"), [("fp16", 65536), ("e3m2", 64), ("fp32", -1)])
def test_decode_rejects_bits_outside_the_width(name: str, bits: int) -> None:
    fmt = FORMATS[name]
    with pytest.raises(InputError) as error:
        decode(fmt, bits)
    top = 2**fmt.width - 1
    assert (
        str(error.value) == f"expected an integer from 0 to {top} for an encoding of {name}, but got {bits}"
    )


def test_a_negative_zero_is_rounded_to_one() -> None:
    spec = resolve("exact@k=1,a_format=fp32,b_format=fp32,operand_rounding=RNA-E8M10")
    graph, root = circuit(spec, 1)
    w = Witness((0x80000000,), (0x3F800000,), 0x80000000)
    assert oracle_result(spec, w) == Concrete(graph, [root], singly=0)(w.inputs())[0] == 0x80000000


@pytest.mark.parametrize(
    ("fmt", "text", "word"),
    [
        ("fp32", "0.99999994", 0x3F7FFFFF), ("fp32", "-0.99999994", 0xBF7FFFFF), ("fp32", "1.5", 0x3FC00000),
        ("fp16", "0.9995", 0x3BFF), ("fp64", "0.10000000000000001", 0x3FB999999999999A),
        ("fp32", "0x3f7fffff", 0x3F7FFFFF), ("fp32", "inf", 0x7F800000),
    ],
)  # fmt: skip
def test_a_printed_result_is_the_nearest_number(fmt: str, text: str, word: int) -> None:
    assert parse_printed(FORMATS[fmt], text) == word


@pytest.mark.parametrize(
    "text", ["0.9999", "0.1", "1000.0001", "1e60", "0.999999941234", "1.00000001e-60", "nothing", "1/3"]
)
def test_too_few_decimals_and_no_number_at_all_are_refused(text: str) -> None:
    """Also decimals that no number is printed with."""
    with pytest.raises(ValueTextError):
        parse_printed(FORMATS["fp32"], text)
