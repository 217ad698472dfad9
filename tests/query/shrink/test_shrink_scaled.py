"""Shrinking with block scales: 1 where it can be, never dearer than what was found, assumptions kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from sampled import one_in
from tcformal.design.names import resolve
from tcformal.encodings.catalog import FORMATS
from tcformal.oracle.values import NumberClass, decode, parse_value
from tcformal.query.assume import Assumptions, assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.shrink import (
    candidates,
    rescaled,
    scale_cost,
    shrink,
    simpler_scales,
    templates,
    witness_cost,
)
from tcformal.simulation.operands.batch import batch, witness_at
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
    assert q.replay(w.inputs()).confirms
    small = shrink(q, w, seconds=SECONDS)
    assert q.replay(small.inputs()).confirms
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


def test_a_nan_scale_that_is_not_needed_goes() -> None:
    q = ask(MX, f"{MX}@fraction_bits=24,nan_word=0x7fc00000")
    small = checked(q, Witness((0x38, *[0] * 31), (0x38, *[0] * 31), 0, (NAN,), (NAN,)))
    assert len([x for x in (*small.scale_a, *small.scale_b) if x == NAN]) <= 1


def test_the_lowest_encoding_is_a_scale_like_any_other() -> None:
    """0 is 2^-127 in e8m0: it costs, and becomes 1."""
    assert scale_cost(E8M0, 0) > scale_cost(E8M0, ONE - 1) > 0
    q = ask(MX4, MXF4)
    c = parse_value(FORMATS["fp32"], "-2^26")
    w = Witness((2, *[0] * 63), (2, *[0] * 63), c, (ONE, 0), (ONE, 0))
    assert scales(checked(q, w)) == {ONE}


def test_scale_costs_are_ordered_as_people_read() -> None:
    for fmt, texts in (
        (E8M0, ["1", "2", "2^4", "2^-20", "2^-127"]),
        (UE4M3, ["1", "2", "1.5", "1.375"]),
    ):
        costs = [scale_cost(fmt, parse_value(fmt, text)) for text in texts]
        assert costs[0] == 0
        assert all(x < y for x, y in pairwise(costs))
        assert scale_cost(fmt, parse_value(fmt, "nan")) > costs[-1]
    assert scale_cost(UE4M3, 0x38 | 0x80) > scale_cost(UE4M3, 0x38) == 0  # the bit that is ignored
    assert scale_cost(UE4M3, 0) > 0


@pytest.mark.slow
def test_the_ignored_bit_of_a_scale_is_cleared() -> None:
    q = ask(NV, f"{NV}@fraction_bits=34")
    w = separating(q, 240, seed=3)[0]
    noisy = replace(w, scale_a=tuple(x | 0x80 for x in w.scale_a))
    assert not any(x & 0x80 for x in scales(checked(q, noisy)))


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
        if q.replay((x := replace(w, c=parse_value(FORMATS["fp32"], f"{sign}2^{e}"))).inputs()).confirms
    )
    assert scales(checked(q, found)) == {0x81}


# ---------------------------------------------------------------------- candidates
@pytest.mark.parametrize(
    ("first", "second"), one_in(3, [(MX4, MXF4), (MX, f"{MX}@products=16"), (NV, f"{NV}@fraction_bits=34")])
)
def test_candidates_with_scales_are_encodings(first: str, second: str) -> None:
    q = ask(first, second)
    o, fmt = q.first.operands, q.first.scale_format
    assert fmt is not None
    w = separating(q, 240, seed=3)[0]
    for near in candidates(q, w):
        assert (len(near.a), len(near.b)) == (q.k, q.k)
        assert (len(near.scale_a), len(near.scale_b)) == (len(w.scale_a), len(w.scale_b))
        assert all(0 <= x < 1 << o.a.width for x in (*near.a, *near.b))
        assert all(0 <= x < 1 << fmt.width for x in scales(near))
        assert 0 <= near.c < 1 << o.c.width


def test_simpler_scales_are_finite_encodings_of_the_format() -> None:
    for fmt in (E8M0, UE4M3):
        for raw in range(1 << fmt.width):
            found = list(simpler_scales(fmt, raw))
            assert fmt.one in found
            assert all(decode(fmt, x).kind is NumberClass.FINITE for x in found)


def test_blocks_move_with_their_scales() -> None:
    """A lone product of the last block: to the first one with its scale, and under the first one's."""
    q = ask(NV, f"{NV}@fraction_bits=34")
    w = Witness((*[0] * 48, 2, *[0] * 15), (*[0] * 48, 2, *[0] * 15), 0, (0x38,) * 3 + (0x40,), (0x38,) * 4)
    found = list(rescaled(q, w, [48]))
    assert replace(w, a=(2, *[0] * 63), b=(2, *[0] * 63), scale_a=(0x40, 0x38, 0x38, 0x38)) in found
    two = 4
    carried = {(x.a[0], x.b[0]) for x in found if not x.a[48] and x.scale_a == w.scale_a and x.a[0]}
    assert carried & {(two, 2), (2, two)}


def test_templates_reach_below_what_products_hold() -> None:
    """1 and 2^-30 side by side take scales where products end at 2^-2."""
    q = ask(MXF4, f"{MXF4}@fraction_bits=30")
    bare = Witness((0,) * 64, (0,) * 64, 0, (NAN, 0), (5, 6))
    run = q.evaluator()
    hit = next(w for w in templates(q, bare) if run(w.inputs())[1])
    assert q.replay(hit.inputs()).confirms
    assert hit.scale_b == (ONE, ONE)
    assert hit.scale_a[1] < ONE


def test_units_without_scales_have_no_such_candidates() -> None:
    q = ask("tfdpa@products=4", "tfdpa@products=4,zero_exponent=0")
    assert list(rescaled(q, Witness((1,) * 4, (1,) * 4, 0), [0, 1, 2, 3])) == []
