"""`exec:` programs that are others than they were, that answer what is no answer, or that never end."""

from __future__ import annotations

import json
import resource
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tcformal.cli import main
from tcformal.devices.device import slug
from tcformal.devices.directed import directed
from tcformal.devices.plan import make_plan
from tcformal.devices.protocol import LONGEST_LINE, ProgramDevice
from tcformal.devices.registry import open_device
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import read_runs
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.identification.refutation import compare
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import batch
from tcformal.store.schema import sealed

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
SPEC = unit(UNIT).spec
#: All operands and results are zero.
ZEROS = batch(SPEC, 4, 12, 1)
PLAN = make_plan(SPEC, [next(directed(SPEC))], vectors=0, seed=1)

#: A program that says who it is and answers zeros; BODY is what it does for each dot product.
PROGRAM = """
import json, os, sys
json.loads(sys.stdin.buffer.readline())
out = sys.stdout.buffer
def say(data, end=b"\\n"):
    out.write((data if isinstance(data, bytes) else json.dumps(data).encode()) + end)
    out.flush()
say(HELLO)
for n, line in enumerate(sys.stdin.buffer):
    BODY
"""
GOOD = 'say({"id": n, "d": "0x00000000"})'


def program(folder: Path, body: str = GOOD, hello: str = '{"device": "H100"}', name: str = "p.py") -> str:
    path = folder / name
    path.write_text(PROGRAM.replace("HELLO", hello).replace("BODY", body))
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def test_no_program_has_the_results_of_another(tmp_path: Path) -> None:
    """Another content, path or argument is another program, whatever device it says it is."""
    words = program(tmp_path)
    first = run_plan(PLAN, ProgramDevice(words), tmp_path)
    assert run_plan(PLAN, ProgramDevice(words), tmp_path).held == 1
    assert first.device["program"] == f"exec:{words}"
    others = [f"{words} --fast", program(tmp_path, name="q.py"), program(tmp_path, GOOD + "  # other")]
    for other in others:
        outcome = run_plan(PLAN, ProgramDevice(other), tmp_path)
        assert outcome.held == 0
        assert outcome.path != first.path
        assert outcome.device["device"] == "H100"
        # Its file in the place of the other's, and lines of both in one file.
        whole = outcome.path.read_bytes()
        outcome.path.write_bytes(first.path.read_bytes())
        with pytest.raises(RecordError, match=r"^expected results of the program .* move that file away$"):
            run_plan(PLAN, ProgramDevice(other), tmp_path)
        outcome.path.write_bytes(first.path.read_bytes() + whole)
        with pytest.raises(RecordError, match=r"^expected results of the program"):
            compare(outcome.path)
        outcome.path.unlink()


def test_a_program_cannot_say_that_it_is_another(tmp_path: Path) -> None:
    said = '{"device": "H100", "program": "exec:other", "program_sha256": "0" * 64, "driver": "1"}'
    device = ProgramDevice(program(tmp_path, hello=said))
    identity = device.identify(SPEC, 4)
    assert identity["program"] == device.name
    assert identity["program_sha256"] != "0" * 64
    assert identity["driver"] == "1"


def test_a_program_that_changes_while_it_runs_rejects(tmp_path: Path) -> None:
    device = ProgramDevice(program(tmp_path))
    device.identify(SPEC, 4)
    program(tmp_path, GOOD + "  # other")
    with pytest.raises(DeviceError, match="but it was changed"):
        device.run(SPEC, ZEROS)


@pytest.mark.parametrize(
    "d", [12, 12.0, "12", "12.0", "1e3", "inf", "nan", "0x", "0X0", " 0x0", "0x0 ", "-0x1", "0x1p3", "0x1_0",
          "0x100000000", "0x" + "0" * 99, None, True, ["0x0"], {"hex": "0x0"}],
    ids=repr,
)  # fmt: skip
def test_only_the_documented_text_is_a_result(d: object, tmp_path: Path) -> None:
    device = ProgramDevice(program(tmp_path))
    with pytest.raises(
        DeviceError, match=r'^expected an encoding of fp32, as "0x…", from exec:.* product 7, but'
    ):
        device._answer(SPEC, 7, {"id": 7, "d": d})
    assert device._answer(SPEC, 7, {"id": 7, "d": "0xFf"}) == 255
    for id_ in (7.0, True, "7", 8, None):
        with pytest.raises(DeviceError, match="to answer dot product"):
            device._answer(SPEC, 1 if id_ is True else 7, {"id": id_, "d": "0x0"})


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (r'say(b"\xff" if n == 3 else {"id": n, "d": "0x0"})', r"expected UTF-8 from .*, but byte 0 is 0xff"),
        ('say(b"x" * 70000, b"") if n == 3 else ' + GOOD, f"at most {LONGEST_LINE} bytes .* does not end"),
        ('\n    while n == 3: say(b"x" * 65536, b"")\n    ' + GOOD, "but it does not end"),
        ('\n    while n == 3: say(b"[" * 60000)\n    ' + GOOD, "expected a JSON object"),
        ('say({"id": n, "d": 12})' + "\n    while True: say({})", "dot product 0, but got 12"),
        ("sys.stderr.write('e' * 10**7); sys.exit(9)", "stopped with exit code 9"),
        ("out.close(); os.close(1); import time; time.sleep(99)", "closed its output and runs on"),
        ('say({"error": "no\\n\\x1b[2Jway" + "x" * 5000})', "to run this, but it says: no"),
    ],
)  # fmt: skip
def test_hostile_answers_reject_at_once(body: str, sentence: str, tmp_path: Path) -> None:
    """In one short sentence, without waiting for the program and without growing."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    patience = 2 if "sleep" in body else 60
    with pytest.raises(DeviceError, match=sentence) as caught:
        ProgramDevice(program(tmp_path, body), patience_s=patience).run(SPEC, ZEROS)
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize(
    "hello", ['{"device": 3}', '{"device": ""}', '{"device": "x", "driver": None}', '{"x": []}']
)
def test_who_it_is_must_be_text(hello: str, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="expected texts from exec:"):
        ProgramDevice(program(tmp_path, hello=hello)).identify(SPEC, 4)


def test_names_of_any_length_are_names_of_files(tmp_path: Path) -> None:
    device = ProgramDevice(program(tmp_path, hello='{"device": "é" * 5000}'))
    outcome = run_plan(PLAN, device, tmp_path)
    assert outcome.mismatches == 0
    assert len(read_runs(outcome.path)) == 1
    assert len(slug("x" * 300)) <= 200
    assert slug("x" * 300) != slug("x" * 301)
    assert slug("x" * 200) == "x" * 200


def test_words_that_are_none_reject() -> None:
    with pytest.raises(
        InputError, match=r"^expected the words of a program in exec:', but got: No closing quotation$"
    ):
        open_device("exec:'")
    for text in ("exec: ", "exec:''", "exec:no\0program"):
        with pytest.raises(DeviceError, match="expected a program to run"):
            open_device(text)


@pytest.mark.long
def test_a_fault_never_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 3 with what is missing; 1 where what came refutes the unit; 0 once the run is whole."""
    monkeypatch.chdir(tmp_path)
    plan = make_plan(SPEC, list(directed(SPEC))[:6], vectors=0, seed=1)
    device = ProgramDevice(program(tmp_path, "sys.exit('the card is gone') if n == 4 else " + GOOD))
    with pytest.raises(DeviceError):
        run_plan(plan, device, tmp_path)
    path = next(tmp_path.rglob("*.jsonl"))
    result = CliRunner().invoke(main, ["probe", "compare", str(path)])
    assert result.exit_code == 3, result.output
    assert result.stdout.startswith("INCOMPLETE: ")
    assert "after 4 dot products it stopped at" in " ".join(result.stdout.split())
    found = json.loads(CliRunner().invoke(main, ["probe", "compare", str(path), "--json"]).stdout)
    assert (found["holds"], "the card is gone" in found["lacks"]) == (False, True)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    wrong = [sealed({**line, "d": "0x3f800000"}) if line["kind"] == "directed" else line for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in wrong))
    assert CliRunner().invoke(
        main, ["probe", "compare", str(path), "--design", f"{UNIT}@nan_word=0x7fc00000"]
    ).exit_code in (1, 3)
    assert not compare(path).survives
