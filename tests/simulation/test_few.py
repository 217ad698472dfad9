"""A few products beside a boundary of the sum."""

from __future__ import annotations

import pytest

from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.simulation.operands.batch import inputs_to_try
from tcformal.simulation.operands.boundaries import boundaries
from tcformal.simulation.operands.few import few
from tcformal.simulation.operands.random import Batch
from tcformal.simulation.replay import replay


def told_apart(unit: UnitSpec, change: str, tried: Batch) -> bool:
    """Whether some of the inputs tell a unit from the same one with a parameter changed."""
    return bool((replay(unit, tried) != replay(resolve(altered(unit, change)), tried)).any())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x86/tdpbf16ps", "result_subnormals=signed_zero"),
        ("ada/mma.m16n8k32.f32.e5m2.e4m3.f32", "result_subnormals=tiny_zero"),
        ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "c_subnormals=positive_zero"),
        ("cdna3/v_mfma_f32_16x16x32_bf8_fp8", "result_subnormals=signed_zero"),
        ("gaudi2/mme.fp16", "c_subnormals=positive_zero"),
        ("rdna3/v_wmma_bf16_16x16x16_bf16", "operand_subnormals=positive_zero"),
    ],
)
def test_a_few_terms_show_what_no_other_family_does(name: str, change: str) -> None:
    unit = resolve(name)
    assert told_apart(unit, change, few(unit, unit.k, 4000, 0))
    assert not told_apart(unit, change, inputs_to_try(unit, unit.k, 6144, 0))
    assert not told_apart(unit, change, boundaries(unit, unit.k, 0))
