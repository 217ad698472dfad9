"""The roundings between a product and a result, of designs and of trees."""

from __future__ import annotations

from typing import Any

import pytest
from tcformal.proofs.statements.rounded_bound import RoundingPlan

from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.claims.paths import growth
from tcformal.bounds.constants import step_constant
from tcformal.bounds.theorems import Theorems
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.errors import InputError
from tcformal.solve.result import Limits


def shape(plan: RoundingPlan, number: int | None = None) -> Any:
    """What an operand is the sum of, and how each sum is rounded; operands in any order."""
    number = plan.k + len(plan.steps) if number is None else number
    if number <= plan.k:
        return number
    operands, target = plan.steps[number - plan.k - 1]
    return sorted((shape(plan, x) for x in operands), key=repr), str(target)


def test_a_tree_has_the_roundings_of_the_design_that_it_writes_out() -> None:
    met = 0
    for name in distinct_designs():
        unit = catalogue()[name]
        tree = None if unit.design.fraction_bits is not None or unit.tree else tree_of(unit, unit.k)
        if tree is not None and unit.emulation is None:
            met += 1
            assert shape(RoundingPlan(tree)) == shape(RoundingPlan(unit)), name
    assert met > 12


@pytest.mark.parametrize(
    ("name", "longest"),
    [
        ("vortex/VX_tcu_fedp_dpi.fp16", 2),
        pytest.param("gaudi/mme.bf16.cd5", 3, marks=pytest.mark.long),
        pytest.param("gaudi/mme.fp16.cd8", 3, marks=pytest.mark.long),
        pytest.param("gaudi/mme.fp32.cd8", 4, marks=pytest.mark.long),
    ],
)
def test_the_roundings_of_a_tree_of_chains(name: str, longest: int) -> None:
    """The first product of a chain is added to +0, which is exact unless it has more bits than the sum."""
    unit = catalogue()[name]
    assert growth(unit, unit.k).longest == longest
    found = accuracy(name, prove=False, subnormals=False).attained.ratio * 2**24
    assert longest - 0.01 < found <= longest


def test_rounded_products_of_a_tree_are_roundings_of_their_own() -> None:
    unit = catalogue()["riscv/vfbdot.vv.vlen128"]
    tree = tree_of(unit, unit.k)
    assert tree is not None
    assert len(RoundingPlan(tree).products) == len(RoundingPlan(unit).products) == unit.k


def test_a_tree_that_cuts_terms_has_no_plan() -> None:
    unit = tree_of(catalogue()["volta/mma.m8n8k4.f32.f16.f16.f32"], 4)
    assert unit is not None
    with pytest.raises(InputError, match="cuts terms"):
        RoundingPlan(unit)
    known = Theorems(None, Limits(), None, None, False, lambda _: None)
    found = step_constant(resolve(unit.name), unit.k, known)
    assert found.first is None
    assert "cuts terms" in found.reason


def test_a_wider_rounding_is_a_narrower_one_where_nothing_leaves_its_exponents() -> None:
    """Power10's pairs of products are rounded to a wider format than its results."""
    unit = catalogue()["power10/xvbf16ger2pp"]
    (step,) = growth(unit, unit.k).steps
    assert step.operands.d.name == "e11m23"
    fp64 = resolve(
        "tfdpa@products=2,a_format=fp64,b_format=fp64,c_format=fp32,d_format=fp32,fraction_bits=exact,"
        "conversion=RNE-FP32,c_position=last,accumulator=RNE-E15M23"
    )
    with pytest.raises(InputError, match="expected sums rounded to fp32"):
        growth(fp64, fp64.k)
    # Beside a c the wider sum is no number of d's format.
    with pytest.raises(InputError):
        growth(unit, 2 * unit.k)
