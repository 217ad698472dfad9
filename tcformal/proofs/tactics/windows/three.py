"""The sum of three terms in windows: what it is rounded to is as near to the sum without windows.

What lies far below is moved up: y with z by some bits, and z by some more.  So the sum of the terms x, y
and z lies between x, x + y' and x + y' + z' as they stand in the windows, with weights that add up to 1; and
the result is within the loss of one rounding of each of these that has a weight.
"""

from __future__ import annotations

from collections.abc import Callable

from tcformal.errors import ProofError
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.terms import ONE, sign_of
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation
from tcformal.proofs.tactics.windows.nearby import NearbySums


class WindowSum(NearbySums):
    """Three terms in windows, and the number that they are rounded as."""

    def rounded(self, x: MagnitudeRounding, errors: tuple[int, int]) -> tuple[int, int]:
        """loss ∓ (Σ summands - ±significand·ulp) >= 0."""
        z, d, g, w = self.z, self.d, self.g, self.w
        value = self._value()
        total = Poly.constant(0)
        for s in self.summands:
            total = total + s.value
        own = sign_of(self.summed.sign) * Poly.of(x.significand) * x.ulp
        goals = [x.loss - (total - own) * by for by in (1, -1)]
        third = self._signed(x, errors, self.summed.magnitude, self.summed.sign, [])
        gaps = self._gaps()

        def proved(none: bool, i: list[int], _: list[Equation]) -> list[int]:
            if none:
                return self._without(goals, value, third, gaps, i)
            kept = d.equal(
                "what no window takes off", w.lost, g.const(0, w.lost.width), i, ([self.empty, w.cut],)
            )
            lowered = self._lowered(i)
            same = [(lowered, self.total.e_max.bits), (kept, w.lost)]
            first = self._weighted(0, lambda far: self._first(x, errors, far), same)
            second = self._weighted(1, lambda far: self._second(x, errors, far, i[0]), same)
            made = []
            back = self._moved(2)
            for k, by in enumerate((1, -1)):
                parts: list[Part] = [
                    (1, [first[k]]), (1, [second[k]]), (back, [third[k]]), *self._apart(by, value, gaps),
                    *self._totals(by, back),
                ]  # fmt: skip
                made.append(z.rewritten(goals[k], same, parts))
            return made

        above, below = z.cases(self.empty, proved)
        return above, below

    def _gaps(self) -> list[Equation]:
        """The exponents of y and z, by that of x and the true gaps."""
        z, w, e = self.z, self.w, self.codes
        made = []
        for k in (0, 1):
            i = z.linear("a gap", [w.gaps[k], e[k + 1]], [e[k]], 0, [self.order[k]], ([e[k], e[k + 1]],))
            made.append((i, e[k + 1]))
        return made[::-1]

    def _moved(self, count: int) -> Poly:
        """2^-(the bits by which the first `count` gaps are cut)."""
        total = Poly.constant(0)
        for true, kept in list(zip(self.w.gaps, (self.w.one, self.w.two), strict=True))[:count]:
            total = total + Poly.of(kept) - Poly.of(true)
        return total.power_of_two()

    def _apart(self, by: int, value: int, gaps: list[Equation]) -> list[Part]:
        """-by · (Σ summands - (x + y·2^-k + z·2^-(k + l))·unit) = 0, as parts."""
        z, w = self.z, self.w
        goal, parts = Poly.constant(0), list[Part]()
        for s in self.summands:
            goal = goal + s.value
        back = [ONE, self._moved(1), self._moved(2)]
        fine = (Poly.of(self.codes[0]) + Poly.constant(w.low - (self.n - 1) - self.grid)).power_of_two()
        trues = Poly.constant(0)
        for k, row in enumerate(self.rows):
            goal = goal - sign_of(row[1]) * Poly.of(w.addends[k]) * back[k] * self.unit
            if k:
                trues = trues - Poly.of(w.gaps[k - 1])
            parts.append((sign_of(row[1]) * fine * trues.power_of_two(), [self.placed[k]]))
        equations = [*gaps, *self._sum_of(self.down)]
        held = z.rewritten(goal, equations, [(1, [value]), *parts])
        return [(-by, [held])]

    def _totals(self, by: int, back: Poly) -> list[Part]:
        """What the weighted totals are the sums of: -by · weight · (±magnitude - Σ ±aligned) · -unit."""
        middle = self._moved(1) - back
        return [
            (self.unit * middle * by, [self.upper.equation]), (self.unit * back * by, [self.summed.equation])
        ]  # fmt: skip

    def _lowered(self, given: list[int]) -> int:
        """The exponent of the window: that of x less what is taken off."""
        w, bits = self.w, self.total.e_max.bits
        less = self.total.e_max.low - w.low
        cut = [*self.codes, self.empty]
        return self.z.linear(
            "the exponent of a window", [bits, w.lost], [self.codes[0]], less,
            [*self.order, *self.span, *given], (cut,),
        )  # fmt: skip

    def _weighted(self, k: int, find: Callable[[int], list[int]], same: list[Equation]) -> list[int]:
        """Two theorems multiplied by their weight, which is 0 unless a gap is cut."""
        z, d, g, w = self.z, self.d, self.g, self.w
        true, kept = w.gaps[k], (w.one, w.two)[k]
        before = self._moved(k)
        weight = before - self._moved(k + 1)
        if self.near[k].op == "const":
            raise ProofError("no gap between terms is ever cut")
        yes, no = d.assume(self.near[k]), d.assume(g.not_(self.near[k]))
        whole = z.linear("a gap that is not cut", [true], [kept], 0, [yes], ([true],))
        more = z.at_least("a gap that is cut", [true], [kept], 0, (), ([true],))
        ratio = d.power(more)
        shift = (Poly.of(kept) - Poly.of(true)).power_of_two() * before
        made = []
        for i in find(no):
            goal = weight * d.about(i)
            cut = d.arith([(shift, [ratio, i])])
            none = z.rewritten(goal, [(whole, true)])
            none = d.arith([(1, [none])])
            made.append(d.cases(self.near[k], none, cut))
        return made

    def _without(
        self, goals: list[Poly], value: int, third: list[int], gaps: list[Equation], given: list[int]
    ) -> list[int]:
        """The same where x + y is 0, so that the sum is z."""
        z, d, g, w = self.z, self.d, self.g, self.w
        top, small, _ = self._far_one()
        cut = ([self.rows[0][2], w.addends[1], self.rows[0][1], self.rows[1][1], self.near[0]],)
        near = d.lemma("that no far term cancels another", self.near[0], [*given, top, small], cut)
        whole = z.linear("a gap that is not cut", [w.gaps[0]], [w.one], 0, [near], ([w.gaps[0]],))
        lost = z.linear(
            "what a window takes off", [w.lost, w.two], [w.gaps[1]], 0, given, ([w.gaps[1], self.empty],)
        )
        lowered = self._lowered(given)
        gone = d.lemma("that a sum of zero is empty", g.is_zero(self.upper.magnitude), given, ([w.upper],))
        same = [
            (lowered, self.total.e_max.bits), (lost, w.lost), (whole, w.gaps[0]),
            (d.fact(gone), self.upper.magnitude),
        ]  # fmt: skip
        back = self._moved(2)
        made = []
        for k, by in enumerate((1, -1)):
            parts: list[Part] = [
                (1, [third[k]]), *self._apart(by, value, gaps),
                (self.unit * back * by, [self.summed.equation]),
                (self.unit * (ONE - back) * by, [self.upper.equation]),
            ]  # fmt: skip
            made.append(z.rewritten(goals[k], same, parts))
        return made
