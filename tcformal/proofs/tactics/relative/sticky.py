"""The error of one sum that remembers with one bit what alignment cut off, and whose zeros are numbers."""

from __future__ import annotations

from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.rounded import RoundingError, SumConversion
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import sign_of, weight
from tcformal.proofs.tactics.relative.blocks import RelativeProof
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.stages import Block
from tcformal.semantics.sums.sticky import cut_off

_HALF = Fraction(1, 2)


class BitBelowConversion(SumConversion):
    """A conversion to the nearest of a sum and a bit below it; tiny results are 0."""

    #: Whether there is such a bit.
    remembers = True

    def sticky(self, given: list[int]) -> None:
        """What else the conversion relies on, and is a function of."""
        bit = [] if not self.remembers else [cut_off(self.g, [x.term for x in self.total.terms], self.total)]
        code = self.total.e_max.bits
        self.cuts = tuple([self.total.bits, *bit, *x] for x in ([code], code.args))
        self.given = [*self.given, *given]

    def error(self) -> RoundingError:
        """Both bounds, with what flushing loses beside half an ulp."""
        d, g = self.d, self.g
        size, s = self.term.significand, Poly.of(self.summed.sign)
        none = g.is_zero(self.summed.magnitude)
        tiny = g.and_(g.is_zero(size), g.not_(none))
        kept = self.given
        self.given = [*kept, d.assume(g.not_(tiny))]
        value, exact = Poly.of(size) * self.ulp, Poly.of(self.summed.magnitude) * self.unit
        half, flushed = self.ulp * _HALF, Poly.constant(self.flushed)
        plain = self._nearest(half - value + exact, half + value - exact)
        self.given = kept
        wide = [d.arith([(1, [i]), (flushed, [])]) for i in plain]
        lost = self._tiny(d.assume(tiny), (half + flushed - value + exact, half + flushed + value - exact))
        over, under = (d.cases(tiny, i, j) for i, j in zip(lost, wide, strict=True))
        signs, one = self._signs(), d.range(self.summed.sign)
        result = sign_of(self.term.sign) * value
        moved = result - sign_of(self.summed.sign) * exact
        same: list[Part] = [(self.ulp * -1, [signs])] if d.about(signs).terms else []
        less: list[Part] = [(self.ulp, [signs])] if d.about(signs).terms else []
        above = d.prove(half + flushed - moved, [], [(1, [one, over]), (s, [under]), *same])
        below = d.prove(half + flushed + moved, [], [(1, [one, under]), (s, [over]), *less])
        return RoundingError(result, self.code, above, below)

    def _tiny(self, tiny: int, goals: tuple[Poly, Poly]) -> tuple[int, int]:
        """Both bounds of a sum whose result is made 0: it is less than the least normal number."""
        d, g, p = self.d, self.g, self.bits
        size = self.term.significand
        cuts: tuple[list[Node], ...] = ([size, self.summed.magnitude], [])
        gone = d.lemma("that a tiny result is 0", g.is_zero(size), [tiny], cuts)
        big, amount, distance, _ = self._placed(1)
        half = g.lshr(big, amount)
        small = d.fact(d.lemma(
            "that a tiny sum is small", g.ult(half, g.const(1 << p + 1, half.width)), [tiny, *self.given],
            self.cuts,
        ))  # fmt: skip
        low = self.rounded.target.e_min
        least = d.equal(
            "the exponent of a tiny result", self.code, g.const(low + OFFSET, self.code.width),
            [tiny, *self.given], self.cuts,
        )  # fmt: skip
        # (half + 1) halves of an ulp are more than the sum, and at most 2^p ulps.
        scale = self.unit * Poly.constant(-self.term.significand.width - 1).power_of_two()
        ulp = self.ulp * _HALF
        equations = [(d.fact(gone), size), (d.read(big), big), distance, (least, self.code)]
        rest: list[Part] = [(scale, [d.read(half, 1)]), (scale, []), (ulp, [small]), (ulp, [])]
        whole = ulp + Poly.constant(self.flushed)
        exact = Poly.of(self.summed.magnitude) * self.unit
        over = d.prove(goals[0], equations, [(whole + exact, [])])
        under = d.prove(goals[1], equations, rest)
        # A sum of 0 loses nothing, and is not tiny.
        zero = g.is_zero(self.summed.magnitude)
        nothing = [(d.fact(d.assume(zero)), self.summed.magnitude), (d.fact(gone), size)]
        empty = [d.prove(goal, nothing, [(whole, [])]) for goal in goals]
        return d.cases(zero, empty[0], over), d.cases(zero, empty[1], under)


class StickyAlignment(SharpAlignment):
    """The terms of one sum; those that are zero are numbers so small that nothing of them is left.

    `high` is the theorem that e_max is an exponent of a normal number.
    """

    high: int

    def term(self, k: int) -> TermError:
        """Both bounds of one aligned term."""
        d, g, x, made = self.d, self.g, self.summands[k], self.total.terms[k]
        t, bits = made.term, self.total.fraction_bits
        placed = g.shift_left_const(t.significand, bits - t.fraction_bits)
        if t.fraction_bits > bits or made.aligned is not g.lshr(placed, made.shift):
            raise ProofError(f"aligned term {k} is no truncated shift")
        size = Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        kept, unit = Poly.of(made.aligned), self.unit
        share = (Poly.of(made.shift) * -1).power_of_two()
        goal = (unit - unit * share) * self.loss(k)
        moved = x.value - sign_of(t.sign) * kept * unit
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        low, up = self._nonzero(k, some, placed, 0, size - kept * unit, goal - size + kept * unit)
        value = self._value(k, some)
        sign, positive = Poly.of(t.sign), [d.range(t.sign), low]
        above = d.prove(goal + moved, [], [(1, [up]), (2, positive), (1, [value])])
        below = d.prove(goal - moved, [], [(1, [up]), (sign * 2, [low]), (-1, [value])])
        zero, (rest, empty) = [(d.fact(self.gone(k, none)), made.aligned)], self._empty(k, none)
        spread = d.power(d.arith([(Poly.of(made.shift), [])]))
        room: list[Part] = [(unit * share * self.loss(k), [spread])]
        above = d.cases(x.nonzero, above, d.prove(goal + moved, zero, [*room, (rest, empty)]))
        below = d.cases(x.nonzero, below, d.prove(goal - moved, zero, [*room, (rest * -1, empty)]))
        most = (1 << t.significand.width) - 1 << bits - t.fraction_bits
        at_most = g.ule(made.aligned, g.const(most, made.aligned.width))
        small = d.lemma("the range of a term", at_most, (), ([t.significand, made.shift], [made.shift]))
        return TermError(t.sign, made.aligned, made.shift, above, below, most, small, value, True)

    def gone(self, k: int, none: int) -> int:
        """That nothing is left of a term that is zero."""
        made = self.total.terms[k]
        cuts: tuple[list[Node], ...] = ([self.root, made.term.significand], [self.root], [])
        given = [none, self.high, *self.rooted]
        return self.d.lemma(f"that the zero term {k} adds nothing", self.g.is_zero(made.aligned), given, cuts)

    def _empty(self, k: int, none: int) -> Part:
        """The value of a product that is zero: a multiple of that of its significands, which is 0."""
        d, g, x = self.d, self.g, self.summands[k]
        one, other = x.factors
        size = g.mul_expand(one.significand, other.significand)
        cuts: tuple[list[Node], ...] = ([one.significand, other.significand], [])
        empty = d.fact(d.lemma("that a zero term is empty", g.is_zero(size), [none], cuts))
        rest = sign_of(one.sign) * sign_of(other.sign)
        for f in x.factors:
            rest = rest * f.weight(f.fmt.fraction_bits)
        goal = Poly.of(one.significand) * Poly.of(other.significand)
        return rest, [d.prove(goal, [(empty, size)], [(-1, [d.read(size)])])]

    def _value(self, k: int, some: int) -> int:
        """The value of a term that is not zero is ±significand · 2^(exponent - fraction bits)."""
        d, g, x = self.d, self.g, self.summands[k]
        t = self.total.terms[k].term
        sign, size = x.factors[0].sign, x.factors[0].significand
        for f in x.factors[1:]:
            sign, size = g.xor(sign, f.sign), g.mul_expand(size, f.significand)
        goal = x.value - sign_of(t.sign) * Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        equations = []
        for mine, stated in ((t.sign, sign), (t.significand, size)):
            if mine is not stated:
                equations.append((d.equal(f"a field of term {k}", mine, stated, [some]), mine))
        equations += d.expanded(sign, [f.sign for f in x.factors], "a sign")
        equations += d.expanded(size, [f.significand for f in x.factors], "a product")
        equations += d.expanded(x.code, [f.exponent for f in x.factors], "an exponent")
        return d.prove(goal, equations)


class StickyProof(RelativeProof):
    """The proof of one statement about one block from c = 0."""

    def _sum(self, limit: Node) -> tuple[SharpAlignment, list[TermError], SumConversion]:
        d = self.d
        (block,) = (x for x in self.dot.stages if isinstance(x, Block))
        (clean,) = self._clean([self._roundings(block)])
        (step,) = block.steps
        if step.total is None or step.rounded is None or step.specials is None or not self.relative.zero_c:
            raise ProofError("a block is no fused sum from c = 0")
        summands = self._summands(step, None)
        alignment = StickyAlignment(d, step.total, summands, limit, self.floor, self.relative)
        alignment.high = self._high(alignment)
        terms = [self._term(alignment, k) for k in range(len(summands))]
        addition = Addition(d, step.total, terms)
        summed = addition.value()
        made = BitBelowConversion(
            d, step.total, alignment.e_max, summed, step.rounded, step.specials, clean[0],
            alignment.in_range(),
        )  # fmt: skip
        made.flushed = self.relative.flushed / 2
        made.sticky([addition.within(step.total.bits), alignment.high])
        return alignment, terms, made

    def _high(self, alignment: SharpAlignment) -> int:
        """That e_max is at least the least exponent that E can be."""
        d, g, code = self.d, self.g, alignment.e_max
        least = g.const(self.stated.least + OFFSET, code.width)
        low = g.ult(code, least)
        below = d.fact(d.assume(low))
        false = d.prove(
            Poly.constant(-1), [], [(1, [below]), (1, [self._reached(alignment)]), (1, [d.fact(self.floor)])]
        )  # fmt: skip
        return d.lemma("that e_max is not low", g.ule(least, code), [d.refute(false, low)], ([code],))

    def _term(self, alignment: Alignment, k: int) -> TermError:
        assert isinstance(alignment, StickyAlignment)
        d, g, x = self.d, self.g, alignment.summands[k]
        if x.code is not self.stated.terms[-1].code:
            return alignment.term(k)
        made = alignment.total.terms[k]
        assert self.known_c is not None
        own = x.factors[0].significand
        absent = d.lemma("that c is zero", g.not_(x.nonzero), [self.known_c], ([own], []))
        nothing = d.fact(alignment.gone(k, absent))
        moved = x.value - sign_of(made.term.sign) * Poly.of(made.aligned) * alignment.unit
        zero = d.prove(moved, [(nothing, made.aligned), (d.fact(self.known_c), own)])
        at_most = g.ule(made.aligned, g.const(0, made.aligned.width))
        small = d.lemma("the range of c", at_most, [alignment.gone(k, absent)], ([made.aligned],))
        return TermError(
            made.term.sign, made.aligned, made.shift, zero, d.arith([(-1, [zero])]), 0, small, zero, False
        )
