"""Kept answers checked again, from the record alone and today's definitions."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.query.kinds.register import kind_of
from tcformal.query.question import Kind
from tcformal.query.verdict import SETTLED
from tcformal.store.answers import check_allowed, check_answers, check_definition, check_replays, question_of
from tcformal.store.store import Entry, Store

#: Seconds that an audit gives to each certificate and to each claim.
AUDIT_S = 600.0


class State(enum.Enum):
    """What a record is worth before its answer is checked."""

    CURRENT = "about a definition that its units have today"
    STALE = "about a definition that its units no longer have"
    DAMAGED = "not as its schema says, or altered"


class AuditStatus(enum.Enum):
    """What became of a record that was checked again."""

    HOLDS = "checked again"
    UNCHECKED = "nothing to check it by"
    OPEN = "no answer to check"
    FAILED = "refused"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One record, checked again."""

    entry: Entry
    status: AuditStatus
    #: One sentence.
    reason: str


def state(entry: Entry) -> State:
    """Whether a record is whole, and whether its question still is the one that was answered."""
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
    """Check one record again, its certificate in a process of its own and in so many seconds.

    The record against its schema and digest; its question, built again, against the definition that was
    answered; a witness by replay on integers and on the oracle; a certificate against its file and, step
    by step, against clauses made again from the question.
    """
    try:
        return AuditFinding(entry, *_checked(store, entry, seconds))
    except TcformalError as error:
        return AuditFinding(entry, AuditStatus.FAILED, str(error))


def _checked(store: Store, entry: Entry, seconds: float) -> tuple[AuditStatus, str]:
    """How a record stands, with the reason; TcformalError for one that does not hold."""
    entry.check()
    record = entry.record
    q = question_of(record)
    check_definition(record, q)
    kind = Kind[record["verdict"]]
    if kind not in SETTLED:
        return AuditStatus.OPEN, f"{kind.name} claims nothing"
    check_answers(record, q)
    check_allowed(q, record)
    if kind is kind_of(q).found:
        check_replays(q, record)
        return AuditStatus.HOLDS, "the witness replays on integers and on exact fractions"
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


def chosen(entries: list[Entry], starts: tuple[str, ...]) -> list[Entry]:
    """The records whose ids, or whose questions' digests, start so; all of them where nothing is named.

    Errors: InputError for a start that no record has.
    """
    for start in starts:
        if not any(matches(entry, start) for entry in entries):
            raise InputError(f"expected the start of a record's id, but got {start!r}: none of "
                             f"{len(entries)} has it")  # fmt: skip
    return [e for e in entries if not starts or any(matches(e, start) for start in starts)]


def matches(entry: Entry, start: str) -> bool:
    """Whether a record's id or its question's digest starts so."""
    return bool(start) and (entry.id.startswith(start.lower()) or entry.digest.startswith(start.lower()))
