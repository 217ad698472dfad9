"""The report of the papers' questions: what it prints can be pasted, and what it counts."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.analysis.papers.files import load
from tcformal.analysis.papers.run import Answered, Setting, run
from tcformal.cli import main
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

REFUTED = """
title = "Rounding down is not symmetric"
source = "nobody"
[[ask]]
name = "signs"
claim = "negation-symmetry"
unit = "valpey@terms=2,alignment_rounding=RD"
expected = "VIOLATED"
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
        "asks something else",
        "**expected HOLDS**",
    ]
    assert "1 answers agree with the source, 1 deviate from it, 1 are to something that" in text
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


def test_a_refuted_claim_is_shown_with_its_inputs(tmp_path: Path) -> None:
    """Both sets of inputs at their places, and pasted they give the results of the witness."""
    (tmp_path / "claim.toml").write_text(REFUTED, encoding="utf-8")
    query = load(tmp_path / "claim.toml")
    (answered,) = run(query, query.concrete(), Setting(None, Limits()))
    assert answered.outcome == "VIOLATED"
    commands = re.findall(r"`(tcformal eval [^`]+)`", report_text([query], [answered]))
    wanted = [
        p["witness"]["results"] for p in answered.answer["parts"] if "witness" in p and not p["control"]
    ]
    given = []
    for command in commands:
        result = CliRunner().invoke(main, [*shlex.split(command)[1:], "--json"])
        assert result.exit_code == 0, result.output
        given.append(int(json.loads(result.stdout)[0]["hex"], 16))
    assert given == [int(raw, 16) for row in wanted for raw in row]
