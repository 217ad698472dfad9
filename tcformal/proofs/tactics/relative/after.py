"""The error of a truncated sum of products, then of its rounding beside a c of 0, in terms of magnitudes."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.after_bound import AfterBound
from tcformal.proofs.statements.encodings import Encoded
from tcformal.proofs.statements.relative_bound import RelativeBound
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.rounded import RoundingError, SumConversion
from tcformal.proofs.tactics.bounds.terms import code_of, sign_of, weight
from tcformal.proofs.tactics.relative.blocks import RelativeProof
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.proofs.tactics.rounded.after import AfterProof
from tcformal.proofs.tactics.rounded.composition import StepError
from tcformal.semantics.stages import Dot


class AfterConversion(SumConversion):
    """The rounding of the products' sum, to which a c of 0 is added."""

    def __init__(self, after: AfterProof, alignment: SharpAlignment, step: StepError, empty: int) -> None:
        self.d, self.g, self.total, self.e_max = after.d, after.g, alignment.total, alignment.e_max
        if after.last.rounded is None or after.last.specials is None:
            raise ProofError("the last sum is not rounded")
        self.summed, self.rounded, self.specials = after.summed, after.last.rounded, after.last.specials
        self.after, self.step, self.empty = after, step, empty
        self.result = self.specials.result
        x = step.taken.summand
        self.term, self.inner = x.term, (x.term.exponent.bits, *x.inner)
        self.code = code_of(self.g, self.term.exponent)
        self.bits = self.rounded.target.fraction_bits
        self.ulp, self.unit = weight(self.code, self.bits), alignment.unit
        self.slack, self.flushed = Poly.constant(0), after.stated.flushed
        self.given = list(x.facts)
        self.coded = self.d.expanded(self.code, [self.term.exponent.bits], "an exponent")

    def error(self) -> RoundingError:
        """Both bounds of what the rounding loses, and flushing beside it."""
        d, ulps = self.d, self.after.stated.ulps
        value = sign_of(self.term.sign) * Poly.of(self.term.significand) * self.ulp
        moved = value - sign_of(self.summed.sign) * Poly.of(self.summed.magnitude) * self.unit
        c = self.after.stated.terms[-1].factors[0].significand
        equations = [(d.fact(self.empty), c), *self.coded, *self.after.in_e]
        made = []
        for sign, i in ((1, self.step.below), (-1, self.step.above)):
            goal = self.ulp * ulps + Poly.constant(self.flushed) - moved * sign
            made.append(self.after.z.rewritten(goal, equations, [(1, [i])]))
        return RoundingError(value, self.code, made[0], made[1])

    def normal(self) -> list[int]:
        """What is known of the result."""
        return self.given

    def packed(self, d_word: Encoded, finite: int | None = None) -> tuple[int, int]:
        """Where d is finite, it and the result have one value; and what the exponent's code is."""
        del d_word, finite
        same = self.after.operands.result(self.step.taken)
        value = sign_of(self.term.sign) * Poly.of(self.term.significand) * self.ulp
        goal = self.after.stated.d.value - value
        return self.after.z.rewritten(goal, self.coded, [(1, [same.equal])]), self.coded[0][0]


class RelativeAfterProof(RelativeProof):
    """The proof of one statement about one sum of products, c being 0."""

    def __init__(self, d: Derivation, stated: RelativeBound, dot: Dot) -> None:
        super().__init__(d, stated, dot)
        self.after = AfterProof(d, cast(AfterBound, stated.base), dot)

    def _sum(self, limit: Node) -> tuple[SharpAlignment, list[TermError], SumConversion]:
        after, d, total = self.after, self.d, self.after.products.total
        if total is None or self.known_c is None:
            raise ProofError("the products have no sum beside a c of 0")
        summands = [
            self._normalised(x.ks[0], t.term)
            for x, t in zip(after.products.operands, total.terms, strict=True)
        ]
        after.limited(total)
        alignment = SharpAlignment(d, total, summands, limit, self.floor, self.relative)
        terms = [alignment.term(k) for k in range(len(summands))]
        step = after.added(alignment, terms)
        c = self.stated.terms[-1].factors[0].significand
        empty = d.lemma("that c is zero", self.g.is_zero(c), [self.known_c])
        # c is no term of the first sum: its value is 0.
        none = d.prove(self.stated.terms[-1].value, [(d.fact(empty), c)])
        zero = replace(terms[0], above=none, below=d.arith([(-1, [none])]), value=none, exact_at_zero=False)
        return alignment, [*terms, zero], AfterConversion(after, alignment, step, empty)
