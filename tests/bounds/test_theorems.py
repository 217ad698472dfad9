"""Claims that bounds rest on: each is asked once, and is checked in the run that uses it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tcformal.bounds import theorems
from tcformal.bounds.theorems import Theorems
from tcformal.design.names import resolve
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

UNIT = resolve("sequential@format=fp16,products=1")


def asked(
    monkeypatch: pytest.MonkeyPatch, *, checked: bool, proved: Kind = Kind.HOLDS
) -> list[dict[str, Any]]:
    """What a store and the proofs are asked, by keywords; a kept claim HOLDS, checked in time or not."""
    calls: list[dict[str, Any]] = []

    def kept(*_: object, **how: Any) -> Any:
        calls.append(how)
        return SimpleNamespace(kind=Kind.HOLDS, checked=checked)

    def prove(*_: object, **how: Any) -> Any:
        calls.append(how)
        return SimpleNamespace(kind=proved, checked=True)

    monkeypatch.setattr("tcformal.proofs.prove.kept_or_proved", kept)
    monkeypatch.setattr("tcformal.proofs.claims.register.prove_claim", prove)
    return calls


def known() -> Theorems:
    """Theorems without a store."""
    return Theorems(None, Limits(), None, None, False, lambda _: None)


def test_a_claim_is_asked_once_with_the_lemmas_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, all_of = asked(monkeypatch, checked=True), known()
    for claim in ("error-bound", "relative-error", "error-bound"):
        assert all_of.holds(UNIT, claim)
        all_of.claims.clear()  # what one constant rests on, not what is known
    assert len(calls) == 2
    assert calls[0]["book"] is calls[1]["book"]


def test_a_kept_claim_that_was_not_checked_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the proof says counts, not what was kept."""
    calls, all_of = asked(monkeypatch, checked=False, proved=Kind.UNKNOWN), known()
    assert not all_of.holds(UNIT, "error-bound")
    assert len(calls) == 2
    assert calls[0]["seconds"] == theorems.CHECK_S
    assert all_of.claims[0].checked
