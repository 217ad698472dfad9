"""Invariants: what a definition relies on, as nodes beside it.

They are built only in a graph that was made with them switched on, so that no other graph, nor the digest
of any definition, knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tcformal.errors import WidthError
from tcformal.ir.node import Node

if TYPE_CHECKING:
    from tcformal.ir.build import Graph


@dataclass(frozen=True, slots=True)
class Invariant:
    """A condition that holds on every input.

    Shapes: node u[1], 1 where the condition holds; `where` is the scope that relies on it.
    """

    node: Node
    why: str
    where: str


class Invariants:
    """The invariants of one graph, in the order of definition; none unless the graph is checked."""

    def __init__(self, g: Graph, checked: bool) -> None:
        self._g, self._checked = g, checked
        self._supposed: list[Node] = []
        self.kept: list[Invariant] = []

    def add(self, condition: Callable[[], Node], why: str) -> None:
        """Keep a condition, which has to hold where all that is supposed here does."""
        if not self._checked:
            return
        node = condition()
        if node.width != 1:
            raise WidthError(f"expected a condition of width 1, but got width {node.width}")
        for supposed in self._supposed:
            node = self._g.or_(self._g.not_(supposed), node)
        self.kept.append(Invariant(node, why, self._g.here))

    @contextmanager
    def suppose(self, condition: Callable[[], Node]) -> Iterator[None]:
        """Ask what is added inside of those inputs only on which a condition (width 1) holds."""
        if not self._checked:
            yield
            return
        self._supposed.append(condition())
        try:
            yield
        finally:
            self._supposed.pop()
