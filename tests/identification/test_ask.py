"""Asking a device: each input once, kept before the next, in one process, and no other device's answers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tcformal.design.names import resolve
from tcformal.devices.device import CallableDevice, Function
from tcformal.devices.protocol import ProgramDevice
from tcformal.devices.registry import ModelDevice
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.identification.asker import Asker, asker_of
from tcformal.identification.operand_questions import invalid_operations, nan_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch, rows_of, together
from tcformal.store.schema import sealed

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
SPEC = resolve(UNIT)
INPUTS = batch(SPEC, 4, 60, 1)
MODEL = replay(SPEC, INPUTS)
#: The number of dot products of each call of a counted function.
Calls = list[int]


def counted(calls: Calls, name: str = UNIT, wrong: Callable[[Raw], Raw] = lambda d: d) -> CallableDevice:
    """A model as a function that counts its calls."""
    spec = resolve(name)

    def function(a: Raw, b: Raw, c: Raw) -> Raw:
        assert [str(x.dtype) for x in (a, b, c)] == ["uint16", "uint16", "uint32"]
        calls.append(len(c))
        return wrong(replay(spec, Batch(*(x.astype(np.uint64) for x in (a, b, c)))))

    return CallableDevice(function, "box")


def asker(device: CallableDevice | ModelDevice | ProgramDevice, path: Path | None = None) -> Asker:
    return Asker(device, SPEC.operands, 4, path=path)


def test_an_input_is_asked_once_and_kept(tmp_path: Path) -> None:
    """Within a batch, over batches, and by a later run, which first asks some again."""
    calls: Calls = []
    path = tmp_path / "answers.jsonl"
    first = asker(counted(calls), path)
    twice = together(rows_of(INPUTS, slice(0, 10)), rows_of(INPUTS, slice(5, 20)))
    assert first.ask(twice).tolist() == [*MODEL[:10], *MODEL[5:20]]
    assert first.ask(rows_of(INPUTS, slice(0, 25))).tolist() == MODEL[:25].tolist()
    again = first.repeated(rows_of(INPUTS, slice(20, 30)), 3)
    assert (again == MODEL[20:30]).all()
    assert again.shape == (3, 10)
    assert calls == [20, 5, 30]
    assert (first.probes, first.batches, first.kept_probes) == (55, 3, 0)
    asked, answers = first.history
    assert answers.tolist() == MODEL[:30].tolist()
    assert (asked.a == INPUTS.a[:30]).all()
    later = asker(counted(calls), path)
    assert (later.probes, later.batches, later.kept_probes, later.kept_batches) == (55, 3, 55, 3)
    assert later.ask(rows_of(INPUTS, slice(0, 30))).tolist() == MODEL[:30].tolist()
    assert (later.repeated(rows_of(INPUTS, slice(20, 30)), 2) == MODEL[20:30]).all()
    assert calls == [20, 5, 30]
    assert (later.history[1] == first.history[1]).all()
    assert later.ask(INPUTS).tolist() == MODEL.tolist()
    assert calls == [20, 5, 30, 30, 30]  # all kept ones, of which there are few, and the new ones
    assert (later.probes, later.batches, later.again) == (85, 4, 30)
    assert asker(counted(calls), path).again == 30


def test_another_device_rejects(tmp_path: Path) -> None:
    """One that says the same name, but answers otherwise; one that says another; other formats and K."""
    path = tmp_path / "answers.jsonl"
    asker(counted([]), path).ask(rows_of(INPUTS, slice(0, 30)))
    other = asker(counted([], f"{UNIT}@fraction_bits=18"), path)
    with pytest.raises(DeviceError, match=r"^expected callable:box to answer as before, but for --a 0x"):
        other.ask(INPUTS)
    for device, k in ((CallableDevice(lambda *_: None, "x"), 4), (counted([]), 8)):
        with pytest.raises(RecordError, match=r"^expected answers of .*: move that file away$"):
            Asker(device, SPEC.operands, k, path=path)


def test_a_fault_that_goes_away_is_no_other_device(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    asker(counted([], wrong=lambda d: d ^ np.uint64(1) * (np.arange(len(d)) == 3)), path).ask(
        rows_of(INPUTS, slice(0, 30))
    )
    turns = iter([3, 0, 0])
    calls: Calls = []
    some = counted(calls, wrong=lambda d: d ^ np.uint64(1) * (np.arange(len(d)) == next(turns)))
    asker(some, path).ask(rows_of(INPUTS, slice(0, 40)))
    assert calls == [30, 10]
    # What is known to give several answers is not asked again.
    noisy = tmp_path / "noisy.jsonl"
    asker(counted([], wrong=lambda d: d ^ (np.arange(len(d)) % 2).astype(np.uint64)), noisy).repeated(
        rows_of(INPUTS, slice(0, 5)), 3
    )
    calls.clear()
    asker(counted(calls), noisy).ask(INPUTS)
    assert calls == [55]


def test_an_answer_that_does_not_come_again_is_corrected() -> None:
    """One answer is wrong the first time, and right whenever the input is asked again."""
    turns = iter([3, -1])
    once = asker(counted([], wrong=lambda d: d ^ np.uint64(1) * (np.arange(len(d)) == next(turns))))
    some = rows_of(INPUTS, slice(0, 10))
    assert np.flatnonzero(once.ask(some) != MODEL[:10]).tolist() == [3]
    once.repeated(some, 3)
    assert once.corrected == 1
    assert once.ask(some).tolist() == MODEL[:10].tolist()


def test_an_altered_file_rejects(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    asker(counted([]), path).ask(rows_of(INPUTS, slice(0, 3)))
    head, line = (json.loads(text) for text in path.read_text().splitlines())
    for changed, sentence in (
        ({**line, "d": "0" * 24}, "but it was altered"),
        (sealed({**line, "d": "0" * 23}), "expected whole results"),
        (sealed({**line, "d": "0" * 16}), "expected 3 answers"),
        (sealed({**line, "a": [*line["a"][:2], line["a"][2][:12]]}), "expected whole results"),
        (sealed({**line, "kind": "told"}), "expected answers"),
        (sealed({**line, "call": -1}), "expected a whole number"),
        (sealed({**head, "k": 8}), "expected answers"),
    ):
        path.write_text(f"{json.dumps(head)}\n{json.dumps(changed)}\n")
        with pytest.raises(RecordError, match=sentence):
            asker(counted([]), path)
    path.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n{json.dumps(line)[:50]}")
    calls: Calls = []
    assert asker(counted(calls), path).ask(INPUTS).tolist() == MODEL.tolist()
    assert calls == [3, 57]


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda a, b, c: 1 / 0, "expected callable:f to compute this, but got: ZeroDivisionError"),
        (lambda a, b, c: c[:2], "as unsigned integers of shape \\[60\\]"),
        (lambda a, b, c: c.astype(np.float32), "but got float32 of shape"),
        (lambda a, b, c: -np.ones(60, np.int64), "but got int64"),
        (
            lambda a, b, c: np.full(60, 1 << 32),
            "expected words of 32 bits from callable:f, but got 0x100000000",
        ),
    ],
)
def test_what_is_no_result_rejects(function: Function, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=sentence):
        asker(CallableDevice(function, "f"), tmp_path / "answers.jsonl").ask(INPUTS)
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 1


def test_operands_that_do_not_fit_reject() -> None:
    it = asker(counted([]))
    with pytest.raises(InputError, match="expected operands of shapes"):
        it.ask(rows_of(batch(SPEC, 8, 3, 1), slice(0, 3)))
    with pytest.raises(InputError, match="expected encodings of fp16 in a, but some are wider"):
        it.ask(Batch(INPUTS.a << np.uint64(1), INPUTS.b, INPUTS.c))
    with pytest.raises(InputError, match="expected a format and a block of scales"):
        Asker(counted([]), SPEC.operands, 4, scale_block=32)


def test_answers_before_a_failure_are_kept(tmp_path: Path) -> None:
    class Fails(ModelDevice):
        def run(self, spec: object, x: Batch) -> Raw:
            raise DeviceError("expected a card, but it is gone", replay(SPEC, x)[:7].tolist())

    path = tmp_path / "answers.jsonl"
    with pytest.raises(DeviceError, match="it is gone"):
        asker(Fails(UNIT), path).ask(INPUTS)
    model = ModelDevice(UNIT)
    assert asker(model, path).ask(INPUTS).tolist() == MODEL.tolist()
    assert asker(model, path).probes == 60


def test_a_permuted_operand_is_sent_as_the_device_takes_it(tmp_path: Path) -> None:
    """With the layout known, a question and the history name what meets; kept answers count from before."""
    order = (2, 0, 3, 1)
    path = tmp_path / "answers.jsonl"

    def permuted(a: Raw, b: Raw, c: Raw) -> Raw:
        return replay(SPEC, Batch(*(x.astype(np.uint64) for x in (a, b[:, list(order)], c))))

    it = asker(CallableDevice(permuted, "box"), path)
    plain = it.ask(rows_of(INPUTS, slice(0, 30)))
    it.layout = order
    assert it.ask(INPUTS).tolist() == MODEL.tolist()
    asked, answers = it.history
    assert (replay(SPEC, asked) == answers).all()
    assert (plain == answers[:30]).all()
    assert (plain != MODEL[:30]).any()


#: Answers the largest word of c after a banner, and counts its starts and its dot products in a file.
PROGRAM = """
import json, sys
open({log!r}, "a").write("start ")
print("Device Probe 3.1 (c) 1999\\n[info] ready", flush=True)
hello = json.loads(sys.stdin.readline())
print(json.dumps({{"device": "box", "k": str(hello["k"])}}), flush=True)
for n, line in enumerate(sys.stdin):
    x = json.loads(line)
    assert x["id"] == n
    print(json.dumps({{"id": n, "d": x["c"]}}){flush})
    {more}
"""


def program(folder: Path, flush: str = ", flush=True", more: str = "pass") -> ProgramDevice:
    (folder / "box.py").write_text(PROGRAM.format(log=str(folder / "log"), flush=flush, more=more))
    return ProgramDevice(f"{shlex.quote(sys.executable)} -I {shlex.quote(str(folder / 'box.py'))}")


def starts(folder: Path) -> int:
    return (folder / "log").read_text().count("start")


def test_one_process_answers_many_batches(tmp_path: Path) -> None:
    """After a banner; it is started anew for another K, and once it has ended."""
    device = program(tmp_path)
    it = asker(device, tmp_path / "answers.jsonl")
    assert it.identity["k"] == "4"
    for start in range(0, 60, 20):
        rows = slice(start, start + 20)
        assert (it.ask(rows_of(INPUTS, rows)) == INPUTS.c[rows]).all()
    assert starts(tmp_path) == 1
    longer = batch(SPEC, 8, 5, 1)
    assert (Asker(device, SPEC.operands, 8).ask(longer) == longer.c).all()
    assert starts(tmp_path) == 2
    it.close()
    assert (device.run(it.spec, INPUTS) == INPUTS.c).all()
    assert starts(tmp_path) == 3
    device.close()


def test_a_program_that_answers_at_its_end_is_started_for_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcformal.devices.protocol._QUIET_S", 0.3)
    it = asker(program(tmp_path, flush=""))
    for start in range(0, 60, 20):
        rows = slice(start, start + 20)
        assert (it.ask(rows_of(INPUTS, rows)) == INPUTS.c[rows]).all()
    assert starts(tmp_path) == 3
    it.close()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            "if n == 9: print('done', flush=True)",
            "expected .* to answer each dot product once, but|JSON object",
        ),
        ("if n == 12: sys.exit(3)", r"stopped with exit code 3 \(3 of 10 results came\)"),
    ],
)
def test_a_live_program_that_says_more_or_less_rejects(more: str, sentence: str, tmp_path: Path) -> None:
    """The next run of it starts anew, and what it answered to another batch answers none of this one."""
    device = program(tmp_path, more=more)
    it = asker(device)
    it.ask(rows_of(INPUTS, slice(0, 10)))
    with pytest.raises(DeviceError, match=sentence):
        it.ask(rows_of(INPUTS, slice(10, 20)))
    assert (it.ask(rows_of(INPUTS, slice(20, 30))) == INPUTS.c[20:30]).all()
    assert starts(tmp_path) == 2
    it.close()


def test_a_banner_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "talks.py"
    for text, sentence in (
        ("print('wait')\nsys.exit('no card')", r"exit code 1 \(no card\), after it said 'wait'"),
        ("while True: print('wait')", "expected a JSON object from .*, but it said 'wait'"),
    ):
        path.write_text(f"import sys\n{text}")
        with pytest.raises(DeviceError, match=sentence):
            asker(ProgramDevice(f"{shlex.quote(sys.executable)} -I {shlex.quote(str(path))}"))


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_ask import INPUTS, asker, counted
from tcformal.simulation.operands.batch import rows_of
calls = []
def wrong(d):
    if len(calls) == {at}:
        os._exit(9)
    return d
it = asker(counted(calls, wrong=wrong), Path({path!r}))
for start in range(0, 60, 10):
    it.ask(rows_of(INPUTS, slice(start, start + 10)))
"""


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """Ended while the device computes the third batch: the next run asks for that and the later ones."""
    path = tmp_path / "answers.jsonl"
    text = KILLED.format(folder=str(Path(__file__).parent), at=3, path=str(path))
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 9
    calls: Calls = []
    it = asker(counted(calls), path)
    assert it.probes == 20
    for start in range(0, 60, 10):
        it.ask(rows_of(INPUTS, slice(start, start + 10)))
    assert calls == [20, 10, 10, 10, 10]
    assert (it.probes, it.batches) == (60, 6)
    assert it.history[1].tolist() == MODEL.tolist()


@pytest.mark.parametrize(("name", "infinite"), [("x86/tdphbf8ps", "b"), ("x86/tdpbhf8ps", "a")])
def test_the_word_of_invalid_operations_is_found_whichever_factor_has_infinities(
    name: str, infinite: str
) -> None:
    """Of two formats of eight bits one has Inf: the edges of b are asked where its format is not a's."""
    unit = resolve(name)
    words = invalid_operations(unit, unit.k).named()[infinite][:, 0]
    assert np.uint64(unit.input_formats()[infinite].infinity) in words
    assert nan_word(Asker(ModelDevice(name), unit.operands, unit.k)) == unit.design.nan_word


def test_formats_choose_one_of_several_instructions(tmp_path: Path) -> None:
    """A device of several instructions is asked the one that has the formats and K, or is refused."""
    fp16, gpu = "fp16,fp16,fp32,fp32", ModelDevice("ampere")
    chosen = asker_of(gpu, fp16, 8, None, None, tmp_path)
    assert (chosen.spec, chosen.k) == (resolve("ampere/mma.m16n8k8.f32.f16.f16.f32"), 8)
    assert asker_of(ModelDevice("volta"), fp16, None, None, None, tmp_path).k == 4
    assert asker_of(ModelDevice(f"{UNIT}@products=2"), fp16, None, None, None, tmp_path).k == 16
    assert asker_of(ModelDevice(UNIT), fp16, 4, None, None, tmp_path).spec.name != UNIT
    for formats, k, said in (
        (fp16, None, r"of 3: .*m16n8k8\..*\(K = 8\).*m16n8k16"),
        (fp16, 5, "of none: .*m16n8k8"),
        ("e4m3,e4m3,fp32,fp32", None, "of none: it has "),
    ):
        with pytest.raises(InputError, match=said):
            asker_of(gpu, formats, k, None, None, tmp_path)
