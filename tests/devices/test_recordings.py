"""What other processors gave, put to the models of this one through the device `recorded:`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from kept_runs import INEXACT, runs_of
from tcformal.backends.vector import evaluate
from tcformal.design.catalog import catalogue
from tcformal.design.unit import Evidence
from tcformal.devices.directed import directed
from tcformal.devices.entries import dot_products_in
from tcformal.devices.plan import Directed, Plan, item_of
from tcformal.devices.recorded import RecordedDevice
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import Piece, Run, files_of, pieces_of, read_runs, unit_of
from tcformal.devices.tally import groups
from tcformal.errors import DeviceError
from tcformal.identification.refutation import recheck
from tcformal.ir.build import Graph
from tcformal.oracle.exact import unit_dot
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.semantics.special import first_nan
from tcformal.semantics.sums import block
from tcformal.simulation.matrix_unit import replay, unit
from tcformal.simulation.operands.batch import Raw, batch_of

HARDWARE = Path(__file__).parents[2] / "results" / "hardware"
#: Files of results by the names that they had before they were packed.
NAMES = sorted({p.with_name(p.name.removesuffix(".xz")) for p in HARDWARE.rglob("*.jsonl*")})
FILES = [p for p in NAMES if not p.name.startswith("campaign-")]
FOLDERS = sorted({p.parent for p in NAMES if p.name.startswith("campaign-")})
DEVICES = (
    "AMD EPYC", "Intel(R) Xeon(R) Processor", "NVIDIA H100 80GB HBM3", "NVIDIA H200", "qemu 7.2.22",
    "Spike 55b4658d", "Intel Gaudi 3 RTL verification model e6cef1c3", "Bochs 783b58fd", "QEMU 7.2.22",
    "rocjitsu gfx11-48f67ab9", "rocjitsu gfx12-5ac3c9c4", "ET-SoC-1 f5e79040", "Vortex f7dce0c7",
    "HMX 3aaad8ca", "NVDLA 8e06b1b9 CMAC", "rocjitsu gfx12_dot4_f32_fp8", "CUTE 7b40bf01", "CVFPU e5aa6a01",
    "ttsim 56694c8a blackhole", "ttsim 56694c8a wormhole",
    "Intel Gaudi 2 RTL verification model e6cef1c3 no_opt",
    "Intel Gaudi RTL verification model e6cef1c3 DNORM_FTZ as a macro",
    *(f"rocjitsu {gfx}-f319585b integers" for gfx in ("gfx9", "gfx11", "gfx12")),
)  # fmt: skip
TILE, DMMA = "x86/tdpbf16ps", "hopper/mma.m8n8k4.f64.f64.f64.f64"
INTEL = HARDWARE / "Intel-R-Xeon-R-Processor"
H100, H200 = HARDWARE / "NVIDIA-H100-80GB-HBM3", HARDWARE / "NVIDIA-H200"
BOUNDARY = HARDWARE / "Intel-R-Xeon-R-Processor-2" / "x86"
NANS = INTEL / "x86" / "tdpbf16ps.jsonl"


@cache
def runs(path: Path) -> dict[str, Run]:
    """The last run of each unit of a file or of a folder's campaign."""
    return {str(run.head["unit"]): run for run in runs_of(path) if run.done}


@cache
def device(path: Path) -> RecordedDevice:
    """The outputs of a file, or of a folder's campaign."""
    return RecordedDevice(str(path))


def leaders(path: Path) -> list[str]:
    """Of units that compute the same and differ in m and n only, one."""
    return [group.leader.name for group in groups(unit_of(run, path) for run in runs(path).values())]


#: The long run has those of an H200, which are those of an H100.
KEPT = [path for path in (*FILES, *FOLDERS) if path not in (H200, *INEXACT)]


def sample(path: Path, name: str, count: int) -> Plan:
    """So many directed dot products of a kept run, and the smallest of its random items."""
    run = runs(path)[name]
    spec = unit_of(run, path)
    named = [line for line in run.done if line["kind"] == "directed"][:count]
    blocks = [line for line in run.done if line["kind"] == "suite"][:1]
    first = next(pieces_of(replace(run, done=[*named, *blocks]), path))
    chosen = list(first.items[: 2 * count])
    random = [line for line in run.done if line["kind"] == "random" and line["count"] <= 200 * count]
    if random:
        least = min(random, key=lambda line: line["count"])
        chosen.append(item_of(spec, least, str(path)))
    return Plan(spec, int(run.head["k"]), tuple(chosen))


@pytest.mark.parametrize("share", [8, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", KEPT, ids=lambda p: p.stem[:40])
def test_kept_outputs_are_the_models(path: Path, share: int, tmp_path: Path) -> None:
    """What a processor gave is given again by the model, whichever processor this is.

    Of a file's units one in so many, and of an H100's, which has most of them, fewer.
    """
    for name in leaders(path)[:: share * (5 if path == H100 else 1)]:
        plan = sample(path, name, 400 // share)
        outcome = run_plan(plan, device(path), tmp_path / name.replace("/", "-"))
        assert outcome.count >= (30 if plan.unit.operands.d.integer else 400 // share)
        assert outcome.mismatches == 0
        assert outcome.device["recorded_device"] in DEVICES


@pytest.mark.long
@pytest.mark.parametrize(
    "path", [p for p in (*FILES, *FOLDERS) if p not in INEXACT], ids=lambda p: p.stem[:40]
)
def test_all_kept_outputs_are_the_models(path: Path) -> None:
    """Every dot product; those of which only a digest is kept have that of the model's outputs."""
    for checked in recheck(path):
        assert (checked.mismatches, checked.sealed) == (0, 0), checked


@pytest.mark.parametrize("rule", ["signed_zero", "kept"])
def test_numbers_about_the_least_normal_one_leave_one_rule(rule: str, tmp_path: Path) -> None:
    """2^-126 - 2^-150 gives 0, and 2^-126 - 2^-151 gives 2^-126: no other rule gives both."""
    path = BOUNDARY / "tdpbf16ps-early.jsonl"
    asked = [line for line in runs(path)[TILE].done if line["kind"] == "directed"][:400]
    first = next(pieces_of(replace(runs(path)[TILE], done=[*asked]), path))
    plan = Plan(unit(TILE).spec, 32, tuple(first.items[:400]))
    assert run_plan(plan, device(path), tmp_path / "ours").mismatches == 0
    tried = batch_of([item.witness for item in plan.items if isinstance(item, Directed)])
    given, other = (replay(u.spec, tried) for u in (unit(TILE), unit(f"{TILE}@result_subnormals={rule}")))
    assert (given != other).any()
    fact = unit(TILE).spec.facts["result_subnormals"]
    assert fact.evidence is Evidence.MEASURED
    assert "Processor-2" in fact.source


@pytest.mark.slow
@pytest.mark.parametrize("tile", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_instructions_of_another_processor(tile: bool, tmp_path: Path) -> None:
    """The directed inputs that an instruction is tested with here were put to the processor that has it."""
    for name, run in runs(INTEL).items():
        if (name == TILE) != tile:
            continue
        spec, suite = unit(name).spec, replace(run, done=[x for x in run.done if x["kind"] == "suite"])
        items = [i for piece in pieces_of(suite, INTEL) for i in piece.items if isinstance(i, Directed)]
        asked, wanted = {i.witness for i in items}, list(directed(spec))
        plan = Plan(spec, spec.k, tuple(item for item in wanted if item.witness in asked))
        assert len(plan.items) > 0.9 * len(wanted)
        folder = tmp_path / name.replace("/", "-")
        assert run_plan(plan, RecordedDevice(str(INTEL)), folder).mismatches == 0


def test_a_recording_of_several_units_rejects() -> None:
    spec = unit("arm/bfdot.ebf1").spec
    with pytest.raises(DeviceError, match=r"to hold results of arm/bfdot\.ebf1, but it holds x86/vdpbf16ps"):
        RecordedDevice(str(INTEL)).identify(spec, 2)


# --------------------------------------------------------------------- whose NaN it is
@cache
def nan_tiles() -> tuple[Piece, ...]:
    """The first tiles of the recording made to find the order of NaNs."""
    run = runs(NANS)[TILE]
    return tuple(pieces_of(replace(run, done=run.done[:8], end=None), NANS))


def rows() -> Iterator[tuple[list[int], list[int], int, int]]:
    """Operands and results of the tiles."""
    for piece in nan_tiles():
        for i, d in enumerate(piece.outputs.tolist()):
            yield piece.batch.a[i].tolist(), piece.batch.b[i].tolist(), int(piece.batch.c[i]), d


def test_nan_tiles_hold_nans_of_every_origin() -> None:
    words = {d for *_, d in rows()}
    assert len([d for d in words if d & 0x7FFFFFFF > 0x7F800000]) > 50
    assert 0xFFC00000 in words


def test_the_oracle_gives_the_recorded_nans() -> None:
    spec = unit(TILE).spec
    wrong = [d for i, (a, b, c, d) in enumerate(rows()) if i % 7 == 0 and unit_dot(spec, a, b, c) != d]
    assert wrong == []


@cache
def nan_doubles() -> tuple[Piece, ...]:
    """The directed inputs and the first random ones of DMMA, NaNs among them."""
    run = runs(H100)[DMMA]
    return tuple(pieces_of(replace(run, done=[x for x in run.done if dot_products_in(x) <= 12_000]), H100))


def mutated(
    order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, name: str, pieces: tuple[Piece, ...]
) -> int:
    """Mismatches with recorded outputs where the NaNs named come in another order."""

    def other(g, operands, invalid, target):  # type: ignore[no-untyped-def]
        names = {x.name for x in operands}
        if names == set(order):
            operands = sorted(operands, key=lambda x: order.index(x.name))
        return first_nan(g, operands, invalid, target)

    monkeypatch.setattr(block, "first_nan", other)
    spec = unit(name).spec
    g = Graph()
    made = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
    root = made.result
    wrong = 0
    for piece in pieces:
        inputs: dict[str, Raw] = {"c": piece.batch.c}
        inputs |= {f"a[{k}]": piece.batch.a[:, k] for k in range(spec.k)}
        inputs |= {f"b[{k}]": piece.batch.b[:, k] for k in range(spec.k)}
        wrong += int(np.count_nonzero(evaluate(g, root, inputs, n=len(piece.outputs)) != piece.outputs))
    return wrong


@pytest.mark.parametrize(
    "order",
    [("b", "a", "total"), ("total", "a", "b"), ("a", "total", "b"), ("odd", "even"), ("total", "c")],
    ids=" before ".join,
)
def test_another_order_of_nans_is_refuted(order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutated(order, monkeypatch, TILE, nan_tiles()) > 10


@pytest.mark.parametrize("order", list(permutations(("a", "b", "total"))), ids=" before ".join)
def test_one_order_of_nans_is_that_of_dmma(order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """b_k before the sum before a_k; each of the five others is refuted by hundreds of results."""
    wrong = mutated(order, monkeypatch, DMMA, nan_doubles())
    assert wrong == 0 if order == ("b", "total", "a") else wrong > 100


def test_the_order_of_nans_is_the_recorded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutated(("a", "b", "total"), monkeypatch, TILE, nan_tiles()) == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *((TILE, x) for x in ("nan_rule=word", "nan_rule=b_sum_a", "nan_word=0x7fc00000", "order=odd_first")),
        *((DMMA, x) for x in ("nan_rule=word", "nan_rule=first_operand", "nan_word=0x7ff8000000000000")),
    ],
)
def test_another_rule_of_nans_is_refuted(name: str, change: str) -> None:
    u, pieces = unit(f"{name}@{change}"), nan_tiles() if name == TILE else nan_doubles()
    assert any((u.dot_bits(p.batch.a, p.batch.b, p.batch.c) != p.outputs).any() for p in pieces)


# --------------------------------------------------------------------- evidence
def test_measured_evidence_is_what_is_kept() -> None:
    """A catalogued unit claims to be measured exactly where results of hardware are kept, and names them."""
    kept: dict[str, set[str]] = {}
    for path, name in ((p, name) for p in (*FILES, *FOLDERS) for name in runs(p)):
        said = runs(path)[name].head["device"]
        emulated = str(said.get("system")).startswith("emulated")
        if name in catalogue() and not emulated and said.get("evidence") != "reference":
            kept.setdefault(name, set()).add(path.relative_to(HARDWARE).parts[0])
    for name, spec in catalogue().items():
        facts = [fact for fact in spec.facts.values() if fact.evidence is Evidence.MEASURED]
        assert bool(facts) == (name in kept), name
        for fact in facts:
            assert all(f"results/hardware/{folder}" in fact.source for folder in kept[name])
            named = [p.partition(" (")[0] for p in fact.source.split("; ") if p.startswith("results/")]
            assert all((HARDWARE.parents[1] / p).exists() for p in named)
            # Outputs of programs may be named beside those of hardware.
            assert sum(Path(p).parts[2] in kept[name] for p in named) == len(kept[name])


@pytest.mark.slow
def test_files_are_bounded_and_name_no_folder_of_a_machine() -> None:
    for path in (*FILES, *FOLDERS):
        assert all(file.stat().st_size < 16 << 20 for file in files_of(path))
        for run in read_runs(path):
            assert not any(str(v).startswith("/") for v in run.head["device"].values())
    assert sum(path.stat().st_size for path in HARDWARE.rglob("*.jsonl*")) < 5_000_000
