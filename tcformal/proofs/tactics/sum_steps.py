"""Lemmas about the exponents of one sum, each proved on the fields that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import largest_code
from tcformal.semantics.number import Exponent, Term
from tcformal.semantics.stages import Maximum


@dataclass(frozen=True, slots=True)
class SumSteps:
    """Lemmas about the stages of one sum, in one composition.

    Ranges and units: exponents are compared in `bits` bits: every code, distance and offset has to be far
    below 2^(bits - 2).
    """

    c: Composition
    where: str
    bits: int = 16
    #: Numbers below the sum that stand for any numbers of which `known` holds.
    free: Sequence[Node] = field(default=())
    known: Sequence[Node] = field(default=())
    #: Where this is 1, as some term is NaN or Inf, nothing is said; None speaks of all inputs.
    unless: Node | None = None

    @property
    def graph(self) -> Graph:
        """The graph that the stages are in."""
        return self.c.graph

    def said(self, fact: Node) -> Node:
        """What is proved in the place of a fact: that it holds, unless nothing is said of the sum."""
        if self.unless is None or self.c.equal(fact, self.graph.truth(True)):
            return fact
        return self.graph.or_(self.unless, fact)

    def fact(self, fact: Node, cut: Sequence[Node], name: str, given: Sequence[Node] = ()) -> bool:
        """Prove that a node of width 1 is 1 on every input of which something is said."""
        given = [self.said(x) for x in given]
        cut = cut if self.unless is None else [*cut, self.unless]
        return self._proved(self.said(fact), given, cut, name)

    def of_all(self, fact: Node, name: str) -> bool:
        """Prove that a node of width 1 is 1 on all inputs, or all free numbers, that it depends on."""
        free = {n.index for n in self.free if n.op != "const"}
        about = [(x, met([x], free)[1]) for x in self.known]
        for said in (fact, self.said(fact)):
            # Numbers further down matter to these only by what is known of these, and of other parts of them.
            cut = {n.index: n for n in met([said], free)[1]}
            own = set(cut)
            cut |= {n.index: n for _, parts in about if any(n.index in own for n in parts) for n in parts}
            given = [x for x, parts in about if cut and all(n.index in cut for n in parts)]
            if self._proved(said, given, list(cut.values()), name):
                return True
        return False

    def empty(self, x: Term) -> Node | None:
        """That a zero has no significand; None where it is not proved."""
        g = self.graph
        fact = g.or_(g.not_(x.zero), g.is_zero(x.significand))
        return fact if self.of_all(fact, "a zero has no bits") else None

    def _proved(self, said: Node, given: Sequence[Node], cut: Sequence[Node], name: str) -> bool:
        """Prove that a node is 1: on what is cut, or on all inputs where nothing is."""
        true = self.graph.truth(True)
        how = cut or None
        return self.c.by_lemma(self.where, true, said, given=given, cut=how, name=name, depths=(None,))

    def code(self, x: Maximum) -> Node:
        """The exponent of a maximum."""
        return self.wide(x.code, x.low)

    def wide(self, code: Node, low: int = 0) -> Node:
        """code + low as a number of `bits` bits, which no exponent or distance wraps."""
        g, bits = self.graph, self.bits
        if code.width > bits - 3 or abs(low) >= 1 << (bits - 3):
            raise InputError(f"expected exponents of at most {bits - 3} bits, but got {code.width}")
        offset = g.const(low % (1 << bits), bits)
        return g.add_mod(g.zero_extend_to(code, bits), offset)

    def number(self, exponent: int) -> Node:
        """An exponent in `bits` bits."""
        return self.graph.const(exponent % (1 << self.bits), self.bits)

    def multiple(self, x: Node, lsb: Node, lowest: int) -> Node:
        """1 where x, of which the lowest bit weighs 2^lsb, is a multiple of 2^lowest."""
        g, least = self.graph, self.number(lowest)
        below = g.ite(g.slt(lsb, least), g.sub_mod(least, lsb), self.number(0))
        return g.eq(x, g.shl_mod(g.lshr(x, below), below))

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
