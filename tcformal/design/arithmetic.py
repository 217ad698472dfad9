"""The arithmetic of each elementary operation as a design: one function per operation of XIE §4.1."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from tcformal.design.spec import Design

#: Encodings of NVIDIA's NaN result (XIE §4.2).
NVIDIA_NAN = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF, "fp64": 0x7FFFFFFFFFFFFFFF}
#: The quiet NaN without payload, for units whose NaN payload nobody has stated.
QUIET_NAN = {"fp32": 0x7FC00000, "fp16": 0x7E00, "bf16": 0x7FC0, "fp64": 0x7FF8000000000000}
#: The results of invalid operations: x86's default NaNs, and that of NVIDIA's fp64 units.
X86_DEFAULT_NANS = {"fp32": 0xFFC00000, "fp16": 0xFE00}
DMMA_DEFAULT_NAN = 0xFFF8000000000000

#: Conversion of NVIDIA's T-FDPA by D format (XIE Table 4).
NVIDIA_CONVERSION = {"fp32": "RZ-FP32", "fp16": "RNE-FP16"}

#: IEEE 754 beside the order of the sum: rounded to nearest, the sign of a zero and overflow as it says.
_ieee = partial(Design, conversion="RNE-FP32", nan_word=QUIET_NAN["fp32"], zero_sign="ieee", overflow="ieee")
#: The same, but a subnormal c, and a subnormal result, is a zero of its sign.
_flushing = partial(_ieee, c_subnormals="signed_zero", result_subnormals="signed_zero")
#: x86's dot products: sums in fp32, its NaN, no subnormal c or result.
_x86 = partial(_flushing, accumulator="RNE-FP32", nan_word=X86_DEFAULT_NANS["fp32"], nan_rule="first_operand")
#: Gaudi's sums in fp32, with NVIDIA's NaN.
_gaudi = partial(_flushing, nan_word=NVIDIA_NAN["fp32"])

#: ROCm's emulator: the word of a NaN factor, and of an invalid operation, by the format of the result.
_RDNA_NANS = {"fp32": (0xFFC00A3D, 0xFFC00000), "fp16": (0xFE3D, 0xFE00), "bf16": (0xFFFD, 0xFFC0)}


@cache
def t_fdpa(
    *,
    products: int,
    fraction_bits: int,
    zero_exponent: int,
    d: str,
    conversion: str | None = None,
    group: int | None = None,
) -> Design:
    """T-FDPA, and with scales ST-FDPA and (with `group`) GST-FDPA (XIE Algorithms 7, 8, 9)."""
    return Design(
        products=products,
        fraction_bits=fraction_bits,
        zero_exponent=zero_exponent,
        conversion=conversion or NVIDIA_CONVERSION[d],
        nan_word=NVIDIA_NAN[d],
        group=group,
    )


def fma_chain(*, fmt: str, nan_word: int, nan_rule: str = "word") -> Design:
    """A chain of IEEE fused multiply-adds in the order of k (XIE Algorithm 4)."""
    return _ieee(products=1, conversion=f"RNE-{fmt.upper()}", nan_word=nan_word, nan_rule=nan_rule)


def e_fdpa(*, products: int, d: str = "fp32") -> Design:
    """E-FDPA: c and all products exactly, rounded once (XIE Algorithm 6)."""
    return _ieee(products=products, conversion=f"RNE-{d.upper()}", nan_word=QUIET_NAN[d])


def ftz_add_mul(*, products: int) -> Design:
    """FTZ-AddMul: rounded products summed pairwise, then c; subnormals flushed (XIE Algorithms 1, 2)."""
    return _ieee(
        products=products, summation="pairwise", c_position="last", product_rounding="RNE-FP32",
        accumulator="RNE-FP32", operand_subnormals="positive_zero", c_subnormals="positive_zero",
        result_subnormals="signed_zero",
    )  # fmt: skip


def tr_fdpa(*, products: int, grouped: bool) -> Design:
    """TR-FDPA, or GTR-FDPA with `grouped` (XIE Algorithms 10, 11; Table 7)."""
    return _ieee(
        products=products, summation="gtr" if grouped else "tr", c_position="last", fraction_bits=24,
        sum_fraction_bits=31, product_limit=128, zero_sign="sum",
    )  # fmt: skip


def x86_dot(*, operand_subnormals: str) -> Design:
    """`vdpbf16ps`, `vdpphps`: two FMA steps, the odd pair first; subnormal c and results are zeros."""
    return _x86(
        products=2, summation="sequential", c_position="first", order="odd_first",
        operand_subnormals=operand_subnormals, result_subnormals=_tiny(operand_subnormals),
    )  # fmt: skip


def x86_tile(*, operand_subnormals: str) -> Design:
    """`tdpbf16ps`, `tdpfp16ps`: two FMA chains from zero (even and odd k), their sum, then c."""
    return _x86(
        products=32, summation="two_chains", c_position="last", operand_subnormals=operand_subnormals,
        result_subnormals=_tiny(operand_subnormals),
    )  # fmt: skip


def _tiny(operand_subnormals: str) -> str:
    """x86's tininess after rounding: a result below 2^-126 with unbounded exponent becomes 0.

    No sum of fp16's products and a normal c lies there: they are multiples of 2^-48.
    """
    return "signed_zero" if operand_subnormals == "kept" else "tiny_zero"


def x86_tile_fp8(*, a: str, b: str) -> Design:
    """`tdpbf8ps` and its kind: pairs of products summed, their sums in two chains from zero, then c.

    A subnormal e5m2 is widened to a subnormal of fp16, which counts as a zero.
    """
    of_a, of_b = ("signed_zero" if x == "e5m2" else "kept" for x in (a, b))
    return _x86(
        products=64, summation="pair_chains", c_position="last", operand_subnormals=of_a,
        b_subnormals=None if of_a == of_b else of_b,
    )  # fmt: skip


def x86_tile_real() -> Design:
    """`tcmmrlfp16ps`: as `tdpfp16ps`, the products of imaginary parts subtracted."""
    return replace(x86_tile(operand_subnormals="kept"), negated="odd")


def x86_complex(*, negated: str) -> Design:
    """`vfmaddcph` and its kind: two fused multiply-adds in fp16 from c on, which keep subnormals."""
    return _ieee(
        products=2, summation="sequential", c_position="first", accumulator="RNE-FP16", negated=negated,
        conversion="RNE-FP16", nan_word=X86_DEFAULT_NANS["fp16"], nan_rule="first_operand",
    )  # fmt: skip


def arm_dot_bf16(*, extended: bool) -> Design:
    """`bfdot` and each half of `bfmmla`: unfused to odd with EBF=0, fused pairs with EBF=1."""
    if extended:
        return pair_then_c(accumulator="RNE-FP32")
    return _flushing(
        products=2, summation="pairwise", c_position="last", product_rounding="RO-FP32",
        accumulator="RO-FP32", operand_subnormals="signed_zero", conversion="RO-FP32", overflow="infinity",
    )  # fmt: skip


def pair_then_c(*, accumulator: str, nan_rule: str = "word") -> Design:
    """Two exact products in one rounded sum, then c: Arm's fused pairs, Power's rank-2 updates."""
    return _ieee(products=2, summation="fused", c_position="last", accumulator=accumulator, nan_rule=nan_rule)


def bulk_normalised(*, products: int) -> Design:
    """RVBNA, then c: products rounded to odd at the largest exponent, their sum and that with c to odd."""
    guard = (products - 1).bit_length()
    return Design(
        products=products, summation="fused", c_position="last", fraction_bits=23 + guard,
        alignment_rounding="RO", accumulator="RO-FP32", conversion="RO-FP32", nan_word=QUIET_NAN["fp32"],
    )  # fmt: skip


def gaudi2_sum(*, products: int, fraction_bits: int, operand_subnormals: str = "signed_zero") -> Design:
    """Gaudi 2: products truncated at their largest exponent and summed, c added to that, one rounding."""
    return _gaudi(
        products=products, fraction_bits=fraction_bits, c_position="after",
        operand_subnormals=operand_subnormals,
    )  # fmt: skip


def gaudi_chain(*, operand_subnormals: str = "signed_zero") -> Design:
    """A chain of the fused multiply-adds of Gaudi 1 and of Gaudi 2's IEEE mode."""
    return _gaudi(products=1, operand_subnormals=operand_subnormals, result_subnormals="tiny_zero")


def esperanto_sum() -> Design:
    """TensorFMA16A32: two products and c with 25 fraction bits, jammed (sticky) lost bits, truncation."""
    return _flushing(
        products=2, fraction_bits=25, lost_bits="jammed", operand_subnormals="signed_zero",
        zero_words="skipped", conversion="RZ-FP32",
    )  # fmt: skip


def esperanto_chain() -> Design:
    """TensorFMA32: a chain of fused multiply-adds that flush subnormals."""
    return _flushing(
        products=1, zero_words="skipped", result_subnormals="tiny_zero", operand_subnormals="signed_zero"
    )


def fixed_point_sum() -> Design:
    """HMX: products rounded to nearest in fixed point, their sum with the bias, one rounding to fp16."""
    return Design(
        products=32, product_rounding="RNE-Q17.46", conversion="RNE-FP16", nan_word=0xFFFF, zero_sign="sum",
    )  # fmt: skip


def nvdla_sum() -> Design:
    """CMAC: 64 products aligned at the largest radix-16 exponent, the halves of each cut to 20
    fraction bits."""
    return Design(
        products=64, fraction_bits=20, exponent_step=4, lost_bits="halves", c_position="after",
        conversion="RNE-FP64", nan_word=QUIET_NAN["fp64"], zero_sign="sum",
    )  # fmt: skip


def mul_add_chain() -> Design:
    """A chain of unfused multiply-adds from c: each product and each sum is rounded to fp32."""
    return _ieee(products=1, product_rounding="RNE-FP32")


def vortex_dot(*, products: int = 4, c_subnormals: str = "kept") -> Design:
    """VX_tcu_fedp_tfr: products and c truncated at the largest exponent, with a sticky bit; zeros count as
    tiny numbers."""
    return Design(
        products=products, c_subnormals=c_subnormals, fraction_bits=24, carry_bits=3, lost_bits="sticky",
        zero_terms=-259,
        conversion="RNE-FP32", nan_word=QUIET_NAN["fp32"], zero_sign="sum", result_subnormals="tiny_zero",
    )  # fmt: skip


def cute_sum(*, products: int) -> Design:
    """CUTE: products and c truncated at the largest exponent, their sum truncated; a zero c has that of
    subnormals."""
    return Design(
        products=products, fraction_bits=23, zero_exponent=-126, conversion="RZ-FP32",
        nan_word=QUIET_NAN["fp32"], zero_sign="ieee",
    )  # fmt: skip


def cute_groups(*, zero_exponent: int, group_exponent: int) -> Design:
    """CUTE's fp4: scaled sums of 16 products rounded down with three bits more, c toward zero; the whole sum
    loses these, rounded down, and is truncated."""
    return replace(
        cute_sum(products=128), group=16, group_exponent=group_exponent, zero_group="scale",
        zero_exponent=zero_exponent, fraction_bits=26, alignment_rounding="RD", c_alignment_rounding="RZ",
        sum_fraction_bits=23, zero_sign="positive",
    )  # fmt: skip


def tensix_sum(*, d: str, minus_one: int | None) -> Design:
    """MVMUL, first fidelity phase: sums of 8 products, not normalised, and Dst are aligned with ties up and
    away, in 16 bits twice."""
    fault = minus_one if d == "fp32" else None
    made = Design(
        products=16, a_bits="0..6", b_bits="0..4", operand_subnormals="signed_zero", fraction_bits=23,
        alignment_rounding="RNU", c_alignment_rounding="RNA", minus_one=fault,
        second_fraction_bits=None if d == "fp32" else 10, special_words="numbers",
        conversion=f"RNA-{d.upper()}", c_subnormals="signed_zero", result_subnormals="tiny_zero",
        nan_word=QUIET_NAN[d],
    )  # fmt: skip
    return replace(made, conversion="RNA-FP16:17", overflow="largest") if d == "fp16" else made


def rdna3_dot(*, a: str, d: str) -> Design:
    """RDNA3's DOT2, of which WMMA is a chain: two products and c, with signs relative to c's and negatives in
    one's complement."""
    made = _rdna(d)(
        products=2, accumulation="ones_complement", zero_exponent=-16 if d == "fp16" else "none",
        operand_subnormals="signed_zero" if a == "bf16" else "kept",
    )  # fmt: skip
    return made if d == "fp16" else replace(made, c_subnormals="signed_zero", result_subnormals="tiny_zero")


def rdna4_bytes() -> Design:
    """RDNA4's DOT4 of fp8 and bf8: four products aligned among themselves, as its pairs are, then with c."""
    factor, _ = _RDNA_NANS["fp32"]
    return replace(rdna4_dot(products=4, d="fp32"), aligned_group=4, nan_word=factor)


def rdna4_dot(*, products: int, d: str) -> Design:
    """RDNA4's DOT2, or its WMMA step of two pairs: pairs of products and c, each rounded down; then one
    rounding to nearest."""
    return _rdna(d)(
        products=products, aligned_group=2, alignment_rounding="RD", vanished_c="dropped",
        zero_exponent=-16 if d == "fp16" else -128,
    )  # fmt: skip


def _rdna(d: str) -> partial[Design]:
    """Common parameters of RDNA3 and RDNA4: bits, NaN words, and rounding; bf16 results are truncated fp32
    numbers."""
    factor, invalid = _RDNA_NANS[d]
    common = partial(
        Design, fraction_bits=24, c_fraction_bits=26, nan_rule="products_c", factor_nan_word=factor,
        nan_word=invalid,
    )  # fmt: skip
    if d == "bf16":
        return partial(common, accumulator="RNE-FP32", conversion="RZ-BF16", zero_sign="sum")
    return partial(common, conversion=f"RNE-{d.upper()}")
