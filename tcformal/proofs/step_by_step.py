"""Two designs whose sums take the same products: sum by sum, what each hands on has one value on both sides.

Numbers of one value may differ in what no result shows: the sign of a zero that meets no other zero, the
exponent of a zero, the fields of an Inf or a NaN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.interp.vector import Lanes, Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import met, reachable
from tcformal.operands.batch import columns
from tcformal.operands.pool import pool_of
from tcformal.proofs.claim import Asking, ClaimPart, PartStatus
from tcformal.proofs.claims.same_sums import side_by_side
from tcformal.proofs.claims.zero_exponent import least
from tcformal.proofs.handed import Handed, alike, facts_of, handed, signed_otherwise, stages
from tcformal.proofs.lemmas import Lemma, frontier
from tcformal.proofs.tactics.alike.idle_choices import without_idle_choices
from tcformal.proofs.tactics.alike.like_sums import rounded_alike, without_zeros
from tcformal.proofs.tactics.alike.never_tiny import never_tiny
from tcformal.proofs.tactics.alike.same_totals import not_least
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.maxima import tree_replaced
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.proofs.tactics.rescaled import Guesses
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


def same_steps(ask: Asking, second: UnitSpec, k: int | None = None) -> tuple[ClaimPart, list[Lemma]] | None:
    """Every sum of the unit against that of the same products in a second one; None where results differ.

    Shapes: k products, those of the unit unless given; as `side_by_side` fills them up.

    Soundness: only what `Composition` proved is taken as equal or as a fact, each from facts proved before;
    the results in the end are one class of it.  Inputs only say what to try.
    """
    first = ask.spec
    g, dots = side_by_side(first, second, k)
    proof = _Proof(g, Composition(g, ask.book), first, second, dots)
    if not proof.tried(k or first.k):
        return None
    proved = proof.run()
    steps = (*proof.steps, step_of(proof.c, "d", proof.since, proved, not proof.c.uses))
    part = ClaimPart(
        name="", status=PartStatus.HOLDS if proved else PartStatus.OPEN, steps=steps,
        note="" if proved else "d was not proved equal",
    )  # fmt: skip
    return part, [u.lemma for u in proof.c.uses]


class _Proof:
    """One proof: what both sides hand on, and what is known of it."""

    def __init__(
        self, g: Graph, c: Composition, first: UnitSpec, second: UnitSpec, dots: tuple[Dot, Dot]
    ) -> None:
        self.g, self.c, self.dots = g, c, dots
        self.units = first, second
        beside = signed_otherwise(g, first, dots)
        self.sides = [
            [*some, *handed(g, u, dot)] for some, u, dot in zip(beside, self.units, dots, strict=True)
        ]
        #: Proved facts, each with the numbers that it is of.
        self.facts: list[tuple[Node, tuple[Handed, ...]]] = []
        #: The numbers that are looked at already: what is made of them is proved for any such numbers.
        self.done: list[Handed] = []
        #: What is proved of the largest exponent of each sum, by its place.
        self.ranges: dict[str, list[Node]] = {}
        #: Numbers that are proved to have one value by way of their sums.
        self.alike: list[Handed] = []
        self.steps: list[ProofStep] = []
        self.since = 0

    # ------------------------------------------------------------------ inputs
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

    # ------------------------------------------------------------------ the whole
    def run(self) -> bool:
        """Every sum, the inner ones first, then the result."""
        c = self.c
        rows: dict[tuple[int, int], tuple[list[Handed], list[Handed]]] = defaultdict(lambda: ([], []))
        order = {x.leaves: 0 for side in self.sides for x in side}
        numbers = {leaves: i for i, leaves in enumerate(sorted(order, key=len))}
        for i, side in enumerate(self.sides):
            for x in side:
                rows[numbers[x.leaves], x.rank][i].append(x)
        for group, rank in sorted(rows):
            self.since = len(c.uses)
            new = rows[group, rank]
            for x in (*new[0], *new[1]):
                x.parts = c.all_replaced(x.nodes())
            old = [[x for r in range(rank) for x in rows.get((group, r), ((), ()))[i]] for i in (0, 1)]
            pairs = [(x, y) for x in (*old[0], *new[0]) for y in new[1]]
            pairs += [(x, y) for x in new[0] for y in old[1]]
            for one, two in pairs:
                self._meet(one, two, last=group == len(numbers) - 1)
            for x in (*new[0], *new[1]):
                x.parts = c.all_replaced(x.nodes())
            if group < len(numbers) - 1 or self.alike:
                # The last numbers need no facts where they are one definition.
                self._known_of((*new[0], *new[1]), pairs)
                self.done += [*new[0], *new[1]]
                name = (*new[0], *new[1])[0].scope.partition(".")[2]
                self.steps.append(step_of(c, name, self.since, True, len(c.uses) == self.since))
        self.since = len(c.uses)
        first, second = c.all_replaced([dot.result for dot in self.dots])
        last = tuple(side[-1] for side in self.sides if side)
        return c.equal(first, second) or self._prove("d", [(first, second)], "results of both sides", last)

    def _meet(self, one: Handed, two: Handed, *, last: bool) -> None:
        """The stages of two sums made equal as far as they are: addends, largest exponents, sums, results."""
        totals = [None if x.step is None else x.step.total for x in (one, two)]
        if self._summed_alike(one, two, last=last):
            return
        self._ranges_of(one)
        self._ranges_of(two)
        tops = [x.e_max.bits for x in totals if x is not None and not x.terms]
        if len(tops) == 2:
            # Where terms are not aligned one by one, no other lemma speaks of their exponents.
            x, y = self.c.all_replaced(tops)
            without_idle_choices(self.c, one.scope, x, y, self.seen)
        for x, y in stages(*totals):
            self._equate(one.scope, x, y, ())
        for x, y in zip(one.nodes(), two.nodes(), strict=True):
            self._equate(one.scope, x, y, (one, two))
        if not last:
            self._summed_alike(one, two, last=True)

    def _summed_alike(self, one: Handed, two: Handed, *, last: bool) -> bool:
        """Whether what two sums round is proved to be one number by what is known of sums."""
        if one.step is None or two.step is None:
            return False
        pairs = list(zip(one.nodes(), two.nodes(), strict=True))
        if all(self.c.equal(*self.c.all_replaced(pair)) for pair in pairs):
            return True
        free, known = self._numbers([x for x in self.done if x is not one and x is not two], (one, two))
        s = SumSteps(self.c, one.scope, free=free, known=known)
        if without_zeros(s, one.step, two.step, least(self.units[0])) or not last:
            return False  # what is handed on is compared as ever, now of equal parts
        a, b = self.units[0].operands.a, self.units[0].operands.b
        # A zero's own exponent is the least one, beside any exponent of the other factor.
        highest, lowest = max(a.e_min + b.e_max, a.e_max + b.e_min), a.least_exponent + b.least_exponent
        zeros = Guesses(highest - a.e_min - b.e_min, highest, lowest)
        fact = self._rounded_alike(s, one, two, zeros)
        if fact is None or one.step.specials is None or two.step.specials is None:
            return False
        found = [one.step.specials, two.step.specials]
        flags = self.c.all_replaced([n for x in found for n in (x.some_nan, x.positive_inf, x.negative_inf)])
        rounded = [x.step.rounded for x in (one, two) if x.step is not None]
        cut = [*flags, *self.c.all_replaced([n for x in rounded if x is not None for n in x.parts])]
        for x in (one, two):
            x.parts = self.c.all_replaced(x.nodes())
        for strict in (True, False):
            fact_of, true = alike(self.g, one, two, strict=strict), self.g.truth(True)
            name = "one number on both sides" if strict else "one value on both sides"
            if self.c.by_lemma(one.scope, true, fact_of, given=[fact], cut=cut, name=name):
                self.facts.append((fact_of, (one, two)))
                self.alike += [one, two]
                return True
        return False

    def _rounded_alike(self, s: SumSteps, one: Handed, two: Handed, zeros: Guesses) -> Node | None:
        """As `rounded_alike`, of the products' sums where c is added to them as they are."""
        assert one.step is not None
        assert two.step is not None
        if one.before is None or two.before is None or one.step.total is None or two.step.total is None:
            return rounded_alike(s, one.step, two.step, zeros)
        products = [
            replace(before, rounded=step.rounded, specials=step.specials)
            for before, step in ((one.before, one.step), (two.before, two.step))
        ]
        return rounded_alike(s, products[0], products[1], zeros, (one.step.total, two.step.total))

    def _ranges_of(self, x: Handed) -> None:
        """Prove once that the largest exponent of a sum is what its code stands for."""
        total = None if x.step is None else x.step.total
        if x.step is None or total is None or total.maximum is None or x.scope in self.ranges:
            return
        free, known = self._numbers([y for y in self.done if y is not x], ())
        s = SumSteps(self.c, x.scope, free=free, known=known)
        root = tree_replaced(self.c, total.maximum)
        self.ranges[x.scope] = TwoMaxima(s, (root, root), 0, 0).bounded((total.e_max, total.e_max)) or []
        self.ranges[x.scope] += not_least(self.c, x.scope, rebuilt(self.c, total))
        self.ranges[x.scope] += never_tiny(s, rebuilt(self.c, x.step))

    def _numbers(self, used: Sequence[Handed], of: Sequence[Handed]) -> tuple[list[Node], list[Node]]:
        """The parts of some numbers, and what is known of these and of others."""
        free = {p.index: p for x in used for p in x.parts if p.op != "const"}
        own = {p.index for x in of for p in x.parts}
        known = [
            fact for fact, about in self.facts
            if all(p.op == "const" or p.index in free or p.index in own for x in about for p in x.parts)
        ]  # fmt: skip
        return list(free.values()), known

    def _equate(self, scope: str, x: Node, y: Node, of: tuple[Handed, ...]) -> None:
        """Prove two stages equal that are equal on the inputs that were tried."""
        if x.width != y.width or x is y:
            return
        x, y = self.c.all_replaced([x, y])
        if self.c.equal(x, y) or not self.seen(self.g.eq(x, y)):
            return
        if not rearranged(self.c, scope, x, y):
            self._prove(scope, [(x, y)], "a stage of both sides", of)

    def _known_of(self, new: Sequence[Handed], pairs: Sequence[tuple[Handed, Handed]]) -> None:
        """Facts of single numbers, then of pairs that are not equal part by part."""
        single: dict[tuple[int, ...], Handed] = {}
        for x in new:
            single.setdefault(tuple(p.index for p in x.parts), x)
        for x in single.values():
            for name, fact in facts_of(self.g, x, self.seen):
                self._keep(x.scope, name, fact, (x,))
        for one, two in pairs:
            if any(p is not q for p, q in zip(one.parts, two.parts, strict=True)):
                self._keep(one.scope, "one value on both sides", alike(self.g, one, two), (one, two))

    def _keep(self, scope: str, name: str, fact: Node, of: tuple[Handed, ...]) -> None:
        """Prove a fact that holds on the inputs that were tried."""
        if fact.op == "const" or not self.seen(fact):
            return
        if self._prove(scope, [(self.g.truth(True), fact)], name, of):
            self.facts.append((fact, of))

    # ------------------------------------------------------------------ lemmas
    def _prove(
        self, where: str, pairs: Sequence[tuple[Node, Node]], name: str, of: Sequence[Handed] = ()
    ) -> bool:
        """Prove pairs equal from what is known of the numbers below them, which stand for any others.

        What both sides share stands for anything, too, at first; then more and more is defined.
        """
        firsts, seconds = zip(*pairs, strict=True)
        roots = {n.index for n in (*firsts, *seconds)}
        below = {n.index: n for n in reachable([*firsts, *seconds])}
        numbers = [x for x in self.done if not any(x is y for y in of)]
        inner = {p.index for x in numbers for p in x.parts if p.op != "const"} - roots
        next_ones = {n.index for n in met([*firsts, *seconds], inner)[1]}
        used = [x for x in numbers if any(p.index in next_ones for p in x.parts)]
        nodes, given = self._numbers(used, of)
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
