"""Kept lemmas: used again only for the same statement, and only while nobody altered them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tcformal.ir.build import Graph
from tcformal.proofs.lemmas import Lemma, LemmaBook, statement
from tcformal.solve.result import Limits, Status
from tcformal.store.certificates import PROOF
from tcformal.store.lemmas import LemmaCache
from tcformal.store.store import LEMMA, Store

LIMITS = Limits(120.0, 8192, 0)


def proved(cache: LemmaCache | None = None, width: int = 9) -> tuple[Lemma, LemmaBook]:
    """x + y = y + (x + 0) over a few bits, with x + 0 written as x - y + y."""
    g = Graph()
    x, y = g.input("x", width), g.input("y", width)
    what = statement([(g.add_mod(x, y), g.add_mod(y, g.add_mod(g.sub_mod(x, y), y)))], [], {})
    book = LemmaBook(limits=LIMITS, certify=True, keeper=cache)
    return book.decide("a detour", what), book


def test_a_lemma_is_kept_with_its_certificate_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = proved(Store(tmp_path).lemmas)
    assert first.holds
    assert first.certificate is not None

    def never(*_: object, **__: object) -> None:
        raise AssertionError("proved again")

    monkeypatch.setattr("tcformal.proofs.lemmas.decide", never)
    monkeypatch.setattr("tcformal.proofs.lemmas.certify", never)
    again, _ = proved(Store(tmp_path).lemmas)
    assert (again.sha256, again.decided_by, again.confirmed_by) == (
        first.sha256,
        first.decided_by,
        first.confirmed_by,
    )
    assert again.certificate is not None
    assert again.certificate.sha256 == first.certificate.sha256
    with pytest.raises(AssertionError, match="proved again"):
        proved(Store(tmp_path).lemmas, width=10)


def test_a_certificate_of_other_clauses_is_not_used_again(tmp_path: Path) -> None:
    """The same statement, whose clauses an earlier version made in another way."""
    first, _ = proved(Store(tmp_path).lemmas)
    made = first.certificate
    assert made is not None
    cache = Store(tmp_path).lemmas
    cache.add(replace(first, certificate=replace(made, cnf_sha256="0" * 64)))
    assert cache.find(first.sha256) is not None
    again, _ = proved(cache)
    assert again.certificate is not None
    assert again.certificate.cnf_sha256 == made.cnf_sha256
    newest = Store(tmp_path).lemmas.find(first.sha256)
    assert newest is not None
    assert newest.certificate is not None
    assert newest.certificate.cnf_sha256 == made.cnf_sha256


@pytest.mark.parametrize("damage", ["record", "file", "missing", "shorter"])
def test_what_was_altered_is_not_used(tmp_path: Path, damage: str) -> None:
    proved(Store(tmp_path).lemmas)
    path = tmp_path / LEMMA.file
    certificate = tmp_path / PROOF.file
    if damage == "record":
        path.write_text(path.read_text().replace("a detour", "a theorem"))
    elif damage == "file":
        certificate.write_bytes(certificate.read_bytes()[::-1])
    elif damage == "missing":
        certificate.unlink()
    else:
        certificate.write_bytes(certificate.read_bytes()[:-9])
    told: list[str] = []
    cache = Store(tmp_path, told.append).lemmas
    sha256 = json.loads(path.read_text())["sha256"]
    assert cache.find(sha256) is None
    assert told[-1].startswith("the lemma " if damage != "record" else "line 1 of ")


def test_a_lemma_that_does_not_hold_is_not_kept(tmp_path: Path) -> None:
    lemma = Lemma(
        name="no", sha256="0" * 64, free_inputs=1, status=Status.SAT, reason="", decided_by="z3",
        confirmed_by=(), certificate=None, seconds=0.0,
    )  # fmt: skip
    Store(tmp_path).lemmas.add(lemma)
    assert not (tmp_path / LEMMA.file).exists()
