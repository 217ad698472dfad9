"""Shrinking with block scales: 1 where it can be, never dearer than what was found, assumptions kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import parse_value
from tcformal.query.assume import Assumptions, assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import replay
from tcformal.query.shrink.shrink import shrink, witness_cost
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.random import batch
from tcformal.simulation.operands.witness import Witness

MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"
MX4 = MX.replace("e4m3", "e2m1")
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
E8M0, UE4M3 = FORMATS["e8m0"], FORMATS["ue4m3"]
ONE, NAN = 0x7F, 0xFF
#: Long enough that no test depends on how busy the machine is.
SECONDS = 120.0


def ask(first: str, second: str, assumed: Assumptions = Assumptions()) -> EqualityQuestion:  # noqa: B008
    return question(resolve(first), resolve(second), assumed)


def separating(q: EqualityQuestion, n: int, seed: int) -> list[Witness]:
    """Seeded operands and scales on which the two units differ, in no way simple."""
    x = batch(q.first, q.k, n, seed)
    run = q.evaluator()
    return [w for w in (witness_at(x, i) for i in range(n)) if run(w.inputs())[1]]


def checked(q: EqualityQuestion, w: Witness) -> Witness:
    """The shrunk witness, after it was seen to replay and to cost no more."""
    assert replay(q, w).separates
    small = shrink(q, w, seconds=SECONDS)
    assert replay(q, small).separates
    assert witness_cost(q, small) <= witness_cost(q, w)
    return small


def live(w: Witness) -> int:
    return sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y)


def scales(w: Witness) -> set[int]:
    return {*w.scale_a, *w.scale_b}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(MX, f"{MX}@fraction_bits=24", id="products", marks=pytest.mark.long),
        pytest.param(NV, f"{NV}@fraction_bits=34", id="groups"),
        pytest.param(MX4, MXF4, id="two-calls-and-one"),
    ],
)
def test_scales_that_are_not_needed_become_one(first: str, second: str) -> None:
    q = ask(first, second)
    for w in separating(q, 240, seed=3)[:2]:
        small = checked(q, w)
        assert live(small) == 1
        assert scales(small) == ({0x38} if first == NV else {ONE})


def test_a_difference_that_lies_in_a_scale_keeps_one_of_it() -> None:
    """Zero products at their own exponent: the scale alone decides how much of c is kept."""
    q = ask(MX, f"{MX}@zero_exponent=own")
    for w in separating(q, 600, seed=1)[:2]:
        small = checked(q, w)
        assert live(small) == 0
        assert len([x for x in (*small.scale_a, *small.scale_b) if x != ONE]) == 1


# ---------------------------------------------------------------------- NaN, zero, and the lowest encoding
def test_a_nan_scale_that_is_needed_stays_alone() -> None:
    """Units that differ in nothing but their NaN word, no operand of which can be NaN."""
    q = ask(MX4, f"{MX4}@nan_word=0x7fc00000", assumptions(FORMATS["fp32"], {"c": "0"}))
    w = Witness((3,) * 32, (5,) * 32, 0, (NAN,), (0x13,))
    assert checked(q, w) == Witness((0,) * 32, (0,) * 32, 0, (NAN,), (ONE,))


# ---------------------------------------------------------------------- assumptions
def test_bounds_on_scales_hold_all_the_way() -> None:
    """Scales of at least 4 are ruled in: none of them becomes 1."""
    assumed = assumptions(FORMATS["fp32"], {"finite": True, "scale_exponents": "2..4"})
    q = ask(MX, f"{MX}@fraction_bits=24", assumed)
    w = Witness((0x38, *[0] * 31), (0x38, *[0] * 31), 0, (0x83,), (0x82,))
    found = next(
        x
        for e in range(20, 40)
        for sign in ("", "-")
        if replay(q, x := replace(w, c=parse_value(FORMATS["fp32"], f"{sign}2^{e}"))).separates
    )
    assert scales(checked(q, found)) == {0x81}
