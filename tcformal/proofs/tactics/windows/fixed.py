"""The exact sum of products in one window that holds every one of them."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.summed import Addition, added_in_pairs
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.integers import IntegerSteps
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.number import Exponent
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total
from tcformal.semantics.sums.exact import fixed_sum, fixed_width, lowest_weight


class FixedSum:
    """The sum of products in one window that holds every one of them."""

    def __init__(self, z: IntegerSteps, summands: Sequence[SummedTerm]) -> None:
        self.z, self.d, self.g, self.summands = z, z.d, z.g, summands
        self.terms = [x.term for x in summands]
        self.lowest, self.width = lowest_weight(self.terms), fixed_width(self.terms)

    def summand(self) -> SummedTerm:
        """The sum as one term of another."""
        z, d, g = self.z, self.d, self.g
        placed, equations = zip(*(self._placed(x) for x in self.summands), strict=True)
        total = self._total(placed)
        addition = Addition(d, total, placed)
        summed = addition.value()
        t = fixed_sum(g, self.terms)
        if t.significand is not summed.magnitude:
            raise ProofError("products are not summed in one window")
        within = addition.within(total.bits)
        size = t.significand
        cut = ([total.bits, *(x.sign for x in self.terms)],)
        signs = z.signed("the sign of a sum", (t.sign, size), (summed.sign, size), (), cut)
        value = Poly.constant(0)
        for x in self.summands:
            value = value + x.value
        unit = Poly.constant(self.lowest).power_of_two()
        goal = value - sign_of(t.sign) * Poly.of(size) * unit
        parts = [(1, [i]) for i in equations]
        equation = z.rewritten(goal, [], [*parts, (unit * -1, [summed.equation]), (unit * -1, [signs])])
        empty = g.or_(g.not_(t.zero), g.is_zero(size))
        some = g.or_(t.zero, g.any_bit(size))
        return SummedTerm(
            value, t, equation, d.lemma("that a zero sum is empty", empty, (), cut),
            d.lemma("that another sum is not", some, [within], cut), (),
        )  # fmt: skip

    def _placed(self, x: SummedTerm) -> tuple[TermError, int]:
        """A product shifted to its place: value - ±placed · 2^lowest = 0."""
        z, d, g, t = self.z, self.d, self.g, x.term
        wide = g.zero_extend_to(t.significand, max(self.width, t.significand.width))
        lsb = t.exponent.shifted(-t.fraction_bits)
        up = lsb.rebased(g, self.lowest, t.exponent.high)
        placed = g.shl_mod(wide, up)
        code = z.linear("a place", [up], [lsb.bits], self.lowest - lsb.low, x.ranges, ([lsb.bits],))
        top = lsb.high - self.lowest
        near = d.lemma("a place", g.ule(up, g.const(top, up.width)), x.ranges, ([lsb.bits],))
        cut = ([t.significand, up],)
        fits = d.lemma("that a placed product fits", g.eq(g.lshr(placed, up), wide), [near], cut)
        most = (1 << t.significand.width) - 1 << top
        small = d.lemma(
            "the range of a placed product", g.ule(placed, g.const(most, placed.width)), [near], cut
        )
        unit = Poly.constant(self.lowest).power_of_two()
        goal = x.value - sign_of(t.sign) * Poly.of(placed) * unit
        equations = [(d.read(placed, fits), placed), (d.read(wide), wide), (code, up)]
        equation = z.rewritten(goal, equations, [(1, [x.equation])])
        return TermError(t.sign, placed, up, 0, 0, most, small, 0, True), equation

    def _total(self, placed: Sequence[TermError]) -> Total:
        """The partial sums of the balanced tree, as the definition has them."""
        g = self.g
        level = [g.wrap_to_mod(signed_magnitude(g, x.sign, x.aligned), self.width + 2) for x in placed]
        total, partials = added_in_pairs(g, level)
        return Total(total, Exponent(g.const(0, 1), self.lowest, self.lowest), 0, partials=partials)
