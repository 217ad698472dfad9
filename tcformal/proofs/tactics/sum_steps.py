"""Lemmas about the exponents of one sum, each proved on the fields that it speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.errors import InputError
from tcformal.ir.build import Graph, Stage
from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import largest_code

#: Bits in which exponents are compared: every code, distance and offset is far below 2^(this - 2).
_WIDE = 16

TermStages = Sequence[Mapping[str, Stage]]


def terms_of(labels: Mapping[str, Stage], scope: str) -> TermStages:
    """The labelled stages of every term of one sum."""
    found: list[dict[str, Stage]] = []
    while f"{scope}.term{len(found)}.sign" in labels:
        at = f"{scope}.term{len(found)}"
        found.append({p: labels[f"{at}.{p}"] for p in ("sign", "significand", "exponent", "zero", "aligned")})
    return found


@dataclass(frozen=True, slots=True)
class SumSteps:
    """Lemmas about the stages of one sum, in one composition."""

    c: Composition
    where: str

    @property
    def graph(self) -> Graph:
        """The graph that the stages are in."""
        return self.c.graph

    def stage(self, name: str) -> Stage:
        """A labelled stage of the sum."""
        return self.graph.labels[f"{self.where}.{name}"]

    def fact(self, fact: Node, cut: Sequence[Node], name: str, given: Sequence[Node] = ()) -> bool:
        """Prove that a node of width 1 is 1 on every input."""
        return self.c.by_lemma(self.where, self.graph.truth(True), fact, given=given, cut=cut, name=name)

    def wide(self, stage: Stage) -> Node:
        """An exponent or a distance as a number of _WIDE bits, which none of them wraps."""
        g = self.graph
        if stage.node.width > _WIDE - 3 or abs(stage.offset) >= 1 << (_WIDE - 3):
            raise InputError(f"expected exponents of at most {_WIDE - 3} bits, but got {stage.node.width}")
        offset = g.const(stage.offset % (1 << _WIDE), _WIDE)
        return g.add_mod(g.zero_extend_to(stage.node, _WIDE), offset)

    def meet(self, e_max: Stage, exponent: Stage, distance: Node) -> Node:
        """1 where exponent + distance = e_max."""
        g = self.graph
        return g.eq(self.wide(e_max), g.add_mod(self.wide(exponent), self.wide(Stage(distance, False, 0, 0))))

    def code_bound(self, code: Node, facts: list[Node]) -> int | None:
        """The largest code of an exponent, proved from its fields where its width allows more."""
        g = self.graph
        most, fields = largest_code(code)
        if most < (1 << code.width) - 1:
            facts.append(g.ule(code, g.const(most, code.width)))
            if not self.fact(facts[-1], fields, f"an exponent's code is at most {most}"):
                return None
        return most
