"""Kept claims: served while nothing changed, made again from checked certificates, refused when altered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import LemmaBook

from tcformal.design.names import resolve
from tcformal.errors import RecordError
from tcformal.files.lines import read
from tcformal.solve.result import Limits
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.audit.claim_audit import ClaimFinding, audit_claim
from tcformal.store.certificates import PROOF
from tcformal.store.schema import SEAL, check, seal
from tcformal.store.store import CLAIM, LEMMA, Store

#: What a theorem answers is proved in steps here, and kept.
pytestmark = pytest.mark.usefixtures("in_steps")

LIMITS = Limits(120.0, 8192, 0)
SUM = ("valpey@terms=3,fraction_bits=5", "sign-magnitude")
ORDER = ("tfdpa@products=1,k=2", "product-order")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, str], ClaimVerdict]]:
    """A folder with a claim that holds and one that is refuted."""
    folder = tmp_path_factory.mktemp("claims")
    store = Store(folder, print)
    book = LemmaBook(limits=LIMITS, certify=True, keeper=store.lemmas)
    verdicts = {}
    for name, claim in (SUM, ORDER):
        verdicts[name, claim] = v = prove_claim(resolve(name), claim, book=book, limits=LIMITS)
        store.add_claim(v)
    return folder, verdicts


@pytest.fixture
def folder(made: tuple[Path, object], tmp_path: Path) -> Path:
    """A copy of it that a test may damage."""
    return Path(shutil.copytree(made[0], tmp_path / "results"))


def record_of(folder: Path, which: tuple[str, str]) -> dict[str, Any]:
    """The record of a unit and a claim."""
    record = Store(folder).claims.newest(which[1], which[0])
    assert record is not None
    return record


def checked(folder: Path, which: tuple[str, str]) -> ClaimFinding:
    return audit_claim(Store(folder), record_of(folder, which))


def alter(folder: Path, which: tuple[str, str], change: Mapping[str, Any]) -> None:
    """A record with other words and a seal that fits them."""
    record = record_of(folder, which)
    plain = {**{key: value for key, value in record.items() if key != SEAL}, **change}
    (folder / CLAIM.file).write_text(json.dumps(seal(plain, "claim")) + "\n")


def test_records_are_as_their_schema_says(folder: Path) -> None:
    lines, _ = read(folder / CLAIM.file)
    assert len(lines) == 2
    for line in lines:
        assert line.data is not None
        check(line.data, "claim")
        with pytest.raises(RecordError):
            check({**line.data, "verdict": "PERHAPS"}, "claim")


@pytest.mark.parametrize("which", [SUM, ORDER])
def test_a_kept_claim_comes_back_as_it_was(
    made: tuple[Path, dict[tuple[str, str], ClaimVerdict]], which: tuple[str, str]
) -> None:
    folder, verdicts = made
    found = Store(folder).find_claim(which[1], resolve(which[0]))
    assert found is not None
    again, was = found.to_json(), verdicts[which].to_json()
    used = {sha256 for part in was["parts"] for step in part["steps"] for sha256 in step["lemmas"]}
    was["lemmas"] = [lemma for lemma in was["lemmas"] if lemma["sha256"] in used]
    assert again.pop("answered") == record_of(folder, which)["date"]
    assert (again.pop("served"), again.pop("checked"), was.pop("served"), was.pop("checked")) == (
        True, True, False, True
    )  # fmt: skip
    for lemma in (*again["lemmas"], *was["lemmas"]):
        del lemma["reason"]  # made anew by the check
    for part in (*again["parts"], *was["parts"]):
        part["witness"] = "witness" in part  # found anew, by whichever solver is first
    del again["seconds"], was["seconds"], again["limits"], was["limits"]  # those of the new proof
    assert again == was


def test_the_same_answer_is_kept_once(
    folder: Path, made: tuple[Path, dict[tuple[str, str], ClaimVerdict]]
) -> None:
    store = Store(folder)
    before = (folder / CLAIM.file).read_bytes()
    for v in made[1].values():
        store.add_claim(v)
    assert (folder / CLAIM.file).read_bytes() == before


@pytest.mark.parametrize("damage", ["definition", "lemma", "certificate", "seal", "open"])
def test_a_claim_whose_grounds_changed_is_not_served(folder: Path, damage: str) -> None:
    if damage == "definition":
        alter(folder, SUM, {"definition": "0" * 64})
    elif damage == "lemma":
        (folder / LEMMA.file).write_text("")
    elif damage == "certificate":
        (folder / PROOF.file).write_text("no proof\n")
    elif damage == "seal":
        path = folder / CLAIM.file
        path.write_text(path.read_text().replace("give the same results", "give other results"))
    else:
        alter(folder, SUM, {"verdict": "UNKNOWN"})
    assert Store(folder).find_claim(SUM[1], resolve(SUM[0])) is None


@pytest.mark.parametrize("which", [SUM, ORDER])
def test_a_kept_claim_is_made_again_without_solvers_for_its_lemmas(
    folder: Path, which: tuple[str, str]
) -> None:
    found = checked(folder, which)
    assert found.status is AuditStatus.HOLDS, found.reason


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"verdict": "VIOLATED"}, "expected VIOLATED again, but got HOLDS"),
        ({"definition": "0" * 64}, "of definition 000000000000"),
        ({"lemmas": []}, "expected steps on 0 lemmas"),
        ({"unit": "valpey@terms=4"}, "of definition"),
        ({"claim": "carry-bits"}, "expected"),
    ],
)
def test_an_altered_claim_is_refused(folder: Path, change: Mapping[str, Any], sentence: str) -> None:
    alter(folder, SUM, change)
    record = Store(folder).claims.all()[0]
    found = audit_claim(Store(folder), record)
    assert found.status is AuditStatus.FAILED
    assert sentence in found.reason


def test_a_swapped_certificate_is_refused(folder: Path) -> None:
    """Two proofs that each are whole, under each other's name in the records: only the check tells."""
    path = folder / LEMMA.file
    records = [json.loads(line) for line in path.read_text().splitlines()]
    one, other = [r for r in records if r["decided_by"] != "folding"][:2]
    one["certificate"], other["certificate"] = other["certificate"], one["certificate"]
    text = "".join(
        json.dumps(seal({k: v for k, v in r.items() if k != SEAL}, "lemma")) + "\n" for r in records
    )
    path.write_text(text)
    found = checked(folder, SUM)
    assert found.status is AuditStatus.FAILED
    assert "expected a certificate of the clauses" in found.reason


def test_only_missing_lemmas_that_the_record_names_are_proved_anew(folder: Path) -> None:
    (folder / LEMMA.file).write_text("")
    assert checked(folder, SUM).status is AuditStatus.HOLDS
    alter(folder, SUM, {"lemmas": [f"{i:064x}" for i in range(len(record_of(folder, SUM)["lemmas"]))]})
    found = checked(folder, SUM)
    assert found.status is AuditStatus.FAILED
    assert "expected HOLDS again, but got UNKNOWN" in found.reason


def test_who_has_time_is_served_a_claim_whose_lemmas_are_missing(folder: Path) -> None:
    """They are proved anew, and kept; those of a record that names others are not."""
    (folder / LEMMA.file).write_text("")
    found = Store(folder).find_claim(SUM[1], resolve(SUM[0]), seconds=60.0)
    assert found is not None
    assert found.checked
    assert all(lemma.holds for lemma in found.lemmas)
    again = Store(folder).find_claim(SUM[1], resolve(SUM[0]))
    assert again is not None
    assert again.checked
    (folder / LEMMA.file).write_text("")
    alter(folder, SUM, {"lemmas": [f"{i:064x}" for i in range(len(record_of(folder, SUM)["lemmas"]))]})
    assert Store(folder).find_claim(SUM[1], resolve(SUM[0]), seconds=60.0) is None
