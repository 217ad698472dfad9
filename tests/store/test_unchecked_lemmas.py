"""Lemmas without a certificate never count as checked: in the book, in an audit, and in what is served."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tcformal.design.names import resolve
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import Lemma, LemmaBook, Statement
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.store.audit.recheck import CheckBench, CheckedBook
from tcformal.store.claims import lemmas_used
from tcformal.store.schema import SEAL, seal
from tcformal.store.store import LEMMA, Store

LIMITS = Limits(120.0, 8192, 0)
UNIT, CLAIM = "valpey@terms=3,fraction_bits=5", "sign-magnitude"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A claim that holds, of whose lemmas one has lost its certificate: two solvers agreed on it."""
    store = Store(tmp_path / "results")
    book = LemmaBook(limits=LIMITS, certify=True, keeper=store.lemmas)
    store.add_claim(prove_claim(resolve(UNIT), CLAIM, book=book, limits=LIMITS))
    path = store.folder / LEMMA.file
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) > 1
    rows[0] |= {"certificate": None, "decided_by": "z3", "confirmed_by": ["kissat"]}
    rows = [seal({k: x for k, x in row.items() if k != SEAL}, "lemma") for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return store.folder


def bare_of(folder: Path) -> str:
    """The digest of the lemma without a certificate."""
    return str(json.loads((folder / LEMMA.file).read_text().splitlines()[0])["sha256"])


def used_of(folder: Path) -> list[str]:
    record = Store(folder).claims.newest(CLAIM, UNIT)
    assert record is not None
    return lemmas_used(record)


def test_a_lemma_that_solvers_agreed_on_is_counted(folder: Path) -> None:
    """Without a wish to prove it anew it is used, and is among those that nobody checked."""
    book = CheckedBook(Store(folder).lemmas)
    v = prove_claim(resolve(UNIT), CLAIM, book=book, limits=LIMITS)
    assert v.kind is Kind.HOLDS
    assert book.unchecked == {bare_of(folder)}
    assert book.checked == set(used_of(folder)) - book.unchecked
    found = CheckBench().answer({"folder": str(folder), "claim": CLAIM, "unit": UNIT, "seconds": 120.0})
    assert (found["bare"], bare_of(folder) in found["lemmas"]) == (1, False)


def test_a_lemma_proved_anew_by_two_solvers_is_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = LemmaBook.decide

    def agreed(self: LemmaBook, name: str, what: Statement, *, conflicts: int | None = None) -> Lemma:
        made = plain(self, name, what, conflicts=conflicts)
        return replace(made, certificate=None, confirmed_by=("z3", "kissat"))

    monkeypatch.setattr(LemmaBook, "decide", agreed)
    request: dict[str, Any] = {"folder": str(folder), "claim": CLAIM, "unit": UNIT, "seconds": 120.0}
    assert CheckBench().answer({**request, "anew": used_of(folder)})["bare"] == 1
    monkeypatch.undo()
    found = CheckBench().answer({**request, "anew": used_of(folder)})
    assert (found["bare"], bare_of(folder) in found["lemmas"]) == (0, True)


def test_a_claim_on_such_a_lemma_is_not_served_as_decided(folder: Path) -> None:
    v = Store(folder).find_claim(CLAIM, resolve(UNIT))
    assert v is not None
    assert (v.kind, v.checked, v.parts, v.lemmas) == (Kind.UNKNOWN, False, (), ())
    assert v.reason.startswith("kept as HOLDS on ")
    assert v.reason.endswith(", not checked")
