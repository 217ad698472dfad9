"""Written suites examined: what they say of equal designs and of the number of inputs is derived again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.design.space import space
from tcformal.query.options import SolveOptions
from tcformal.query.suites.made import Equal, Suite, examined, fewest, redundant, to_json
from tcformal.query.suites.suite import suite_of
from tcformal.solve.result import Limits

LIMITS = Limits(time_s=60.0, memory_mb=8192, seed=0)
NEVER = Limits(time_s=0.001, memory_mb=8192, seed=0)
BASE = "valpey@terms=2,fraction_bits=5"
#: Both hold every sum of two, and no theorem speaks of normalised products.
CARRIES = "carry_bits=3,4"


@pytest.fixture(scope="module")
def widths() -> Suite:
    """Designs of which all but two differ: four carry bits and five hold every sum of two."""
    return suite_of(
        space([BASE], vary=["fraction_bits=5,6,7", "carry_bits=3,4"]),
        SolveOptions(limits=LIMITS),
        shrink_s=1.0,
    )


def forged(made: Suite, tmp_path: Path, **change: Any) -> tuple[int, str]:
    """The exit code and the output of the command for an altered suite."""
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({**to_json(made), **change}))
    result = CliRunner().invoke(main, ["suite", "--check", str(path), "--time-limit", "60"])
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.slow
def test_an_honest_suite_is_proved_again(widths: Suite, tmp_path: Path) -> None:
    assert len(widths.equal) == 3
    assert not any(e.same_definition for e in widths.equal)
    assert forged(widths, tmp_path) == (
        0, f"{len(widths.inputs)} inputs and 6 designs: nothing is wrong"
    )  # fmt: skip


def test_equal_designs_that_differ_are_refused(widths: Suite, tmp_path: Path) -> None:
    """By vectors, before any proof, whatever certificate the file names."""
    first, *_, last = sorted(set(widths.classes))
    row = {
        "first": first, "second": last, "reason": "kissat found no inputs", "same_definition": False,
        "confirmed_by": ["kissat"], "certificate": {"sha256": "0" * 64, "solver": "kissat"},
    }  # fmt: skip
    made = replace(
        widths, inputs=(), results=(), at_least=0,
        designs=(widths.designs[first], widths.designs[last]), equal=(),
    )  # fmt: skip
    said = {**row, "first": 0, "second": 1}
    code, text = forged(made, tmp_path, equal=[said])
    assert code == 1
    assert "but they differ on" in text
    found = examined(replace(made, equal=(Equal(0, 1, "said", False),)), SolveOptions(limits=NEVER))
    assert (len(found.wrong), found.unproved) == (1, [])


def test_equal_designs_without_a_proof_are_not_called_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that are equal, of which no theorem says so, and no time for a solver."""
    monkeypatch.setattr("tcformal.query.suites.made.equal_by_theorem", lambda *_: None)
    pair = space([BASE], vary=[CARRIES]).members
    made = suite_of(space([BASE], vary=[CARRIES]), SolveOptions(limits=LIMITS), shrink_s=1.0)
    equal = replace(
        made, designs=pair, inputs=(), results=(), undecided=(), at_least=0,
        equal=(Equal(0, 1, "cadical found no inputs", False, (), {"sha256": "0" * 64}),),
    )  # fmt: skip
    found = examined(equal, SolveOptions(solvers=["cadical"], limits=NEVER))
    assert found.wrong == []
    assert len(found.unproved) == 1
    assert "are not proved equal: " in found.unproved[0]
    path = tmp_path / "equal.json"
    path.write_text(json.dumps(to_json(equal)))
    words = ["suite", "--check", str(path), "--time-limit", "0.001", "--solvers", "cadical"]
    assert CliRunner().invoke(main, words).exit_code == 3
    assert examined(equal, SolveOptions(limits=LIMITS)).unproved == []


def test_a_false_definition_is_refused(widths: Suite) -> None:
    e = widths.equal[0]
    found = examined(
        replace(widths, equal=(replace(e, same_definition=True), *widths.equal[1:])),
        SolveOptions(limits=LIMITS),
    )
    assert any("but they build two" in text for text in found.wrong)


@pytest.mark.parametrize("wrong", [-1, 0, 1 << 20])
def test_the_least_number_of_inputs_is_counted(widths: Suite, tmp_path: Path, wrong: int) -> None:
    assert widths.at_least == fewest(widths) > 0
    assert redundant(widths) == []
    code, text = forged(widths, tmp_path, at_least=wrong)
    assert (code, "as the least number of inputs" in text) == (1, True)


def test_an_input_too_many_is_refused(widths: Suite) -> None:
    twice = replace(
        widths, inputs=(*widths.inputs, widths.inputs[0]), results=(*widths.results, widths.results[0])
    )
    assert "expected inputs that are all needed" in examined(twice, SolveOptions(limits=LIMITS)).wrong[0]


def test_another_table_of_separating_inputs_is_refused(widths: Suite, tmp_path: Path) -> None:
    assert forged(widths, tmp_path, separated=[])[0] == 1
