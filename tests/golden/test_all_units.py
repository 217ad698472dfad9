"""Known answers across vendors: XIE Table 8, special values, recorded fp8, all through the catalogue."""

from __future__ import annotations

import pytest

from golden.evaluation import dot
from tcformal.simulation.matrix_unit import unit

#: XIE Table 8, by unit; the input is Equation 10.
TABLE_8 = {
    "volta/mma.m8n8k4.f32.f16.f16.f32": "0",
    "turing/mma.m16n8k8.f32.f16.f16.f32": "-0.5",
    "ampere/mma.m16n8k4.f32.tf32.tf32.f32": "-0.5",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32": "-0.5",
    "ampere/mma.m16n8k16.f32.f16.f16.f32": "-0.5",
    "ada/mma.m16n8k16.f32.bf16.bf16.f32": "-0.5",
    "ada/mma.m16n8k16.f32.f16.f16.f32": "-0.5",
    "ada/mma.m16n8k32.f32.e5m2.e5m2.f32": "0",
    "hopper/wgmma.m64n64k8.f32.tf32.tf32": "-0.75",
    "hopper/wgmma.m64n8k16.f32.bf16.bf16": "-0.75",
    "hopper/mma.m16n8k16.f32.f16.f16.f32": "-0.75",
    "hopper/wgmma.m64n256k32.f32.e5m2.e5m2": "0",
    "blackwell/tcgen05.m64n8k8.kind::tf32.f32.tf32.tf32": "-0.75",
    "blackwell/tcgen05.m128n64k16.kind::f16.f32.f16.f16": "-0.75",
    "blackwell/tcgen05.m128n256k32.kind::f8f6f4.f32.e5m2.e5m2": "-0.75",
    "rtx-blackwell/mma.m16n8k16.f32.f16.f16.f32": "-0.75",
    "rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f32.e5m2.e5m2.f32": "-0.75",
    "cdna1/v_mfma_f32_32x32x8f16": "-0.875",
    "cdna1/v_mfma_f32_32x32x4bf16": "-0.875",
    "cdna2/v_mfma_f32_32x32x8f16": "0",
    "cdna2/v_mfma_f32_32x32x8bf16_1k": "0",
    "cdna2/v_mfma_f32_32x32x4bf16": "-0.375",
    "cdna3/v_mfma_f32_16x16x8_xf32": "-0.5",
    "cdna3/v_mfma_f32_32x32x8_bf16": "-0.5",
    "cdna3/v_mfma_f32_32x32x8_f16": "-0.5",
    "cdna3/v_mfma_f32_16x16x32_bf8_bf8": "-1",
}


@pytest.mark.parametrize(("name", "expected"), TABLE_8.items())
def test_xie_table_8(name: str, expected: str) -> None:
    """XIE Table 8: one input, ten architectures."""
    u = unit(name)
    b = ["2^10", "1", "1", "1"]
    assert dot(u, ["-2^13", "-0.5", "-0.25", "-0.125"], b, "2^23") == expected


@pytest.mark.parametrize("name", ["cdna1/v_mfma_f32_16x16x4f32", "cdna3/v_mfma_f64_16x16x4_f64"])
def test_fma_chains_are_exact_there(name: str) -> None:
    """XIE Table 8, caption: fp64 and fp32 instructions produce -0.875."""
    assert dot(unit(name), ["-2^13", "-0.5", "-0.25", "-0.125"], ["2^10", "1", "1", "1"], "2^23") == "-0.875"


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "nan(0x7fffffff)"),
        ("hopper/mma.m16n8k16.f16.f16.f16.f16", "nan(0x7fff)"),
        ("ada/mma.m16n8k32.f16.e4m3.e4m3.f16", "nan(0x7fff)"),
        ("hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32", "nan(0x7fffffff)"),
    ],
)
def test_nvidia_nan_words(name: str, word: str) -> None:
    """XIE §4.2: every NaN result is one word."""
    u = unit(name)
    assert dot(u, ["nan"], ["1"], "0") == word
    assert dot(u, ["1"], ["1"], "nan") == word


def test_infinities() -> None:
    """XIE §4.2: Inf·0 and infinities of both signs are NaN; else Inf wins."""
    u = unit("ampere/mma.m16n8k8.f32.f16.f16.f32")
    assert dot(u, ["inf"], ["0"], "0") == "nan(0x7fffffff)"
    assert dot(u, ["inf", "-inf"], ["1", "1"], "0") == "nan(0x7fffffff)"
    assert dot(u, ["inf"], ["-1"], "2^100") == "-inf"
    assert dot(u, ["1"], ["1"], "inf") == "inf"


def test_overflow_is_infinite_when_truncating() -> None:
    """HAWKEYE §7.1: beyond the fp32 range the result is Inf, under RZ too; inside the sum it is not."""
    u = unit("ampere/mma.m16n8k8.f32.bf16.bf16.f32")
    assert dot(u, ["2^127"], ["2"], "0") == "inf"
    assert dot(u, ["2^127", "2^127", "2^127"], ["2", "-2", "1"], "0") == "2^127"


def test_nvidia_never_returns_negative_zero() -> None:
    """VALPEY §4.4: all zero outputs are positive; IEEE chains keep the sign."""
    assert dot(unit("volta/mma.m8n8k4.f32.f16.f16.f32"), ["-0"] * 4, ["1"] * 4, "-0") == "0"
    assert dot(unit("cdna1/v_mfma_f32_32x32x1f32"), ["-0"], ["1"], "-0") == "-0"


def test_a_nan_scale_makes_nan() -> None:
    """XIE Algorithm 8; MMA-Sim 2.1.1: scale NaN -> NaN, of zero products too; ue4m3 ignores its sign bit."""
    u = unit("rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
    assert dot(u, ["0"], ["0"], "1", (["nan"], ["1"])) == "nan(0x7fffffff)"
    assert dot(u, ["3"], ["1.5"], "1", (["2^4"], ["2^-1"])) == "37"
    v = unit("blackwell/tcgen05.m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
    ones = ["1"] * 4
    assert dot(v, ["3"], ["1.5"], "1", (["0x38", *ones[1:]], ["0xb8", *ones[1:]])) == "5.5"
    assert dot(v, ["3"], ["1.5"], "1", (["0x7f", *ones[1:]], ones)) == "nan(0x7fffffff)"


def test_e4m3_has_no_infinity_and_fnuz_one_nan() -> None:
    """OCP OFP8: S.1111.110 is 448; AMD fnuz: 0x80 is NaN, not -0."""
    assert dot(unit("ada/mma.m16n8k32.f32.e4m3.e4m3.f32"), ["0x7e"], ["1"], "0") == "448"
    u = unit("cdna3/v_mfma_f32_16x16x32_fp8_fp8")
    assert dot(u, ["0x80"], ["1"], "0").startswith("nan")
    assert dot(u, ["0xff"], ["1"], "0") == "-240"


def test_vdpbf16ps_propagates_the_first_nan() -> None:
    """Intel SDM, VDPBF16PS: src1.lo, src2.lo, src1.hi, src2.hi, destination; quiet; else the default NaN."""
    u = unit("x86/vdpbf16ps")
    assert dot(u, ["0x7f81", "0x7f82"], ["1", "1"], "nan(0x7f812345)") == "nan(0x7fc10000)"
    assert dot(u, ["1", "0x7f82"], ["1", "0xff83"], "nan(0x7f812345)") == "nan(0x7fc20000)"
    assert dot(u, ["1", "1"], ["1", "1"], "nan(0xff812345)") == "nan(0xffc12345)"
    assert dot(u, ["inf", "1"], ["0", "1"], "0") == "nan(0xffc00000)"


@pytest.mark.parametrize(
    ("name", "up", "down"),
    [
        ("cdna3/v_mfma_f32_32x32x8_f16", "-16777216", "16777215"),
        ("hopper/mma.m16n8k16.f32.f16.f16.f32", "-16777216", "16777216"),
    ],
)
def test_cdna3_is_asymmetric_and_nvidia_is_not(name: str, up: str, down: str) -> None:
    """XIE §6.2.4: rounding down inside makes Φ(-A, B, -C) differ from -Φ(A, B, C)."""
    u = unit(name)
    assert dot(u, ["-2^12"], ["2^12"], "2^-5") == up
    assert dot(u, ["2^12"], ["2^12"], "-2^-5") == down


@pytest.mark.parametrize(
    ("name", "a", "expected"),
    [
        ("vfmaddcph.re", ["3", "2"], "-5"),
        ("vfmaddcph.im", ["2", "3"], "14"),
        ("vfcmaddcph.re", ["3", "2"], "11"),
        ("vfcmaddcph.im", ["2", "3"], "-10"),
    ],
)
def test_parts_of_complex_products(name: str, a: list[str], expected: str) -> None:
    """Intel SDM: (3 + 2i)·(1 + 4i) = -5 + 14i, and with the conjugate of the second factor 11 - 10i."""
    assert dot(unit(f"x86/{name}"), a, ["1", "4"], "0") == expected
    assert dot(unit(f"x86/{name.replace('madd', 'mul')}"), a, ["1", "4"], "-0") == expected


@pytest.mark.parametrize("generation", [3, 4])
def test_what_rdna_does_with_results_of_sixteen_bits(generation: int) -> None:
    """Triton issue 11217: V_DOT2_BF16_BF16 cuts its result; FP16_OVFL clamps what is finite."""
    bf16, fp16 = (unit(f"rdna{generation}/v_dot2_{x}_{x}") for x in ("bf16", "f16"))
    clamped = unit(f"{fp16.name}.fp16_ovfl")
    assert dot(bf16, ["1.5078125"], ["1.5078125"], "0") == "2.265625"  # 145.5 units of 2^-6
    assert dot(fp16, ["60000"], ["2"], "0") == "inf"
    assert dot(clamped, ["60000"], ["2"], "0") == "65504"
    assert dot(clamped, ["-60000"], ["2"], "0") == "-65504"
    assert dot(clamped, ["inf"], ["2"], "0") == "inf"


def test_cute_rounds_sums_of_fp4_down() -> None:
    """CUTE, ccode/fmac.h: groups lie 9 binades above their scales, sums are rounded down, c is cut."""
    one = ["1"] * 16 + ["0.5"]
    ones, nvfp4, mxfp4 = ["1"] * 8, "cute/Nvfp4F32", "cute/Mxfp4F32"
    low = ["1", "2^-9", *["1"] * 6]
    assert dot(nvfp4, ["1"], ["1"], "2^-15", (ones, ones)) == "1"
    assert dot(nvfp4, ["1"], ["1"], "-2^-15", (ones, ones)) == "16383*2^-14"
    assert dot(nvfp4, ["1"], ["1"], "-2^-18", (ones, ones)) == "1"
    assert dot(mxfp4, ["1"], ["1"], "-2^-18", (ones[:4], ones[:4])) == "131071*2^-17"
    # A product of -2^-20 in the second group counts as -2^-17.
    below = [*["0"] * 16, "-0.5"]
    assert dot(nvfp4, ["1", *below[1:]], one, "0", (low, low)) == "16383*2^-14"
    # A group of zeros has its scales' exponent, unless a scale is zero; signs of scales count.
    wide = ["1", "448", *["1"] * 6]
    assert dot(nvfp4, ["1"], ["-1"], "0", (wide, wide)) == "-4"
    assert dot(nvfp4, ["1"], ["-1"], "0", (wide, ["1", "0", *["1"] * 6])) == "-1"
    assert dot(nvfp4, ["1"], ["1"], "0", (["-1", *ones[1:]], ones)) == "-1"


def test_cute_loses_what_lies_below_its_sums_bits() -> None:
    """CUTE, ccode/fmac.h: 23 fraction bits below the largest exponent, toward zero."""
    u = unit("cute/F16F16F32")
    assert dot(u, ["1", "2^-12", "2^-12"], ["1", "2^-12", "2^-12"], "0") == "1"
    assert dot(u, ["1", "2^-12"], ["1", "2^-11"], "0") == "8388609*2^-23"
