"""What is written for checkers by other people: answers that folding decides, and instances of theorems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main
from tcformal.store.audit import written

ONE, OTHER = "tfdpa@products=1,k=1", "tfdpa@products=1,k=1,fraction_bits=24"
CLAIM = ("valpey@terms=3,fraction_bits=5", "sign-magnitude")


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--results", str(folder)], env={"COLUMNS": "200"})


def clauses(path: Path) -> list[list[int]]:
    """The clauses of a file in DIMACS form."""
    head, *rows = path.read_text().splitlines()
    found = [[*map(int, row.split())][:-1] for row in rows]
    assert int(head.split()[3]) == len(found)
    return found


def test_what_folding_decides_is_written_without_folding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two circuits of one definition that share no gate: there is something to check."""
    monkeypatch.setattr(written, "_CONFLICTS", 100)
    made = json.loads(run(tmp_path, "prove", ONE, OTHER, "--certify", "--json").stdout)
    assert (made["verdict"], made["same_definition"]) == ("EQUIVALENT", True)
    result = run(tmp_path, "results", "proof", made["id"][:12], "-o", str(tmp_path / "one"))
    assert result.exit_code == 0
    assert "folding alone decides the question" in result.stderr
    rows = clauses(tmp_path / "one.cnf")
    assert len(rows) > 1000
    assert all(rows)


@pytest.mark.parametrize(
    "words", [(ONE, OTHER), ("tfdpa@products=1,k=1", "tfdpa@products=1,k=1,fraction_bits=23")]
)
def test_every_answer_that_prove_prints_has_an_id(tmp_path: Path, words: tuple[str, str]) -> None:
    shown = run(tmp_path, "prove", *words).stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("id: ")]
    name = line.removeprefix("id: ").partition(";")[0]
    listed = json.loads(run(tmp_path, "results", "list", "--json").stdout)
    assert [r["id"].startswith(name) for r in listed] == [True]
    assert f"id: {name}" in run(tmp_path, "results", "show", name).stdout


def test_a_claim_has_an_id_too(tmp_path: Path) -> None:
    made = json.loads(run(tmp_path, "prove", CLAIM[0], "--claim", CLAIM[1], "--json").stdout)
    name = made["id"]
    (row,) = json.loads(run(tmp_path, "results", "list", "--json").stdout)
    assert (row["id"], row["verdict"], row["kept_as"]) == (name, "UNKNOWN", "HOLDS")
    assert run(tmp_path, "results", "show", name[:12]).stdout.startswith("HOLDS: theorem ")
    assert json.loads(run(tmp_path, "results", "show", name, "--json").stdout)["verdict"] == "HOLDS"
    result = run(tmp_path, "results", "proof", name[:12], "-o", str(tmp_path / "Claim"))
    assert result.exit_code == 0, result.output
    assert made["theorem"]["name"] in (tmp_path / "Claim.v").read_text()


@pytest.mark.slow
def test_a_claim_that_solvers_answered_names_their_answer(tmp_path: Path) -> None:
    unit = "rdna3/v_wmma_f16_16x16x16_f16"
    made = json.loads(run(tmp_path, "prove", unit, "--claim", "zero-products", "--json").stdout)
    if made["answered_by"] == "theorem":
        pytest.skip("a theorem answers it")
    refused = run(tmp_path, "results", "proof", made["id"][:12], "-o", str(tmp_path / "Claim"))
    assert refused.exit_code == 2
    listed = json.loads(run(tmp_path, "results", "list", "--json").stdout)
    (question,) = [r["id"] for r in listed if r["kind"] == "property"]
    assert f"tcformal results proof {question[:12]}" in refused.stderr
