"""`identify`: from a device to a kept record that `results verify` checks; devices that are asked by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from small_identify import identify
from tcformal.cli import main
from tcformal.design.names import resolve
from tcformal.devices.protocol import HandDevice, lines_of
from tcformal.errors import InputError
from tcformal.identification.identification import IDENTIFICATION, IdentifyVerdict
from tcformal.identification.identify import identify as identify_device
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, batch_of
from tcformal.simulation.operands.witness import from_data
from tcformal.store.lines import append
from tcformal.store.schema import sealed

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
SPEC = resolve(UNIT)
FORMATS = ("--formats", "fp16,fp16,fp32,fp32", "--k", "4")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The command is tested, not the search, which has tests of its own.
    monkeypatch.setattr("tcformal.identification.identify.identified", identify)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("TCFORMAL_RESULTS", "results")


@pytest.mark.slow
def test_a_device_is_identified_kept_and_verified() -> None:
    words = ("identify", "--device", f"model:{UNIT}", *FORMATS, "--vectors", "300", "--plot", "growth.svg")
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"IDENTIFIED: model:{UNIT} is {UNIT}\n")
    assert "misfits 0 of 300, a rate of 0 (0 to 0.012 with 95 %, two-sided)" in result.stdout
    assert Path("growth.svg").read_text().startswith("<svg xmlns=")
    (answers,) = Path("results/identify").rglob("*.jsonl")
    before = answers.read_text()
    again = json.loads(run(*words, "--json").stdout)
    assert (again["verdict"], again["classes"]) == ("IDENTIFIED", [[UNIT]])
    assert answers.read_text() == before  # all answers were kept
    verified = run("results", "verify")
    # This small search has not asked what tells the design from its neighbours.
    assert verified.exit_code == 3, verified.output
    assert f"model:{UNIT} unchecked: IDENTIFIED, " in verified.stdout
    assert "but nothing here proves neighbour=" in verified.stdout
    append(Path("results") / IDENTIFICATION.file, sealed({**again, "survivors": 3}))
    verified = run("results", "verify", "--json")
    assert verified.exit_code == 1
    assert [x["standing"] for x in json.loads(verified.stdout)["identifications"]] == ["failed"]


@pytest.mark.slow
def test_the_exit_code_says_what_was_found() -> None:
    result = run("identify", "--device", f"model:{UNIT}@alignment_rounding=RNE", *FORMATS)
    assert result.exit_code == 1
    assert result.stdout.startswith("OUTSIDE THE SPACE: ")
    # The nearest designs are those that give most answers, whatever their names.
    given = [int(n) for n in re.findall(r"^\S+ +(\d+) of \d+$", result.stdout, re.MULTILINE)]
    assert len(given) == 3
    assert given == sorted(given, reverse=True)


@pytest.mark.slow
def test_an_instruction_names_formats_and_k() -> None:
    unit = "ampere/mma.m16n8k16.f32.f16.f16.f32"
    result = run("identify", "--device", "model:ampere", "--unit", unit, "--vectors", "10", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["k"] == 16
    assert list(Path("results/identify").rglob("ampere-mma*-k16.jsonl"))


def answers(lines: list[dict[str, Any]], path: Path) -> None:
    """What the unit gives for printed inputs, as the lab's program writes it."""
    witnesses = [from_data(SPEC, line, "a line") for line in lines[1:]]
    d = replay(SPEC, batch_of(witnesses)).tolist()
    texts = [json.dumps({"id": line["id"], "d": hex(x)}) for line, x in zip(lines[1:], d, strict=True)]
    path.write_text("\n".join(["lab program 1.0", '{"device": "lab"}', *texts]) + "\n")


@pytest.mark.slow
def test_a_device_is_asked_by_hand(tmp_path: Path) -> None:
    """Inputs are printed, answers are taken, until nothing is left to ask; old answers are refused."""
    words = ("identify", "--device", "hand:lab", *FORMATS)
    path, old = tmp_path / "answers.jsonl", tmp_path / "old.jsonl"
    for _ in range(10):
        printed = run(*words, "--next")
        assert printed.exit_code == 3, printed.output
        lines = [json.loads(line) for line in printed.stdout.splitlines()]
        assert lines[0]["k"] == 4
        assert run(*words, "--next").stdout == printed.stdout
        answers(lines, path)
        if old.exists():
            refused = run(*words, "--answer", str(old))
            assert refused.exit_code == 2
            assert "expected answers to the" in refused.stderr
        result = run(*words, "--answer", str(path))
        path.rename(old)
        if result.exit_code != 3:
            break
        assert result.stdout.startswith("REMAINING: ")
        assert "is to be asked" in result.stdout
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"IDENTIFIED: hand:lab is {UNIT}\n")
    assert run(*words).exit_code == 0
    # This small search has not asked what tells the design from its neighbours.
    assert run("results", "verify").exit_code == 3


def test_results_that_are_none_are_refused(tmp_path: Path) -> None:
    words = ("identify", "--device", "hand:lab", *FORMATS)
    lines = [json.loads(line) for line in run(*words, "--next").stdout.splitlines()]
    path = tmp_path / "answers.jsonl"
    answers(lines, path)
    text = path.read_text()
    for wrong, code in (
        (text.rpartition('{"id"')[0], 2),  # one too few
        (text + '{"id": "x", "d": "0x0"}\n', 2),  # one too many
        (text.replace('"d": "0x', '"d": "0xfffffffff', 1), 3),  # too wide
    ):
        path.write_text(wrong)
        result = run(*words, "--answer", str(path))
        assert result.exit_code == code, result.output
        assert result.stderr.startswith("error: expected an")


def test_answers_to_as_many_other_inputs_are_refused(tmp_path: Path) -> None:
    device, path = HandDevice("lab"), tmp_path / "answers.jsonl"
    first, second = batch(SPEC, 4, 12, 1), batch(SPEC, 4, 12, 2)
    answers(lines_of(SPEC, first), path)
    device.answer(path)
    with pytest.raises(
        InputError, match=r"^expected answers to the 12 inputs that are asked now .*-0 has none"
    ):
        device.run(SPEC, second)
    device.answer(path)
    assert (device.run(SPEC, first) == replay(SPEC, first)).all()


@pytest.mark.slow
def test_a_function_is_a_device(tmp_path: Path) -> None:
    def box(a: Raw, b: Raw, c: Raw) -> Raw:
        return replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b, c))))

    for device in (box, f"model:{UNIT}"):
        found = identify_device(device, "fp16,fp16,fp32,fp32", 4, vectors=50, folder=tmp_path)
        assert (found.verdict, found.simplest) == (IdentifyVerdict.IDENTIFIED, UNIT)
    assert len(list((tmp_path / "identify").iterdir())) == 2
