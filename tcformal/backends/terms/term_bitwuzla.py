"""The operators as Bitwuzla terms; apart, because solvers are imported lazily."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import bitwuzla
from bitwuzla import Kind

from tcformal.backends.terms.terms import TERM_OPS, TermInterpreter
from tcformal.ir.build import Graph

#: Where Bitwuzla's name is not SMT-LIB's in capitals, with BV_ before it.
_RENAMED = {"=": "EQUAL", "bvlshr": "BV_SHR"} | {
    name: f"BV_{name.upper()}" for name in ("concat", "extract", "zero_extend", "sign_extend")
}


class BitwuzlaTerms(TermInterpreter[Any]):
    """An interpretation of the DAG as Bitwuzla terms in a new term manager."""

    KINDS: ClassVar[Mapping[str, Any]] = {
        name: getattr(Kind, _RENAMED.get(name) or re.sub("^BV", "BV_", name.upper())) for name in TERM_OPS
    }

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.manager = bitwuzla.TermManager()

    def const_term(self, value: int, width: int) -> Any:
        """A bit-vector value."""
        return self.manager.mk_bv_value(self.manager.mk_bv_sort(width), format(value, "x"), 16)

    def input_term(self, name: str, width: int) -> Any:
        """A bit-vector constant symbol."""
        return self.manager.mk_const(self.manager.mk_bv_sort(width), name)

    def apply(self, name: str, args: Sequence[Any], indices: Sequence[int], width: int | None) -> Any:
        """Build one term."""
        return self.manager.mk_term(self.KINDS[name], list(args), list(indices))
