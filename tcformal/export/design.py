"""What every format writes: a design's DAG, its ports, the names of its stages, and where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tcformal.design.operations import operation
from tcformal.design.unit import UnitSpec, formats_text
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.ir.walk import digest, reachable
from tcformal.programs.chain import circuit, scale_count
from tcformal.programs.dag import program_circuit
from tcformal.programs.program import Program
from tcformal.version import VERSION

#: The name of the result in every format.
RESULT = "d"


@dataclass(frozen=True, slots=True)
class ExportPort:
    """One operand: its raw encodings, element 0 first."""

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
        """The name of each element: `a_0`, `a_1`, …, or `c`."""
        if not self.array:
            return (self.name,)
        return tuple(f"{self.name}_{i}" for i in range(len(self.inputs)))


@dataclass(frozen=True, slots=True)
class ExportedDesign:
    """A combinational design: result bits as a function of the ports' bits."""

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
        """The symbol of each element by the name of the DAG's input."""
        return {name: symbol for p in self.ports for name, symbol in zip(p.inputs, p.symbols, strict=True)}

    def stages(self) -> dict[int, list[tuple[str, Stage]]]:
        """The labelled stages that the result depends on, by the index of their node."""
        needed = {node.index for node in reachable([self.root])}
        found: dict[int, list[tuple[str, Stage]]] = {}
        for label, stage in self.graph.labels.items():
            if stage.node.index in needed:
                found.setdefault(stage.node.index, []).append((label, stage))
        return found

    def identifiers(self) -> dict[int, str]:
        """An identifier for every node: its first stage's name, an input's symbol, or `n` and its index."""
        given = self.input_symbols()
        taken = {*given.values(), RESULT}
        stages, names = self.stages(), {}
        for node in reachable([self.root]):
            if node.op == "input":
                names[node.index] = given[self.graph.input_name(node)]
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
    """A text as an identifier: letters, digits and underscores."""
    return re.sub(r"\W", "_", text.replace("=-", "=minus"), flags=re.ASCII)


def remarks(stages: list[tuple[str, Stage]], name: str) -> str:
    """How a person reads the bits x of a node called `name` as its stages; empty where that says nothing."""
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


def exported(spec: UnitSpec) -> ExportedDesign:
    """One call of a unit as a design to be written.

    Shapes: K elements of a and of b, c, and the scales of a unit that has them; the result d.
    Zero, NaN, Inf: raw encodings go in and come out, special values included.
    """
    graph, root = circuit(spec, spec.k)
    return ExportedDesign(
        name=f"tcformal_{identifier(spec.name)}",
        graph=graph,
        root=root,
        ports=tuple(_ports(spec)),
        encoding=spec.operands.d.name,
        header=tuple(_header(spec, digest(graph, {RESULT: root}))),
    )


def exported_program(p: Program, products: int) -> ExportedDesign:
    """A program over units for so many products, as a design to be written.

    Shapes: `products` elements of a and of b, and c; the result d.
    Zero, NaN, Inf: raw encodings go in and come out, special values included.
    Errors: InputError for a length that the program does not take.
    """
    plan = p.plan(products)
    graph, made = program_circuit(plan)
    formats = {letter: plan.input_format(letter) for letter in "abc"}
    ports = [
        ExportPort(
            x, tuple(f"{x}[{i}]" for i in range(products)), formats[x].width, formats[x].name, array=True
        )
        for x in "ab"
    ]
    ports.append(ExportPort("c", ("c",), formats["c"].width, formats["c"].name, array=False))
    head = f"{p.name}: one dot product d = a·b + c of {products} products; {p.title}"
    definition = digest(graph, {RESULT: made.result})
    return ExportedDesign(
        name=f"tcformal_{identifier(p.name)}", graph=graph, root=made.result, ports=tuple(ports),
        encoding=plan.fmt.name,
        header=(
            head, f"definition: SHA-256 {definition}, written by tcformal {VERSION}", f"source: {p.source}",
            *(f"calls: {unit.name}" for unit in p.units(products)),
        ),
    )  # fmt: skip


def _ports(spec: UnitSpec) -> Iterator[ExportPort]:
    o, k = spec.operands, spec.k
    for name, f in (("a", o.a), ("b", o.b)):
        yield ExportPort(name, tuple(f"{name}[{i}]" for i in range(k)), f.width, f.name, array=True)
    yield ExportPort("c", ("c",), o.c.width, o.c.name, array=False)
    if spec.scale_format is not None:
        f = spec.scale_format
        for name in ("scale_a", "scale_b"):
            inputs = tuple(f"{name}[{i}]" for i in range(scale_count(spec, k)))
            yield ExportPort(name, inputs, f.width, f.name, array=True)


def _header(spec: UnitSpec, definition: str) -> Iterator[str]:
    op = operation(spec)
    yield f"{spec.name}: one dot product d = a·b + c of K = {spec.k} products"
    yield f"{op.name}: {op.formula} [{op.source}]"
    yield f"formats: {formats_text(spec)}; operands and result are raw encodings"
    yield f"definition: SHA-256 {definition}, written by tcformal {VERSION}"
    for source in spec.sources:
        yield f"source: {source}"
    for note in spec.notes:
        yield f"note: {note}"
