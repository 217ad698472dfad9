"""Two sums of the same terms that differ in the exponents of zero terms, all below those of other terms."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.proofs.tactics.alike.added_c import rounded_with_c
from tcformal.proofs.tactics.alike.same_totals import same_totals, without_nothing
from tcformal.proofs.tactics.maxima import Half, Maxima, tree_replaced
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.truncated import TruncatedSum
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import AlignedTerm


class ZeroTerms:
    """Two sums, `nothing` the exponents of their zero terms; `least` guesses of the others' least ones.

    Soundness: as that of claim zero-exponent; a term that is the constant zero adds nothing on either side.
    """

    def __init__(
        self,
        s: SumSteps,
        sums: tuple[TruncatedSum, TruncatedSum],
        nothing: tuple[Exponent, Exponent],
        least: Sequence[int],
    ) -> None:
        self.s, self.sums, self.nothing, self.least = s, sums, nothing, least

    def equal(self) -> bool:
        """Make what both sums round to one number part by part; False where that is not proved."""
        (one, two), s = self.sums, self.s
        c, g = s.c, s.graph
        if one.total.maximum is None or two.total.maximum is None:
            return False
        totals = [without_nothing(c, s.where, x.total) for x in (one, two)]
        rows = totals[0].terms, totals[1].terms
        if not rows[0] or len(rows[0]) != len(rows[1]):
            return False
        trees = (one.total.maximum, tree_replaced(c, two.total.maximum))
        maxima = Maxima(s, rows[0], trees, self.nothing, self.least)
        root = maxima.half(*trees)
        if root is None:
            return False
        empty = []
        for term, other, known in zip(*rows, maxima.known, strict=True):
            fact = self._kept(term, other, root, known, maxima)
            if fact is None:
                return False
            empty.append(fact)
        if not same_totals(c, totals[0], totals[1]):
            return False
        total = totals[0].bits
        none = g.or_(g.not_(root.zero), g.is_zero(total))
        cut = [root.zero, *(node for t in rows[0] for node in (t.term.sign, t.aligned))]
        if not s.fact(none, cut, "a sum of zero terms is zero", empty):
            return False
        given, cut = [root.fact, none], [total, root.first, root.second, root.zero]
        # A tree's sum has no word of a block.
        pairs = list(zip(one.rounded, c.all_replaced(two.rounded), strict=False))
        flags = [one.specials.result.nan, one.specials.positive_inf, one.specials.negative_inf]
        if one.added is not None and two.added is not None:
            return rounded_with_c(s, (one.added, two.added), pairs, given, cut, flags)
        return c.by_lemmas(
            one.scope, pairs, given=given, cut=[*cut, *flags],
            name="what is rounded at one of two maxima is rounded at the other",
        )  # fmt: skip

    def _kept(
        self,
        x: AlignedTerm,
        y: AlignedTerm,
        root: Half,
        known: Sequence[Node],
        maxima: Maxima,
    ) -> Node | None:
        """(2): a term is kept alike on both sides; the fact that it is kept as zero where all are zero."""
        c, g = self.s.c, self.s.graph
        s, zero, kept, significand, other = (
            self.s,
            x.term.zero,
            x.aligned,
            x.term.significand,
            c.replaced(y.aligned),
        )
        none = g.or_(g.not_(zero), g.is_zero(significand))
        name = "a term that is zero has a significand of zero"
        if not c.by_lemma(s.where, g.truth(True), none, name=name, depths=(None,)):
            return None
        alive = g.or_(zero, g.not_(root.zero))
        if not s.fact(alive, _leaves_of_and(root.zero), "not all terms are zero where one is not"):
            return None
        cut = [significand, zero, x.term.exponent.bits, root.first, root.second, root.zero]
        given = [none, alive, root.fact, *known]
        gone = g.or_(g.not_(root.zero), g.is_zero(kept))
        name = "a term is kept alike below equal maxima"
        proved = c.by_lemma(s.where, kept, other, given=given, cut=cut, name=name)
        if not proved:
            # Distances of other widths are equal only because no exponent is above its maximum.
            met = self._met(x, (x.shift, c.replaced(y.shift)), maxima)
            proved = met is not None and c.by_lemma(
                s.where, kept, other, given=[*given, *met], cut=cut, name=name
            )
        proved = proved and s.fact(gone, cut, "a zero term is kept as zero", given)
        return gone if proved else None

    def _met(self, x: AlignedTerm, shifts: tuple[Node, Node], maxima: Maxima) -> list[Node] | None:
        """On both sides, the term's exponent and its distance are the maximum, unless the term is zero."""
        facts: list[Node] = []
        g = self.s.graph
        cut = [node for t in maxima.all_terms for node in (t.exponent.bits, t.zero)]
        given = [fact for known in maxima.known for fact in known]
        for shift, e_max in zip(shifts, maxima.both, strict=True):
            facts.append(g.or_(x.term.zero, self.s.meet(e_max, x.term.exponent, shift)))
            name = f"e_max of {len(maxima.all_terms)} exponents is one exponent and its distance"
            if not self.s.fact(facts[-1], cut, name, given):
                return None
        return facts


def _leaves_of_and(x: Node) -> list[Node]:
    """The operands of a tree of conjunctions."""
    return [x] if x.op != "and_" else [leaf for a in x.args for leaf in _leaves_of_and(a)]
