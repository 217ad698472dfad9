"""The cut of a dot product's DAG: nodes that depend on one operand alone are computed once per operand.

A kernel multiplies every row of A with every column of B.  The nodes that depend on A alone are the
same for every column, those of B for every row; only the rest has to be computed for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tcformal.backends.llvm import LoweringRule
from tcformal.backends.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.simulation.kernels.rules import LoweringRules, arguments, needed

#: Lanes on which planes are tried to find the rare ones.
_TRIED = 512
#: Inputs of one side are named by its letter: `a[0]`, `scale_a[0]`.
SIDES = {"a": ("a[", "scale_a["), "b": ("b[", "scale_b[")}


@dataclass(frozen=True, slots=True, kw_only=True)
class DotCall:
    """The dot product of one call: its DAG, formats and storage sizes.

    Shapes: inputs a[0…k-1], b[0…k-1], c, scale_a[0…scales-1], scale_b[0…scales-1] of `graph`.
    """

    graph: Graph
    root: Node
    k: int
    scales: int
    #: Bits of an element in memory, by letter: a, b, c, d, and `scale`.
    storage: Mapping[str, int]
    #: What fills up the last step's scales.
    scale_one: int
    #: Finite encodings of each letter: what is never 1 on them is left to the second kernel.
    finite: Mapping[str, Sequence[int]]
    #: Whether d is a c again.
    chained: bool
    #: Adds rules to the dot product, of finite operands, whose result is the node given.
    add_rules: Callable[[Node, LoweringRules], None] | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A dot product's DAG, cut at the nodes that depend on one side alone.

    Shapes: `planes[side]`: the nodes that are handed on, each computed once per row of A, or column
    of B, and step of k.
    """

    graph: Graph
    root: Node
    planes: dict[str, tuple[Node, ...]]
    #: How some nodes' values are made, by index; the others' as their operators say.
    rules: Mapping[int, LoweringRule] = field(default_factory=dict)

    def side_inputs(self, side: str) -> list[str]:
        """The names of the inputs of one side, in the graph's order."""
        return [name for name in self.graph.inputs if name.startswith(SIDES[side])]


def sides_of(
    graph: Graph, root: Node, rules: Mapping[int, LoweringRule]
) -> tuple[list[Node], dict[int, frozenset[str]]]:
    """The nodes below `root`, and for each node index the set of sides (`a`, `b`, `c`) that it depends on."""
    nodes = needed(root, rules)
    names = {node.index: name for name, node in graph.inputs.items()}
    sides: dict[int, frozenset[str]] = {}
    for node in nodes:
        if node.op == "input":
            name = names[node.index]
            own = frozenset({next((s for s, starts in SIDES.items() if name.startswith(starts)), "c")})
        else:
            own = frozenset().union(*(sides[arg.index] for arg in arguments(node, rules)))
        sides[node.index] = own
    return nodes, sides


def cut(graph: Graph, root: Node, rules: Mapping[int, LoweringRule] | None = None) -> Cut:
    """Cut the dot product `root` of inputs a[k], b[k], c and scales by sides."""
    ways = rules or {}
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
    """Rebuild the DAG below `root` with the truth values `never` replaced by 0: new nodes by old index."""
    new: dict[int, Node] = {node.index: g.truth(False) for node in never}
    for node in reachable([root]):
        if node.index in new:
            continue
        args = [new[arg.index] for arg in node.args]
        same = all(x is y for x, y in zip(args, node.args, strict=True))
        new[node.index] = node if same else g.make(node.op, args, node.params)
    return new


def cuts(step: DotCall, *, rules: bool = False) -> tuple[dict[str, Cut], dict[str, Sequence[Node]]]:
    """The cuts for `finite` and for `any` operands, with each side's flags that detect NaN and Inf.

    With `rules` that for finite operands takes those of this processor, which floats are some of; what
    tells it apart may then be one of them.
    """
    graph = step.graph
    whole = cut(graph, step.root)
    rare = rare_planes(whole, step)
    new = without(graph, step.root, [node for nodes in rare.values() for node in nodes])
    plain = new[step.root.index]
    lowering = LoweringRules(new, dict(rare))
    if rules and step.add_rules is not None:
        step.add_rules(plain, lowering)
    return {"finite": cut(graph, plain, lowering.by_index), "any": whole}, lowering.flags


def rare_planes(whole: Cut, step: DotCall) -> dict[str, list[Node]]:
    """The truth values of each side that are 0 for all finite operands tried: they detect NaN and Inf.

    A node that is listed here although some finite operand makes it 1 costs time and nothing else.
    """
    rng = np.random.default_rng(1)
    rare: dict[str, list[Node]] = {}
    for side, planes in whole.planes.items():
        inputs = {}
        for name in whole.side_inputs(side):
            letter = "scale" if name.startswith("scale") else side
            corners = np.array(step.finite[letter], dtype=np.uint64)
            drawn = rng.choice(corners, _TRIED)
            # All alike at first: zeros everywhere, ones everywhere.
            drawn[: len(corners)] = corners
            inputs[name] = drawn
        truths = [node for node in planes if node.width == 1]
        rare[side] = [node for node in truths if not evaluate(whole.graph, node, inputs, n=_TRIED).any()]
    return rare
