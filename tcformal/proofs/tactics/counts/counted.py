"""The terms of a dot product within a spread, and their sums, as counts of one power of two.

Nothing here is trusted: every fact is a lemma of `Composition`, under its suppositions; bounds and widths
are guesses, and a wrong one proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tcformal.callbacks import Patience
from tcformal.design.rounding import Conversion
from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import within
from tcformal.proofs.tactics.maxima import tree_replaced
from tcformal.query.spread import Gap, Gaps
from tcformal.semantics.align import distance_below
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.reduce import signed_magnitude, split_sign
from tcformal.semantics.round import convert
from tcformal.semantics.stages import Maximum, Rounded


@dataclass(frozen=True, slots=True)
class Count:
    """A term or a sum in two's complement, in units of 2^low, and the fact that it is within ±most."""

    node: Node
    most: int
    fact: Node


@dataclass(frozen=True, slots=True)
class Counted:
    """The count of a sum, and its rounding."""

    count: Count
    exact: Rounded


class NoRoom(ProofError):
    """A term may lie so low that a sum cuts it, unless exponents are bounded."""


class CountedTerms:
    """The terms of a dot product whose exponents lie within `spread`, each as a count of units of 2^low.

    `operands` are the nodes that suppose something of each operand, finite at least; the spread itself is
    supposed here.  `span`: the least and the largest exponent of terms that follow from that.
    Errors: ProofError, with the name of the lemma, where a step is not proved, or not while there is
    `patience`.
    """

    def __init__(
        self,
        c: Composition,
        gaps: Gaps,
        spread: int,
        operands: Sequence[Node],
        span: tuple[int, int] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.patience = patience or Patience()
        self.c, self.spread, self.operands, self.where = c, spread, tuple(operands), "terms"
        self._roundings = 0
        #: The place of each product of a dot product in other order among the terms; empty for their own.
        self.order: tuple[int, ...] = ()
        #: What takes the place of stages of the units, each proved equal.
        self.instead: dict[Node, Node] = {}
        #: The signs that units give to sums of zero, where these are not their counts'.
        self.signs: list[Node] = []
        raw = [gaps.near(c.graph, x, spread) for x in gaps.terms]
        for x in gaps.terms:
            for flag in (x.number.nan, x.number.inf):
                self.equal(
                    c.graph.truth(False), flag, "a term of finite operands is finite", (), self.given(flag)
                )
        #: For each term, that it lies within the spread; rebuilt without NaN and Inf before it is supposed.
        self.near = [n if n.op == "const" else c.replaced(n) for n in raw]
        self.gaps = _replaced(c, gaps)
        for node in raw:
            if node.op != "const":
                c.suppose(node, True)
        shown = [x.number.term for x in gaps.terms if x.number.term.significand.op != "const"]
        self.fraction = max(term.fraction_bits for term in shown)
        self.known = self._facts(span)
        #: The exponent of one unit, and the largest exponent's code, on which it depends.
        self.low = self.gaps.top.shifted(-(spread + self.fraction))
        self.code = self.gaps.top.bits
        mosts = [self._most(x) for x in self.gaps.terms]
        self.width = sum(mosts).bit_length() + 1
        self.nothing = Count(c.graph.const(0, self.width), 0, c.graph.truth(True))
        self.counts = [self._count(i, most) for i, most in enumerate(mosts)]

    # ------------------------------------------------------------------ lemmas
    def fact(self, fact: Node, name: str, cut: Sequence[Node], given: Sequence[Node] = ()) -> Node:
        """Prove that a node of width 1 is 1."""
        self.equal(self.c.graph.truth(True), fact, name, cut, given)
        return fact

    def equal(self, x: Node, y: Node, name: str, cut: Sequence[Node], given: Sequence[Node] = ()) -> None:
        """Prove two nodes equal."""
        self.all_equal([(x, y)], name, cut, given)

    def all_equal(
        self, pairs: Sequence[tuple[Node, Node]], name: str, cut: Sequence[Node], given: Sequence[Node] = ()
    ) -> None:
        """Prove both of every pair equal, as one lemma."""
        if self.patience.over:
            time = f"{self.patience.seconds:g} seconds of the processor"
            raise ProofError(f"expected a proof in {time} for one question, but got as far as {self.where}")
        if not self.c.by_lemmas(self.where, pairs, given=given, cut=cut, name=name):
            why = self.c.uses[-1].lemma.refusal
            raise ProofError(f"expected a proof at {self.where} that {name}, but found none: {why}")

    def given(self, *nodes: Node) -> list[Node]:
        """What is supposed of the operands that nodes depend on alone."""
        inputs = _inputs(nodes)
        return [fact for fact in self.operands if _inputs([fact]) <= inputs]

    def _facts(self, span: tuple[int, int] | None) -> list[list[Node]]:
        """What is known of each term: its spread and exponent, and that a zero has no significand.

        Where exponents are bounded from below, the largest one is taken to be `spread` above that at least.
        """
        g, known = self.c.graph, list[list[Node]]()
        maximum, top = self.gaps.maximum, self.gaps.top
        leaves = [x.code for x in leaves_of(maximum)]
        shown = [x.number.term.exponent for x in self.gaps.terms if x.live.op != "const"]
        low, high = span or (maximum.low, max(e.high for e in shown))
        most, bounds = g.const(high - maximum.low, maximum.code.width), []
        for x, near, leaf in zip(self.gaps.terms, self.near, leaves, strict=True):
            term = x.number.term
            own = [near, self.fact(g.ule(leaf, maximum.code), "an exponent is at most the largest", leaves)]
            empty = g.or_(g.not_(term.zero), g.is_zero(term.significand))
            own.append(self.fact(empty, "a zero has no significand", ()))
            own.append(self.fact(term.exponent.bounded(g), "an exponent is in its range", ()))
            if span is not None and x.live.op != "const":
                inside = g.or_(term.zero, _between(g, term.exponent, span))
                name = f"a term's exponent is in {low}..{high}"
                own.append(self.fact(inside, name, (), self.given(inside)))
            cut = [term.zero, term.exponent.bits]
            bounds.append(self.fact(g.ule(leaf, most), "an exponent is bounded", cut, own))
            known.append(own)
        self.limit = [self.fact(g.ule(maximum.code, most), "the largest exponent is bounded", leaves, bounds)]
        if span is None:
            return known
        # Raised so far that no unit is smaller than one of the least exponent, of which all are multiples.
        lowest = min(low + self.spread, high)
        code = g.umax(maximum.code, g.const(lowest - maximum.low, maximum.code.width))
        raised = Exponent(code, maximum.low, top.high)
        terms = []
        for x, own in zip(self.gaps.terms, known, strict=True):
            term = x.number.term
            moved = (
                Gap(x.number, x.live, distance_below(g, term.exponent, raised)) if x.live.op != "const" else x
            )
            terms.append(moved)
            near = self.gaps.near(g, moved, self.spread)
            cut = [term.zero, term.exponent.bits, maximum.code]
            own[0] = self.fact(near, "a term is as near to the largest exponent", cut, own)
            own[1] = self.fact(
                g.or_(term.zero, _below(g, term.exponent, raised)),
                "an exponent is at most the largest",
                cut,
                own,
            )
        self.gaps = Gaps(tuple(terms), raised, replace(maximum, code=code))
        self.limit = [
            self.fact(g.ule(code, most), "the largest exponent is bounded", [maximum.code], self.limit),
            self.fact(
                g.ule(g.const(lowest - maximum.low, code.width), code), "and from below", [maximum.code]
            ),
        ]
        return known

    # ------------------------------------------------------------------ counts
    def _most(self, x: Gap) -> int:
        """The largest count that a term can have, from the widths of its factors."""
        term = x.number.term
        if term.significand.op == "const":
            return 0
        full = math.prod((1 << factor.width) - 1 for factor in term.factors or (term.significand,))
        return full << max(0, self.spread + self.fraction - term.fraction_bits)

    def _count(self, i: int, most: int) -> Count:
        if not most:
            return self.nothing
        g, x = self.c.graph, self.gaps.terms[i]
        term, up = x.number.term, self.spread + self.fraction - x.number.term.fraction_bits
        small = g.ule(term.significand, g.const(most >> up, term.significand.width))
        self.fact(small, "a significand is bounded", term.factors)
        magnitude = g.lshr(g.shift_left_const(term.significand, up), x.gap)
        node = g.sign_extend_to(signed_magnitude(g, term.sign, magnitude), self.width)
        fact = within(g, node, most)
        self.fact(fact, f"a term is within ±{most} units", [term.significand, term.sign, x.gap], [small])
        return Count(node, most, fact)

    def add(self, x: Count, y: Count) -> Count:
        """The sum of two counts."""
        if not x.most or not y.most:
            return x if x.most else y
        g, most = self.c.graph, x.most + y.most
        node = g.add_mod(x.node, y.node)
        fact = within(g, node, most)
        self.fact(fact, f"a sum is within ±{most} units", [x.node, y.node], [x.fact, y.fact])
        return Count(node, most, fact)

    def rounding(self, x: Node, lsb: Exponent, target: Conversion, overflow: str) -> Rounded:
        """The conversion of a number in units of 2^lsb."""
        self._roundings += 1
        g = self.c.graph
        sign, magnitude = split_sign(g, x)
        with g.scope(f"exact{self._roundings}"):
            return convert(g, sign, magnitude, lsb, target, overflow=overflow)

    def rebuilt(self, nodes: Iterable[Node]) -> dict[Node, Node]:
        """Nodes built again on what takes the place of their stages."""
        roots, instead = list(nodes), self.instead
        return dict(zip(roots, self.c.all_replaced(roots, instead) if instead else roots, strict=True))

    def take_sign(self, made: Rounded, exact: Rounded, cut: Sequence[Node], given: Sequence[Node]) -> None:
        """Prove the sign of a rounding equal to another's, and put that in its place."""
        sign, counted = made.result.term.sign, exact.result.term.sign
        self.equal(counted, self.rebuilt([sign])[sign], "a sum has the sign of its count", cut, given)
        self.instead[sign] = counted

    def take_parts(self, made: Rounded, exact: Rounded, cut: Sequence[Node], given: Sequence[Node]) -> None:
        """As `take_over` of a rounding whose encoding is packed from its parts."""
        self._take(dict(zip(made.parts[1:], exact.parts[1:], strict=True)), cut, given)

    def take_over(self, made: Rounded, exact: Rounded, cut: Sequence[Node], given: Sequence[Node]) -> None:
        """Prove a rounding of a unit equal to another but for the sign, and put that in its place."""
        g, kept = self.c.graph, exact.kept
        own = self.rebuilt([made.normalised, made.kept])
        instead = dict(zip(made.parts[1:], exact.parts[1:], strict=True))
        whole = own[made.normalised]
        if whole.width > kept.width:
            # Where nothing is rounded up, the encoding is cut from the normalised sum, and from no part.
            rest = g.extract(whole, whole.width - kept.width - 1, 0)
            instead[made.normalised] = g.concat(kept, rest)
            if self.c.equal(kept, own[made.kept]):
                same = g.eq(kept, own[made.kept])
                self.c.made_twice(same, [kept, kept], [kept, own[made.kept]])
                name = "what is cut has the bits that are kept"
                self.equal(instead[made.normalised], whole, name, [whole, kept], [same])
        self._take(instead, cut, given)

    def _take(self, instead: Mapping[Node, Node], cut: Sequence[Node], given: Sequence[Node]) -> None:
        """Prove nodes of a rounding equal to others, as one lemma, and put these in their place."""
        own = self.rebuilt(instead)
        pairs = [(new, own[old]) for old, new in instead.items()]
        self.all_equal(pairs, "what is rounded is the count", cut, given)
        self.instead |= {old: new for old, new in instead.items() if old.op != "const"}


def leaves_of(x: Maximum) -> list[Maximum]:
    """The single exponents of a tree of comparisons, in the order of the terms."""
    return [leaf for half in x.halves for leaf in leaves_of(half)] if x.halves else [x]


def _inputs(roots: Sequence[Node]) -> set[Node]:
    return {n for n in reachable(roots) if n.op == "input"}


def _replaced(c: Composition, gaps: Gaps) -> Gaps:
    """The gaps on representatives, without NaN and Inf."""
    no = c.graph.truth(False)
    terms = [Gap(Number(x.number.term, no, no), c.replaced(x.live), c.replaced(x.gap)) for x in gaps.terms]
    top = replace(gaps.top, bits=c.replaced(gaps.top.bits))
    return Gaps(tuple(terms), top, tree_replaced(c, gaps.maximum))


def _between(g: Graph, e: Exponent, span: tuple[int, int]) -> Node:
    """1 where an exponent is in a range."""
    low, high = min(e.low, span[0]), max(e.high, span[1])
    code = e.rebased(g, low, high)
    return g.and_(
        g.ule(g.const(span[0] - low, code.width), code), g.ule(code, g.const(span[1] - low, code.width))
    )


def _below(g: Graph, e: Exponent, top: Exponent) -> Node:
    """1 where an exponent is at most another."""
    low, high = min(e.low, top.low), max(e.high, top.high)
    return g.ule(e.rebased(g, low, high), top.rebased(g, low, high))
