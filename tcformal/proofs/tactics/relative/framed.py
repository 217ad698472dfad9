"""The error of one sum of complements in which c keeps more bits than the products (RDNA3's)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import cast

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.error_bound import StatedTerm
from tcformal.proofs.statements.framed_bound import FramedBound
from tcformal.proofs.statements.relative_bound import magnitude
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.terms import KnownTerm, shown_value, sign_of, weight
from tcformal.proofs.tactics.relative.blocks import BlockCase, RelativeProof
from tcformal.proofs.tactics.relative.complements import ComplementSums
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.proofs.tactics.relative.sticky import BitBelowConversion
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block, Operand

ONE = Poly.constant(1)


class FramedProof(RelativeProof):
    """The proof of one statement about one block."""

    @property
    def framed(self) -> FramedBound:
        """The statement."""
        return cast(FramedBound, self.relative)

    @property
    def _frame(self) -> Node:
        """The sign of c."""
        assert self.framed.frame is not None
        return self.framed.frame

    def _sum(self, limit: Node) -> tuple[SharpAlignment, list[TermError], SumConversion]:
        d, g = self.d, self.g
        (block,) = (x for x in self.dot.stages if isinstance(x, Block))
        (clean,) = self._clean([self._roundings(block)])
        (step,) = block.steps
        total = step.total
        if total is None or step.rounded is None or step.specials is None:
            raise ProofError("a block is no fused sum")
        alignment = SharpAlignment(d, total, self._summands(step, None), limit, self.floor, self.relative)
        c = len(total.terms) - 1
        if total.terms[c].term.sign is not self._frame:
            raise ProofError("signs are not counted from that of c")
        terms = [self._turned(alignment, k, same) for k, same in enumerate(self.framed.same)]
        terms.append(self._nothing(alignment, c) if self.relative.zero_c else self._turned(alignment, c))
        empty = all_of(g, [x.term.zero for x in total.terms])
        given = [d.assume(self.relative.attained), *(i for x in alignment.summands for i in x.facts)]
        some = d.lemma("that a term is not zero", g.not_(empty), given)
        sums = ComplementSums(d, total, terms, some)
        summed = sums.value()
        kind = BitBelowConversion if self.relative.flushed else SumConversion
        made = kind(
            d, total, alignment.e_max, summed, step.rounded, step.specials, clean[0], alignment.in_range()
        )
        if isinstance(made, BitBelowConversion):
            made.remembers, made.flushed = False, self.relative.flushed / 2
            made.sticky([])
        return alignment, terms, made

    def _summand(self, x: Operand, term: Term) -> KnownTerm:
        """A term that is zero or normal, so that nothing of it is flushed."""
        made = super()._summand(x, term)
        k = next(i for i, t in enumerate(self.stated.terms) if t.code is made.code)
        if k >= len(self.relative.terms):
            return made
        facts = tuple(self.d.assume(n) for n in self.relative.normal[k] if n.op != "const")
        return replace(made, facts=facts, shown=self._shown(made, facts))

    def _shown(self, x: KnownTerm, facts: tuple[int, ...]) -> int:
        """The value of a term is ±significand · 2^(exponent - fraction bits)."""
        d, g, t = self.d, self.g, x.term
        sign, size = x.factors[0].sign, x.factors[0].significand
        for f in x.factors[1:]:
            sign, size = g.xor(sign, f.sign), g.mul_expand(size, f.significand)
        goal = x.value - sign_of(t.sign) * Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        equations = []
        for mine, stated in ((t.sign, sign), (t.significand, size)):
            if mine is not stated:
                equations.append((d.equal("a field of a term", mine, stated, facts), mine))
        equations += d.expanded(sign, [f.sign for f in x.factors], "a sign")
        equations += d.expanded(size, [f.significand for f in x.factors], "a product")
        equations += d.expanded(x.code, [f.exponent for f in x.factors], "an exponent")
        return d.prove(goal, equations)

    def _nothing(self, alignment: Alignment, k: int) -> TermError:
        """A c of 0."""
        d, g, made = self.d, self.g, alignment.total.terms[k]
        none = self._empty(alignment, k)
        own = self.stated.terms[-1].factors[0].significand
        assert self.known_c is not None
        moved = self.stated.terms[-1].value
        moved = moved - sign_of(made.term.sign) * Poly.of(made.aligned) * alignment.unit
        zero = d.prove(moved, [(d.fact(none), made.aligned), (d.fact(self.known_c), own)])
        at_most = g.ule(made.aligned, g.const(0, made.aligned.width))
        small = d.lemma("the range of c", at_most, [none], ([made.aligned],))
        above, below = (d.arith([(self.framed.direction * q, [zero])]) for q in (1, -1))
        return TermError(made.term.sign, made.aligned, made.shift, above, below, 0, small, zero, False)

    def _turned(self, alignment: SharpAlignment, k: int, same: Node | None = None) -> TermError:
        """What c, or a product, is less than the term it was made of, against c's sign: between 0 and a unit.

        `same` says of a product whether it has c's sign; one of the other sign counts one more.
        """
        d, g, x, made = self.d, self.g, alignment.summands[k], alignment.total.terms[k]
        t, bits, unit = made.term, alignment.total.fraction_bits, alignment.unit
        placed = g.shift_left_const(t.significand, bits - t.fraction_bits)
        if t.fraction_bits > bits or made.aligned is not g.lshr(placed, made.shift):
            raise ProofError(f"aligned term {k} is no truncated shift")
        share, direction = (Poly.of(made.shift) * -1).power_of_two(), self.framed.direction
        gap = Poly.of(t.significand) * weight(x.code, t.fraction_bits) - Poly.of(made.aligned) * unit
        goal = unit - unit * share - gap
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        shown = alignment._nonzero(k, some, placed, 0, gap, goal)
        empty = alignment._zero(k, none, made.aligned, False, gap, goal)
        low, up = (d.cases(x.nonzero, i, j) for i, j in zip(shown, empty, strict=True))
        value = shown_value(d, x, f"term {k}")
        counted, kept = sign_of(t.sign) * Poly.of(made.aligned), share
        equations, less, more = list[tuple[int, Node]](), list[Part]([(1, [low])]), list[Part]([(1, [up])])
        if same is not None:
            counted = counted - Poly.of(t.sign) + Poly.of(self._frame)
            own, bit, other = g.not_(g.xor(t.sign, self._frame)), Poly.of(same), d.range(same)
            if own is not same:
                equations.append((d.equal("whether a product has c's sign", same, own), same))
            equations += d.expanded(own, [t.sign, self._frame], "a sign")
            kept = bit * share
            less = [(bit, [low]), (1, [other, up]), (unit * share, [other])]
            more = [(bit, [up]), (1, [other, low])]
        moved = (x.value - counted * unit) * direction
        above = d.prove(moved, equations, [*less, (direction, [value])])
        below = d.prove(unit - unit * kept - moved, equations, [*more, (direction * -1, [value])])
        most = (1 << t.significand.width) - 1 << bits - t.fraction_bits
        at_most = g.ule(made.aligned, g.const(most, made.aligned.width))
        small = d.lemma("the range of a term", at_most, (), ([t.significand, made.shift], [made.shift]))
        return TermError(t.sign, made.aligned, made.shift, above, below, most, small, value, True)

    # ------------------------------------------------------------------ what is lost
    @property
    def signs(self) -> tuple[Poly, Poly]:
        """The sign of c, and its opposite."""
        return self.framed.direction, self.framed.direction * -1

    def _prepare(
        self, alignment: SharpAlignment, terms: list[TermError], _: SumConversion, finest: int
    ) -> None:
        self.size_of_all, self.finest = self._largest(), finest
        self.room = self._power(-alignment.total.fraction_bits)
        #: What each term may keep of a unit, and the theorem that it is no more than one.
        self.kept: list[tuple[Poly, int]] = []
        for t, same in zip(self.stated.terms, (*self.framed.same, None), strict=True):
            if t in self.relative.terms:
                self.kept.append(self._part_kept(alignment, terms, t, same))
        self.units = Poly.constant(0)
        for part in (x for x, _ in self.kept):
            self.units = self.units + self.room - self.room * part
        unit = 1 + self._factor()
        goal = self.framed.sides[0] - Poly.constant(self.relative.flushed)
        goal = goal - self.total * self._factor() - self.units * unit
        self.enough = self._by_term(goal, self._covered(alignment, goal, unit))

    def _part_kept(
        self, alignment: SharpAlignment, terms: list[TermError], t: StatedTerm, same: Node | None
    ) -> tuple[Poly, int]:
        """2^-shift of c, and of a product of c's sign; 0 of another.  1 less it is at least 0."""
        d, share = self.d, self._share(alignment, terms, t)
        (made,) = (x for x, y in zip(terms, alignment.summands, strict=True) if y.code is t.code)
        less = d.arith([(share, [d.power(d.arith([(Poly.of(made.shift), [])]))])])
        if same is None:
            return share, less
        bit = Poly.of(same)
        return bit * share, d.prove(ONE - bit * share, [], [(1, [d.range(same)]), (bit, [less])])

    def _covered(
        self, alignment: SharpAlignment, goal: Poly, unit: Fraction
    ) -> Callable[[int, StatedTerm, int], int]:
        """How the goal follows from one term that has E: what all units cost is a part of its magnitude."""
        assert self.framed.framed is not None
        loss, c = self.framed.framed, self.stated.terms[-1]
        least, part = loss.same - self._factor(), unit / (1 << alignment.total.fraction_bits)
        of_c = loss.most - self._factor()

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            size = (self._size_of_c if t is c else self._size_at)(k, t, bit)
            unshifted, parts = self._unshifted(alignment, t, bit), list[Part]()
            for i, y in enumerate(self.relative.terms):
                weight = magnitude(y.factors)
                if y is c:
                    parts.append((of_c, [size]) if y is t else (weight * of_c, []))
                else:
                    other = self.d.range(self.framed.same[i])
                    parts.append((least, [size]) if y is t else (weight * least, []))
                    parts.append((part, [other, size]) if y is t else (weight * part, [other]))
                if y is not t:
                    parts.append((self.scale * part * self.kept[i][0], []))
            own = ONE if t is c else Poly.of(self.framed.same[k])
            parts.append((self.scale * part * own, [unshifted]))
            return self.d.prove(goal, [], parts)

        return proof

    def _factor(self) -> Fraction:
        """h / (1 - h): what a result loses of everything, h of itself."""
        assert self.framed.framed is not None
        return self.framed.framed.of(0)

    def _size_at(self, k: int, t: StatedTerm, bit: int) -> int:
        if t is not self.stated.terms[-1]:
            return super()._size_at(k, t, bit)
        assert self.framed.framed is not None
        more = (1 << self.framed.framed.lowered) - 1
        return self.d.arith([(1, [self._size_of_c(k, t, bit)]), (self.scale * more, [])])

    def _size_of_c(self, k: int, t: StatedTerm, bit: int) -> int:
        """A c that has E is larger by as much as its exponent counts less."""
        assert self.framed.framed is not None
        scale = self.scale
        self.scale = scale * (1 << self.framed.framed.lowered)
        made = super()._size_at(k, t, bit)
        self.scale = scale
        return made

    def _case(self, case: BlockCase, goal: Poly, moves: tuple[int, int]) -> list[int]:
        """Both bounds in one case; of what the conversion loses, `goal`, there are `moves`."""
        d, direction, frame = self.d, self.framed.direction, Poly.of(self._frame)
        value, unit = self._value(case.conversion), case.alignment.unit
        one, summed = d.range(self._frame), case.conversion.summed.equation
        moved = (value - case.exact) * direction
        # What is lost against c's sign, and along it: the conversion, as it stands or turned, and the terms.
        over, under = moves
        along: list[Part] = [(1, [one, over]), (frame, [under]), (unit * direction * -1, [summed])]
        against: list[Part] = [(1, [one, under]), (frame, [over]), (unit * direction, [summed])]
        for t in case.terms:
            against.append((1, [t.below]))
            along.append((1, [t.above]))
        for _, less in self.kept:
            against.append((1, [less, case.finest]))
        in_, out = d.prove(self.units + goal + moved, [], against), d.prove(goal - moved, [], along)
        lost = d.arith([(1, [out]), *((self.room, [i]) for _, i in self.kept)])
        both = [
            d.prove(self.units + goal - (value - case.exact) * sign, [], [(1, [one, i]), (frame, [j])])
            for sign, i, j in ((1, lost, in_), (-1, in_, lost))
        ]
        return self._scaled_sides(case, both, (in_, out))

    def _scaled_sides(self, case: BlockCase, both: list[int], sides: tuple[int, int]) -> list[int]:
        """What is lost on either side in units of the magnitudes; `both`: of either sign in terms of E."""
        d, x, factor, flushed = self.d, case.conversion, self._factor(), self.relative.flushed
        units: list[Part] = [(self.room * factor, [i]) for _, i in self.kept]
        more: list[Part] = []
        spare = flushed - x.flushed
        if case.high:
            lost = self.units + x.ulp * self.relative.share + Poly.constant(x.flushed)
            more.append((factor, [self._large(case, both, lost)]))
            spare -= x.flushed * factor
        else:
            half = Fraction(1, 2 << x.bits)
            more += [(half, [self.size_of_all]), (self.total * (factor - half), [])]
        more += [(spare, [])] if spare else []
        (against, along), (q, r) = self.framed.sides, self.signs
        error = self._value(x) - case.exact
        own: list[Part] = [(1, [sides[0]]), (1, [self.enough]), *([] if case.high else units)]
        made = d.prove(against + error * q, [], [*own, *more])
        # What the units cost of an ulp is a part of what they may be themselves.
        assert self.framed.framed is not None
        loss, h = self.framed.framed, self.framed.framed.share
        if case.high:
            more.append((h, [self.enough]))
            for t, same in zip(self.relative.terms, (*self.framed.same, None), strict=False):
                rest = Poly.constant(loss.beside - loss.most)
                if same is not None:
                    rest = Poly.of(same) * (loss.beside - loss.same)
                more.append((magnitude(t.factors) * rest * h, []))
        else:
            more.append((self.total * (loss.along - factor), []))
        return [made, d.prove(along + error * r, [], [(1, [sides[1]]), *more])]
