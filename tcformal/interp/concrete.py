"""Exact Python integers: the reference interpretation, straight from the operator table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS
from tcformal.ir.walk import reachable

_Step = tuple[int, Callable[..., int], tuple[int, ...], tuple[int, ...], tuple[int, ...], int]


class Concrete:
    """A DAG prepared for repeated evaluation on Python integers.

    Shapes: maps named unsigned inputs to the values of `roots`.
    Errors: InputError for a missing input or one that does not fit its width.
    The meanings are those of the operator table; nothing is defined here, so no operator can lack.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node]) -> None:
        nodes = reachable(roots)
        slot = {node.index: i for i, node in enumerate(nodes)}
        self._values: list[int] = [0] * len(nodes)
        self._inputs: list[tuple[int, str, int]] = []
        self._steps: list[_Step] = []
        for i, node in enumerate(nodes):
            if node.op == "const":
                self._values[i] = node.params[1]
            elif node.op == "input":
                self._inputs.append((i, graph.input_name(node), node.width))
            else:
                args = tuple(slot[a.index] for a in node.args)
                widths = tuple(a.width for a in node.args)
                mask = (1 << node.width) - 1
                self._steps.append((i, OPS[node.op].meaning, args, widths, node.params, mask))
        self._roots = [slot[root.index] for root in roots]

    def __call__(self, inputs: Mapping[str, int]) -> list[int]:
        """The unsigned values of the roots."""
        values = self._values.copy()
        for i, name, width in self._inputs:
            if name not in inputs:
                raise InputError(f"expected a value for input {name}, but none was given")
            value = inputs[name]
            if not 0 <= value < (1 << width):
                raise InputError(f"expected an encoding of {width} bits for {name}, but got {value:#x}")
            values[i] = value
        for i, meaning, args, widths, params, mask in self._steps:
            values[i] = meaning([values[a] for a in args], widths, params) & mask
        return [values[i] for i in self._roots]
