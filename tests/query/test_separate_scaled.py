"""Separating and proving block-scaled units with the real solvers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind
from tcformal.query.separate import prove_equal, separate
from tcformal.query.shrink import shrink, witness_cost
from tcformal.query.verdict import Verdict
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.result import Limits

#: Generous: no answer here may depend on how busy the machine is.
LIMITS = Limits(time_s=300.0, memory_mb=8192, seed=0)

MX4 = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0"
MXF4 = "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
NV8 = NV.replace("ue4m3", "ue8m0")
UNEQUAL = "expected two units of equal scales, but they are "
NONE = "; with scale=none in a name no element has one"
ONES = {MX4: 0x7F, MXF4: 0x7F, NV: 0x38}


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrinking ends by itself, however busy the machine is."""
    monkeypatch.setattr(
        "tcformal.query.pair.shrink", lambda q, w, seconds: shrink(q, w, seconds=30 * seconds)
    )


def assert_separated(v: Verdict[EqualityQuestion]) -> Witness:
    """Both witnesses replay on integers and on the oracle; the shown one costs no more."""
    assert v.kind is Kind.SEPARATED, v.reason
    assert v.witness is not None
    assert v.found is not None
    for w in (v.witness, v.found):
        assert v.question.replay(w.inputs()).confirms
    assert v.question.replay(v.witness.inputs()).integers == v.results
    assert witness_cost(v.question, v.witness) <= witness_cost(v.question, v.found)
    return v.witness


@pytest.mark.parametrize(
    ("first", "second", "live"),
    [
        pytest.param(MX4, f"{MX4}@fraction_bits=24", 1, id="mxf8f6f4"),
        pytest.param(MX4, MXF4, 1, id="mxf8f6f4-chained-to-mxf4"),
        pytest.param(NV, f"{NV}@fraction_bits=34", 1, id="mxf4nvf4"),
        pytest.param(NV, f"{NV}@zero_exponent=-20", 0, id="mxf4nvf4-zeros"),
    ],
)
def test_scaled_units_are_separated_by_one_product(first: str, second: str, live: int) -> None:
    v = separate(first, second, limits=LIMITS)
    w = assert_separated(v)
    assert sum(1 for x, y in zip(w.a, w.b, strict=True) if x or y) <= live
    assert {*w.scale_a, *w.scale_b} == {ONES[first]}
    data = v.to_json()
    assert data["formats"]["scale"] == resolve(first).scale_format.name  # type: ignore[union-attr]
    for name, row in (("scale_a", w.scale_a), ("scale_b", w.scale_b)):
        assert [int(x["hex"], 16) for x in data["witness"][name]] == list(row)


def test_a_bound_on_scales_is_kept() -> None:
    """Only scales above 1 are allowed, so the witness has them."""
    v = separate(
        MX4,
        f"{MX4}@fraction_bits=24",
        limits=LIMITS,
        assumptions=Assumptions(("finite",), scale_exponents=(3, 5)),
    )
    w = assert_separated(v)
    assert {*w.scale_a, *w.scale_b} <= {0x82, 0x83, 0x84}
    assert v.to_json()["assumptions"] == [
        "no operand is NaN or Inf",
        "exponents of non-zero scales in 3..5",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(NV, NV, id="itself"),
        pytest.param(
            NV,
            "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            id="same-parameters",
        ),
    ],
)
def test_scaled_units_of_one_definition_are_equivalent(first: str, second: str) -> None:
    v = prove_equal(first, second, limits=LIMITS)
    assert v.kind is Kind.EQUIVALENT, v.reason
    assert v.question.same_definition


def test_eight_carry_bits_are_enough_for_scaled_products() -> None:
    """32 products and c, each below 4: a proof over all operands and scales, of two definitions."""
    v = prove_equal(MX4, f"{MX4}@carry_bits=8", limits=LIMITS)
    assert v.kind is Kind.EQUIVALENT, v.reason
    assert not v.question.same_definition


def test_scales_cannot_be_nan_where_operands_are_finite() -> None:
    """Units of different NaN words, where neither elements nor c can be NaN."""
    nan_words = MX4, f"{MX4}@nan_word=0x7fc00000"
    w = assert_separated(separate(*nan_words, limits=LIMITS, assumptions=Assumptions(c=0)))
    assert sorted((*w.scale_a, *w.scale_b)) == [0x7F, 0xFF]
    finite = prove_equal(*nan_words, limits=LIMITS, assumptions=Assumptions(("finite",), c=0))
    assert finite.kind is Kind.EQUIVALENT, finite.reason


# ---------------------------------------------------------------------- questions that are refused
@pytest.mark.parametrize(
    ("first", "second", "texts", "sentence"),
    [
        (NV8, MXF4, [], f"{UNEQUAL}e8m0 per 16 in {NV8} and e8m0 per 32 in {MXF4}{NONE}"),
        (NV, NV8, [], f"{UNEQUAL}ue4m3 per 16 in {NV} and e8m0 per 16 in {NV8}{NONE}"),
        (
            "tfdpa@products=2",
            "tfdpa@products=4",
            ["scale_exponents=0..1"],
            "expected units with scales for scale_exponents, but got tfdpa@products=2",
        ),
        (
            NV,
            NV,
            ["scale_exponents=3"],
            "expected scale_exponents as LOW..HIGH, but got '3'",
        ),
        (
            NV,
            NV,
            ["scale_exponents"],
            "expected assumption scale_exponents with a value, such as scale_exponents=-8..8, but got none",
        ),
    ],
)  # fmt: skip
def test_questions_about_scales_that_are_refused(
    first: str, second: str, texts: list[str], sentence: str
) -> None:
    one, other = resolve(first), resolve(second)
    with pytest.raises(InputError) as caught:
        question(one, other, from_texts(one.c_format, texts))
    assert str(caught.value) == sentence


def test_a_chain_that_cuts_a_block_of_scales_is_refused() -> None:
    whole = resolve(MX4)
    half = replace(whole, name="made/half", k=16)
    with pytest.raises(InputError) as caught:
        question(whole, half, Assumptions())
    assert str(caught.value) == (
        "expected units of equal k, because made/half cannot be chained: "
        "its k is 16, which cuts a block of 32 that share a scale"
    )


def test_bounds_on_scales_leave_operands_alone_and_the_reverse() -> None:
    """Each bound is on its own kind of operand, and both are read back from their spellings."""
    one = resolve(MX4)
    texts = ["exponents=0..1", "scale_exponents=-3..4"]
    what = from_texts(one.c_format, texts)
    assert what.spellings() == texts
    q = question(one, resolve(f"{MX4}@fraction_bits=24"), what)
    run = q.evaluator()
    w = Witness((2, *[0] * 31), (2, *[0] * 31), 0, (0x7F,), (0x7F,))
    for scale, x, allowed in (
        (0x7C, 2, 1),
        (0x83, 2, 1),
        (0x7B, 2, 0),
        (0x84, 2, 0),
        (0x7F, 6, 0),
        (0xFF, 2, 0),
    ):
        new = replace(w, scale_b=(scale,), a=(x, *[0] * 31))
        assert run(new.inputs())[0] == allowed, (scale, x)
