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
from tcformal.cli.probe import campaign_view, comparison_view
from tcformal.design.unit import UnitSpec
from tcformal.devices import campaign as bench
from tcformal.devices import runs as pieces
from tcformal.devices import tally, work
from tcformal.devices.campaign import Campaign
from tcformal.devices.directed import directed
from tcformal.devices.entries import FullError, Parts, dot_products_in
from tcformal.devices.plan import Directed
from tcformal.devices.recorded import RecordedDevice
from tcformal.devices.runs import pieces_of, read_runs
from tcformal.devices.tally import Tally, family, groups
from tcformal.errors import DeviceError, InputError, RecordError
from tcformal.identification.refutation import compare, recheck
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Batch, Raw
from tcformal.store.schema import sealed

VOLTA = [
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "volta/mma.m8n8k4.f16.f16.f16.f16",
    "volta/mma.m8n8k4.f32.f16.f16.f16",
]
FP8 = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
EMULATED = "hopper/emulated.mma.m16n8k32.f32.e4m3.e4m3.f32"


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
def test_all_units_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files hold every output as it was given, and the summary says what they came to."""
    monkeypatch.setattr(work, "survivors", lambda *_: {"survivors": [], "refuted": {}})
    found, _ = ran(tmp_path)
    assert (found.mismatches, found.faults, found.untouched, found.stopped) == (0, {}, [], "")
    folder = tmp_path / "hardware" / "model-volta"
    assert sorted(p.name for p in folder.iterdir()) == ["campaign-1.jsonl", "campaign-summary.json"]
    runs = read_runs(folder)
    assert [run.head["unit"] for run in runs] == VOLTA
    count = 0
    for run in runs:
        for piece in pieces_of(run, folder):
            assert (replay(unit(run.head["unit"]).spec, piece.batch) == piece.outputs).all()
            count += len(piece.outputs)
    assert count == found.measured > 3 * (2000 + 600)
    summary = json.loads((folder / "campaign-summary.json").read_text())
    assert summary["dot_products"] == count
    assert summary["device"] == {"device": "model:volta", "driver": "1.0"}
    answers = {(a["unit"], a["question"]): a for a in summary["answers"]}
    hawkeye = answers[VOLTA[0], "hawkeye"]
    assert hawkeye["outputs"] == {"ask/hawkeye": "0 (0x00000000)"}
    assert any(name.startswith("hopper/") for name in hawkeye["refuted"])
    assert [c.mismatches for c in recheck(folder)] == [0, 0, 0]
    assert compare(folder, unit=VOLTA[1]).holds


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
def test_a_shared_model_is_evaluated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For units that share it; a unit that differs from it is seen all the same, in whatever order."""
    names = [f"hopper/wgmma.m64n{n}k16.f32.f16.f16" for n in (8, 16, 24)]

    def odd(spec: UnitSpec, x: Batch, results: Raw, _: int) -> Raw:
        if spec.name == names[1] and len(x.c) == 48:
            results[7] ^= 1
        return results

    for wrong, options in enumerate(({}, {"does": odd})):
        found, _ = ran(tmp_path / str(wrong), "model:hopper", units=names, vectors=48, **options)
        seen: list[int] = []
        monkeypatch.setattr(pieces, "replay", lambda spec, x, to=seen: to.append(len(x.c)) or replay(spec, x))
        checked = {c.unit: c for c in recheck(found.folder)}
        assert [checked[name].mismatches for name in names] == [0, wrong, 0]
        assert sum(c.count for c in checked.values()) == found.measured
        assert seen.count(48) == 1 + wrong


@quick
def test_the_most_valuable_comes_first(tmp_path: Path) -> None:
    """Every leading unit's directed inputs, then its first random ones; others when all leaders are done."""
    names = [f"hopper/wgmma.m64n{n}k16.f32.f16.f16" for n in (8, 16, 256)] + [FP8, EMULATED]
    found, device = ran(tmp_path, "model:hopper", units=names, vectors=24)
    order = list(dict.fromkeys(device.ran))
    assert order == [names[0], FP8, EMULATED, names[2], names[1]]
    suites = [i for i, name in enumerate(device.ran) if name == names[0]]
    assert device.ran.index(names[2]) > suites[3]
    assert found.complete


@quick
@pytest.mark.parametrize("seconds", [3, 12])
def test_the_time_is_kept(seconds: float, tmp_path: Path) -> None:
    """No call is begun that would not end in time; the next campaign goes on, and measures nothing twice."""
    clock = Clock()
    device = Slow("volta", clock)
    first = made(tmp_path, device, clock, seconds=seconds).run()
    assert first.stopped == "the time is up"
    assert clock.now <= max(seconds, 1.0) + 3  # the first suite, of three calls, could not be foreseen
    assert first.untouched or seconds > 10
    again = Slow("volta", clock)
    second = made(tmp_path, again, clock).run()
    assert second.complete
    assert second.untouched == []
    assert (device.seen + again.seen, second.measured) == whole()
    folder = tmp_path / "hardware" / "model-volta"
    assert len(read_runs(folder)) == 3


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
    assert [dot_products_in(line) for line in run.done] == [kept]
    others = [u for u in found.units.values() if u.spec.name != VOLTA[0]]
    assert all(u.random == 600 for u in others)
    again, _ = ran(tmp_path, units=VOLTA[:2])
    assert again.faults == {}
    assert again.units[VOLTA[0]].random == 600


@quick
def test_a_random_item_that_fails_keeps_what_came(tmp_path: Path) -> None:
    def cut(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
        if len(x.c) == 600 and spec.name == VOLTA[0]:
            wrong = results.copy()
            wrong[3] ^= np.uint64(1)
            raise DeviceError("expected power, but there is none", [int(x) for x in wrong[:50]])
        return results

    found, _ = ran(tmp_path, does=cut, units=VOLTA)
    assert list(found.faults) == VOLTA[:1]
    lines = (tmp_path / "hardware" / "model-volta" / "campaign-1.jsonl").read_text().splitlines()
    kept = [data for data in map(json.loads, lines) if data["kind"] == "fault" and "answered" in data]
    assert [(data["answered"], list(data["mismatches"])) for data in kept] == [(50, ["3"])]


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
def test_no_unit_at_all_rejects(tmp_path: Path) -> None:
    clock = Clock()
    device = Slow("volta", clock, refuses=VOLTA[0])
    with pytest.raises(DeviceError, match="the compiler knows none") as caught:
        made(tmp_path, device, clock, units=VOLTA[:1]).run()
    assert caught.value.exit_code == 3
    found, _ = ran(tmp_path, refuses=VOLTA[0])
    assert list(found.faults) == VOLTA[:1]
    assert any("not measured" in str(part) for part in campaign_view(found))
    empty = Slow("volta", clock)
    empty.units = list  # type: ignore[method-assign]
    with pytest.raises(DeviceError, match="give them by --unit"):
        made(tmp_path, empty, clock)


@quick
def test_units_on_the_same_inputs(tmp_path: Path) -> None:
    """fp8 composed of fp16 instructions differs from the native one, and an example says so."""
    found, _ = ran(tmp_path, "model:hopper", units=[FP8, EMULATED])
    (pair,) = found.pairs
    assert (pair["first"], pair["second"], pair["dot_products"]) == (FP8, EMULATED, 600)
    assert 0 < pair["differing"] < 600
    assert pair["example"]["first_gives"] != pair["example"]["second_gives"]
    again, device = ran(tmp_path, "model:hopper", units=[FP8, EMULATED])
    assert again.pairs == found.pairs
    assert device.ran == []


@quick
def test_parts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is begun anew before it is too large, and the campaign ends when the last one is full."""
    monkeypatch.setattr(bench, "Parts", lambda folder, head: Parts(folder, head, 3, 300_000))
    found, _ = ran(tmp_path)
    folder = tmp_path / "hardware" / "model-volta"
    files = sorted(folder.glob("campaign-*.jsonl"))
    assert len(files) == 3
    assert all(path.stat().st_size <= 300_000 for path in files)
    assert [json.loads(path.read_text().splitlines()[0])["kind"] for path in files] == ["campaign"] * 3
    assert [c.mismatches for c in recheck(folder)] == [0, 0, 0]
    assert found.stopped == ""
    monkeypatch.setattr(bench, "Parts", lambda folder, head: Parts(folder, head, 2, 150_000))
    found, _ = ran(tmp_path / "small")
    assert "its parts are full" in found.stopped
    with pytest.raises(FullError, match="expected room for"):
        Parts(tmp_path / "tiny", {}, 1, 10).append({"a": "a long line"})


@pytest.mark.long
@quick
def test_more_mismatches_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted and not kept; what is left out is said when the results are read."""
    monkeypatch.setattr(tally, "LEADER_ROOM", 24 * 200)
    found, _ = ran(tmp_path, "model:volta@rounding=RNE", units=VOLTA[:1], vectors=12_600)
    folder = next((tmp_path / "hardware").iterdir())
    (checked,) = recheck(folder)
    assert checked.sealed == 12_600
    assert checked.mismatches == found.mismatches > 300
    comparison = compare(folder)
    assert not comparison.holds
    assert comparison.sealed == 12_600
    assert "12600 more are kept as a digest only" in str(comparison_view(comparison)[0])


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


@quick
def test_what_was_not_checked_again_is_said(tmp_path: Path) -> None:
    """Where there is no time for it, the word is not HOLDS."""
    found, _ = ran(tmp_path, units=VOLTA[:1])
    assert "HOLDS" in str(campaign_view(found)[0])
    found.units[VOLTA[0]].unchecked = [{"kind": "random", "count": 600}]  # type: ignore[typeddict-item]
    assert "KEPT" in str(campaign_view(found)[0])
    assert "600 are kept, not re-checked: tcformal probe compare" in str(campaign_view(found)[0])
    assert found.data()["not_rechecked"] == 600


@quick
def test_answers_are_made_anew(tmp_path: Path) -> None:
    """What stands in the files is not taken over; what is the same is not written twice."""
    ran(tmp_path, units=VOLTA[:1])
    path = next(tmp_path.rglob("campaign-1.jsonl"))
    data = [json.loads(line) for line in path.read_text().splitlines()]
    forged = [sealed({**x, "survivors": ["mine"]}) if x["kind"] == "answer" else x for x in data]
    assert forged != data
    path.write_text("".join(json.dumps(line) + "\n" for line in forged))
    found, _ = ran(tmp_path, units=VOLTA[:1])
    assert found.units[VOLTA[0]].designs["survivors"] == []
    ran(tmp_path, units=VOLTA[:1])
    assert len(path.read_text().splitlines()) == len(data) + 1


@quick
def test_a_campaign_is_of_one_device(tmp_path: Path) -> None:
    """An emulator's results do not go into the folder of the processor."""
    clock = Clock()
    device = Slow("volta", clock)
    own = device.identify

    def identify(spec: UnitSpec, k: int) -> dict[str, str]:
        return own(spec, k) | ({"device": "qemu 7.2.22"} if spec.name == VOLTA[1] else {})

    device.identify = identify  # type: ignore[method-assign]
    found = made(tmp_path, device, clock, units=VOLTA[:2]).run()
    assert list(found.faults) == VOLTA[1:2]
    assert "give it a campaign of its own by --unit" in found.faults[VOLTA[1]]
    assert "qemu" not in [u["device"] for u in found.data()["units"] if "device" in u]


@quick
def test_the_summary_holds_no_absolute_path(tmp_path: Path) -> None:
    """It goes into a repository: neither its own folder nor those of programs that failed."""

    def refused(spec: UnitSpec, x: Batch, results: Raw, number: int) -> Raw:
        if spec.name == VOLTA[1]:
            raise DeviceError(
                f"expected /opt/cuda-12.4/bin/nvdisasm to read {tmp_path}/a.cubin, but '/x/y' is 1/2"
            )
        return results

    found, _ = ran(tmp_path, does=refused, units=VOLTA[:2], vectors=60)
    text = (found.folder / "campaign-summary.json").read_text()
    assert str(tmp_path) not in text
    assert "expected nvdisasm to read a.cubin, but 'y' is 1/2" in text
    assert VOLTA[1] in json.loads(text)["faults"]
    assert found.folder == tmp_path / "hardware" / "model-volta"


@quick
def test_recorded_campaigns_answer(tmp_path: Path) -> None:
    """The folder of a campaign stands for the device that it was made on."""
    ran(tmp_path, units=VOLTA[:1], vectors=60)
    folder = tmp_path / "hardware" / "model-volta"
    device = RecordedDevice(str(folder))
    spec = unit(VOLTA[0]).spec
    operands = device.operands(spec)
    assert len(operands) > 2000


@quick
def test_what_befalls_another_process_costs_its_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that runs out of memory, or a comparison that fails: said, and the rest goes on."""
    real = work.chunk

    def hungry(name: str, *rest: Any) -> Any:
        if name == VOLTA[1]:
            raise MemoryError("no more")
        return real(name, *rest)

    def confused(*_: Any) -> Any:
        raise InputError("expected peace, but got war")

    monkeypatch.setattr(work, "chunk", hungry)
    monkeypatch.setattr(work, "survivors", confused)
    said: list[str] = []
    found, _ = ran(tmp_path, say=said.append)
    assert list(found.faults) == [VOLTA[1]]
    assert "MemoryError: no more" in found.faults[VOLTA[1]]
    assert found.units[VOLTA[2]].random == 600
    assert f"{VOLTA[0]}: expected peace, but got war" in said


@quick
def test_witnesses_of_kept_answers_are_asked(tmp_path: Path) -> None:
    """Of the folder of answers, whatever folder the results go to."""
    spec = unit(VOLTA[0]).spec
    formats = {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"}
    question = {
        "first": "one",
        "second": "other",
        "k": spec.k,
        "formats": formats,
        "sha256": "0123456789abcdef",
    }
    line = {"question": question, "witness": {"a": ["0x3555"] * 4, "b": ["0x3aaa"] * 4, "c": "0x00345678"}}
    answers = tmp_path / "kept"
    answers.mkdir()
    (answers / "answers.jsonl").write_text(json.dumps(line) + "\n")
    ran(tmp_path, units=VOLTA[:1], vectors=0, answers=answers)
    (run,) = read_runs(tmp_path / "hardware" / "model-volta")
    names = [name for block in run.blocks.values() for name in block["names"]]
    assert names[-1] == "answer/0123456789ab"


def test_groups_of_units() -> None:
    """mma and wgmma of one arithmetic are measured each; widths follow, the widest first."""
    specs = [unit(f"hopper/{n}").spec for n in (
        "mma.m16n8k16.f32.f16.f16.f32", "wgmma.m64n24k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16",
        "wgmma.m64n256k16.f32.f16.f16", "wgmma.m64n64k16.f32.f16.f16",
        "emulated.mma.m16n8k32.f32.e4m3.e4m3.f32",
        "mma.m16n8k4.f64.f64.f64.f64", "wgmma.m64n8k32.f32.e4m3.e4m3",
    )]  # fmt: skip
    found = [[u.name.partition("/")[2].split(".")[1] for u in g.units] for g in groups(specs)]
    assert found == [
        ["m16n8k16"], ["m64n8k16", "m64n256k16", "m64n64k16", "m64n24k16"], ["m64n8k32"], ["m16n8k4"],
        ["mma"],
    ]  # fmt: skip
    names = ("x86/vdpbf16ps", "cdna3/v_mfma_f32_32x32x8_f16", "tfdpa@products=4", EMULATED)
    assert [family(unit(name).spec) for name in names] == ["vdpbf16ps", "v_mfma", "tfdpa", "emulated.mma"]


def test_unknown_units_reject(tmp_path: Path) -> None:
    clock = Clock()
    with pytest.raises(InputError, match="expected a known unit"):
        made(tmp_path, Slow("volta", clock), clock, units=["volta/none"])


def test_random_items_add_up() -> None:
    for vectors in (0, 5, 12_000, 12_001, 1_000_000):
        sizes = work.chunk_sizes(vectors)
        assert sum(sizes) == vectors
        assert all(0 < size <= work.CHUNK for size in sizes)
