"""Coq on the files of an audit: it takes those of a unit, and refuses altered ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.store.audit import others

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
#: Another design's record, and an axiom.
_ALTERED = (
    ("Instance.v", "fraction_bits := (Some 23)", "fraction_bits := (Some 22)"),
    ("Circuit.v", "fraction_bits := (Some 23)", "fraction_bits := (Some 22)"),
    ("Instance.v", "Definition instance :=", "Axiom more : 0 = 1.\nDefinition instance := let _ := more in"),
)


@pytest.mark.debian
def test_coq_takes_the_files_of_a_unit_and_no_altered_ones(
    compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others, "compiled_sources", lambda: compiled)
    asked = CliRunner().invoke(main, ["prove", UNIT, "--claim", "integer-sums", "--json"])
    answer = json.loads(asked.stdout)["id"]
    done = CliRunner().invoke(main, ["audit", answer, "-o", str(tmp_path), "--json"])
    checks = json.loads(done.stdout)["checks"]
    assert {x["what"]: x["status"] for x in checks if x["by"] == "Coq"} == {
        "Instance.v": "accepted", "Circuit.v": "accepted"
    }  # fmt: skip
    assert done.exit_code == 0
    for name, old, new in _ALTERED:
        text = (tmp_path / name).read_text()
        assert old in text
        files = {name: text.replace(old, new).encode()}
        (check,) = others.checks_by_others(tmp_path, files, 300.0, lambda _: None)
        assert check.status is others.CheckStatus.REJECTED, check
        (tmp_path / name).write_text(text)
