"""The operators as Bitwuzla terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import bitwuzla
from bitwuzla import Kind

from tcformal.backends.terms.terms import TermInterpreter
from tcformal.ir.build import Graph


class BitwuzlaTerms(TermInterpreter[Any]):
    """An interpretation of the DAG as Bitwuzla terms in one term manager, by default a new one."""

    KINDS: ClassVar[Mapping[str, Any]] = {
        "not": Kind.NOT,
        "and": Kind.AND,
        "or": Kind.OR,
        "xor": Kind.XOR,
        "=": Kind.EQUAL,
        "ite": Kind.ITE,
        "bvnot": Kind.BV_NOT,
        "bvand": Kind.BV_AND,
        "bvor": Kind.BV_OR,
        "bvxor": Kind.BV_XOR,
        "bvadd": Kind.BV_ADD,
        "bvsub": Kind.BV_SUB,
        "bvneg": Kind.BV_NEG,
        "bvmul": Kind.BV_MUL,
        "bvshl": Kind.BV_SHL,
        "bvlshr": Kind.BV_SHR,
        "bvashr": Kind.BV_ASHR,
        "bvult": Kind.BV_ULT,
        "bvule": Kind.BV_ULE,
        "bvslt": Kind.BV_SLT,
        "bvsle": Kind.BV_SLE,
        "concat": Kind.BV_CONCAT,
        "extract": Kind.BV_EXTRACT,
        "zero_extend": Kind.BV_ZERO_EXTEND,
        "sign_extend": Kind.BV_SIGN_EXTEND,
    }

    def __init__(self, graph: Graph, manager: Any = None) -> None:
        super().__init__(graph)
        self.manager = bitwuzla.TermManager() if manager is None else manager

    def const_term(self, value: int, width: int) -> Any:
        """A bit-vector value."""
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), format(value, "x"), 16)

    def input_term(self, name: str, width: int) -> Any:
        """A bit-vector constant symbol."""
        return self.manager.mk_const(self.manager.mk_bv_sort(width), name)

    def apply(self, name: str, args: Sequence[Any], indices: Sequence[int], width: int | None) -> Any:
        """Build one term."""
        return self.manager.mk_term(self.KINDS[name], list(args), list(indices))
