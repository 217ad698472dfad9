"""Proofs of one sum after the other: designs that differ in what no later sum sees, and others."""

from __future__ import annotations

import pytest

from tcformal.design.names import resolve
from tcformal.proofs.claims import step_by_step
from tcformal.proofs.claims.equality import equal_in_sums
from tcformal.proofs.lemmas import LemmaBook
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=10.0, memory_mb=4096, seed=0)
#: Two products are cut toward zero and rounded; c comes last.
SUM = (
    "tree@steps=join((0+1)+c),join.conversion=RNE-FP32,join.fraction_bits=exact,fraction_bits=13,"
    "conversion=RZ-FP32,zero_sign=positive,overflow=infinity,a_format=e2m1,b_format=e2m1"
)


def proved(first: str, second: str) -> bool:
    book = LemmaBook(limits=LIMITS)
    v = equal_in_sums(resolve(first), resolve(second), book, LIMITS)
    if v is None:
        return False
    assert v.kind is Kind.HOLDS
    assert all(step.proved for part in v.parts for step in part.steps)
    return True


def test_a_zero_that_a_chain_starts_from_is_not_seen() -> None:
    assert proved(SUM, SUM.replace("(0+1)", "(0+1+z)"))


def test_the_sign_of_a_zero_sum_that_has_one_anyway_is_not_seen() -> None:
    assert proved(SUM, SUM.replace("zero_sign=positive", "zero_sign=sum"))


@pytest.mark.parametrize(
    "changed",
    [
        SUM.replace("zero_sign=positive", "zero_sign=ieee"),
        SUM.replace("x"),
        SUM.replace("join.conversion=RNE", "join.conversion=RZ"),
        SUM.replace("(0+1)", "(0)").replace("+c)", "+1+c)"),
    ],
)
def test_what_changes_a_result_is_not_proved(changed: str) -> None:
    assert not proved(SUM, changed)


def test_inputs_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A design that differs, where no input that was tried shows it."""
    monkeypatch.setattr(step_by_step._Proof, "tried", lambda _: True)
    monkeypatch.setattr(step_by_step._Proof, "seen", lambda _, node: True)
    assert not proved(SUM, SUM.replace("zero_sign=positive", "zero_sign=ieee"))
