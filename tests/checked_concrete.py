"""An integer evaluator that also tests the graph's invariants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcformal.backends.concrete import Concrete
from tcformal.errors import InvariantError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node


class CheckedConcrete:
    """An integer evaluator that also tests the graph's invariants.

    Shapes: as `Concrete`.
    Errors: those of `Concrete`; InvariantError where an invariant is 0.
    """

    def __init__(self, graph: Graph, roots: Sequence[Node]) -> None:
        self._invariants = tuple(graph.invariants.kept)
        self._count = len(roots)
        self._run = Concrete(graph, [*roots, *(x.node for x in self._invariants)])

    def __call__(self, inputs: Mapping[str, int]) -> list[int]:
        """The unsigned values of the roots on one row of inputs."""
        values = self._run(inputs)
        for x, holds in zip(self._invariants, values[self._count :], strict=True):
            if not holds:
                shown = ", ".join(f"{name}={value:#x}" for name, value in inputs.items())
                where = f" at {x.where}" if x.where else ""
                raise InvariantError(f"expected that {x.why}{where}, but it is not so for {shown}")
        return values[: self._count]
