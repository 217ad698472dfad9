"""A sum of two terms cut to odd, and the same sum with fewer bits: last bits that matter to no result."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Term
from tcformal.semantics.stages import AlignedTerm, Total


@dataclass(frozen=True, slots=True)
class MoreBits:
    """A sum of two terms, `addends` its signed terms, of which another one lacks the last `more` bits.

    Soundness: each step becomes a fact by a lemma.  (1) A term is zero, has its leading bit, or has the least
    exponent, below which no other term lies.  (2) One of both has the largest exponent; either it has its
    leading bit, or the other has that exponent, too, or is zero.  (3) A term with last bits is at most a
    quarter of the least one that has its leading bit at the largest exponent, which has none.  So one of both
    is a multiple of 2^(more + 1), and the sum is a multiple of 2^more, or no less than half that least one.
    """

    s: SumSteps
    total: Total
    addends: tuple[Node, Node]
    more: int

    def fewer(self, x: Node, bits: int) -> Node:
        """A signed number or a magnitude without its last bits, which make the one before them 1."""
        g = self.s.graph
        if not bits:
            return x
        lost = g.zero_extend_to(g.any_bit(g.extract(x, bits - 1, 0)), x.width)
        return g.or_(g.ashr(x, g.const(bits, bits.bit_length())), lost)

    def facts(self) -> tuple[Node, Node] | None:
        """That an addend is a multiple, and that the sum is one or is large; None where one is not proved."""
        s, g, root = self.s, self.s.graph, self.total.maximum
        if len(self.total.terms) != 2 or root is None or len(root.halves) != 2:
            return None
        low = max(x.term.exponent.low for x in self.total.terms)
        # Of an encoding that is taken apart, the least exponent's code is 1.
        shapes = next((made for e in (low, low + 1) if (made := self._shapes(e)) is not None), None)
        known = [self._cut(x) for x in self.total.terms]
        if shapes is None or None in known:
            return None
        x, y = self.total.terms
        either = g.or_(self._leads(x, y), self._leads(y, x))
        cut = [n for t in (x, y) for n in (t.term.significand, t.term.zero, t.term.exponent.bits)]
        if not s.fact(either, cut, "one of two terms leads", shapes):
            return None
        given = [either, *(fact for fact in known if fact is not None)]
        cut = [n for t in (x, y) for n in (t.term.sign, t.term.significand, t.term.zero, t.shift, t.aligned)]
        whole = g.or_(*(self._none(a, self.more + 1) for a in self.addends))
        total = self.total.partials[-1].node
        half = g.const(1 << (self.total.fraction_bits - 1), total.width)
        large = g.or_(g.sle(half, total), g.sle(total, g.neg_mod(half)))
        seen = g.or_(self._none(total, self.more), large)
        proved = s.fact(whole, cut, "one of two terms has no last bits", given) and s.fact(
            seen, cut, "a sum with last bits is large", given
        )
        return (whole, seen) if proved else None

    def _none(self, x: Node, bits: int) -> Node:
        return self.s.graph.is_zero(self.s.graph.extract(x, bits - 1, 0))

    def _leading(self, x: Term) -> Node:
        """1 where a term has its leading bit; a comparison, as that bit of c is a node of its own."""
        g, significand = self.s.graph, x.significand
        return g.ule(g.const(1 << (significand.width - 1), significand.width), significand)

    def _first(self, x: AlignedTerm) -> Node:
        """1 where a term has the largest exponent."""
        return self.s.graph.is_zero(x.shift)

    def _leads(self, x: AlignedTerm, y: AlignedTerm) -> Node:
        """(2) of the first of two terms."""
        g = self.s.graph
        beside = g.or_(self._leading(x.term), self._first(y), y.term.zero)
        return g.and_(self._first(x), beside)

    def _shapes(self, least: int) -> list[Node] | None:
        """(1), where the least exponent is what it is guessed to be."""
        s, g, number = self.s, self.s.graph, self.s.number(least)
        made: list[Node] = []
        for term in (x.term for x in self.total.terms):
            own = s.wide(term.exponent.bits, term.exponent.low)
            leading = g.or_(term.zero, self._leading(term), g.eq(own, number))
            facts = {
                "no exponent lies below the least": g.or_(term.zero, g.sle(number, own)),
                "a term has its leading bit, or the least exponent": leading,
                "an exponent is in its range": term.exponent.bounded(g),
            }
            if not all(s.of_all(x, name) for name, x in facts.items()):
                return None
            made += facts.values()
        return made

    def _cut(self, x: AlignedTerm) -> Node | None:
        """(3), and that a zero has no aligned bits."""
        s, g, term, bits = self.s, self.s.graph, x.term, self.total.fraction_bits
        empty = s.empty(term)
        if empty is None:
            return None
        plain = self._none(x.aligned, self.more + 1)
        top, quarter = (g.const(1 << n, x.aligned.width) for n in (bits, bits - 2))
        small = g.or_(plain, g.ule(x.aligned, quarter))
        full = g.or_(g.not_(self._leading(x.term)), g.ule(top, x.aligned))
        first = g.or_(g.not_(self._first(x)), g.and_(plain, full))
        none = g.or_(g.not_(term.zero), g.is_zero(x.aligned))
        fact, cut = all_of(g, [small, first, none]), [term.sign, term.significand, x.shift]
        if term.zero is not g.is_zero(term.significand):
            cut.append(term.zero)
        return fact if s.fact(fact, cut, "a term with last bits is small", [empty]) else None
