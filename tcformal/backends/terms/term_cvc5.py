"""The operators as cvc5 terms; apart, because solvers are imported lazily."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import cvc5
from cvc5 import Kind

from tcformal.backends.terms.terms import TERM_OPS, TermInterpreter
from tcformal.ir.build import Graph

#: Where cvc5's name is not SMT-LIB's in capitals, with BITVECTOR_ before it.
_RENAMED = {"=": "EQUAL", "bvmul": "BITVECTOR_MULT"} | {
    name: f"BITVECTOR_{name.upper()}" for name in ("concat", "extract", "zero_extend", "sign_extend")
}


class Cvc5Terms(TermInterpreter[Any]):
    """An interpretation of the DAG as cvc5 terms in a new term manager."""

    KINDS: ClassVar[Mapping[str, Any]] = {
        name: getattr(Kind, _RENAMED.get(name) or re.sub("^BV", "BITVECTOR_", name.upper()))
        for name in TERM_OPS
    }

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.manager = cvc5.TermManager()

    def const_term(self, value: int, width: int) -> Any:
        """A bit-vector value, in base 16 because the interface limits integers to 64 bits."""
        return self.manager.mkBitVector(width, format(value, "x"), 16)

    def input_term(self, name: str, width: int) -> Any:
        """A bit-vector constant symbol."""
        return self.manager.mkConst(self.manager.mkBitVectorSort(width), name)

    def apply(self, name: str, args: Sequence[Any], indices: Sequence[int], width: int | None) -> Any:
        """Build one term, with an indexed operator if there are indices."""
        kind = self.KINDS[name]
        return self.manager.mkTerm(self.manager.mkOp(kind, *indices) if indices else kind, *args)
