"""Audit of kept claims: each is proved again from kept lemmas alone, every certificate checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.programs.chain import definition
from tcformal.proofs.answered import at_once
from tcformal.proofs.claims.agreement import is_agreement
from tcformal.proofs.claims.equality import is_equality
from tcformal.proofs.verdict import ClaimVerdict
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED
from tcformal.solve.result import Limits
from tcformal.store.audit.audit import AUDIT_S, AuditStatus
from tcformal.store.claims import kept_tree, lemmas_used, short_name
from tcformal.store.file import Record
from tcformal.store.store import Store


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """The audit of one kept claim."""

    claim: str
    unit: str
    verdict: str
    status: AuditStatus
    #: One sentence.
    reason: str


def audit_claim(store: Store, record: Mapping[str, Any], *, trim: bool = False) -> ClaimFinding:
    """Audit one kept claim: definition; a theorem's side conditions, or composition, lemmas, witnesses.

    Where a theorem or inputs answer the claim today, nothing of the record is needed.  Else the current
    program proves the claim again on the lemmas of the store, and those without a certificate anew; a witness
    is searched for again, and replayed.  No statement of the record is taken over.  With `trim`, every claim
    is proved again, and lemmas with a proof of an earlier version are kept again with a trimmed one.
    """
    try:
        status, reason = _checked(store, record, trim)
    except TcformalError as error:
        status, reason = AuditStatus.FAILED, str(error)
    return ClaimFinding(record["claim"], record["unit"], record["verdict"], status, reason)


def _checked(store: Store, record: Mapping[str, Any], trim: bool) -> tuple[AuditStatus, str]:
    kind = Kind[record["verdict"]]
    if kind not in DECIDED:
        return AuditStatus.OPEN, f"{kind.name} claims nothing"
    spec = claimed_unit(record)
    equal = is_equality(record["claim"])  # a proof in steps of what no theorem answers
    again = None if trim or equal else at_once(spec, record["claim"], Limits())
    if again is not None and again.kind in DECIDED:
        if again.kind is not kind:
            raise RecordError(f"expected {kind.name} again, but got {again.kind.name}: {again.reason}")
        # A region that was kept may be wider than the theorem's.
        if again.theorem is None or not is_agreement(record["claim"]) or again.reason == record["reason"]:
            return AuditStatus.HOLDS, _said(again)
    found = store.rechecker.claim(
        store.folder, record["claim"], spec.name, AUDIT_S, tree=kept_tree(record, store.trees), trim=trim,
        anew=lemmas_used(record),
    )  # fmt: skip
    if "refused" in found:
        raise RecordError(found["refused"])
    if "claim" not in found:
        return AuditStatus.UNCHECKED, f"its lemmas could not be checked in {AUDIT_S:g} s"
    proved = found["claim"]
    check_same(record, proved)
    used = len(proved["lemmas"])
    if found["bare"]:
        return (
            AuditStatus.UNCHECKED,
            f"{found['bare']} of {used} lemmas are confirmed by a second solver only",
        )
    return AuditStatus.HOLDS, f"proved again on {used} lemmas, every certificate checked"


def _said(v: ClaimVerdict) -> str:
    """What showed a claim again at once."""
    if v.theorem is None:
        return f"refuted again: {v.reason}"
    return f"theorem {v.theorem.name}: {'; '.join(v.theorem.rests_on)}"


def claims_with(records: Iterable[Record], texts: Sequence[str]) -> list[Record]:
    """The records with one of the texts in the names of their claim and unit; all for no text.

    Errors: InputError for a text that is in none.
    """
    found = [(r, f"{r['claim']} of {r['unit']}") for r in records]
    for text in texts:
        if not any(text in name for _, name in found):
            raise InputError(f"expected a text in the name of a claim or its unit, but got {text!r}")
    return [r for r, name in found if not texts or any(text in name for text in texts)]


def claimed_unit(record: Mapping[str, Any]) -> UnitSpec:
    """The unit of a claim; RecordError where its definition is no longer the one of the record."""
    spec = resolve(record["unit"])
    today = definition(spec)
    if today != record["definition"]:
        raise RecordError(
            f"expected {spec.name} of definition {record['definition'][:12]}, but it is {today[:12]} today"
        )
    return spec


def check_same(record: Mapping[str, Any], again: Mapping[str, Any]) -> None:
    """RecordError where a claim proved again has another verdict or, if it holds, other lemmas."""
    if again["verdict"] != record["verdict"]:
        raise RecordError(
            f"expected {record['verdict']} again, but got {again['verdict']}: {again['reason']}"
        )
    missing = {*map(short_name, record["lemmas"])} ^ {*map(short_name, again["lemmas"])}
    if record["verdict"] == Kind.HOLDS.name and missing:
        raise RecordError(f"expected the lemmas of the record, but {len(missing)} differ")
