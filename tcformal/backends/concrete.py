"""The integer interpreter: Python integers, by functions generated from the operator table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import LEAVES, OPS, signed
from tcformal.ir.walk import reachable

#: Rows that are evaluated node by node before the DAG is compiled: compiling takes as long as some 150 rows.
WORTH_COMPILING = 128

_Run = Callable[[list[int]], list[int]]
#: The value of a node from all values before it and the places of its arguments among them.
_Value = Callable[[list[int], int, int, int], int]
#: One node: its place, its value, the places of its arguments.
_Step = tuple[int, _Value, int, int, int]


class Concrete:
    """An evaluator of a DAG on unbounded integers, compiled to Python after a number of rows.

    Shapes: maps named unsigned inputs to the values of `roots`.
    Errors: InputError for a missing input or one that does not fit its width.
    The meanings are the operator table's own texts; nothing is defined here, so no operator can lack.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node], *, singly: int = WORTH_COMPILING) -> None:
        self._nodes, self._roots = reachable(roots), tuple(roots)
        inputs = [n for n in self._nodes if n.op == "input"]
        self._inputs = [(graph.input_name(n), n.width) for n in inputs]
        self._singly = singly
        self._steps: list[_Step] | None = None
        self._known: list[int] = []
        self._given: list[int] = []
        self._wanted: list[int] = []
        self._run: _Run | None = None

    def __call__(self, inputs: Mapping[str, int]) -> list[int]:
        """The unsigned values of the roots on one row of inputs."""
        values = []
        for name, width in self._inputs:
            if name not in inputs:
                raise InputError(f"expected a value for input {name}, but none was given")
            value = inputs[name]
            if not 0 <= value < (1 << width):
                raise InputError(f"expected an encoding of {width} bits for {name}, but got {value:#x}")
            values.append(value)
        if self._run is None and self._singly:
            self._singly -= 1
            return self._walked(values)
        if self._run is None:
            self._run = _compiled(self._nodes, self._roots)
        return self._run(values)

    def _walked(self, given: list[int]) -> list[int]:
        """Evaluate the roots node by node."""
        if self._steps is None:
            self._steps = self._ordered()
        values = self._known.copy()
        for place, value in zip(self._given, given, strict=True):
            values[place] = value
        for place, meaning, i, j, k in self._steps:
            values[place] = meaning(values, i, j, k)
        return [values[place] for place in self._wanted]

    def _ordered(self) -> list[_Step]:
        """The nodes with their slots; constants are filled in."""
        places = {node.index: place for place, node in enumerate(self._nodes)}
        self._known = [node.params[1] if node.op == "const" else 0 for node in self._nodes]
        self._given = [places[node.index] for node in self._nodes if node.op == "input"]
        self._wanted = [places[root.index] for root in self._roots]
        steps = []
        for place, node in enumerate(self._nodes):
            if node.op not in LEAVES:
                i, j, k = [*(places[x.index] for x in node.args), 0, 0][:3]
                widths = tuple(x.width for x in node.args)
                steps.append((place, _value(node.op, widths, tuple(node.params), node.width), i, j, k))
        return steps


@cache
def _value(op: str, widths: tuple[int, ...], params: tuple[int, ...], width: int) -> _Value:
    """An operator's Python function, cached by widths and parameters."""
    text = _text(op, [f"v[{place}]" for place in "ijk"], widths, params, width)
    value: _Value = eval(f"lambda v, i, j, k: {text}", {"signed": signed})
    return value


def _compiled(nodes: Sequence[Node], roots: Sequence[Node]) -> _Run:
    """One Python function of the inputs that evaluates all nodes in order."""
    lines, inputs = ["def run(given):"], count()
    for node in nodes:
        if node.op == "input":
            lines.append(f"    n{node.index} = given[{next(inputs)}]")
        elif node.op != "const":
            lines.append(f"    n{node.index} = {_expression(node)}")
    lines.append(f"    return [{', '.join(_name(root) for root in roots)}]")
    space: dict[str, Callable[..., Any]] = {"signed": signed}
    exec(compile("\n".join(lines), "<definition>", "exec"), space)
    run: _Run = space["run"]
    return run


def _name(node: Node) -> str:
    return hex(node.params[1]) if node.op == "const" else f"n{node.index}"


def _expression(node: Node) -> str:
    """A node as a Python expression of its operands' variables."""
    args = node.args
    return _text(node.op, [_name(x) for x in args], [x.width for x in args], node.params, node.width)


def _text(op: str, args: Sequence[str], widths: Sequence[int], params: Sequence[int], width: int) -> str:
    """An operator as a Python expression, reduced to the result's width."""
    names: dict[str, str | int] = dict(zip("pq", params, strict=False))
    for letter, arg, arg_width in zip("abc", args, widths, strict=False):
        names[letter], names[f"w{letter}"] = arg, arg_width
    return f"({OPS[op].text.format_map(names)}) & {hex((1 << width) - 1)}"
