"""Every field of every record, falsified: refused, or what is served is what it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from kept import certified, same, scaled, separated, trivial, vacuous
from kept_kinds import (
    algorithm_holds,
    algorithm_vacuous,
    algorithm_violated,
    property_holds,
    property_holds_assumed,
    property_vacuous,
    property_violated,
)
from sampled import one_in
from tcformal.query.claims.answered import prove_claim
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Status
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.audit.claim_audit import ClaimFinding, audit_claim
from tcformal.store.claim_records import CLAIM
from tcformal.store.schema import SEAL, digest_of
from tcformal.store.store import Store

#: What is said of an answer beside the answer: who gave it, when, how long it took, under which limits.
#: The reason is made anew, and names those who gave it.
INFORMATIONAL = {"answered", "confirmed_by", "limits", "reason", "seconds", "solvers", "tcformal"}
#: The same of a certificate.
OF_CERTIFICATE = {"seconds", "solver"}

#: One of each kind of question and of evidence, and the rest.
TELLING: list[Callable[[], Verdict[Any]]] = [
    separated, certified, vacuous, property_violated, property_holds_assumed, algorithm_violated,
    algorithm_vacuous,
]  # fmt: skip
OTHERS: list[Callable[[], Verdict[Any]]] = [
    scaled, same, trivial, property_holds, property_vacuous, algorithm_holds,
]  # fmt: skip

#: Fields of one object that are all falsified; of a longer one, the first and the last.
MOST = 16

#: Words that a forger would write, besides the made-up ones.
WORDS = {
    "verdict": [kind.name for kind in Kind],
    "answer": [status.value for status in Status],
    "standing": ["HOLDS", "VIOLATED", "OPEN"],
    "name": ["kissat", "z3", "vectors"],
    "solver": ["kissat", "glucose"],
    "kind": ["separate", "property", "algorithm"],
    "property": ["nan-word"],
    "form": ["split"],
    "worse": ["ootomo-yokota"],
    "claim": ["product-order", "carry-bits"],
    "hex": ["0x0000", "0x0", "0x3c01", "0x7f800000"],
    "date": ["2001-01-01T00:00:00Z"],
}


def false(key: str, value: Any) -> Iterator[Any]:
    """Other values for a field."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, -1, 0, str(value))
    elif isinstance(value, str):
        yield from (word for word in WORDS.get(key, ()) if word != value)
        yield from ("", value + "0", None)
        if len(value) == 64:
            yield ("1" if value[0] == "0" else "0") + value[1:]
    elif value is None:
        yield from (0, {}, "z3")
    elif isinstance(value, list):
        yield from ([], [*value, *value[-1:]], value[:-1], [*value, "finite"])
    elif isinstance(value, dict):
        yield from ({**value, "note": "x"}, {}, None)
        for name in few(value):
            yield {other: x for other, x in value.items() if other != name}


def few(names: Collection[Any]) -> list[Any]:
    """The names of a record's fields; of a long row of like things, the first and the last."""
    every = [*names]
    return every if len(every) <= MOST else [every[0], every[-1]]


def forgeries(record: Any, key: str = "") -> Iterator[tuple[str, Any, bool]]:
    """A record with one field falsified, added or left out: where, the record, whether the first there."""
    first = True
    for value in false(key, record):
        if value != record or type(value) is not type(record):
            yield key, value, first
            first = False
    parts = (
        record.keys() if isinstance(record, dict) else range(len(record)) if isinstance(record, list) else ()
    )
    ends = parts if isinstance(record, dict) else {0, len(parts) - 1} & {*parts}
    for part in few(ends):
        if part != SEAL:
            for place, other, new in forgeries(record[part], key if isinstance(part, int) else part):
                changed = copy.copy(record)
                changed[part] = other
                yield f"{key}/{place}", changed, new


def each(record: Any) -> Iterator[tuple[str, Any, bool]]:
    """Where, the forged record, and whether its digest is renewed: not to renew it is tried once a place."""
    for place, forged, first in forgeries(record):
        yield place, forged, True
        if first:
            yield place, forged, False


def written(path: Path, record: Any, *, sealed: bool) -> None:
    """Put a record in the place of a file's last line; `sealed`: under a digest that fits it."""
    if sealed and isinstance(record, dict):
        plain = {key: value for key, value in record.items() if key != SEAL}
        record = {**plain, SEAL: digest_of(plain)}
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], json.dumps(record)]) + "\n")


def answer_said(v: Verdict[Any]) -> dict[str, Any]:
    """What is served, but for what is informational."""
    data = {key: value for key, value in v.to_json().items() if key not in INFORMATIONAL}
    return data | {"certificate": certificate_said(data["certificate"])}


def certificate_said(said: dict[str, Any] | None) -> dict[str, Any] | None:
    """A certificate, but for what is informational."""
    return said and {key: value for key, value in said.items() if key not in OF_CERTIFICATE}


@pytest.mark.slow
@pytest.mark.parametrize("made", [*TELLING, *(pytest.param(made, marks=pytest.mark.long) for made in OTHERS)])
def test_a_falsified_answer_turns_nothing(tmp_path: Path, made: Callable[[], Verdict[Any]]) -> None:
    v = made()
    first = Store(tmp_path)
    record = first.add(v)
    certify = None if v.certificate or v.inputs else False
    expected = first.find(v.question, certify=certify)
    assert expected is not None
    assert expected.kind is v.kind
    refused = served = 0
    for place, forged, sealed in each(record):
        written(first.path, forged, sealed=sealed)
        here = Store(tmp_path)
        here.rechecker = first.rechecker
        found = here.find(v.question, certify=certify)
        assert sealed or found is None, f"{place} was not noticed"
        if found is not None:
            assert answer_said(found) == answer_said(expected), place
            assert found.checked == expected.checked, place
        served += found is not None
        refused += found is None
    assert refused > served > 0


@pytest.mark.parametrize(
    ("unit", "claim"),
    one_in(
        2, [("tfdpa@products=1,k=2", "product-order"), ("volta/mma.m8n8k4.f32.f16.f16.f32", "carry-bits")]
    ),
)
def test_a_falsified_claim_turns_nothing(tmp_path: Path, unit: str, claim: str) -> None:
    """What an audit calls checked is what is answered today, whatever else a record says."""
    first = Store(tmp_path)
    v = prove_claim(unit, claim, store=first)
    (record,) = first.claims.all()
    path = tmp_path / CLAIM.file
    refused = held = 0
    for _, forged, sealed in each(record):
        path.write_text("{}\n")
        written(path, forged, sealed=sealed)
        found = [audit_claim(first, r) for r in Store(tmp_path).claims.all()]
        assert sealed or not found
        for x in found:
            true = (x.claim, x.unit, x.verdict) == (claim, unit, v.kind.name)
            assert true or x.status is not AuditStatus.HOLDS or answered_as(x)
            held += x.status is AuditStatus.HOLDS
        refused += not found or found[0].status is not AuditStatus.HOLDS
    assert refused > held > 0


def answered_as(x: ClaimFinding) -> bool:
    """Whether another claim or unit, which a forger wrote, has the verdict of the record."""
    return prove_claim(x.unit, x.claim).kind.name == x.verdict
