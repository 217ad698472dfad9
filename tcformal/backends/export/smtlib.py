"""A design as an SMT-LIB 2 script of definitions, to which a user adds assertions about a_0, …, c and d."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.export.design import RESULT, ExportedDesign, remarks
from tcformal.backends.terms.smtlib import SmtlibText
from tcformal.backends.terms.terms import SolverTerm
from tcformal.ir.node import Node


class SmtlibStages(SmtlibText):
    """Every labelled stage becomes a definition of its own name, after the definitions that it needs."""

    def __init__(self, design: ExportedDesign) -> None:
        super().__init__(design.graph)
        self._symbols = design.input_symbols()
        self._stages = design.stages()

    def input_term(self, name: str, width: int) -> str:
        """The element's symbol: all elements are declared in the order of the ports."""
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
