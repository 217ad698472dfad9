"""Compiled kernels against integers: random DAGs over the whole vocabulary, and every kind of unit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dags import evaluate, random_graph
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import from_json, to_json
from tcformal.kernels.gemm import Gemm, Operands, Step
from tcformal.kernels.work import Work

NAMES = ("a[0]", "a[1]", "b[0]", "b[1]", "c")
BITS = 64


def renamed(rng: random.Random, max_width: int) -> tuple[Graph, Node]:
    """A random DAG of inputs a, b and c, and one of its roots cut to 64 bits."""
    graph, roots = random_graph(rng, len(NAMES), 80, max_width)
    root = rng.choice(roots)
    low = rng.randrange(max(1, root.width - BITS + 1))
    text = to_json(graph, {"d": graph.extract(root, min(low + BITS, root.width) - 1, low)})
    for i, name in enumerate(NAMES):
        text = text.replace(f'"in[{i}].bits"', f'"{name}"')
    made, named = from_json(text)
    return made, named["d"]


def drawn(rng: np.random.Generator, shape: tuple[int, int], width: int) -> np.ndarray:
    """Zeros, ones, small values and any."""
    ones = np.uint64((1 << width) - 1)
    kinds = rng.integers(0, 4, shape)
    free = rng.integers(0, 1 << 64, shape, dtype=np.uint64, endpoint=False) if width else 0
    return np.choose(kinds, [np.uint64(0), ones, free & np.uint64(7) & ones, free & ones])


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("max_width", [9, 33, 64, 100])
@pytest.mark.parametrize("seed", range(3))
def test_random_dags(max_width: int, side: str, seed: int) -> None:
    """Every operator in every kind of lane, with planes of all widths on either side."""
    rng = random.Random(1000 * max_width + seed)
    graph, root = renamed(rng, max_width)
    values = np.random.default_rng(seed)
    inputs = graph.inputs
    m, n = 5, 21
    a = np.zeros((m, 2), np.uint64)
    b = np.zeros((2, n), np.uint64)
    c = np.zeros((m, n), np.uint64)
    for name, node in inputs.items():
        if node.width > BITS:
            pytest.skip("an input is wider than memory words")
        if name == "c":
            c[:] = drawn(values, c.shape, node.width)
        elif name[0] == "a":
            a[:, int(name[2])] = drawn(values, (m, 1), node.width)[:, 0]
        else:
            b[int(name[2])] = drawn(values, (1, n), node.width)[0]
    step = Step(
        graph=graph, root=root, k=2, scales=0, storage=dict.fromkeys("abcd", BITS), scale_one=0,
        finite={letter: [0] for letter in "abc"}, chained=False,
    )  # fmt: skip
    with Work(1, progress=False) as work:
        d = Gemm(step, side).multiply(Operands(a, b, c, None, None), work)
    for i in range(m):
        for j in range(n):
            given = {"a[0]": a[i, 0], "a[1]": a[i, 1], "b[0]": b[0, j], "b[1]": b[1, j], "c": c[i, j]}
            wanted = evaluate(graph, [root], {name: int(given[name]) for name in inputs})[0]
            assert int(d[i, j]) == wanted, (i, j)
