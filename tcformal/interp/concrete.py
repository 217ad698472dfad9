"""Exact Python integers: the reference interpretation, generated from the operator table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from tcformal.errors import InputError, InvariantError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS, Meaning, signed
from tcformal.ir.walk import reachable

#: Rows that are evaluated node by node before the DAG is compiled: either takes about as long.
WORTH_COMPILING = 32

_Run = Callable[[list[int]], list[int]]
#: One node: its index, its operator's meaning, its arguments' indices and widths, parameters, a mask.
_Step = tuple[int, Meaning, list[int], list[int], Sequence[int], int]


class Concrete:
    """A DAG on unbounded integers, compiled to straight-line Python once there are some rows.

    Shapes: maps named unsigned inputs to the values of `roots`.
    Errors: InputError for a missing input or one that does not fit its width.
    The meanings are the operator table's own texts; nothing is defined here, so no operator can lack.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node], *, singly: int = WORTH_COMPILING) -> None:
        self._nodes, self._roots = reachable(roots), tuple(roots)
        inputs = [n for n in self._nodes if n.op == "input"]
        self._inputs = [(graph.input_name(n), n.width) for n in inputs]
        self._places = [n.index for n in inputs]
        self._singly = singly
        self._steps: list[_Step] | None = None
        self._known: dict[int, int] = {}
        self._run: _Run | None = None

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
        if self._run is None and self._singly:
            self._singly -= 1
            return self._walked(given)
        if self._run is None:
            self._run = _compiled(self._nodes, self._roots)
        return self._run(given)

    def _walked(self, given: list[int]) -> list[int]:
        """The values of the roots, one node after the other."""
        if self._steps is None:
            self._known = {node.index: node.params[1] for node in self._nodes if node.op == "const"}
            self._steps = [_step(node) for node in self._nodes if node.op not in LEAVES]
        known = dict(self._known)
        for index, value in zip(self._places, given, strict=True):
            known[index] = value
        for index, meaning, args, widths, params, ones in self._steps:
            known[index] = meaning([known[i] for i in args], widths, params) & ones
        return [known[root.index] for root in self._roots]


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


def _step(node: Node) -> _Step:
    """A node as `_walked` takes it."""
    args, widths = [a.index for a in node.args], [a.width for a in node.args]
    return node.index, OPS[node.op].meaning, args, widths, node.params, (1 << node.width) - 1


def _compiled(nodes: Sequence[Node], roots: Sequence[Node]) -> _Run:
    """The nodes as one Python function of the inputs' values, in the order of the nodes."""
    lines, inputs = ["def run(given):"], count()
    for node in nodes:
        if node.op == "input":
            lines.append(f"    n{node.index} = given[{next(inputs)}]")
        elif node.op != "const":
            lines.append(f"    n{node.index} = {_expression(node)}")
    lines.append(f"    return [{', '.join(_name(root) for root in roots)}]")
    space: dict[str, Any] = {"signed": signed}
    exec(compile("\n".join(lines), "<definition>", "exec"), space)
    run: _Run = space["run"]
    return run


def _name(node: Node) -> str:
    return hex(node.params[1]) if node.op == "const" else f"n{node.index}"


def _expression(node: Node) -> str:
    """The operator's text on the operands' names, reduced to the node's width."""
    names: dict[str, str | int] = dict(zip("pq", node.params, strict=False))
    for letter, arg in zip("abc", node.args, strict=False):
        names[letter], names[f"w{letter}"] = _name(arg), arg.width
    return f"({OPS[node.op].text.format_map(names)}) & {hex((1 << node.width) - 1)}"
