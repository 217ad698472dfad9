"""The operands of steps, in terms of a statement about integers: their values, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET, Encoded
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.integer_sums import IntegerSum, WholeNumber
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of
from tcformal.proofs.tactics.integers.numbers import WholeNumbers, WholeValue
from tcformal.proofs.tactics.integers.wholes import Reach, stated_term
from tcformal.proofs.tactics.rounded.inputs import StatedInputs, Taken
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.proofs.tactics.rounded.operands import StepOperands
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Number
from tcformal.semantics.special import flush
from tcformal.semantics.stages import Dot, DotStep, Operand
from tcformal.semantics.sums.step import as_term


class WholeInputs(StatedInputs):
    """Products and c that are integers."""

    stated: IntegerSum  # type: ignore[assignment]

    def known(self, stated: Encoded) -> list[int]:
        """That a factor is finite, and none that counts as zero."""
        made, s = super().known(stated), self.stated
        for t, normal in zip(s.terms, s.normal, strict=True):
            bit = self.g.or_(self.g.top(stated.significand), self.g.is_zero(stated.significand))
            if stated in t.factors and bit in normal:
                return [*made, self.d.assume(bit)]
        (c,) = s.terms[-1].factors
        if stated is c and self.design.c_subnormals != "kept":
            made.append(self._normal_c(c, s.wholes[-1]))
        return made

    def _normal_c(self, c: Encoded, w: WholeNumber) -> int:
        """A c that is an integer is normal, or zero."""
        goal = self.g.or_(self.g.top(c.significand), self.g.is_zero(c.significand))
        return self.d.lemma("that an integer is normal", goal, [self.d.assume(w.whole)])

    def _sized(self, stated: StatedTerm, summand: SummedTerm, k: int) -> Taken:
        nothing = self.d.arith([])
        return Taken(summand, Fraction(0), nothing, nothing)


class WholeOperands(StepOperands):
    """The operands of every step, in terms of the statement about integers."""

    def __init__(self, z: IntegerSteps, stated: IntegerSum, dot: Dot) -> None:
        super().__init__(z, stated, dot)  # type: ignore[arg-type]
        self.inputs = self.products = WholeInputs(z, stated)  # type: ignore[arg-type]
        self.stated = stated

    def number_of(self, x: Operand, steps: Sequence[DotStep]) -> Number:
        """The number that an operand is, that of a sum that is not rounded among them."""
        total = steps[self._latest[x]].total if x in self._latest else None
        if total is None or steps[self._latest[x]].rounded is not None:
            return super().number_of(x, steps)
        no = self.g.truth(False)
        return Number(as_term(self.g, total), no, no)

    def numbers(self, steps: Sequence[DotStep]) -> list[list[tuple[Number, int | None]]]:
        """The operands of every step; some stages of trees flush what they take in."""
        found = super().numbers(steps)
        for step, row in zip(steps, found, strict=True):
            terms = () if step.total is None else step.total.terms
            for i, (x, aligned) in enumerate(zip(step.operands, terms, strict=False)):
                number, source = row[i]
                again = flush(self.g, number, self.design.c_subnormals)
                if (
                    x.kind == "tree"
                    and normalise_term(self.g, again.term).significand is aligned.term.significand
                ):
                    row[i] = again, source
        return found

    def unpacked(
        self, x: Operand, number: Number, source: int, given: Sequence[int], cut: list[Node]
    ) -> None:
        """That a number which is read from the word of a finite result is finite."""
        if x.kind == "parts":
            what, g = "that a word is finite", self.g
            flags = [g.not_(f) for f in (number.inf, number.nan)]
            self._of_words[source] = [self.d.lemma(what, f, given, (cut,)) for f in flags]

    def of_word(self, source: int) -> list[int]:
        """The same as theorems, of numbers that are."""
        return self._of_words.get(source, [])

    # ------------------------------------------------------------------ exponents
    def limit(self, w: WholeNumbers, x: Operand, s: SummedTerm, value: WholeValue, bits: int) -> int:
        """That an operand is zero, or its exponent's code is at most OFFSET + bits."""
        d, g, t = self.d, self.g, s.term
        goal = g.or_(t.zero, g.ule(code_of(g, t.exponent), g.const(OFFSET + bits, CODE_BITS)))
        if x.kind == "products" and not self.design.normalise_operands:
            finite = [i for y in self.stated.terms[x.ks[0]].factors for i in self.inputs.known(y)]
            return d.lemma("the exponent of an integer", goal, [self._stated(w, x.ks[0], bits), *finite])
        cut = ([t.zero, t.exponent.bits],)

        def proved(none: bool, i: list[int], _: list[Equation]) -> list[int]:
            given = i if none else [*i, self._near(w, x, s, value, bits, i)]
            return [d.lemma("the exponent of an integer", goal, given, cut)]

        return self.z.cases(t.zero, proved)[0]

    def _stated(self, w: WholeNumbers, k: int, bits: int) -> int:
        """The same of a product of the statement."""
        stated = self.stated
        t, none = stated.terms[k], self.d.arith([])
        known = KnownTerm(t.value, t.factors, self.inputs.number(k).term, t.code, t.nonzero, none)
        reach = Reach(w.most, bits, 0)
        return stated_term(self.d, reach, t, stated.wholes[k], known, stated.normal[k]).limits[0]

    def _near(
        self, w: WholeNumbers, x: Operand, s: SummedTerm, value: WholeValue, bits: int, some: list[int]
    ) -> int:
        """That the exponent of an integer that is not zero, as `some` says, is at most `bits`."""
        d, t = self.d, s.term
        far, more = w.beyond(t.exponent, bits)
        least, size = self._least(x, s, [*some, d.assume(far)])
        unit = power(t.exponent, -t.fraction_bits)
        top = Poly.constant(bits + 1 - t.fraction_bits).power_of_two() * least
        parts: list[Part] = [(1, [value.small]), (-1, [w.size(s, value)]), (unit, [size])]
        return d.refute(d.arith([*parts, (top, [d.power(more)])]), far)

    def _least(self, x: Operand, s: SummedTerm, given: list[int]) -> tuple[int, int]:
        """How large the significand is at least where the exponent is not small, and that it is."""
        d, g, t = self.d, self.g, s.term
        if x.kind == "products":
            a, b = (y.term.significand for y in self.inputs.factors(x.ks[0]))
            flags = [y.term.zero for y in self.inputs.factors(x.ks[0])]
            facts = []
            for y, zero in zip((a, b), flags, strict=True):
                some = d.lemma("that a factor is not zero", g.not_(zero), given[:1], (flags,))
                large = g.ule(g.const(1 << (y.width - 1), y.width), y)
                facts.append(d.fact(d.lemma("that a factor is normalised", large, [some])))
            one, two = 1 << (a.width - 1), 1 << (b.width - 1)
            known: list[Equation] = [(d.read(t.significand), t.significand)]
            # a·b - A·B = (a - A)·b + A·(b - B)
            parts: list[Part] = [(Poly.of(b), [facts[0]]), (one, [facts[1]])]
            goal = Poly.of(t.significand) - Poly.constant(one * two)
            return one * two, self.z.rewritten(goal, known, parts)
        width, code = t.significand.width, t.exponent.bits
        normal = g.or_(g.top(t.significand), g.ule(code, g.const(1, code.width)))
        cut = ([t.sign, *s.inner] if s.inner else [],)
        shown = d.lemma("that a number is normal", normal, s.facts, cut)
        lead = d.lemma(
            "that a number has its leading bit",
            g.top(t.significand),
            [shown, *given],
            ([t.significand, code, t.zero],),
        )
        large = g.ule(g.const(1 << (width - 1), width), t.significand)
        return 1 << (width - 1), d.fact(d.lemma("the size of a number", large, [lead], ([t.significand],)))
