"""Proofs of one sum after the other: designs that differ in what no later sum sees, and others."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.proofs import known_numbers, step_by_step
from tcformal.proofs.claims.equality import equal_in_sums
from tcformal.proofs.claims.same_sums import side_by_side
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.tactics.alike.like_sums import rounded_alike
from tcformal.proofs.tactics.alike.same_totals import not_least
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.rescaled import Guesses
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
#: Two products are cut toward zero and rounded; c comes last.
SUM = (
    "tree@steps=join((0+1)+c),join.conversion=RNE-FP32,join.fraction_bits=exact,fraction_bits=13,"
    "conversion=RZ-FP32,zero_sign=positive,overflow=infinity,a_format=e2m1,b_format=e2m1"
)


def proved(first: str, second: str, k: int | None = None) -> bool:
    book = LemmaBook(limits=LIMITS)
    v = equal_in_sums(resolve(first), resolve(second), book, LIMITS, k)
    if v is None:
        return False
    assert v.kind is Kind.HOLDS
    assert all(step.proved for part in v.parts for step in part.steps)
    return True


@pytest.mark.slow
def test_what_no_sum_hands_on_is_not_seen() -> None:
    """A +0 that is added, and the sign of a zero that no sum of these numbers is rounded to."""
    small = SUM.replace("join.fraction_bits=exact,", "").replace("join", "").replace("FP32", "FP16")
    small = small.replace(".conversion=RNE-FP16,", "") + ",c_format=fp16,d_format=fp16"
    assert proved(small.replace("(0+1)", "(0)"), small.replace("(0+1)", "(0+z)"))
    small = small.replace("fraction_bits=13", "fraction_bits=5")
    assert proved(small, small.replace("zero_sign=positive", "zero_sign=sum"))


@pytest.mark.long
@pytest.mark.parametrize("change", [("(0+1)", "(0+1+z)"), ("zero_sign=positive", "zero_sign=sum")])
def test_sums_of_a_tree_are_proved_one_after_the_other(change: tuple[str, str]) -> None:
    assert proved(SUM, SUM.replace(*change))


@pytest.mark.long
@pytest.mark.parametrize(
    "changed",
    [
        SUM.replace("zero_sign=positive", "zero_sign=ieee"),
        SUM.replace("fraction_bits=13", "fraction_bits=2"),
        SUM.replace("join.conversion=RNE", "join.conversion=RZ"),
        SUM.replace("(0+1)", "(0)").replace("+c)", "+1+c)"),
    ],
)
def test_what_changes_a_result_is_not_proved(changed: str) -> None:
    assert not proved(SUM, changed)


@pytest.mark.long
def test_inputs_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A design that differs, where no input that was tried shows it."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    assert not proved(SUM, SUM.replace("zero_sign=positive", "zero_sign=ieee"))


#: Products cut to odd at few bits, then c, rounded to odd, too: RVBNA's sums.
ODD = (
    "tree@steps=join((0..2)+c),join.conversion=RO-FP32,join.fraction_bits=exact,join.normalise_products=false,"
    "fraction_bits=26,alignment_rounding=RO,conversion=RO-FP32,zero_sign=positive,overflow=infinity,"
    "a_format=e4m3,b_format=e4m3"
)
LATE = ODD.replace("join.fraction_bits=exact,join.normalise_products=false,", "")
FEW, WIDE = ODD.replace("26", "4"), ODD.replace("e4m3", "bf16").replace("0..2", "0+1")
NARROW = FEW.replace("0..2", "0+1").replace("e4m3", "e2m1")


@pytest.mark.long
def test_an_overflow_that_never_is_changes_nothing() -> None:
    assert proved(ODD, ODD.replace("overflow=infinity", "overflow=ieee"))


@pytest.mark.parametrize(("unit", "never"), [(NARROW, True), (WIDE, False)])
def test_what_becomes_of_an_overflow_is_no_matter_where_none_is(unit: str, never: bool) -> None:
    """One sum alone; where it may overflow, nothing is taken for proved, and no two nodes are made equal."""
    g, dots = side_by_side(resolve(unit), resolve(unit.replace("overflow=infinity", "overflow=ieee")))
    c = Composition(g, LemmaBook(limits=LIMITS))
    one, two = (next(iter(dot.steps)) for dot in dots)
    fact = rounded_alike(SumSteps(c, one.scope), one, two, Guesses(0, 0, 0))
    assert (fact is not None and c.equal(fact, g.truth(True))) is never
    assert any(x.lemma.holds for x in c.uses) is never


@pytest.mark.long
@pytest.mark.parametrize("zeros", ["zero_sign=positive,", ""])
def test_a_constant_zero_changes_nothing(zeros: str) -> None:
    """Neither does the sign of a zero that a +0 was added to."""
    assert proved(ODD, ODD.replace("(0..2)", "(0..2+z)").replace("zero_sign=positive,", zeros))


@pytest.mark.long
@pytest.mark.parametrize("changed", [LATE, ODD + ",zero_exponent=own"])
def test_sums_of_numbers_that_are_normalised_or_not_are_alike(changed: str) -> None:
    assert proved(ODD, changed)


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "changed"),
    [
        (NARROW, NARROW.replace("alignment_rounding=RO", "alignment_rounding=RZ")),
        pytest.param(ODD, LATE.replace("fraction_bits=26", "fraction_bits=24"), marks=pytest.mark.long),
        pytest.param(ODD, ODD.replace("(0..2)", "(0..2+z)") + ",carry_bits=0", marks=pytest.mark.long),
        pytest.param(FEW, FEW.replace("2)", "2+z)") + ",zero_exponent=-8", marks=pytest.mark.long),
        (WIDE, WIDE.replace("overflow=infinity", "overflow=ieee")),
    ],
)
def test_no_lemma_takes_what_differs(first: str, changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few bits, another rounding, a sum that wraps, zeros above other terms, sums that overflow."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(first, changed)


#: A product and c, of which a subnormal is a zero of its own sign, or of one sign.
SIGNED = (
    "tree@steps=(0+c),fraction_bits=exact,conversion=RNE-E5M2,c_subnormals=signed_zero,zero_sign=positive,"
    "a_format=e2m1,b_format=e2m1,c_format=e5m2,d_format=e5m2"
)
POSITIVE = SIGNED.replace("signed_zero", "positive_zero")


@pytest.mark.slow
def test_the_sign_of_a_zero_c_that_no_sum_shows_is_not_seen() -> None:
    assert proved(SIGNED, POSITIVE)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("=positive,", "=ieee,"),
        pytest.param("c_subnormals=signed_zero,", "", marks=pytest.mark.slow),
    ],
)
def test_a_sign_of_c_that_shows_is_not_proved_away(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sign of a zero sum; a subnormal that is kept on one side."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    assert not proved(
        SIGNED.replace(old, new), POSITIVE.replace("=positive,", new) if "=" in new else POSITIVE
    )


#: Two products in two sums; of one product, the other call's words are 0, and no zero in the end is -0.
IN_TWO = (
    "tfdpa@products=1,k=2,fraction_bits=5,conversion=RNE-FP16,zero_sign=ieee,"
    "a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16"
)
#: The same, where the sign of a c that is made a zero is that of a sum which rounds to zero.
SHOWN = IN_TWO.replace("RNE-FP16,", "RNE-FP16,c_fraction_bits=7,accumulation=ones_complement,") + (
    ",c_subnormals=signed_zero,result_subnormals=tiny_zero"
)


@pytest.mark.long
def test_zeros_that_fill_calls_up_hide_a_sign() -> None:
    assert proved(IN_TWO, IN_TWO.replace("=ieee", "=positive"), 1)


@pytest.mark.long
def test_zeros_that_fill_calls_up_hide_no_other_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a second call, and of a sum that is no zero before it is rounded."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(IN_TWO, IN_TWO.replace("=ieee", "=positive"))
    assert not proved(SHOWN, SHOWN.replace("=ieee", "=positive"), 1)


def test_a_sum_that_another_node_stands_for_is_not_the_least_number() -> None:
    """Its bound is of the sum as it is made, not of what was proved equal to it."""
    g, (dot, _) = side_by_side(resolve(IN_TWO), resolve(IN_TWO), 1)
    c, total = Composition(g, LemmaBook(limits=LIMITS)), next(iter(dot.steps)).total
    assert total is not None
    last = total.partials[-1].node
    none = g.const(0, last.width)
    assert c.by_lemma("", g.sub_mod(g.sub_mod(none, g.sub_mod(none, last)), none), last, name="", cut=[last])
    (fact,) = not_least(c, "", total)
    assert c.equal(fact, g.truth(True))


#: A group of two products, and a c whose zero has the exponent of its least numbers.
GROUP = (
    "tfdpa@products=2,k=2,fraction_bits=5,c_fraction_bits=7,aligned_group=2,alignment_rounding=RD,"
    "zero_exponent=-16,conversion=RNE-FP16,a_format=e2m1,b_format=e2m1,c_format=fp16,d_format=fp16"
)


def test_an_exponent_that_is_always_chosen_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    own = GROUP.replace("=-16", "=own")
    assert proved(GROUP, own)
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda *_: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    monkeypatch.setattr(known_numbers, "_DEPTHS", (0,))
    assert not proved(GROUP.replace("=-16", "=-15"), own)
