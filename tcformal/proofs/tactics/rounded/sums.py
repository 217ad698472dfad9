"""The exact sum of two terms: each aligned with a lowest bit that stands for what it lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, Jam, in_range, power
from tcformal.proofs.tactics.rounded.lifted import Sticky
from tcformal.semantics.align import effective_exponents, largest
from tcformal.semantics.normalise import normalise_term, shift_left_by_leading_zeros
from tcformal.semantics.number import Term
from tcformal.semantics.round import shift_right_sticky
from tcformal.semantics.stages import Total


@dataclass(frozen=True, slots=True)
class SummedTerm:
    """A number that a sum takes in, and theorems about it.

    `equation`: value - ±significand · 2^(exponent - fraction bits) = 0; `empty`: a zero has no significand;
    `some`: another has one; `ranges`: the range of its exponent; `facts`: more that is known of the result of
    a step, whose significand, sign, exponent and flags are made of the nodes `inner`.
    """

    value: Poly
    term: Term
    equation: int
    empty: int
    some: int
    ranges: tuple[int, ...]
    facts: tuple[int, ...] = ()
    inner: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class PairSum:
    """Theorems: unit · lost ∓ (Σ values - ±magnitude · unit) >= 0, unit being 2^lsb."""

    summed: SignedSum
    sticky: Sticky
    ranges: list[int]
    errors: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AlignedJam:
    """A term on its way to its place; `sizes`: what its placed and its normalised significand are."""

    jam: Jam
    moved: Node
    distance: Node
    sizes: list[Equation]


class StickySum:
    """Two terms, normalised and aligned at the larger exponent."""

    def __init__(self, z: IntegerSteps, total: Total, summands: Sequence[SummedTerm]) -> None:
        if len(summands) != 2 or len(total.terms) != 2:
            raise ProofError(f"no tactic is written for an exact sum of {len(summands)} terms")
        self.z, self.d, self.g, self.total, self.summands = z, z.d, z.g, total, summands
        self.normal = [normalise_term(z.g, x.term) for x in summands]
        for x, made in zip(self.normal, total.terms, strict=True):
            if x.significand is not made.term.significand or x.exponent.bits is not made.term.exponent.bits:
                raise ProofError("a term of a sum is not the number that it is made of")
        self.e_max = largest(z.g, effective_exponents(z.g, self.normal, "none"))[0]
        if self.e_max.bits is not total.e_max.bits:
            raise ProofError("a sum is not aligned at the larger exponent of its terms")
        self.bits = total.fraction_bits
        self.unit = power(self.e_max, -self.bits)
        self.shifts = [x.shift for x in total.terms]
        self.kept = [x.aligned for x in total.terms]
        self.jams: list[Jam] = []
        self.codes = [y for x in self.normal for y in (x.exponent.bits, x.zero)]
        self.ranges = [i for k in (0, 1) for i in self._range(k)]

    def _range(self, k: int) -> list[int]:
        x, t = self.summands[k], self.summands[k].term
        distance = shift_left_by_leading_zeros(self.g, t.significand)[1]
        cut = [t.exponent.bits, distance, t.zero]
        return in_range(self.z, "the range of an exponent", self.normal[k].exponent, x.ranges, cut)

    def added(self) -> SignedSum:
        """The sum of the aligned terms, as they are kept."""
        d, g, terms = self.d, self.g, list[TermError]()
        for x, kept, shift in zip(self.normal, self.kept, self.shifts, strict=True):
            most = (1 << kept.width) - 1
            small = d.lemma("the range of a term", g.ule(kept, g.const(most, kept.width)), (), ([kept],))
            terms.append(TermError(x.sign, kept, shift, 0, 0, most, small, 0, True))
        return Addition(d, self.total, terms).value()

    def error(self) -> PairSum:
        """The sum with what its terms lost."""
        z, d, g = self.z, self.d, self.g
        bounds = [self._term(k) for k in (0, 1)]
        lost = [x.lost for x in self.jams]
        given, some_zero = self._ordered()
        any_lost = g.or_(*lost)
        apart = d.lemma("that one term is whole", g.not_(g.and_(*lost)), some_zero, ([*lost, *self.shifts],))
        flag = z.linear("what a sum lost", lost, [any_lost], 0, [apart], (lost,))
        summed = self.added()
        sticky = self._sticky(summed, any_lost, given)
        value = sum((s.value for s in self.summands), Poly.constant(0))
        own = sign_of(summed.sign) * Poly.of(summed.magnitude) * self.unit
        made = []
        for i, sign in ((0, 1), (1, -1)):
            goal = self.unit * Poly.of(any_lost) - (value - own) * sign
            parts: list[Part] = [(1, [bounds[0][i]]), (1, [bounds[1][i]])]
            # own = Σ ±kept · unit; lost = Σ lost.
            parts += [(self.unit * sign, [summed.equation]), (self.unit * -1, [flag])]
            made.append(z.rewritten(goal, [], parts))
        ranges = in_range(z, "the range of e_max", self.e_max, self.ranges, [*self.codes])
        return PairSum(summed, sticky, ranges, (made[0], made[1]))

    # ------------------------------------------------------------------ one term
    def _aligned(self, k: int) -> AlignedJam:
        """Term k of the sum, normalised, placed and shifted."""
        z, g, t = self.z, self.g, self.summands[k].term
        moved, distance = shift_left_by_leading_zeros(g, t.significand)
        normalised = z.normalised(t.significand, moved, distance)
        placed = g.shift_left_const(moved, self.bits - (t.significand.width - 1))
        shifted, lost = shift_right_sticky(g, placed, self.shifts[k])
        jam = Jam(z, placed, self.shifts[k], shifted, lost, self.kept[k])
        read = [] if placed.op == "const" else [(self.d.read(placed), placed)]
        return AlignedJam(jam, moved, distance, [*read, (normalised, moved)])

    def _empty(self, k: int, x: AlignedJam, given: list[int]) -> list[Equation]:
        """What is aligned of term k, which is zero."""
        d, g, t, kept = self.d, self.g, self.summands[k].term, self.kept[k]
        empty = d.lemma(
            "that a zero is empty", g.is_zero(t.significand), [*given, self.summands[k].empty],
            ([t.significand, t.zero],),
        )  # fmt: skip
        same: list[Equation] = [(d.fact(empty), t.significand)] if t.significand.op != "const" else []
        still = d.lemma("that a zero stays empty", g.is_zero(x.moved), [empty], ([t.significand],))
        for what, node in (("keeps", kept), ("loses", x.jam.lost)):
            no = g.const(0, node.width)
            what = f"what a zero {what}"
            same.append((d.equal(what, node, no, [still], ([x.moved, self.shifts[k]],)), node))
        return same

    def _exponents(self, k: int, x: AlignedJam, given: list[int]) -> list[Equation]:
        """The exponents of term k, which is not zero: e_max is its own and the shift."""
        z, t, n = self.z, self.summands[k].term, self.normal[k]
        return [
            (
                z.linear(
                    "a distance below e_max", [n.exponent.bits, self.shifts[k]], [self.e_max.bits],
                    n.exponent.low - self.e_max.low, [*given, *self.ranges], (self.codes,),
                ),
                self.e_max.bits,
            ),
            (
                z.linear(
                    "a normalised exponent", [n.exponent.bits, x.distance], [t.exponent.bits],
                    n.exponent.low - t.exponent.low - (t.significand.width - t.fraction_bits - 1),
                    [*given, *self.summands[k].ranges], ([t.exponent.bits, x.distance, t.zero],),
                ),
                n.exponent.bits,
            ),
        ]  # fmt: skip

    def _term(self, k: int) -> tuple[int, int]:
        """unit · lost ∓ (value - ±kept · unit) >= 0."""
        z = self.z
        x, t, kept, shift = self.summands[k], self.summands[k].term, self.kept[k], self.shifts[k]
        aligned = self._aligned(k)
        jam, sizes, lost = aligned.jam, aligned.sizes, aligned.jam.lost
        self.jams.append(jam)
        size = Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)
        room, gap = self.unit * Poly.of(lost), size - Poly.of(kept) * self.unit
        scale = self.unit * (Poly.of(shift) * -1).power_of_two()

        def proved(zero: bool, i: list[int], _: list[Equation]) -> list[int]:
            if zero:
                same = self._empty(k, aligned, i)
                return [z.rewritten(y, same) for y in (room - gap, room + gap)]
            exponents = self._exponents(k, aligned, i)

            def jammed(some: bool, j: list[int], bit: list[Equation]) -> list[int]:
                if not some:
                    same = [*bit, jam.raised, jam.none(j)]
                    # placed = shifted · 2^shift, from which shifted follows.
                    exact = jam.exact(j)[0]
                    parts = [(scale, [exact]), (scale * -1, [exact])]
                    return [
                        z.rewritten(y, [*same, *sizes, *exponents], [part])
                        for y, part in zip((room - gap, room + gap), reversed(parts), strict=True)
                    ]
                same = [*bit, jam.raised, *sizes, *exponents]
                up = [(scale, [jam.high]), (scale, []), (self.unit * Poly.of(jam.bump), [])]
                down = [(scale, [jam.low]), *z.rest(jam.bump, self.unit)]
                return [z.rewritten(room - gap, same, up), z.rewritten(room + gap, same, down)]

            return z.cases(lost, jammed)

        low, high = z.cases(t.zero, proved)
        s = t.sign
        sign = sign_of(s) * Poly.of(kept) * self.unit
        above = z.rewritten(room - (x.value - sign), [], [*z.mixed(s, low, high), (-1, [x.equation])])
        below = z.rewritten(room + (x.value - sign), [], [*z.mixed(s, high, low), (1, [x.equation])])
        return above, below

    # ------------------------------------------------------------------ what was lost
    def _ordered(self) -> tuple[list[int], list[int]]:
        """Where a term is shifted, the other is whole and no zero; and that shifts by 0 lose nothing."""
        d, g = self.d, self.g
        orders, whole = [], []
        for k in (0, 1):
            mine, other = self.shifts[k], self.shifts[1 - k]
            goal = g.or_(g.is_zero(mine), g.and_(g.is_zero(other), g.not_(self.normal[1 - k].zero)))
            orders.append(d.lemma("that one term is not shifted", goal, self.ranges, (self.codes,)))
            jam = self.jams[k]
            moved = shift_left_by_leading_zeros(g, self.summands[k].term.significand)[0]
            still = g.or_(g.not_(g.is_zero(mine)), g.not_(jam.lost))
            whole.append(d.lemma("that no shift loses nothing", still, (), ([moved, mine],)))
        some = d.lemma(
            "that some term is not shifted", g.or_(*(g.is_zero(x) for x in self.shifts)), orders,
            ([*self.shifts, *(x.zero for x in self.normal)],),
        )  # fmt: skip
        return [*orders, *whole], [some, *whole]

    def _sticky(self, summed: SignedSum, any_lost: Node, ordered: list[int]) -> Sticky:
        """A sum that lost bits is odd and large."""
        d, g = self.d, self.g
        lost = [x.lost for x in self.jams]
        size = summed.magnitude
        goals = [
            g.or_(g.not_(any_lost), g.bit(size, 0)),
            g.or_(g.not_(any_lost), g.ule(g.const(1 << (self.bits - 1), size.width), size)),
        ]
        made = []
        known = [self._lost(k, ordered) for k in (0, 1)]
        cut = [x for y in (self.kept, [t.sign for t in self.normal], lost) for x in y]
        none = [
            d.assume(g.not_(x)) if x.op != "const" else d.lemma("a constant", g.truth(True)) for x in lost
        ]
        for goal in goals:
            i = d.lemma("a sum that lost nothing", goal, none, (cut,))
            for k in (1, 0):
                if lost[k].op == "const":
                    continue
                what = "that a sum that lost bits is odd and large"
                i = d.cases(lost[k], d.lemma(what, goal, known[k], (cut,)), i)
            made.append(i)
        return Sticky(any_lost, made[0], made[1], self.bits - 1)

    def _lost(self, k: int, ordered: list[int]) -> list[int]:
        """What is known of both terms where term k lost bits."""
        d, g = self.d, self.g
        jam, other = self.jams[k], 1 - k
        if jam.lost.op == "const":
            return []
        given = d.assume(jam.lost)
        kept, whole = self.kept[k], self.kept[other]
        near = g.ule(jam.amount, g.const(3, max(jam.amount.width, 2)))
        near = g.ule(
            g.zero_extend_to(jam.amount, max(jam.amount.width, 2)), g.const(3, max(jam.amount.width, 2))
        )
        moved = [shift_left_by_leading_zeros(g, x.term.significand)[0] for x in self.summands]
        far = d.lemma("that a loss takes a far shift", g.not_(near), [given], ([moved[k], jam.amount],))
        small = d.lemma(
            "that what lost bits is small", g.is_zero(g.extract(jam.shifted, kept.width - 1, kept.width - 3)),
            [far], ([moved[k], jam.amount],),
        )  # fmt: skip
        less = d.lemma(
            "that what lost bits is small and odd",
            g.and_(g.bit(kept, 0), g.is_zero(g.extract(kept, kept.width - 1, kept.width - 3))),
            [small, given], ([jam.shifted, jam.lost],),
        )  # fmt: skip
        still = d.lemma(
            "that the other is not shifted",
            g.and_(g.is_zero(self.shifts[other]), g.not_(self.normal[other].zero)),
            [given, *ordered],
            ([*self.shifts, *(y.lost for y in self.jams), *(y.zero for y in self.normal)],),
        )  # fmt: skip
        x, sig = self.summands[other], self.summands[other].term.significand
        flags = [*self.shifts, *(y.lost for y in self.jams), *(y.zero for y in self.normal)]
        cut = ([sig, x.term.zero, self.shifts[other]],)
        some = d.lemma("that the other is not zero", g.any_bit(sig), [still, x.some], cut)
        top = d.lemma("that the other has its leading bit", g.top(moved[other]), [some], ([sig],))
        none = d.lemma("that the other is not shifted", g.is_zero(self.shifts[other]), [still], cut)
        full = d.lemma(
            "that the other is whole", g.and_(g.top(whole), g.not_(g.bit(whole, 0))), [top, none],
            ([moved[other], self.shifts[other]],),
        )  # fmt: skip
        apart = d.lemma(
            "that the other lost nothing", g.not_(self.jams[other].lost), [still, *ordered], (flags,)
        )
        return [given, less, full, apart]
