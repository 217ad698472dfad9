"""Devices: each kind passes one end-to-end test, and each failure is one sentence with exit code 3."""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device
from tcformal.devices.directed import directed
from tcformal.devices.plan import Directed, Plan, make_plan
from tcformal.devices.protocol import ProgramDevice
from tcformal.devices.recorded import RecordedDevice
from tcformal.devices.registry import ModelDevice, open_device
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import read_runs
from tcformal.errors import DeviceError, InputError, RecordError, TcformalError, UnknownNameError
from tcformal.identification.refutation import compare
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw, batch, batch_of
from tcformal.simulation.operands.witness import to_data

UNIT = "volta/mma.m8n8k4.f32.f16.f16.f32"
ALTERED = f"{UNIT}@fraction_bits=24"

#: A program that answers with a model of the package; what it does wrong is put in place of WRONG.
PROGRAM = """
import json, sys
import numpy as np
from tcformal.simulation.matrix_unit import unit
u = unit("{unit}")
hello = json.loads(sys.stdin.readline())
assert hello["protocol"] == "tcformal-probe/1", hello
print(json.dumps({{"device": "a program", "instruction": hello["unit"]}}), flush=True)
for n, line in enumerate(sys.stdin):
    x = json.loads(line)
    a, b, c = (np.array([[int(w, 16) for w in v]] if isinstance(v, list) else [int(v, 16)], np.uint64)
               for v in (x["a"], x["b"], x["c"]))
    d = int(u.dot_bits(a, b, c)[0])
    {wrong}
    print(json.dumps({{"id": x["id"], "d": hex(d)}}), flush=True)
"""


def program(folder: Path, *, name: str = UNIT, wrong: str = "pass") -> str:
    """The words of a program that speaks the protocol."""
    path = folder / "answers.py"
    path.write_text(PROGRAM.format(unit=name, wrong=wrong))
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


#: A program that speaks the protocol and looks its results up, so that it starts at once.
TABLE = """
import json, sys
table = json.load(open({table!r}))
json.loads(sys.stdin.readline())
print(json.dumps({{"device": "a table"}}), flush=True)
for n, line in enumerate(sys.stdin):
    x = json.loads(line)
    d = table[json.dumps([x["a"], x["b"], x["c"]])]
    {wrong}
    print(json.dumps({{"id": x["id"], "d": hex(d)}}), flush=True)
"""


def table_program(folder: Path, plan: Plan, wrong: str) -> str:
    """The words of a program that has the right results of a plan of directed dot products."""
    spec, table = plan.unit, {}
    witnesses = [item.witness for item in plan.items if isinstance(item, Directed)]
    assert len(witnesses) == len(plan.items)
    for witness, d in zip(witnesses, replay(spec, batch_of(witnesses)).tolist(), strict=True):
        said = to_data(spec, witness)
        table[json.dumps([said["a"], said["b"], said["c"]])] = d
    (folder / "table.json").write_text(json.dumps(table))
    path = folder / "looks_up.py"
    path.write_text(TABLE.format(table=str(folder / "table.json"), wrong=wrong))
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@cache
def few_directed(spec: UnitSpec) -> tuple[Directed, ...]:
    """One directed dot product of a unit in forty."""
    return tuple(directed(spec))[::40]


def small_plan(spec: UnitSpec, vectors: int = 60) -> Plan:
    """A few directed dot products and some random ones."""
    return make_plan(spec, few_directed(spec), vectors=vectors, seed=3)


def recorded(folder: Path, name: str = UNIT) -> str:
    """A file of results that a model gave for the small plan."""
    outcome = run_plan(small_plan(unit(UNIT).spec), ModelDevice(name), folder)
    return str(outcome.path)


DEVICES: dict[str, Callable[[Path], Device]] = {
    "model": lambda _: ModelDevice(UNIT),
    "recorded": lambda folder: RecordedDevice(recorded(folder / "before")),
    "exec": lambda folder: ProgramDevice(program(folder)),
}


@pytest.mark.parametrize("kind", DEVICES)
def test_a_device_runs_a_plan(kind: str, tmp_path: Path) -> None:
    """Every kind of device gives the model's results, and its file says who it is."""
    plan = small_plan(unit(UNIT).spec)
    outcome = run_plan(plan, DEVICES[kind](tmp_path), tmp_path / "results")
    assert (outcome.count, outcome.mismatches, outcome.held) == (plan.count, 0, 0)
    (run,) = read_runs(outcome.path)
    assert run.ended
    assert run.head["device"]["device"]
    assert run.head["device"]["instruction"]
    assert len(run.done) == len(plan.items)


@pytest.mark.parametrize("kind", ["model", "recorded", "exec"])
def test_an_altered_device_rejects(kind: str, tmp_path: Path) -> None:
    """A device with one parameter altered does not give the model's results."""
    made: dict[str, Callable[[], Device]] = {
        "model": lambda: ModelDevice(ALTERED),
        "recorded": lambda: RecordedDevice(recorded(tmp_path / "before", ALTERED)),
        "exec": lambda: ProgramDevice(program(tmp_path, name=ALTERED)),
    }
    outcome = run_plan(small_plan(unit(UNIT).spec), made[kind](), tmp_path)
    assert outcome.mismatches > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "sentence", "kept"),
    [
        ("if n == 5: break", "expected more answers of .*stopped with exit code 0.*5 of", 5),
        ("if n == 5: sys.exit('card is gone')", "exit code 1 .card is gone.*5 of", 5),
        pytest.param(*("if n == 5: d = 1 << 40", "expected an encoding of fp32", 5), marks=pytest.mark.long),
        ("if n == 5: d = 0x7fffffff", "because no NaN is possible.*tcformal explain", 5),
        ("if n == 5: x['id'] = 7", "expected .* to answer dot product 5", 5),
        pytest.param(
            *("if n == 5: print('fine', flush=True)", "expected a JSON object", 5), marks=pytest.mark.long
        ),
        ("if n == 5: print(json.dumps({'error': 'the device is busy'}))", "says: the device is busy", 5),
        ("if n == 5: import time; sys.stdout.flush(); time.sleep(60)", "within 2 s", 5),
    ],
)
def test_a_program_that_fails_rejects(wrong: str, sentence: str, kept: int, tmp_path: Path) -> None:
    """What came before the failure is kept, and the next run of the same program goes on from there."""
    spec = unit(UNIT).spec
    plan = make_plan(spec, few_directed(spec), vectors=0, seed=1)
    folder = tmp_path / "results"
    # A program needs its time to begin on a busy machine; only the silent one is worth less of it.
    flag = tmp_path / "in-order"
    wrong = wrong.replace("if n == 5:", f"if n == 5 and not __import__('os').path.exists({str(flag)!r}):")
    device = ProgramDevice(table_program(tmp_path, plan, wrong), patience_s=2 if "sleep" in wrong else 60)
    with pytest.raises(DeviceError, match=sentence) as caught:
        run_plan(plan, device, folder)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    path = next(folder.rglob("*.jsonl"))
    (run,) = read_runs(path)
    assert (len(run.done), run.ended) == (kept, False)
    assert '"fault"' in path.read_text()
    stopped = compare(path, [spec])
    assert not stopped.holds
    assert stopped.lacks.startswith(f"after {kept} dot products it stopped at ")
    flag.touch()  # the same program, in order now
    outcome = run_plan(plan, device, folder)
    assert (outcome.held, outcome.count, outcome.mismatches) == (kept, plan.count, 0)
    assert len(read_runs(path)) == 1
    assert compare(path, [spec]).holds


def test_a_program_that_refuses_rejects(tmp_path: Path) -> None:
    path = tmp_path / "refuses.py"
    path.write_text('import sys; sys.stdin.readline(); print(\'{"error": "this is an sm_80"}\')')
    with pytest.raises(DeviceError, match="this is an sm_80"):
        ProgramDevice(f"{sys.executable} {path}").identify(unit(UNIT).spec, 4)


class Fixed(Device):
    """A device that answers what it is told to."""

    name = "fixed"

    def __init__(self, results: Callable[[UnitSpec, Batch], Raw]) -> None:
        self._results = results

    def abilities(self) -> Sequence[Ability]:
        return []

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        return {"device": "fixed"}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        return self._results(spec, batch)


def with_nan(spec: UnitSpec, x: Batch) -> Raw:
    """The model's results, with NaN where c is 0 and every product is."""
    d = replay(spec, x)
    zero = (x.c == 0) & (x.a == 0).all(axis=1)
    return np.where(zero, np.uint64(0x7FFFFFFF), d)


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (with_nan, "no NaN is possible.*tcformal explain"),
        (lambda spec, x: replay(spec, x)[:-1], "but .* came"),
        (lambda spec, x: replay(spec, x) | np.uint64(1 << 32), "expected a word of 32 bits"),
    ],
)
def test_impossible_results_reject(
    results: Callable[[UnitSpec, Batch], Raw], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(DeviceError, match=sentence):
        run_plan(small_plan(unit(UNIT).spec, 600), Fixed(results), tmp_path)


def test_possible_nans_are_results(tmp_path: Path) -> None:
    """NaNs of NaN operands, of infinities and of overflows are no failure."""
    for name in (UNIT, "cdna2/v_mfma_f32_32x32x4bf16", "hopper/wgmma.m64n8k32.f16.e4m3.e4m3"):
        spec = unit(name).spec
        x = batch(spec, spec.k, 3000, 5)
        outputs = replay(spec, x)
        plan = make_plan(spec, [], vectors=3000, seed=5)
        assert run_plan(plan, Fixed(replay), tmp_path / name).mismatches == 0
        assert (outputs > 0).any()


def test_scaled_units_have_devices(tmp_path: Path) -> None:
    spec = unit("rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3").spec
    plan = small_plan(spec)
    assert run_plan(plan, ModelDevice(spec.name), tmp_path).mismatches == 0
    assert run_plan(plan, ModelDevice(f"{spec.name}@fraction_bits=20"), tmp_path).mismatches > 0


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("gpu", UnknownNameError, "expected a known device"),
        ("model:volta/mma", UnknownNameError, "expected a known unit"),
        ("recorded:nothing.jsonl", DeviceError, "expected a file of recorded outputs"),
        ("exec:no-such-program --now", DeviceError, "expected a program"),
        ("cuda:x", InputError, "expected the number of a GPU"),
    ],
)
def test_open_device_rejects(name: str, kind: type[TcformalError], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        open_device(name)


def test_model_of_other_formats_rejects() -> None:
    spec = unit(UNIT).spec
    with pytest.raises(DeviceError, match="fp32 = bf16"):
        ModelDevice("x86/vdpbf16ps").identify(spec, 4)
    mixed = unit("volta/mma.m8n8k4.f32.f16.f16.f16").spec
    with pytest.raises(DeviceError, match="cannot be the next c"):
        ModelDevice(mixed.name).identify(mixed, 8)


def test_recorded_device_rejects(tmp_path: Path) -> None:
    """Dot products that were not recorded, broken archives, and values that the formats lack."""
    spec = unit(UNIT).spec
    device = RecordedDevice(recorded(tmp_path))
    known = batch_of(device.operands(spec)[:3])
    assert len(device.run(spec, known)) == 3
    new = batch(spec, 4, 3, 99)
    joined = Batch(*(np.concatenate(pair) for pair in ((known.a, new.a), (known.b, new.b), (known.c, new.c))))
    with pytest.raises(DeviceError, match="first 3 of 6") as caught:
        device.run(spec, joined)
    assert len(caught.value.answered) == 3

    def archive(**arrays: object) -> RecordedDevice:
        path = tmp_path / "a.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        return RecordedDevice(str(path))

    ones = np.full((2, 4), 1.0, np.float32).view(np.uint32)
    c = np.zeros(2, np.uint32)
    good = {"a": ones, "b": ones, "c": c, "d": np.full(2, 4.0, np.float32).view(np.uint32)}
    with pytest.raises(DeviceError, match="first 0 of 2"):
        archive(**good).run(spec, Batch(known.a[:2] * 0, known.b[:2], known.c[:2]))
    assert archive(**good).operands(spec)
    for change, sentence in (
        ({"d": np.array([0, 1], np.uint32)}, "one output per dot product"),
        ({"a": ones + np.uint32(1)}, "expected .* to hold fp16 values in a"),
        ({"a": ones[:, :2]}, "expected a, b"),
        ({"d": np.zeros(2)}, "uint32"),
    ):
        with pytest.raises(TcformalError, match=sentence):
            archive(**(good | change)).operands(spec)
    (tmp_path / "a.npz").write_bytes(b"not an archive")
    with pytest.raises(RecordError, match="expected arrays"):
        RecordedDevice(str(tmp_path / "a.npz")).operands(spec)
    with pytest.raises(DeviceError, match="fp32 = bf16"):
        device.operands(unit("x86/vdpbf16ps").spec)


def test_protocol_is_documented() -> None:
    """What the module's docstring shows is what is said."""
    from tcformal.devices import protocol as module

    assert module.PROTOCOL in textwrap.dedent(module.__doc__ or "")
