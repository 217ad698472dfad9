"""Answers that papers print, from the catalogued units and from designs that the papers describe."""

from __future__ import annotations

import numpy as np
import pytest

from golden.evaluation import dot
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import format_value, parse_value

FP16 = {
    "volta": ["m8n8k4.f32.f16.f16.f32"],
    "turing": ["m16n8k8.f32.f16.f16.f32"],
    **{arch: ["m16n8k8.f32.f16.f16.f32", "m16n8k16.f32.f16.f16.f32"]
       for arch in ("ampere", "ada", "hopper", "blackwell")},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("sequential@products=4,summation=pairwise,c_position=last,product_rounding=RNE-FP32", "0"),
        ("sequential@products=1,k=4,a_format=fp32,b_format=fp32", "-0.875"),
        ("sequential@products=1,k=4,a_format=fp64,b_format=fp64,c_format=fp64,d_format=fp64", "-0.875"),
        ("tfdpa@products=4,fraction_bits=exact,rounding=RNE", "-0.875"),
        ("tfdpa@a_format=e5m2,b_format=e5m2,products=16,fraction_bits=13,conversion=RZ-E8M13", "0"),
        ("tfdpa@a_format=e5m2,b_format=e5m2,products=32,fraction_bits=25,zero_exponent=-133", "-0.75"),
    ],
)
def test_xie_table_8_as_designs(name: str, answer: str) -> None:
    """XIE Table 8: its caption for FP64 and FP32, CDNA1, FP8 on Hopper, FP8 on Blackwell."""
    assert dot(name, ["-2^13", "-0.5", "-0.25", "-0.125"], ["2^10", "1", "1", "1"], "2^23") == answer


@pytest.mark.parametrize(
    ("arch", "answer"),
    [("volta", "0"), ("turing", "0"), ("ampere", "0"), ("ada", "0"), ("hopper", "0.001953125"),
     ("blackwell", "0.001953125")],
)  # fmt: skip
def test_hawkeye_introduction(arch: str, answer: str) -> None:
    """HAWKEYE §1: [65504 1 -65504 1] · [1 .001 1 .001].

    The paper gives 0 for L40S (ada) and 0.0020 for A100 (ampere).  Under the parameters of XIE Table 4 that
    recorded outputs of both confirm, 0.001953125 is what Hopper and Blackwell give (KHATTAK).
    """
    thousandth = format_value(FORMATS["fp16"], int(np.float16(0.001).view(np.uint16)))
    a, b = ["65504", "1", "-65504", "1"], ["1", thousandth, "1", thousandth]
    for instruction in FP16[arch]:
        assert dot(f"{arch}/mma.{instruction}", a, b) == answer


BF16 = "mma.m16n8k16.f32.bf16.bf16.f32"


def test_hawkeye_sums_beyond_fp32_that_come_back() -> None:
    """HAWKEYE §7.1, Algorithm 10, test 1: 2^127·2 - 2^127·2 + 2^127·1 is 2^127 on Ampere."""
    assert dot(f"ampere/{BF16}", ["2^127"] * 3, ["2", "-2", "1"]) == "2^127"


def test_hawkeye_sums_beyond_fp32_that_stay() -> None:
    """HAWKEYE §7.1, Algorithm 10, test 2: A_1 = A_9 = 2^127, B_1 = 2, B_9 = -2^127 gives Inf.

    +Inf: the first block of eight products has overflowed before the ninth product comes.
    """
    b = ["2", *["0"] * 7, "-2^127"]
    assert dot(f"ampere/{BF16}", ["2^127", *["0"] * 7, "2^127"], b) == "inf"


@pytest.mark.parametrize(
    ("arch", "power", "answer"),
    [
        ("ampere", "-2^-82", "2^-149"),
        ("ampere", "-2^-83", "2^-148"),
        ("hopper", "-2^-84", "2^-149"),
        ("hopper", "-2^-85", "2^-148"),
    ],
)
def test_hawkeye_smallest_contribution(arch: str, power: str, answer: str) -> None:
    """HAWKEYE §7.2: 2^-74·2^-74 + 2^-74·B_2 on Ampere is 2^-149 for B_2 = -2^-82, 2^-148 below.

    The Hopper rows follow from the -133 that the section states beside Ampere's -132, with one more bit.
    """
    assert dot(f"{arch}/{BF16}", ["2^-74", "2^-74"], ["2^-74", power]) == answer


@pytest.mark.parametrize("exponent", [-132, -133])
def test_hawkeye_minimal_maximal_exponent(exponent: int) -> None:
    """HAWKEYE §7.2, Algorithm 11: the largest e with 2^e - 2^(e-F) = 2^e is e_zero - 1.

    Down to e = e_zero the small product stands in the last bit kept; below, the zero products' exponent is
    the largest and cuts it.  (The algorithm as printed omits the minus.)
    """
    arch, fraction_bits = {-132: ("ampere", 24), -133: ("hopper", 25)}[exponent]
    found = []
    for e in range(-120, -141, -1):
        low = e - fraction_bits
        a = [f"2^{-(-e // 2)}", f"-2^{-(-low // 2)}"]
        b = [f"2^{e // 2}", f"2^{low // 2}"]
        if dot(f"{arch}/{BF16}", a, b) == f"2^{e}":
            found.append(e)
    assert found[0] + 1 == exponent


@pytest.mark.parametrize("arch", ["volta", "turing", "ampere"])
def test_valpey_table_3(arch: str) -> None:
    """VALPEY Table 3: 2 + (-2^-40) is 2 on tensor cores; rounding the exact sum gives 2 - 2^-23."""
    assert dot(f"{arch}/mma.{FP16[arch][0]}", ["2"], ["1"], "-2^-40") == "2"
    assert dot("valpey@terms=5", ["2"], ["1"], "-2^-40") == "2"
    proper = dot("tfdpa@products=4,fraction_bits=exact", ["2"], ["1"], "-2^-40")
    assert proper == format_value(FORMATS["fp32"], 0x3FFFFFFF)


@pytest.mark.parametrize(
    ("zero_exponent", "answer"),
    [
        ("none", "8388609*2^-149"),
        ("-132", "8388609*2^-149"),
        ("-125", "8388609*2^-149"),
        ("-124", "2^-126"),
        ("-102", "2^-126"),
        ("-101", "0"),
        ("own", "0"),
    ],
)
def test_zero_product_takes_part_in_the_largest_exponent(zero_exponent: str, answer: str) -> None:
    """MMA-Sim 2.1.1 (e_zero): a·b = 0, c = 2^-126·(1 + 2^-23), F = 24; the answer shows a zero's exponent."""
    name = f"ampere/mma.m16n8k8.f32.f16.f16.f32@zero_exponent={zero_exponent}"
    assert dot(name, ["0"], ["1"], "8388609*2^-149") == answer


HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
NEAR_TWO = "1.9990234375"


def test_accumulator_width() -> None:
    """HAWKEYE, published C++ simulator: its 32-bit sum overflows here, and a 7-carry-bit design does not.

    The instruction takes 16 products: the first 16 of K = 32 are a call of their own.
    """
    first = dot(HOPPER, [NEAR_TWO], ["1"])
    assert first == NEAR_TWO

    def second(suffix: str) -> str:
        return dot(HOPPER + suffix, [NEAR_TWO] * 16, [NEAR_TWO] * 16, first)

    exact = second("")
    assert exact == format_value(FORMATS["fp32"], int(np.float32(65.93653869628906).view(np.uint32)))
    assert second("@carry_bits=7") == second("@carry_bits=6") == exact
    # 5 carry bits, as in 32 bits with F = 25: the sum wraps at 64, so 128 is missing.
    wrapped = parse_value(FORMATS["fp32"], second("@carry_bits=5"))
    value = float(np.array(wrapped, np.uint32).view(np.float32))
    assert value == pytest.approx(65.93653869628906 - 128, abs=2**-17)
    assert round(value, 2) == -62.06
