"""Forged, altered and stale records: neither served nor passed by an audit, whatever digest they carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kept import (
    FOUR,
    FOUR_25,
    SIGNS,
    ask,
    certified,
    keep_proof,
    proof,
    proof_kept,
    reopened,
    rewrite,
    same,
    separated,
    trivial,
    unserved,
    vacuous,
)
from tcformal.query.pair import EqualityQuestion
from tcformal.query.verdict import Verdict
from tcformal.solve import drat
from tcformal.store.audit.audit import AuditStatus, State, audit, state
from tcformal.store.certificates import PROOF
from tcformal.store.schema import SEAL
from tcformal.store.store import Store


# ---------------------------------------------------------------------- refusing
def change(path: str, value: Any) -> Callable[[Any], None]:
    """A change of one place of a record, named by its keys."""

    def make(record: Any) -> None:
        *keys, last = [int(x) if x.isdecimal() else x for x in path.split("/")]
        for key in keys:
            record = record[key]
        record[last] = value

    return make


def both(*changes: Callable[[Any], None]) -> Callable[[Any], None]:
    """Several changes in one."""

    def make(record: Any) -> None:
        for one in changes:
            one(record)

    return make


VALUE = {"hex": "0x3c00", "value": "1"}
ZERO = {"hex": "0x0000", "value": "0"}
FORGED = [
    ("a witness that does not separate", separated, change("witness/a/0", ZERO), "it does not replay"),
    ("a found witness that does not separate", separated, change("found_witness/a/0", ZERO),
     "it does not replay"),
    ("a value that is not the encoding's", separated, change("witness/a/0/value", "2"),
     "expected 16384 as the value of 0x7400, but got 2"),
    ("an encoding that is not the value's", separated, change("witness/a/0/hex", "0x7401"),
     "expected 16400 as the value of 0x7401, but got 16384"),
    ("an encoding beyond its format", separated, change("witness/a/0/hex", "0x17400"),
     "expected an integer from 0"),
    ("a row too long", separated, change("witness/a", [VALUE] * 5),
     "expected 4 values for a of the witness, but got 5"),
    ("scales that no unit takes", separated, change("witness/scale_a", [VALUE]),
     "expected 0 values for scale_a"),
    ("other results", separated, change("results/results/first", {"hex": "0x3f800000", "value": "1"}),
     "expected results {'results': {'first': "),
    ("an unsat beside a sat", separated, change("solvers/1/answer", "unsat"),
     "expected no unsat among the solvers' answers for SEPARATED, but got sat, unsat"),
    ("a sat beside an unsat", same, change("solvers/1/answer", "sat"), "expected no sat among"),
    ("an unsat that nobody gave", certified, change("solvers/0/answer", "unknown"),
     "expected unsat from cadical, which confirms EQUIVALENT, but got unknown"),
    ("a proof of a solver that gave none", certified, change("certificate/solver", "z3"),
     "expected unsat from z3, which confirms EQUIVALENT, but got no answer"),
    ("one solver confirming itself", same, both(change("confirmed_by", ["bitwuzla"]),
     change("solvers/1/answer", "timeout")),
     "expected two independent solvers or a certificate for EQUIVALENT, but got unsat from bitwuzla"),
    ("two solvers of one kind", same, both(change("solvers/0/name", "glucose"),
     change("solvers/1/name", "cadical"), change("confirmed_by", ["cadical"])),
     "expected two independent solvers or a certificate"),
    ("another verdict", same, change("verdict", "TIMEOUT"), None),
    ("a verdict on a property", same, change("verdict", "HOLDS"),
     "expected SEPARATED, EQUIVALENT or VACUOUS"),
    ("a solver that there is not", separated, change("solvers/1/name", "z4"),
     "expected answers of known solvers, but got one of z4"),
    ("vacuous without assumptions", same, change("verdict", "VACUOUS"), "expected assumptions in a question"),
    ("assumptions that nothing shows to hold", certified, change("allowed", None),
     "expected inputs that show that the assumptions of EQUIVALENT can hold, but got none"),
    ("inputs that do not obey the assumptions", certified,
     change("allowed/c", {"hex": "0x3f800000", "value": "1"}),
     "expected inputs that obey the assumptions, but these do not"),
    ("inputs for no assumptions", trivial,
     change("allowed", {"a": [VALUE] * 8, "b": [VALUE] * 8, "c": ZERO, "scale_a": [], "scale_b": []}),
     "expected no inputs that show"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "forge", "reason"), [pytest.param(*rest, id=name) for name, *rest in FORGED]
)
def test_a_forged_record_rejects(
    store: Store,
    told: list[str],
    made: Callable[[], Verdict[EqualityQuestion]],
    forge: Callable[[Any], None],
    reason: str | None,
) -> None:
    """Even one whose digest was renewed is neither served nor passed by an audit."""
    v = made()
    store.add(v)
    rewrite(store.path, forge)
    here, told = reopened(store)
    assert here.find(v.question, certify=None if v.certificate or v.witness else False) is None
    (entry,) = here.records()
    finding = audit(here, entry)
    if reason is None:
        assert (finding.status, told) == (AuditStatus.OPEN, [])
        return
    assert finding.status is AuditStatus.FAILED
    assert reason in finding.reason
    assert len(told) == 1
    assert told[0].startswith(f"record {entry.id[:12]} of {here.path} is not used: ")
    assert reason in told[0]


@pytest.mark.parametrize(
    ("path", "value"),
    [("witness/b/0", VALUE | {"hex": "0x3c01"}), ("verdict", "UNKNOWN"), ("seconds", 0.5),
     ("reason", "other"), (SEAL, "0" * 64), ("note", "more")],
)  # fmt: skip
def test_an_altered_record_rejects(store: Store, path: str, value: Any) -> None:
    v = same() if path == "verdict" else separated()
    store.add(v)
    rewrite(store.path, change(path, value), sealed=False)
    here, told = reopened(store)
    assert here.find(v.question, certify=False) is None
    (entry,) = here.records()
    assert state(entry) is State.DAMAGED
    assert audit(here, entry).status is AuditStatus.FAILED
    assert len(told) == 1


@pytest.mark.parametrize("damage", ["gone", "cut", "tampered", "empty"])
def test_a_damaged_certificate_rejects(store: Store, damage: str) -> None:
    store.add(certified())
    path = store.folder / PROOF.file
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        tampered = whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]
        path.write_bytes({"cut": whole[:-7], "tampered": tampered, "empty": b""}[damage])
    here, told = reopened(store)
    assert unserved(here.find(certified().question))
    finding = audit(here, here.records()[0])
    assert finding.status is AuditStatus.FAILED
    assert finding.reason.startswith("expected a proof of digest ")
    assert len(told) == (1 if damage in ("gone", "empty") else 2)


def swap(store: Store, proof: bytes, **more: Any) -> None:
    """Put another proof in place, with every digest renewed."""
    before = certified().certificate
    assert before is not None
    made = replace(before, proof=proof)
    new = {**keep_proof(store.folder, made.proof), **more}
    rewrite(store.path, lambda record: record["certificate"].update(new))


def test_a_swapped_certificate_rejects(store: Store) -> None:
    """A proof of other clauses, whatever the record says of it, proves nothing about these."""
    other = vacuous().certificate
    assert other is not None
    store.add(certified())
    swap(store, other.proof)
    finding = audit(store, reopened(store)[0].records()[0])
    assert finding.status is AuditStatus.FAILED
    assert "expected a proof" in finding.reason
    swap(store, other.proof, cnf_sha256=other.cnf_sha256)
    finding = audit(store, reopened(store)[0].records()[0])
    assert finding.status is AuditStatus.FAILED
    assert finding.reason.startswith("expected a certificate of the clauses ")


def test_a_proof_that_does_not_hold_rejects(store: Store) -> None:
    """Its end is cut off before it was packed, so that the file is whole and every digest right."""
    store.add(certified())
    steps = drat.unpack(proof_kept(store.folder))
    swap(store, drat.pack(steps[:-1]))
    finding = audit(store, reopened(store)[0].records()[0])
    assert (finding.status, "expected a proof of " in finding.reason) == (AuditStatus.FAILED, True)


def test_a_verdict_under_another_question_rejects(store: Store) -> None:
    """The certificate of EQUIVALENT is none of VACUOUS, nor of other units."""
    for forge in (
        both(change("verdict", "VACUOUS"), change("allowed", None)),
        both(change("question/second", "valpey@terms=2,align_bits=2"),
             change("question/sha256", ask(SIGNS, "valpey@terms=2,align_bits=2", "c=0").digest())),
    ):  # fmt: skip
        store.add(certified())
        rewrite(store.path, forge)
        finding = audit(store, reopened(store)[0].records()[-1])
        assert finding.status is AuditStatus.FAILED
        assert finding.reason.startswith(
            ("expected a certificate of the clauses ", "expected no inputs that refute ")
        )


@pytest.mark.parametrize(
    ("forge", "reason"),
    [
        (change("question/second", "tfdpa@products=4,fraction_bits=26"), "stale"),
        (change("question/assumptions", ["finite"]), "stale"),
        (change("question/second", "tfdpa@products=8,fraction_bits=25"), "expected k 8 in the question"),
        (change("question/k", 8), "expected k 4 in the question, as its units have it, but got 8"),
        (change("question/formats/c", "fp16"), "expected formats "),
        (
            change("question/second", "nonsense"),
            "expected a question that can still be asked, but expected a known",
        ),
        (
            change("question/assumptions", ["finte"]),
            "expected a question that can still be asked, but expected a",
        ),
    ],
)
def test_a_changed_question_rejects(store: Store, forge: Callable[[Any], None], reason: str) -> None:
    store.add(separated())
    rewrite(store.path, forge)
    here, _ = reopened(store)
    (entry,) = here.records()
    assert state(entry) is State.STALE
    finding = audit(here, entry)
    assert finding.status is AuditStatus.FAILED
    assert reason in finding.reason


def test_an_answer_about_another_definition_is_stale(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the arithmetic has changed it is not served, and the next answer supersedes it."""
    monkeypatch.setattr("tcformal.query.question.Question.digest", lambda _: "0" * 64)
    store.add(separated())
    monkeypatch.undo()
    here, told = reopened(store)
    q = separated().question
    assert here.find(q) is None
    assert not here.has(q)
    assert [state(e) for e in here.records()] == [State.STALE]
    here.add(replace(separated(), seconds=2.0))
    assert [state(e) for e in here.records()] == [State.CURRENT]
    found = here.find(q)
    assert found is not None
    assert found.seconds == 2.0
    assert told == []


@pytest.mark.parametrize("allowed", [None, dict.fromkeys([*"ab"], [ZERO] * 4) | {"c": ZERO}])
def test_nothing_assumed_of_nothing_is_no_equality(store: Store, allowed: dict[str, Any] | None) -> None:
    """Where no input obeys the assumptions, no input separates either: true, proved, and not EQUIVALENT."""
    v = vacuous()
    assert v.certificate is not None
    made = proof(FOUR, FOUR_25, tuple(v.question.assumptions.spellings()), False)
    store.add(replace(v, certificate=made))
    shown = None if allowed is None else {**allowed, "scale_a": [], "scale_b": []}
    rewrite(store.path, both(change("verdict", "EQUIVALENT"), change("allowed", shown)))
    here, told = reopened(store)
    assert here.find(v.question) is None
    finding = audit(here, here.records()[0])
    assert finding.status is AuditStatus.FAILED
    assert "expected inputs that " in finding.reason
    assert len(told) == 1
