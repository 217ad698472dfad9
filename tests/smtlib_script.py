"""A question as one SMT-LIB script, which tests hand to solvers: the text that exports are made of."""

from __future__ import annotations

import re

from tcformal.backends.export.smtlib import SmtlibText
from tcformal.checks import check_choice
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node

#: Names that the logic already gives a meaning to, quoted or not.
_TAKEN = re.compile(
    r"true|false|not|and|or|xor|=|=>|distinct|ite|concat|extract|repeat|(zero|sign)_extend|"
    r"rotate_(left|right)|bv[a-z]+|[.@].*"
)


def quoted(name: str) -> str:
    """An input's name as a quoted SMT-LIB symbol; InputError for an unquotable name."""
    if "|" in name or "\\" in name or not name.isprintable() or _TAKEN.fullmatch(name):
        raise InputError(f"expected an input name that SMT-LIB can quote and does not use, but got {name!r}")
    return f"|{name}|"


class ScriptText(SmtlibText):
    """SMT-LIB definitions of a graph whose inputs keep their names."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        #: `declare-const` lines, one per input met.
        self.declarations: list[str] = []

    def input_term(self, name: str, width: int) -> str:
        """A declared constant."""
        self.declarations.append(f"(declare-const {quoted(name)} (_ BitVec {width}))")
        return quoted(name)


def to_smtlib(graph: Graph, assertion: Node, *, status: str | None = None) -> str:
    """The SMT-LIB 2 script of the question whether some input makes `assertion` equal 1.

    Shapes: `assertion` has width 1; `status` is the known answer (`sat`, `unsat`, `unknown`) or None.
    Errors: WidthError for another width, UnknownNameError for another status, InputError for an
    input name that SMT-LIB cannot carry.
    """
    writer = ScriptText(graph)
    claim = writer.assertion(assertion)
    lines = ["(set-logic QF_BV)"]
    if status is not None:
        lines.append(f"(set-info :status {check_choice('status', status, ('sat', 'unsat', 'unknown'))})")
    lines += [*writer.declarations, *writer.definitions, f"(assert {claim})", "(check-sat)"]
    return "\n".join(lines) + "\n"
