"""The answers that are kept in `results/` hold today: about the units as they are, with what they rest on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from tcformal.store.audit.audit import AuditStatus, audit
from tcformal.store.audit.claim_audit import audit_claim
from tcformal.store.store import Store

SHIPPED = Path(__file__).parents[2] / "results"
#: One of so many answers, and of so many claims, is checked; `tcformal results verify` checks all.
EACH = 30
T = TypeVar("T")


def some(of: Sequence[T], seed: int) -> list[T]:
    return random.Random(seed).sample(of, len(of) // EACH)


@pytest.mark.slow
def test_kept_answers_hold() -> None:
    store = Store(SHIPPED)
    found = [audit(store, entry) for entry in some(store.records(), 1)]
    failed = [(x.entry.id, x.reason) for x in found if x.status is AuditStatus.FAILED]
    assert len(found) > 20
    assert not failed


@pytest.mark.slow
def test_kept_claims_hold() -> None:
    store = Store(SHIPPED)
    found = [audit_claim(store, record) for record in some([*store.claims.all()], 2)]
    failed = [(x.claim, x.unit, x.reason) for x in found if x.status is AuditStatus.FAILED]
    assert len(found) > 20
    assert not failed
