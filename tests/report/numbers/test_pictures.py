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


def test_statistics_as_data() -> None:
    words = ["statistics", VOLTA, "--lengths", "4,8", "--elements", "16", "--bias", "--json"]
    done = CliRunner().invoke(main, words)
    made = json.loads(done.output)
    assert [x["length"] for x in made["samples"]] == [4, 8]
    assert all(sum(x["histogram"]["counts"]) == x["elements"] == 16 for x in made["samples"])
    assert [x["exact"] for x in made["bias"]] == [False, False]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--plot", "f.jpg"], "expected a known kind of picture, but got 'jpg'"),
        (["--lengths", "4,x"], "expected lengths as 16,64,256 for --lengths, but got '4,x'"),
        (["--show", "heat"], "expected a known picture, but got 'heat'"),
        (["--lengths", "1048576", "--elements", "65536"], "for length times elements"),
    ],
)
def test_statistics_rejects(words: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, ["statistics", VOLTA, *words])
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())
