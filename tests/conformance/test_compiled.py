"""Compiled code as an interpretation: a DAG of any widths, in words of 64 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from tcformal.backends import machine
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.simulation.kernels.elements import Elements

WORD = 64


def in_words(graph: Graph, root: Node) -> tuple[Graph, Node, list[tuple[str, int]]]:
    """The same definition on inputs a[0], a[1], … of 64 bits at most, and what each of them holds."""
    made, places = Graph(), list[tuple[str, int]]()
    new: dict[int, Node] = {}
    for node in reachable([root]):
        if node.op == "const":
            new[node.index] = made.const(node.params[1], node.width)
        elif node.op == "input":
            pieces = []
            for low in range(0, node.width, WORD):
                pieces.append(made.input(f"a[{len(places)}]", min(WORD, node.width - low)))
                places.append((graph.input_name(node), low))
            new[node.index] = made.concat(*reversed(pieces))
        else:
            new[node.index] = made.make(node.op, [new[arg.index] for arg in node.args], node.params)
    return made, new[root.index], places


def answer_compiled(graph: Graph, root: Node, rows: Sequence[Mapping[str, int]]) -> list[int]:
    """The values of `root` on every row, a word at a time."""
    made, top, places = in_words(graph, root)
    mask = (1 << WORD) - 1
    words = np.array([[row[name] >> low & mask for name, low in places] for row in rows], np.uint64)
    results = [0] * len(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "cache_folder", lambda: None)
        for low in range(0, top.width, WORD):
            piece = made.extract(top, min(low + WORD, top.width) - 1, low)
            # Many rows seen before: compiled at once.
            names = tuple(f"a[{i}]" for i in range(len(places)))
            run = Elements(made, piece, names, (WORD,) * len(places), WORD, seen=1 << 30)
            found = run([*words.T], (len(rows),))
            results = [x | int(y) << low for x, y in zip(results, found, strict=True)]
    return results


@pytest.mark.parametrize("width", [1, 64, 65, 200])
def test_words_are_put_together_again(width: int) -> None:
    """An input that passes through keeps all its bits."""
    graph = Graph()
    x = graph.input("x", width)
    rows = [
        {"x": value}
        for value in (0, (1 << width) - 1, 1, 1 << (width - 1), 0x123456789ABCDEF01234 % (1 << width))
    ]
    assert answer_compiled(graph, graph.not_(graph.not_(x)), rows) == [row["x"] for row in rows]
    assert answer_compiled(graph, graph.not_(x), rows) == [(1 << width) - 1 - row["x"] for row in rows]
