"""Every field of every record, falsified: refused, or what is served is what it was."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook, Statement, statement

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
from tcformal.design.names import resolve
from tcformal.ir.build import Graph
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.solve.result import Limits, Status
from tcformal.store.schema import SEAL, digest_of
from tcformal.store.store import CLAIM, LEMMA, Store

#: What is said of an answer beside the answer: who gave it, when, how long it took, under which limits.
#: The reason is made anew, and names those who gave it.
INFORMATIONAL = {"answered", "confirmed_by", "limits", "reason", "seconds", "solvers", "tcformal"}
#: The same of a certificate and of a lemma.
OF_CERTIFICATE = {"seconds", "solver"}
OF_LEMMA = {"confirmed_by", "decided_by", "reason", "seconds"}

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
    "how": ["same definition", "lemmas", "not proved"],
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


def lemma_said(said: dict[str, Any]) -> dict[str, Any]:
    """A lemma, but for what is informational."""
    data = {key: value for key, value in said.items() if key not in OF_LEMMA}
    return data | {"certificate": certificate_said(data["certificate"])}


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


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a claim that holds and one that is refuted, each with its lemmas."""
    folder = tmp_path_factory.mktemp("claims")
    store = Store(folder, print)
    limits = Limits(120.0, 8192, 0)
    book = LemmaBook(limits=limits, certify=True, keeper=store.lemmas)
    for unit, claim in (
        ("tfdpa@products=1,k=2", "product-order"),
        ("valpey@terms=3,fraction_bits=5", "sign-magnitude"),
    ):
        store.add_claim(prove_claim(resolve(unit), claim, book=book, limits=limits))
    return folder


def claim_said(v: Any) -> dict[str, Any]:
    """What is served of a claim, but for what is informational and a witness, which is found anew."""
    data = {key: value for key, value in v.to_json().items() if key not in INFORMATIONAL - {"reason"}}
    for part in data["parts"]:
        if "witness" in part:
            assert len(set(part.pop("witness")["results"])) == 2
    return data | {"lemmas": [lemma_said(lemma) for lemma in data["lemmas"]]}


@pytest.mark.slow
@pytest.mark.parametrize("line", [pytest.param(0, marks=pytest.mark.long), 1])
def test_a_falsified_claim_turns_nothing(claims: Path, tmp_path: Path, line: int) -> None:
    path = claims / CLAIM.file
    record = json.loads(path.read_text().splitlines()[line])
    spec = resolve(record["unit"])
    first = Store(claims)
    expected = first.find_claim(record["claim"], spec)
    assert expected is not None
    assert (expected.checked, expected.kind.name) == (True, record["verdict"])
    shutil.copytree(claims, tmp_path, dirs_exist_ok=True)
    refused = served = 0
    for place, forged, sealed in each(record):
        (tmp_path / CLAIM.file).write_text("{}\n")
        written(tmp_path / CLAIM.file, forged, sealed=sealed)
        here = Store(tmp_path)
        here.rechecker = first.rechecker
        found = here.find_claim(record["claim"], spec)
        assert sealed or found is None, f"{place} was not noticed"
        if found is not None:
            assert claim_said(found) == claim_said(expected), place
            assert found.checked, place
        served += found is not None
        refused += found is None
    assert refused > served > 0


def detour(width: int = 9) -> Statement:
    """x + y = y + (x + 0) over a few bits, with x + 0 written as x - y + y."""
    g = Graph()
    x, y = g.input("x", width), g.input("y", width)
    return statement([(g.add_mod(x, y), g.add_mod(y, g.add_mod(g.sub_mod(x, y), y)))], [], {})


@pytest.mark.slow
def test_a_falsified_lemma_turns_nothing(tmp_path: Path) -> None:
    """It is refused, or its certificate proves the statement, of which all else is said anew."""
    first = Store(tmp_path)
    book = LemmaBook(limits=Limits(120.0, 8192, 0), certify=True, keeper=first.lemmas)
    expected = book.decide("a detour", detour()).to_json()
    path = tmp_path / LEMMA.file
    record = json.loads(path.read_text())
    refused = served = 0
    for place, forged, sealed in each(record):
        written(path, copy.deepcopy(forged), sealed=sealed)
        here = Store(tmp_path)
        here.rechecker = first.rechecker
        found = LemmaBook(limits=Limits(120.0, 8192, 0), keeper=here.lemmas)._kept(
            "a detour", detour().sha256, detour()
        )
        assert sealed or found is None, f"{place} was not noticed"
        if found is not None:
            assert found.holds
            assert lemma_said(found.to_json()) == lemma_said(expected), place
        served += found is not None
        refused += found is None
    assert refused > served > 0
