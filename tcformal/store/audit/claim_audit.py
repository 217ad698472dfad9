"""Audit of stored claims: each is answered again and compared; apart, because lists prove nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.query.claims.answered import answered
from tcformal.query.claims.claim_verdict import ClaimVerdict
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED, Verdict
from tcformal.solve.result import Limits
from tcformal.store.audit.audit import AUDIT_S, AuditStatus
from tcformal.store.claim_records import claim_record
from tcformal.store.lines import Record
from tcformal.store.store import Store

#: What a record has to say as the answer of today does.
_COMPARED = ("answered_by", "theorem", "reason")


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """The audit of one stored claim: its record, status and reason."""

    claim: str
    unit: str
    verdict: str
    status: AuditStatus
    #: One sentence.
    reason: str
    #: The answer of today; None where the claim could not be asked.
    again: ClaimVerdict | None = None


class _ReadOnly:
    """A read-only view of a store for audits."""

    def __init__(self, store: Store) -> None:
        self.find, self.has = store.find, store.has

    def add(self, verdict: Verdict[Any]) -> None:
        """Ignore an answer: an audit stores nothing."""

    def add_claim(self, v: ClaimVerdict) -> None:
        """Ignore a claim: an audit stores nothing."""


def audit_claim(store: Store, record: Mapping[str, Any]) -> ClaimFinding:
    """Answer a stored claim again by theorems, inputs or solvers, and compare.

    No statement of the record is taken over: a theorem's side conditions are computed, a witness is looked
    for and replayed, and the certificate of a question is checked again.
    """
    about, again = (record["claim"], record["unit"], record["verdict"]), None
    try:
        if Kind[record["verdict"]] not in DECIDED:
            return ClaimFinding(*about, AuditStatus.OPEN, f"{record['verdict']} claims nothing")
        again = answered(
            resolve(record["unit"]),
            record["claim"],
            SolveOptions(store=lambda: _ReadOnly(store), limits=Limits(time_s=AUDIT_S)),
        )
        status, reason = _compared(record, again)
    except TcformalError as error:
        status, reason = AuditStatus.FAILED, str(error)
    return ClaimFinding(*about, status, reason, again)


def _compared(record: Mapping[str, Any], again: ClaimVerdict) -> tuple[AuditStatus, str]:
    """The status of a record beside the answer of today; RecordError where they differ."""
    kind = Kind[record["verdict"]]
    if again.kind not in DECIDED or not again.checked:
        return AuditStatus.UNCHECKED, again.reason
    if again.kind is not kind:
        raise RecordError(f"expected {kind.name} again, but got {again.kind.name}: {again.reason}")
    today = claim_record(again)
    for key in _COMPARED:
        # Solvers that answer again may be others, which the reason names.
        if today[key] != record[key] and (key, again.answered_by) != ("reason", "solvers"):
            raise RecordError(
                f"expected {key} {today[key]!r}, as it is answered today, but got {record[key]!r}"
            )
    if again.theorem is not None:
        return AuditStatus.HOLDS, f"theorem {again.theorem.name}: {'; '.join(again.theorem.rests_on)}"
    return AuditStatus.HOLDS, f"{'refuted' if kind is Kind.VIOLATED else 'proved'} again: {again.reason}"


def claims_with(records: Iterable[Record], texts: Sequence[str]) -> list[Record]:
    """The records whose claim or unit name contains one of the texts; all records for no text.

    Errors: InputError for a text that is in none.
    """
    named = [(r, f"{r['claim']} of {r['unit']}") for r in records]
    for text in texts:
        if not any(text in name for _, name in named):
            raise InputError(f"expected a text in the name of a claim or its unit, but got {text!r}")
    return [r for r, name in named if not texts or any(text in name for text in texts)]
