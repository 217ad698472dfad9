"""The first line of what remains: every value that nothing decides, by parameter."""

from __future__ import annotations

import numpy as np

from tcformal.design.names import resolve
from tcformal.identification.identification import AxisOutcome, Identification, IdentifyVerdict, Settled
from tcformal.report.identified import identification_view
from tcformal.report.parts import Headline
from tcformal.simulation.operands.batch import Batch

UNIT = resolve("volta/mma.m8n8k4.f32.f16.f16.f32")


def line(*axes: AxisOutcome) -> str:
    nothing = np.zeros((0, 4), np.uint64)
    found = Identification(
        verdict=IdentifyVerdict.REMAINING, reason="", device={"device": "box"}, operands=UNIT,
        history=(Batch(nothing, nothing, nothing[:, 0]), nothing[:, 0]), classes=((UNIT.name,),), axes=axes,
    )  # fmt: skip
    head = identification_view(found)[0]
    assert isinstance(head, Headline)
    return head.rest.partition("; undecided: ")[2]


def value(axis: str, text: str, settled: Settled = Settled.UNDECIDED) -> AxisOutcome:
    return AxisOutcome(axis, text, f"{UNIT.name}@{axis}={text}", settled)


def test_every_open_value_is_said_once_by_its_parameter() -> None:
    many = [value("zero_exponent", str(-n)) for n in range(100, 130)]
    said = line(*many, value("carry_bits", "5", Settled.UNTRIED), value("overflow", "ieee"), *many)
    exponents = ", ".join(str(-n) for n in range(100, 130))
    assert said == f"zero_exponent = {exponents}; carry_bits = 5; overflow = ieee"


def test_a_value_that_is_refuted_or_proved_is_not_open() -> None:
    """One that is proved beside the simplest design is not open beside another one."""
    proved, again = value("overflow", "ieee", Settled.SAME), value("overflow", "ieee")
    assert not line(proved, value("carry_bits", "5", Settled.REFUTED))
    assert line(proved, again, value("carry_bits", "6")) == "carry_bits = 6"


def test_of_another_design_its_other_parameters_are_said() -> None:
    name = f"{UNIT.name}@carry_bits=4,zero_sign=ieee"
    assert (
        line(AxisOutcome("design", name, name, Settled.UNDECIDED)) == "design = carry_bits=4,zero_sign=ieee"
    )
    other = "turing/mma.m16n8k8.f32.f16.f16.f32"
    assert line(AxisOutcome("design", other, other, Settled.UNDECIDED)) == f"design = {other}"
