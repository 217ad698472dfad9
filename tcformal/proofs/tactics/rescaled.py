"""Two sums of the same numbers, written with other significands and exponents: one result of both.

A number that is not normalised has a larger exponent, and so may a sum that takes it in.  Where that moves
the largest exponent, it is so small that alignment cuts nothing off on either side: one sum is then the
other one shifted, and both are rounded to one number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.lemmas import frontier
from tcformal.proofs.tactics.alike.added_c import rounded_with_c
from tcformal.proofs.tactics.alike.more_bits import MoreBits
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.two_maxima import TwoMaxima
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Term
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import AlignedTerm, DotStep, Total


@dataclass(frozen=True, slots=True)
class Guesses:
    """What is tried, and used only where it is proved.

    Ranges and units: exponents of both sides are at most `apart` apart, and equal above `highest`; every
    term is a multiple of 2^lowest.
    """

    apart: int
    highest: int
    lowest: int


@dataclass(frozen=True, slots=True)
class _Shifted:
    """A node of the first sum that is one of the second, shifted by the distance, and the fact that it is.

    Ranges and units: `most` bounds the magnitude of the first; `whole` is the fact that the second is a
    multiple of the least bit of all terms.
    """

    first: Node
    second: Node
    most: int
    fact: Node
    whole: Node


class Rescaled:
    """Two steps that sum the same terms in the same order; exponents of the second are never smaller.

    Soundness: the largest exponents, `apart` and `highest` are guesses; all that is used of them becomes a
    fact by a lemma, given facts about what it is made of.  (1) Of each pair of exponents, and so of the
    largest ones, the second is the same, or above by at most `apart` and at most `highest`.  (2) No term lies
    above the largest exponent, and codes stand for what they can stand for.  (3) A term's aligned bits are
    those of the other side shifted by the distance of the largest exponents: with none between them both are
    cut alike, below `highest` none is cut, as every term is a multiple of 2^lowest.  (4) So is each partial
    sum, within its bound.  (5) For each distance what is rounded is one number, again such a multiple, which
    `handed` keeps for sums that take it in.  Where the second sum has more bits, a term without the last of
    them is the first one's, and so is the sum, as `MoreBits` says.
    """

    def __init__(
        self, s: SumSteps, steps: tuple[DotStep, DotStep], guesses: Guesses, handed: list[Node],
        added: tuple[Total, Total] | None = None,
    ) -> None:  # fmt: skip
        self.s, self.c, self.steps, self.handed, self.added = s, s.c, steps, handed, added
        self.apart, self.highest, self.lowest = guesses.apart, guesses.highest, guesses.lowest
        self.maximum: Node | None = None
        self.ranges: list[Node] = []
        self.more: MoreBits | None = None  # where the second sum has more bits
        self.last: tuple[Node, Node] | None = None

    def equal(self) -> bool:
        """Make what both steps round to one number part by part; False where that is not proved."""
        one, two = (x.total for x in self.steps)
        if one is None or two is None or one.maximum is None or two.maximum is None:
            return False
        if len(one.terms) != len(two.terms) or not self._counted(one, two):
            return False
        self.roots = one.maximum, two.maximum
        exponents = TwoMaxima(self.s, self.roots, self.apart, self.highest)
        self.maximum = exponents.proved()
        ranges = exponents.bounded((one.e_max, two.e_max))
        if self.maximum is None or ranges is None:
            return False
        self.ranges = ranges
        known = {}
        for x, y, below in zip(one.terms, two.terms, exponents.below(), strict=True):
            leaf = None if below is None else self._term(x, y, below)
            if leaf is None:
                return False
            known[leaf.first.index, leaf.second.index] = leaf
        total = self._sum(one, two, known)
        if total is None or (self.added is not None and (self.more, self.s.unless) != (None, None)):
            return False
        return self._rounded(total) if self.added is None else self._with_c(total)

    def _counted(self, one: Total, two: Total) -> bool:
        """Whether the second sum has the bits of the first, or more that are known to matter little."""
        more = two.fraction_bits - one.fraction_bits
        few = two.fraction_bits < more + 2
        if not more or few or len(two.terms) != 2 or not 0 < more <= self.apart:
            return not more
        x, y = (self._addend(x, two) for x in two.terms)
        self.more = MoreBits(self.s, two, (x, y), more)
        self.last = self.more.facts()
        return self.last is not None

    def _distance(self, width: int) -> Node:
        """How far the second largest exponent lies above the first."""
        g = self.c.graph
        return g.extract(g.sub_mod(*(self.s.code(x) for x in reversed(self.roots))), width - 1, 0)

    # ------------------------------------------------------------------ terms and sums
    def _term(self, x: AlignedTerm, y: AlignedTerm, below: Sequence[Node]) -> _Shifted | None:
        """(3), and the same of the signed terms."""
        c, g = self.c, self.c.graph
        p, q = x.term, y.term
        if not (c.equal(p.sign, q.sign) and c.equal(p.zero, q.zero)):
            return None
        value = self._one_value(x.term, y.term)
        inside = [t.exponent.bounded(g) for t in (p, q)]
        if value is None or self.maximum is None:
            return None
        if not all(self.s.of_all(fact, "an exponent is in its range") for fact in inside):
            return None
        wide = max(x.aligned.width, y.aligned.width) + self.apart
        kept = self._is_shifted(*(g.zero_extend_to(t.aligned, wide) for t in (x, y)))
        roots = [root.code for root in self.roots]
        leaves = [p.significand, q.significand, p.exponent.bits, q.exponent.bits]
        if p.zero is not g.is_zero(p.significand):
            leaves.append(p.zero)
        given = [*value, *inside, self.maximum, *self.ranges, *below]
        if not self.s.fact(kept, [*leaves, *roots], "a term's aligned bits, shifted", given):
            return None
        one, two = map(self._addend, (x, y), self._totals())
        most, bounds = self._bound(x)
        fact, whole = self._fact(one, two, most), self._is_whole(two, self._lsb())
        cut = [p.sign, x.aligned, y.aligned, *roots]
        even = self._is_whole(y.aligned, self._lsb())
        proved = (
            self.s.fact(even, [*leaves, *roots], "aligned bits stand for a multiple", given)
            and self.s.fact(fact, cut, "a signed term, shifted", [kept, self.maximum, *bounds])
            and self.s.fact(whole, cut, "so does a signed term", [even])
        )
        return _Shifted(one, two, most, fact, whole) if proved else None

    def _bound(self, x: AlignedTerm) -> tuple[int, list[Node]]:
        """What an aligned term of the first sum is at most, with the fact for a product."""
        g, widest = self.c.graph, (1 << x.aligned.width) - 1
        full = math.prod((1 << factor.width) - 1 for factor in x.term.factors)
        most = (full << self._totals()[0].fraction_bits) >> x.term.fraction_bits
        if not x.term.factors or most >= widest:
            return widest, []
        significand = x.term.significand
        small, kept = (g.ule(n, g.const(m, n.width)) for n, m in ((significand, full), (x.aligned, most)))
        proved = self.s.fact(small, x.term.factors, "a product is at most that of the largest factors")
        cut = [significand, x.term.exponent.bits, self.roots[0].code]
        proved = proved and self.s.fact(kept, cut, f"aligned, it is at most {most}", [small])
        return (most, [kept]) if proved else (widest, [])

    def _one_value(self, p: Term, q: Term) -> list[Node] | None:
        """Facts: a zero has no significand, both terms have one value, and it is a multiple."""
        g = self.c.graph
        whole = self._is_whole(q.significand, self._weight(q))
        if p.significand is q.significand and p.exponent.bits is q.exponent.bits:
            # What was proved of sums before speaks of this one where it takes their numbers in.
            self.c.all_replaced(self.handed)
            nothing = self.s.empty(p) if self.s.of_all(whole, "a multiple") else None
            return None if nothing is None else [whole, nothing]
        up = max(p.fraction_bits, q.fraction_bits)
        width = max(t.significand.width + up - t.fraction_bits for t in (p, q)) + self.apart
        first, second = (
            g.zero_extend_to(g.shift_left_const(t.significand, up - t.fraction_bits), width) for t in (p, q)
        )
        codes = [self.s.wide(t.exponent.bits, t.exponent.low) for t in (p, q)]
        distance = g.sub_mod(codes[1], codes[0])
        moved = g.shl_mod(second, g.extract(distance, self.s.bits // 2 - 1, 0))
        small = g.ule(distance, g.const(self.apart, self.s.bits))
        nothing = g.and_(g.is_zero(first), g.is_zero(second))
        value = g.ite(p.zero, nothing, g.and_(small, g.eq(first, moved)))
        names = "one value of both terms", "a multiple"
        proved = all(self.s.of_all(x, name) for x, name in zip((value, whole), names, strict=True))
        return [value, whole] if proved else None

    def _weight(self, x: Term) -> Node:
        """The exponent of a term's lowest bit, in `bits` bits."""
        return self.s.wide(x.exponent.bits, x.exponent.low - x.fraction_bits)

    def _lsb(self) -> Node:
        """The exponent of the lowest bit of the second sum."""
        g, s = self.c.graph, self.s
        bits = self._totals()[1].fraction_bits
        return g.sub_mod(self.s.code(self.roots[1]), g.const(bits, s.bits))

    def _is_whole(self, x: Node, lsb: Node) -> Node:
        """1 where x, of which the lowest bit weighs 2^lsb, is a multiple of 2^lowest."""
        return self.s.multiple(x, lsb, self.lowest)

    def _totals(self) -> list[Total]:
        return [x.total for x in self.steps if x.total is not None]

    def _addend(self, x: AlignedTerm, total: Total) -> Node:
        """A signed term as the partial sums take it."""
        signed = signed_magnitude(self.c.graph, x.term.sign, x.aligned)
        return self.c.graph.wrap_to_mod(signed, total.partials[-1].node.width)

    def _is_shifted(self, first: Node, second: Node) -> Node:
        g, width = self.c.graph, self.apart.bit_length()
        distance = self._distance(width)
        if self.more is None:
            return g.eq(first, g.shl_mod(second, distance))
        more = self.more.more
        moved = g.shl_mod(second, g.sub_mod(distance, g.const(more, width)))
        for d in range(more):
            moved = g.ite(g.eq(distance, g.const(d, width)), self.more.fewer(second, more - d), moved)
        return g.eq(first, moved)

    def _fact(self, first: Node, second: Node, most: int) -> Node:
        """(4) of two numbers in two's complement."""
        g = self.c.graph
        wide = max(first.width, second.width) + self.apart
        shifted = self._is_shifted(*(g.sign_extend_to(x, wide) for x in (first, second)))
        top = g.const(most, first.width)
        return all_of(g, [shifted, g.sle(first, top), g.sle(g.neg_mod(top), first)])

    def _sum(self, one: Total, two: Total, known: dict[tuple[int, int], _Shifted]) -> _Shifted | None:
        """(4) of every partial sum; the last one."""
        made, roots = None, [root.code for root in self.roots]
        for x, y in zip(one.partials, two.partials, strict=True):
            parts = [known.get((p.index, q.index)) for p, q in zip(x.of, y.of, strict=True)]
            below = [p for p in parts if p is not None]
            if len(below) != 2 or self.maximum is None:
                return None
            most = sum(p.most for p in below)
            if most >> (x.node.width - 1):
                return None
            fact = self._fact(x.node, y.node, most)
            cut = [*(n for p in below for n in (p.first, p.second)), *roots]
            given = [self.maximum, *(p.fact for p in below), *([] if self.last is None else self.last[:1])]
            if not self.s.fact(fact, cut, "a partial sum, shifted", given):
                return None
            whole, given = self._is_whole(y.node, self._lsb()), [p.whole for p in below]
            if not self.s.fact(whole, [*(p.second for p in below), roots[1]], "the sum of multiples", given):
                return None
            made = known[x.node.index, y.node.index] = _Shifted(x.node, y.node, most, fact, whole)
        return made

    # ------------------------------------------------------------------ rounding
    def _with_c(self, total: _Shifted) -> bool:
        """(5), with c added."""
        known = [total.fact, *self.ranges, *([] if self.maximum is None else [self.maximum])]
        cut = [total.first, total.second, *(root.code for root in self.roots)]
        pairs = zip(*(x.rounded.parts for x in self.steps if x.rounded is not None), strict=True)
        return self.added is not None and rounded_with_c(self.s, self.added, list(pairs), known, cut)

    def _rounded(self, total: _Shifted) -> bool:
        """(5), for each distance, and what follows for all."""
        one, two = (x.rounded for x in self.steps)
        if one is None or two is None or self.maximum is None:
            return False
        c, g = self.c, self.c.graph
        firsts, seconds = one.parts, two.parts
        pairs, roots = list(zip(firsts, seconds, strict=True)), [root.code for root in self.roots]
        shared = frontier(firsts, seconds, 0)
        own = [n for x in self._totals() for n in (x.bits, x.partials[-1].node)]
        cut = [total.first, total.second, *roots]
        cut += [n for n in reachable(firsts) if n.index in shared and n not in (*cut, *own)]
        same = all_of(g, [g.eq(x, y) for x, y in pairs])
        facts = []
        distance = self._distance(self.s.bits)
        for d in range(self.apart + 1):
            facts.append(g.or_(g.not_(g.eq(distance, g.const(d, self.s.bits))), same))
            name = f"one number {d} bits apart"
            given = [total.fact, self.maximum, *self.ranges, *([] if self.last is None else self.last[1:])]
            if not self.s.fact(facts[-1], cut, name, given):
                return False
        given, cut = [self.maximum, *facts], [*firsts, *seconds, *roots]
        if self.s.unless is not None:
            return self.s.fact(same, cut, "one number", given)
        if not c.by_lemmas(self.s.where, pairs, name="one number", given=given, cut=cut):
            return False
        term = two.result.term
        whole = self._is_whole(term.significand, self._weight(term))
        ranged, cut = term.exponent.bounded(g), [total.second, roots[1]]
        if self.s.fact(whole, cut, "what is rounded is a multiple", [total.whole]):
            self.handed.append(whole)
        if self.s.fact(ranged, cut, "what is rounded is in its range"):
            self.handed.append(ranged)
        return True
