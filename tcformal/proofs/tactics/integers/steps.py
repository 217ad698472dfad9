"""The exact sum of a whole dot product of integers where every sum is exact and then rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.integer_sums import IntegerSum
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.rounded import flags_of
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.integers.cut import WholeCut
from tcformal.proofs.tactics.integers.numbers import WholeNumbers, WholeValue, sum_of_magnitudes
from tcformal.proofs.tactics.integers.operands import WholeOperands
from tcformal.proofs.tactics.integers.rounding import WholeRounding
from tcformal.proofs.tactics.integers.sums import StepSum, WholeSum
from tcformal.proofs.tactics.integers.wholes import whole_magnitude
from tcformal.proofs.tactics.rounded.inputs import Taken
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.proofs.tactics.rounded.kept import KeptResult, ResultFlush
from tcformal.proofs.tactics.rounded.lifted import leading, settled
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.proofs.tactics.windows.fixed import FixedSum
from tcformal.semantics.number import Number
from tcformal.semantics.round import convert
from tcformal.semantics.stages import Dot, DotStep, Operand, Rounded, SpecialCases
from tcformal.semantics.sums.step import as_term

#: The numbers that a step takes in, and which step made each.
StepInputs = Sequence[tuple[Number, int | None]]


class StepsProof:
    """The proof of one statement about one dot product."""

    def __init__(self, d: Derivation, stated: IntegerSum, dot: Dot) -> None:
        self.z, self.d, self.g, self.stated, self.dot = IntegerSteps(d), d, d.g, stated, dot
        self.design, self.operands = stated.unit.design, WholeOperands(IntegerSteps(d), stated, dot)
        finite = {x.finite for t in stated.terms for x in t.factors}
        self.finite = [d.assume(x) for x in stated.hypotheses if x in finite]
        magnitudes = [x.magnitude for x in (stated.wholes[-1], *stated.wholes[:-1])]
        total, bound = sum_of_magnitudes(d, magnitudes, stated.total, stated.most, d.assume(stated.limit))
        self.w = WholeNumbers(self.z, stated.most, total, bound)
        self.terms = [self._stated(k) for k in range(len(stated.terms))]
        #: The results of steps, and that they are finite.
        self.made: list[WholeValue] = []
        self.clean: list[list[int]] = []
        #: What else is known of them.
        self.facts: list[Sequence[int]] = []

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, stated, steps = self.d, self.stated, list(self.dot.steps)
        numbers = self.operands.numbers(steps)
        kept: SummedTerm | None = None
        for i in range(len(steps)):
            kept = self._step(steps, i, numbers[i])
            self.operands.made(i, Taken(kept, Fraction(0), 0, 0))
        assert kept is not None, "a dot product has a step"
        t = kept.term
        special = steps[-1].specials
        assert special is not None, "a step is rounded"
        x = special.result
        cut = [t.sign, t.significand, t.exponent.bits, x.inf, x.nan]
        what, finite = "that d is finite", stated.d.finite
        shown = d.lemma(what, finite, [*self.clean[-1], *kept.facts], (cut, [*cut, *t.significand.args], []))
        same = self.operands.packed(stated.d, kept, shown)
        (_, first), (_, goal) = stated.conclusions
        return [
            d.prove(first, [], [(1, [d.fact(shown)])]),
            self.z.rewritten(goal, same.equations, [(1, [same.equal]), (1, [self.made[-1].summed])]),
        ]

    # ------------------------------------------------------------------ terms
    def _stated(self, k: int) -> WholeValue:
        """A product or c of the statement."""
        d, g, t, w = self.d, self.g, self.stated.terms[k], self.stated.wholes[k]
        given = [d.assume(w.whole), d.assume(w.small)]
        own = whole_magnitude(d, w, t.fraction_bits, given)
        signs = [x.sign for x in t.factors if x.sign.op != "const"] or [g.truth(False)]
        sign = signs[0]
        for x in signs[1:]:
            sign = g.xor(sign, x)
        equations: list[Equation] = []
        if k < len(self.stated.terms) - 1 and self.design.subtracts(k):
            # The sign that the definition has, of a product that is subtracted.
            sign, signs = self.operands.inputs.number(k).term.sign, []
            equations = [y for x in t.factors for y in d.expanded(x.sign, [], "a sign")]
        equations += [
            *d.expanded(sign, signs, "a sign"),
            *d.expanded(w.significand, [x.significand for x in t.factors], "a product"),
            *d.expanded(w.code, [x.exponent for x in t.factors], "an exponent"),
        ]
        goal = t.value - sign_of(sign) * Poly.of(w.magnitude)
        signed = self.z.rewritten(goal, equations, [(sign_of(sign) * -1, [own])])
        none, taken = d.arith([]), Poly.of(w.magnitude)
        small = self.w.small(w.magnitude, taken, none)
        return WholeValue(t.value, sign, w.magnitude, t.value, taken, signed, none, none, small)

    # ------------------------------------------------------------------ one step
    def _step(self, steps: Sequence[DotStep], i: int, numbers: StepInputs) -> SummedTerm:
        """The result of a step is the sum of its operands."""
        d, step = self.d, steps[i]
        if step.floor is not None:
            raise ProofError("a step is rounded twice")
        for x, (number, source) in zip(step.operands, numbers, strict=True):
            if source is not None and steps[source].specials is not None:
                given = [*self.clean[source], *self.facts[source]]
                self.operands.unpacked(x, number, source, given, self._parts(steps[source]))
        taken = self.operands.taken(step, numbers)
        summands = [x.summand for x in taken]
        xs = [self._of(x, s, n[1]) for x, s, n in zip(step.operands, summands, numbers, strict=True)]
        exact = self._sum(step, summands, xs)
        if step.rounded is None or step.specials is None:
            return self._as_it_is(exact)
        value, same = exact.value, exact.same
        flags = self._flags(step.specials, steps, numbers)
        plain = self._plain(step.rounded, exact)
        rounding = WholeRounding(
            self.w, plain, exact.magnitude, exact.lsb, value.magnitude, same, value.small, exact.ranges
        )
        fits = self._fits(step.rounded, rounding)
        given = [fits, *flags]
        special = step.specials.result
        cut = [step.rounded.result.inf, *flags_of(step.specials)]
        what = "that a sum of integers is finite"
        clean = [d.lemma(what, self.g.not_(f), given, (cut,)) for f in (special.inf, special.nan)]
        handed = ResultFlush(self.z, step.rounded, step.specials, rounding, rounding.normal())
        flushed = self.design.result_subnormals != "kept"
        least = Fraction(2) ** step.rounded.target.e_min if flushed else Fraction(0)
        kept = handed.result(exact.sign, exact.whole, [*clean, *flags], fits, least)
        self.clean.append(clean)
        self.facts.append(kept.summand.facts)
        self.made.append(self._result(handed, kept, exact, rounding))
        if self.stated.unit.tree is None:
            return kept.summand
        # The next sum may flush what it takes in.
        normal, size = rounding.whole(rounding.normal()), kept.summand.term.significand
        if size is not rounding.significand:
            goal = self.g.or_(self.g.top(size), self.g.is_zero(size))
            cut = [rounding.significand, *(x for x in size.args if x.width == 1)]
            normal = d.lemma("that an integer is normal", goal, [normal], (cut,))
        return replace(kept.summand, facts=(*kept.summand.facts, normal))

    def _parts(self, step: DotStep) -> list[Node]:
        """What the result of a step is made of."""
        assert step.specials is not None, "a step is rounded"
        x = step.specials.result
        return [x.inf, x.nan, x.term.sign, x.term.significand, x.term.exponent.bits]

    def _as_it_is(self, exact: StepSum) -> SummedTerm:
        """A sum that goes on as it is."""
        d, g, total, value = self.d, self.g, exact.total, exact.value
        assert total is not None, "a sum"
        assert exact.addition is not None, "a sum of aligned terms"
        t = as_term(g, total)
        if t.significand is not exact.magnitude or t.sign is not exact.sign:
            raise ProofError("a sum is another term of the next one")
        own = sign_of(t.sign)
        number = own * Poly.of(t.significand) * power(total.lsb)
        cut = ([total.bits],)
        empty = d.lemma("that a zero is empty", g.or_(g.not_(t.zero), g.is_zero(t.significand)), (), cut)
        within = [exact.addition.within(total.bits)]
        some = d.lemma("that another number is not", g.or_(t.zero, g.any_bit(t.significand)), within, cut)
        signed = d.prove(number - own * Poly.of(value.magnitude), [], [(own, [exact.same])])
        summed = d.prove(
            number - value.exact, [], [(1, [signed]), (1, [exact.turned]), (1, [value.summed])]
        )  # fmt: skip
        self.made.append(replace(value, value=number, sign=t.sign, signed=signed, summed=summed))
        self.clean.append([])
        self.facts.append(())
        return SummedTerm(number, t, d.arith([]), empty, some, tuple(exact.ranges))

    def _of(self, operand: Operand, summand: SummedTerm, source: int | None) -> WholeValue:
        """An operand of a step as an integer."""
        if source is not None:
            return replace(self.made[source], value=summand.value)
        kind, ks = operand.kind, operand.ks
        if kind == "products":
            return self.terms[ks[0]]
        return self.terms[-1] if kind == "c" else self.w.nothing(summand.value, summand.term.sign)

    def _sum(self, step: DotStep, summands: list[SummedTerm], xs: list[WholeValue]) -> StepSum:
        """The exact sum of a step's operands."""
        d, w, total = self.d, self.w, step.total
        signs = [x.term.sign for x in summands]
        if total is None:
            (s,), (x,) = summands, xs
            t = s.term
            equal = w.size(s, x)
            turned = d.prove(
                sign_of(t.sign) * Poly.of(x.magnitude) - x.value, [],
                [(-1, [s.equation]), (sign_of(t.sign) * -1, [equal])],
            )  # fmt: skip
            lsb = t.exponent.shifted(-t.fraction_bits)
            whole = [t.sign, t.significand, t.exponent.bits]
            return StepSum(t.sign, t.significand, lsb, x, equal, turned, s.ranges, whole)
        value = w.added(xs)
        if len(summands) > 2 and len(total.terms) == 2:
            summands = [FixedSum(self.z, summands[:-1]).summand(), summands[-1]]
            xs = [w.added(xs[:-1]), xs[-1]]
        addition: Addition | None = None
        if step.exact:
            pair = WholeSum(w, total, summands, xs)
            (summed, same), ranges = pair.whole(), pair.e_range
        else:
            rows = zip(step.operands, summands, xs, strict=True)
            limits = [self.operands.limit(w, *row, total.fraction_bits) for row in rows]
            cut = WholeCut(w, total, summands, xs, limits)
            summed, same, addition = cut.whole()
            ranges = cut.ranges
        size = Poly.of(summed.magnitude) * power(total.lsb)
        both = d.prove(
            sign_of(summed.sign) * size - sign_of(value.sign) * Poly.of(value.magnitude), [],
            [(-1, [same]), (1, [value.signed])],
        )  # fmt: skip
        equal = w.unsigned(size, summed.sign, value, both)
        turned = d.prove(
            sign_of(summed.sign) * Poly.of(value.magnitude) - value.value, [],
            [(-1, [same]), (sign_of(summed.sign) * -1, [equal])],
        )  # fmt: skip
        whole = [total.bits, total.e_max.bits, *signs]
        return StepSum(
            summed.sign, summed.magnitude, total.lsb, value, equal, turned, ranges, whole, addition, total
        )  # fmt: skip

    def _plain(self, rounded: Rounded, exact: StepSum) -> Rounded:
        """The conversion as it would be if it flushed nothing."""
        if self.design.result_subnormals != "tiny_zero":
            return rounded
        g = self.g
        with g.scope(f"again.kept{rounded.kept.index}"):
            sign = rounded.result.term.sign
            plain = convert(
                g, sign, exact.magnitude, exact.lsb, rounded.target, overflow=self.design.overflow
            )
        if plain.normalised is not rounded.normalised:
            raise ProofError("a number that is flushed is not the one that it would be")
        return plain

    def _fits(self, rounded: Rounded, x: WholeRounding) -> int:
        """That nothing overflows, of the conversion with its flush."""
        d, over = self.d, self.g.not_(rounded.result.inf)
        if rounded is x.r:
            return x.fits
        return d.lemma("that nothing overflows", over, [*settled(d, x.r), x.fits], (leading(x.r),))

    def _flags(
        self, specials: SpecialCases, steps: Sequence[DotStep], numbers: Sequence[tuple[Number, int | None]]
    ) -> list[int]:
        """That no operand of a sum is Inf or NaN."""
        given, cut, more = list(self.finite), list[Node](), list[Node]()
        for number, source in numbers:
            if source is None:
                continue
            given += self.clean[source]
            if (special := steps[source].specials) is not None:
                given += [*self.clean[source], *self.operands.of_word(source), *self.facts[source]]
                cut += [special.result.inf, special.result.nan, number.inf, number.nan]
                more += self._parts(steps[source])
        what = "that integers are finite"
        return [self.d.lemma(what, self.g.not_(x), given, (cut, more)) for x in flags_of(specials)]

    # ------------------------------------------------------------------ the result
    def _result(self, handed: ResultFlush, kept: KeptResult, exact: StepSum, x: WholeRounding) -> WholeValue:
        """The result of a step as an integer: what it rounds."""
        z, d, value = self.z, self.d, exact.value
        n, own = value.magnitude, sign_of(exact.sign)
        goal = kept.value - own * Poly.of(n)
        signed = z.rewritten(goal, kept.exponent, [(-1, [kept.equal]), (own, [x.exact])])
        if kept.flush is not None:
            bit, none = kept.flush
            zero = self._flushed(handed, d.assume(self.g.not_(bit)), x)
            signed = d.cases(bit, signed, z.rewritten(goal, [(zero, n)], [(1, [none])]))
        # The value is ±n with the sign of the circuit's sum, whose value is that of the integers.
        same = d.prove(kept.value - value.value, [], [(1, [signed]), (1, [exact.turned])])
        summed = d.prove(kept.value - value.exact, [], [(1, [same]), (1, [value.summed])])
        return replace(value, value=kept.value, sign=exact.sign, signed=signed, summed=summed)

    def _flushed(self, handed: ResultFlush, no: int, x: WholeRounding) -> int:
        """An integer whose result is flushed is 0."""
        known, size = handed.none(no)
        code = [(i, node) for i, node in known if node is x.code.bits]

        def wrong(least: int) -> int:
            top = self.d.about(size) + Poly.of(x.significand)
            goal = top * Poly.constant(x.code.low + 1 - x.p).power_of_two() - Poly.constant(1)
            return self.z.rewritten(goal, code, [(1, [least]), (1, [x.exact]), (x.ulp, [size])])

        return self.w.zero(x.x, wrong)
