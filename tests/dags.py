"""Random DAGs over the whole vocabulary, and their plain evaluation, for the tests of interpreters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS, apply_op
from tcformal.ir.walk import reachable

#: Operators whose two operands must have one width.
_SAME_WIDTH = frozenset({"and_", "or_", "xor", "add_mod", "sub_mod", "eq", "ult", "ule", "slt", "sle"})


def fit(graph: Graph, rng: random.Random, x: Node, width: int) -> Node:
    """`x` brought to `width` bits by a random choice of the operators that can do so."""
    if x.width > width:
        low = rng.randrange(x.width - width + 1)
        return graph.extract(x, low + width - 1, low)
    grow = rng.choice((graph.zero_extend_to, graph.sign_extend_to))
    return grow(x, width)


def random_graph(rng: random.Random, n_inputs: int, n_nodes: int, max_width: int) -> tuple[Graph, list[Node]]:
    """A graph of about `n_nodes` operators and its roots: every node that no other node uses.

    Operators are drawn in shuffled rounds over the whole table, so that `n_nodes` of at least the
    table's length tries each of them; no node is wider than `max_width` (at least 2).
    """
    graph = Graph()
    pool = [graph.input(f"in[{i}].bits", rng.randint(1, max_width)) for i in range(n_inputs)]
    names: list[str] = []
    made = 0
    while made < n_nodes:
        if not names:
            names = [name for name in OPS if name != "input"]
            rng.shuffle(names)
        node = _draw(graph, rng, names.pop(), pool, max_width)
        if node.width <= max_width:
            pool.append(node)
        made += 1
    used = {arg.index for node in pool for arg in node.args}
    roots = [node for node in dict.fromkeys(pool) if node.index not in used and node.op not in LEAVES]
    return graph, roots or [pool[-1]]


def _draw(graph: Graph, rng: random.Random, name: str, pool: Sequence[Node], max_width: int) -> Node:
    x, y, z = (rng.choice(pool) for _ in range(3))
    if name == "const":
        width = rng.randint(1, max_width)
        return graph.const(rng.choice((0, 1, (1 << width) - 1, rng.getrandbits(width))), width)
    if name in _SAME_WIDTH:
        return graph.make(name, (x, fit(graph, rng, y, x.width)))
    if name == "ite":
        return graph.ite(fit(graph, rng, x, 1), y, fit(graph, rng, z, y.width))
    if name in ("mul_expand", "concat"):
        half = max_width // 2
        return graph.make(name, [fit(graph, rng, a, min(a.width, half)) for a in (x, y)])
    if name == "extract":
        low = rng.randrange(x.width)
        return graph.extract(x, rng.randrange(low, x.width), low)
    if name in ("zero_extend", "sign_extend"):
        return graph.make(name, (x,), (rng.randint(0, max_width - x.width),))
    return graph.make(name, (x, y)[: OPS[name].arity])


def random_inputs(rng: random.Random, graph: Graph) -> dict[str, int]:
    """A value for every input: all zeros, all ones, a small one, or any."""
    values = {}
    for name, node in graph.inputs.items():
        ones = (1 << node.width) - 1
        values[name] = rng.choice((0, ones, rng.randrange(8) & ones, rng.getrandbits(node.width)))
    return values


def evaluate(graph: Graph, roots: Sequence[Node], inputs: Mapping[str, int]) -> list[int]:
    """The values of `roots`, straight from the operator table."""
    known: dict[int, int] = {}
    for node in reachable(roots):
        if node.op == "input":
            known[node.index] = inputs[graph.input_name(node)]
        else:
            values = [known[a.index] for a in node.args]
            widths = [a.width for a in node.args]
            known[node.index] = apply_op(OPS[node.op], values, widths, node.params, node.width)
    return [known[root.index] for root in roots]
