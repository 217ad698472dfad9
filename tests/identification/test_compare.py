"""Comparisons: the suite refutes every altered design that any input can refute, by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tcformal.cli.probe import commands, comparison_view
from tcformal.design.axes import neighbours, rivals
from tcformal.devices.directed import directed
from tcformal.devices.plan import make_plan
from tcformal.devices.registry import ModelDevice
from tcformal.devices.runner import run_plan
from tcformal.devices.runs import pieces_of, read_runs
from tcformal.errors import RecordError
from tcformal.identification.refutation import Comparison, compare
from tcformal.query.explain.explain import explain_witness
from tcformal.semantics.chain import definition
from tcformal.simulation.matrix_unit import padded_witness, replay, unit
from tcformal.simulation.operands.batch import batch_of, rows_of, together

AMPERE = "ampere/mma.m16n8k8.f32.f16.f16.f32"
VOLTA = "volta/mma.m8n8k4.f32.f16.f16.f32"


def compared(folder: Path, name: str, device: str, vectors: int = 200) -> Comparison:
    """What is left after a model posed as hardware."""
    spec = unit(name).spec
    plan = make_plan(spec, directed(spec), vectors=vectors, seed=1)
    return compare(run_plan(plan, ModelDevice(device), folder).path)


@pytest.mark.slow
def test_one_altered_parameter_is_refuted(tmp_path: Path) -> None:
    """A model with 25 fraction bits poses as ampere's unit: that unit is refuted, the altered one is left."""
    device = f"{AMPERE}@fraction_bits=25"
    found = compared(tmp_path, AMPERE, device)
    left = [u.name for u in found.survivors]
    assert not found.holds
    assert device in left
    assert AMPERE in {r.design.name for r in found.refuted}
    assert all("fraction_bits=25" in name or name.startswith("hopper/") for name in left)
    d = unit(AMPERE).d_format
    for r in found.refuted:
        trace = explain_witness(r.design, padded_witness(r.design, r.witness))
        assert trace.result == r.designed != r.given
        assert r.where
        assert r.command.startswith("tcformal explain ")
        assert r.given < 1 << d.width


def test_the_unit_itself_survives(tmp_path: Path) -> None:
    """And every change that some input of these formats can show is refuted."""
    found = compared(tmp_path, VOLTA, VOLTA)
    assert found.holds
    refuted = {r.design.name for r in found.refuted}
    for change in (
        "fraction_bits=22", "fraction_bits=24", "fraction_bits=exact", "alignment_rounding=RNE", "products=2",
        "c_position=last", "summation=sequential", "normalise_products=true", "zero_exponent=own",
        "zero_exponent=-115", "carry_bits=1", "carry_bits=2", "conversion=RNE-FP32", "conversion=RD-FP32",
        "conversion=RZ-E8M13", "operand_subnormals=signed_zero", "c_subnormals=signed_zero",
        "result_subnormals=signed_zero",
        "zero_sign=ieee", "nan_word=0x7fc00000",
    ):  # fmt: skip
        assert f"{VOLTA}@{change}" in refuted, change


@pytest.mark.parametrize(
    "name",
    [VOLTA, "x86/vdpbf16ps", pytest.param("cdna2/v_mfma_f32_32x32x4bf16", marks=pytest.mark.long)],
)
def test_every_variation_differs_or_survives(name: str, tmp_path: Path) -> None:
    """Directed inputs alone refute the gross changes; a survivor never differs on what was measured."""
    found = compared(tmp_path, name, name, vectors=0)
    spec = unit(name).spec
    x = batch_of([item.witness for item in directed(spec)])
    outputs = replay(spec, x)
    for u in found.survivors:
        assert (replay(u, x) == outputs).all()
    assert len(found.refuted) > len(found.survivors)
    assert found.count == len({item.witness for item in directed(spec)})


@pytest.mark.long
def test_the_refuted_are_ranked_by_agreement(tmp_path: Path) -> None:
    """Those that give more outputs before one refutes them come first; the counts are those of a replay."""
    device = f"{AMPERE}@fraction_bits=26"
    spec = unit(AMPERE).spec
    plan = make_plan(spec, directed(spec), vectors=200, seed=1)
    path = run_plan(plan, ModelDevice(device), tmp_path).path
    found = compare(path, [unit(f"{AMPERE}@fraction_bits=5").spec])
    ranks = [(r.agrees.of, r.agrees.count) for r in found.refuted]
    assert found.refuted[0].design.name == f"{AMPERE}@fraction_bits=5"
    assert ranks[1:] == sorted(ranks[1:], reverse=True)
    assert len(set(ranks)) > 5
    (run,) = read_runs(path)
    rows = together(*(piece.batch for piece in pieces_of(run, path)))
    outputs = np.concatenate([piece.outputs for piece in pieces_of(run, path)])
    for r in found.refuted[:3]:
        first = slice(0, r.agrees.of)
        assert r.agrees.count == (replay(r.design, rows_of(rows, first)) == outputs[first]).sum()


@pytest.mark.long
def test_two_names_of_one_definition_survive_as_one(tmp_path: Path) -> None:
    spec = unit(VOLTA).spec
    path = run_plan(make_plan(spec, directed(spec), vectors=0, seed=1), ModelDevice(VOLTA), tmp_path).path
    found = compare(path, [unit(f"{VOLTA}@products=8").spec, unit(f"{VOLTA}@carry_bits=exact").spec])
    definitions = [definition(u, spec.k) for u in found.survivors]
    assert len(set(definitions)) == len(definitions)
    assert f"{VOLTA}@products=8" in found.spellings[VOLTA]
    assert found.survivors[0].name == VOLTA
    view = comparison_view(found, 2)
    assert f"  {VOLTA}, also spelled " in str(view[1])
    assert str(view[1]).count("\n") == 3
    assert view[-1] == f"… {len(found.refuted) - 2} more refuted designs, which agree on fewer: --all"
    assert len(str(comparison_view(found)[1]).splitlines()) == 1 + len(found.survivors)
    assert len(list(commands(found, 2))) == 2


def test_variations_are_designs() -> None:
    """Each changes one parameter of the unit; a name that alters one already keeps its other settings."""
    spec = unit(f"{AMPERE}@fraction_bits=25").spec
    made = list(neighbours(spec))
    assert len(made) > 40
    for u in made:
        changed = [k for k, v in u.design.parameters().items() if v != spec.design.parameters()[k]]
        assert changed
        assert len(changed) == 1 or set(changed) <= {
            "summation", "c_position", "accumulator", "conversion", "fraction_bits", "zero_exponent",
            "sum_fraction_bits", "nan_rule", "factor_nan_word",
        }  # fmt: skip
    assert list(neighbours(unit("hopper/emulated.mma.m16n8k16.f32.e4m3.e4m3.f32").spec)) == []


def test_rivals_are_of_the_same_formats() -> None:
    spec = unit(AMPERE).spec
    found = rivals(spec, 8)
    assert found[0] == spec
    assert len({u.arch for u in found}) > 5
    assert all(u.operands == spec.operands for u in found)
    assert len({u.name for u in found}) == len(found)


def test_compare_rejects(tmp_path: Path) -> None:
    spec = unit("volta/mma.m8n8k4.f32.f16.f16.f32").spec
    path = run_plan(make_plan(spec, [], vectors=20, seed=1), ModelDevice(spec.name), tmp_path).path
    with pytest.raises(RecordError, match="has others"):
        compare(path, [unit("x86/vdpbf16ps").spec])
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with pytest.raises(RecordError, match="no run of it has any"):
        compare(path)


def test_longer_units_are_padded() -> None:
    """A unit of more products takes zeros besides; one of fewer is chained."""
    spec, wide = unit("volta/mma.m8n8k4.f32.f16.f16.f32").spec, unit(AMPERE).spec
    one, two = 0x3C00, 0x4000
    x = batch_of([next(iter(directed(spec))).witness])
    assert replay(wide, x).tolist() == [0]
    y = batch_of([next(iter(directed(wide))).witness])
    y.a[0, 7], y.b[0, 7] = one, two
    assert replay(spec, y).tolist() == replay(wide, y).tolist() == [np.float32(2).view(np.uint32)]
