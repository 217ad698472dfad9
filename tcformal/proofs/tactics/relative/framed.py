"""The error of one sum of complements in which c keeps more bits than the products (RDNA3's)."""

from __future__ import annotations

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
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.floored import FlooredSums
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.summed import SignedSum
from tcformal.proofs.tactics.bounds.terms import KnownTerm, shown_value, sign_of, weight
from tcformal.proofs.tactics.relative.blocks import BlockCase, RelativeProof
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.proofs.tactics.relative.sticky import BitBelowConversion
from tcformal.semantics.align import all_of
from tcformal.semantics.number import Term
from tcformal.semantics.reduce import split_sign
from tcformal.semantics.stages import Block, Operand, Total

ONE = Poly.constant(1)


class ComplementSums(FlooredSums):
    """Sums whose signs are counted from that of c: a product of the other sign counts one more."""

    def __init__(self, d: Derivation, total: Total, terms: list[TermError], some: int) -> None:
        super().__init__(d)
        self.total, self.terms, self.some, self.frame = total, terms, some, terms[-1].sign

    def value(self) -> SignedSum:
        """The sum as a sign and a magnitude: ±magnitude is Σ ±aligned with what complements count."""
        d, g, width = self.d, self.g, self.total.partials[0].node.width
        reads = []
        for x in self.terms:
            other = g.xor(x.sign, self.frame)
            wide = g.zero_extend_to(x.aligned, x.aligned.width + 1)
            node = g.wrap_to_mod(g.ite(other, g.not_(wide), wide), width)
            if other.op != "const":
                reads.append((d.read(other), other))
            cut = [other, x.aligned]
            same = self._ones("a term of a sum", node, other, x.aligned, cut)
            value = sign_of(other) * Poly.of(x.aligned) - Poly.of(other)
            self._known[node] = same, value, x.most + 1
            self._limited(node, x.most + 1, [x.small], cut)
        for p in self.total.partials:
            self.partial(p.node, p.of)
        bits, root = self.total.bits, self.total.partials[-1].node
        sign, size = split_sign(g, bits)
        wide = g.sign_extend_to(root, bits.width)
        equation, value, _ = self.of(wide)
        frame = g.xor(sign, self.frame)
        split = self._turned(
            "the magnitude of a sum", wide, frame, size, [self._within[wide], self.some], [root, self.frame]
        )
        flip = sign_of(self.frame)
        goal = sign_of(sign) * Poly.of(size) - flip * value
        chosen = g.ite(sign, g.neg_mod(bits), bits)
        known = [(d.read(frame), frame)]
        made = d.prove(goal, known, [(flip, [equation]), (flip * -1, [split])])
        whole = sign_of(sign) * Poly.of(size)
        for x in self.terms:
            more = Poly.of(x.sign) - Poly.of(self.frame)
            whole = whole - sign_of(x.sign) * Poly.of(x.aligned) + more
        return SignedSum(sign, size, chosen, d.prove(whole, reads, [(1, [made])]))


class FramedProof(RelativeProof):
    """The proof of one statement about one block."""

    @property
    def framed(self) -> FramedBound:
        """The statement."""
        return cast(FramedBound, self.relative)

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
        frame = total.terms[c].term.sign
        terms = [self._complement(alignment, k, frame) for k in range(c)]
        terms.append(self._nothing(alignment, c) if self.relative.zero_c else alignment.term(c))
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
        sign, other = made.term.sign, d.arith([(-1, [zero])])
        return TermError(sign, made.aligned, made.shift, zero, other, 0, small, zero, False)

    def _complement(self, alignment: SharpAlignment, k: int, frame: Node) -> TermError:
        """Both bounds of a product, which counts one more where its sign is not that of c: u ± x >= 0."""
        d, g, x, made = self.d, self.g, alignment.summands[k], alignment.total.terms[k]
        t, bits, unit = made.term, alignment.total.fraction_bits, alignment.unit
        placed = g.shift_left_const(t.significand, bits - t.fraction_bits)
        if t.fraction_bits > bits or made.aligned is not g.lshr(placed, made.shift):
            raise ProofError(f"aligned term {k} is no truncated shift")
        share = (Poly.of(made.shift) * -1).power_of_two()
        kept = Poly.of(made.aligned)
        gap = Poly.of(t.significand) * weight(x.code, t.fraction_bits) - kept * unit
        goal = unit - unit * share - gap
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        shown = alignment._nonzero(k, some, placed, 0, gap, goal)
        empty = alignment._zero(k, none, made.aligned, False, gap, goal)
        low, up = (d.cases(x.nonzero, i, j) for i, j in zip(shown, empty, strict=True))
        value = shown_value(d, x, f"term {k}")
        s, f = Poly.of(t.sign), Poly.of(frame)
        one, other = d.range(t.sign), d.range(frame)
        moved = x.value - (sign_of(t.sign) * kept - s + f) * unit
        above = d.prove(unit + moved, [], [
            (1, [one, low]), (unit, [one, other]), (s, [up]), (s * unit * share, []), (s * unit, [other]),
            (1, [value]),
        ])  # fmt: skip
        below = d.prove(unit - moved, [], [
            (1, [one, up]), (unit * share, [one]), (f * unit, [one]), (s, [low]), (s * f * unit, []),
            (-1, [value]),
        ])  # fmt: skip
        most = (1 << t.significand.width) - 1 << bits - t.fraction_bits
        at_most = g.ule(made.aligned, g.const(most, made.aligned.width))
        small = d.lemma("the range of a term", at_most, (), ([t.significand, made.shift], [made.shift]))
        return TermError(t.sign, made.aligned, made.shift, above, below, most, small, value, True)

    # ------------------------------------------------------------------ what is lost
    def _prepare(
        self, alignment: SharpAlignment, terms: list[TermError], _: SumConversion, finest: int
    ) -> None:
        self.size_of_all, self.finest = self._largest(), finest
        self.room = self._power(-alignment.total.fraction_bits)
        self.units = self.room * self.relative.kept
        self.less: list[int] = []
        c, unit = self.stated.terms[-1], 1 + self._factor()
        goal = self._bound() - self.total * self._factor()
        if not self.relative.zero_c:
            share = self._share(alignment, terms, c)
            spread = self.d.power(self.d.arith([(Poly.of(terms[-1].shift), [])]))
            self.less = [self.d.arith([(share, [spread])])]
            self.units = self.units + self.room - self.room * share
        goal = goal - self.units * unit
        part = unit / (1 << alignment.total.fraction_bits)
        constants = self.relative.beside - self._factor(), self.relative.constant - self._factor()

        def proof(k: int, t: StatedTerm, bit: int) -> int:
            size = (self._size_of_c if t is c else self._size_at)(k, t, bit)
            parts = list[Part]()
            for y in self.relative.terms:
                most = constants[y is c]
                parts.append((most, [size]) if y is t else (magnitude(y.factors) * most, []))
            if t is c:
                parts.append((self.scale * part, [self._unshifted(alignment, t, bit)]))
            elif self.less:
                parts.append((self.scale * self._share(alignment, terms, c) * part, []))
            return self.d.prove(goal, [], parts)

        self.enough = self._by_term(goal, proof)

    def _factor(self) -> Fraction:
        """h / (1 - h): what a result loses of everything, h of itself."""
        assert self.framed.framed is not None
        h = self.framed.framed.share
        return h / (1 - h)

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

    def _bound(self) -> Poly:
        """What the error is at most, but for what is flushed."""
        total = self.total * self.relative.constant
        for t in () if self.relative.zero_c else self.stated.terms[:-1]:
            total = total + magnitude(t.factors) * (self.relative.beside - self.relative.constant)
        return total

    def _lost(self, x: BlockCase, sign: int, goal: Poly, mine: int) -> tuple[Poly, list[Part]]:
        terms = [t.above if sign > 0 else t.below for t in x.terms]
        parts: list[Part] = [(1, [mine]), *((1, [i]) for i in terms), (self.relative.kept, [x.finest])]
        parts += [(1, [i, x.finest]) for i in self.less]
        return self.units + goal, parts

    def _scaled(self, case: BlockCase, both: list[int]) -> list[int]:
        d, x, factor, flushed = self.d, case.conversion, self._factor(), self.relative.flushed
        made: list[Part] = [(1, [self.enough])]
        spare = flushed - x.flushed
        if case.high:
            lost = self.units + x.ulp * self.relative.share + Poly.constant(x.flushed)
            made.append((factor, [self._large(case, both, lost)]))
            spare -= x.flushed * factor
        else:
            half = Fraction(1, 2 << x.bits)
            made += [(half, [self.size_of_all]), (self.total * (factor - half), [])]
            made.append((self.room * self.relative.kept * factor, []))
            made += [(self.room * factor, [i]) for i in self.less]
        made += [(spare, [])] if spare else []
        value, goal = self._value(x), self._bound() + Poly.constant(flushed)
        return [
            d.prove(goal - (value - case.exact) * sign, [], [(1, [i]), *made])
            for sign, i in zip((1, -1), both, strict=True)
        ]
