"""Answers about errors in the words of who asks: a share, a constant, and the theorem that they rest on."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.cli.accuracy import theorem_data, theorem_text
from tcformal.design.names import resolve
from tcformal.oracle.numerals import percent
from tcformal.theory.claims import relative_from_zero

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.parametrize(
    ("share", "up", "text"),
    [
        (Fraction(1, 3), True, "33.34 %"),
        (Fraction(1, 3), False, "33.33 %"),
        (Fraction(1, 1 << 24), True, "0.000005961 %"),
        (Fraction(1, 1 << 24), False, "0.00000596 %"),
        (Fraction(1, 1 << 53), True, "1.111e-14 %"),
        (Fraction(3), True, "300 %"),
        (Fraction((1 << 63) + 1), True, "9.224e+20 %"),
        (Fraction((1 << 63) + 1), False, "9.223e+20 %"),
        (Fraction(0), True, "0 %"),
    ],
)
def test_shares_are_rounded_away_from_what_is_meant(share: Fraction, up: bool, text: str) -> None:
    assert percent(share, up=up) == text


def test_the_first_line_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.cli.accuracy.refined", lambda _: "")
    done = CliRunner().invoke(main, ["accuracy", VOLTA, "--length", "64", "-v"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    first = f"{VOLTA}: a dot product of 64 products differs from xᵀy by at most 0.00075"
    assert said.startswith(first), said
    assert "% of Σ|x_k·y_k| (126.00" in said
    assert "theorem relative_error_from_zero (Coq): |d - Σ terms| <= " in said
    assert "of the unit's specification" in said


def test_data_name_the_theorem_and_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcformal.cli.accuracy.refined", lambda _: "")
    done = CliRunner().invoke(main, ["accuracy", VOLTA, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["proof"]["theorem"]["name"] == "relative_error_from_zero"
    assert found["proof"]["theorem"]["of"] == "specification"
    assert found["seconds"] >= 0


def test_a_long_sum_has_a_bound_and_no_inputs() -> None:
    words = ["accuracy", "tfdpa@products=1000000,fraction_bits=30"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "no inputs were built: expected at most 256 products in a sum" in said
    assert "tcformal eval" not in said
    found = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    assert found["attained"] is None
    assert found["not_built"]
    assert found["model1"]["at_least"] is None
    assert found["bound"]["value"] < 0.00094
    assert CliRunner().invoke(main, [*words, "--no-prove"]).exit_code == 3


def test_an_answer_says_whether_it_is_about_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where a certified refinement of its circuit is kept."""
    unit = resolve(VOLTA)
    theorem = relative_from_zero(unit)
    assert theorem is not None
    monkeypatch.setattr("tcformal.cli.accuracy.refined", lambda _: "")
    assert theorem_text(unit, theorem).endswith("of the unit's specification")
    monkeypatch.setattr("tcformal.cli.accuracy.refined", lambda _: "unit refined: by claims")
    assert theorem_text(unit, theorem).endswith("\nunit refined: by claims")
    assert theorem_data(unit, theorem)["of"] == "unit"


def test_an_instance_of_a_theorem_needs_neither_proofs_nor_solvers() -> None:
    """So that an answer takes no longer than its inputs."""
    code = f"""
import sys
from tcformal.cli import main
try:
    main(["accuracy", {VOLTA!r}, "--length", "4096"])
except SystemExit as end:
    assert not end.code
heavy = ("tcformal.query.claims", "tcformal.store", "z3", "cvc5", "bitwuzla", "pysat")
print([x for x in sys.modules if x.startswith(heavy)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_several_units_and_lengths_have_a_line_each(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    other, path = f"{VOLTA}@fraction_bits=13", tmp_path / "g.svg"
    words = ["accuracy", VOLTA, other, "--lengths", "4,32"]
    data = json.loads(CliRunner().invoke(main, [*words, "--json", "--plot", str(path)]).stdout)
    assert [(x["unit"], x["length"]) for x in data] == [(VOLTA, 4), (VOLTA, 32), (other, 4), (other, 32)]
    lines = path.with_suffix(".csv").read_text(encoding="utf-8").splitlines()[1:]
    rows = list(csv.DictReader(lines))
    assert [(row["unit"], int(row["n"])) for row in rows] == [(x["unit"], x["length"]) for x in data]
    for row, x in zip(rows, data, strict=True):
        assert float(row["bound·2^24"]) == pytest.approx(x["bound"]["value"] * 2**24)
        assert 0 < float(row["attained·2^24"]) <= float(row["bound·2^24"])
    said = " ".join(CliRunner().invoke(main, ["accuracy", VOLTA, other]).stdout.split())
    assert said.startswith(f"Errors of 4 products, in parts of Σ|x_k·y_k|: {other} at most ")
