"""Designs that no input tells apart are equal by theorems, and no others."""

from __future__ import annotations

import pytest

from tcformal.design.axes import altered, computed
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch, batch_of
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.operands.witness import Witness
from tcformal.theory.equality import equal_by_theorem, in_blocks

HOPPER = resolve("hopper/mma.m16n8k16.f32.f16.f16.f32")
AMPERE = resolve("ampere/mma.m16n8k16.f32.f16.f16.f32")


@pytest.mark.parametrize("unit", [HOPPER, AMPERE], ids=["hopper", "ampere"])
@pytest.mark.parametrize("settings", ["carry_bits=6", "zero_exponent=none"])
def test_a_tree_is_equal_to_blocks_of_products(settings: str, unit: UnitSpec) -> None:
    base = unit
    tree = tree_of(base, base.k)
    assert tree is not None
    assert in_blocks(tree, tree.k).tree is None
    other = resolve(altered(tree, settings))
    found = equal_by_theorem(base, other, base.k)
    assert found is not None
    assert "idle_sums" in found.theorems
    pool = pool_of(base, base.k, 2000, 1)
    assert (replay(base, pool) == replay(other, pool)).all()


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("unit", ["arm/fmopa.s", "cdna1/v_mfma_f32_32x32x2f32"])
def test_fused_steps_of_one_product_are_a_chain(unit: str, k: int) -> None:
    """Calls of one product, or of two, as chains of any length."""
    one = resolve(unit)
    chain = resolve(f"fma@k={max(k, one.k)},a_format=fp32,b_format=fp32")
    assert equal_by_theorem(one, chain, chain.k) is not None
    for other in ("fraction_bits=30", "conversion=RZ-FP32", "zero_sign=positive"):
        assert equal_by_theorem(one, resolve(f"{chain.name},{other}"), chain.k) is None


def test_steps_of_one_product_are_those_of_a_part_of_a_complex_one() -> None:
    """Two calls in a row, and two steps from c on: by way of the tree of both."""
    one, two = (resolve(f"x86/{name}") for name in ("vfmadd132ph", "vfmaddcph.im"))
    assert equal_by_theorem(one, two, 2) is not None
    assert equal_by_theorem(one, resolve("x86/vfmaddcph.re"), 2) is None
    for other in ("conversion=RZ-FP16", "order=odd_first", "nan_rule=b_sum_a"):
        assert equal_by_theorem(one, resolve(f"{two.name}@{other}"), 2) is None


def test_calls_that_are_filled_otherwise_are_other_computations() -> None:
    """Four products of which two are zeros make a -0 a +0."""
    two, four = (resolve(f"cdna1/v_mfma_f32_32x32x{k}bf16") for k in (2, 4))
    assert computed(two, 2) != computed(four, 2)
    assert computed(two, 4) == computed(four, 4)
    zero = batch_of([Witness((0x8000, 0x8000), (0x3F80, 0x3F80), 0x80000000)])
    assert replay(two, zero) != replay(four, zero)


@pytest.mark.parametrize(
    "settings",
    ["carry_bits=2", "zero_exponent=-100", "fraction_bits=24", "zero_sign=ieee", "conversion=RNE-FP32"],
)
def test_what_an_input_shows_is_not_equal(settings: str) -> None:
    tree = tree_of(HOPPER, HOPPER.k)
    assert tree is not None
    assert equal_by_theorem(HOPPER, resolve(altered(tree, settings)), HOPPER.k) is None
    assert equal_by_theorem(HOPPER, resolve(altered(HOPPER, settings)), HOPPER.k) is None


@pytest.mark.parametrize(("mode", "enough"), [("RNE", 26), ("SR1+1", 26), ("SR2+3", 27), ("SR8+255", 33)])
def test_a_sum_aligned_to_odd_keeps_all_bits_that_decide(mode: str, enough: int) -> None:
    """Of a sum of two, a 1 in place of lost bits is below those that a random word is added to."""
    of = f"tree@steps=(s(0+1)+c),zero_exponent=none,conversion={mode}-FP32,s.conversion=RZ-FP32"
    of += ",s.fraction_bits=24,s.alignment_rounding=RZ"
    exact = resolve(f"{of},fraction_bits=exact")
    vectors = batch(exact, 2, 100_000, 2)
    for bits in (enough, enough - 1):
        odd = resolve(f"{of},alignment_rounding=RO,fraction_bits={bits}")
        differ = (replay(exact, vectors) != replay(odd, vectors)).any()
        assert (equal_by_theorem(exact, odd, 2) is None) == differ == (bits < enough)


def test_blocks_of_scaled_products_are_equal_to_exact_sums_of_each_block() -> None:
    """Steps of a chain whose products share their scales, which are aligned before c is added or with it."""
    formats = "a_format=e2m1,b_format=e2m1,c_format=fp32,d_format=fp32,scale=ue4m3/4"
    chain = resolve(f"tree@steps=(4..7+(0..3+c)),overflow=infinity,{formats}")
    assert in_blocks(chain, chain.k).tree is None
    name = "tree@steps=((s(0..3)+c)+s(4..7)),s.conversion=RNA-FP32,s.fraction_bits={},overflow=infinity,{}"
    found = equal_by_theorem(chain, resolve(name.format(12, formats)), 8)
    assert found is not None
    assert found.theorems == ("inlined_idle",)
    other = resolve(name.format(11, formats))
    assert equal_by_theorem(chain, other, 8) is None
    # 6·6 and 0.5·0.5, with scales of 15/8.
    scale = chain.scale_format
    assert scale is not None
    row = Witness((7, 1, 0, 0, 0, 0, 0, 0), (7, 1, 0, 0, 0, 0, 0, 0), 0, (0x3F, 0x38), (0x3F, 0x38))
    assert replay(chain, batch_of([row])) != replay(other, batch_of([row]))


def test_calls_that_are_filled_otherwise_are_not_compared() -> None:
    """Zeros of a longer call make a -0 a +0: of a block of 8 products, and of one of 8 and one of zeros."""
    short = resolve("ampere/mma.m16n8k8.f32.f16.f16.f32")
    assert equal_by_theorem(short, AMPERE, 16) is not None
    assert equal_by_theorem(short, AMPERE, 8) is None
    assert equal_by_theorem(HOPPER, resolve("hopper/mma.m16n8k16.f32.bf16.bf16.f32"), 16) is None
