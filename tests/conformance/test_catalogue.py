"""Every distinct design of the catalogue: lanes, integers and the exact oracle on the same vectors."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.test_designs import compare, oracle_on_all
from kernel_agreement import representatives
from sampled import only
from tcformal.backends.concrete import WORTH_COMPILING, Concrete
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.oracle.exact import unit_dot
from tcformal.semantics.chain import circuit
from tcformal.simulation.compiled import lane_words
from tcformal.simulation.matrix_unit import Unit, unit
from tcformal.simulation.operands.batch import Batch, batch, witness_at
from tcformal.simulation.operands.witness import explain_command, in_hex

#: Vectors of each design in the default tests.
VECTORS = 16
DESIGNS = list(distinct_designs())


def test_the_catalogue_is_swept_whole() -> None:
    assert sum(len(names) for names in distinct_designs().values()) == len(catalogue())


def judge(name: str, seed: int, n: int) -> tuple[int, int, list[str]]:
    """(integer mismatches, oracle mismatches, examples) of a unit's lanes on n vectors."""
    spec = catalogue()[name]
    graph, root = circuit(spec, spec.k)
    # Few rows are not worth the compilation, and many are from the first on.
    exact = Concrete(graph, [root], singly=n if n <= WORTH_COMPILING else 0)
    x = batch(spec, spec.k, n, seed)
    lanes = lane_words(spec, x.named())
    integers = oracle = 0
    examples: list[str] = []
    for row in range(n):
        found = int(lanes[row])
        w = witness_at(x, row)
        by_integers = exact(w.inputs())[0]
        by_oracle = unit_dot(spec, w.a, w.b, w.c, w.scale_a, w.scale_b)
        integers += by_integers != found
        oracle += by_oracle != found
        if (by_integers != found or by_oracle != found) and len(examples) < 3:
            command = explain_command([name], w, in_hex(spec))
            examples.append(f"{command}  # {found:#x} {by_integers:#x} {by_oracle:#x}")
    return integers, oracle, examples


@pytest.mark.parametrize("name", only(representatives(), DESIGNS))
def test_lanes_integers_and_oracle_agree(name: str) -> None:
    integers, oracle, examples = judge(name, 7, VECTORS)
    assert (integers, oracle) == (0, 0), "\n".join(examples)


@pytest.mark.long
@pytest.mark.parametrize("name", DESIGNS)
def test_lanes_integers_and_oracle_agree_on_many_vectors(name: str) -> None:
    integers, oracle, examples = judge(name, 8, 10_000)
    assert (integers, oracle) == (0, 0), "\n".join(examples)


def test_a_wrong_design_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison rejects: the same vectors through a design with one more fraction bit."""
    name, right = "hopper/mma.m16n8k16.f32.f16.f16.f32", unit_dot

    def altered(spec: Any, *operands: Any) -> int:
        design = replace(spec.design, fraction_bits=spec.design.fraction_bits + 1)
        return right(replace(spec, design=design), *operands)

    monkeypatch.setitem(globals(), "unit_dot", altered)
    integers, oracle, examples = judge(name, 7, VECTORS)
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
