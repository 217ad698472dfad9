"""A unit that a compiler composes of others: fp8 on Hopper's fp16 unit."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from oracle.evaluation import FP16, FP32, NAN32, evaluate, ieee, tfdpa
from tcformal.design.spec import Operands
from tcformal.design.unit import Emulation, UnitSpec
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.oracle.exact import dot, unit_dot
from tcformal.oracle.values import decode, format_value, parse_value

SEED = 20264
E5M2, E4M3 = FORMATS["e5m2"], FORMATS["e4m3"]
K = 32
PARTS = tuple(tuple(k for k in range(K) if k % 4 in pair) for pair in ((0, 1), (2, 3)))
FADD = ieee(summation="sequential", c_position="first", accumulator="RNE-FP32", nan_word=NAN32)
HADD = ieee(
    summation="sequential", c_position="first", accumulator="RNE-FP16", conversion="RNE-FP16", nan_word=0x7FFF
)


def unit(fmt: Format = E5M2, d: Format = FP32, parts: tuple[tuple[int, ...], ...] = PARTS) -> UnitSpec:
    design = tfdpa(16, 25, -133) if d is FP32 else tfdpa(16, 25, -21, "RNE-FP16")
    return UnitSpec(
        name="toy/fp8",
        m=1,
        n=1,
        k=K,
        operands=Operands(a=fmt, b=fmt, c=d, d=d),
        design=design,
        emulation=Emulation(converted=FP16, parts=parts, addition=FADD if d is FP32 else HADD),
    )


def run(spec: UnitSpec, a: dict[int, str], b: dict[int, str], c: str = "0") -> str:
    """Elements that are not named are zeros in a and ones in b."""
    words_a = [parse_value(spec.a_format, a.get(k, "0")) for k in range(K)]
    words_b = [parse_value(spec.b_format, b.get(k, "1")) for k in range(K)]
    return format_value(spec.d_format, unit_dot(spec, words_a, words_b, parse_value(spec.c_format, c)))


def test_the_parts_are_taken_in_order() -> None:
    """2^24 + 1 loses the 1 in a part of its own, and keeps it beside -2^24."""
    a = {0: "2^12", 1: "1", 2: "-2^12"}
    b = {0: "2^12", 2: "2^12"}
    assert run(unit(), a, b, "0.5") == "0.5"
    assert run(unit(parts=PARTS[::-1]), a, b, "0.5") == "1.5"
    texts_a, texts_b = [a.get(k, "0") for k in range(K)], [b.get(k, "1") for k in range(K)]
    assert evaluate(tfdpa(32, 25, -133), E5M2, texts_a, texts_b, "0.5") == "1.5"


def test_c_is_added_last_and_to_nearest() -> None:
    """A truncating sum would give 2^24 + 2, as would one that took c first."""
    assert run(unit(), {0: "1"}, {}, "16777218") == "16777220"
    assert run(unit(), {}, {}, "-2^-149") == "-2^-149"
    assert run(unit(), {0: "-0"}, {}, "-0") == "0"


def test_the_result_is_the_inner_result_plus_c() -> None:
    rng = random.Random(SEED)
    for fmt in (E5M2, E4M3):
        spec = unit(fmt)
        for _ in range(40):
            a, b = ([rng.randrange(0x10, 0x50) + 0x80 * rng.randrange(2) for _ in range(K)] for _ in range(2))
            c = np.float32(rng.uniform(-300, 300))
            halves = [
                [int(np.float16(float(decode(fmt, word).number)).view(np.uint16)) for word in side]
                for side in (a, b)
            ]
            r = 0
            for part in PARTS:
                part_a, part_b = ([side[k] for k in part] for side in halves)
                r = dot(spec.design, FP16, FP16, FP32, FP32, part_a, part_b, r)
            expected = int((np.uint32(r).view(np.float32) + c).view(np.uint32))
            assert unit_dot(spec, a, b, int(c.view(np.uint32))) == expected


@pytest.mark.parametrize(
    ("a", "c", "answer"),
    [
        ({3: "inf"}, "0", "inf"),
        ({3: "-inf"}, "inf", "nan(0x7fffffff)"),
        ({0: "inf", 2: "-inf"}, "0", "nan(0x7fffffff)"),
        ({31: "nan"}, "0", "nan(0x7fffffff)"),
        ({}, "nan(0x7f800001)", "nan(0x7fffffff)"),
        ({0: "2^-16"}, "0", "2^-16"),
    ],
)
def test_specials(a: dict[int, str], c: str, answer: str) -> None:
    assert run(unit(), a, {}, c) == answer


def test_the_addition_decides_about_its_own_rounding_zeros_and_subnormals() -> None:
    spec = unit()
    assert spec.emulation is not None
    addition = replace(
        FADD, conversion="RZ-FP32", c_subnormals="signed_zero", zero_sign="positive", nan_word=0x7FC00000
    )
    other = replace(spec, emulation=replace(spec.emulation, addition=addition))
    assert run(other, {0: "1"}, {}, "16777218") == "16777218"
    assert run(other, {}, {}, "-2^-149") == "0"
    assert run(other, {0: "nan"}, {}) == "nan(0x7fc00000)"


def test_fp16_output_adds_in_fp16() -> None:
    assert run(unit(d=FP16), {0: "1"}, {}, "2048") == "2048"
    assert run(unit(d=FP16), {0: "3"}, {}, "2048") == "2052"
    assert run(unit(d=FP16), {0: "2^15"}, {}, "32768") == "inf"
    narrow = replace(unit(), operands=Operands(a=E5M2, b=E5M2, c=FP16, d=FP32))
    assert run(narrow, {0: "2^12"}, {0: "2^12"}, "-2^-24") == "16777216"


def test_unit_dot_without_emulation_is_dot() -> None:
    spec = replace(unit(), emulation=None)
    ones = [parse_value(E5M2, "1")] * 48
    assert format_value(FP32, unit_dot(spec, ones, ones, 0)) == "48"


def test_unit_dot_rejects() -> None:
    zeros = [0] * 16
    with pytest.raises(InputError, match=r"^expected 32 elements of a and b for toy/fp8, but got 16 and 16$"):
        unit_dot(unit(), zeros, zeros, 0)
    with pytest.raises(InputError, match=r"^expected no scales for the emulated toy/fp8, but got some$"):
        unit_dot(unit(), [0] * K, [0] * K, 0, [127], [127])
