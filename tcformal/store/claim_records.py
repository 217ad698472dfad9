"""Claims as records: the verdict, and the evidence that is checked again on reading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tcformal.design.names import gives_back
from tcformal.errors import RecordError
from tcformal.store.file import RecordFile, RecordKind
from tcformal.store.lines import Record, folder_lock
from tcformal.store.schema import SEAL, digest_of, now, seal

if TYPE_CHECKING:  # a theorem's answer is kept without what solvers need
    from tcformal.query.claims.claim_verdict import ClaimVerdict

CLAIM = RecordKind(
    "claim", "claims.jsonl", re.compile(rb'"claim": "([^"]+)", "unit": "([^"]+)"'),
    lambda r: (r["claim"], r["unit"]),
)  # fmt: skip

#: Keys that may differ between two records of the same answer.
_PASSING = ("schema", "date", "seconds", "tcformal", "commit", "machine", SEAL)
#: Keys of a verdict that records leave out: they say how it was served.
_NOT_KEPT = ("served", "checked", "answered")


def claim_record(v: ClaimVerdict) -> Record:
    """A claim as an unsealed record; a question that solvers answered is named by its identity."""
    plain = {key: value for key, value in v.to_json().items() if key not in _NOT_KEPT}
    plain["theorem"] = None if v.theorem is None else v.theorem.to_json()
    if plain["theorem"] is not None:
        del plain["theorem"]["rests_on"]  # as of today, whenever it is asked
    plain["question"] = None
    if v.asked is not None:
        from tcformal.store.answers import identity_of

        plain["question"] = identity_of(v.asked.question)
    return {**plain, "date": now()}


def keep_claim(records: RecordFile, v: ClaimVerdict) -> None:
    """Store a claim unless the newest record is equal.

    Errors: RecordError for a unit that its name does not give back, and where it cannot be written.
    """
    if not gives_back(v.unit):
        raise RecordError(f"expected a unit that its name gives back, but got {v.unit.name!r}")
    record = claim_record(v)
    with folder_lock(records.path.parent):
        last = records.newest(v.claim, v.unit.name)
        if last is None or claim_content(last) != claim_content(record):
            records.add(seal(record, CLAIM.name))


def claim_id(claim: str, unit: str) -> str:
    """The identity of a claim about a unit: a later record with an equal identity supersedes it."""
    return digest_of({"claim": claim, "unit": unit})


def claim_content(record: Record) -> Record:
    """The part of a record that identifies the answer: everything but date, place and duration."""
    return {key: value for key, value in record.items() if key not in _PASSING}
