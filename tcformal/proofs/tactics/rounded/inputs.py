"""The terms of the statement as numbers of the definition: their values, that they are zero, their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.design.unit import UnitSpec
from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET, Encoded
from tcformal.proofs.statements.error_bound import ErrorBound, StatedTerm
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.factors import normalised_factor, widened_factor
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, in_range, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.mma import negated
from tcformal.semantics.normalise import normalise_term
from tcformal.semantics.number import Number
from tcformal.semantics.pack import converted_word
from tcformal.semantics.product import product
from tcformal.semantics.special import flush
from tcformal.semantics.unpack import unpack
from tcformal.theory.stated_sum import operand_rules


@dataclass(frozen=True, slots=True)
class Taken:
    """An operand of a step; theorems: most · 2^E ∓ value >= 0 (`less`, `more`)."""

    summand: SummedTerm
    most: Fraction
    less: int
    more: int


class UnitInputs:
    """Products as the definition has them."""

    def __init__(self, z: IntegerSteps, unit: UnitSpec) -> None:
        self.z, self.d, self.g, self.unit = z, z.d, z.g, unit
        self.design = unit.design
        self._known: dict[int, tuple[Number, Number]] = {}

    def number(self, k: int) -> Number:
        """A product, as the definition has it."""
        g, (a, b) = self.g, self.factors(k)
        return negated(g, product(g, negated(g, a), b)) if self.design.subtracts(k) else product(g, a, b)

    def factors(self, k: int) -> tuple[Number, Number]:
        """Both factors of a product, as the definition has them; of one that is subtracted -a and b."""
        g, unit = self.g, self.unit
        if k in self._known:
            return self._known[k]
        made = []
        formats = unit.operands.a, unit.operands.b
        for x, fmt, rule in zip("ab", formats, operand_rules(self.design), strict=True):
            word = self.g.inputs[f"{x}[{k}]"]
            if unit.emulation is not None:
                with g.scope(f"again.{x}{k}"):
                    word = converted_word(g, word, fmt, unit.emulation.converted)
                fmt = unit.emulation.converted
            made.append(flush(g, unpack(g, word, fmt), rule))
        if self.design.subtracts(k):
            made[0] = negated(g, made[0])
        if self.design.normalise_operands:
            made = [replace(x, term=normalise_term(g, x.term)) for x in made]
        self._known[k] = made[0], made[1]
        return self._known[k]

    def summand(self, number: Number, x: SummedTerm) -> SummedTerm:
        """A number with what is known of its being zero."""
        d, g, t = self.d, self.g, number.term
        cut = ([t.sign, *x.inner] if x.inner else [],)
        empty = g.or_(g.not_(t.zero), g.is_zero(t.significand))
        some = g.or_(t.zero, g.any_bit(t.significand))
        return replace(
            x, term=t, empty=d.lemma("that a zero is empty", empty, x.facts, cut),
            some=d.lemma("that another number is not", some, x.facts, cut),
        )  # fmt: skip

    def ranges(self, k: int, number: Number) -> list[int]:
        """The range of a product's exponent."""
        a, b = (y.term for y in self.factors(k))
        # A normalised exponent has a code that holds others, too.
        cut = [] if self.design.normalise_operands else [a.exponent.bits, b.exponent.bits]
        return in_range(self.z, "the range of a product", number.term.exponent, (), cut)

    def summand_of_product(self, k: int, value: Poly, number: Number, equation: int) -> SummedTerm:
        """A product is zero where a factor is."""
        d, g, t = self.d, self.g, number.term
        a, b = (x.term for x in self.factors(k))
        empty = []
        for x in (a, b):
            goal = g.or_(g.not_(x.zero), g.is_zero(x.significand))
            empty.append(d.lemma("that a zero is empty", goal, (), ((),)))
        zero, none = d.assume(t.zero), d.assume(g.not_(t.zero))
        cut = [a.significand, b.significand, a.zero, b.zero]
        is_empty = d.lemma("that a zero product is empty", g.is_zero(t.significand), [zero, *empty], (cut,))
        implied, flags = g.or_(g.not_(t.zero), g.is_zero(t.significand)), ([t.significand, t.zero],)
        either = [d.lemma("that a zero product is empty", implied, [i], flags) for i in (is_empty, none)]
        empty_product = d.cases(t.zero, *either)
        # Neither factor is zero: their product is not.
        least = []
        for x in (a, b):
            goal = g.ule(g.const(1, x.significand.width), x.significand)
            given = [d.lemma("that a factor is not zero", g.not_(x.zero), [none], ([a.zero, b.zero],))]
            least.append(d.fact(d.lemma("that a factor is not zero", goal, given, ((),))))
        gone = g.is_zero(t.significand)
        fact = d.fact(d.assume(gone))
        equations: list[Equation] = []
        if t.significand.op == "mul_expand":
            equations = [(d.read(t.significand), t.significand)]
        one = Poly.constant(1)
        # a·b - 1 = (a - 1)·b + (b - 1)
        positive = self.z.rewritten(
            Poly.of(t.significand) - one, equations,
            [(Poly.of(b.significand), [least[0]]), (1, [least[1]])],
        )  # fmt: skip
        sign = d.about(fact).terms[((t.significand,), ())]
        absent = d.refute(d.arith([(1, [positive]), (sign * -1, [fact])]), gone)
        some = g.or_(t.zero, g.any_bit(t.significand))
        both = [d.lemma("that another product is not", some, [i], flags) for i in (zero, absent)]
        nonzero = d.cases(t.zero, *both)
        return SummedTerm(value, t, equation, empty_product, nonzero, tuple(self.ranges(k, number)))


class StatedInputs(UnitInputs):
    """Products and c, in terms of the statement."""

    def __init__(self, z: IntegerSteps, stated: ErrorBound) -> None:
        super().__init__(z, stated.unit)
        self.stated = stated

    def power(self, by: int) -> Poly:
        """2^(E + by)."""
        return (Poly.of(self.stated.e) + Poly.constant(by - OFFSET)).power_of_two()

    def known(self, stated: Encoded) -> list[int]:
        """What the statement assumes of a factor."""
        return [self.d.assume(stated.finite)] if stated.finite.op != "const" else []

    def same_factor(self, stated: Encoded, x: Number) -> int:
        """The value of a stated factor less that of a number = 0."""
        d, t, given = self.d, x.term, self.known(stated)
        if self.design.normalise_operands and stated.exponent is not t.exponent.bits:
            return normalised_factor(self.z, stated, x)
        if t.significand.width != stated.significand.width:
            return widened_factor(self.z, stated, x, given)
        signs = self.z.signed(
            "a factor", (stated.sign, stated.significand), (t.sign, t.significand), given, ((), ()),
        )  # fmt: skip
        if stated.exponent is not t.exponent.bits:
            raise ProofError("a factor has another exponent than the statement says")
        return d.arith([(power(t.exponent, -t.fraction_bits), [signs])])

    def product(self, k: int, number: Number) -> Taken:
        """What is known of a product."""
        z, d, t = self.z, self.d, number.term
        stated = self.stated.terms[k]
        xs, ys = stated.factors, self.factors(k)
        first, second = (self.same_factor(x, y) for x, y in zip(xs, ys, strict=True))
        a, b = (y.term for y in ys)
        other = sign_of(a.sign) * Poly.of(a.significand) * power(a.exponent, -a.fraction_bits)
        same = d.arith([(xs[1].value, [first]), (other, [second])])
        # A normalised exponent has a code that holds others, too.
        cut = [] if self.design.normalise_operands else [a.exponent.bits, b.exponent.bits]
        bits = z.linear(
            "the exponent of a product", [t.exponent.bits], [a.exponent.bits, b.exponent.bits], 0, (),
            (cut,),
        )  # fmt: skip
        equations: list[Equation] = [(bits, t.exponent.bits)]
        if t.significand.op == "mul_expand":
            equations.append((d.read(t.significand), t.significand))
        equations += d.expanded(t.sign, [], "a sign") + d.expanded(a.sign, [], "a sign")
        goal = stated.value - sign_of(t.sign) * Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)
        equation = z.rewritten(goal, equations, [(1, [same])])
        summand = self.summand_of_product(k, stated.value, number, equation)
        return self._sized(stated, summand, k)

    def c(self, number: Number) -> Taken:
        """What is known of c."""
        stated = self.stated.terms[-1]
        equation = self.same_factor(stated.factors[0], number)
        finite = (self.d.assume(stated.factors[0].finite),)
        x = self.summand(number, SummedTerm(stated.value, number.term, equation, 0, 0, (), finite))
        return self._sized(stated, x, len(self.stated.terms) - 1)

    def _sized(self, stated: StatedTerm, summand: SummedTerm, k: int) -> Taken:
        """A term of the statement: at most the product of full significands at E."""
        z, d, g = self.z, self.d, self.g
        xs = stated.factors
        full = Fraction(1)
        most, size = Poly.constant(1), Poly.constant(1)
        for x in xs:
            top = (1 << x.significand.width) - 1
            full *= Fraction(top, 1 << x.fmt.fraction_bits)
            most, size = most * top, size * Poly.of(x.significand)
        weight = Poly.constant(1)
        for x in xs:
            weight = weight * x.weight(x.fmt.fraction_bits)
        goal = self.power(0) * full - size * weight

        def proved(some: bool, i: list[int], _: list[Equation]) -> list[int]:
            if some:
                limit = d.assume(self.stated.limits[k])
                reached = d.lemma(
                    "an exponent at most E", g.ule(stated.code, self.stated.e), [*i, limit],
                    ([stated.code, *(x.significand for x in xs)],),
                )  # fmt: skip
                fields = d.expanded(stated.code, [x.exponent for x in xs], "an exponent")
                total = sum(x.fmt.bias for x in xs)
                less = Poly.of(self.stated.e) - Poly.constant(OFFSET - total)
                for x in xs:
                    less = less - Poly.of(x.exponent)
                ratio = d.power(z.rewritten(less, fields, [(1, [d.fact(reached)])]))
                # full significands less these: A·B - a·b = (A - a)·B + (B - b)·a
                parts = []
                before, after = Poly.constant(1), Fraction(1)
                for x in xs:
                    after *= (1 << x.significand.width) - 1
                for x in xs:
                    after /= (1 << x.significand.width) - 1
                    parts.append((weight * before * after, [d.range(x.significand)]))
                    before = before * Poly.of(x.significand)
                return [z.rewritten(goal, [], [*parts, (weight * most, [ratio])])]
            return [self._none(xs, i, goal, self.power(0) * full)]

        (held,) = z.cases(stated.nonzero, proved)
        if len(xs) == 1:
            s = xs[0].sign
            return self._both(stated, summand, full, held, s, [], size * weight)
        s = g.xor(xs[0].sign, xs[1].sign)
        known = [(d.read(s), s)] if s.op == "xor" else []
        return self._both(stated, summand, full, held, s, known, size * weight)

    def _both(
        self, stated: StatedTerm, summand: SummedTerm, full: Fraction, held: int, sign: Node,
        known: list[Equation], size: Poly,
    ) -> Taken:  # fmt: skip
        z, goal = self.z, self.power(0) * full
        s = Poly.of(sign)
        less = z.rewritten(
            goal - stated.value, known, [(1, [held]), *([(s * size * 2, [])] if s.terms else [])]
        )
        more = z.rewritten(goal + stated.value, known, [(1, [held]), *z.rest(sign, size * 2)])
        return Taken(summand, full, less, more)

    def _none(self, xs: Sequence[Encoded], given: list[int], goal: Poly, room: Poly) -> int:
        """The size of a term that is zero."""
        z, d, g = self.z, self.d, self.g
        zeros = [g.is_zero(x.significand) for x in xs]
        some = d.lemma("that a factor is zero", g.or_(*zeros), given, ([x.significand for x in xs],))
        last = d.lemma(
            "that a factor is zero", zeros[-1], [some, *(d.assume(g.not_(x)) for x in zeros[:-1])], (zeros,)
        )
        made = z.rewritten(goal, [(d.fact(last), xs[-1].significand)], [(room, [])])
        for x, zero in zip(xs[:-1], zeros[:-1], strict=True):
            yes = z.rewritten(goal, [(d.fact(d.assume(zero)), x.significand)], [(room, [])])
            made = d.cases(zero, yes, made)
        return made
