"""Audit of stored answers from the record alone and the current definitions."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind, Question
from tcformal.query.verdict import DECIDED
from tcformal.store.answers import (
    applied_theorems,
    check_allowed,
    check_answers,
    check_definition,
    check_replays,
    check_vectors,
    question_of,
    read_limits,
)
from tcformal.store.certificates import NOT_KEPT
from tcformal.store.lines import Record
from tcformal.store.store import Entry, Store

#: Time limit of an audit for each certificate and each claim, in seconds.
AUDIT_S = 600.0


class State(enum.Enum):
    """The state of a record before its answer is checked: damaged, stale or current."""

    CURRENT = "about a definition that its units have today"
    STALE = "about a definition that its units no longer have"
    DAMAGED = "not as its schema says, or altered"


class AuditStatus(enum.Enum):
    """The result of one record's audit."""

    HOLDS = "checked again"
    UNCHECKED = "nothing to check it by"
    OPEN = "no answer to check"
    FAILED = "refused"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """The audit of one answer: its record, status and reason."""

    entry: Entry
    status: AuditStatus
    #: One sentence.
    reason: str


def state(entry: Entry) -> State:
    """The state of a record: damaged, stale (its units have changed since), or current."""
    try:
        entry.check()
    except RecordError:
        return State.DAMAGED
    try:
        check_definition(entry.record, question_of(entry.record))
    except RecordError:
        return State.STALE
    return State.CURRENT


def audit(store: Store, entry: Entry, seconds: float = AUDIT_S) -> AuditFinding:
    """Audit one answer; its certificate is checked in another process within `seconds`.

    Checked are the record against its schema and digest; its question, built again, against the
    definition that was answered; a witness by replay on integers and on the oracle; a certificate against
    its file and, step by step, against clauses made again from the question; a proof that was too long to
    keep is made anew.
    """
    try:
        return AuditFinding(entry, *_checked(store, entry, seconds))
    except TcformalError as error:
        return AuditFinding(entry, AuditStatus.FAILED, str(error))


def _checked(store: Store, entry: Entry, seconds: float) -> tuple[AuditStatus, str]:
    """Check a record's evidence, and return its status with a reason; TcformalError if it fails."""
    entry.check()
    record = entry.record
    q = question_of(record)
    check_definition(record, q)
    kind = Kind[record["verdict"]]
    if kind not in DECIDED:
        return AuditStatus.OPEN, f"{kind.name} claims nothing"
    check_answers(record, q)
    check_allowed(q, record)
    if kind is q.FOUND:
        check_replays(q, record)
        return AuditStatus.HOLDS, "the witness replays on integers and on exact fractions"
    check_vectors(record, q)
    if (equal := applied_theorems(record, q)) is not None:
        return AuditStatus.HOLDS, equal.reason
    if record["certificate"] is not None and record["certificate"]["file"] == NOT_KEPT:
        return _anew(q, record, seconds)
    certificate = store.certificate(record)
    if certificate is None:
        who = " and ".join(record["confirmed_by"])
        return AuditStatus.UNCHECKED, f"confirmed by a second solver only ({who}): not re-checkable"
    checked = store.checked(q, record, certificate, seconds)
    if checked is None:
        return (
            AuditStatus.UNCHECKED,
            f"the proof of {certificate.solver} could not be checked in {seconds:g} s",
        )
    return (
        AuditStatus.HOLDS,
        f"the proof of {checked.solver} was checked by {checked.checker}, {checked.steps} steps",
    )


def _anew(q: Question, record: Record, seconds: float) -> tuple[AuditStatus, str]:
    """Audit a record without a stored proof: its solver produces a new one."""
    solver = record["certificate"]["solver"]
    limits = replace(read_limits(record), time_s=seconds)
    v = answer(q, SolveOptions(solvers=[solver], limits=limits, certify=True))
    if v.kind is Kind[record["verdict"]] and v.certificate is not None:
        certificate = v.certificate
        return (
            AuditStatus.HOLDS,
            f"its proof was too long to keep; a new one of {solver} was checked by {certificate.checker}, "
            f"{certificate.steps} steps",
        )
    if v.kind in DECIDED:
        raise RecordError(f"expected {record['verdict']} again, but got {v.kind.name}: {v.reason}")
    return AuditStatus.UNCHECKED, f"its proof was too long to keep, and {solver} made no other: {v.reason}"


def select(entries: list[Entry], starts: tuple[str, ...]) -> list[Entry]:
    """The records whose id or question digest has one of these prefixes; all records for no prefix.

    Errors: InputError for a prefix that no record has.
    """
    for start in starts:
        if not any(matches(entry, start) for entry in entries):
            raise InputError(f"expected the start of a record's id, but got {start!r}: none of "
                             f"{len(entries)} has it")  # fmt: skip
    return [e for e in entries if not starts or any(matches(e, start) for start in starts)]


def matches(entry: Entry, start: str) -> bool:
    """Whether a record's id or its question's digest has this prefix."""
    return bool(start) and (entry.id.startswith(start.lower()) or entry.digest.startswith(start.lower()))
