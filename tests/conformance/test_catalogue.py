"""Every distinct design of the catalogue: lanes, integers and the exact oracle on the same vectors."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.test_designs import compare, oracle_on_all
from executors import Inline
from tcformal.analysis.sweeps import conformance
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.oracle.exact import unit_dot
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.random import Batch, batch
from tcformal.simulation.unit import Unit, unit

#: Vectors of each design in the default tests.
VECTORS = 16
DESIGNS = list(distinct_designs())


def test_the_catalogue_is_swept_whole() -> None:
    assert len(DESIGNS) == 211
    assert sum(len(names) for names in distinct_designs().values()) == len(catalogue()) == 5230


@pytest.mark.parametrize("name", DESIGNS)
def test_lanes_integers_and_oracle_agree(name: str) -> None:
    integers, oracle, examples, _ = conformance.judge(name, 7, VECTORS)
    assert (integers, oracle) == (0, 0), "\n".join(examples)


def test_a_wrong_design_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison rejects: the same vectors through a design with one more fraction bit."""
    name = "hopper/mma.m16n8k16.f32.f16.f16.f32"

    def altered(spec: Any, *operands: Any) -> int:
        design = replace(spec.design, fraction_bits=spec.design.fraction_bits + 1)
        return unit_dot(replace(spec, design=design), *operands)

    monkeypatch.setattr(conformance, "unit_dot", altered)
    integers, oracle, examples, _ = conformance.judge(name, 7, VECTORS)
    assert integers == 0
    assert oracle > 0
    assert examples[0].startswith(f"tcformal explain {name} --a 0x")


def test_fp4_pairs_are_enumerated() -> None:
    """Every dot product of two fp4 pairs, with c = 0 and c = -1.5, on ST-FDPA's sum without scales."""
    u = unit("blackwell/tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e2m1")
    rows = np.array(list(itertools.product(range(16), repeat=4)), dtype=np.uint8)
    for c in (0, 0xBFC00000):
        x = Batch(rows[:, :2], rows[:, 2:], np.full(len(rows), c, dtype=np.uint32))
        compare(u.spec, x, u.dot_bits(x.a, x.b, x.c), oracle_on_all(replace(u.spec, k=2), x))


def test_a_sweep_continues_where_it_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "conformance.jsonl"
    pool = Inline()
    only = lambda name: name.startswith("volta/")  # noqa: E731 - a filter in one line
    first = next(conformance.sweep(path, 60, 1, pool, only=only))
    assert pool.calls == 1
    rest = list(conformance.sweep(path, 60, 1, pool, only=only))
    assert pool.calls == 3
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["unit"] for line in lines] == [first.unit, *(r.unit for r in rest)]
    assert all(line["oracle_mismatches"] == line["integer_mismatches"] == 0 for line in lines)
    assert list(conformance.sweep(path, 60, 1, pool, only=only)) == []
    assert len(list(conformance.sweep(path, 61, 1, pool, only=only))) == 3


@pytest.mark.parametrize("name", ["blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"])
def test_families_hold_scales(name: str) -> None:
    spec = Unit(catalogue()[name]).spec
    x = batch(spec, 128, 60, 3)
    assert x.scale_a is not None
    assert x.scale_a.shape == (60, 4)
    assert sorted(witness_at(x, 0).inputs()) == sorted(
        ["c", *(f"{s}[{i}]" for s in "ab" for i in range(128))]
        + [f"scale_{s}[{i}]" for s in "ab" for i in range(4)]
    )
