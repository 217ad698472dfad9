"""Campaigns: the order of value, the time, the files, and what becomes of them when something goes wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from executors import Inline
from inline import Clock, Slow
from tcformal.design.unit import UnitSpec
from tcformal.devices.log.results import pieces_of, read_runs
from tcformal.devices.plan.directed import directed
from tcformal.devices.plan.plan import Directed
from tcformal.devices.run import bench, work
from tcformal.devices.run.campaign import Campaign
from tcformal.devices.run.tally import Tally
from tcformal.errors import DeviceError, RecordError
from tcformal.identification.compare import compare
from tcformal.identification.recheck import recheck
from tcformal.report.devices.campaign import campaign_view
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.store.schema import sealed

VOLTA = [
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "volta/mma.m8n8k4.f32.f16.f16.f16",
]


@cache
def all_directed(spec: UnitSpec) -> tuple[Directed, ...]:
    """The directed dot products of a unit, made once for all campaigns."""
    return tuple(directed(spec))


@pytest.fixture(autouse=True)
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No campaign makes them again."""
    monkeypatch.setattr(work, "directed", all_directed)


@pytest.fixture
def only_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the comparisons, which take longer than all the rest."""
    monkeypatch.setattr(work, "answers", lambda *_: [])
    monkeypatch.setattr(work, "survivors", lambda *_: {"survivors": [], "refuted": {}})


quick = pytest.mark.usefixtures("only_measured")


def made(
    folder: Path, device: Slow, clock: Clock, *, seconds: float = 1e6, vectors: int = 600, **options: Any
) -> Campaign:
    """A campaign in this process."""
    return Campaign(device, folder, seconds=seconds, clock=clock, pool=Inline(), vectors=vectors, **options)


def ran(folder: Path, text: str = "model:volta", **options: Any) -> tuple[Tally, Slow]:
    """A campaign with all the time in the family on a model."""
    clock = Clock()
    slow = {key: options.pop(key) for key in ("does", "refuses") if key in options}
    device = Slow(text.removeprefix("model:"), clock, **slow)
    return made(folder, device, clock, **options).run(), device


@cache
def whole() -> tuple[int, int]:
    """Dot products that an undisturbed campaign asks of a device, and those that it keeps."""
    with TemporaryDirectory() as folder:
        found, device = ran(Path(folder))
    return device.seen, found.measured


@pytest.mark.slow
def test_an_altered_device_is_refuted(tmp_path: Path) -> None:
    """Mismatches are kept, and the design that is left is the altered one."""
    found, _ = ran(tmp_path, "model:volta@fraction_bits=24", units=VOLTA[:1])
    folder = next((tmp_path / "hardware").iterdir())
    assert found.mismatches > 50
    (checked,) = recheck(folder)
    assert checked.mismatches == found.mismatches
    left = [u.name for u in compare(folder, unit=VOLTA[0]).survivors]
    assert f"{VOLTA[0]}@fraction_bits=24" in left
    assert VOLTA[0] not in left
    (designs,) = found.data()["designs"]
    assert f"{VOLTA[0]}@fraction_bits=24" in designs["survivors"]
    assert designs["refuted"][VOLTA[0]]
    (precision,) = [a for a in found.units[VOLTA[0]].answers if a["question"] == "precision"]
    assert precision["fits"] == [f"{VOLTA[0]}@fraction_bits=24"]
    assert "REFUTED" in str(campaign_view(found)[0])


@quick
@pytest.mark.parametrize("call", [2, 11])
def test_a_campaign_that_is_killed_continues(call: int, tmp_path: Path) -> None:
    """At whatever call: what was measured is there, and a torn line besides does no harm."""

    def killed(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
        if number == call:
            raise KeyboardInterrupt
        return results

    clock = Clock()
    device = Slow("volta", clock, does=killed)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, device, clock).run()
    path = tmp_path / "hardware" / "model-volta" / "campaign-1.jsonl"
    with path.open("a") as stream:
        stream.write('{"kind": "suite", "id": "sui')
    found, again = ran(tmp_path)
    assert found.complete
    assert again.seen + device.seen == whole()[0]
    assert [c.mismatches for c in recheck(path.parent)] == [0, 0, 0]


def nan_for_zeros(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
    """NaN where every operand is zero, for one unit."""
    zero = (x.c == 0) & (x.a == 0).all(axis=1)
    return np.where(zero, np.uint64(0x7FFFFFFF), results) if spec.name == VOLTA[0] else results


def too_few(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
    """The last result is missing, for one unit."""
    return results[:-1] if spec.name == VOLTA[0] else results


def busy(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
    """After some results, for one unit, nothing more."""
    if spec.name == VOLTA[0]:
        raise DeviceError("expected volta to run a kernel, but it is busy", [int(x) for x in results[:7]])
    return results


@quick
@pytest.mark.parametrize(
    ("does", "sentence", "kept"),
    [
        (nan_for_zeros, "because no NaN is possible", bench.BLOCK),
        (too_few, f"expected {bench.BLOCK} results", bench.BLOCK - 1),
        (busy, "but it is busy", 7),
    ],
)
def test_a_failing_unit_costs_no_other(does: Any, sentence: str, kept: int, tmp_path: Path) -> None:
    """Its raw outputs and the reason are kept; the other units are measured; later it is tried again."""
    found, _ = ran(tmp_path, does=does, units=VOLTA[:2])
    assert list(found.faults) == VOLTA[:1]
    assert sentence in found.faults[VOLTA[0]]
    assert not found.complete
    folder = tmp_path / "hardware" / "model-volta"
    text = (folder / "campaign-1.jsonl").read_text()
    (fault,) = [data for data in map(json.loads, text.splitlines()) if data["kind"] == "fault"]
    assert sentence in fault["reason"]
    (run,) = [r for r in read_runs(folder) if r.head["unit"] == VOLTA[0]]
    assert [line["count"] for line in run.done] == [kept]
    others = [u for u in found.units.values() if u.spec.name != VOLTA[0]]
    assert all(u.random == 600 for u in others)
    again, _ = ran(tmp_path, units=VOLTA[:2])
    assert again.faults == {}
    assert again.units[VOLTA[0]].random == 600


@quick
def test_a_result_that_depends_on_its_place_is_a_fault(tmp_path: Path) -> None:
    """One wrong column, say: the same dot product gives two results."""

    def moved(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
        made = results.copy()
        if len(x.c) == 256 and spec.name == VOLTA[0]:
            made[8] ^= np.uint64(1)
        return made

    found, _ = ran(tmp_path, does=moved)
    assert "wherever it stands" in found.faults[VOLTA[0]]
    assert len(found.units[VOLTA[0]].positions["outputs"]) == 2
    good = found.units[VOLTA[1]].positions
    assert (good["places"], list(good["outputs"])) == (64, [good["model"]])


@quick
def test_files_of_a_campaign_reject(tmp_path: Path) -> None:
    """Damaged operands, missing ones, cut outputs, lines before their head, and units not named."""
    ran(tmp_path, vectors=0)
    folder = tmp_path / "hardware" / "model-volta"
    path = folder / "campaign-1.jsonl"
    whole = path.read_text().splitlines()

    def read(lines: list[str]) -> None:
        path.write_text("".join(json.dumps(sealed(json.loads(line))) + "\n" for line in lines))
        for run in read_runs(folder):
            list(pieces_of(run, folder))

    with pytest.raises(RecordError, match=r"expected one of the 3 units .* to be named"):
        compare(folder)
    with pytest.raises(RecordError, match="expected results of x in"):
        compare(folder, unit="x")
    data = [json.loads(line) for line in whole]
    suite = next(i for i, d in enumerate(data) if d["kind"] == "suite")
    block = next(i for i, d in enumerate(data) if d["kind"] == "operands")
    changed = {**data[block], "c": "00000001" + data[block]["c"][8:]}
    with pytest.raises(RecordError, match="to have the digest that stands there"):
        read([*whole[:block], json.dumps(changed), *whole[block + 1 :]])
    with pytest.raises(RecordError, match="expected operands of"):
        read([*whole[:block], json.dumps({**data[block], "formats": "other"}), *whole[block + 1 :]])
    with pytest.raises(RecordError, match=r"expected the operands .* but there are none"):
        read([*whole[:block], *whole[block + 1 :]])
    with pytest.raises(RecordError, match="outputs of suite"):
        read([*whole[:suite], json.dumps({**data[suite], "d": data[suite]["d"][8:]}), *whole[suite + 1 :]])
    with pytest.raises(RecordError, match="expected whole results"):
        read([*whole[:suite], json.dumps({**data[suite], "d": "1"}), *whole[suite + 1 :]])
    with pytest.raises(RecordError, match=r"expected results .* before line 2"):
        read([whole[0], whole[suite]])
    with pytest.raises(RecordError, match="expected the head of the run of"):
        read([whole[0], json.dumps({**data[1], "unit": "other"}), whole[suite]])
    with pytest.raises(RecordError, match=r"mismatches of suite/.* but 7 stand there"):
        read([*whole[:suite], json.dumps({**data[suite], "mismatches": 7}), *whole[suite + 1 :]])


@quick
@pytest.mark.parametrize("kind", ["random", "suite"])
def test_a_campaign_that_goes_on_believes_no_count(kind: str, tmp_path: Path) -> None:
    """What it kept is held against the models again before it says that it holds."""
    first, _ = ran(tmp_path, "model:volta@fraction_bits=24", units=VOLTA[:1])
    assert first.mismatches > 0
    again, device = ran(tmp_path, "model:volta@fraction_bits=24", units=VOLTA[:1])
    assert (again.mismatches, again.unchecked, device.seen) == (first.mismatches, 0, 0)
    path = next(tmp_path.rglob("campaign-1.jsonl"))
    data = [json.loads(line) for line in path.read_text().splitlines()]
    none: dict[str, Any] = {"random": {}, "suite": 0}
    forged = [
        sealed({**line, "mismatches": none[kind]}) if line["kind"] == kind and line["mismatches"] else line
        for line in data
    ]
    assert forged != data
    path.write_text("".join(json.dumps(line) + "\n" for line in forged))
    with pytest.raises(RecordError, match=r"expected the outputs of item|expected .* mismatches of suite/"):
        ran(tmp_path, "model:volta@fraction_bits=24", units=VOLTA[:1])
