"""What is known of the numbers that the sums of two dot products hand on, and proofs from what is known."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.interp.vector import Lanes, Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met, reachable
from tcformal.operands.batch import columns
from tcformal.operands.pool import pool_of
from tcformal.proofs.handed import Handed, alike, as_known, facts_of
from tcformal.proofs.lemmas import frontier
from tcformal.proofs.tactics.alike.multiples import is_multiple, least_product, multiples
from tcformal.proofs.tactics.alike.never_tiny import never_tiny
from tcformal.proofs.tactics.alike.same_totals import not_least
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.maxima import tree_replaced
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.proofs.tactics.two_maxima import TwoMaxima
from tcformal.semantics.stages import Dot

#: Inputs on which facts are tried before they are proved.
_TRIED = 600
#: Nodes whose values on these inputs are kept.
_KEPT = 60_000
#: Operators restored below what both sides share; None restores all.
_DEPTHS = (0, 8, None)
#: Products of a sum that a lemma may speak of as a whole.
_FEW = 2


class KnownNumbers:
    """Facts of the numbers of two dot products in one graph, in the order in which they are looked at.

    Soundness: a fact is what `Composition` proved, from facts proved before; inputs only say what to try.
    """

    def __init__(
        self, g: Graph, c: Composition, first: UnitSpec, second: UnitSpec, dots: tuple[Dot, Dot]
    ) -> None:
        self.g, self.c, self.dots = g, c, dots
        self.units = first, second
        #: All products are multiples of 2^lowest; None where that is no matter for subnormal results.
        self.lowest = least_product(first, second)
        #: Proved facts, each with the numbers that it is of.
        self.facts: list[tuple[Node, tuple[Handed, ...]]] = []
        #: The numbers that are looked at already: what is made of them is proved for any such numbers.
        self.done: list[Handed] = []
        #: What is proved of the largest exponent of each sum, and of the sum, by its place.
        self.ranges: dict[str, list[Node]] = {}

    def tried(self, k: int) -> bool:
        """Whether both sides give one result on some inputs of k products; what nodes give there is kept."""
        pool = pool_of(self.units[0], k, _TRIED, 3)
        self.lanes = Vector(self.g, columns(pool))
        self.values: dict[int, Lanes] = {}
        first, second = self.lanes.run([dot.result for dot in self.dots])
        return bool((first == second).all())

    def seen(self, node: Node) -> bool:
        """Whether a node of width 1 is 1 on the inputs that were tried."""
        if len(self.values) > _KEPT:
            self.values.clear()
        return bool(self.lanes.run_beyond([node], self.values)[0].all())

    def ranges_of(self, x: Handed) -> None:
        """Prove once what is known of a sum: its largest exponent is in its range, it is no tiny number."""
        total = None if x.step is None else x.step.total
        if x.step is None or total is None or total.maximum is None or x.scope in self.ranges:
            return
        free, known = self.numbers([y for y in self.done if y is not x], ())
        s = SumSteps(self.c, x.scope, free=free, known=known)
        root = tree_replaced(self.c, total.maximum)
        self.ranges[x.scope] = TwoMaxima(s, (root, root), 0, 0).bounded((total.e_max, total.e_max)) or []
        self.ranges[x.scope] += not_least(self.c, x.scope, rebuilt(self.c, total))
        self.ranges[x.scope] += never_tiny(s, rebuilt(self.c, x.step))
        if self.lowest is not None and "c" not in x.leaves:
            self.ranges[x.scope] += multiples(s, rebuilt(self.c, x.step), self.lowest)

    def numbers(self, used: Sequence[Handed], of: Sequence[Handed]) -> tuple[list[Node], list[Node]]:
        """The parts of some numbers, and what is known of these and of others."""
        free = {p.index: p for x in used for p in x.parts if p.op != "const"}
        own = {p.index for x in of for p in x.parts}
        known = [
            fact for fact, about in self.facts
            if all(p.op == "const" or p.index in free or p.index in own for x in about for p in x.parts)
        ]  # fmt: skip
        return list(free.values()), known

    def known_of(self, new: Sequence[Handed], pairs: Sequence[tuple[Handed, Handed]]) -> None:
        """Facts of single numbers, then of pairs that are not equal part by part."""
        single: dict[tuple[int, ...], Handed] = {}
        for x in new:
            single.setdefault(tuple(p.index for p in x.parts), x)
        for x in single.values():
            for name, fact in facts_of(self.g, x, self.seen):
                self.keep(x.scope, name, fact, (x,))
            if self.lowest is not None and "c" not in x.leaves:
                term, nan, inf = as_known(x)
                whole = is_multiple(SumSteps(self.c, x.scope), term, self.lowest)
                self.keep(x.scope, "a number is a multiple", self.g.or_(nan, inf, whole), (x,))
        for one, two in pairs:
            if any(p is not q for p, q in zip(one.parts, two.parts, strict=True)):
                self.keep(one.scope, "one value on both sides", alike(self.g, one, two), (one, two))

    def as_they_stand(self) -> None:
        """Numbers that were looked at before, and what is known of them, after what was proved since."""
        moved: dict[Node, Node] = {}
        for x in self.done:
            old, x.parts = x.parts, self.c.all_replaced(x.nodes())
            moved |= {p: q for p, q in zip(old, x.parts, strict=True) if p is not q}
        if moved:
            facts = [fact for fact, _ in self.facts]
            made = self.c.all_replaced(facts, moved)
            self.facts = [(fact, about) for fact, (_, about) in zip(made, self.facts, strict=True)]

    def keep(self, scope: str, name: str, fact: Node, of: tuple[Handed, ...]) -> None:
        """Prove a fact that holds on the inputs that were tried."""
        if fact.op == "const" or not self.seen(fact):
            return
        if self.prove(scope, [(self.g.truth(True), fact)], name, of):
            self.facts.append((fact, of))

    def prove(
        self, where: str, pairs: Sequence[tuple[Node, Node]], name: str, of: Sequence[Handed] = ()
    ) -> bool:
        """Prove pairs equal from what is known of the numbers below them, which stand for any others.

        What both sides share stands for anything, too, at first; then more and more is defined.
        """
        firsts, seconds = zip(*pairs, strict=True)
        roots = {n.index for n in (*firsts, *seconds)}
        below = {n.index: n for n in reachable([*firsts, *seconds])}
        # A product is what others are made of, whatever a fact says of it.
        numbers = [x for x in self.done if x.product or not any(x is y for y in of)]
        inner = {p.index for x in numbers for p in x.parts if p.op != "const"} - roots
        next_ones = {n.index for n in met([*firsts, *seconds], inner)[1]}
        used = [x for x in numbers if any(p.index in next_ones for p in x.parts)]
        nodes, given = self.numbers(used, of)
        free = {p.index: p for p in nodes}
        given += [fact for x in of for fact in self.ranges.get(x.scope, ())]
        stages = self.c.all_replaced([n for x in of for n in x.sums()])
        sums = {n.index: n for n in stages if n.index in below and n.index not in roots}
        # Whole sums of many terms are no lemma.
        wide = sum(n.op == "mul_expand" for n in met([*firsts, *seconds], free)[0]) > _FEW
        tried: list[list[int]] = []
        cuts: list[dict[int, Node]] = []
        for depth in _DEPTHS[:1] if wide else _DEPTHS:
            shared = {} if depth is None else {i: below[i] for i in frontier(firsts, seconds, depth)}
            cuts.append(free | shared | (sums if depth == 0 else {}))
        if sums:
            # All that is rounded, whatever both sides share after it.
            cuts.insert(1, free | sums)
        for cut in cuts:
            if sorted(cut) not in tried:
                tried.append(sorted(cut))
                if self.c.by_lemmas(where, pairs, name=name, given=given, cut=list(cut.values())):
                    return True
        return False
