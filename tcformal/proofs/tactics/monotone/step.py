"""One rounded sum of two circuits that differ in one operand: the larger one gives no smaller result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.monotone.bracket import Bracket
from tcformal.proofs.tactics.monotone.congruence import Congruence
from tcformal.proofs.tactics.monotone.order import NumberOrder
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps
from tcformal.semantics.normalise import shift_left_by_leading_zeros
from tcformal.semantics.number import Number
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import SpecialCases, Total


@dataclass(frozen=True, slots=True)
class RoundedSum:
    """One of the two sums.

    `value` is the sum of what it takes in; `errors`: theorems weight · lost ∓ (value - ±M) >= 0; `result` is
    the number as it is handed on, made of the nodes `made`; `signs` is the theorem that the sign of what was
    rounded is that of the sum, `own`, or it is zero; `clean` that nothing overflows and no flag is set.
    """

    total: Total
    value: Poly
    own: SignedSum
    errors: tuple[int, int]
    bracket: Bracket
    special: SpecialCases
    result: Number
    signs: int
    clean: tuple[int, ...]
    made: tuple[Node, ...]


class MonotoneStep:
    """Theorem: the second result is not below the first, where the second operand is not below the first."""

    def __init__(self, z: IntegerSteps, sums: Sequence[RoundedSum], order: NumberOrder, place: int) -> None:
        self.z, self.d, self.g = z, z.d, z.g
        self.sums, self.order, self.place = tuple(sums), order, place

    def proved(self, ordered: int, goal: Node) -> int:
        """`goal` says that the second result is not below the first; `ordered` the same of the operands."""
        return self.d.cases(self.order.less, self._of_less(goal), self._of_equal(ordered, goal))

    # ------------------------------------------------------------------ operands that are equal
    def _of_equal(self, ordered: int, goal: Node) -> int:
        """The same of equal operands: everything that decides the result is equal."""
        d = self.d
        size, code, zero, sign = self.order.equal(ordered)
        one, two = self.order.x.term, self.order.y.term
        known = {
            (one.significand, two.significand): size,
            (one.exponent.bits, two.exponent.bits): code,
            (one.zero, two.zero): zero,
        }
        known = {pair: i for pair, i in known.items() if pair[0] is not pair[1]}
        inner = [*self.order.x.inner, *self.order.y.inner]
        same = Congruence(d, known, inner)
        addends, kept = self._addends(same, sign)
        same = Congruence(d, known | kept | addends, inner)
        pairs = [(x.bracket.kept, x.bracket.away, x.bracket.height, x.own.sign) for x in self.sums]
        equal = [i for p, q in zip(*pairs, strict=True) for i in same.equal(p, q)]
        return self._result("results of equal sums", goal, equal)

    def _addends(
        self, same: Congruence, sign: int
    ) -> tuple[dict[tuple[Node, Node], int], dict[tuple[Node, Node], int]]:
        """That the operand is one addend: a zero of either sign adds nothing."""
        d, g = self.d, self.g
        one, two = (x.total.terms[self.place] for x in self.sums)
        term, zero = self.order.x.term, self.order.x.term.zero
        equal = same.equal(one.aligned, two.aligned)
        kept = {(one.aligned, two.aligned): equal[0]} if equal else {}
        moved = shift_left_by_leading_zeros(g, term.significand)[0]
        none = self.order.x.empty
        for what, node, cut in (
            ("that a zero stays empty", moved, [term.significand, zero]),
            ("what a zero keeps", one.aligned, [moved, one.shift, zero]),
        ):
            none = d.lemma(what, g.or_(g.not_(zero), g.is_zero(node)), [none], (cut,))
        x, y = (signed_magnitude(g, t.term.sign, t.aligned) for t in (one, two))
        cut = [one.aligned, two.aligned, one.term.sign, two.term.sign, zero]
        i = d.lemma("one addend", g.eq(x, y), [*equal, sign, none], (cut,))
        return {(x, y): i} if x is not y else {}, kept

    # ------------------------------------------------------------------ operands that are not
    def _of_less(self, goal: Node) -> int:
        """The same where the first operand is below the second, so that the first sum is smaller."""
        g = self.g
        gap = self.order.strict()
        one, two = self.sums
        s, t = one.own.sign, two.own.sign
        shown = [self._across(gap, g.and_(g.not_(s), t))]
        for negative, small, large in ((0, one, two), (1, two, one)):
            signs = [x if negative else g.not_(x) for x in (s, t)]
            x, y = small.bracket, large.bracket
            same = g.and_(*signs, g.eq(x.height, y.height))
            alike = g.and_(same, g.eq(x.kept, y.kept))
            wrong = [
                (g.and_(*signs, g.ult(y.height, x.height), g.top(x.kept)), self._taller),
                (g.and_(same, g.ult(y.kept, x.kept)), self._longer),
                (g.and_(alike, x.away, g.not_(y.away)), self._rounded_up),
                (g.and_(*signs, y.empty), self._empty),
            ]
            for case, refuted in wrong:
                if case.op != "const":
                    shown.append(refuted(gap, case, negative, small, large))
        return self._result("results of unequal sums", goal, shown)

    def _result(self, what: str, goal: Node, given: Sequence[int]) -> int:
        """What follows for the results from what decides them."""
        known, cut = list(given), list[Node]()
        for x in self.sums:
            b = x.bracket
            known += [b.normal, b.nothing, x.signs, *x.clean]
            cut += [b.kept, b.away, b.height, b.empty, x.own.sign, x.special.result.term.sign, *x.made]
        return self.d.lemma(what, goal, known, (cut,))

    # ------------------------------------------------------------------ refutations
    def _signs(self, case: Node, given: int, negative: tuple[int, int]) -> list[Equation]:
        """The signs of both sums where a case says what they are."""
        d, g = self.d, self.g
        made = []
        for x, value in zip(self.sums, negative, strict=True):
            bit = x.own.sign
            known = d.lemma("the sign of a sum", bit if value else g.not_(bit), [given], (self._cut,))
            made.append(self.z.bit(known, bit, value))
        return made

    @property
    def _cut(self) -> list[Node]:
        """What cases are made of."""
        return [
            n for x in self.sums
            for n in (x.bracket.kept, x.bracket.away, x.bracket.height, x.bracket.empty, x.own.sign)
        ]  # fmt: skip

    def _refuted(self, case: Node, equations: Sequence[Equation], parts: Sequence[Part]) -> int:
        """Not the case: the parts add up to 0 there, and to more than 0."""
        return self.d.refute(self.z.rewritten(Poly.constant(0), equations, parts), case)

    def _across(self, gap: int, case: Node) -> int:
        """No smaller sum is positive beside a negative one."""
        one, two = self.sums
        given = self.d.assume(case)
        parts: list[Part] = [(1, [gap])]
        for x, error in ((one, one.errors[1]), (two, two.errors[0])):
            kept = x.bracket.unit * Poly.of(x.bracket.kept)
            parts += [(1, [error]), (1, [x.bracket.floor]), (kept, [])]
        return self._refuted(case, self._signs(case, given, (0, 1)), parts)

    def _between(self, gap: int, negative: int, small: RoundedSum, large: RoundedSum) -> list[Part]:
        """large's magnitude - small's > 0, with what the sums lost."""
        return [(1, [gap]), (1, [small.errors[1 - negative]]), (1, [large.errors[negative]])]

    def _fact(self, case: int, what: str, goal: Node) -> int:
        d = self.d
        return d.fact(d.lemma(what, goal, [case], (self._cut,)))

    def _same(self, case: int, x: Bracket, y: Bracket) -> Equation:
        """Equal heights."""
        return self.d.equal("equal heights", y.height, x.height, [case], (self._cut,)), y.height

    def _taller(self, gap: int, case: Node, negative: int, small: RoundedSum, large: RoundedSum) -> int:
        """No smaller magnitude has its leading bit at a larger weight."""
        d, g, x, y = self.d, self.g, small.bracket, large.bracket
        given, p = d.assume(case), x.kept.width
        half = g.const(1 << (p - 1), p)
        full = self._fact(given, "a leading bit", g.ule(half, x.kept))
        ratio = d.power(self._fact(given, "a larger weight", g.ult(y.height, x.height)))
        parts = [
            *self._between(gap, negative, small, large), (1, [x.floor]), (1, [y.ceiling]),
            (x.unit, [full]), (y.unit, [d.range(y.kept)]), (y.unit * (1 << p), [ratio]),
        ]  # fmt: skip
        return self._refuted(case, self._signs(case, given, (negative, negative)), parts)

    def _longer(self, gap: int, case: Node, negative: int, small: RoundedSum, large: RoundedSum) -> int:
        """Of no smaller magnitude of one height more is kept."""
        d, g, x, y = self.d, self.g, small.bracket, large.bracket
        given = d.assume(case)
        more = self._fact(given, "what is kept", g.ult(y.kept, x.kept))
        same = self._same(given, x, y)
        parts = [
            *self._between(gap, negative, small, large), (1, [x.floor]), (1, [y.ceiling]), (x.unit, [more]),
        ]  # fmt: skip
        return self._refuted(case, [*self._signs(case, given, (negative, negative)), same], parts)

    def _rounded_up(self, gap: int, case: Node, negative: int, small: RoundedSum, large: RoundedSum) -> int:
        """No smaller magnitude of which as much is kept is rounded up where the larger is not."""
        d, g, x, y = self.d, self.g, small.bracket, large.bracket
        given = d.assume(case)
        kept = d.equal("what is kept", y.kept, x.kept, [given], (self._cut,))
        same = self._same(given, x, y)
        up = d.lemma("rounding", x.away, [given], (self._cut,))
        down = d.lemma("rounding", g.not_(y.away), [given], (self._cut,))
        ends = [self._given(x.upper, x.away, up), self._given(y.lower, g.not_(y.away), down)]
        parts = [*self._between(gap, negative, small, large), (1, [ends[0]]), (1, [ends[1]])]
        equations = [*self._signs(case, given, (negative, negative)), (kept, y.kept), same]
        return self._refuted(case, equations, parts)

    def _empty(self, gap: int, case: Node, negative: int, small: RoundedSum, large: RoundedSum) -> int:
        """No larger magnitude is zero."""
        d, x, y = self.d, small.bracket, large.bracket
        given = d.assume(case)
        none = self._given(y.none, y.empty, d.lemma("nothing", y.empty, [given], (self._cut,)))
        parts = [
            *self._between(gap, negative, small, large), (1, [x.floor]), (1, [none]),
            (x.unit * Poly.of(x.kept), []),
        ]  # fmt: skip
        return self._refuted(case, self._signs(case, given, (negative, negative)), parts)

    def _given(self, i: int, bit: Node, shown: int) -> int:
        """A theorem that holds where a bit is 1, with the hypotheses of the theorem that it is."""
        d = self.d
        absent = d.lemma("a bit", self.g.truth(False), [shown, d.assume(self.g.not_(bit))], ((bit,),))
        about = d.about(i)
        never = d.arith([(about * -1, [d.fact(absent)])])
        return d.cases(bit, i, never)
