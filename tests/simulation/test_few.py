"""A few products beside a boundary of the sum."""

from __future__ import annotations

import pytest

from sampled import one_in
from tcformal.design.axes import altered
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.query.few import boundaries_of, few
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch
from tcformal.simulation.operands.inputs import boundaries, inputs_to_try


def told_apart(unit: UnitSpec, change: str, tried: Batch) -> bool:
    """Whether some of the inputs tell a unit from the same one with a parameter changed."""
    return bool((replay(unit, tried) != replay(resolve(altered(unit, change)), tried)).any())


@pytest.mark.parametrize(
    ("name", "change"),
    one_in(
        2,
        [
            ("ada/mma.m16n8k32.f32.e5m2.e4m3.f32", "result_subnormals=tiny_zero"),
            ("ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "c_subnormals=positive_zero"),
            ("cdna3/v_mfma_f32_16x16x32_bf8_fp8", "result_subnormals=signed_zero"),
            ("gaudi2/mme.fp16", "c_subnormals=positive_zero"),
        ],
    ),
)
def test_a_few_terms_show_what_no_other_family_does(name: str, change: str) -> None:
    unit = resolve(name)
    assert told_apart(unit, change, few(unit, unit.k, 4000, 0))
    assert not told_apart(unit, change, inputs_to_try(unit, unit.k, 6144, 0))
    assert not told_apart(unit, change, boundaries(unit, unit.k, 0))


@pytest.mark.parametrize(
    "change", one_in(2, ["result_subnormals=kept", "c_subnormals=kept", "operand_subnormals=kept"])
)
@pytest.mark.parametrize("name", ["x86/vdpbf16ps", "gaudi/mme.bf16.cd5"])
def test_rules_at_a_boundary_are_told_apart(name: str, change: str) -> None:
    unit = resolve(name)
    assert told_apart(unit, change, few(unit, unit.k, 4000, 0))


def test_the_overflow_of_a_sum_of_products_alone_is_reached() -> None:
    """No product of bf16 is fp32's largest number; three add up to it, and a fourth rounds it up or not."""
    unit = resolve("sequential@products=4,a_format=bf16,b_format=bf16,c_position=last,conversion=RZ-FP32")
    assert told_apart(unit, "overflow=infinity", few(unit, unit.k, 4000, 0))


@pytest.mark.parametrize(
    "name",
    [
        "x86/tdpbf16ps", "arm/fmopa.s", "valpey@terms=3",
        "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
        "tfdpa@products=2,a_format=e2m1,b_format=e2m1,c_format=e2m1,d_format=fp16,conversion=RNE-FP16",
        "cdna3/v_mfma_f32_16x16x32_fp8_fp8",
    ],
)  # fmt: skip
def test_rows_have_the_shape_of_the_unit_and_no_nan(name: str) -> None:
    unit = resolve(name)
    made, again, other = (few(unit, unit.k, 300, seed) for seed in (3, 3, 4))
    assert made.a.shape == made.b.shape == (len(made.c), unit.k)
    assert (made.scale_a is None) == (unit.scale_format is None)
    assert len(made.c) > 5
    assert all((x == y).all() for x, y in zip(made.named().values(), again.named().values(), strict=True))
    assert made.a.tobytes() != other.a.tobytes()
    assert boundaries_of(unit)


def test_a_boundary_out_of_reach_leaves_a_row_of_zeros() -> None:
    """One product alone has no place for what is beside a number of three products."""
    unit = resolve("x86/tdpbf16ps")
    assert len(few(unit, unit.k, 0, 0).c) == 1
    assert not few(unit, unit.k, 0, 0).a.any()
