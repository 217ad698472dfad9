"""Lemmas about the exponents of one sum, each proved on the fields that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import largest_code
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Maximum

#: Bits in which exponents are compared: every code, distance and offset is far below 2^(this - 2).
_WIDE = 24


@dataclass(frozen=True, slots=True)
class SumSteps:
    """Lemmas about the stages of one sum, in one composition."""

    c: Composition
    where: str

    @property
    def graph(self) -> Graph:
        """The graph that the stages are in."""
        return self.c.graph

    def fact(self, fact: Node, cut: Sequence[Node], name: str, given: Sequence[Node] = ()) -> bool:
        """Prove that a node of width 1 is 1 on every input."""
        return self.c.by_lemma(self.where, self.graph.truth(True), fact, given=given, cut=cut, name=name)

    def wide(self, code: Node, low: int = 0) -> Node:
        """code + low as a number of _WIDE bits, which no exponent or distance wraps."""
        g = self.graph
        if code.width > _WIDE - 3 or abs(low) >= 1 << (_WIDE - 3):
            raise InputError(f"expected exponents of at most {_WIDE - 3} bits, but got {code.width}")
        return g.add_mod(g.zero_extend_to(code, _WIDE), g.const(low % (1 << _WIDE), _WIDE))

    def meet(self, e_max: Maximum, exponent: Exponent, distance: Node) -> Node:
        """1 where exponent + distance = e_max."""
        g = self.graph
        end = g.add_mod(self.wide(exponent.bits, exponent.low), self.wide(distance))
        return g.eq(self.wide(e_max.code, e_max.low), end)

    def code_bound(self, code: Node, facts: list[Node]) -> int | None:
        """The largest code of an exponent, proved from its fields where its width allows more."""
        g = self.graph
        most, fields = largest_code(code)
        if most < (1 << code.width) - 1:
            facts.append(g.ule(code, g.const(most, code.width)))
            if not self.fact(facts[-1], fields, f"an exponent's code is at most {most}"):
                return None
        return most
