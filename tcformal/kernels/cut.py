"""Where a dot product's DAG is cut: what depends on one operand alone is computed once per operand.

A kernel multiplies every row of A with every column of B.  The nodes that depend on A alone are the
same for every column, those of B for every row; only the rest has to be computed for each pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tcformal.interp.lowering import Shortcut
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.kernels.shortcuts import arguments, needed

#: Inputs of one side are named by its letter: `a[0]`, `scale_a[0]`.
SIDES = {"a": ("a[", "scale_a["), "b": ("b[", "scale_b[")}


@dataclass(frozen=True, slots=True)
class Cut:
    """One dot product, cut at the nodes that depend on one side alone.

    Shapes: `planes[side]`: the nodes that are handed on, each computed once per row of A, or column
    of B, and step of k.
    """

    graph: Graph
    root: Node
    planes: dict[str, tuple[Node, ...]]
    #: How some nodes' values are made, by index; the others' as their operators say.
    shortcuts: Mapping[int, Shortcut] = field(default_factory=dict)

    def side_inputs(self, side: str) -> list[str]:
        """The inputs of one side, in the order in which the graph names them."""
        return [name for name in self.graph.inputs if name.startswith(SIDES[side])]


def sides_of(
    graph: Graph, root: Node, shortcuts: Mapping[int, Shortcut]
) -> tuple[list[Node], dict[int, frozenset[str]]]:
    """The nodes that `root` is made from, and the sides (`a`, `b`, `c`) that each depends on, by index."""
    nodes = needed(root, shortcuts)
    names = {node.index: name for name, node in graph.inputs.items()}
    sides: dict[int, frozenset[str]] = {}
    for node in nodes:
        if node.op == "input":
            name = names[node.index]
            found = frozenset({next((s for s, starts in SIDES.items() if name.startswith(starts)), "c")})
        else:
            found = frozenset().union(*(sides[arg.index] for arg in arguments(node, shortcuts)))
        sides[node.index] = found
    return nodes, sides


def cut(graph: Graph, root: Node, shortcuts: Mapping[int, Shortcut] | None = None) -> Cut:
    """The dot product `root` of inputs a[k], b[k], c and scales, cut by sides."""
    ways = shortcuts or {}
    nodes, sides = sides_of(graph, root, ways)
    used: dict[str, dict[int, Node]] = {side: {} for side in SIDES}
    for node in nodes:
        for arg in arguments(node, ways):
            for side, planes in used.items():
                if sides[arg.index] == {side} != sides[node.index]:
                    planes[arg.index] = arg
    for side, planes in used.items():
        if sides[root.index] == {side}:
            planes[root.index] = root
    return Cut(graph, root, {side: tuple(planes.values()) for side, planes in used.items()}, ways)


def without(g: Graph, root: Node, never: Sequence[Node]) -> dict[int, Node]:
    """`root` and all below it built again in their graph, by index, with the truth values of `never` as 0."""
    new: dict[int, Node] = {node.index: g.truth(False) for node in never}
    for node in reachable([root]):
        if node.index in new:
            continue
        args = [new[arg.index] for arg in node.args]
        same = all(x is y for x, y in zip(args, node.args, strict=True))
        new[node.index] = node if same else g.make(node.op, args, node.params)
    return new
