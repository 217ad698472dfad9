"""The report of the papers' questions: what it prints can be pasted, and what it counts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import tcformal
from tcformal.analysis.asks import Answered, run
from tcformal.analysis.queryfile import load
from tcformal.cli import main
from tcformal.cli.run import agreement, report_text, statement_text
from tcformal.query.options import SolveOptions, solve_options
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.claim_view import claims_section
from tcformal.report.markdown import Section
from tcformal.solve.result import Limits
from tcformal.store.store import Store
from tcformal.version import VERSION, commit, host

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

OTHER = "x86/vdpbf16ps"
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
    how = solve_options(Limits(200.0, 8192, 0), store=Store(folder / "results"))
    answered = list(run(query, query.concrete(), how))
    return statement_text(query, answered), answered


def test_answers_are_counted_by_what_the_source_says(done: tuple[str, list[Answered]]) -> None:
    text, answered = done
    assert [agreement(a) for a in answered] == [
        "agrees",
        "deviates",
        "asks something else",
        "**expected HOLDS**",
    ]
    counted = report_text(answered, [Section("Others", "Words.", ("a", ">b"), [("x|y", "1")])])
    assert "1 answers agree with the source, 1 deviate from it, 1 are to something that" in counted
    assert "1 are open" in counted
    assert counted.endswith("\n## Others\n\nWords.\n\n| a | b |\n| --- | --: |\n| x\\|y | 1 |\n")
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


def test_a_table_says_where_its_answers_come_from(done: tuple[str, list[Answered]], tmp_path: Path) -> None:
    """Versions, the commit where there is one, and the machine; of older records what is not known."""
    text, answered = done
    assert f"tcformal {VERSION}{f' at commit {commit()}' if commit() else ''}" in text
    assert f" Machine: {host()}." in text
    assert all(a.answer["machine"] == host() and a.answer["commit"] == commit() for a in answered)
    older = {key: value for key, value in answered[0].answer.items() if key not in ("machine", "commit")}
    (tmp_path / "asks.toml").write_text(ASKS, encoding="utf-8")
    query = load(tmp_path / "asks.toml")
    text = statement_text(query, [replace(answered[0], answer=older)])
    assert " Machine: a machine that was not recorded." in text


def test_a_record_keeps_commit_and_machine(tmp_path: Path) -> None:
    store = tcformal.Store(tmp_path)
    fresh = tcformal.separate("valpey@terms=2", "valpey@terms=2,align_bits=1", store=store)
    served = tcformal.separate("valpey@terms=2", "valpey@terms=2,align_bits=1", store=store)
    assert served.served
    assert (served.machine, served.commit) == (fresh.machine, fresh.commit) == (host(), commit())


def test_inputs_of_a_long_product_are_counted_beyond_the_first(tmp_path: Path) -> None:
    """Sixty-four values, and the command that prints all."""
    (tmp_path / "claim.toml").write_text(REFUTED, encoding="utf-8")
    query = load(tmp_path / "claim.toml")
    words = [{"value": str(i)} for i in range(40)]
    witness = {"a": words, "b": words, "c": {"value": "7"}}
    (ask,) = query.concrete()
    text = statement_text(
        query,
        [
            Answered(
                query=query.name,
                ask=ask,
                outcome="FOUND",
                seconds=0.0,
                answer={"witness": witness, "results": {}},
            )
        ],
    )
    assert "1. a[0] = 0, a[1] = 1, " in text
    assert f"b[23] = 23 and 17 more values: `tcformal run {query.name} --json`" in text


def test_a_refuted_claim_is_shown_with_its_inputs(tmp_path: Path) -> None:
    """Both sets of inputs at their places, and pasted they give the results of the witness."""
    (tmp_path / "claim.toml").write_text(REFUTED, encoding="utf-8")
    query = load(tmp_path / "claim.toml")
    (answered,) = run(query, query.concrete(), SolveOptions())
    assert answered.outcome == "VIOLATED"
    commands = re.findall(r"`(tcformal eval [^`]+)`", statement_text(query, [answered]))
    wanted = [
        p["witness"]["results"] for p in answered.answer["parts"] if "witness" in p and not p["control"]
    ]
    given = []
    for command in commands:
        result = CliRunner().invoke(main, [*shlex.split(command)[1:], "--json"])
        assert result.exit_code == 0, result.output
        given.append(int(json.loads(result.stdout)[0]["hex"], 16))
    assert given == [int(raw, 16) for row in wanted for raw in row]


def test_only_asks_of_that_name_are_asked(tmp_path: Path) -> None:
    (tmp_path / "asks.toml").write_text(ASKS, encoding="utf-8")
    words = ["run", str(tmp_path / "asks.toml"), "--results", str(tmp_path / "results"), "--json"]
    result = CliRunner().invoke(main, [*words, "--only", "25"])
    assert [a["ask"] for a in json.loads(result.stdout)] == ["25 bits"]
    result = CliRunner().invoke(main, [*words, "--only", "26"])
    assert result.exit_code == 2
    assert "expected an ask with '26' in its name, but found none" in result.output


def test_claims_are_counted_by_what_answered_them(tmp_path: Path) -> None:
    """From kept records, which are said to be unchecked; of units of the catalogue."""
    store = Store(tmp_path)
    held = tcformal.prove_claim("volta/mma.m8n8k4.f32.f16.f16.f32", "zero-products", store=store)
    refuted = tcformal.prove_claim("cdna2/v_mfma_f32_32x32x8f16", "zero-products", store=store)
    assert (held.kind.name, refuted.kind.name) == ("HOLDS", "VIOLATED")
    tcformal.prove_claim("tfdpa@products=4", "zero-products", store=store)  # no unit of the catalogue
    records = [r for r in store.claims.all() if r["unit"] in (held.unit.name, refuted.unit.name)]
    assert len(records) == 2
    open_ = {**records[0], "unit": "hopper/mma.m16n8k16.f32.f16.f16.f32", "verdict": "UNKNOWN"}
    proved = {**records[0], "unit": OTHER, "answered_by": "solvers"}
    section = claims_section([*store.claims.all(), {**open_, "answered_by": "nothing"}, proved])
    assert NOT_CHECKED in section.text
    assert section.rows == [("zero-products", "2", "1", "1", "1", "1")]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r.update(unit="nobody/knows.it"),
        lambda r: r.update(claim="no claim of today"),
    ],
)
def test_claims_of_what_is_not_known_are_not_counted(spoil: Callable[[Any], None], tmp_path: Path) -> None:
    store = Store(tmp_path)
    tcformal.prove_claim("volta/mma.m8n8k4.f32.f16.f16.f32", "zero-products", store=store)
    (record,) = store.claims.all()
    assert [row[0] for row in claims_section([record]).rows] == ["zero-products"]
    spoil(record)
    assert claims_section([record]).rows == []
