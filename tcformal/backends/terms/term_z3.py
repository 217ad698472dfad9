"""The operators as z3 terms; apart, because solvers are imported lazily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import z3

from tcformal.backends.terms.terms import TERM_OPS, TermInterpreter
from tcformal.ir.build import Graph

#: Where z3's C function is not called as SMT-LIB's operator.
_RENAMED = {"=": "eq", "zero_extend": "zero_ext", "sign_extend": "sign_ext"}


class Z3Terms(TermInterpreter[Any]):
    """An interpretation of the DAG as z3 terms in a new context.

    The C functions are called directly: the operators of the Python classes check and coerce, which
    on large graphs costs more than the query.
    """

    KINDS: ClassVar[Mapping[str, Any]] = {
        name: getattr(z3, "Z3_mk_" + _RENAMED.get(name, name)) for name in TERM_OPS
    }

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.context = z3.Context()

    def const_term(self, value: int, width: int) -> Any:
        """A bit-vector numeral."""
        return z3.BitVecVal(value, width, self.context)

    def input_term(self, name: str, width: int) -> Any:
        """A bit-vector constant symbol."""
        return z3.BitVec(name, width, self.context)

    def apply(self, name: str, args: Sequence[Any], indices: Sequence[int], width: int | None) -> Any:
        """Build one term by z3's C interface."""
        handles = [a.as_ast() for a in args]
        context = self.context.ref()
        if name in ("and", "or"):
            made = self.KINDS[name](context, len(handles), (z3.Ast * len(handles))(*handles))
        else:
            made = self.KINDS[name](context, *indices, *handles)
        return z3.BoolRef(made, self.context) if width is None else z3.BitVecRef(made, self.context)
