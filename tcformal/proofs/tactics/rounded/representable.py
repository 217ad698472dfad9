"""One conversion of a magnitude that has no more bits than the result: exact but at the least exponent."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Rounded


class RepresentableRounding(MagnitudeRounding):
    """Theorems about one record of a conversion of `magnitude`, of at most the result's bits, · 2^lsb."""

    def __init__(
        self,
        z: IntegerSteps,
        rounded: Rounded,
        magnitude: Node,
        lsb: Exponent,
        fits: int,
        ranges: Sequence[int],
    ) -> None:
        super().__init__(z, rounded, magnitude, lsb, None, fits, ranges)
        least = Poly.constant(rounded.target.e_min + 1 - self.p).power_of_two()
        self.loss = Poly.constant(0) if rounded.lift is None else least * self.ulps

    def _rounded_off(
        self, goals: list[Poly], equations: list[Equation], parts: list[list[Part]], low: Node, some: int
    ) -> list[int]:
        """Nothing is cut off where nothing is lifted."""
        d, g, r = self.d, self.g, self.r
        del some
        if r.lift is None:
            return self._whole(goals, equations, parts, low, [])
        yes, no = d.assume(r.lift.below), d.assume(g.not_(r.lift.below))
        below = ([self.padded, r.lift.amount],)
        none = d.lemma(
            "that nothing is lifted", g.is_zero(r.lift.amount), [no, *self.ranges], ([self.low.bits],)
        )
        kept = d.lemma("what is not lifted", g.eq(r.magnitude, self.padded), [none], below)
        flag = d.equal("what is not lost", self.lost, g.truth(False), [none], below)
        whole = self._whole(goals, [(flag, self.lost), *equations], parts, low, [kept])
        top = d.lemma("the least exponent", g.is_zero(r.top.bits), [yes, *self.ranges], ([self.low.bits],))
        limit = d.lemma("no limit", g.is_zero(r.limit), [top], ([r.top.bits],))
        zeros: list[Equation] = [(d.fact(top), r.top.bits)]
        for x in (r.distance, r.height):
            zero = d.lemma("no distance", g.is_zero(x), [limit, self.within], ([r.distance, r.limit],))
            zeros.insert(0, (d.fact(zero), x))
        fine = self.unit * (Poly.of(r.distance) * -1).power_of_two()
        lifted = [
            self.z.rewritten(goal, [*zeros, *equations, *zeros], [*same, (fine, [i])])
            for goal, same, i in zip(goals, parts, self._core(low), strict=True)
        ]
        return [d.cases(r.lift.below, i, j) for i, j in zip(lifted, whole, strict=True)]

    def _whole(
        self,
        goals: list[Poly],
        equations: list[Equation],
        parts: list[list[Part]],
        low: Node,
        given: list[int],
    ) -> list[int]:
        d, g, r = self.d, self.g, self.r
        cut = ([r.magnitude, self.source, *self._goes()],)
        none = d.lemma("that nothing is cut off", g.is_zero(low), given, cut)
        away = d.lemma("that nothing is added", g.not_(r.away), [none], ([r.normalised],))
        zeros = [(d.fact(none), low), self.z.bit(away, r.away, 0)]
        rest: list[Part] = [(self.loss, [])] if self.loss.terms else []
        return [
            self.z.rewritten(goal, [*equations, *zeros], [*same, *rest])
            for goal, same in zip(goals, parts, strict=True)
        ]
