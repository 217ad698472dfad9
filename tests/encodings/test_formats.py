"""Formats: their properties against known numbers and ml_dtypes, the catalogue, and what is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tcformal.encodings.catalog import ALIASES, FORMATS, format_named
from tcformal.encodings.spec import Format, Sign, Specials
from tcformal.errors import InputError, UnknownNameError
from tcformal.oracle.numerals import power_of_two
from tcformal.oracle.values import NumberClass, decode

#: name -> width, precision, e_min, e_max, storage bits, largest finite (encoding).
KNOWN = {
    "fp64": (64, 53, -1022, 1023, 64, 0x7FEF_FFFF_FFFF_FFFF),
    "fp32": (32, 24, -126, 127, 32, 0x7F7F_FFFF),
    "fp16": (16, 11, -14, 15, 16, 0x7BFF),
    "bf16": (16, 8, -126, 127, 16, 0x7F7F),
    "tf32": (32, 11, -126, 127, 32, 0x7F7F_E000),
    "e5m2": (8, 3, -14, 15, 8, 0x7B),
    "e4m3": (8, 4, -6, 8, 8, 0x7E),
    "e5m2fnuz": (8, 3, -15, 15, 8, 0x7F),
    "e4m3fnuz": (8, 4, -7, 7, 8, 0x7F),
    "e3m2": (6, 3, -2, 4, 8, 0x1F),
    "e2m3": (6, 4, 0, 2, 8, 0x1F),
    "e2m1": (4, 2, 0, 2, 8, 0x7),
    "e8m0": (8, 1, -127, 127, 8, 0xFE),
    "ue4m3": (8, 4, -6, 8, 8, 0x7E),
    "int4": (4, 4, 3, 2, 8, 7),
    "uint4": (4, 5, 4, 3, 8, 15),
    "int8": (8, 8, 7, 6, 8, 127),
    "uint8": (8, 9, 8, 7, 8, 255),
    "int16": (16, 16, 15, 14, 16, 0x7FFF),
    "uint16": (16, 17, 16, 15, 16, 0xFFFF),
    "int32": (32, 32, 31, 30, 32, 0x7FFF_FFFF),
    "uint32": (32, 33, 32, 31, 32, 0xFFFF_FFFF),
}

#: The largest finite values as the specifications print them.
LARGEST = {
    "fp16": 65504, "e5m2": 57344, "e4m3": 448, "e5m2fnuz": 57344, "e4m3fnuz": 240, "e3m2": 28,
    "e2m3": Fraction(15, 2), "e2m1": 6, "e8m0": 2**127, "ue4m3": 448,
}  # fmt: skip

DTYPES: dict[str, Any] = {
    "fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn, "e8m0": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip


def test_every_format_is_known() -> None:
    assert list(FORMATS) == list(KNOWN)
    assert {name: fmt.name for name, fmt in FORMATS.items()} == {name: name for name in FORMATS}
    assert [name for name, fmt in FORMATS.items() if not fmt.source] == []


@pytest.mark.parametrize("name", KNOWN)
def test_properties(name: str) -> None:
    f = FORMATS[name]
    assert (f.width, f.precision, f.e_min, f.e_max, f.storage_bits, f.largest) == KNOWN[name]
    assert str(f) == name


@pytest.mark.parametrize("name", LARGEST)
def test_largest_value(name: str) -> None:
    assert decode(FORMATS[name], FORMATS[name].largest).number == LARGEST[name]


@pytest.mark.parametrize("name", KNOWN)
def test_largest_is_the_largest_of_all(name: str) -> None:
    """No encoding above it without a sign is finite; e_max is its exponent, e_min the smallest one's."""
    f = FORMATS[name]
    value = decode(f, f.largest)
    assert (value.kind, value.sign, value.exponent) == (
        NumberClass.FINITE,
        0,
        f.e_min if f.integer else f.e_max,
    )
    step = 1 << f.ignored_low_bits
    above = range(
        f.largest + step, min(1 << (f.width - (f.sign is not Sign.ABSENT)), f.largest + 100 * step), step
    )
    assert [x for x in above if decode(f, x).kind is NumberClass.FINITE] == []
    assert decode(f, 0).exponent == f.e_min


@pytest.mark.parametrize("name", DTYPES)
def test_properties_agree_with_ml_dtypes(name: str) -> None:
    finfo: Any = ml_dtypes.finfo
    f, info = FORMATS[name], finfo(DTYPES[name])
    assert f.width == info.bits
    assert f.precision == info.nmant + 1
    assert f.exponent_bits == info.iexp
    assert decode(f, f.largest).number == Fraction(float(info.max))
    assert power_of_two(f.e_min) == Fraction(float(info.smallest_normal))
    if f.has_zero:
        assert decode(f, 1).number == Fraction(float(info.smallest_subnormal))
        assert f.e_min == info.minexp


@pytest.mark.parametrize("name", ["fp64", "fp32", "fp16", "bf16", "e5m2"])
def test_infinity(name: str) -> None:
    f = FORMATS[name]
    words = np.array([f.infinity], f"u{f.storage_bits // 8}")
    assert words.view(DTYPES[name]).astype(np.float64)[0] == np.inf


def test_infinity_in_a_word_with_ignored_bits() -> None:
    assert FORMATS["tf32"].infinity == 0x7F800000


@pytest.mark.parametrize("name", [name for name, f in FORMATS.items() if f.specials is not Specials.IEEE])
def test_infinity_rejects(name: str) -> None:
    with pytest.raises(InputError) as error:
        _ = FORMATS[name].infinity
    assert str(error.value) == f"expected a format with Inf, but got {name}"


def toy(**changes: Any) -> Format:
    facts: dict[str, Any] = {
        "name": "toy",
        "exponent_bits": 3,
        "fraction_bits": 2,
        "bias": 3,
        "specials": Specials.NONE,
    }
    return Format(**(facts | changes))


def test_sign_and_specials_change_the_width_and_the_ends() -> None:
    assert toy().width == 6
    assert toy(sign=Sign.ABSENT).width == 5
    assert toy(sign=Sign.IGNORED).width == 6
    assert toy(ignored_low_bits=4).width == 10
    assert {s.name: (toy(specials=s).e_max, toy(specials=s).largest) for s in Specials} == {
        "IEEE": (3, 0b11011), "ALL_ONES_NAN": (4, 0b11110), "NEGATIVE_ZERO_NAN": (4, 0b11111),
        "NONE": (4, 0b11111),
    }  # fmt: skip
    assert toy(specials=Specials.ALL_ONES_NAN, fraction_bits=0).e_max == 3
    assert toy(has_zero=False).e_min == -3
    assert toy().e_min == -2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"exponent_bits": 0}, "expected at least 1 exponent bit, or an integer format, but got 0 for toy"),
        ({"exponent_bits": 16}, "expected an integer from 0 to 15 for exponent_bits, but got 16"),
        ({"exponent_bits": True}, "expected an integer for exponent_bits, but got True"),
        ({"fraction_bits": -1}, "expected an integer from 0 to 112 for fraction_bits, but got -1"),
        ({"fraction_bits": 113}, "expected an integer from 0 to 112 for fraction_bits, but got 113"),
        ({"fraction_bits": 2.0}, "expected an integer for fraction_bits, but got 2.0"),
        (
            {"specials": Specials.IEEE, "fraction_bits": 0},
            "expected at least 1 fraction bit for a format with Inf and NaN, but got 0",
        ),
    ],
)
def test_format_rejects(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        toy(**changes)
    assert str(error.value) == sentence


def test_formats_do_not_change() -> None:
    f: Any = FORMATS["fp16"]
    with pytest.raises(FrozenInstanceError):
        f.bias = 3
    positional: Any = Format
    with pytest.raises(TypeError):
        positional("toy", 3, 2, 3, Specials.NONE)


def test_aliases_name_formats() -> None:
    assert ALIASES.keys().isdisjoint(FORMATS)
    assert {format_named(alias).name for alias in ALIASES} <= FORMATS.keys()
    assert format_named("bfloat16") is FORMATS["bf16"]
    assert format_named("binary32") is FORMATS["fp32"]
    assert format_named("ue8m0") is FORMATS["e8m0"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fp31", "expected a known format, but got 'fp31': the closest are fp32, fp16, tf32"),
        ("e4n4", "expected a known format, but got 'e4n4': the closest are "),
        ("posit", "expected a known format, but got 'posit': expected one of fp64, fp32, fp16, "),
    ],
)
def test_format_named_rejects(name: str, sentence: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        format_named(name)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ignored_low_bits": -1}, "expected an integer from 0 to 64 for ignored_low_bits, but got -1"),
        ({"bias": 1.5}, "expected an integer for bias, but got 1.5"),
        ({"fraction_bits": 60}, "expected an encoding of at most 64 bits, but got 66 for odd"),
    ],
)
def test_facts_that_no_encoding_has_are_rejected(change: dict[str, Any], sentence: str) -> None:
    facts: dict[str, Any] = {"exponent_bits": 5, "fraction_bits": 2, "bias": 15} | change
    with pytest.raises(InputError) as caught:
        Format(name="odd", specials=Specials.IEEE, **facts)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_one_is_the_encoding_of_1(name: str) -> None:
    assert decode(FORMATS[name], FORMATS[name].one).number == 1
