"""Plans and files of results: written, read back, continued after a cut, and refused where damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcformal.design.unit import UnitSpec
from tcformal.devices.log.results import pieces_of, read_runs
from tcformal.devices.plan.directed import directed
from tcformal.devices.plan.plan import (
    Plan,
    Random,
    make_plan,
    read_plan,
    write_plan,
)
from tcformal.devices.registry import ModelDevice
from tcformal.devices.run.gather import from_file, from_store
from tcformal.devices.run.run import run_plan
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.unit import unit
from tcformal.store.schema import sealed

ROOT = Path(__file__).resolve().parents[3]
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0"


def few(spec: UnitSpec, vectors: int = 60) -> Plan:
    """Some directed dot products and random ones."""
    return make_plan(spec, list(directed(spec))[::60], vectors=vectors, seed=1)


@pytest.mark.parametrize("name", [VOLTA, SCALED, "ampere/mma.m8n8k4.f64.f64.f64.f64"])
def test_a_plan_is_read_back(name: str, tmp_path: Path) -> None:
    plan = few(unit(name).spec)
    write_plan(tmp_path / "plan", plan)
    again = read_plan(tmp_path / "plan")
    assert again == plan
    assert again.digest() == plan.digest()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: [], "expected a plan"),
        (lambda lines: lines[1:], "expected a plan"),
        (lambda lines: [*lines[:2], lines[2][:30]], "expected a whole JSON object in line 3"),
        (lambda lines: [lines[0].replace("m8n8k4", "m8n8k5"), *lines[1:]], "known unit"),
        (lambda lines: [lines[0].replace('"k": 4', '"k": 8'), *lines[1:]], "expected 8 products"),
        (lambda lines: [*lines, '{"kind": "other"}'], "directed or random"),
        (lambda lines: [*lines, '{"kind": "directed", "id": "x"}'], "lists a and b"),
        (lambda lines: [*lines, '{"kind": "directed", "id": "x", "a": ["0x10000"], "b": ["0x0"]}'], "item x"),
        (lambda lines: [*lines, '{"kind": "random", "generator": "families/1"}'], "expected a whole number"),
    ],
)  # fmt: skip
def test_read_plan_rejects(change: object, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "plan"
    write_plan(path, few(unit(VOLTA).spec))
    assert callable(change)
    path.write_text("\n".join(change(path.read_text().splitlines())))
    with pytest.raises(TcformalError, match=sentence):
        read_plan(path)


def test_a_changed_generator_rejects() -> None:
    spec = unit(VOLTA).spec
    with pytest.raises(InputError, match="make the plan anew"):
        Random("random/1", 1, 10, "0" * 64).batch(spec, 4)


class CutOff(ModelDevice):
    """A model that is switched off after so many batches."""

    def __init__(self, text: str, batches: int) -> None:
        super().__init__(text)
        self.left = batches
        self.seen = 0

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.seen += len(batch.c)
        return super().run(spec, batch)


def test_a_run_that_is_cut_off_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured twice, and a torn last line is not read as a result."""
    monkeypatch.setattr("tcformal.devices.plan.plan.CHUNK", 60)
    spec = unit(VOLTA).spec
    plan = few(spec, 240)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, CutOff(VOLTA, 3), tmp_path)
    path = next(tmp_path.rglob("*.jsonl"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "random", "id": "rand')
    (run,) = read_runs(path)
    assert not run.ended
    done = plan.count - 120
    second = CutOff(VOLTA, 99)
    outcome = run_plan(plan, second, tmp_path)
    assert (outcome.held, second.seen) == (done, 120)
    (run,) = read_runs(path)
    assert run.ended
    assert len(run.done) == len(plan.items)
    third = CutOff(VOLTA, 99)
    assert run_plan(plan, third, tmp_path).held == plan.count
    assert third.seen == 0


def everything(path: Path) -> int:
    """Read all of a file of results; how many dot products it holds."""
    return sum(len(piece.outputs) for run in read_runs(path) for piece in pieces_of(run, path))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"outputs": "', '"outputs": "0', "run the plan again"),
        ('"d": "0x', '"e": "0x', "whole results"),
        ('"kind": "run"', '"kind": "ran"', "expected a line of results"),
        ('"unit": "volta', '"unit": "vulta', "known unit"),
    ],
)
def test_damaged_results_reject(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    path = run_plan(few(unit(VOLTA).spec), ModelDevice(VOLTA), tmp_path).path
    changed = path.read_text().replace(old, new)
    path.write_text(changed)
    with pytest.raises(RecordError, match="as it was written, but it was altered"):
        everything(path)
    path.write_text("".join(json.dumps(sealed(json.loads(line))) + "\n" for line in changed.splitlines()))
    with pytest.raises(RecordError, match=sentence):
        everything(path)


def test_witnesses_of_files(tmp_path: Path) -> None:
    """JSON, JSON lines, results and recordings all give dot products; what gives none is refused."""
    spec = unit(VOLTA).spec
    w = {"a": ["0x3c00", "0", "0", "0"], "b": [{"hex": "0x4000", "value": "2"}, "0", "0", "0"], "c": "1.5"}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"verdict": "SEPARATED", "witness": w, "k": 4}))
    (item,) = from_file(spec, path)
    assert item.witness == Witness((0x3C00, 0, 0, 0), (0x4000, 0, 0, 0), 0x3FC00000)
    path.write_text(f"{json.dumps(w)}\n{json.dumps([w, w])}\n")
    assert len(list(from_file(spec, path))) == 3
    results = run_plan(few(spec), ModelDevice(VOLTA), tmp_path).path
    assert len(list(from_file(spec, results))) == few(spec).count
    for text, sentence in (
        ("{}", "expected witnesses"),
        ("{", "expected JSON"),
        (json.dumps(w | {"b": ["0"]}), "length"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=sentence):
            list(from_file(spec, path))
    with pytest.raises(InputError, match="there is none"):
        list(from_file(spec, tmp_path / "none"))


@pytest.mark.parametrize(
    "name",
    [
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
        "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    ],
)
def test_the_witnesses_in_the_kept_results_are_found(name: str) -> None:
    """Those of pairs, and of properties with a second c; scales of other blocks are passed over."""
    spec = unit(name).spec
    found = list(from_store(spec, ROOT / "results", spec.k))
    assert found
    assert all(len(item.witness.a) == spec.k for item in found)
