"""A truncated sum of integers whose lowest bit weighs at most 1: nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS, OFFSET
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum
from tcformal.proofs.tactics.bounds.terms import KnownTerm, code_of, sign_of, weight
from tcformal.proofs.tactics.integers.numbers import WholeNumbers, WholeValue
from tcformal.proofs.tactics.rounded.integers import Equation, LossyShift, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.round import shift_right_sticky
from tcformal.semantics.stages import Total


class WholeCut:
    """Terms that are integers, aligned at e_max.

    `limits`: of each term, that it is zero, or its exponent's code is at most OFFSET + F.
    """

    def __init__(
        self, w: WholeNumbers, total: Total, summands: Sequence[SummedTerm], xs: Sequence[WholeValue],
        limits: Sequence[int],
    ) -> None:  # fmt: skip
        self.w, self.z, self.d, self.g, self.total = w, w.z, w.d, w.g, total
        self.summands, self.xs, self.bits = summands, xs, total.fraction_bits
        d, g = w.d, w.g
        known = [self._known(*row) for row in zip(summands, limits, strict=True)]
        e = g.const(OFFSET + self.bits, CODE_BITS)
        self.at = Alignment(d, total, known, e, d.lemma("a constant", g.truth(True)))
        self.sizes = [self._size(k) for k in range(len(xs))]
        self.reached = d.lemma(
            "e_max in reach", w.reaches(total.e_max, self.bits), [self.at.reached(), *self.at.in_range()],
            ([total.e_max.bits],),
        )  # fmt: skip
        self.e_code = d.expanded(self.at.e_max, [total.e_max.bits], "an exponent")
        self.ranges = self.at.in_range()

    def _known(self, x: SummedTerm, limit: int) -> KnownTerm:
        """A term as alignment takes it."""
        g, t = self.g, x.term
        code = code_of(g, t.exponent)
        goal = x.value - sign_of(t.sign) * Poly.of(t.significand) * weight(code, t.fraction_bits)
        codes = self.d.expanded(code, [t.exponent.bits], "an exponent")
        shown = self.z.rewritten(goal, codes, [(1, [x.equation])])
        own = (t.exponent.bits, t.zero)
        return KnownTerm(x.value, (), t, code, g.not_(t.zero), limit, tuple(x.ranges), own, shown)

    def _size(self, k: int) -> int:
        """significand · 2^(code - fraction bits) - magnitude = 0."""
        x, known = self.summands[k], self.at.summands[k]
        t = x.term
        codes = self.d.expanded(known.code, [t.exponent.bits], "an exponent")
        goal = Poly.of(t.significand) * weight(known.code, t.fraction_bits) - Poly.of(self.xs[k].magnitude)
        return self.z.rewritten(goal, codes, [(1, [self.w.size(x, self.xs[k])])])

    def whole(self) -> tuple[SignedSum, int, Addition]:
        """The sum, and that the values less ±magnitude · 2^lsb are 0."""
        d, unit = self.d, power(self.total.lsb)
        terms = [self._term(k) for k in range(len(self.xs))]
        addition = Addition(d, self.total, [x for x, _ in terms])
        summed = addition.value()
        goal = sign_of(summed.sign) * Poly.of(summed.magnitude) * unit * -1
        parts: list[Part] = [(unit * -1, [summed.equation])]
        for x, (term, i) in zip(self.summands, terms, strict=True):
            goal = goal + x.value
            parts += [(1, [x.equation]), (sign_of(term.sign), [i])]
        return summed, self.z.rewritten(goal, [], parts), addition

    def _term(self, k: int) -> tuple[TermError, int]:
        """One aligned term, and that significand · 2^(exponent - fraction bits) - aligned · 2^lsb = 0."""
        z, d, g, made = self.z, self.d, self.g, self.total.terms[k]
        t, known, kept = made.term, self.at.summands[k], made.aligned
        if t.fraction_bits > self.bits or t.significand is not known.term.significand:
            raise ProofError("a term has bits below the lowest one of its sum")
        placed = g.shift_left_const(t.significand, self.bits - t.fraction_bits)
        shifted, lost = shift_right_sticky(g, placed, made.shift)
        if kept is not shifted:
            raise ProofError("no tactic is written for terms that are rounded where they are aligned")
        goal = Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)
        goal = goal - Poly.of(kept) * power(self.total.lsb)

        def proved(none: bool, i: list[int], _: list[Equation]) -> list[int]:
            if none:
                return [z.rewritten(goal, self._empty(k, i, kept, made.shift))]
            return [self._kept(k, LossyShift(z, placed, made.shift, shifted, lost), goal, i)]

        (same,) = z.cases(t.zero, proved)
        most = (1 << t.significand.width) - 1 << self.bits - t.fraction_bits
        small = d.lemma(
            "the range of a term", g.ule(kept, g.const(most, kept.width)), (),
            ([t.significand, made.shift], [made.shift]),
        )  # fmt: skip
        return TermError(t.sign, kept, made.shift, 0, 0, most, small, 0, True), same

    def _empty(self, k: int, given: list[int], kept: Node, shift: Node) -> list[Equation]:
        """What a zero term adds."""
        d, g, t = self.d, self.g, self.summands[k].term
        size = t.significand
        known, cut = [*given, self.summands[k].empty], ([size, t.zero],)
        empty = d.lemma("that a zero is empty", g.is_zero(size), known, cut)
        nothing = d.equal("what a zero adds", kept, g.const(0, kept.width), [empty], ([size, shift],))
        return [(i, n) for i, n in ((d.fact(empty), size), (nothing, kept)) if n.op != "const"]

    def _kept(self, k: int, cut: LossyShift, goal: Poly, given: list[int]) -> int:
        """The same of a term that is not zero."""
        z, d, t, n = self.z, self.d, self.summands[k].term, self.xs[k].magnitude
        known, some = self.at.summands[k], given
        if not some:
            some = [d.lemma("a constant", self.g.truth(True))]
        far = self.at.distance(k, some[0])
        codes = d.expanded(known.code, [t.exponent.bits], "an exponent")
        up, down = (Poly.of(cut.amount) * q for q in (1, -1))
        depth, is_depth = self.w.distance("e_max", self.total.e_max, self.bits, [self.reached])
        grid = Poly.of(depth).power_of_two()
        read = [] if cut.x.op == "const" or cut.x is t.significand else [(d.read(cut.x), cut.x)]
        # code = e_max's code - shift; of both codes what they are.
        exponent = z.rewritten(
            Poly.of(t.exponent.bits) + Poly.of(cut.amount) - Poly.of(self.total.e_max.bits)
            + Poly.constant(t.exponent.low - self.total.e_max.low),
            [*codes, *self.e_code], [(1, [far])],
        )  # fmt: skip
        size = self.w.size(self.summands[k], self.xs[k])
        same = z.rewritten(
            Poly.of(n) * grid - Poly.of(cut.x) * down.power_of_two(),
            [is_depth, *read, (exponent, t.exponent.bits)], [(grid * -1, [size])],
        )  # fmt: skip
        gone = self.w.between(
            cut.lost,
            n,
            depth,
            cut.shifted,
            same,
            cut.strict([d.assume(cut.lost)]),
            cut.high,
            up.power_of_two(),
        )
        exact = cut.exact([gone])[0]
        scale = power(self.total.lsb) * down.power_of_two()
        return z.rewritten(goal, [*read, (exponent, t.exponent.bits)], [(scale, [exact])])
