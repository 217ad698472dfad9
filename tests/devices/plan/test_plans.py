"""Plans and files of results: written, read back, continued after a cut, and refused where damaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import slug
from tcformal.devices.directed import directed
from tcformal.devices.gather import ANSWERS, from_file, from_store
from tcformal.devices.plan import (
    CHUNK,
    Directed,
    Plan,
    Random,
    family_of,
    make_plan,
    read_plan,
    write_plan,
)
from tcformal.devices.registry import ModelDevice
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import pieces_of, read_runs
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.query.separate import check_property, separate
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import FAMILIES, Batch, Raw
from tcformal.simulation.operands.witness import Witness, from_data, to_data
from tcformal.store.audit.prune import prune
from tcformal.store.schema import sealed
from tcformal.store.store import Store

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


def test_directed_inputs_are_many_and_named() -> None:
    """Every name once, every dot product of the unit's length, whatever the formats."""
    for name in (
        VOLTA,
        SCALED,
        "x86/vdpbf16ps",
        "hopper/wgmma.m64n8k32.f16.e5m2.e4m3",
        "cdna3/v_mfma_f32_16x16x32_bf8_fp8",
    ):
        spec = unit(name).spec
        items = list(directed(spec))
        assert len({item.id for item in items}) == len(items)
        assert {len(item.witness.a) for item in items} == {spec.k}
        assert {item.id.split("/")[0] for item in items} >= {
            "zero",
            "rounding",
            "align",
            "small",
            "overflow",
            "nan",
        }
        assert len(make_plan(spec, items, vectors=0, seed=0).items) > 500


def test_random_items_are_cut_into_pieces() -> None:
    spec = unit("x86/vdpbf16ps").spec
    plan = make_plan(spec, [], vectors=CHUNK + 7, seed=4)
    assert [(i.seed, i.count) for i in plan.items if isinstance(i, Random)] == [(4, CHUNK), (5, 7)]
    assert plan.count == CHUNK + 7


def test_families_of_rows() -> None:
    names = [family_of(row, 8) for row in range(8)]
    assert names == ["bits", "bits", "near", "near", "cancelling", "zeros", "subnormal", "edges"]
    assert list(dict.fromkeys(names)) == list(FAMILIES)
    with pytest.raises(InputError, match="expected a row below 8, but got 8"):
        family_of(8, 8)


def test_make_plan_rejects() -> None:
    spec = unit(VOLTA).spec
    with pytest.raises(InputError, match="would hold none"):
        make_plan(spec, [], vectors=0, seed=0)
    both = [Directed("a", "", Witness((0,), (0,), 0)), Directed("b", "", Witness((0, 0), (0, 0), 0))]
    with pytest.raises(InputError, match="of one length"):
        make_plan(spec, both, vectors=0, seed=0)


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
    monkeypatch.setattr("tcformal.devices.plan.CHUNK", 60)
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


def test_another_plan_is_another_run(tmp_path: Path) -> None:
    spec = unit(VOLTA).spec
    run_plan(few(spec), ModelDevice(VOLTA), tmp_path)
    outcome = run_plan(few(spec, 61), ModelDevice(VOLTA), tmp_path)
    assert outcome.held == 0
    assert len(read_runs(outcome.path)) == 2


def test_outputs_are_read_back(tmp_path: Path) -> None:
    """The model's outputs and the mismatches give the device's outputs, bit for bit."""
    spec, other = unit(VOLTA).spec, f"{VOLTA}@rounding=RNE"
    plan = few(spec, 600)
    outcome = run_plan(plan, ModelDevice(other), tmp_path)
    (run,) = read_runs(outcome.path)
    count = 0
    for piece in pieces_of(run, outcome.path):
        assert (piece.outputs == ModelDevice(other).run(spec, piece.batch)).all()
        count += len(piece.outputs)
    assert count == plan.count
    assert outcome.mismatches > 10


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


def test_a_missing_plan_rejects(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"^expected a plan at .*none\.jsonl, but there is none$"):
        read_plan(tmp_path / "none.jsonl")


def test_missing_results_reject(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is none"):
        read_runs(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(RecordError, match="the file is empty"):
        read_runs(tmp_path / "empty.jsonl")


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


def test_witnesses_of_kept_answers(tmp_path: Path) -> None:
    spec, other = unit("tfdpa@products=2").spec, unit("tfdpa@products=2,fraction_bits=25").spec
    verdict = separate(spec, other)
    assert verdict.witness is not None
    Store(tmp_path).add(verdict)
    (item,) = from_store(spec, tmp_path, 2)
    assert item.witness == verdict.witness
    assert other.name in item.why
    assert not list(from_store(unit(VOLTA).spec, tmp_path, 4))
    assert not list(from_store(spec, tmp_path / "nothing", 2))
    prune(Store(tmp_path), pack=True)
    assert not (tmp_path / ANSWERS).read_bytes()
    assert [found.witness for found in from_store(spec, tmp_path, 2)] == [verdict.witness]


def test_operands_of_data_reject() -> None:
    spec = unit(SCALED).spec
    item = next(iter(directed(spec)))
    data = to_data(spec, item.witness)
    assert from_data(spec, data, "here") == item.witness
    with pytest.raises(InputError, match="expected 1 scales"):
        from_data(spec, data | {"scale_a": []}, "here")
    with pytest.raises(InputError, match="expected lists a and b"):
        from_data(spec, {"a": 1, "b": 2, "c": 3}, "here")


def test_names_of_folders() -> None:
    assert slug("NVIDIA H100 80GB HBM3") == "NVIDIA-H100-80GB-HBM3"
    assert slug("exec:./../x y") == "exec-.-..-x-y"
    assert slug("../..") == "device"


def test_unwritable_results_reject(tmp_path: Path) -> None:
    (tmp_path / "hardware").write_text("in the way")
    with pytest.raises(RecordError, match="hardware"):
        run_plan(few(unit(VOLTA).spec), ModelDevice(VOLTA), tmp_path)


def test_seeds_give_other_operands() -> None:
    spec = unit(VOLTA).spec
    first, second = (make_plan(spec, [], vectors=100, seed=s) for s in (1, 2))
    assert first.digest() != second.digest()
    item = first.items[0]
    assert isinstance(item, Random)
    assert np.unique(item.batch(spec, 4).a).size > 20


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


@pytest.mark.parametrize("witness", [[1], "0x1", {"a": 1, "b": 2}, {"a[0]": 3}])
def test_a_witness_that_is_none_is_refused(witness: object, tmp_path: Path) -> None:
    spec = unit(VOLTA).spec
    asked = {"kind": "separate", "formats": spec.operands.names(), "k": 4}
    (tmp_path / ANSWERS).write_text(f"{json.dumps({'question': asked, 'witness': witness})}\n")
    with pytest.raises(RecordError, match=r"expected a witness of .* in line 1 of the answers in"):
        list(from_store(spec, tmp_path, 4))


def test_packed_answers_are_read_again_when_they_are_replaced(tmp_path: Path) -> None:
    spec = unit("tfdpa@products=2").spec
    Store(tmp_path).add(separate(spec, unit("tfdpa@products=2,fraction_bits=25").spec))
    prune(Store(tmp_path), pack=True)
    assert len(list(from_store(spec, tmp_path, 2))) == 1
    packed = tmp_path / f"{ANSWERS}.xz"
    packed.rename(tmp_path / "elsewhere")
    assert list(from_store(spec, tmp_path, 2)) == []
    packed.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RecordError, match="link"):
        list(from_store(spec, tmp_path, 2))


def test_a_property_with_a_second_c_gives_two_inputs(tmp_path: Path) -> None:
    spec = unit(VOLTA).spec
    verdict = check_property(spec, "monotonic-in-c")
    assert verdict.witness is not None
    Store(tmp_path).add(verdict)
    first, second = from_store(spec, tmp_path, 4)
    assert first.witness.a == second.witness.a
    assert first.witness.c < second.witness.c
