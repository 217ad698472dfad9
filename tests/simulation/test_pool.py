"""Pools of inputs: what shows the cut of sums in formats of few exponents."""

from __future__ import annotations

import numpy as np
import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.inputs import _split, pool_of, without_nan

#: Sums of which nothing is cut but far below products near the largest.
FP8 = "tfdpa@a_format=e4m3,b_format=e4m3,c_format=fp16,d_format=fp16,products=4,fraction_bits=25"


@pytest.mark.parametrize("mode", ["RD", "RU"])
def test_what_is_cut_below_the_largest_products_is_seen(mode: str) -> None:
    unit = resolve(FP8)
    other = resolve(altered(unit, f"alignment_rounding={mode}"))
    pool = pool_of(unit, unit.k, 900, 1)
    assert (replay(unit, pool) != replay(other, pool)).any()


@pytest.mark.parametrize("name", ["gaudi3/mme.fp32", FP8, "power10/xvf64gerpp"])
def test_a_pool_has_no_nan_operands(name: str) -> None:
    unit = resolve(name)
    pool = pool_of(unit, unit.k, 300, 2)
    assert (without_nan(unit, pool) == np.arange(len(pool.c))).all()


@pytest.mark.parametrize("change", ["operand_subnormals=signed_zero", "c_subnormals=signed_zero"])
def test_the_sign_of_a_flushed_subnormal_is_seen(change: str) -> None:
    unit = resolve("cdna2/v_mfma_f32_32x32x8f16")
    pool = pool_of(unit, unit.k, 900, 1)
    assert (replay(unit, pool) != replay(resolve(altered(unit, change)), pool)).any()


@pytest.mark.parametrize("change", ["zero_exponent=none", "zero_exponent=-134", "zero_sign=sum"])
def test_sums_of_scaled_products_reach_the_smallest_numbers(change: str) -> None:
    unit = resolve("blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0")
    pool = pool_of(unit, unit.k, 3000, 1)
    assert (replay(unit, pool) != replay(resolve(altered(unit, change)), pool)).any()


@pytest.mark.parametrize("change", ["zero_exponent=-138", "carry_bits=10"])
def test_groups_of_unlike_scales_and_full_ones_are_seen(change: str) -> None:
    unit = resolve("blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0")
    pool = pool_of(unit, unit.k, 3000, 1)
    assert (replay(unit, pool) != replay(resolve(altered(unit, change)), pool)).any()


def test_split_sums_are_the_powers_of_two_that_were_split() -> None:
    """Exact sums of a unit that cuts nothing, scales taken in: each result is one power of two."""
    unit = resolve("tfdpa@a_format=bf16,b_format=bf16,products=8")
    batch = _split(np.random.default_rng(1), unit, unit.k, 200)
    magnitudes = replay(unit, batch) & np.uint64(0x7FFFFFFF)
    floor = magnitudes < np.uint64(1 << 23)
    assert set(magnitudes[floor].tolist()) <= {1, 2}
    assert not (magnitudes[~floor] & np.uint64(0x7FFFFF)).any()
