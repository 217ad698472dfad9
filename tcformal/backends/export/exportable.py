"""An exportable design: its DAG, ports, stage names and provenance, and the base of Verilog and C."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter, reachable

#: The name of the result in every format.
RESULT = "d"


@dataclass(frozen=True, slots=True)
class ExportPort:
    """One operand port: its raw encodings, element 0 first."""

    name: str
    #: The DAG's input of each element.
    inputs: tuple[str, ...]
    #: Bits of one element.
    width: int
    #: The encoding, for people.
    encoding: str
    #: Whether the operand is an array, even of one element.
    array: bool

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of its elements: `a_0`, `a_1`, …, or `c`."""
        if not self.array:
            return (self.name,)
        return tuple(f"{self.name}_{i}" for i in range(len(self.inputs)))


@dataclass(frozen=True, slots=True)
class ExportedDesign:
    """A combinational design: the result bits as a function of the port bits."""

    #: An identifier of C, Verilog and SMT-LIB.
    name: str
    graph: Graph
    #: The node of the result.
    root: Node
    ports: tuple[ExportPort, ...]
    #: The encoding of the result, for people.
    encoding: str
    #: What every file begins with: the unit, its definition's digest and its sources.
    header: tuple[str, ...]

    def input_symbols(self) -> dict[str, str]:
        """The element symbol of each DAG input."""
        return {name: symbol for p in self.ports for name, symbol in zip(p.inputs, p.symbols, strict=True)}

    def stages(self) -> dict[int, list[tuple[str, Stage]]]:
        """The labelled stages below the result, by node index."""
        needed = {node.index for node in reachable([self.root])}
        by_index: dict[int, list[tuple[str, Stage]]] = {}
        for label, stage in self.graph.labels.items():
            if stage.node.index in needed:
                by_index.setdefault(stage.node.index, []).append((label, stage))
        return by_index

    def identifiers(self) -> dict[int, str]:
        """An identifier for every node: its first stage's name, an input's symbol, or `n` and its index."""
        symbols = self.input_symbols()
        taken = {*symbols.values(), RESULT}
        stages, names = self.stages(), {}
        for node in reachable([self.root]):
            if node.op == "input":
                names[node.index] = symbols[self.graph.input_name(node)]
                continue
            name = f"n{node.index}"
            for label, _ in stages.get(node.index, ())[:1]:
                name = identifier(label)
            while name in taken:
                name += "_"
            taken.add(name)
            names[node.index] = name
        return names


def identifier(text: str) -> str:
    """A text turned into an identifier: letters, digits and underscores."""
    return re.sub(r"\W", "_", text.replace("=-", "=minus"), flags=re.ASCII)


def remarks(stages: list[tuple[str, Stage]], name: str) -> str:
    """Comments on how to read a node's bits as its stages; empty where they add nothing."""
    said = []
    for label, stage in stages:
        value = "x" if not stage.offset else f"x {'-' if stage.offset < 0 else '+'} {abs(stage.offset)}"
        if stage.scale:
            value = f"({value}) * 2^{-stage.scale}" if stage.offset else f"x * 2^{-stage.scale}"
        text = label if value == "x" and not stage.signed else f"{label} = {value}"
        text += ", x signed" if stage.signed else ""
        if text != name and identifier(text) != name:
            said.append(text)
    return "; ".join(said)


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
