"""Truncated sums of products that c is added to exactly, before the one rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.after_bound import AfterBound
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.summed import Addition
from tcformal.proofs.tactics.bounds.terms import code_of, sign_of
from tcformal.proofs.tactics.rounded.aligned_products import known_operands
from tcformal.proofs.tactics.rounded.composition import RoundedProof, StepError
from tcformal.proofs.tactics.rounded.inputs import Taken
from tcformal.proofs.tactics.rounded.integers import power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.stages import Block, Dot, DotStep, Total
from tcformal.semantics.sums.step import as_term


class AfterProof(RoundedProof):
    """The proof of one statement: what the products lose, and the rounding of their sum with c."""

    stated: AfterBound

    def __init__(self, d: Derivation, stated: AfterBound, dot: Dot) -> None:
        super().__init__(d, stated, dot)
        blocks = [x for x in dot.stages if isinstance(x, Block)]
        if len(blocks) != len(dot.stages) or [len(x.steps) for x in blocks] != [2]:
            raise ProofError("a dot product is not one sum of products, and then c")
        self.products, self.last = blocks[0].steps
        #: Of each product that is cut into pieces that it is their sum.
        self.cut: list[int] = []

    def conclusions(self) -> list[int]:
        """Both theorems of the statement; ProofError with one sentence where a step is not found."""
        stated, alignment = self.stated, self._alignment()
        terms = [alignment.term(k) for k in range(len(alignment.summands))]
        error = self.added(alignment, terms)
        same = self.operands.result(error.taken)
        lost = self._lost(alignment, terms)
        made = []
        for (_, goal), sign, mine in zip(
            stated.conclusions, (-1, 1), (error.below, error.above), strict=True
        ):
            parts: list[Part] = [(1, [mine]), *lost, (sign, [same.equal])]
            parts += [(1, [t.above if sign < 0 else t.below]) for t in terms]
            parts += [(alignment.unit * sign, [self.equation]), *((-sign, [i]) for i in self.cut)]
            made.append(self.z.rewritten(goal, [*same.equations, *self.in_e], parts))
        return made

    def added(self, alignment: Alignment, terms: Sequence[TermError]) -> StepError:
        """The sum of the products and c, and what its rounding loses."""
        operands = [self._summed(alignment, terms), self._c()]
        return self._step(self.last, self.stated.roundings[0], operands, self._clean(self.last), True)

    # ------------------------------------------------------------------ products
    def _alignment(self) -> Alignment:
        total = self.products.total
        if total is None or self.products.rounded is not None or self.last.total is None:
            raise ProofError("the sum of the products is rounded before c is added")
        summands, _, self.cut = known_operands(self.operands.inputs, self.products)
        return Alignment(self.d, total, summands, self.limited(total), self.floor)

    def limited(self, total: Total) -> Node:
        """E one bit wider; what that and the code of e_max are is kept."""
        wide = self.g.zero_extend_to(self.stated.e, CODE_BITS + 1)
        code = code_of(self.g, total.e_max)
        self.in_e = [(self.d.read(wide), wide), *self.d.expanded(code, [total.e_max.bits], "an exponent")]
        return wide

    def _summed(self, alignment: Alignment, terms: Sequence[TermError]) -> Taken:
        """The sum of the products as a term of the second sum."""
        d, g, total = self.d, self.g, alignment.total
        addition = Addition(d, total, terms)
        summed = addition.value()
        self.summed, self.equation = summed, summed.equation
        made = as_term(g, total)
        if made.significand is not summed.magnitude or made.sign is not summed.sign:
            raise ProofError("the sum of the products is another term of the second sum")
        value = sign_of(made.sign) * Poly.of(made.significand) * power(made.exponent, -made.fraction_bits)
        cut = ([total.bits],)
        empty = g.or_(g.not_(made.zero), g.is_zero(made.significand))
        some = g.or_(made.zero, g.any_bit(made.significand))
        nothing = d.arith([])
        x = SummedTerm(
            value, made, nothing, d.lemma("that a zero is empty", empty, (), cut),
            d.lemma("that another number is not", some, [addition.within(total.bits)], cut),
            tuple(alignment.in_range()),
        )  # fmt: skip
        return Taken(x, Fraction(0), nothing, nothing)

    def _lost(self, alignment: Alignment, terms: Sequence[TermError]) -> list[Part]:
        """What the products lose is at most the statement's units of 2^(E - F)."""
        (block,) = self.stated.blocks
        parts: list[Part] = [(block.units, [alignment.bounded()])]
        if all(t.exact_at_zero for t in terms):
            return [*parts, (alignment.unit, [alignment.some_exact()])]
        shares = [(Poly.of(t.shift) * -1).power_of_two() for t in terms if t.exact_at_zero]
        return [*parts, *((alignment.unit * x, []) for x in shares)]

    # ------------------------------------------------------------------ c
    def _c(self) -> Taken:
        """c, whose exponent E does not limit."""
        inputs, (c,) = self.operands.inputs, self.stated.terms[-1].factors
        number = self.operands.number_of(self.last.operands[-1], [])
        nothing = self.d.arith([])
        finite = (self.d.assume(c.finite),)
        x = SummedTerm(
            self.stated.terms[-1].value, number.term, inputs.same_factor(c, number), 0, 0, (), finite
        )
        return Taken(inputs.summand(number, x), Fraction(0), nothing, nothing)

    def _clean(self, step: DotStep) -> list[int]:
        """That the result is neither Inf nor NaN, because d is neither."""
        if step.specials is None:
            raise ProofError("a step is not rounded")
        x, given = step.specials.result, [self.d.assume(self.stated.d.finite)]
        cut = [x.term.sign, x.term.significand, x.term.exponent.bits, x.inf, x.nan]
        what = "that a result of a finite d is finite"
        return [self.d.lemma(what, self.g.not_(f), given, (cut,)) for f in (x.inf, x.nan)]
