"""The report of the papers' questions: what it prints can be pasted, and what it counts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.papers.files import load
from tcformal.papers.run import Answered, Setting, run
from tcformal.report.queries import agreement, report_text
from tcformal.solve.result import Limits
from tcformal.store.store import Store

ASKS = """
title = "Positions matter"
source = "nobody"
[[ask]]
name = "25 bits"
separate = ["ampere/mma.m16n8k16.f32.f16.f16.f32", "ampere/mma.m16n8k16.f32.f16.f16.f32@fraction_bits=25"]
expected = "SEPARATED"
reported = "one bit more"
[[ask]]
name = "L = 4 or 8"
separate = ["ampere/mma.m16n8k16.f32.f16.f16.f32@products=4", "ampere/mma.m16n8k16.f32.f16.f16.f32"]
assume = ["finite"]
expected = "SEPARATED"
reported = "4"
deviation = "not so"
[[ask]]
name = "no minus zero"
property = "no-negative-zero"
unit = "valpey@terms=2,zero_sign=ieee"
expected = "VIOLATED"
[[ask]]
name = "Table 5"
algorithm = { unit = "volta/mma.m8n8k4.f32.f16.f16.f32", worse = "ootomo-yokota" }
expected = "HOLDS"
reported = "always better"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Answered]]:
    """The report of these questions, and their answers."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "asks.toml").write_text(ASKS, encoding="utf-8")
    query = load(folder / "asks.toml")
    how = Setting(Store(folder / "results"), Limits(200.0, 8192, 0))
    answered = list(run(query, query.concrete(), how))
    return report_text([query], answered), answered


def test_answers_are_counted_by_what_the_source_says(done: tuple[str, list[Answered]]) -> None:
    text, answered = done
    assert [agreement(a) for a in answered] == [
        "agrees",
        "deviates",
        "not in the source",
        "**expected HOLDS**",
    ]
    assert "1 answers agree with their source, 1 deviate from it, 1 answer questions" in text
    assert "1 are open" in text
    assert "| no operand is NaN or Inf |" in text
    assert "Answered by " in text


def test_every_command_of_the_report_gives_the_results_that_it_reports(
    done: tuple[str, list[Answered]],
) -> None:
    """Pasted into a shell, each line shows the operands at their places, and so the same results."""
    text, answered = done
    lines = [line.strip().lstrip("0123456789.").strip() for line in text.splitlines()]
    commands = [line.strip("`") for line in lines if line.startswith("`tcformal eval ")]
    wanted = [r["hex"] for a in answered[:3] for r in a.answer["results"].values()]
    wanted.append(answered[3].answer["results"]["markidis"]["hex"])
    found = []
    for command in commands:
        result = CliRunner().invoke(main, [*shlex.split(command)[1:], "--json"])
        assert result.exit_code == 0, result.output
        found += [row["hex"] for row in json.loads(result.stdout)]
    assert len(commands) == 5
    # The last command is the sum without c, to which Ootomo and Yokota add c outside the unit.
    assert [int(raw, 16) for raw in found[:-1]] == [int(raw, 16) for raw in wanted]
    assert len({row["hex"] for row in answered[1].answer["results"].values()}) == 2


def test_only_asks_of_that_name_are_asked(tmp_path: Path) -> None:
    (tmp_path / "asks.toml").write_text(ASKS, encoding="utf-8")
    words = ["run", str(tmp_path / "asks.toml"), "--results", str(tmp_path / "results"), "--json"]
    result = CliRunner().invoke(main, [*words, "--only", "25"])
    assert [a["ask"] for a in json.loads(result.stdout)] == ["25 bits"]
    result = CliRunner().invoke(main, [*words, "--only", "26"])
    assert result.exit_code == 2
    assert "expected an ask with '26' in its name, but found none" in result.output
