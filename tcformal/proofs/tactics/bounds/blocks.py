"""The error bound of a whole dot product: block by block, each result the next one's c."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.statements.error_bound import BlockBound, ErrorBound, left_out
from tcformal.proofs.tactics.bounds.aligned import Alignment
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import RoundingError, SumConversion, flags_of
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import KnownTerm
from tcformal.proofs.tactics.rounded.aligned_products import known_operands, known_product
from tcformal.proofs.tactics.rounded.inputs import StatedInputs
from tcformal.proofs.tactics.rounded.integers import IntegerSteps
from tcformal.semantics.number import Term
from tcformal.semantics.stages import Block, Dot, DotStep, Operand, Rounded, SpecialCases


@dataclass(frozen=True, slots=True)
class BlockError:
    """Theorems about one block, x being the value of its result less the exact sum of everything before it.

    `bounds`: what the blocks so far may lose above the sum, and below, of which `ulps` of its result are the
    last rounding's; `above`: the first less x, `below`: the second less -x.
    """

    conversion: SumConversion
    rounding: RoundingError
    bounds: tuple[Poly, Poly]
    ulps: tuple[Fraction, Fraction]
    above: int
    below: int

    @property
    def sides(self) -> tuple[tuple[Poly, Fraction, int], ...]:
        """Bound, ulps and theorem of both sides."""
        return tuple(zip(self.bounds, self.ulps, (self.above, self.below), strict=True))


class BoundProof:
    """The proof of one statement about one dot product."""

    def __init__(self, d: Derivation, stated: ErrorBound, dot: Dot) -> None:
        self.d, self.g, self.stated, self.dot = d, d.g, stated, dot
        self.floor = d.assume(stated.floor)
        #: The exact sum so far, and the largest magnitude that it can have in units of 2^E, both ways.
        self.exact = Poly.constant(0)
        self.sizes: list[tuple[int, int]] = []
        #: Of each product that is cut into pieces, that they add up to it; and those that are left out.
        self.cut: list[int] = []
        self.left_out: list[KnownTerm] = []
        #: Whether they are needed, for a result that goes on as a term.
        self.chained = len(stated.blocks) > 1

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        d, stated = self.d, self.stated
        blocks = [x for x in self.dot.stages if isinstance(x, Block)]
        if len(blocks) != len(self.dot.stages) or len(blocks) != len(stated.blocks):
            raise ProofError(f"{len(blocks)} sums are not the {len(stated.blocks)} blocks of the statement")
        clean = self._clean([self._roundings(x) for x in blocks])
        carried: KnownTerm | None = None
        before: BlockError | None = None
        for i, (bound, block) in enumerate(zip(stated.blocks, blocks, strict=True)):
            before = self._block(bound, block, carried, before, clean[i])
            if i < len(blocks) - 1:
                carried, before = self._carried(bound, before, clean[i][-1])
        assert before is not None, "a dot product has a block"
        packed, same = before.conversion.packed(stated.d)
        made = []
        for (_, goal), i, sign in zip(stated.conclusions, (before.above, before.below), (-1, 1), strict=True):
            made.append(d.prove(goal, [(same, before.rounding.code)], [(1, [i]), (sign, [packed])]))
        return made

    def _roundings(self, block: Block) -> list[tuple[Rounded, SpecialCases]]:
        """The conversions of a block in order: that of its one fused sum."""
        if len(block.steps) == 1:
            (step,) = block.steps
            if step.specials is not None and step.rounded is not None and step.floor is None:
                return [(step.rounded, step.specials)]
        raise ProofError("a block is no fused sum")

    def _clean(self, blocks: Sequence[Sequence[tuple[Rounded, SpecialCases]]]) -> list[list[list[int]]]:
        """That every result is neither Inf nor NaN, because d is neither: from the last to the first."""
        d, g, made = self.d, self.g, list[list[list[int]]]()
        given = [d.assume(self.stated.d.finite)]
        later: list[Node] = []
        for block in reversed(blocks):
            made.append([])
            for rounded, special in reversed(block):
                x = special.result
                own = [x.term.sign, x.term.significand, x.term.exponent.bits, x.inf, x.nan]
                what = "that a result of a finite d is finite"
                given = [
                    d.lemma(what, g.not_(flag), given, ([*own, *later], later, [])) for flag in (x.inf, x.nan)
                ]
                later = [rounded.result.inf]
                made[-1].insert(0, given)
        return made[::-1]

    # ------------------------------------------------------------------ one block
    def _limit(self, reach: int) -> tuple[Node, list[tuple[int, Node]]]:
        """The code of E + reach, one bit wider, and what it is in terms of E."""
        d, g, e = self.d, self.g, self.stated.e
        wide = g.zero_extend_to(e, CODE_BITS + 1)
        if not reach:
            return wide, [(d.read(wide), wide)]
        code = g.add_mod(wide, g.const(reach, CODE_BITS + 1))
        fits = d.lemma("that an exponent above E has a code", g.ule(code.args[0], code))
        return code, [(d.read(code, fits), code), (d.read(wide), wide)]

    def _summands(self, step: DotStep, carried: KnownTerm | None) -> list[KnownTerm]:
        """The terms of a block's sum as the statement knows them."""
        if step.total is None or len(step.operands) != len(step.total.terms):
            raise ProofError("the block's terms are not its operands")
        if self.stated.unit.design.piece_bits is not None:
            inputs, (*_, last) = StatedInputs(IntegerSteps(self.d), self.stated), step.operands
            made, self.left_out, self.cut = known_operands(
                inputs, step, lambda term: self._summand(last, term)
            )
            return made
        found: list[KnownTerm] = []
        for x, aligned in zip(step.operands, step.total.terms, strict=True):
            carries = x.kind in ("block", "parts") and carried is not None
            found.append(carried if carries and carried is not None else self._summand(x, aligned.term))
        return found

    def _summand(self, x: Operand, term: Term) -> KnownTerm:
        """One of them that is no result of a block."""
        if x.kind not in ("c", "products") or len(x.ks) > 1:
            raise ProofError(f"a term is {x.kind} of {len(x.ks)} k")
        k = len(self.stated.terms) - 1 if x.kind == "c" else x.ks[0]
        t = self.stated.terms[k]
        if x.kind == "products" and self.stated.unit.design.normalise_operands:
            return self._normalised(k, term)
        return KnownTerm(t.value, t.factors, term, t.code, t.nonzero, self._limited(k))

    def _normalised(self, k: int, term: Term) -> KnownTerm:
        """A product whose subnormal factors are normalised."""
        return known_product(StatedInputs(IntegerSteps(self.d), self.stated), k, term)

    def _limited(self, k: int) -> int:
        """What the statement says of E and the exponent of one term, one bit wider."""
        d, g, t = self.d, self.g, self.stated.terms[k]
        wide = g.zero_extend_to(self.stated.e, CODE_BITS + 1)
        goal = g.or_(g.not_(t.nonzero), g.ule(g.zero_extend_to(t.code, CODE_BITS + 1), wide))
        given = [d.assume(self.stated.limits[k])]
        return d.lemma("an exponent at most E", goal, given, ([t.code, t.nonzero], [t.code]))

    def _block(
        self, bound: BlockBound, block: Block, carried: KnownTerm | None, before: BlockError | None,
        clean: Sequence[Sequence[int]],
    ) -> BlockError:  # fmt: skip
        """One sum, and with those before it everything so far."""
        (step,) = block.steps
        d, total = self.d, step.total
        if total is None or step.rounded is None or step.specials is None:
            raise ProofError("a block is no fused sum")
        summands = self._summands(step, carried)
        limit, in_e = self._limit(bound.reach)
        alignment = Alignment(d, total, summands, limit, self.floor)
        terms = [alignment.term(k) for k in range(len(summands))]
        most = alignment.bounded()
        summed = Addition(d, total, terms).value()
        conversion = SumConversion(
            d, total, alignment.e_max, summed, step.rounded, step.specials, clean[0], alignment.in_range()
        )
        rounding = conversion.error()
        pieces, lost = [self._size(x, x.shown or 0) for x in self.left_out], left_out(self.stated.unit)
        parts: list[Part] = [(bound.units - lost, [most])]
        if all(t.exact_at_zero for t in terms):
            parts.append((alignment.unit, [alignment.some_exact()]))
        else:
            shares = [(Poly.of(t.shift) * -1).power_of_two() for t in terms if t.exact_at_zero]
            parts += [(alignment.unit * x, []) for x in shares]
        if self.cut:
            self.exact = Poly.constant(0) - self.stated.error + self.stated.d.value
        for x, t in zip(summands, terms, strict=True) if not self.cut else ():
            if x is not carried and x.value.terms:
                self.exact = self.exact + x.value
                if self.chained:
                    self.sizes.append(self._size(x, t.value))
        reach = bound.reach - total.fraction_bits
        loss = self._power(reach) * bound.units + conversion.ulp * self.stated.ulps
        loss = loss + (Poly.constant(0) if before is None else before.bounds[0])
        shown = []
        for mine, each, sign, last in (
            (rounding.above, [t.above for t in terms], 1, None if before is None else before.above),
            (rounding.below, [t.below for t in terms], -1, None if before is None else before.below),
        ):
            whole = [*parts, (1, [mine]), *((1, [i]) for i in each)]
            whole += [(1, [pair[sign > 0]]) for pair in pieces]
            whole.append((alignment.unit * -sign, [summed.equation]))
            whole += [(sign, [i]) for i in self.cut] + ([] if last is None else [(1, [last])])
            goal = loss - (rounding.value - self.exact) * sign
            shown.append(d.prove(goal, in_e, whole))
        return BlockError(conversion, rounding, (loss, loss), (self.stated.ulps,) * 2, shown[0], shown[1])

    def _power(self, by: int) -> Poly:
        """2^(E + by)."""
        return (Poly.of(self.stated.e) + Poly.constant(by - OFFSET)).power_of_two()

    def _size(self, x: KnownTerm, value: int) -> tuple[int, int]:
        """2^(E + factors) less, and plus, the value of a term: at least 0."""
        d, term = self.d, x.term
        places = len(x.factors) or term.weight_bits
        goal = self._power(places)
        wide, in_e = self._limit(0)
        some, none = d.assume(x.nonzero), d.assume(self.g.not_(x.nonzero))
        code = self.g.zero_extend_to(x.code, CODE_BITS + 1)
        reached = d.lemma(
            "an exponent at most E", self.g.ule(code, wide), [x.limit, some], ([x.code, wide], [])
        )
        fact = d.prove(
            Poly.of(self.stated.e) - Poly.of(x.code),
            [(d.read(code), code), *in_e], [(1, [d.fact(reached)])],
        )  # fmt: skip
        ratio, range_ = d.power(fact), d.range(term.significand)
        weight = (Poly.of(x.code) - Poly.constant(OFFSET + term.fraction_bits)).power_of_two()
        size = Poly.of(term.significand) * weight
        full = 1 << term.significand.width
        slack = (1 << (places + term.fraction_bits)) - full
        if slack < 0:
            raise ProofError("a term is larger than the product of its significands")
        top = weight * (full + slack)
        bounds: list[Part] = [(top, [ratio]), (weight, [range_]), (weight * (slack + 1), [])]
        empty = d.lemma("that a zero term is empty", self.g.is_zero(term.significand), [none], (x.own,))
        held = d.cases(
            x.nonzero, d.prove(goal - size, [], bounds),
            d.prove(goal - size, [(d.fact(empty), term.significand)], [(goal, [])]),
        )  # fmt: skip
        s, one = Poly.of(term.sign), d.range(term.sign)
        less = d.prove(goal - x.value, [], [(1, [held]), (s * 2 * size, []), (-1, [value])])
        more = d.prove(goal + x.value, [], [(1, [held]), (size * 2, [one]), (1, [value])])
        return less, more

    # ------------------------------------------------------------------ from one block to the next
    def _carried(
        self, bound: BlockBound, made: BlockError, clean: Sequence[int]
    ) -> tuple[KnownTerm, BlockError]:
        """A block's result as the next one's c: its exponent lies at most `bound.grown` above E."""
        d, g, x = self.d, self.g, made.conversion
        t, code, p = x.term, made.rounding.code, x.bits
        limit, in_e = self._limit(bound.grown)
        wide = g.zero_extend_to(code, CODE_BITS + 1)
        equations = [(d.read(wide), wide), *in_e]
        above, e = g.ult(limit, wide), Poly.of(self.stated.e)
        absent = d.refute(self._contradiction(bound, made, d.assume(above), equations), above)
        reached = d.lemma("an exponent above E", g.ule(wide, limit), [absent], ([wide, limit],))
        goal = e + Poly.constant(bound.grown) - Poly.of(code)
        own = self._power(bound.grown - p)
        ratio = d.power(d.prove(goal, equations, [(1, [d.fact(reached)])]))
        smaller = d.prove(own - x.ulp, [], [(x.ulp, [ratio])])
        bounds, wider = zip(
            *(
                (most + (own - x.ulp) * ulps, d.arith([(1, [i]), (Poly.constant(ulps), [smaller])]))
                for most, ulps, i in made.sides
            ), strict=True,
        )  # fmt: skip
        lost = BlockError(x, made.rounding, bounds, made.ulps, *wider)
        nonzero = g.any_bit(t.significand)
        known = g.or_(g.not_(nonzero), g.ule(wide, limit))
        implied = d.lemma("an exponent above E", known, [reached], ([wide, limit],))
        bits = [t.significand, t.exponent.bits, *flags_of(x.specials)]
        deeper = [a for n in bits if n.op == "extract" for a in n.args]
        facts = (*clean, *x.normal())
        return KnownTerm(made.rounding.value, (), t, code, nonzero, implied, facts, (*bits, *deeper)), lost

    def _contradiction(
        self, bound: BlockBound, made: BlockError, above: int, equations: Sequence[tuple[int, Node]]
    ) -> int:
        """A result whose exponent is above E + grown is larger than everything that it is made of."""
        d, g, x = self.d, self.g, made.conversion
        t, code, p = x.term, made.rounding.code, x.bits
        full = d.lemma(
            "that a result above E is normal", g.ule(g.const(1 << p, p + 1), t.significand),
            [above, self.floor, *x.normal()],
            ([t.significand, t.exponent.bits], [*t.significand.args, t.exponent.bits]),
        )  # fmt: skip
        # significand · ulp is at most the exact sum with everything lost.
        s, one = Poly.of(t.sign), d.range(t.sign)
        less, more = (d.arith([(1, [pair[i]]) for pair in self.sizes]) for i in (0, 1))
        # Less may be lost above the sum than below.
        up = d.arith([(1, [made.above]), (1, [less]), (made.bounds[1] - made.bounds[0], [])])
        down = d.arith([(1, [made.below]), (1, [more])])
        most = d.about(less) + self.exact + made.bounds[1]
        held = d.prove(most - Poly.of(t.significand) * x.ulp, [], [(1, [one, up]), (s, [down])])
        # The exponent is an integer above E + grown: 2^(exponent - E) is at least 2^(grown + 1).
        goal = Poly.of(code) - Poly.of(self.stated.e) - Poly.constant(bound.grown + 1)
        ratio = d.power(d.prove(goal, equations, [(1, [d.fact(above)])]))
        scale = (Poly.constant(OFFSET) - Poly.of(self.stated.e)).power_of_two()
        share = (1 - self.stated.ulps / 2**p) * 2 ** (bound.grown + 1)
        return d.arith([(scale, [held]), (scale * x.ulp, [d.fact(full)]), (share, [ratio])])
