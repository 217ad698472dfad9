"""A sum that is zero, or one normal number, or whose last bit is no less than the least normal number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tcformal.ir.node import Node
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.two_maxima import TwoMaxima
from tcformal.semantics.align import all_of
from tcformal.semantics.stages import AlignedTerm, DotStep, Maximum, Total


@dataclass(frozen=True, slots=True)
class NeverTiny:
    """A sum of terms of which all but the one at place `beside` are so large that no rest of them is tiny.

    Ranges and units: `e_min` is the exponent of the least normal number.
    Soundness: each step becomes a fact by a lemma.  (1) A term that is not `beside` is zero, or its exponent
    is so large that the sum's last bit is no less than 2^e_min.  (2) So is the largest exponent then, as no
    term lies above it.  (3) Where all these are zero, `beside` has the largest exponent or is zero, too; it
    has its leading bit, and an exponent of at least `e_min`.  (4) The sum is zero, or no less than 2^e_max,
    which is no less than 2^e_min, or its last bit is as (2) says.
    """

    s: SumSteps
    total: Total
    beside: int
    e_min: int

    def fact(self) -> Node | None:
        """(4); None where it is not proved."""
        s, g, total, root = self.s, self.s.graph, self.total, self.total.maximum
        if root is None or not total.terms:
            return None
        floor, own = self.e_min + total.fraction_bits, total.terms[self.beside]
        known = [self._leading(own)]
        for x, below in zip(total.terms, TwoMaxima(s, (root, root), 0, 0).below(), strict=True):
            if None in known or below is None:
                return None
            known.append(self._above(x, self.e_min if x is own else floor, below))
        known.append(self._alone([x for x in total.terms if x is not own], own))
        given = [fact for fact in known if fact is not None]
        if len(given) != len(known):
            return None
        bits = total.bits
        one = g.const(1 << total.fraction_bits, bits.width)
        size = g.or_(g.sle(one, bits), g.sle(bits, g.neg_mod(one)))
        fact = g.or_(
            g.is_zero(bits), g.and_(size, self._reaches(root, self.e_min)), self._reaches(root, floor)
        )
        cut = [n for x in total.terms for n in (x.term.sign, x.term.zero, x.aligned)]
        cut += [own.shift, root.code]
        return fact if s.fact(fact, cut, "a sum is zero, or no tiny number", given) else None

    def _reaches(self, root: Maximum, floor: int) -> Node:
        return self.s.graph.sle(self.s.number(floor), self.s.code(root))

    def _above(self, x: AlignedTerm, floor: int, below: list[Node]) -> Node | None:
        """(1) and (2): a term is zero, with no aligned bits, or the largest exponent is at least `floor`."""
        s, g, term, root = self.s, self.s.graph, x.term, self.total.maximum
        own = g.or_(term.zero, g.sle(s.number(floor), s.wide(term.exponent.bits, term.exponent.low)))
        empty = self._empty(x)
        if empty is None or root is None or not s.of_all(own, f"a term is zero or at least 2^{floor}"):
            return None
        fact = g.or_(g.and_(term.zero, g.is_zero(x.aligned)), self._reaches(root, floor))
        cut = [term.zero, term.exponent.bits, x.aligned, root.code]
        name, inside = "so is the largest exponent beside a term that is not zero", term.exponent.bounded(g)
        given = [own, empty, *below]
        if s.of_all(inside, "an exponent is in its range"):
            given.append(inside)
        return fact if s.fact(fact, cut, name, given) else None

    def _empty(self, x: AlignedTerm) -> Node | None:
        """That a zero has no aligned bits."""
        s, g, term, given = self.s, self.s.graph, x.term, self.s.empty(x.term)
        if given is None:
            return None
        fact = g.or_(g.not_(term.zero), g.is_zero(x.aligned))
        cut = [term.sign, term.significand, term.zero, x.shift]
        return fact if s.fact(fact, cut, "nor aligned bits", [given]) else None

    def _leading(self, x: AlignedTerm) -> Node | None:
        """(3), of a term's bits: zero, or its leading bit where it has the largest exponent."""
        s, g, term, empty = self.s, self.s.graph, x.term, self._empty(x)
        least = g.const(1 << (term.significand.width - 1), term.significand.width)
        full = g.or_(term.zero, g.ule(least, term.significand))
        one = g.const(1 << self.total.fraction_bits, x.aligned.width)
        first = g.or_(term.zero, g.not_(g.is_zero(x.shift)), g.ule(one, x.aligned))
        if empty is None or not s.of_all(full, "a term has its leading bit"):
            return None
        fact, cut = g.and_(empty, first), [term.sign, term.significand, term.zero, x.shift, x.aligned]
        aligned = s.fact(first, cut[:-1], "so has it aligned", [full])
        return fact if aligned and s.fact(fact, cut, "both", [empty, first]) else None

    def _alone(self, others: list[AlignedTerm], own: AlignedTerm) -> Node | None:
        """(3), of exponents."""
        s, g = self.s, self.s.graph
        none = all_of(g, [x.term.zero for x in others])
        fact = g.or_(g.not_(none), own.term.zero, g.is_zero(own.shift))
        cut = [n for x in self.total.terms for n in (x.term.zero, x.term.exponent.bits)]
        ranges = [x.term.exponent.bounded(g) for x in self.total.terms]
        if not all(s.of_all(x, "an exponent is in its range") for x in ranges):
            return None
        name = "a number beside zeros has the largest exponent"
        return fact if s.fact(fact, cut, name, ranges) else None


def never_tiny(s: SumSteps, step: DotStep) -> list[Node]:
    """The fact that `NeverTiny` proves of a step's sum unless a term is NaN or Inf; none without a proof.

    The term beside the others is the one whose exponents reach furthest down; any such one where several do.
    """
    total, found = step.total, step.specials
    if step.rounded is None or total is None or found is None or len(total.terms) < 2:
        return []
    lows, e_min = [x.term.exponent.low for x in total.terms], step.rounded.target.e_min
    far = [i for i, low in enumerate(lows) if low < e_min + total.fraction_bits]
    if len(far) > 1 and len(total.terms) > 2:
        return []
    if s.free:
        flags = s.c.all_replaced([found.some_nan, found.positive_inf, found.negative_inf])
        s = replace(s, unless=s.graph.or_(*flags))
    for beside in far or [lows.index(min(lows))]:
        fact = NeverTiny(s, total, beside, e_min).fact()
        if fact is not None:
            return [s.said(fact)]
    return []
