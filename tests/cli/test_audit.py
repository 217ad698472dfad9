"""`audit`: what is told of an answer, what other people's programs say of it, and what is refused."""

from __future__ import annotations

import base64
import json
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kept import certified, rewrite, separated, unsettled
from tcformal.store.certificates import PROOF
from tcformal.store.store import Store

Run = Callable[..., Result]

#: Two units with instances of one theorem.
UNIT, OTHER = "volta/mma.m8n8k4.f32.f16.f16.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH, without any checker."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def installed(programs: Path, name: str, line: str) -> None:
    """A program that runs a line of shell."""
    path = programs / name
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def audited(run: Run, *words: object) -> tuple[int, dict[str, Any]]:
    result = run("audit", *map(str, words), "--json")
    return result.exit_code, json.loads(result.stdout)


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {check["by"]: check["status"] for check in found["checks"]}


def kept(folder: Path, answer: Any) -> str:
    """The id of an answer that is now kept."""
    store = Store(folder)
    store.add(answer)
    return store.records()[-1].id


def test_an_answer_that_nobody_else_has_checked_exits_3(
    run: Run, results_folder: Path, programs: Path, tmp_path: Path
) -> None:
    """Its files are there all the same, and each command that would check them."""
    code, found = audited(run, kept(results_folder, certified()), "-o", tmp_path / "files")
    assert (code, found["audit"]) == (3, "NOT CHECKED BY OTHERS")
    assert statuses(found) == {
        "tcformal": "accepted", "ABC": "missing", "cake_lpr": "missing", "ACL2": "missing"
    }  # fmt: skip
    assert {"question.cnf", "proof.lrat", "question.aig"} <= {p.name for p in (tmp_path / "files").iterdir()}
    assert all(check["command"] for check in found["checks"] if check["independent"])
    q = certified().question
    told = [x["what"] for x in found["rests_on"]]
    assert told[:2] == [f"definition of {unit.name}" for unit in (q.first, q.second)]


@pytest.mark.parametrize(
    ("line", "code", "status"),
    [
        ("echo SATISFIABLE", 0, "accepted"),
        ("echo UNSATISFIABLE", 1, "rejected"),
        ("echo UNDECIDED", 3, "undecided"),
        ("exit 1", 3, "undecided"),
    ],
)
def test_the_exit_code_is_what_others_say(
    run: Run, results_folder: Path, programs: Path, line: str, code: int, status: str
) -> None:
    installed(programs, "abc", line)
    got, found = audited(run, kept(results_folder, separated()))
    assert (got, statuses(found)["ABC"]) == (code, status)


def test_a_checker_that_does_not_end_is_ended(run: Run, results_folder: Path, programs: Path) -> None:
    installed(programs, "abc", "while :; do :; done")
    start = time.monotonic()
    code, found = audited(run, kept(results_folder, separated()), "--time-limit", "0.2")
    assert (code, statuses(found)["ABC"]) == (3, "undecided")
    assert time.monotonic() - start < 60


def test_the_first_line_says_who_accepts_what(run: Run, results_folder: Path, programs: Path) -> None:
    """Of an answer without inputs, others have to say that the output is never 1."""
    installed(programs, "abc", "echo UNSATISFIABLE")
    result = run("audit", kept(results_folder, certified()))
    assert result.exit_code == 0
    assert result.stdout.startswith("ACCEPTED by ABC: EQUIVALENT: ")
    assert len(result.stdout.splitlines()) <= 40


def test_no_answer_and_no_evidence_are_not_accepted(run: Run, results_folder: Path, programs: Path) -> None:
    assert programs.is_dir()
    assert audited(run, kept(results_folder, unsettled()))[0] == 3


def test_a_tampered_certificate_is_rejected(run: Run, results_folder: Path, programs: Path) -> None:
    installed(programs, "abc", "echo UNSATISFIABLE")
    answer = kept(results_folder, certified())

    def cut(record: dict[str, Any]) -> None:
        record["proof"] = base64.b85encode(base64.b85decode(record["proof"])[:-1]).decode()

    rewrite(results_folder / PROOF.file, cut, kind=PROOF.name)
    code, found = audited(run, answer)
    assert (code, found["audit"], found["files"]) == (1, "REJECTED", [])


@pytest.mark.parametrize(
    "change",
    [
        lambda r: None,
        lambda r: r.update(units=[r["units"][0], "tfdpa@products=4,fraction_bits=26"]),
        lambda r: r.update(verdict="EQUIVALENT"),
        lambda r: r.update(assumptions=["finite"]),
        lambda r: r.update(question_sha256="0" * 64),
        lambda r: r["witness"]["c"].update(hex="0x3f800000"),
        lambda r: r["results"]["first"].update(value="1"),
    ],
)
def test_a_tampered_statement_is_rejected(
    run: Run, results_folder: Path, programs: Path, tmp_path: Path, change: Callable[[Any], Any]
) -> None:
    installed(programs, "abc", "echo SATISFIABLE")
    printed = {"id": kept(results_folder, separated()), **separated().to_json()}
    path = tmp_path / "answer.json"
    change(printed)
    path.write_text(json.dumps(printed))
    code, found = audited(run, path)
    rejected = printed != {"id": printed["id"], **separated().to_json()}
    assert (code, found["audit"]) == ((1, "REJECTED") if rejected else (0, "ACCEPTED"))


def test_a_record_in_a_file_is_audited_and_an_altered_one_rejected(
    run: Run, results_folder: Path, programs: Path, tmp_path: Path
) -> None:
    installed(programs, "abc", "echo SATISFIABLE")
    kept(results_folder, separated())
    path = tmp_path / "record.json"
    path.write_text((results_folder / "answers.jsonl").read_text())
    assert audited(run, path)[0] == 0
    rewrite(path, lambda record: record["witness"]["a"].reverse())
    assert audited(run, path)[0] == 1


# ---------------------------------------------------------------------- claims
def claimed(run: Run, folder: Path, unit: str, name: str = "Claim") -> dict[str, Any]:
    """A claim about a unit as it is printed, its instance beside it."""
    words = ("prove", unit, "--claim", "integer-sums", "--coq", str(folder / f"{name}.v"), "--json")
    found: dict[str, Any] = json.loads(run(*words).stdout)
    return found


def test_a_theorem_is_written_for_coq_and_the_circuit_is_decided_again(
    run: Run, programs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(claimed(run, tmp_path, UNIT)))
    code, found = audited(run, path, "-o", tmp_path / "files")
    assert (code, statuses(found)) == (3, {"tcformal": "accepted", "Coq": "missing"})
    assert (tmp_path / "files" / "Instance.v").read_text() == (tmp_path / "Claim.v").read_text()
    assert "claims decided again" in " ".join(check["said"] for check in found["checks"])
    assert audited(run, claimed(run, tmp_path, UNIT)["id"][:12])[0] == 3


@pytest.mark.parametrize("part", ["theorem", "coq", "unit"])
def test_an_instance_of_another_unit_is_rejected(run: Run, programs: Path, tmp_path: Path, part: str) -> None:
    mine, path = claimed(run, tmp_path, UNIT), tmp_path / "claim.json"
    other = claimed(run, tmp_path, OTHER, "Other")
    assert other[part] != mine[part]
    path.write_text(json.dumps(mine | {part: other[part]}))
    code, found = audited(run, path)
    assert (code, found["audit"]) == (1, "REJECTED")


def test_inputs_that_refute_a_claim_are_two_runs(run: Run, programs: Path, tmp_path: Path) -> None:
    installed(programs, "abc", "echo SATISFIABLE")
    words = ("prove", "tfdpa@products=1,k=2", "--claim", "product-order", "--json")
    refuted = json.loads(run(*words).stdout)
    assert (refuted["verdict"], refuted["answered_by"]) == ("VIOLATED", "witness")
    code, found = audited(run, refuted["id"][:12])
    assert (code, found["files"]) == (0, ["first_inputs.aig", "second_inputs.aig"])


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "{}", '{"claim": 3}', '{"id": 3}', '{"claim": "c", "unit": "u"}', "\x00"]
)
def test_a_file_that_is_no_answer_rejects(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "answer.json"
    path.write_text(text)
    result = run("audit", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: expected an answer" in result.stderr


def test_an_unknown_answer_rejects(run: Run) -> None:
    result = run("audit", "xyz")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: expected the start of a record's id, but got 'xyz'" in result.stderr


# ---------------------------------------------------------------------- the programs themselves
@pytest.mark.debian
def test_programs_of_others_accept_a_proof(run: Run, results_folder: Path) -> None:
    code, found = audited(run, kept(results_folder, certified()))
    assert code == 0
    assert (statuses(found)["ABC"], statuses(found)["ACL2"]) == ("accepted", "accepted")


@pytest.mark.debian
def test_abc_confirms_the_inputs_and_no_others(
    run: Run, results_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = kept(results_folder, separated())
    assert statuses(audited(run, answer)[1])["ABC"] == "accepted"
    from tcformal.store.audit import written

    demanded = written._demanded
    monkeypatch.setattr(written, "_demanded", lambda made, values: demanded(made, {**values, "c": 0}))
    code, found = audited(run, answer)
    assert (code, statuses(found)["ABC"]) == (1, "rejected")
