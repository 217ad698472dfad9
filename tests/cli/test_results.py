"""The results commands, and that `separate` and `prove` keep their answers and serve them again."""

from __future__ import annotations

import base64
import csv
import io
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from kept import (
    FOUR,
    FOUR_25,
    FOUR_BITS,
    THREE_BITS,
    certified,
    rewrite,
    same,
    scaled,
    separated,
    unsettled,
    vacuous,
)
from sampled import one_in
from tcformal.query.verdict import NOT_CHECKED
from tcformal.store.certificates import PROOF
from tcformal.store.store import Store

Run = Callable[..., Result]

#: The time limit counts for equal units too; a busy machine must not matter.
PATIENT = ["--time-limit", "300"]
#: The whole question, which is proved in steps otherwise.
BY_SOLVERS = ["--solvers", "cadical,kissat"]


@pytest.fixture
def filled(results_folder: Path) -> Store:
    """A store with one answer of every kind."""
    store = Store(results_folder)
    for v in (separated(), same(), certified(), vacuous()):
        store.add(v)
    return store


def parsed(result: Result) -> Any:
    assert result.stderr == ""
    return json.loads(result.stdout)


def narrow(result: Result, *, but: str = "bit by bit: ") -> list[str]:
    """The lines of a good output, none of which is too wide but the command to copy."""
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line for line in lines if len(line) > 100 and not line.startswith(but)] == []
    return lines


# ---------------------------------------------------------------------- separate and prove
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("separate", FOUR, FOUR_25), 0),
        (("prove", THREE_BITS, FOUR_BITS, "--assume", "finite", "--certify", *BY_SOLVERS), 0),
    ],
)
def test_an_answer_is_kept_and_served(
    run: Run, results_folder: Path, words: tuple[str, ...], code: int
) -> None:
    fresh = parsed(run(*words, *PATIENT, "--json"))
    (line,) = (results_folder / "answers.jsonl").read_text().splitlines()
    assert json.loads(line)["question"]["sha256"] == fresh["question_sha256"]
    # Nothing is asked: no solver could answer in this time.
    result = run(*words, "--time-limit", "0.001", "--json")
    again = parsed(result)
    assert (result.exit_code, fresh["served"], again["served"]) == (code, False, True)
    assert again.pop("answered") == json.loads(line)["date"]
    assert fresh | {"served": True} == again
    assert (results_folder / "answers.jsonl").read_text().splitlines() == [line]
    text = run(*words).stdout
    assert f"kept answer of {json.loads(line)['date']}; --fresh asks again" in text.splitlines()


def test_fresh_asks_again(run: Run, results_folder: Path) -> None:
    Store(results_folder).add(replace(separated(), seconds=12345.0))
    assert parsed(run("separate", FOUR, FOUR_25, "--json"))["seconds"] == 12345.0
    asked = parsed(run("separate", FOUR, FOUR_25, "--fresh", *PATIENT, "--json"))
    assert asked["seconds"] != 12345.0
    assert asked["served"] is False
    assert len((results_folder / "answers.jsonl").read_text().splitlines()) == 2


def test_a_pair_of_a_known_definition_gets_a_line_of_its_own(run: Run, filled: Store) -> None:
    other = "tfdpa@products=4,fraction_bits=24"
    for _ in range(2):
        assert parsed(run("separate", other, FOUR_25, "--json"))["served"] is True
    assert [e.record["question"]["first"] for e in filled.records()].count(other) == 1
    assert len(filled.path.read_text().splitlines()) == 5


def test_the_folder_is_chosen(
    run: Run, results_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the option, else by the environment, else `results` in the working directory."""
    words = ("separate", FOUR, FOUR_25, *PATIENT)
    run(*words, "--results", str(tmp_path / "mine"))
    assert (tmp_path / "mine" / "answers.jsonl").exists()
    assert not results_folder.exists()
    monkeypatch.delenv("TCFORMAL_RESULTS")
    monkeypatch.chdir(tmp_path)
    run(*words)
    assert (tmp_path / "results" / "answers.jsonl").exists()


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    run: Run, results_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.pwrite", refuse)
    result = run("separate", FOUR, FOUR_25, *PATIENT)
    assert result.exit_code == 0
    assert result.stdout.startswith("SEPARATED: ")
    path = results_folder / "answers.jsonl"
    assert result.stderr == (
        f"warning: the answer is not kept: expected a file that can be read and written at {path}, "
        "but got: Permission denied\n"
    )


def test_a_folder_that_is_none_rejects_before_anything_is_asked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("separate", FOUR, FOUR_25, "--results", str(tmp_path / "file"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: expected a file that can be read and written at ")


def test_a_forged_answer_is_told_and_asked_again(run: Run, filled: Store) -> None:
    rewrite(filled.path, lambda record: record["witness"]["a"].reverse(), line=0)
    result = run("separate", FOUR, FOUR_25, *PATIENT)
    assert result.exit_code == 0
    assert "--fresh asks again" not in result.stdout
    assert result.stderr.startswith("warning: record ")
    assert (
        "is not used: expected a witness that shows what was asked, but it does not replay" in result.stderr
    )


def test_a_bad_solver_rejects_whatever_is_kept(run: Run, filled: Store) -> None:
    assert filled.records()
    result = run("separate", FOUR, FOUR_25, "--solvers", "z4")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: expected a known solver, but got 'z4'")


# ---------------------------------------------------------------------- list and show
def test_the_list_is_filtered(run: Run, filled: Store) -> None:
    assert len(filled.records()) == 4
    rows = parsed(run("results", "list", "--verdict", "EQUIVALENT", "--verdict", "vacuous", "--json"))
    assert [r["kept_as"] for r in rows] == ["EQUIVALENT", "EQUIVALENT", "VACUOUS"]
    assert {r["verdict"] for r in rows} == {"UNKNOWN"}
    assert run("results", "list", "--verdict", "MAYBE").exit_code == 2


def test_stale_and_damaged_records_are_said_to_be_so(run: Run, filled: Store) -> None:
    """The list, which builds no question, names damage only; each record's own view names what is stale."""
    rewrite(filled.path, lambda record: record.update(seconds="long"), sealed=False, line=1)
    rewrite(filled.path, lambda record: record["question"].update(sha256="0" * 64), line=0)
    rows = parsed(run("results", "list", "--json"))
    assert [r["state"] for r in rows] == [NOT_CHECKED, "damaged", NOT_CHECKED, NOT_CHECKED]
    (line,) = [line for line in narrow(run("results", "list")) if rows[1]["id"][:12] in line]
    assert line.rstrip().endswith("damaged")
    shown = parsed(run("results", "show", rows[0]["id"], "--json"))
    assert (shown["state"], shown["check"]) == ("stale", "failed")
    assert ", refused: expected an answer about the definition" in " ".join(
        run("results", "show", rows[0]["id"]).stdout.split()
    )


@pytest.mark.parametrize(
    "damage",
    one_in(
        5,
        [
            lambda r: r.update(verdict=["SEPARATED"]),
            lambda r: r.update(date=7, tcformal=None, witness=[], certificate="none"),
            lambda r: r["question"].update(first=3, k="many", formats=[], assumptions=None),
            lambda r: r["question"].update(kind={"a": "separate"}),
            lambda r: [r.pop(key) for key in [*r] if key != "question"],
        ],
    ),
)
def test_a_damaged_record_stops_no_list(run: Run, filled: Store, damage: Callable[[Any], Any]) -> None:
    rewrite(filled.path, damage, sealed=False, line=0)
    rows = parsed(run("results", "list", "--json"))
    assert [r["state"] for r in rows] == ["damaged", *[NOT_CHECKED] * 3]
    assert len(narrow(run("results", "list"))) > 4
    assert parsed(run("results", "export", "--json", "-"))[0]["state"] == "damaged"
    for form in ("--csv", "--json"):
        assert run("results", "export", form, "-").exit_code == 0
    result = run("results", "show", rows[0]["id"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert run("results", "verify").exit_code == 1


def test_no_verdict_is_listed_or_exported_bare(run: Run, filled: Store, tmp_path: Path) -> None:
    """Beside each that was not checked stands how to check it."""
    assert len(filled.records()) == 4
    rows = list(csv.DictReader(io.StringIO(run("results", "export", "--csv", "-").stdout)))
    for states in (
        [r["state"] for r in parsed(run("results", "list", "--json"))],
        [r["state"] for r in rows],
        [r["state"] for r in parsed(run("results", "export", "--json", "-"))],
    ):
        assert states == [NOT_CHECKED] * 4
    assert NOT_CHECKED in " ".join(run("results", "list").stdout.split())
    assert NOT_CHECKED in " ".join(run("results", "list", "--verdict", "vacuous").stdout.split())


def test_only_the_newest_are_listed(run: Run, filled: Store) -> None:
    filled.add(separated())
    rows = parsed(run("results", "list", "--last", "2", "--json"))
    assert [r["kept_as"] for r in rows] == ["VACUOUS", "SEPARATED"]
    assert "2 records, the newest in" in " ".join(run("results", "list", "--last", "2").stdout.split())


def test_without_answers_the_list_is_empty(run: Run, results_folder: Path) -> None:
    assert narrow(run("results", "list"))[0].startswith("0 records, the newest in ")
    assert parsed(run("results", "list", "--json")) == []
    assert not results_folder.exists()


def test_a_record_is_shown(run: Run, filled: Store) -> None:
    entry = filled.records()[0]
    result = run("results", "show", entry.id[:12])
    lines = narrow(result)
    for needed in (FOUR, FOUR_25, "16384 (0x7400)", "-0.00048828125 (0xba000000)", "cadical", entry.id,
                   entry.digest, entry.record["date"], "3 products are 0·0"):  # fmt: skip
        assert any(needed in line for line in lines), needed
    data = parsed(run("results", "show", entry.digest[:12], "--json"))
    assert (data["id"], data["record"], data["state"]) == (entry.id, entry.record, "current")
    command = next(line.removeprefix("bit by bit: ") for line in lines if line.startswith("bit by bit: "))
    assert command == data["explain"]
    words = shlex.split(command)
    assert words.pop(0) == "tcformal"
    found = parsed(run(*words, "--json"))
    results = [entry.record["results"]["results"][side]["hex"] for side in ("first", "second")]
    assert [u["hex"] for u in found["units"]] == results


def test_a_record_with_scales_is_shown(run: Run, results_folder: Path) -> None:
    record = Store(results_folder).add(scaled())
    lines = narrow(run("results", "show", record["question"]["sha256"]))
    assert any(line.startswith("scales of a: ") for line in lines)
    words = shlex.split(next(line for line in lines if line.startswith("bit by bit: ")))
    found = parsed(run(*words[words.index("explain") :], "--json"))
    assert [u["hex"] for u in found["units"]] == [
        record["results"]["results"][x]["hex"] for x in ("first", "second")
    ]
    (row,) = parsed(run("results", "list", "--json"))
    scales = " ".join(x["hex"] for x in record["witness"]["scale_b"])
    assert f"scale_b=[{scales}]" in row["witness"]


@pytest.mark.parametrize("words", [("show", "xyz"), ("show", ""), ("verify", "xyz")])
def test_an_unknown_id_rejects(run: Run, filled: Store, words: tuple[str, ...]) -> None:
    assert filled.records()
    result = run("results", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: expected the start of a record's id, but got {words[1]!r}: no")


def test_an_ambiguous_or_damaged_record_is_not_shown(run: Run, filled: Store) -> None:
    filled.add(separated())
    q = separated().question
    run("separate", "tfdpa@products=4,fraction_bits=24", FOUR_25)
    result = run("results", "show", q.digest())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: expected the start of one record's id, but ")
    rewrite(filled.path, lambda record: record.update(seconds="long"), sealed=False)
    result = run("results", "show", filled.records()[-1].id)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: expected a record as its schema says, but at seconds ")


@pytest.mark.slow
# ---------------------------------------------------------------------- verify
def test_whole_records_are_verified(run: Run, filled: Store) -> None:
    result = run("results", "verify")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["holds:", "unchecked:", "holds:", "holds:"]
    assert "confirmed by a second solver only (cvc5): not re-checkable" in lines[1]
    assert lines[-1] == "3 records hold, 0 failed, 1 not re-checkable, 0 without an answer"
    data = parsed(run("results", "verify", "--json"))
    assert [r["standing"] for r in data["records"]] == ["holds", "unchecked", "holds", "holds"]
    assert (data["holds"], data["failed"], data["unchecked"], data["open"]) == (3, 0, 1, 0)
    one = run("results", "verify", filled.records()[2].id[:12])
    assert one.stdout.splitlines()[-1].startswith("1 record holds, 0 failed")


def test_nothing_to_check_exits_3(run: Run, results_folder: Path) -> None:
    assert run("results", "verify").exit_code == 3
    store = Store(results_folder)
    store.add(unsettled())
    store.add(same())
    result = run("results", "verify")
    assert result.exit_code == 3
    assert (
        result.stdout.splitlines()[-1] == "0 records hold, 0 failed, 1 not re-checkable, 1 without an answer"
    )


@pytest.mark.slow
def test_one_record_that_fails_exits_1(run: Run, filled: Store) -> None:
    path = filled.folder / PROOF.file
    sha256 = filled.records()[2].record["certificate"]["sha256"]
    (line,) = (i for i, text in enumerate(path.read_text().splitlines()) if sha256 in text)

    def cut(record: dict[str, Any]) -> None:
        record["proof"] = base64.b85encode(base64.b85decode(record["proof"])[:-1]).decode()

    rewrite(path, cut, line=line, kind=PROOF.name)
    result = run("results", "verify")
    assert result.exit_code == 1
    (failure,) = [line for line in result.stdout.splitlines() if "FAILED" in line]
    assert failure.startswith(f"{filled.records()[2].id[:12]} FAILED: expected a certificate of digest ")
    assert result.stdout.splitlines()[-1].startswith("2 records hold, 1 failed")
    as_json = run("results", "verify", "--json")
    assert as_json.exit_code == 1
    assert parsed(as_json)["failed"] == 1
    assert run("results", "verify", filled.records()[0].id).exit_code == 0


def test_a_line_that_is_no_record_fails(run: Run, filled: Store) -> None:
    with filled.path.open("a") as stream:
        stream.write("nonsense\n")
    result = run("results", "verify")
    assert result.exit_code == 1
    assert "FAILED: expected a whole JSON object in line 5 of " in result.stdout
    assert parsed_stdout(run("results", "verify", "--json"))["failed"] == 1


def parsed_stdout(result: Result) -> Any:
    """The JSON of an output that came with warnings."""
    assert result.stderr.startswith("warning: ")
    return json.loads(result.stdout)


# ---------------------------------------------------------------------- export
def test_records_are_exported(run: Run, filled: Store, tmp_path: Path) -> None:
    flat, whole = tmp_path / "out.csv", tmp_path / "out.json"
    assert run("results", "export", "--csv", str(flat)).exit_code == 0
    assert run("results", "export", "--json", str(whole)).exit_code == 0
    rows = list(csv.DictReader(io.StringIO(flat.read_text())))
    records = filled.records()
    assert [r["id"] for r in rows] == [e.id for e in records]
    a = " ".join(x["hex"] for x in records[0].record["witness"]["a"])
    assert f"a=[{a}]" in rows[0]["witness"]
    assert f"first={records[0].record['results']['results']['first']['hex']}" in rows[0]["results"]
    assert rows[3]["assumptions"] == "finite; c=0x7fc00000"
    assert [x["record"] for x in json.loads(whole.read_text())] == [e.record for e in records]
    shown = run("results", "export", "--csv", "-")
    assert list(csv.DictReader(io.StringIO(shown.stdout))) == rows


@pytest.mark.parametrize(("words", "got"), [((), "none"), (("--csv", "--json"), "both")])
def test_an_export_without_one_form_rejects(
    run: Run, tmp_path: Path, words: tuple[str, ...], got: str
) -> None:
    result = run("results", "export", *words, str(tmp_path / "out"))
    assert (result.exit_code, result.stderr) == (
        2,
        f"error: expected one of --csv and --json, but got {got}\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_an_export_to_nowhere_rejects(run: Run, tmp_path: Path) -> None:
    result = run("results", "export", "--csv", str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.startswith("error: expected a regular file at ")


# ---------------------------------------------------------------------- certificates of real proofs
def test_clauses_and_proof_are_written_for_other_checkers(run: Run, filled: Store, tmp_path: Path) -> None:
    ids = {entry.record["verdict"]: entry.id for entry in filled.records()}
    result = run("results", "proof", ids["EQUIVALENT"][:12], "-o", str(tmp_path / "one"))
    cnf, proof = ((tmp_path / f"one.{ending}").read_text() for ending in ("cnf", "lrat"))
    assert (result.exit_code, result.stdout) == (0, "")
    *words, rows = cnf.partition("\n")[0].split()
    assert words[:2] == ["p", "cnf"]
    assert len(cnf.splitlines()) == int(rows) + 1
    assert f"{rows} clauses" in result.stderr
    last = proof.splitlines()[-1].split()
    assert (int(last[0]) > int(rows), last[1], last[-1]) == (True, "0", "0")
    result = run("results", "proof", ids["SEPARATED"], "-o", str(tmp_path / "two"))
    assert result.exit_code == 2
    assert "expected an answer with a certificate, but " in result.stderr
    assert not (tmp_path / "two.cnf").exists()


@pytest.mark.slow
def test_a_proof_of_a_solver_is_kept_and_verified(run: Run, results_folder: Path) -> None:
    words = ("prove", THREE_BITS, FOUR_BITS, "--assume", "finite", "--certify", *BY_SOLVERS, *PATIENT)
    assert run(*words).exit_code == 0
    proof = results_folder / PROOF.file
    assert parsed(run(*words, "--json"))["served"] is True
    assert run("results", "verify").exit_code == 0
    proof.unlink()
    assert run("results", "verify").exit_code == 1
    result = run(*words, "--json")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: record ")
    assert json.loads(result.stdout)["served"] is False
    assert run("results", "verify").exit_code == 0
