"""Exact Python integers: the reference interpretation, generated from the operator table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tcformal.errors import InputError, InvariantError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS, signed
from tcformal.ir.walk import reachable


class Concrete:
    """A DAG compiled to straight-line Python on unbounded integers.

    Shapes: maps named unsigned inputs to the values of `roots`.
    Errors: InputError for a missing input or one that does not fit its width.
    The meanings are the operator table's own texts; nothing is defined here, so no operator can lack.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node]) -> None:
        nodes = reachable(roots)
        self._inputs = [(graph.input_name(n), n.width) for n in nodes if n.op == "input"]
        order = {graph.input_name(n): i for i, n in enumerate(n for n in nodes if n.op == "input")}
        lines = ["def run(given):"]
        for node in nodes:
            if node.op == "input":
                lines.append(f"    n{node.index} = given[{order[graph.input_name(node)]}]")
            elif node.op != "const":
                lines.append(f"    n{node.index} = {_expression(node)}")
        lines.append(f"    return [{', '.join(_name(root) for root in roots)}]")
        space: dict[str, Any] = {"signed": signed}
        exec(compile("\n".join(lines), "<definition>", "exec"), space)
        self._run: Callable[[list[int]], list[int]] = space["run"]

    def __call__(self, inputs: Mapping[str, int]) -> list[int]:
        """The unsigned values of the roots."""
        given = []
        for name, width in self._inputs:
            if name not in inputs:
                raise InputError(f"expected a value for input {name}, but none was given")
            value = inputs[name]
            if not 0 <= value < (1 << width):
                raise InputError(f"expected an encoding of {width} bits for {name}, but got {value:#x}")
            given.append(value)
        return self._run(given)


class CheckedConcrete:
    """A DAG on unbounded integers, and the invariants of its graph with it.

    Shapes: as `Concrete`.
    Errors: those of `Concrete`; InvariantError where an invariant is 0.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node]) -> None:
        self._invariants = tuple(graph.invariants.kept)
        self._count = len(roots)
        self._run = Concrete(graph, [*roots, *(x.node for x in self._invariants)])

    def __call__(self, inputs: Mapping[str, int]) -> list[int]:
        """The unsigned values of the roots."""
        values = self._run(inputs)
        for x, holds in zip(self._invariants, values[self._count :], strict=True):
            if not holds:
                shown = ", ".join(f"{name}={value:#x}" for name, value in inputs.items())
                where = f" at {x.where}" if x.where else ""
                raise InvariantError(f"expected that {x.why}{where}, but it is not so for {shown}")
        return values[: self._count]


def _name(node: Node) -> str:
    return hex(node.params[1]) if node.op == "const" else f"n{node.index}"


def _expression(node: Node) -> str:
    """The operator's text on the operands' names, reduced to the node's width."""
    names = dict(zip("abc", (_name(a) for a in node.args), strict=False))
    widths = dict(zip(("wa", "wb"), (a.width for a in node.args), strict=False))
    params = dict(zip("pq", node.params, strict=False))
    return f"({OPS[node.op].text.format(**names, **widths, **params)}) & {hex((1 << node.width) - 1)}"
