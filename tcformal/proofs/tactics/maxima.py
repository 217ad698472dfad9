"""Two maxima of exponents side by side, which differ in what zero terms have: two trees of comparisons."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Stage
from tcformal.ir.node import Node
from tcformal.proofs.tactics.rearrange import split_max
from tcformal.proofs.tactics.sum_steps import SumSteps, TermStages


@dataclass(frozen=True, slots=True)
class Half:
    """A subtree of both maxima: their codes, what zero terms have there, and whether all terms are zero."""

    first: Node
    second: Node
    zero: Node
    #: The fact: all zero and both at the exponents of zero terms, or equal and at least those.
    fact: Node


class Maxima:
    """The trees of comparisons of two maxima, side by side.

    `apart` is what the second code is more than the first one where both stand for one exponent.
    """

    def __init__(
        self, s: SumSteps, terms: TermStages, both: tuple[Stage, Stage], units: tuple[UnitSpec, UnitSpec]
    ) -> None:
        self.s, self.both, self.all_terms = s, both, terms
        o = units[0].operands
        #: The least exponents of a product and of c that are not zero: guesses, each to be proved.
        self.least = (o.a.e_min + o.b.e_min, o.c.e_min)
        #: The codes of zero terms in both trees; none has the lowest one.
        exponents = [unit.design.zero_exponent for unit in units]
        self.nothing = [
            z - e.offset if isinstance(z, int) else 0 for z, e in zip(exponents, both, strict=True)
        ]
        self.apart = both[0].offset - both[1].offset
        self.terms = list(terms)
        #: What is proved of each term's exponent.
        self.known: list[list[Node]] = []

    def half(self, first: Node, second: Node) -> Half | None:
        """The subtree with these codes; its leaves take the terms in order."""
        g = self.s.graph
        pair, other = split_max(first), split_max(second)
        if pair is None or other is None:
            return self._leaf(first, second)
        low = self.half(pair[0], other[0])
        high = self.half(pair[1], other[1]) if low is not None else None
        if low is None or high is None:
            return None
        made = self._made(first, second, g.and_(low.zero, high.zero))
        cut = [n for h in (low, high) for n in (h.first, h.second, h.zero)]
        name = "the larger of two exponents is that on the other side"
        return made if self.s.fact(made.fact, cut, name, [low.fact, high.fact]) else None

    def _leaf(self, first: Node, second: Node) -> Half | None:
        """One term's exponent, or that of zero terms."""
        g, s, term = self.s.graph, self.s, self.terms.pop(0)
        code, zero = term["exponent"].node, term["zero"].node
        made = self._made(first, second, zero)
        given: list[Node] = []
        self.known.append(given)
        if s.code_bound(code, given) is None:
            return None
        name = "an exponent is the same on both sides"
        if s.fact(made.fact, [code, zero], name, given):
            return made
        # Codes count from below the least exponent that a term can have.
        for least in sorted({max(e - term["exponent"].offset, 1) for e in self.least}, reverse=True):
            some = g.ule(g.const(least, code.width), code)
            what = f"an exponent's code is at least {least}"
            if s.c.by_lemma(s.where, g.truth(True), some, name=what, depths=(None,)):
                given.append(some)
                return made if s.fact(made.fact, [code, zero], name, given) else None
        return None

    def _made(self, first: Node, second: Node, zero: Node) -> Half:
        g, s = self.s.graph, self.s
        codes = [s.wide(Stage(first, False, self.apart, 0)), s.wide(Stage(second, False, 0, 0))]
        lowest = [g.const(z, x.width) for z, x in zip(self.nothing, (first, second), strict=True)]
        both = g.and_(g.eq(first, lowest[0]), g.eq(second, lowest[1]))
        equal = g.and_(g.eq(*codes), g.ule(lowest[0], first), g.ule(lowest[1], second))
        return Half(first, second, zero, g.ite(zero, both, equal))


def tree(e_max: Stage) -> Stage:
    """A maximum as the tree of comparisons that it is, before its code was counted from a higher exponent."""
    x = e_max.node
    if x.op != "sub_mod" or x.args[1].op != "const":
        return e_max
    return Stage(x.args[0], False, e_max.offset - x.args[1].params[1], 0)
