"""`--plot` of the commands about errors: the picture, and its data with the command that makes it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


@pytest.mark.parametrize("show", ["growth", "histogram"])
def test_a_picture_has_its_data_beside_it(show: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "f.svg"
    words = ["statistics", VOLTA, "--lengths", "4,8", "--elements", "16", "--plot", str(path), "--show", show]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    first, *lines = path.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert first.startswith("# tcformal ")
    rows = list(csv.DictReader(lines))
    assert {(row["unit"], row["n"]) for row in rows} == {(VOLTA, "4"), (VOLTA, "8")}


def test_accuracy_draws_its_growth(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "f.svg"
    words = ["accuracy", VOLTA, "--length", "16", "--no-prove", "--plot", str(path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    first, *lines = path.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert first.startswith("# tcformal ")
    rows = [(row["n"], row["bound·2^24"], float(row["attained·2^24"])) for row in csv.DictReader(lines)]
    assert [(n, bound) for n, bound, _ in rows] == [("4", ""), ("8", ""), ("16", "")]
    assert rows[0][2] == pytest.approx(6, abs=0.001)


@pytest.mark.long
def test_slices_as_data() -> None:
    unit = (
        "tfdpa@products=2,a_format=e5m2,b_format=e5m2,c_format=fp16,d_format=fp16,fraction_bits=11,"
        "conversion=RZ-FP16,zero_exponent=-20"
    )
    words = ["exact", unit]
    made = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    assert made["exact_up_to"] == 2048
    assert made["slices"][-1] == {"bits": 4, "largest": 8, "products": 32}
    text = CliRunner().invoke(main, words).output
    assert "most products" in text
    assert "a sum of 2^11 + 1 is not exact" in text


def test_statistics_as_data() -> None:
    words = ["statistics", VOLTA, "--lengths", "4,8", "--elements", "16", "--bias", "--json"]
    done = CliRunner().invoke(main, words)
    made = json.loads(done.output)
    assert [x["length"] for x in made["samples"]] == [4, 8]
    assert all(sum(x["histogram"]["counts"]) == x["elements"] == 16 for x in made["samples"])
    assert [x["exact"] for x in made["bias"]] == [False, False]
