"""Inputs whose sums lie where few others do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of, tree_unit
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.inputs import (
    boundaries,
    leading_zeros,
    pool_of,
    rests,
    ties,
    unnormalised,
    vanishing,
    without_nan,
)

#: A sum of few products and a narrow c: a subnormal factor moves the cut, which few sums show.
NARROW = "tfdpa@a_format=e4m3,b_format=e2m1,c_format=fp16,d_format=fp16,products=8,fraction_bits=25"


@pytest.mark.parametrize("formats", ["", "a_format=e2m1", "a_format=e2m3,b_format=e3m2"])
def test_a_bit_of_c_below_products_that_cancel_decides(formats: str) -> None:
    """The cut below a subnormal factor's product, normalised or not: no other family shows where it is."""
    changed = dict(x.split("=") for x in formats.split(",") if x)
    given = dict(x.split("=") for x in NARROW.partition("@")[2].split(","))
    name = "tfdpa@" + ",".join(f"{a}={b}" for a, b in (given | changed).items())
    unit, other = resolve(name), resolve(name + ",normalise_operands=true")
    pools = rests(unit, unit.k, 2000, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]


@pytest.mark.parametrize("formats", ["e3m2.e4m3", "e4m3.e3m2", "e4m3.e2m3"])
def test_a_small_product_beside_a_tie_shows_how_it_is_cut(formats: str) -> None:
    unit = resolve(f"blackwell/tcgen05.m64n8k32.kind::f8f6f4.f16.{formats}")
    other = resolve(altered(unit, "alignment_rounding=RNE"))
    pools = ties(unit, unit.k, 4000, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]


@pytest.mark.parametrize("formats", ["e4m3.e5m2", "e5m2.e4m3"])
def test_products_of_subnormal_factors_that_cancel_show_where_the_cut_is(formats: str) -> None:
    """Factors are fp16 before they are multiplied, or not: no other family shows it."""
    unit = resolve(f"hopper/emulated.mma.m16n8k16.f16.{formats}.f16")
    made = tree_of(unit, unit.k)
    assert made is not None
    assert made.tree is not None
    other = tree_unit(made, replace(made.tree, converted=None))
    pools = leading_zeros(unit, unit.k, 500, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]


def test_a_subnormal_factor_beside_a_far_smaller_product_shows_whether_it_was_normalised() -> None:
    unit = resolve("rdna4/v_wmma_bf16_16x16x16_bf16")
    other = resolve(altered(unit, "normalise_operands=true"))
    pools = unnormalised(unit, unit.k, 500, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]


def test_a_flushed_factor_of_products_that_cancel_is_seen() -> None:
    unit = resolve("rdna3/v_wmma_bf16_16x16x16_bf16")
    other = resolve(altered(unit, "operand_subnormals=positive_zero"))
    pool = leading_zeros(unit, unit.k, 500, 0)
    assert (replay(unit, pool) != replay(other, pool)).any()


@pytest.mark.parametrize("formats", ["fp8_fp8", "bf8_fp8", "fp8_bf8"])
def test_a_small_product_beyond_a_power_of_two_shows_what_is_rounded_down(formats: str) -> None:
    """Addends that are rounded down, or the sum as well: no other family shows which."""
    unit = resolve(f"cdna3/v_mfma_f32_16x16x32_{formats}")
    other = resolve(altered(unit, "sum_rounding=RD_ADDENDS"))
    pool = ties(unit, unit.k, 4000, 0)
    assert (replay(unit, pool) != replay(other, pool)).any()


@pytest.mark.parametrize("axis", ["c_subnormals", "operand_subnormals"])
def test_signs_of_what_vanishes_decide_that_of_a_zero(axis: str) -> None:
    """Chains end in zeros of one sign only where all that they add up vanishes, as in no other family."""
    unit = resolve("gaudi/mme.bf16.cd5")
    other = resolve(altered(unit, f"{axis}=positive_zero"))
    pools = vanishing(unit, unit.k, 500, 0), pool_of(unit, unit.k, 6000, 0)
    seen = [bool((replay(unit, x) != replay(other, x)).any()) for x in pools]
    assert seen == [True, False]


def test_the_least_normal_number_less_a_product_is_subnormal_or_not() -> None:
    unit = resolve("riscv/vfbdot.vv.vlen128")
    pool = boundaries(unit, unit.k, 0)
    other = resolve(altered(unit, "result_subnormals=tiny_zero"))
    assert (replay(unit, pool) != replay(other, pool)).any()


@pytest.mark.parametrize("name", ["gaudi3/mme.fp32", NARROW, "power10/xvf64gerpp"])
def test_boundaries_have_no_nan_operands(name: str) -> None:
    unit = resolve(name)
    pool = boundaries(unit, unit.k, 2)
    assert len(pool.c) > 1000
    assert (without_nan(unit, pool) == np.arange(len(pool.c))).all()
