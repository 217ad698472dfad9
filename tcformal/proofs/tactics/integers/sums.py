"""The exact sum of two integers, each aligned with a lowest bit that stands for what it lost: nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.integers.numbers import WholeNumbers, WholeValue
from tcformal.proofs.tactics.rounded.integers import Equation, in_range, power
from tcformal.proofs.tactics.rounded.sums import AlignedJam, StickySum, SummedTerm
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Total


@dataclass(frozen=True, slots=True)
class StepSum:
    """A sum before it is rounded, ±magnitude · 2^lsb, and the integer that it is.

    Theorems: `same`: magnitude · 2^lsb - n = 0, n being the integer's magnitude; `turned`: ±n with the sign
    of the sum less the integer's value is 0.  `whole` are the nodes that the sign is made of.
    """

    sign: Node
    magnitude: Node
    lsb: Exponent
    value: WholeValue
    same: int
    turned: int
    ranges: Sequence[int]
    whole: list[Node]
    #: The partial sums of aligned terms, and their record.
    addition: Addition | None = None
    total: Total | None = None


class WholeSum(StickySum):
    """Two terms that are integers; `sizes`: significand · 2^(exponent - fraction bits) - magnitude = 0."""

    def __init__(
        self, w: WholeNumbers, total: Total, summands: Sequence[SummedTerm], xs: Sequence[WholeValue]
    ) -> None:
        super().__init__(w.z, total, summands)
        self.w, self.xs = w, xs
        self.places = [w.size(s, x) for s, x in zip(summands, xs, strict=True)]
        self.reached = self._reached()
        cut = [*self.codes]
        self.e_range = in_range(w.z, "the range of e_max", self.e_max, self.ranges, cut)

    def _reached(self) -> int:
        """That the largest exponent is at most the fraction bits: the lowest bit weighs 1 at most."""
        d, g, top = self.d, self.g, self.bits
        shown = []
        for k, n in enumerate(self.normal):
            goal = g.or_(n.zero, self.w.reaches(n.exponent, top))
            zero = self.summands[k].term.zero

            def proved(
                none: bool, i: list[int], _: list[Equation], k: int = k, goal: Node = goal, zero: Node = zero
            ) -> list[int]:
                cut = ([zero, self.normal[k].exponent.bits],)
                return [d.lemma("the exponent of a term", goal, i if none else [self._low(k, i)], cut)]

            shown += self.w.z.cases(zero, proved)
        goal = self.w.reaches(self.e_max, top)
        return d.lemma("e_max in reach", goal, [*shown, *self.ranges], (self.codes,))

    def _low(self, k: int, some: list[int]) -> int:
        """That the exponent of an integer that is not zero is at most the fraction bits."""
        z, d, g, t = self.z, self.d, self.g, self.summands[k].term
        aligned = self._aligned(k)
        far, more = self.w.beyond(self.normal[k].exponent, self.bits)
        own = self._exponents(k, aligned, some)[1:]
        cut = ([t.significand, t.zero],)
        bit = d.lemma(
            "that a number is not zero", g.any_bit(t.significand), [*some, self.summands[k].some], cut
        )
        top = d.lemma("that a number has its leading bit", g.top(aligned.moved), [bit], ([t.significand],))
        width = t.significand.width
        large = g.ule(g.const(1 << (width - 1), width), aligned.moved)
        least = d.fact(d.lemma("the size of a number", large, [top], ([aligned.moved],)))
        # 2^B >= magnitude = moved · 2^(exponent - (width - 1)) >= 2^exponent >= 2^(bits + 1)
        unit = power(self.normal[k].exponent, 1 - width)
        held = z.rewritten(
            Poly.constant(1 << self.w.most) - power(self.normal[k].exponent), [*own, *aligned.sizes],
            [(1, [self.xs[k].small]), (-1, [self.places[k]]), (unit, [least])],
        )  # fmt: skip
        false = d.arith([(1, [held]), (Poly.constant(self.bits + 1).power_of_two(), [d.power(more)])])
        return d.refute(false, far)

    # ------------------------------------------------------------------ terms
    def whole(self) -> tuple[SignedSum, int]:
        """The sum, and that the values less ±magnitude · unit are 0."""
        same = [self._kept(k) for k in (0, 1)]
        summed = self.added()
        goal = sign_of(summed.sign) * Poly.of(summed.magnitude) * self.unit * -1
        parts: list[Part] = [(self.unit * -1, [summed.equation])]
        for summand, x, i in zip(self.summands, self.normal, same, strict=True):
            goal = goal + summand.value
            parts += [(1, [summand.equation]), (sign_of(x.sign), [i])]
        return summed, self.z.rewritten(goal, [], parts)

    def _kept(self, k: int) -> int:
        """significand · 2^(exponent - fraction bits) - kept · unit = 0."""
        z, t = self.z, self.summands[k].term
        aligned = self._aligned(k)
        jam = aligned.jam
        goal = Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)
        goal = goal - Poly.of(self.kept[k]) * self.unit
        scale = self.unit * (Poly.of(self.shifts[k]) * -1).power_of_two()

        def proved(zero: bool, i: list[int], _: list[Equation]) -> list[int]:
            if zero:
                return [z.rewritten(goal, self._empty(k, aligned, i))]
            exponents = self._exponents(k, aligned, i)
            none = [self._not_lost(k, aligned, exponents)] if jam.lost.op != "const" else []
            same = [jam.raised, jam.none(none)]
            # placed = shifted · 2^shift, from which shifted follows.
            exact = jam.exact(none)[0]
            return [z.rewritten(goal, [*same, *aligned.sizes, *exponents], [(scale, [exact])])]

        return z.cases(t.zero, proved)[0]

    def _not_lost(self, k: int, aligned: AlignedJam, exponents: list[Equation]) -> int:
        """That no bit of a term that is not zero is lost."""
        z, d, jam, n = self.z, self.d, aligned.jam, self.xs[k].magnitude
        given = [d.assume(jam.lost)]
        depth, is_depth = self.w.distance("e_max", self.e_max, self.bits, [self.reached])
        grid = Poly.of(depth).power_of_two()
        up, down = (Poly.of(self.shifts[k]).power_of_two(), (Poly.of(self.shifts[k]) * -1).power_of_two())
        # magnitude · 2^depth = placed · 2^-shift
        goal = Poly.of(n) * grid - Poly.of(jam.x) * down
        same = z.rewritten(goal, [is_depth, *aligned.sizes, *exponents], [(grid * -1, [self.places[k]])])
        return self.w.between(jam.lost, n, depth, jam.shifted, same, jam.strict(given), jam.high, up)
