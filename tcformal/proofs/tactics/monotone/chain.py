"""The order of two results of a dot product, from that of c: one rounded sum after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.monotone import MonotoneSum
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.rounded import flags_of
from tcformal.proofs.tactics.monotone.bracket import BracketedRounding
from tcformal.proofs.tactics.monotone.order import NumberOrder, value_of
from tcformal.proofs.tactics.monotone.step import MonotoneStep, RoundedSum
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.inputs import UnitInputs
from tcformal.proofs.tactics.rounded.integers import IntegerSteps
from tcformal.proofs.tactics.rounded.kept import ResultFlush
from tcformal.proofs.tactics.rounded.operands import StepNumbers
from tcformal.proofs.tactics.rounded.sums import StickySum, SummedTerm
from tcformal.proofs.tactics.windows.fixed import FixedSum
from tcformal.semantics.number import Number
from tcformal.semantics.stages import Dot, DotStep, Operand

_Numbers = Sequence[Sequence[tuple[Number, int | None]]]


class MonotoneProof:
    """The proof of one statement about two dot products with the same products."""

    def __init__(self, d: Derivation, stated: MonotoneSum, dots: tuple[Dot, Dot]) -> None:
        self.z, self.d, self.g, self.stated, self.dots = IntegerSteps(d), d, d.g, stated, dots
        self.inputs = UnitInputs(self.z, stated.unit)
        words = (self.g.inputs["c"], self.g.inputs["c2"])
        sides = zip(dots, stated.d, words, strict=True)
        self.sides = [StepNumbers(self.z, self.inputs, dot, d, c) for dot, d, c in sides]
        self.steps = [list(dot.steps) for dot in dots]
        self.numbers: list[_Numbers] = [
            x.numbers(steps) for x, steps in zip(self.sides, self.steps, strict=True)
        ]
        self.clean = [
            x.clean(steps, numbers)
            for x, steps, numbers in zip(self.sides, self.steps, self.numbers, strict=True)
        ]
        #: What the latest step on the way from c made in both, and the theorem on their order.
        self.latest: tuple[int | None, tuple[SummedTerm, SummedTerm], int] | None = None

    def conclusions(self) -> list[int]:
        """The theorem of the statement; ProofError with one sentence where a step is not found."""
        count = len(self.steps[0])
        for i in range(count):
            moved = [
                k for k, (x, y) in enumerate(zip(*(n[i] for n in self.numbers), strict=True))
                if x[0].term != y[0].term
            ]  # fmt: skip
            if len(moved) > 1:
                raise ProofError("a step takes in more than one number that c decides")
            if moved:
                self._step(i, moved[0])
        if self.latest is None or self.latest[0] != count - 1:
            raise ProofError("the last step is not on the way from c")
        _, results, ordered = self.latest
        gap = self._order(results, 0).at_most(ordered)
        words = [
            side.packed(side.word, x, self.d.assume(side.word.finite)).equal
            for side, x in zip(self.sides, results, strict=True)
        ]
        ((_, goal),) = self.stated.conclusions
        return [self.z.rewritten(goal, [], [(1, [gap]), (1, [words[1]]), (-1, [words[0]])])]

    def _order(self, pair: Sequence[SummedTerm], least: int) -> NumberOrder:
        return NumberOrder(self.z, pair[0], pair[1], least)

    # ------------------------------------------------------------------ operands
    def _operand(self, i: int, k: int) -> tuple[NumberOrder, int]:
        """The operand that is not the same in both: its order, and the theorem that says so."""
        numbers = [n[i][k] for n in self.numbers]
        if numbers[0][1] is not None:
            if self.latest is None or numbers[0][1] != self.latest[0]:
                raise ProofError("c decides a number that goes to more than one step")
            _, results, ordered = self.latest
            if any(x.term is not n.term for x, (n, _) in zip(results, numbers, strict=True)):
                raise ProofError("no tactic is written for the order of results that are unpacked again")
            return self._order(results, 0), ordered
        known = []
        for side, (number, _) in zip(self.stated.c, numbers, strict=True):
            finite = () if side.finite.op == "const" else (self.d.assume(side.finite),)
            known.append(self._free(number, finite))
        order = self._order(known, int(self.stated.unit.operands.c.has_zero))
        given = [self.d.assume(self.stated.ordered), *known[0].facts, *known[1].facts]
        return order, self.d.lemma("the order of c", self.g.not_(order.more), given, ((),))

    def _free(self, number: Number, facts: tuple[int, ...] = ()) -> SummedTerm:
        """A number by itself."""
        x = SummedTerm(value_of(number.term), number.term, self.d.arith([]), 0, 0, (), facts)
        return self.inputs.summand(number, x)

    def _shared(self, i: int, k: int) -> SummedTerm:
        """An operand that is the same in both."""
        operand: Operand = self.steps[0][i].operands[k]
        number, source = self.numbers[0][i][k]
        if source is not None:
            return self._made(0, source, number)
        if operand.kind == "products":
            return self.inputs.summand_of_product(
                operand.ks[0], value_of(number.term), number, self.d.arith([])
            )
        return self._free(number)

    def _made(self, side: int, i: int, number: Number) -> SummedTerm:
        """The result of a step as an operand, by what is known of every result."""
        z, d, g, step, clean = self.z, self.d, self.g, self.steps[side][i], self.clean[side][i]
        if step.rounded is None or step.specials is None:
            raise ProofError("a step is not rounded")
        if self.inputs.design.result_subnormals == "tiny_zero":
            raise ProofError("no tactic is written for the order of results that are flushed where tiny")
        r = step.rounded
        fits = d.lemma(
            "that nothing overflows", g.not_(r.result.inf), clean, ([r.result.inf, *flags_of(step.specials)],)
        )
        whole = MagnitudeRounding(z, r, r.magnitude, r.top.shifted(1 - r.magnitude.width), None, fits, [])
        known = ResultFlush(z, r, step.specials, whole, whole.normal())
        x = known.summand(value_of(number.term), clean, fits)
        return self.inputs.summand(number, x)

    # ------------------------------------------------------------------ one step
    def _step(self, i: int, k: int) -> None:
        order, ordered = self._operand(i, k)
        shared = [self._shared(i, j) for j in range(len(self.numbers[0][i])) if j != k]
        sums, results = [], []
        for side, mine in enumerate((order.x, order.y)):
            step = self.steps[side][i]
            terms, place = [*shared[:k], mine, *shared[k:]], k
            if step.total is not None and len(terms) > 2 and len(step.total.terms) == 2:
                if k != len(terms) - 1:
                    raise ProofError("c is among the products of a sum in one window")
                terms, place = [FixedSum(self.z, terms[:-1]).summand(), mine], 1
            made, result = self._sum(side, i, step, terms)
            sums.append(made)
            results.append(result)
        pair = (results[0], results[1])
        goal = self.g.not_(self._order(pair, 0).more)
        self.latest = i, pair, MonotoneStep(self.z, sums, order, place).proved(ordered, goal)

    def _sum(
        self, side: int, i: int, step: DotStep, terms: Sequence[SummedTerm]
    ) -> tuple[RoundedSum, SummedTerm]:
        """One of both sums, and its result as an operand."""
        z, d, g, clean = self.z, self.d, self.g, self.clean[side][i]
        if step.rounded is None or step.specials is None or step.total is None:
            raise ProofError("a step is no rounded sum")
        if len(terms) != 2:
            raise ProofError(f"no tactic is written for the order of sums of {len(terms)} numbers")
        number = self._handed_on(side, i, step)
        made = self._made(side, i, number)
        flags = flags_of(step.specials)
        over = step.rounded.result.inf
        fits = d.lemma("that nothing overflows", g.not_(over), clean, ([over, *flags],))
        pair = StickySum(z, step.total, terms).error()
        own = pair.summed
        rounding = BracketedRounding(
            z, step.rounded, own.magnitude, step.total.lsb, pair.sticky, fits, pair.ranges
        )
        bracket = rounding.bracket()
        value = Poly.constant(0)
        for x in terms:
            value = value + x.value
        t = step.specials.result.term
        same = g.or_(g.eq(t.sign, own.sign), g.is_zero(rounding.significand))
        signs = [x.term.sign for x in terms]
        cuts: tuple[list[Node], ...] = ([step.total.bits, step.total.e_max.bits, *signs, *flags], [])
        agree = d.lemma("the sign of a result", same, clean, cuts)
        summed = RoundedSum(
            step.total, value, own, pair.errors, bracket, step.specials, number, agree,
            (fits, *clean), tuple(flags),
        )  # fmt: skip
        return summed, made

    def _handed_on(self, side: int, i: int, step: DotStep) -> Number:
        """The result of a step as what takes it in has it; the last one's own."""
        for row in self.numbers[side]:
            for number, source in row:
                if source == i:
                    return number
        assert step.specials is not None
        return step.specials.result
