"""Compiled kernels against integers: random DAGs over the vocabulary, and a unit of every arithmetic."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

import kernel_agreement
from dags import evaluate, random_graph
from sampled import one_in
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import from_json, to_json
from tcformal.simulation.kernels import gemm as kernels
from tcformal.simulation.kernels.cut import DotCall
from tcformal.simulation.kernels.gemm import Gemm, MatrixWords
from tcformal.simulation.kernels.threads import Work

NAMES = ("a[0]", "a[1]", "b[0]", "b[1]", "c")
BITS = 64
#: Units whose kernels are compiled quickly; between them every kind of sum, lane and special case.
QUICK = (
    "turing/mma.m16n8k8.f16.f16.f16.f16",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/mma.m16n8k8.f32.f16.f16.f32",
    "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0",
    "cdna1/v_mfma_f32_32x32x4bf16",
    "cdna2/v_mfma_f32_32x32x4bf16",
    "cdna3/v_mfma_f32_32x32x8_f16",
    "x86/vdpbf16ps",
)


def random_dot(rng: random.Random, max_width: int) -> tuple[Graph, Node]:
    """A random DAG of inputs a, b and c, and one of its roots cut to 64 bits."""
    graph, roots = random_graph(rng, len(NAMES), 80, max_width)
    root = rng.choice(roots)
    low = rng.randrange(max(1, root.width - BITS + 1))
    text = to_json(graph, {"d": graph.extract(root, min(low + BITS, root.width) - 1, low)})
    for i, name in enumerate(NAMES):
        text = text.replace(f'"in[{i}].bits"', f'"{name}"')
    made, named = from_json(text)
    return made, named["d"]


def drawn(rng: np.random.Generator, shape: tuple[int, ...], width: int) -> NDArray[np.uint64]:
    """Zeros, ones, small values and any."""
    ones = np.uint64((1 << width) - 1)
    free = rng.integers(0, 1 << 64, shape, dtype=np.uint64, endpoint=False)
    picked = np.choose(
        rng.integers(0, 4, shape), [np.uint64(0), ones, free & np.uint64(7) & ones, free & ones]
    )
    return picked.astype(np.uint64)


@pytest.mark.parametrize("register", [128, 256, 512])
@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("max_width", [9, 33, 64, 100])
def test_random_dags(max_width: int, side: str, register: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every operator in every kind of lane, with planes of all widths on either side."""
    monkeypatch.setattr(kernels, "vector_bits", lambda: register)
    seed = 1000 * max_width + register
    rng, values = random.Random(seed), np.random.default_rng(seed)
    graph, root = random_dot(rng, max_width)
    while any(node.width > BITS for node in graph.inputs.values()):
        graph, root = random_dot(rng, max_width)
    m, n = 5, 21
    given = {
        name: drawn(values, {"a": (m, 1), "b": (1, n), "c": (m, n)}[name[0]], node.width)
        for name, node in graph.inputs.items()
    }
    zeros = {"a": np.zeros((m, 1), np.uint64), "b": np.zeros((1, n), np.uint64)}
    a = np.hstack([given.get(f"a[{i}]", zeros["a"]) for i in range(2)])
    b = np.vstack([given.get(f"b[{i}]", zeros["b"]) for i in range(2)])
    step = DotCall(
        graph=graph, root=root, k=2, scales=0, storage=dict.fromkeys("abcd", BITS), scale_one=0,
        finite={letter: [0] for letter in "abc"}, chained=False,
    )  # fmt: skip
    with Work(1, progress=False) as work:
        d = Gemm(step, side).multiply(MatrixWords(a, b, given.get("c")), work)
    whole = {name: np.broadcast_to(x, (m, n)) for name, x in given.items()}
    for i in range(m):
        for j in range(n):
            inputs = {name: int(x[i, j]) for name, x in whole.items()}
            assert int(d[i, j]) == evaluate(graph, [root], inputs)[0], (i, j)


def agrees(name: str, seed: int) -> None:
    """Rows and columns of all families, some of K not a multiple of k, on the kernels and on integers."""
    mismatches, specials, examples = kernel_agreement.judge(name, seed)
    assert mismatches == 0, "\n".join(examples)
    assert 0 < specials < kernel_agreement.OUTPUTS


@pytest.mark.parametrize("name", one_in(2, QUICK))
def test_a_unit_agrees_with_integers(name: str) -> None:
    assert name in kernel_agreement.representatives()
    agrees(name, 5)


@pytest.mark.long
@pytest.mark.parametrize("name", kernel_agreement.representatives())
def test_every_arithmetic_agrees_with_integers(name: str) -> None:
    for seed in range(4, 8):
        agrees(name, seed)


def test_another_design_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers of a design that keeps one bit less differ, and the first outputs are told."""
    name = "hopper/mma.m16n8k8.f32.f16.f16.f32"
    right = kernel_agreement.by_integers
    wrong = resolve(f"{name}@fraction_bits=24")
    monkeypatch.setattr(kernel_agreement, "by_integers", lambda spec, x: right(wrong, x))
    mismatches, _, examples = kernel_agreement.judge(name, 6)
    assert mismatches > 0
    assert examples[0].startswith(f"tcformal explain {name} --a 0x")


def test_one_unit_stands_for_every_design() -> None:
    """Every catalogued design is that of some representative."""
    designs = {catalogue()[name].design for name in kernel_agreement.representatives()}
    assert {u.design for u in catalogue().values()} <= designs
