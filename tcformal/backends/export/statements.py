"""Shared base of the Verilog and C exports: one statement per node, named after its stage."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from tcformal.backends.export.design import ExportedDesign, remarks
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter


class Statements(Interpreter[str], partial=True):
    """An interpretation of the DAG as statements; values are identifiers and literals.

    A handler returns the right-hand side; a bit-vector of width w fills the low w bits of its variable.
    """

    def __init__(self, design: ExportedDesign) -> None:
        super().__init__(design.graph)
        #: The statements so far, arguments before users.
        self.lines: list[str] = []
        self._names = design.identifiers()
        self._stages = design.stages()

    @abstractmethod
    def literal(self, value: int, width: int) -> str:
        """A constant expression."""

    @abstractmethod
    def statement(self, node: Node, name: str, expression: str) -> str:
        """The definition of a variable."""

    def visit(self, node: Node, values: Sequence[str]) -> str:
        """The identifier of a node after its statement is emitted; leaves need no statement."""
        expression = super().visit(node, values)
        if node.op in ("const", "input"):
            return expression
        name = self._names[node.index]
        notes = remarks(self._stages.get(node.index, []), name)
        line = self.statement(node, name, expression)
        self.lines.append(f"{line}  // {notes}" if notes else line)
        return name

    def on_const(self, node: Node) -> str:
        """A literal."""
        return self.literal(node.params[1], node.width)

    def on_input(self, node: Node) -> str:
        """The element's identifier."""
        return self._names[node.index]
