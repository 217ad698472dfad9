"""Two designs whose sums take the same products: sum by sum, what each hands on has one value on both sides.

Numbers of one value may differ in what no result shows: the sign of a zero that meets no other zero, the
exponent of a zero, the fields of an Inf or a NaN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.claim import Asking, ClaimPart, PartStatus
from tcformal.proofs.claims.same_sums import side_by_side
from tcformal.proofs.claims.zero_exponent import least
from tcformal.proofs.handed import (
    Handed,
    alike,
    flags_of,
    handed,
    in_order,
    signed_otherwise,
    single_products,
    stages,
)
from tcformal.proofs.known_numbers import KnownNumbers
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.alike.few_terms import normal_and_zero, same_few
from tcformal.proofs.tactics.alike.idle_choices import without_idle_choices
from tcformal.proofs.tactics.alike.like_sums import rounded_alike, without_zeros
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.proofs.tactics.rescaled import Guesses
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.stages import Dot


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


class _Proof(KnownNumbers):
    """One proof: what both sides hand on, and what is known of it."""

    def __init__(
        self, g: Graph, c: Composition, first: UnitSpec, second: UnitSpec, dots: tuple[Dot, Dot]
    ) -> None:
        super().__init__(g, c, first, second, dots)
        beside = signed_otherwise(g, first, dots)
        self.sides = [
            [*some, *handed(g, u, dot)] for some, u, dot in zip(beside, self.units, dots, strict=True)
        ]
        kept = [u.design.c_subnormals == "kept" for u in self.units]
        products = single_products(g, self.sides, beside_c=self.lowest is not None and kept[0] != kept[1])
        self.sides = [[*some, *side] for some, side in zip(products, self.sides, strict=True)]
        #: Numbers that are proved to have one value by way of their sums.
        self.alike: list[Handed] = []
        self.steps: list[ProofStep] = []
        self.since = 0

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
            # What was proved of older numbers speaks of the nodes that stand for both.
            pairs += [(y, x) for x in new[0] for y in old[1]]
            for one, two in pairs:
                self._meet(one, two, last=group == len(numbers) - 1)
            for x in (*new[0], *new[1]):
                x.parts = c.all_replaced(x.nodes())
            self.as_they_stand()
            if group < len(numbers) - 1 or self.alike:
                # The last numbers need no facts where they are one definition.
                self.known_of((*new[0], *new[1]), pairs)
                self.done += [*new[0], *new[1]]
                name = (*new[0], *new[1])[0].scope.partition(".")[2]
                self.steps.append(step_of(c, name, self.since, True, len(c.uses) == self.since))
        self.since = len(c.uses)
        first, second = c.all_replaced([dot.result for dot in self.dots])
        last = tuple(side[-1] for side in self.sides if side)
        return c.equal(first, second) or self.prove("d", [(first, second)], "results of both sides", last)

    def _meet(self, one: Handed, two: Handed, *, last: bool) -> None:
        """The stages of two sums made equal as far as they are: addends, largest exponents, sums, results."""
        totals = [None if x.step is None else x.step.total for x in (one, two)]
        if self._summed_alike(one, two, last=last):
            return
        self.ranges_of(one)
        self.ranges_of(two)
        flags = list(zip(flags_of(one), flags_of(two), strict=False))
        apart = any(not self.c.equal(*self.c.all_replaced(pair)) for pair in flags)
        for x, y in flags:
            self._equate(one.scope, x, y, ())
        if self._few_alike(one, two) and not last:
            return
        tops = [x.e_max.bits for x in totals if x is not None and not x.terms]
        if len(tops) == 2:
            # Where terms are not aligned one by one, no other lemma speaks of their exponents.
            x, y = self.c.all_replaced(tops)
            without_idle_choices(self.c, one.scope, x, y, self.seen)
        for x, y in stages(*totals):
            self._equate(one.scope, x, y, ())
        for x, y in zip(one.nodes(), two.nodes(), strict=True):
            self._equate(one.scope, x, y, (one, two))
        if not ((not last or apart) and self._summed_alike(one, two, last=True)):
            self._by_cases(one, two)

    def _summed_alike(self, one: Handed, two: Handed, *, last: bool) -> bool:
        """Whether what two sums round is proved to be one number by what is known of sums."""
        if one.step is None or two.step is None:
            return False
        pairs = list(zip(one.nodes(), two.nodes(), strict=True))
        if all(self.c.equal(*self.c.all_replaced(pair)) for pair in pairs):
            return True
        free, known = self.numbers([x for x in self.done if x is not one and x is not two], (one, two))
        s = SumSteps(self.c, one.scope, free=free, known=known)
        if without_zeros(s, one.step, two.step, least(self.units[0])) or not last:
            return False  # what is handed on is compared as ever, now of equal parts
        a, b = self.units[0].operands.a, self.units[0].operands.b
        # A zero's own exponent is the least one, beside any exponent of the other factor.
        highest, lowest = max(a.e_min + b.e_max, a.e_max + b.e_min), a.least_exponent + b.least_exponent
        zeros = Guesses(highest - a.e_min - b.e_min, highest, lowest)
        fact = self._rounded_alike(s, one, two, zeros)
        rounded = [x.step.rounded for x in (one, two) if x.step is not None]
        parts = [n for x in rounded if x is not None for n in x.parts]
        return fact is not None and self._one_value(one, two, [fact], parts)

    def _few_alike(self, one: Handed, two: Handed) -> bool:
        """Whether two sums of two numbers, not all of one definition, are proved to be one by `same_few`."""
        totals = [x.step.total for x in (one, two) if x.step is not None and x.step.total is not None]
        terms = [[y.term for y in x.terms] for x in totals]
        fields = [[n for x in row for n in (x.significand, x.exponent.bits, x.zero)] for row in terms]
        if len(totals) < 2 or self.c.all_replaced(fields[0]) == self.c.all_replaced(fields[1]):
            return False
        flags = self.c.all_replaced([*flags_of(one), *flags_of(two)])
        given = self._few(one, two, flags)
        given += [fact for x in (one, two) for fact in self.ranges.get(x.scope, ()) if given]
        return bool(given) and self._one_value(one, two, given, [*one.sums(), *two.sums()])

    def _one_value(self, one: Handed, two: Handed, given: list[Node], parts: list[Node]) -> bool:
        """Prove two numbers alike from facts of what they are made of, a zero's fields as well or not."""
        if one.step is None or two.step is None or one.step.specials is None or two.step.specials is None:
            return False
        cut = self.c.all_replaced([*flags_of(one), *flags_of(two), *parts])
        for x in (one, two):
            x.parts = self.c.all_replaced(x.nodes())
        for strict in (True, False):
            fact, true = alike(self.g, one, two, strict=strict), self.g.truth(True)
            name = "one number on both sides" if strict else "one value on both sides"
            if self.c.by_lemma(one.scope, true, fact, given=given, cut=cut, name=name):
                self.facts.append((fact, (one, two)))
                self.alike += [one, two]
                return True
        return False

    def _few(self, one: Handed, two: Handed, flags: list[Node], unless: Sequence[Node] = ()) -> list[Node]:
        """What `same_few` proves of two sums; nothing without a proof."""
        half = len(flags) // 2
        same = all(self.c.equal(x, y) for x, y in zip(flags[:half], flags[half:], strict=True))
        if one.step is None or one.step.total is None or not same:
            return []
        both = one.step.total, in_order(one, two).total
        if both[1] is None:
            return []

        def prove(fact: Node, name: str) -> bool:
            return self.seen(fact) and self.prove(one.scope, [(self.g.truth(True), fact)], name)

        totals = rebuilt(self.c, both[0]), rebuilt(self.c, both[1])
        return same_few(self.c, one.scope, totals, [*flags, *unless], prove)

    def _rounded_alike(self, s: SumSteps, one: Handed, two: Handed, zeros: Guesses) -> Node | None:
        """As `rounded_alike`, of the products' sums where c is added to them as they are."""
        assert one.step is not None
        assert two.step is not None
        if one.before is None or two.before is None or one.step.total is None or two.step.total is None:
            return rounded_alike(s, one.step, in_order(one, two), zeros)
        products = [
            replace(before, rounded=step.rounded, specials=step.specials)
            for before, step in ((one.before, one.step), (two.before, two.step))
        ]
        return rounded_alike(s, products[0], products[1], zeros, (one.step.total, two.step.total))

    def _equate(self, scope: str, x: Node, y: Node, of: tuple[Handed, ...]) -> None:
        """Prove two stages equal that are equal on the inputs that were tried."""
        if x.width != y.width or x is y:
            return
        x, y = self.c.all_replaced([x, y])
        if self.c.equal(x, y) or not self.seen(self.g.eq(x, y)):
            return
        if not rearranged(self.c, scope, x, y):
            self.prove(scope, [(x, y)], "a stage of both sides", of)

    def _by_cases(self, one: Handed, two: Handed) -> None:
        """Prove one value of two sums of a product and c: for a normal c, beside zero, beside others."""
        for x in (one, two):
            x.parts = self.c.all_replaced(x.nodes())
        fact, g, true, of = alike(self.g, one, two), self.g, self.g.truth(True), (one, two)
        found = one.step and two.step and normal_and_zero(self.c, one.step, in_order(one, two))
        if not found or not self.seen(fact):
            return
        normal, zero = found
        flags, rest = self.c.all_replaced([*flags_of(one), *flags_of(two)]), g.not_(normal)
        cases = normal, g.and_(rest, zero), g.and_(rest, g.not_(zero))
        made, name = [g.or_(g.not_(case), fact) for case in cases], "one value, in a case"
        # Where c is normal both sums take in the same.
        known, sums = self._few(one, two, flags, [rest]), self.c.all_replaced([*one.sums(), *two.sums()])
        cut = [*flags, *sums, normal]
        proved = known and self.c.by_lemma(one.scope, true, made[0], given=known, cut=cut, name=name)
        if not proved or not all(self.prove(one.scope, [(true, x)], name, of) for x in made[1:]):
            return
        parts = [normal, zero, *(fact.args if fact.op == "or_" else [fact])]
        if self.c.by_lemma(one.scope, true, fact, given=made, cut=parts, name="one value in every case"):
            self.facts.append((fact, of))
            self.alike += [one, two]
