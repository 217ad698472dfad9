"""Parameters that cannot matter: normal forms against vectors, and each kind of change checked by coqc."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agreement import DESCRIBED
from coq_equality import HEADER, coq_equality, equal_by
from tcformal.design.axes import altered, axis_values, changed, rare_values
from tcformal.design.catalog import catalogue, distinct_designs, floating
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.errors import InputError
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.inputs import boundaries, pool_of
from tcformal.theory.checked import coqc
from tcformal.theory.design import without_theorem
from tcformal.theory.equality import equal_by_theorem, idle_axes, normal_form

ADA = "ada/mma.m16n8k32.f16.e5m2.e5m2.f16"
CDNA1 = "cdna1/v_mfma_f32_32x32x8f16"
RISCV = "riscv/vfwbdot.vv.vlen128"
TREE = (
    "tree@steps=join((0..3+z)+c),join.conversion=RO-FP32,join.fraction_bits=exact,fraction_bits=27,"
    "alignment_rounding=RO,conversion=RO-FP32,a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32"
)
HOPPER = "hopper/mma.m16n8k16.f32.f16.f16.f32"
BF16 = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
#: The sum keeps no bit below the least result.
WIDE = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
#: A chain of sums that are exact before they are rounded.
CHAIN = (
    "tree@steps=(1+(0+c)),negated=odd,nan_rule=first_operand,a_format=fp16,b_format=fp16,c_format=fp16,"
    "d_format=fp16"
)
#: Products of fp8 in one sum of 26 fraction bits, then c, in one of its own.
JOIN = (
    "tree@steps=join((0..7)+c),join.conversion=RO-FP32,join.fraction_bits=exact,join.normalise_products=false,"
    "fraction_bits=26,alignment_rounding=RO,conversion=RO-FP32,zero_sign=positive,overflow=infinity,"
    "a_format=e4m3,b_format=e4m3"
)
#: Products that are rounded before they are added.
ROUNDED = "tfdpa@products=4,product_rounding=RZ-E8M10"
BRAIN = "a_format=bf16,b_format=bf16"
#: Sums of groups of products of one scale.
GROUPS = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
#: The same with scales that go as low as c, and lower.
SCALED = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
#: Products of fp8 that are first converted to fp16, in calls of which each goes on from the one before.
CALLS = "hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16"
IN_STEPS = (
    "tree@steps=join((2+3+6+7+10+11+14+15+(0+1+4+5+8+9+12+13))+c),join.conversion=RNE-FP16,"
    "join.fraction_bits=exact,join.normalise_products=false,fraction_bits=25,nan_word=0x7fff,"
    "a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16"
)
#: c in a sum of 26 fraction bits that is aligned to odd, or in one that is exact.
LAST = (
    "tree@steps=join((0..7)+c),join.conversion=RO-FP32,fraction_bits=26,alignment_rounding=RO,"
    "conversion=RO-FP32,a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32"
)
#: c aligned apart from the products: toward zero, or down in groups.
FRAMED, GROUPED = "rdna3/v_wmma_f32_16x16x16_bf16", "rdna4/v_wmma_f32_16x16x16_f16"
#: Products that are no smaller than the least normal number of fp32.
FEW_BITS = "rdna3/v_wmma_f32_16x16x16_f16"
#: Products that are rounded, each chain of their sums from +0, and the sums without one.
FROM_ZERO = "vortex/VX_tcu_fedp_dpi.bf16"
FROM_PRODUCTS = (
    "tree@steps=join(join((0+1)+(2+3))+c),join.conversion=RNE-FP32,join.fraction_bits=exact,"
    "join.normalise_products=false,product_rounding=RNE-FP32,zero_sign=positive,a_format=bf16,b_format=bf16,"
    "c_format=fp32,d_format=fp32"
)
#: Sums that are rounded down, in one sum and in two halves.
DOWN = "cdna3/v_mfma_f32_32x32x8_bf16"
HALVES = "cdna3/v_mfma_f32_16x16x32_fp8_fp8"
#: Products of factors without subnormals, whose rounding is exact, or flushes; and exact ones.
SHORT = (
    "tree@steps=join(join((0+1)+c)+(2+3)),join.conversion=RNE-FP32,join.fraction_bits=exact,"
    "join.normalise_products=false,operand_subnormals=positive_zero,c_subnormals=positive_zero,"
    "result_subnormals=signed_zero,a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32"
)
WHOLE = (
    "tree@steps=join(join(join((0+1)+(2+3))+c)+join((4+5)+(6+7))),join.conversion=RNE-FP32,"
    "join.fraction_bits=exact,join.normalise_products=false,operand_subnormals=positive_zero,"
    "c_subnormals=positive_zero,a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32"
)
APART = "gaudi2/mme.fp8_143"
#: Two chains from +0, then c, whose NaNs are those of operands.
CHAINS = (
    "tree@steps=join(join((2+(0+z))+(3+(1+z)))+c),join.conversion=RNE-FP32,join.fraction_bits=exact,"
    "join.normalise_products=false,nan_rule=first_operand,result_subnormals=signed_zero,a_format=fp16,"
    "b_format=fp16,c_format=fp32,d_format=fp32"
)
BFDOT = "arm/bfdot.ebf0"
#: Normalised products and c in one sum.
VALPEY = "tfdpa@products=4,fraction_bits=23,normalise_products=true,zero_exponent=none"
#: A result beside which products of fp16 are less than half a last place, where it is the largest number.
NEAREST = "tree@steps=(0+1+c),fraction_bits=exact,conversion=RNE-FP32"
TDP = tree_of(resolve("x86/tdpfp16ps"), 32)
assert TDP is not None
#: Products that are rounded, and too small for what they are rounded to, and their sum, to overflow.
SHORTENED = (
    "tree@steps=(0..5+c),product_rounding=RNA-BF16,a_format=fp16,b_format=fp16,c_format=fp32,d_format=fp32"
)
#: Two sums of four products, and the sum of these.
WITHOUT_C = (
    "tree@steps=last((0..3)+(4..7)),last.fraction_bits=20,fraction_bits=24,overflow=infinity,"
    "a_format={0},b_format={0},c_format=fp32,d_format=fp32"
)
#: Two sums of a block each, whose scales have fractions, then c; the same of products without scales.
BLOCKS = (
    "tree@steps=((s(0..7)+s(8..15))+c),s.conversion=RZ-FP32,s.fraction_bits={},overflow=infinity,"
    "a_format=e2m1,b_format=e2m1,c_format=fp32,d_format=fp32"
)
FP4 = f"{BLOCKS.format(12)},scale=ue4m3/8"
#: What an exact sum with one in place of their sums is.
AT_ONCE = (
    "tree@steps=((0..15)+c),fraction_bits=exact,overflow=infinity,a_format=e2m1,b_format=e2m1,c_format=fp32,"
    "d_format=fp32"
)
#: Sums of a block each, which are aligned with c.
CUT = (
    "tree@steps=(s(0..7)+s(8..15)+c),s.conversion=RZ-FP64,s.fraction_bits=12,fraction_bits=20,"
    "normalise_products=true,s.normalise_products=false,zero_exponent=none,alignment_rounding=RZ,"
    "conversion=RZ-FP32,a_format=e2m1,b_format=e2m1,c_format=fp32,d_format=fp32,scale=ue4m3/8"
)
#: Of each kind of change two names of one function, and the theorem.
EQUAL = {
    "zero exponents": ("idle_sums", HOPPER, f"{HOPPER}@zero_exponent=none"),
    "carry bits": ("idle_sums", f"{HOPPER}@carry_bits=6", HOPPER),
    "records": ("eq_refl", f"{HOPPER}@accumulation=sign_magnitude,b_subnormals=kept", HOPPER),
    "neighbours": ("pair_order_idle", f"{HOPPER}@order=odd_first", HOPPER),
    "signs of zeros": ("idle_sums", f"{HOPPER}@zero_sign=sum", HOPPER),
    "infinities": ("overflow_idle", CDNA1, f"{CDNA1}@overflow=infinity"),
    "no overflow": ("overflow_never_idle", f"{HOPPER}@overflow=largest", HOPPER),
    "sums to nearest that are never too large": (
        "idle_sums",
        f"{NEAREST},overflow=largest",
        f"{NEAREST},overflow=infinity",
    ),
    "nothing cut beside zeros": ("idle_sums", f"{ADA}@zero_exponent=-21", f"{ADA}@zero_exponent=none"),
    "carry bits of products": ("idle_sums", f"{RISCV}@carry_bits=5", RISCV),
    "zeros among products": ("idle_sums", f"{TREE},zero_exponent=-300", f"{TREE},zero_exponent=none"),
    "normalised factors of a chain": ("normalised_factors_idle", f"{CHAIN},normalise_operands=true", CHAIN),
    "zeros among groups": ("group_zero_idle", f"{GROUPS}@zero_exponent=-126", f"{GROUPS}@zero_exponent=none"),
    "signs of sums of groups": ("group_sign_idle", f"{GROUPS}@zero_sign=sum", GROUPS),
    "normalised factors of groups": ("group_factors_idle", f"{GROUPS}@normalise_operands=true", GROUPS),
    "carry bits of rounded products": ("idle_sums", f"{ROUNDED},carry_bits=4", ROUNDED),
    "rounded products": (
        "rounded_terms_idle",
        f"{ROUNDED},normalise_products=true,overflow=ieee,zero_sign=sum",
        ROUNDED,
    ),
    "two numbers aligned to odd": ("idle_sums", LAST, f"{LAST},join.fraction_bits=exact"),
    "a +0, and the sign of zeros": (
        "idle_sums",
        LAST.replace("0..7", "0..7+z"),
        f"{LAST},zero_sign=positive",
    ),
    "calls": ("composed_tree", CALLS, IN_STEPS.replace("13)", "13+z)")),
    "converted factors": ("factors_idle", CALLS, f"{IN_STEPS},zero_sign=positive,overflow=infinity"),
    "flushed factors": ("normalised_factors_idle", f"{FRAMED}@normalise_operands=true", FRAMED),
    "neighbours beside c": ("pair_order_idle", f"{FRAMED}@order=odd_first", FRAMED),
    "a c that is dropped": ("idle_other_sums", f"{FRAMED}@vanished_c=dropped", FRAMED),
    "flushed beside zeros": ("idle_other_sums", f"{FRAMED}@zero_exponent=-131", FRAMED),
    "nothing cut beside a zero c": (
        "idle_other_sums",
        f"{GROUPED}@zero_exponent=-112",
        f"{GROUPED}@zero_exponent=own",
    ),
    "signs of zeros beside c": ("idle_other_sums", f"{GROUPED}@zero_sign=sum", GROUPED),
    "too large for two roundings": (
        "idle_other_sums",
        f"{FRAMED}@accumulator=RNE-FP32,conversion=RZ-FP32,overflow=ieee",
        f"{FRAMED}@accumulator=RNE-FP32,conversion=RZ-FP32",
    ),
    "no subnormal results": (
        "idle_other_sums",
        f"{FEW_BITS}@result_subnormals=kept",
        f"{FEW_BITS}@zero_sign=sum",
    ),
    "subnormals of c": ("flushed_c_idle", f"{FEW_BITS}@c_subnormals=kept", FEW_BITS),
    "c after the products": ("after_sign_idle", "nvdla/cmac.fp16@zero_sign=positive", "nvdla/cmac.fp16"),
    "sums of one product": ("tidy_idle", FROM_ZERO, FROM_PRODUCTS),
    "normalised factors": ("factors_idle", f"{JOIN},normalise_operands=true", JOIN),
    "infinities of sums rounded down": ("plain_down_idle", DOWN, f"{DOWN}@overflow=infinity"),
    "signs of zeros of sums rounded down": ("plain_down_idle", f"{HALVES}@zero_sign=positive", HALVES),
    "modes of products that are exact or flushed": (
        "product_rounding_idle",
        f"{SHORT},product_rounding=RNE-FP32",
        f"{SHORT},product_rounding=RNA-FP32,overflow=infinity",
    ),
    "roundings of exact products, and blocks": (
        "order_as_one_block",
        "cdna2/v_mfma_f32_32x32x8f16",
        WHOLE,
    ),
    "results that are never flushed": ("flushes_idle", WHOLE, f"{WHOLE},result_subnormals=signed_zero"),
    "operands that are never subnormal": (
        "flushes_idle",
        f"{WITHOUT_C.format('fp16')},last.normalise_products=true",
        WITHOUT_C.format("fp16"),
    ),
    "subnormals of a c that is not added": (
        "free_rule_idle",
        f"{WITHOUT_C.format('fp16')},c_subnormals=signed_zero",
        WITHOUT_C.format("fp16"),
    ),
    "c added before the rounding": (
        "apart_idle",
        APART,
        f"{APART}@zero_exponent=-126,result_subnormals=kept",
    ),
    "normalised factors, and c before the rounding": (
        "factors_idle",
        APART,
        f"{APART}@normalise_operands=false",
    ),
    "halves": ("halves_order_idle", f"{HALVES}@order=odd_first", HALVES),
    "infinities of sums with words of NaNs": ("idle_steps_words", CHAIN, f"{CHAIN},overflow=infinity"),
    "tininess of multiples": ("idle_steps_words", CHAINS.replace("=signed", "=tiny"), CHAINS),
    "a c that is made a zero": (
        "rule_idle",
        f"{CHAINS},c_subnormals=signed_zero",
        f"{CHAINS},zero_sign=positive",
    ),
    "one product beside c": (
        "order_as_steps",
        "arm/fmopa.s",
        "fma@k=1,a_format=fp32,b_format=fp32",
    ),
    "pairs as steps": (
        "order_as_steps",
        BFDOT,
        "tree@steps=((0+1)+c),operand_subnormals=signed_zero,c_subnormals=signed_zero,"
        "result_subnormals=signed_zero,product_rounding=RO-FP32,conversion=RO-FP32,overflow=infinity,"
        "a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32",
    ),
    "chains as steps": (
        "order_as_steps",
        "x86/tdpfp16ps",
        TDP.name,
    ),
    "products that never overflow": ("product_rounding_idle", SHORTENED, f"{SHORTENED},overflow=largest"),
    "products that are never subnormal": (
        "product_rounding_idle",
        f"{SHORTENED},c_subnormals=signed_zero",
        f"{SHORTENED},c_subnormals=signed_zero,result_subnormals=signed_zero",
    ),
    "products of few bits": ("product_rounding_idle", f"{BFDOT}@product_rounding=RU-FP32", BFDOT),
    "normalised products": ("idle_sums", f"{VALPEY},carry_bits=4,overflow=ieee", VALPEY),
    "products that are normalised": (
        "normal_products_idle",
        VALPEY.replace("normalise_products=true", "product_rounding=RNE-FP32"),
        VALPEY,
    ),
    "exact sums of products that share scales": ("inlined_idle", FP4, f"{AT_ONCE},scale=ue4m3/8"),
    "exact sums of normalised products": (
        "inlined_idle",
        f"{BLOCKS.format(14)},s.normalise_products=true,s.conversion=RU-FP32,scale=ue4m3/8".replace(
            ",s.conversion=RZ-FP32", ""
        ),
        f"{AT_ONCE},scale=ue4m3/8",
    ),
    "exact sums of products without scales": ("inlined_idle", BLOCKS.format("exact"), AT_ONCE),
    "exact sums in one of which signs of zeros are not seen": (
        "inlined_idle",
        f"{FP4},zero_sign=positive".replace("ue4m3", "e8m0").replace("RZ-FP32", "RD-FP64"),
        f"{AT_ONCE},zero_sign=positive,scale=e8m0/8",
    ),
    "modes of exact sums that are cut beside c": (
        "inlined_idle",
        f"{CUT},s.carry_bits=6",
        CUT.replace("RZ-FP64", "RNE-FP64").replace("=12", "=exact"),
    ),
    "a chain from c as steps": (
        "order_as_steps",
        "x86/vdpbf16ps",
        "tree@steps=(0+(1+c)),nan_rule=first_operand,operand_subnormals=signed_zero,c_subnormals=signed_zero,"
        "result_subnormals=tiny_zero,nan_word=0xffc00000,a_format=bf16,b_format=bf16,c_format=fp32,d_format=fp32",
    ),
}
#: Changes that some input shows.
DIFFERENT = (
    (f"{HOPPER}@carry_bits=2", HOPPER),
    (f"{WITHOUT_C.format('bf16')},last.normalise_products=true", WITHOUT_C.format("bf16")),
    (f"{WITHOUT_C.format('bf16')},c_subnormals=signed_zero", WITHOUT_C.format("bf16")),
    (f"{HOPPER}@zero_exponent=-100", HOPPER),
    (f"{HOPPER}@fraction_bits=24", HOPPER),
    (f"{HOPPER}@zero_sign=ieee", HOPPER),
    ("ampere/mma.m16n8k16.f32.bf16.bf16.f32@zero_sign=sum", "ampere/mma.m16n8k16.f32.bf16.bf16.f32"),
    ("x86/vdpbf16ps@order=ascending", "x86/vdpbf16ps"),
    ("cdna1/v_mfma_f32_32x32x4bf16@overflow=largest", "cdna1/v_mfma_f32_32x32x4bf16"),
    (f"{RISCV}@carry_bits=2", RISCV),
    (f"{ADA}@zero_exponent=-15", f"{ADA}@zero_exponent=none"),
    ("ampere/mma.m16n8k16.f32.bf16.bf16.f32@overflow=ieee", "ampere/mma.m16n8k16.f32.bf16.bf16.f32"),
    (f"{TREE},zero_exponent=-200", f"{TREE},zero_exponent=none"),
    (f"{HOPPER}@normalise_operands=true", HOPPER),
    (f"{SCALED}@zero_sign=sum", SCALED),
    (f"{ROUNDED},zero_sign=ieee", ROUNDED),
    (
        f"{ROUNDED},normalise_products=true,a_format=bf16,b_format=bf16",
        f"{ROUNDED},a_format=bf16,b_format=bf16",
    ),
    (f"{ROUNDED.replace('E8', 'E5')},overflow=ieee", ROUNDED.replace("E8", "E5")),
    (f"{SCALED}@zero_exponent=-138", SCALED),
    (f"{FRAMED}@zero_exponent=-126", FRAMED),
    (f"{FRAMED}@zero_sign=sum", FRAMED),
    (f"{GROUPED}@vanished_c=cut", GROUPED),
    ("rdna4/v_wmma_f32_16x16x16_bf16@zero_exponent=none", "rdna4/v_wmma_f32_16x16x16_bf16"),
    (FROM_PRODUCTS.replace("positive", "ieee"), FROM_PRODUCTS),
    (f"{DOWN}@zero_sign=positive", DOWN),
    (f"{DOWN}@sum_rounding=RD_ADDENDS", DOWN),
    (f"{SHORT},product_rounding=RNE-FP32", SHORT),
    (
        f"{SHORT},product_rounding=RNE-FP32",
        f"{SHORT},product_rounding=RNE-FP32".replace("signed_zero", "kept"),
    ),
    tuple(
        x.replace("c_subnormals=positive_zero,", "")
        for x in (f"{WHOLE},result_subnormals=signed_zero", WHOLE)
    ),
    ("gaudi2/mme.fp8_152@zero_exponent=own", "gaudi2/mme.fp8_152"),
    # One fraction bit less, a sum of two blocks, a zero sum of another sign, too few bits of a result, or
    # exponents, or carry bits.
    (FP4.replace("=12", "=11"), f"{AT_ONCE},scale=ue4m3/8"),
    (f"{BLOCKS.format(12)},scale=ue4m3/4", f"{AT_ONCE},scale=ue4m3/4"),
    (FP4.replace("RZ-FP32", "RD-FP32"), f"{AT_ONCE},scale=ue4m3/8"),
    (FP4.replace("RZ-FP32", "RZ-E8M16"), f"{AT_ONCE},scale=ue4m3/8"),
    (FP4.replace("ue4m3", "e8m0"), f"{AT_ONCE},scale=e8m0/8"),
    (f"{FP4},s.carry_bits=4", f"{AT_ONCE},scale=ue4m3/8"),
    (CUT.replace("RZ-FP64", "RZ-E11M16"), CUT.replace("RZ-FP64", "RNE-E11M16")),
    tuple(f"{x},zero_sign=ieee" for x in (CUT.replace("RZ-FP64", "RD-FP64"), CUT)),
)


@pytest.mark.parametrize("kind", EQUAL)
def test_idle_parameters_have_one_normal_form(kind: str) -> None:
    theorem, *names = EQUAL[kind]
    first, second = (resolve(name) for name in names)
    assert theorem in normal_form(first)[1] + normal_form(second)[1]
    assert normal_form(first)[0] == normal_form(second)[0]
    pool = pool_of(first, first.k, 2000, 1)
    assert (replay(first, pool) == replay(second, pool)).all()


WIDTHS = "tfdpa@products=16,a_format=e4m3,b_format=e4m3,fraction_bits="


@pytest.mark.parametrize("exact", [f"{WIDTHS}60", f"{WIDTHS}exact"])
def test_sums_from_zero_cut_nothing_off(exact: str) -> None:
    """34 fraction bits hold every product; c may be far above or below them."""
    unit = resolve(f"{WIDTHS}34")
    assert equal_by(unit, resolve(exact)) is None
    assert "idle_sums_from_zero" in (equal_by(unit, resolve(exact), zero_c=True) or ())
    assert equal_by(resolve(f"{WIDTHS}33"), resolve(exact), zero_c=True) is None
    # A later block goes on from a result.
    again = [replace(u, k=32) for u in (unit, resolve(exact))]
    assert equal_by(*again, zero_c=True) is None
    pool = pool_of(unit, unit.k, 2000, 1)
    pool = replace(pool, c=np.zeros_like(pool.c))
    assert (replay(unit, pool) == replay(resolve(exact), pool)).all()


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_parameters_that_matter_stay(first: str, second: str) -> None:
    assert normal_form(resolve(first))[0] != normal_form(resolve(second))[0]
    assert coq_equality(resolve(first), resolve(second)) is None


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        (JOIN, "zero_exponent=-133"),
        (JOIN, "zero_sign=sum"),
        (HOPPER, "zero_sign=sum"),
        (WIDE, "zero_sign=sum"),
        (f"{HOPPER}@product_rounding=RZ-E8M10", "normalise_operands=true"),
        (JOIN.replace("RO-FP32", "RNE-FP32"), "overflow=ieee"),
        (f"{HOPPER}@c_position=last,accumulator=RZ-FP32", "carry_bits=5"),
        (SHORTENED, "overflow=largest"),
    ],
)
def test_sums_whose_operands_do_not_tell(base: str, settings: str) -> None:
    one = resolve(base)
    two = resolve(altered(one, settings))
    assert normal_form(one)[0] == normal_form(two)[0]
    pool = pool_of(one, one.k, 2000, 1)
    assert (replay(one, pool) == replay(two, pool)).all()


@pytest.mark.parametrize(
    ("base", "settings"),
    [
        (JOIN, "carry_bits=3"),
        (JOIN, "zero_sign=ieee"),
        (SHORTENED.replace("BF16", "FP16"), "overflow=largest"),
        (SHORTENED.replace("a_format=fp16", "a_format=bf16"), "overflow=largest"),
        (JOIN.replace("RO-FP32", "RU-FP32"), "overflow=ieee"),
        (BF16, "zero_sign=sum"),
        (f"{WIDE}@fraction_bits=14", "zero_sign=sum"),
        (BF16, "overflow=ieee"),
        (f"{NEAREST},{BRAIN}", "overflow=largest"),
        (NEAREST.replace("RNE", "RU"), "overflow=largest"),
        # Two products of 6·6 beside 65504: half a last place is 16, and one of 1.5·6 is less.
        (
            f"{NEAREST.replace('32', '16')},a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16",
            "overflow=largest",
        ),
    ],
)
def test_sums_whose_operands_may_tell(base: str, settings: str) -> None:
    one = resolve(base)
    assert normal_form(one)[0] != normal_form(resolve(altered(one, settings)))[0]


@pytest.mark.long
@pytest.mark.parametrize("name", distinct_designs(floating))
def test_changes_of_one_normal_form_agree_on_vectors(name: str) -> None:
    """Single changes of the axes that the normal form says are idle, on 10,000 dot products and edges."""
    unit = catalogue()[name]
    values = axis_values(unit) | {k: list(v) for k, v in rare_values(unit).items()}
    same = [x for x in changed(unit, values) if equal_by_theorem(unit, x, unit.k) is not None]
    pools = [pool_of(unit, unit.k, 10_000, 4)]
    if unit.scale_format is None:
        pools.append(boundaries(unit, unit.k, 0))
    for pool in pools if same else ():
        given = replay(unit, pool)
        for other in same:
            assert (replay(other, pool) == given).all(), other.name


@pytest.mark.debian
def test_equalities_are_checked_by_coqc(compiled: Path) -> None:
    for _, first, second in EQUAL.values():
        text = coq_equality(resolve(first), resolve(second))
        assert text is not None
        (compiled / "Equality.v").write_text(text, encoding="utf-8")
        coqc(compiled, "Equality.v")
    text = coq_equality(resolve(f"{WIDTHS}34"), resolve(f"{WIDTHS}60"), zero_c=True)
    assert text is not None
    (compiled / "Equality.v").write_text(text, encoding="utf-8")
    coqc(compiled, "Equality.v")
    few = coq_equality(*(resolve(name) for name in EQUAL["carry bits of rounded products"][1:]))
    assert few is not None
    (compiled / "Equality.v").write_text(few.replace("(Some 4)", "(Some 1)"), encoding="utf-8")
    with pytest.raises(InputError, match="to compile"):
        coqc(compiled, "Equality.v")


def test_a_rounding_of_products_at_plain_values_stays() -> None:
    """Theorems about a unit say nothing of one whose products are rounded otherwise: none undoes another."""
    name = "cvfpu/fpnew_sdotp_multi.bf16.e4m3@product_rounding=RO-E8M10,fraction_bits=35,zero_sign=sum"
    made = [x.theorem for x in idle_axes(resolve(name))]
    assert made == ["rounded_terms_idle", "product_rounding_idle", "normal_products_idle"]


@pytest.mark.debian
def test_equalities_of_altered_designs_are_checked_by_coqc(compiled: Path) -> None:
    """What Python claims of designs up to three parameters away from the catalogue, Coq computes again."""
    rng, modules = random.Random(7), list[str]()
    for name in rng.sample(DESCRIBED, 60):
        unit = catalogue()[name]
        for _ in range(2):  # the second time of a design that is altered already
            values = axis_values(unit) | {axis: list(v) for axis, v in rare_values(unit).items()}
            altered_units = [x for x in changed(unit, values) if not without_theorem(x)]
            unit = rng.choice([unit, *altered_units]) if altered_units else unit
        values = axis_values(unit) | {axis: list(v) for axis, v in rare_values(unit).items()}
        others = [
            x for x in changed(unit, values) if not without_theorem(x) and equal_by(unit, x) is not None
        ]  # fmt: skip
        for other in rng.sample(others, min(2, len(others))):
            text = coq_equality(unit, other)
            assert text is not None
            body = text.removeprefix(HEADER).replace("Print Assumptions instance.\n", "")
            modules.append(f"Module M{len(modules)}.\n{body}\nEnd M{len(modules)}.\n")
    assert len(modules) > 60
    (compiled / "Equalities.v").write_text("".join([HEADER, *modules]), encoding="utf-8")
    coqc(compiled, "Equalities.v")
