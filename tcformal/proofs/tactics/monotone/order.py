"""Two numbers of one format: what it means for their values that one is below the other bit by bit."""

from __future__ import annotations

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import below
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.number import Term


def value_of(t: Term) -> Poly:
    """±significand · 2^(exponent - fraction bits)."""
    return sign_of(t.sign) * Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)


def fields(t: Term) -> tuple[Node, Node, Node]:
    """Sign, exponent and significand."""
    return t.sign, t.exponent.bits, t.significand


class NumberOrder:
    """Theorems about two numbers x and y; `least` is the code of their least exponent."""

    def __init__(self, z: IntegerSteps, x: SummedTerm, y: SummedTerm, least: int) -> None:
        self.z, self.d, self.g = z, z.d, z.g
        self.x, self.y, self.least = x, y, least
        if x.term.exponent.low != y.term.exponent.low:
            raise ProofError("two numbers are not of one format")
        self.cut = [*fields(x.term), *fields(y.term)]
        self.normal = [self._normal(v) for v in (x, y)]
        self.less = below(z.g, fields(x.term), fields(y.term))
        self.more = below(z.g, fields(y.term), fields(x.term))

    def _normal(self, v: SummedTerm) -> list[int]:
        """That a significand has its leading bit above the least exponent, which none is below."""
        d, g, t = self.d, self.g, v.term
        code = t.exponent.bits
        least, cut = g.const(self.least, code.width), ([t.sign, *v.inner] if v.inner else [],)
        goals = [g.or_(g.top(t.significand), g.ule(code, least)), g.ule(least, code)]
        return [d.lemma("that a number is normal", x, v.facts, cut) for x in goals if x.op != "const"]

    # ------------------------------------------------------------------ values
    def strict(self) -> int:
        """x below y ⊢ y - x > 0, as values."""
        d, g = self.d, self.g
        s, t = self.x.term.sign, self.y.term.sign
        goal = value_of(self.y.term) - value_of(self.x.term)
        less = d.assume(self.less)

        def signs(one: bool, i: list[int], bit: list[Equation]) -> list[int]:
            def both(two: bool, j: list[int], other: list[Equation]) -> list[int]:
                known = [less, *i, *j]
                if two and not one:
                    never = d.fact(d.lemma("that signs fit", g.truth(False), known, (self.cut,)))
                    return [d.arith([(1, []), ((goal - Poly.constant(1)) * -1, [never])])]
                gap = self._across(known) if one and not two else self._apart(one, known)
                return [self.z.rewritten(goal, [*bit, *other], [(1, [gap])])]

            return self.z.cases(t, both)

        return self.z.cases(s, signs)[0]

    def _across(self, known: list[int]) -> int:
        """|x| + |y| > 0."""
        d, g = self.d, self.g
        terms = [v.term for v in (self.x, self.y)]
        sizes = [(t.significand, power(t.exponent, -t.fraction_bits)) for t in terms]

        def some(yes: bool, i: list[int], _: list[Equation]) -> list[int]:
            (m, unit), (n, other) = sizes if yes else sizes[::-1]
            least = g.ule(g.const(1, m.width), m)
            fact = d.fact(d.lemma("that a number is not zero", least, [*known, *i], (self.cut,)))
            return [d.arith([(unit, [fact]), (unit, []), (other * Poly.of(n), [])])]

        return self.z.cases(g.any_bit(sizes[0][0]), some)[0]

    def _apart(self, negative: bool, known: list[int]) -> int:
        """|y| - |x| > 0, or where both are negative |x| - |y| > 0."""
        d, g = self.d, self.g
        small, large = (self.y, self.x) if negative else (self.x, self.y)
        m, n = small.term.significand, large.term.significand
        e, f = small.term.exponent, large.term.exponent
        unit, other = power(e, -small.term.fraction_bits), power(f, -large.term.fraction_bits)
        goal = Poly.of(n) * other - Poly.of(m) * unit
        normal = self.normal[0 if negative else 1]
        low = self.normal[1 if negative else 0]

        def one_exponent(same: bool, i: list[int], _: list[Equation]) -> list[int]:
            if same:
                fact = d.fact(d.lemma("two significands", g.ult(m, n), [*known, *i], (self.cut,)))
                later = max(e.bits, f.bits, key=lambda x: x.index)
                return [self.z.rewritten(goal, [(d.fact(i[0]), later)], [(unit, [fact]), (unit, [])])]
            above = d.lemma("two exponents", g.ult(e.bits, f.bits), [*known, *i], (self.cut,))
            top, half = 1 << m.width, 1 << (m.width - 1)
            full = d.fact(
                d.lemma(
                    "a leading bit", g.ule(g.const(half, n.width), n), [above, *normal, *low], (self.cut,)
                )
            )
            ratio = d.power(d.fact(above))
            parts = [(other, [full]), (unit * top, [ratio]), (unit, [d.range(m)]), (unit, [])]
            return [self.z.rewritten(goal, [], parts)]

        return self.z.cases(g.eq(e.bits, f.bits), one_exponent)[0]

    def at_most(self, ordered: int) -> int:
        """y - x >= 0, as values, where y is not below x."""
        d, g = self.d, self.g
        one, two = self.x.term, self.y.term
        none = d.assume(g.not_(self.less))
        given, cut = [none, ordered, *self.normal[0], *self.normal[1]], (self.cut,)
        code = d.equal("two exponents", two.exponent.bits, one.exponent.bits, given, cut)
        signs = self.z.signed(
            "two numbers", (two.sign, two.significand), (one.sign, one.significand), given, cut
        )
        goal = value_of(two) - value_of(one)
        weight = power(one.exponent, -one.fraction_bits)
        same = self.z.rewritten(goal, [(code, two.exponent.bits)], [(weight, [signs])])
        return d.cases(self.less, self.strict(), same)

    # ------------------------------------------------------------------ equal numbers
    def equal(self, ordered: int) -> list[int]:
        """Neither below the other ⊢ fields and flags of zero are equal, but for the signs of zeros."""
        d, g = self.d, self.g
        one, two = self.x.term, self.y.term
        known = [d.assume(g.not_(self.less)), ordered, *self.normal[0], *self.normal[1]]
        zeros = [self.x.empty, self.x.some, self.y.empty, self.y.some]
        cut = ([*self.cut, one.zero, two.zero],)
        goals = [
            g.eq(one.significand, two.significand), g.eq(one.exponent.bits, two.exponent.bits),
            g.eq(one.zero, two.zero), g.or_(g.eq(one.sign, two.sign), one.zero),
        ]  # fmt: skip
        return [d.lemma("equal numbers", goal, [*known, *zeros], cut) for goal in goals]
