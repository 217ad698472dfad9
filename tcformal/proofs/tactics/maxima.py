"""Two maxima of exponents side by side, which differ in what zero terms have: two trees of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.ir.walk import met
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import AlignedTerm, Maximum


@dataclass(frozen=True, slots=True)
class Half:
    """A subtree of both maxima: their codes, what zero terms have there, and whether all terms are zero."""

    first: Node
    second: Node
    zero: Node
    #: The fact: all zero and both at the exponents of zero terms, or equal and at least those.
    fact: Node


class Maxima:
    """The trees of comparisons of two maxima of the same terms, side by side.

    `nothing` are the exponents of zero terms in both; `apart` is what the second code is more than the first
    one where both stand for one exponent.
    """

    def __init__(
        self,
        s: SumSteps,
        terms: Sequence[AlignedTerm],
        both: tuple[Maximum, Maximum],
        nothing: tuple[Exponent, Exponent],
        least: Sequence[int],
    ) -> None:
        self.s, self.both, self.all_terms = s, both, [x.term for x in terms]
        #: The least exponents of terms that are not zero: guesses, each to be proved.
        self.least = least
        self.nothing = nothing
        self.apart = both[0].low - both[1].low
        self.terms = list(self.all_terms)
        #: What is proved of each term's exponent.
        self.known: list[list[Node]] = []

    def half(self, first: Maximum, second: Maximum) -> Half | None:
        """The subtree of these maxima; its leaves take the terms in order."""
        g = self.s.graph
        alone = _alone(first), _alone(second)
        if alone != (None, None):
            return self._beside_nothing(first, second, self.half(alone[0] or first, alone[1] or second))
        if not first.halves or not second.halves or not self.terms:
            return self._leaf(first.code, second.code)
        low = self.half(first.halves[0], second.halves[0])
        high = self.half(first.halves[1], second.halves[1]) if low is not None else None
        if low is None or high is None:
            return None
        made = self._made(first.code, second.code, g.and_(low.zero, high.zero))
        cut = [n for h in (low, high) for n in (h.first, h.second, h.zero)]
        name = "the larger of two exponents is that on the other side"
        return made if self.s.fact(made.fact, cut, name, [low.fact, high.fact]) else None

    def _beside_nothing(self, first: Maximum, second: Maximum, inner: Half | None) -> Half | None:
        """Two subtrees of which one has a constant beside the other's terms, that of a zero."""
        if inner is None:
            return None
        made = self._made(first.code, second.code, inner.zero)
        name, cut = "a constant zero beside them", [inner.first, inner.second, inner.zero]
        return made if self.s.fact(made.fact, cut, name, [inner.fact]) else None

    def _leaf(self, first: Node, second: Node) -> Half | None:
        """One term's exponent, or that of zero terms."""
        if not self.terms:
            return None
        g, s, term = self.s.graph, self.s, self.terms.pop(0)
        code, zero = term.exponent.bits, term.zero
        free = {n.index for n in s.free}
        if any(n.index in free for n in met([first, second], {code.index, zero.index})[0]):
            return None  # one of them is another number's
        made = self._made(first, second, zero)
        given: list[Node] = []
        self.known.append(given)
        if s.code_bound(code, given) is None:
            return None
        name = "an exponent is the same on both sides"
        if s.fact(made.fact, [code, zero], name, given):
            return made
        # Codes count from below the least exponent that a term can have.
        for least in sorted({max(e - term.exponent.low, 1) for e in self.least}, reverse=True):
            some = g.ule(g.const(least, code.width), code)
            what = f"an exponent's code is at least {least}"
            if s.c.by_lemma(s.where, g.truth(True), some, name=what, depths=(None,)):
                given.append(some)
                return made if s.fact(made.fact, [code, zero], name, given) else None
        return None

    def _made(self, first: Node, second: Node, zero: Node) -> Half:
        g, s = self.s.graph, self.s
        codes = [s.wide(first, self.apart), s.wide(second)]
        lowest = [
            g.zero_extend_to(z.rebased(g, tree.low, z.high), x.width)
            for z, tree, x in zip(self.nothing, self.both, (first, second), strict=True)
        ]
        both = g.and_(g.eq(first, lowest[0]), g.eq(second, lowest[1]))
        equal = g.and_(g.eq(*codes), g.ule(lowest[0], first), g.ule(lowest[1], second))
        return Half(first, second, zero, g.ite(zero, both, equal))


def _alone(x: Maximum) -> Maximum | None:
    """The terms beside which a maximum has a constant; None where it has none."""
    alone = len(x.halves) == 2 and not x.halves[1].halves and x.halves[1].code.op == "const"
    return x.halves[0] if alone else None


def tree_replaced(c: Composition, x: Maximum) -> Maximum:
    """A maximum with every code built again on the representatives of what it depends on."""
    return Maximum(c.replaced(x.code), x.low, tuple(tree_replaced(c, half) for half in x.halves))
