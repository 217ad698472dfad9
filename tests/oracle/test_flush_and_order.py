"""Subnormals made zeros, limits of products, orders of products, round to odd, and whose NaN a result is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracle.evaluation import (
    BF16,
    FMA,
    FP16,
    FP32,
    ROUNDED,
    as_float,
    as_word,
    evaluate,
    fma32,
    ftz_add_mul,
    ieee,
    tfdpa,
    x86_chain,
)
from tcformal.design.spec import Design
from tcformal.encodings.catalog import FORMATS
from tcformal.encodings.spec import Format
from tcformal.oracle.exact import dot, quiet_nan
from tcformal.oracle.values import parse_value

SEED = 20262
NAN = "nan(0x7fc00000)"


# --------------------------------------------------------------------- subnormals
@pytest.mark.parametrize(
    ("rule", "answer"), [("kept", "-2^-24"), ("positive_zero", "0"), ("signed_zero", "-0")]
)
def test_subnormal_operands(rule: str, answer: str) -> None:
    design = ftz_add_mul(1, operand_subnormals=rule)
    assert evaluate(design, FP16, ["-2^-24"], ["1"], "-0") == answer
    assert evaluate(design, FP16, ["1"], ["-2^-24"], "-0") == answer
    assert evaluate(design, FP16, ["-2^-14"], ["1"], "-0") == "-2^-14"
    assert evaluate(design, FP16, ["-0"], ["1"], "-0") == "-0"


def test_a_flushed_operand_is_a_zero_for_an_infinity() -> None:
    assert evaluate(ftz_add_mul(1), FP16, ["inf"], ["2^-24"]) == NAN
    assert evaluate(ftz_add_mul(1, operand_subnormals="kept"), FP16, ["inf"], ["2^-24"]) == "inf"


def test_a_flushed_operand_keeps_its_exponent() -> None:
    """2^-24 * 2^15 has exponent 1 and keeps 2^-23 beside it, no matter that it is zero."""
    for rule in ("positive_zero", "signed_zero"):
        for zero_exponent, answer in (("own", "0"), ("none", "2^-24")):
            design = tfdpa(1, 24, zero_exponent, operand_subnormals=rule)
            assert evaluate(design, FP16, ["2^-24"], ["2^15"], "2^-24") == answer
            assert evaluate(design, FP16, ["2^-24"], ["2^15"], "2^-23") == "2^-23"


@pytest.mark.parametrize(
    ("rule", "answer"), [("kept", "-2^-149"), ("positive_zero", "0"), ("signed_zero", "-0")]
)
def test_subnormal_c(rule: str, answer: str) -> None:
    design = ftz_add_mul(1, c_subnormals=rule, result_subnormals="kept")
    assert evaluate(design, BF16, ["-0"], ["1"], "-2^-149") == answer
    assert evaluate(design, BF16, ["-0"], ["1"], "-2^-126") == "-2^-126"


def test_a_subnormal_result_is_flushed_as_the_next_blocks_c() -> None:
    a, b = ["2^-70", "0"], ["2^-70", "0"]
    assert evaluate(ieee(), BF16, a, b) == "2^-140"
    assert evaluate(ieee(c_subnormals="signed_zero"), BF16, a, b) == "0"
    assert evaluate(ieee(c_subnormals="signed_zero"), BF16, a[:1], b[:1]) == "2^-140"
    assert evaluate(ieee(2, c_subnormals="signed_zero"), BF16, a, b) == "2^-140"


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    "rest",
    [
        pytest.param({"product_rounding": "RNE-FP16"}, id="product"),
        pytest.param({"c_position": "last", "accumulator": "RNE-FP16"}, id="partial-sum"),
        pytest.param({"conversion": "RNE-FP16", "nan_word": 0x7E00}, id="result"),
    ],
)
def test_subnormal_results_of_every_rounding(rest: dict[str, object], sign: str) -> None:
    """2^-20 is subnormal where it is rounded to FP16; a zero's sign is kept under `ieee` and `sum`."""
    out = FP16 if "conversion" in rest else FP32
    operands = (BF16, [f"{sign}2^-10"], ["2^-10"], f"{sign}0", out)
    assert evaluate(ieee(1, **rest), *operands) == f"{sign}2^-20"
    flush = {"result_subnormals": "signed_zero"} | rest
    assert evaluate(ieee(1, **flush), *operands) == f"{sign}0"
    assert evaluate(ieee(1, **flush, zero_sign="positive"), *operands) == "0"
    summed = evaluate(ieee(1, **flush, zero_sign="sum"), *operands)
    assert summed == (f"{sign}0" if "conversion" in rest else "0")  # what follows is a sum of zeros


def test_results_are_flushed_after_rounding() -> None:
    """2^-126 - 2^-151 rounds to 2^-126, a normal number."""
    design = ieee(result_subnormals="signed_zero")
    assert evaluate(design, BF16, ["-2^-75"], ["2^-76"], "2^-126") == "2^-126"
    assert evaluate(design, BF16, ["-2^-75"], ["2^-74"], "2^-126") == "0"


def test_each_conversion_has_its_own_least_exponent() -> None:
    """2^-20 is subnormal for an FP16 product and no longer for an FP32 sum."""
    design = ieee(1, product_rounding="RNE-FP16", result_subnormals="signed_zero")
    assert evaluate(design, BF16, ["2^-10"], ["2^-10"]) == "0"
    assert evaluate(ieee(1, result_subnormals="signed_zero"), BF16, ["2^-10"], ["2^-10"]) == "2^-20"


@pytest.mark.parametrize(
    ("limit", "a", "answer"),
    [
        (4, ["16", "0"], "inf"),
        (4, ["-16", "0"], "-inf"),
        (4, ["15.9921875", "0"], "15.9921875"),
        (4, ["16", "-16"], NAN),
        (4, ["8", "8"], "16"),
        (None, ["16", "-16"], "0"),
    ],
)
def test_limit_of_products(limit: int | None, a: list[str], answer: str) -> None:
    for rest in ({}, {"product_rounding": "RNE-FP32"}):
        assert evaluate(ieee(2, product_limit=limit, **rest), FP16, a, ["1", "1"]) == answer


def test_the_limit_holds_for_the_exact_product() -> None:
    """1023/512 * 1023/128 is below 16 and rounds to it."""
    design = ieee(1, product_limit=4, product_rounding="RNE-E8M4")
    assert evaluate(design, FP16, ["1023*2^-9"], ["1023*2^-7"]) == "16"


# --------------------------------------------------------------------- signs of zero
@pytest.mark.parametrize(
    ("zero_sign", "answers"), [("positive", "0 0 0 0"), ("ieee", "-0 0 -0 0"), ("sum", "0 0 -0 0")]
)
def test_signs_of_zero_results(zero_sign: str, answers: str) -> None:
    design = ieee(zero_sign=zero_sign)
    zeros = [("-0", "-0"), ("1", "-1"), ("-2^-100", "-0"), ("2^-100", "0")]
    factors = ["1", "1", "2^-100", "2^-100"]
    found = [evaluate(design, FP32, [a], [b], c) for (a, c), b in zip(zeros, factors, strict=True)]
    assert " ".join(found) == answers


# --------------------------------------------------------------------- orders
@pytest.mark.parametrize("length", [2, 4, 6])
def test_odd_first_takes_each_pair_in_reverse(length: int) -> None:
    design = ieee(2, summation="sequential", c_position="first", accumulator="RNE-FP32", order="odd_first")
    whole = ieee(
        length, summation="sequential", c_position="first", accumulator="RNE-FP32", order="odd_first"
    )
    rng = random.Random(SEED)
    differs = False
    for _ in range(100):
        a, b, (c,) = ([as_word(rng.uniform(-4, 4)) for _ in range(n)] for n in (length, length, 1))
        expected = c
        for k in range(length):
            expected = fma32(a[k ^ 1], b[k ^ 1], expected)
        assert dot(design, FP32, FP32, FP32, FP32, a, b, c) == expected
        assert dot(whole, FP32, FP32, FP32, FP32, a, b, c) == expected
        differs |= dot(FMA, FP32, FP32, FP32, FP32, a, b, c) != expected
    assert differs


def test_two_chains_are_two_chains_and_two_sums() -> None:
    design = ieee(6, summation="two_chains", c_position="last", accumulator="RNE-FP32")
    rng = random.Random(SEED)
    for _ in range(200):
        a, b, (c,) = ([as_word(rng.uniform(-4, 4)) for _ in range(n)] for n in (6, 6, 1))
        chains = [0, 0]
        for k in range(6):
            chains[k % 2] = fma32(a[k], b[k], chains[k % 2])
        one = as_word(1)
        expected = fma32(fma32(chains[0], one, chains[1]), one, c)
        assert dot(design, FP32, FP32, FP32, FP32, a, b, c) == expected


def test_two_chains_start_from_plus_zero_and_end_with_the_conversion() -> None:
    design = ieee(2, summation="two_chains", c_position="last", accumulator="RZ-E8M4")
    assert evaluate(design, FP32, ["-0", "-0"], ["1", "1"], "-0") == "0"
    assert evaluate(design, FP32, ["16", "0.75"], ["1", "1"], "0.25") == "16.25"
    assert evaluate(design, FP32, ["-0"], ["1"], "-0") == "0"


# --------------------------------------------------------------------- Arm: round to odd
ARM = {
    "summation": "pairwise",
    "c_position": "last",
    "product_rounding": "RO-FP32",
    "accumulator": "RO-FP32",
    "conversion": "RO-FP32",
    "operand_subnormals": "signed_zero",
    "c_subnormals": "signed_zero",
    "result_subnormals": "signed_zero",
    "overflow": "infinity",
}


@pytest.mark.parametrize(
    ("a", "b", "c", "answer"),
    [
        (["1", "2^-30"], ["1", "1"], "0", "8388609*2^-23"),
        (["1", "-2^-30"], ["1", "1"], "0", "16777215*2^-24"),
        (["1", "2^-30"], ["1", "1"], "-1", "2^-23"),
        (["1", "2^-30"], ["1", "1"], "2^-30", "8388609*2^-23"),
        (["8388608", "1"], ["2", "1"], "1", "8388609*2"),
        (["2^-65", "0"], ["2^-65", "0"], "0", "0"),
        (["2^-65", "0"], ["-2^-65", "-0"], "-0", "-0"),
        (["2^-127", "0"], ["2^10", "0"], "0", "0"),
        (["2^127", "0"], ["2", "0"], "0", "inf"),
        (["2^127", "2^127"], ["-1", "-1"], "0", "-inf"),
    ],
)
def test_round_to_odd_and_flush(a: list[str], b: list[str], c: str, answer: str) -> None:
    expected = str(8388609 * 2) if answer == "8388609*2" else answer
    assert evaluate(ieee(2, **ARM), BF16, a, b, c) == expected


def test_extended_bf16_rounds_the_pair_once() -> None:
    design = ieee(2, c_position="last", accumulator="RNE-FP32")
    assert evaluate(design, BF16, ["1", "2^-24"], ["1", "1"], "-1") == "0"
    assert evaluate(design, BF16, ["1", "1.5"], ["1", "2^-24"], "-1") == "2^-23"


# --------------------------------------------------------------------- whose NaN
def words(fmt: Format, *texts: str) -> list[int]:
    return [parse_value(fmt, text) for text in texts]


def x86(a: list[str], b: list[str], c: str, design: Design | None = None) -> int:
    formats = (BF16, BF16, FP32, FP32)
    return dot(design or x86_chain(), *formats, words(BF16, *a), words(BF16, *b), parse_value(FP32, c))


def test_priority_of_nans() -> None:
    """src1.lo, src2.lo, src1.hi, src2.hi, destination; signalling ones made quiet, signs kept."""
    nans = ["0x7f81", "0xffa2", "0xff83", "0x7fc4", "0xff800005"]
    results = [0x7FC10000, 0xFFE20000, 0xFFC30000, 0x7FC40000, 0xFFC00005]
    for first, result in enumerate(results):
        a_lo, b_lo, a_hi, b_hi, c = ["1"] * first + nans[first:]
        assert x86([a_lo, a_hi], [b_lo, b_hi], c) == result


@pytest.mark.parametrize(
    ("a", "b", "c", "answer"),
    [
        (["1", "inf"], ["1", "0"], "1", 0xFFC00000),
        (["1", "inf"], ["1", "0x0001"], "1", 0xFFC00000),  # a subnormal is a zero
        (["1", "inf"], ["1", "1"], "-inf", 0xFFC00000),
        (["inf", "-inf"], ["1", "1"], "1", 0xFFC00000),
        (["1", "inf"], ["0x7f81", "0"], "1", 0x7FC10000),
        (["inf", "1"], ["0", "0x7f81"], "1", 0x7FC10000),
        (["1", "inf"], ["1", "0"], "nan(0x7f800009)", 0x7FC00009),
        (["inf", "1"], ["0", "1"], "nan(0x7f800009)", 0x7FC00009),
    ],
)
def test_invalid_operations_and_nans(a: list[str], b: list[str], c: str, answer: int) -> None:
    assert x86(a, b, c) == answer


def test_the_nan_of_one_block_is_an_operand_of_the_next() -> None:
    plain, nan = ["1", "1"], ["1", "0x7f81"]
    assert x86(nan + plain, plain * 2, "nan(0x7f800009)") == 0x7FC10000
    assert x86(plain * 2, plain * 2, "nan(0x7f800009)") == 0x7FC00009
    assert x86(["1", "inf", *plain], ["1", "0", *plain], "1") == 0xFFC00000
    assert x86(["1", "inf", *nan], ["1", "0", *plain], "1") == 0x7FC10000
    assert x86([*nan, "1", "0xff82"], plain * 2, "1") == 0xFFC20000
    ones, c = words(BF16, *plain * 2), parse_value(BF16, "nan(0xff81)")
    assert dot(x86_chain(), BF16, BF16, BF16, FP32, ones, ones, c) == 0xFFC10000


def test_ascending_order_prefers_the_last_pair() -> None:
    assert x86(["0x7f81", "0x7f82"], ["1", "1"], "1", x86_chain(order="ascending")) == 0x7FC20000
    assert x86(["0x7f81", "0x7f82"], ["1", "1"], "1", x86_chain()) == 0x7FC10000
    assert x86(["0x7f81", "0x7f82"], ["1", "1"], "1", x86_chain(nan_rule="word")) == 0xFFC00000


@pytest.mark.parametrize(
    ("name", "bits", "target", "word"),
    [
        ("bf16", 0xFF81, "fp32", 0xFFC10000),
        ("fp16", 0x7E01, "fp32", 0x7FC02000),
        ("fp16", 0x7C01, "fp32", 0x7FC02000),
        ("tf32", 0x7F803FFF, "fp32", 0x7FC02000),
        ("e5m2", 0xFD, "fp16", 0xFF00),
        ("e4m3", 0xFF, "fp16", 0xFF80),
        ("e4m3fnuz", 0x80, "fp32", 0xFFC00000),
        ("e8m0", 0xFF, "fp32", 0x7FC00000),
        ("ue4m3", 0xFF, "fp16", 0x7F80),
        ("fp64", 0xFFF0000000000001, "fp32", 0xFFC00000),
        ("fp32", 0x7FC00009, "fp32", 0x7FC00009),
        ("fp32", 0x7F802001, "tf32", 0x7FC02000),
    ],
)
def test_a_quiet_nan_keeps_sign_and_fraction(name: str, bits: int, target: str, word: int) -> None:
    assert quiet_nan((FORMATS[name], bits), FORMATS[target]) == word


def test_vdpbf16ps_flushes_each_step() -> None:
    """Against two FMAs with zeros in place of subnormals."""
    rng = np.random.default_rng(SEED)
    for _ in range(400):
        a, b = (rng.integers(0x1F00, 0x2200, 2) + rng.integers(0, 2, 2) * 0x8000 for _ in range(2))
        c = int(rng.integers(0, 0x01800000)) + int(rng.integers(0, 2)) * 2**31
        expected = flush(c)
        for k in (1, 0):
            expected = flush(fma32(int(a[k]) << 16, int(b[k]) << 16, expected))
        assert dot(x86_chain(), BF16, BF16, FP32, FP32, a.tolist(), b.tolist(), c) == expected


def flush(word: int) -> int:
    return word & 0x80000000 if abs(as_float(word)) < 2**-126 else word


def test_ftz_add_mul_agrees_with_numpy() -> None:
    rng = np.random.default_rng(SEED)
    design = ftz_add_mul(4)
    for _ in range(400):
        a, b = (rng.integers(0x1F00, 0x2200, 4) + rng.integers(0, 2, 4) * 0x8000 for _ in range(2))
        c = flush(int(rng.integers(0, 0x01800000)))
        x, y = ((side.astype(np.uint32) << np.uint32(16)).view(np.float32) for side in (a, b))
        p = [ftz(v) for v in x * y]
        s = ftz(ftz(p[0] + p[1]) + ftz(p[2] + p[3]))
        expected = int(ftz(np.uint32(c).view(np.float32) + s).view(np.uint32))
        assert dot(design, BF16, BF16, FP32, FP32, a.tolist(), b.tolist(), c) == expected


def ftz(value: np.float32) -> np.float32:
    return value * np.float32(0) if abs(value) < np.float32(2**-126) else value


def test_rounded_chains_are_as_before_without_flushing() -> None:
    design = ieee(2, summation="pairwise", c_position="last", order="odd_first", **ROUNDED)
    assert evaluate(design, FP32, ["1", "2"], ["3", "4"], "0.5") == "11.5"
