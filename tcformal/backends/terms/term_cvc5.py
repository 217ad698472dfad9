"""The operators as cvc5 terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import cvc5
from cvc5 import Kind

from tcformal.backends.terms.terms import TermInterpreter
from tcformal.ir.build import Graph


class Cvc5Terms(TermInterpreter[Any]):
    """An interpretation of the DAG as cvc5 terms in one term manager, by default a new one."""

    KINDS: ClassVar[Mapping[str, Any]] = {
        "not": Kind.NOT,
        "and": Kind.AND,
        "or": Kind.OR,
        "xor": Kind.XOR,
        "=": Kind.EQUAL,
        "ite": Kind.ITE,
        "bvnot": Kind.BITVECTOR_NOT,
        "bvand": Kind.BITVECTOR_AND,
        "bvor": Kind.BITVECTOR_OR,
        "bvxor": Kind.BITVECTOR_XOR,
        "bvadd": Kind.BITVECTOR_ADD,
        "bvsub": Kind.BITVECTOR_SUB,
        "bvneg": Kind.BITVECTOR_NEG,
        "bvmul": Kind.BITVECTOR_MULT,
        "bvshl": Kind.BITVECTOR_SHL,
        "bvlshr": Kind.BITVECTOR_LSHR,
        "bvashr": Kind.BITVECTOR_ASHR,
        "bvult": Kind.BITVECTOR_ULT,
        "bvule": Kind.BITVECTOR_ULE,
        "bvslt": Kind.BITVECTOR_SLT,
        "bvsle": Kind.BITVECTOR_SLE,
        "concat": Kind.BITVECTOR_CONCAT,
        "extract": Kind.BITVECTOR_EXTRACT,
        "zero_extend": Kind.BITVECTOR_ZERO_EXTEND,
        "sign_extend": Kind.BITVECTOR_SIGN_EXTEND,
    }

    def __init__(self, graph: Graph, manager: Any = None) -> None:
        super().__init__(graph)
        self.manager = cvc5.TermManager() if manager is None else manager

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
