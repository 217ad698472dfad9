"""SMT-LIB 2 export: definitions, to which users add assertions about inputs and d; a file for each format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from tcformal.backends.export.exportable import RESULT, ExportedDesign, remarks
from tcformal.backends.terms.terms import TERM_OPS, SolverTerm, TermInterpreter
from tcformal.ir.build import Graph
from tcformal.ir.node import Node


class SmtlibText(TermInterpreter[str]):
    """An interpretation of the DAG as SMT-LIB terms: symbols, literals, and one line per application.

    One definition per shared node keeps the text as small as the DAG and free of nesting.
    """

    KINDS: ClassVar[Mapping[str, str]] = {name: name for name in TERM_OPS}

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        #: `define-fun` lines, arguments before users.
        self.definitions: list[str] = []
        self._prefix = "n"
        while any(name.startswith(self._prefix) for name in graph.inputs):
            self._prefix += "_"

    def const_term(self, value: int, width: int) -> str:
        """A literal: hexadecimal if the width is a multiple of four, else binary."""
        return f"#b{value:0{width}b}" if width % 4 else f"#x{value:0{width // 4}x}"

    def apply(self, name: str, args: Sequence[str], indices: Sequence[int], width: int | None) -> str:
        """Define the result of one operator, and return its symbol."""
        symbol = f"{self._prefix}{len(self.definitions)}"
        head = f"(_ {name} {' '.join(map(str, indices))})" if indices else name
        sort = "Bool" if width is None else f"(_ BitVec {width})"
        self.definitions.append(f"(define-fun {symbol} () {sort} ({head} {' '.join(args)}))")
        return symbol


class SmtlibStages(SmtlibText):
    """SMT-LIB definitions of a design: one per labelled stage, in dependency order."""

    def __init__(self, design: ExportedDesign) -> None:
        super().__init__(design.graph)
        self._symbols = design.input_symbols()
        self._stages = design.stages()

    def input_term(self, name: str, width: int) -> str:
        """The symbol of an element; all elements are declared in port order."""
        return self._symbols[name]

    def visit(self, node: Node, values: Sequence[SolverTerm[str]]) -> SolverTerm[str]:
        """The term of a node, named after its first stage where it has one."""
        term = super().visit(node, values)
        stages = self._stages.get(node.index, [])
        for label, stage in stages:
            value, remark = self.bits(term), remarks([(label, stage)], label)
            line = f"(define-fun |{label}| () (_ BitVec {node.width}) {value})"
            self.definitions.append(f"{line} ; {remark}" if remark else line)
        if stages and node.op not in ("const", "input"):
            term.bits = f"|{stages[0][0]}|"
        return term


def to_smtlib_design(design: ExportedDesign) -> str:
    """Declarations of the operands, one definition for each stage, and the definition of d."""
    writer = SmtlibStages(design)
    (term,) = writer.run([design.root])
    result = writer.bits(term)
    lines = [f"; {line}" for line in design.header]
    lines += ["(set-logic QF_BV)"]
    for p in design.ports:
        lines += [f"(declare-const {s} (_ BitVec {p.width})) ; {p.encoding}" for s in p.symbols]
    lines += writer.definitions
    lines.append(f"(define-fun {RESULT} () (_ BitVec {design.root.width}) {result}) ; {design.encoding}")
    lines.append("; Add assertions here, as in (assert (= c #x00000000)), then (check-sat) and (get-model).")
    return "\n".join(lines) + "\n"
