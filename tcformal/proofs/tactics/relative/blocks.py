"""The error of one truncated sum in terms of the sum of magnitudes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import KnownTerm, sign_of, weight
from tcformal.proofs.tactics.relative.conversion import SharpConversion
from tcformal.proofs.tactics.relative.largest import LargestTerm
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block


@dataclass(frozen=True, slots=True)
class BlockCase:
    """One of two cases: whether the result's exponent is above E, and the theorem `bit` that it is or is not.

    `finest` is the theorem 2^(E - F) - u >= 0, u the unit of the sum; `codes` the result's exponent and E.
    """

    alignment: SharpAlignment
    terms: list[TermError]
    conversion: SumConversion
    finest: int
    high: bool
    bit: int
    codes: tuple[Node, Node]
    equations: list[tuple[int, Node]]
    exact: Poly


class RelativeProof(LargestTerm):
    """The proof of one statement about one block.

    With E the largest exponent, Σ|terms| is at least 2^E, and the term that has E loses nothing.  A result
    whose exponent is at most E loses an ulp of 2^(E - p) at most; a larger one is itself at most Σ|terms|
    and what is lost, so that its ulp is small beside them.
    """

    #: How the terms of its sum are aligned.
    aligning: type[SharpAlignment] = SharpAlignment

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, g, stated = self.d, self.g, self.relative
        limit, in_e = self._limit(0)
        alignment, terms, conversion = self._sum(limit)
        room = self._power(-conversion.total.fraction_bits)
        finest = d.prove(room - alignment.unit, in_e, [(1, [alignment.bounded()])])
        moved = SharpConversion(d, conversion, stated, finest)
        code = g.zero_extend_to(conversion.code, CODE_BITS + 1)
        equations = [(d.read(code), code), *in_e]
        above = g.ult(limit, code)
        exact = Poly.constant(0)
        for t in self.stated.terms:
            exact = exact + t.value
        self._prepare(alignment, terms, conversion, finest)
        made = []
        for high, bit in ((True, d.assume(above)), (False, d.assume(g.not_(above)))):
            goal, moves = moved.bounds(high, bit, (code, limit), equations)
            case = BlockCase(alignment, terms, conversion, finest, high, bit, (code, limit), equations, exact)
            made.append(self._case(case, goal, moves))
        packed, same = conversion.packed(self.stated.d)
        found = []
        for sign, (_, goal), *both in zip(self.signs, stated.conclusions, *made, strict=True):
            i = d.cases(above, *both)
            found.append(d.prove(goal, [(same, conversion.code)], [(1, [i]), (sign, [packed])]))
        return found

    @property
    def signs(self) -> tuple[Poly, Poly]:
        """What the error is multiplied by in either conclusion."""
        return Poly.constant(-1), Poly.constant(1)

    def _prepare(
        self, alignment: SharpAlignment, terms: list[TermError], _: SumConversion, finest: int
    ) -> None:
        """What both cases need: that some term is shifted by nothing, and that Σ|terms| is at least 2^E."""
        self.size_of_all = self._largest()
        stated, unit = self.relative, alignment.unit
        least = stated.loss if stated.zero_c else min(stated.loss, Fraction(1))
        self.whole: list[Part] = [
            (unit * least, [self._shares(alignment, terms)]),
            (stated.kept, [finest]),
            (unit * stated.spare, []),
        ]
        for t in stated.terms if not stated.zero_c else ():
            # c may lose a whole unit, a product `loss`.
            more = (Fraction(1) if t is self.stated.terms[-1] else stated.loss) - least
            self.whole.append((unit * self._share(alignment, terms, t) * more, []))

    def _case(self, case: BlockCase, goal: Poly, moves: tuple[int, int]) -> list[int]:
        """The bound of both sides in one case; of what the conversion loses, `goal`, there are `moves`."""
        return self._scaled(case, self._both(case, goal, moves))

    def _both(self, case: BlockCase, goal: Poly, moves: tuple[int, int]) -> list[int]:
        """What is lost on both sides at most, in terms of E and of the result's ulp."""
        both, value = [], self._value(case.conversion)
        for sign, mine in zip((1, -1), moves, strict=True):
            lost, parts = self._lost(case, sign, goal, mine)
            parts.append((case.alignment.unit * -sign, [case.conversion.summed.equation]))
            both.append(self.d.prove(lost - (value - case.exact) * sign, [], parts))
        return both

    def _lost(self, x: BlockCase, sign: int, goal: Poly, mine: int) -> tuple[Poly, list[Part]]:
        """What is lost at most on one side, in terms of E and of what the conversion loses, and why."""
        terms = [t.above if sign > 0 else t.below for t in x.terms]
        lost = self._power(-x.conversion.total.fraction_bits) * self.relative.kept + goal
        return lost, [*self.whole, (1, [mine]), *((1, [i]) for i in terms), *((sign, [i]) for i in self.cut)]

    def _sum(self, limit: Node) -> tuple[SharpAlignment, list[TermError], SumConversion]:
        """The sum of the products and c at a limit of their exponents, and its conversion."""
        (block,) = (x for x in self.dot.stages if isinstance(x, Block))
        (clean,) = self._clean([self._roundings(block)])
        (step,) = block.steps
        if step.total is None or step.rounded is None or step.specials is None:
            raise ProofError("a block is no fused sum")
        summands = self._summands(step, None)
        alignment = self.aligning(self.d, step.total, summands, limit, self.floor, self.relative)
        terms = [self._term(alignment, k) for k in range(len(summands))]
        summed = Addition(self.d, step.total, terms).value()
        return alignment, terms, SumConversion(
            self.d, step.total, alignment.e_max, summed, step.rounded, step.specials, clean[0],
            alignment.in_range(),
        )  # fmt: skip

    # ------------------------------------------------------------------ terms
    def _normalised(self, k: int, term: Term) -> KnownTerm:
        """A product of normal factors, or of zeros, keeps its exponent."""
        d, x, t = self.d, super()._normalised(k, term), self.stated.terms[k]
        facts = tuple(d.assume(n) for n in self.relative.normal[k] if n.op != "const")
        same = d.equal("that a normal product keeps its exponent", x.code, t.code, facts)
        assert x.shown is not None, "the value of a normalised product is shown"
        size = sign_of(term.sign) * Poly.of(term.significand) * weight(t.code, term.fraction_bits)
        shown = d.prove(t.value - size, [(same, x.code)], [(1, [x.shown])])
        return replace(x, factors=t.factors, code=t.code, limit=self._limited(k), facts=facts, shown=shown)

    def _term(self, alignment: Alignment, k: int) -> TermError:
        """One aligned term; of c, what the statement knows of it too."""
        d, x, made = self.d, alignment.summands[k], alignment.total.terms[k]
        known = alignment.term(k)
        if self.known_c is None or x.code is not self.stated.terms[-1].code:
            return known
        size = made.term.significand
        if not self.relative.zero_c:
            return self._short(alignment, k, known)
        empty = d.lemma("that c is empty", self.g.is_zero(size), [self.known_c], (x.own,))
        nothing = d.lemma(
            "that c adds nothing", self.g.is_zero(known.aligned), [empty],
            ([size, made.shift], [made.shift]),
        )  # fmt: skip
        moved = x.value - sign_of(known.sign) * Poly.of(known.aligned) * alignment.unit
        zero = d.prove(
            moved, [(d.fact(i), n) for i, n in ((empty, size), (nothing, known.aligned)) if n.op != "const"]
        )
        return replace(known, above=zero, below=d.arith([(-1, [zero])]), exact_at_zero=False)

    def _short(self, alignment: Alignment, k: int, known: TermError) -> TermError:
        """c with fraction bits beyond those of the sum, which are 0: at e_max it loses nothing."""
        if known.exact_at_zero:
            return known
        d, g, x, made = self.d, self.g, alignment.summands[k], alignment.total.terms[k]
        t, unit, bits = made.term, alignment.unit, alignment.total.fraction_bits
        excess = t.fraction_bits - bits
        placed, cut = g.truncate_low(t.significand, excess), g.extract(t.significand, excess - 1, 0)
        whole = g.concat(placed, cut)
        absent = d.lemma(
            "that c has no lower bits", g.is_zero(cut), [self.known_c or 0], ([], [t.significand])
        )
        same = d.equal(f"the significand of term {k}", t.significand, whole, (), ([t.significand], []))
        size = Poly.of(t.significand) * weight(x.code, t.fraction_bits)
        share = (Poly.of(made.shift) * -1).power_of_two()
        up_goal = unit - unit * share - size + Poly.of(known.aligned) * unit
        low_goal = size - Poly.of(known.aligned) * unit
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        scale = unit * share
        equations = [
            (alignment.distance(k, some), x.code), (same, t.significand), (d.read(whole), whole),
            (d.fact(absent), cut),
        ]  # fmt: skip
        up = d.prove(up_goal, equations, [(scale, [d.read(known.aligned, 1)])])
        low = d.prove(low_goal, equations, [(scale, [d.read(known.aligned, 0)])])
        empty = alignment._zero(k, none, known.aligned, False, low_goal, up_goal)
        low, up = d.cases(x.nonzero, low, empty[0]), d.cases(x.nonzero, up, empty[1])
        positive, sign = [d.range(t.sign), low], Poly.of(t.sign)
        moved = x.value - sign_of(t.sign) * Poly.of(known.aligned) * unit
        goal = unit - unit * share
        above = d.prove(goal + moved, [], [(1, [up]), (2, positive), (1, [known.value])])
        below = d.prove(goal - moved, [], [(1, [up]), (sign * 2, [low]), (-1, [known.value])])
        return replace(known, above=above, below=below, exact_at_zero=True)

    # ------------------------------------------------------------------ the bound
    def _value(self, x: SumConversion) -> Poly:
        """What the result is."""
        return sign_of(x.term.sign) * Poly.of(x.term.significand) * x.ulp

    def _scaled(self, case: BlockCase, both: list[int]) -> list[int]:
        """constant · Σ|terms| ∓ error >= 0, from both bounds in terms of E and of the result's ulp."""
        d, stated, x, high = self.d, self.relative, case.conversion, case.high
        units, p = stated.kept / 2**x.total.fraction_bits, x.bits
        more: list[Part] = []
        held, factor = units + stated.share / 2**p, Fraction(0)
        if high:
            lost = self._power(-x.total.fraction_bits) * stated.kept + x.ulp * stated.share
            ulps = self._large(case, both, lost + Poly.constant(x.flushed))
            factor = stated.share / (2**p - stated.share)
            more.append((factor, [ulps]))
            held = units * (1 + factor)
        made = []
        value = self._value(x)
        rest = stated.constant - held - factor
        for sign, i in zip((1, -1), both, strict=True):
            goal = self.total * stated.constant + Poly.constant(stated.flushed) - (value - case.exact) * sign
            spare = stated.flushed - x.flushed * (1 + factor)
            parts: list[Part] = [(spare, [])] if spare else []
            parts += [(1, [i]), *more, (held, [self.size_of_all]), (self.total * rest, [])]
            made.append(d.prove(goal, [], parts))
        return made

    def _large(self, case: BlockCase, both: list[int], lost: Poly) -> int:
        """lost + Σ|terms| - 2^p·ulp >= 0 of a result above E, which is normal; `both`: what is lost."""
        d, x, p = self.d, case.conversion, case.conversion.bits
        t = x.term
        full = d.fact(d.lemma(
            "that a result above E is normal",
            self.g.ule(self.g.const(1 << p, p + 1), t.significand), [case.bit, self.floor, *x.normal()],
            ([t.significand, t.exponent.bits], [*t.significand.args, t.exponent.bits], x.inner),
        ))  # fmt: skip
        s, one = Poly.of(t.sign), d.range(t.sign)
        up, down = (
            d.arith([(1, [i]), (1, [self._held(j, case.exact)])]) for i, j in zip(both, (1, -1), strict=True)
        )
        size = Poly.of(t.significand) * x.ulp
        most = d.prove(lost + self.total - size, [], [(1, [one, up]), (s, [down])])
        return d.arith([(1, [most]), (x.ulp, [full])])

    def _above(self, case: BlockCase, both: list[int], kept: Fraction, bound: Poly) -> list[int]:
        """bound ∓ error >= 0 of a result above E, where `kept` units and `share` of an ulp are lost.

        An ulp is twice 2^(E - p) at least, so that units count half as much.
        """
        d, x, share = self.d, case.conversion, self.relative.share
        lost = self._power(-x.total.fraction_bits) * kept + x.ulp * share
        ulps = self._large(case, both, lost)
        power, own = 1 << x.bits, self._power(-x.bits)
        units = kept / (1 << x.total.fraction_bits)
        factor = (units * power / 2 + share) / (power - share - units * power / 2)
        spread = d.prove(
            Poly.of(x.code) - Poly.of(self.stated.e) - Poly.constant(1), case.equations,
            [(1, [d.fact(case.bit)])],
        )  # fmt: skip
        twice = d.prove(x.ulp - own * 2, [], [(own * 2, [d.power(spread)])])
        parts: list[Part] = [(factor, [ulps]), (units * (1 + factor) * power / 2, [twice])]
        parts.append((bound - self.total * factor, []))
        value = self._value(x)
        return [
            d.prove(bound - (value - case.exact) * sign, [], [(1, [i]), *parts])
            for sign, i in zip((1, -1), both, strict=True)
        ]

    def _empty(self, alignment: Alignment, k: int) -> int:
        """That a c of 0 adds nothing."""
        made, x = alignment.total.terms[k], alignment.summands[k]
        if self.known_c is None:
            raise ProofError("expected a c that is known to be zero")
        size = made.term.significand
        empty = self.d.lemma("that c is empty", self.g.is_zero(size), [self.known_c], (x.own,))
        return self.d.lemma(
            "that c adds nothing", self.g.is_zero(made.aligned), [empty],
            ([size, made.shift], [made.shift]),
        )  # fmt: skip
