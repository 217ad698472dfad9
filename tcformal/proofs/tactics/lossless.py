"""Sums of a unit that lose nothing of their terms: each is a count of the window times a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.tactics.exact_sums import within
from tcformal.proofs.tactics.windows import Count, Window, leaves_of
from tcformal.semantics.align import align, distance_below
from tcformal.semantics.number import Exponent, Number, Term
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.round import Rounded
from tcformal.semantics.stages import AlignedTerm, Dot, DotStep


@dataclass(frozen=True, slots=True)
class Scaled:
    """An addend or partial sum, the count that it is a power of two times of, and that fact."""

    node: Node
    most: int
    count: Count
    fact: Node


@dataclass(frozen=True, slots=True)
class Seen:
    """A term as lemmas see it: what is cut, what is known, and how it is aligned."""

    cut: list[Node]
    given: list[Node]
    count: Count
    aligned: Node


class LosslessSum:
    """One truncated sum, none of whose addends loses a bit.

    Soundness: with 2^up units of the sum to one of the window, (1) no exponent leaves `up` negative, which
    is proved of every term and so of their maximum; (2) every aligned term is its count times 2^up, with no
    bit lost or wrapped; (3) so is every partial sum; (4) what is rounded from the sum is what is rounded
    from the count.
    """

    def __init__(self, w: Window, step: DotStep, carried: Count | None) -> None:
        if step.total is None or step.total.maximum is None or step.total.fraction_bits is None:
            raise ProofError(f"expected a truncated sum at {step.scope}, but got another")
        self.w, self.step, self.total, self.carried = w, step, step.total, carried
        c, g = w.c, w.c.graph
        maximum, high = step.total.maximum, step.total.e_max.high
        self.code = c.replaced(maximum.code)
        e_max = Exponent(self.code, maximum.low, high)
        top = w.low.shifted(self.total.fraction_bits)
        self.up = distance_below(g, e_max, top)
        self.seen = [self._seen(t) for t in self.total.terms]
        lowest, highest = min(top.low, e_max.low), max(top.high, high)
        room = top.rebased(g, lowest, highest)
        leaves = [c.replaced(x.code) for x in leaves_of(maximum)]
        bounds = []
        for x, leaf in zip(self.seen, leaves, strict=True):
            bound = g.ule(Exponent(leaf, maximum.low, high).rebased(g, lowest, highest), room)
            bounds.append(w.fact(bound, "a term's exponent leaves room", [*x.cut, w.code], x.given))
        enough = g.ule(e_max.rebased(g, lowest, highest), room)
        w.fact(enough, "the largest exponent leaves room", [*leaves, w.code], bounds)
        floor = g.ule(g.const(self.total.e_max.low - maximum.low, self.code.width), self.code)
        w.fact(floor, "the largest exponent is in its range", ())
        self.known = [enough, floor]
        self.reach = [w.fact(g.ule(x, self.code), "an exponent is at most the largest", leaves) for x in leaves]

    # ------------------------------------------------------------------ terms
    def _seen(self, t: AlignedTerm) -> Seen:
        """A product or c by its place, or what an earlier sum handed on."""
        w, c = self.w, self.w.c
        (member,) = t.members
        operand = self.step.operands[member]
        aligned = c.replaced(t.aligned)
        if operand.kind == "products" or operand.kind == "c":
            k = operand.ks[0] if operand.kind == "products" else len(w.gaps.terms) - 1
            term = w.gaps.terms[k].number.term
            if t.term.significand is not term.significand:
                return self._converted(t, k, term)
            cut = [term.significand, term.sign, term.zero, term.exponent.bits]
            return Seen(cut, w.known[k], w.counts[k], aligned)
        if operand.kind == "zero" or self.carried is None:
            return Seen([], [], w.nothing, aligned)
        return Seen([self.carried.node], [self.carried.fact], self.carried, aligned)

    def _converted(self, t: AlignedTerm, k: int, term: Term) -> Seen:
        raise ProofError("later")

    def _addend(self, x: Seen, t: AlignedTerm, reach: Node) -> Scaled:
        """(2) of one term."""
        w, g = self.w, self.w.c.graph
        full = ((1 << t.term.significand.width) - 1) << self.total.fraction_bits >> t.term.fraction_bits
        most = min(full, (1 << t.aligned.width) - 1)
        signed = signed_magnitude(g, w.c.replaced(t.term.sign), w.c.replaced(t.aligned))
        made = self._scaled(g.wrap_to_mod(signed, self.total.partials[-1].node.width), most, x.count)
        cut, given = [*x.cut, w.code, self.code], [*x.given, *self.known, reach]
        w.fact(made.fact, "an aligned term is its count, scaled", cut, given)
        return made

    def _scaled(self, node: Node, most: int, count: Count) -> Scaled:
        g = self.w.c.graph
        width = max(node.width, count.node.width)
        long, short = g.sign_extend_to(node, width), g.sign_extend_to(count.node, width)
        exact = g.and_(g.eq(long, g.shl_mod(short, self.up)), g.eq(g.ashr(long, self.up), short))
        return Scaled(node, most, count, g.and_(within(g, node, most), exact))

    # ------------------------------------------------------------------ sums
    def summed(self) -> Scaled:
        """(2) and (3): the last partial sum."""
        w, g, of = self.w, self.w.c.graph, dict[Node, Scaled]()
        for x, t, reach in zip(self.seen, self.total.terms, self.reach, strict=True):
            made = self._addend(x, t, reach)
            of[made.node] = made
        last = made
        for partial in self.total.partials:
            node = w.c.replaced(partial.node)
            if node not in of:
                if node.op != "add_mod" or any(a not in of for a in node.args):
                    raise ProofError(f"expected a tree of sums at {w.where}, but got {node.op}")
                of[node] = self._added(*(of[a] for a in node.args))
            last = of[node]
        return last

    def _added(self, x: Scaled, y: Scaled) -> Scaled:
        w, g = self.w, self.w.c.graph
        made = self._scaled(g.add_mod(x.node, y.node), x.most + y.most, w.add(x.count, y.count))
        cut = [x.node, y.node, x.count.node, y.count.node, self.up]
        given = [x.fact, y.fact, x.count.fact, y.count.fact]
        w.fact(made.fact, "a sum is its count, scaled", cut, given)
        return made

    def rounded(self, overflow: str) -> tuple[Count, Rounded]:
        """(4): the count of the whole sum, and its rounding."""
        w = self.w
        last = self.summed()
        made = self.step.rounded
        if made is None:
            raise ProofError(f"expected a rounding at {w.where}, but the sum goes on as it is")
        exact = w.rounding(last.count, made.target, overflow)
        pairs = list(zip(exact.parts, w.c.all_replaced(made.parts), strict=True))
        cut = [last.node, last.count.node, w.code, self.code]
        w.all_equal(pairs, "what is rounded is the count", cut, [last.fact, last.count.fact, *self.known])
        return last.count, exact


def lossless(w: Window, dot: Dot, overflow: str) -> Count:
    """Make a unit's result that of its terms' exact sum, rounded once; the sum.

    Every sum but the last has to be a number of its format.  Errors: ProofError where that is not proved.
    """
    steps, carried = list(dot.steps), None
    for step in steps:
        w.where = step.scope
        if step.exact or step.floor is not None or step.specials is None:
            raise ProofError(f"expected truncated sums, each rounded, but got another at {step.scope}")
        _no_specials(w, step, carried)
        carried, exact = LosslessSum(w, step, carried).rounded(overflow)
        if step is not steps[-1]:
            cut = [carried.node, w.code]
            w.equal(w.c.graph.truth(False), exact.result.inf, "no sum overflows", cut, [carried.fact])
    if carried is None:
        raise ProofError("expected a sum, but the unit has none")
    return carried


def _no_specials(w: Window, step: DotStep, carried: Count | None) -> None:
    """No operand of a step is NaN or Inf."""
    cut = [w.code] if carried is None else [w.code, carried.node]
    for flag in (step.specials.some_nan, step.specials.positive_inf, step.specials.negative_inf):
        node = w.c.replaced(flag)
        given = w.given(node) + ([] if carried is None else [carried.fact])
        w.equal(w.c.graph.truth(False), node, "no operand of a sum is NaN or Inf", cut, given)
