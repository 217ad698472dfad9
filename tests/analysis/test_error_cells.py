"""Sweeps of errors over units, programs and lengths: one record for each cell, kept and resumed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcformal.analysis.error_cells import Cell, measured_already, sweep_errors
from tcformal.analysis.records import append
from tcformal.analysis.samples import error_sample
from tcformal.cli import main
from tcformal.simulation.runnable import computation

VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
CELLS = [Cell(name, n, 9, "normal", 1) for name in (VOLTA, "added-outside") for n in (4, 8)]


def test_a_sweep_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "statistics.jsonl"
    with ThreadPoolExecutor(1) as pool:
        first = list(sweep_errors(path, CELLS[:3], pool))
        seen: list[tuple[int, int]] = []
        rest = list(sweep_errors(path, CELLS, pool, advance=lambda *x: seen.append(x)))
    assert {r.cell for r in first} == set(CELLS[:3])
    assert [r.cell for r in rest] == CELLS[3:]
    assert seen == [(1, 1)]
    held = measured_already(path, CELLS)
    assert set(held) == set(CELLS)
    wanted = error_sample(computation("added-outside"), 8, elements=9, seed=1)
    assert float(held[CELLS[3]].largest) == wanted.quantiles[1.0]
    assert held[CELLS[3]].finite == 9
    # An altered record is measured again.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:3], lines[3].replace('"finite": 9', '"finite": 8')]), encoding="utf-8")
    assert set(measured_already(path, CELLS)) == set(CELLS[:3])


def test_errors_that_are_no_numbers_are_measured_again(tmp_path: Path) -> None:
    """Also where the digest of the line fits."""
    path, said = tmp_path / "statistics.jsonl", list[str]()
    with ThreadPoolExecutor(1) as pool:
        (made,) = sweep_errors(path, CELLS[:1], pool)
    append(path, replace(made, largest="many"))
    path.write_text(path.read_text(encoding="utf-8").splitlines(True)[1], encoding="utf-8")
    assert measured_already(path, CELLS[:1], said.append) == {}
    (line,) = said
    assert line.startswith(f"expected the errors of {VOLTA} in {path} as numbers, but ")


def test_a_cell_of_another_definition_is_measured_again(tmp_path: Path) -> None:
    """A program's file with the same name and another text."""
    path, file = tmp_path / "statistics.jsonl", tmp_path / "mine.toml"
    text = (
        'title = "A sum"\nsource = "an example"\ninputs = { a = "fp16", b = "fp16", c = "fp32" }\n'
        'body = "d = pairwise(mul(a, b, fp32), fp32)"\n'
    )
    file.write_text(text, encoding="utf-8")
    cell = Cell(str(file), 4, 4, "normal", 1)
    with ThreadPoolExecutor(1) as pool:
        assert len(list(sweep_errors(path, [cell], pool))) == 1
        assert measured_already(path, [cell])
        file.write_text(text.replace("pairwise", "chain"), encoding="utf-8")
        assert not measured_already(path, [cell])
        assert len(list(sweep_errors(path, [cell], pool))) == 1


class Elsewhere(ThreadPoolExecutor):
    """Workers that do not have the caller's files: what they are given is pickled, and the file is gone."""

    def __init__(self, file: Path) -> None:
        super().__init__(1)
        self.file = file

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run what has been sent."""
        sent = pickle.dumps((fn, args, kwargs))

        def run() -> Any:
            self.file.unlink(missing_ok=True)
            function, given, named = pickle.loads(sent)
            return function(*given, **named)

        return super().submit(run)


def test_a_program_is_sent_with_its_text(tmp_path: Path) -> None:
    """A worker on another machine has no file of that name."""
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "A sum"\nsource = "an example"\ninputs = { a = "fp16", b = "fp16", c = "fp32" }\n'
        'body = "d = pairwise(mul(a, b, fp32), fp32)"\n',
        encoding="utf-8",
    )
    cells = [Cell(str(file), n, 4, "normal", 1) for n in (4, 8)]
    with Elsewhere(file) as pool:
        made = list(sweep_errors(tmp_path / "statistics.jsonl", cells, pool))
    assert {r.cell for r in made} == set(cells)
    assert not file.exists()


@pytest.mark.slow
def test_statistics_of_programs_and_units_are_swept(tmp_path: Path) -> None:
    words = ["statistics", VOLTA, "added-outside", "--lengths", "4", "--elements", "4", "--sweep"]
    words += ["--jobs", "1", "--json", "--results", str(tmp_path)]
    made = json.loads(CliRunner().invoke(main, words).stdout)
    assert [(r["name"], r["length"], r["finite"]) for r in made] == [(VOLTA, 4, 4), ("added-outside", 4, 4)]
    assert len((tmp_path / "statistics.jsonl").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    "words", [["--jobs", "2"], ["--sweep", "--bias"], ["--sweep", "--show", "histogram"]]
)
def test_what_a_sweep_does_not_do_is_refused(words: list[str]) -> None:
    done = CliRunner().invoke(main, ["statistics", VOLTA, *words])
    assert done.exit_code == 2
    assert "expected --sweep for --jobs and --scheduler" in done.output
