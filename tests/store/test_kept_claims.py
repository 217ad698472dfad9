"""Kept claims: records by their schema, kept once, and audited by answering them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcformal.design.names import resolve
from tcformal.errors import RecordError
from tcformal.query.claims.answered import prove_claim
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.audit.claim_audit import audit_claim
from tcformal.store.claim_records import CLAIM
from tcformal.store.schema import SEAL, check, seal
from tcformal.store.store import Store

CARRY = ("volta/mma.m8n8k4.f32.f16.f16.f32", "carry-bits")
ORDER = ("tfdpa@products=1,k=2", "product-order")
OPEN = ("tfdpa@products=1000000,normalise_products=true", "carry-bits")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A claim that holds, one that is refuted, and one without an answer."""
    store = Store(tmp_path)
    for which in (CARRY, ORDER, OPEN):
        prove_claim(*which, store=store)
    return store


def record_of(store: Store, which: tuple[str, str]) -> dict[str, Any]:
    """The record of a unit and a claim."""
    record = store.claims.newest(which[1], which[0])
    assert record is not None
    return record


def altered(record: dict[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A record with other words and a seal that fits them."""
    return seal({**{key: value for key, value in record.items() if key != SEAL}, **change}, "claim")


def test_records_are_as_their_schema_says(store: Store) -> None:
    records = store.claims.all()
    assert [r["verdict"] for r in records] == ["HOLDS", "VIOLATED", "UNKNOWN"]
    for record in records:
        check(record, "claim")
        with pytest.raises(RecordError):
            check({**record, "verdict": "PERHAPS"}, "claim")


def test_the_same_answer_is_kept_once(store: Store, tmp_path: Path) -> None:
    before = (tmp_path / CLAIM.file).read_bytes()
    for which in (CARRY, ORDER, OPEN):
        prove_claim(*which, store=store)
    assert (tmp_path / CLAIM.file).read_bytes() == before


def test_a_unit_under_another_ones_name_is_not_kept(tmp_path: Path) -> None:
    """What holds of it would be said of the other one."""
    unit, store = resolve(CARRY[0]), Store(tmp_path)
    other = replace(unit, design=replace(unit.design, fraction_bits=30))
    with pytest.raises(RecordError, match=r"^expected a unit that its name gives back, but got 'volta/"):
        prove_claim(other, CARRY[1], store=store)
    assert store.claims.all() == []


def test_a_claim_is_audited_by_answering_it_again(store: Store) -> None:
    found = [audit_claim(store, record_of(store, which)) for which in (CARRY, ORDER, OPEN)]
    assert [x.status for x in found] == [AuditStatus.HOLDS, AuditStatus.HOLDS, AuditStatus.OPEN]
    assert found[0].reason.startswith("theorem carry_bits_suffice: ")
    assert found[1].reason.startswith("refuted again: ")


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "VIOLATED"},
        {"reason": "no carry bits are needed"},
        {"unit": "valpey@terms=4"},
        {"claim": "integer-sums"},
        {"answered_by": "solvers"},
        {"theorem": None},
    ],
)
def test_an_altered_claim_does_not_hold(store: Store, change: Mapping[str, Any]) -> None:
    assert audit_claim(store, altered(record_of(store, CARRY), change)).status is not AuditStatus.HOLDS


@pytest.mark.slow
def test_a_claim_that_other_solvers_prove_again_holds(tmp_path: Path) -> None:
    """Whoever answers; a record that says another verdict fails."""
    store, which = Store(tmp_path), ("rdna4/v_wmma_f16_16x16x16_f16", "zero-products")
    if prove_claim(*which, store=store).answered_by != "solvers":
        pytest.skip("a theorem answers it")
    (tmp_path / "answers.jsonl").write_text("")
    named = altered(record_of(store, which), {"reason": "z3 and cvc5 found no inputs"})
    assert audit_claim(store, named).status is AuditStatus.HOLDS
    assert (tmp_path / "answers.jsonl").read_text() == "", "an audit keeps nothing"
    contrary = altered(record_of(store, which), {"verdict": "VIOLATED"})
    assert audit_claim(store, contrary).status is AuditStatus.FAILED


def test_a_number_that_is_not_the_theorems_is_refused(store: Store) -> None:
    record = record_of(store, CARRY)
    theorem = json.loads(json.dumps(record["theorem"]))
    theorem["numbers"]["carry_bits"] = "3"
    found = audit_claim(store, altered(record, {"theorem": theorem}))
    assert found.status is AuditStatus.FAILED
    assert "expected theorem" in found.reason
