"""A magnitude on its way to be normalised: with zeros below it, and lifted to the least exponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, Jam, power
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Lift, Rounded


@dataclass(frozen=True, slots=True)
class Sticky:
    """A magnitude whose lowest bit stands for lost ones where `lost` is 1.

    Theorems: lost implies that the magnitude is odd (`odd`), and at least 2^`bits` (`large`).
    """

    lost: Node
    odd: int
    large: int
    bits: int


def leading(r: Rounded) -> list[Node]:
    """What decides where the leading bit of a record's number goes."""
    return [r.normalised, r.distance, r.limit, r.magnitude]


def within(d: Derivation, r: Rounded) -> int:
    """That no distance exceeds its limit."""
    g = d.g
    width = max(r.distance.width, r.limit.width)
    goal = g.ule(g.zero_extend_to(r.distance, width), g.zero_extend_to(r.limit, width))
    tests, stack, seen = [r.limit], [r.distance], set()
    while stack:
        x = stack.pop()
        if x.op == "eq":
            tests.append(x)
        elif x.op in ("concat", "and_", "or_", "not_") and x not in seen:
            seen.add(x)
            stack += x.args
    return d.lemma("that a distance is at most its limit", goal, (), (tests,))


def normalised(d: Derivation, r: Rounded) -> int:
    """That a magnitude which is not zero is shifted by its limit, or normalised."""
    g = d.g
    width = max(r.distance.width, r.limit.width)
    met = g.eq(g.zero_extend_to(r.distance, width), g.zero_extend_to(r.limit, width))
    goal = g.or_(g.top(r.normalised), g.is_zero(r.magnitude), met)
    return d.lemma("that a number is normalised", goal, (), ([r.magnitude, r.limit],))


def settled(d: Derivation, r: Rounded) -> list[int]:
    """What decides whether a record's result is subnormal: that zero stays zero, and both of the above."""
    g = d.g
    zero = g.or_(g.not_(g.is_zero(r.magnitude)), g.is_zero(r.result.term.significand))
    empty = d.lemma("that zero is rounded to zero", zero, (), ([r.magnitude, r.limit],))
    return [empty, normalised(d, r), within(d, r)]


class LiftedMagnitude:
    """One record of a conversion of `magnitude` · 2^lsb, and theorems about its first steps.

    `fits`: that nothing overflows; `ranges`: the range of the lowest bit's exponent.
    """

    def __init__(
        self, z: IntegerSteps, rounded: Rounded, magnitude: Node, lsb: Exponent, sticky: Sticky | None,
        fits: int, ranges: Sequence[int],
    ) -> None:  # fmt: skip
        self.z, self.d, self.g, self.r = z, z.d, z.g, rounded
        self.fits, self.ranges, self.sticky = fits, list(ranges), sticky
        self.n, self.p = rounded.magnitude.width, rounded.target.precision
        pad = self.n - magnitude.width
        self.source, self.lsb = magnitude, lsb
        #: What is lifted: the magnitude with zeros below, whose lowest bit has the exponent `low`.
        self.padded, self.low = self.g.shift_left_const(magnitude, pad), lsb.shifted(-pad)
        nearest = rounded.target.mode in ("RNE", "RNA")
        #: Units in the last place that a rounding may lose, and the same in units of the lowest bit.
        self.ulps = Fraction(1, 2) if nearest else Fraction(1)
        self.most = int(self.ulps * 2 ** (self.n - self.p))
        term = rounded.result.term
        self.significand, self.code = term.significand, term.exponent
        self.ulp = power(term.exponent, 1 - self.p)
        #: What a rounding may lose.
        self.loss = self.ulp * self.ulps
        #: The unit of what is normalised, and of what is cut.
        self.unit = power(rounded.top, 1 - self.n)
        height = Poly.of(rounded.height) + Poly.constant(rounded.target.e_min + 1 - self.n)
        self.fine = height.power_of_two()

    # ------------------------------------------------------------------ the least exponent
    def _lifted(self) -> tuple[tuple[int | None, int | None], Node, int | None]:
        """unit·lost' - 2^low·lost ∓ (padded·2^low - magnitude·unit) >= 0, lost', and that it implies odd."""
        s, r = self.sticky, self.r
        if r.lift is None:
            if s is None:
                return (None, None), self.g.truth(False), None
            return (None, None), s.lost, s.odd
        lift, d, g = r.lift, self.d, self.g
        before = g.truth(False) if s is None else s.lost
        lost = g.or_(before, lift.lost)
        given = [] if s is None else [s.odd]
        cut = [self.padded, lift.amount, before]
        odd = d.lemma(
            "that a lifted number that lost bits is odd",
            g.or_(g.not_(lost), g.bit(r.magnitude, 0)), given, (cut,),
        )  # fmt: skip
        first, second = self.z.cases(lift.below, lambda yes, i, _: self._lift(lift, lost, before, yes, i))
        return (first, second), lost, odd

    def _lift(self, lift: Lift, lost: Node, before: Node, below: bool, given: list[int]) -> list[int]:
        z, d, g, r = self.z, self.d, self.g, self.r
        code, top = self.low.bits, r.top.bits
        known = [*given, *self.ranges]
        whole = self.low.low + self.n - 1
        cut = [self.padded, lift.amount, before]
        if not below:
            what = "an exponent that is not lifted"
            same = z.linear(what, [top], [code], r.top.low - whole, known, ([code],))
            nothing = d.lemma("that nothing is lifted", g.is_zero(lift.amount), known, ([code],))
            kept = d.equal("what is not lifted", r.magnitude, self.padded, [nothing], (cut,))
            flag = d.equal("what is not lost", lost, before, [nothing], (cut,))
            equations = [(flag, lost), (kept, r.magnitude), (same, top)]
            return [z.rewritten(x, equations) for x in self._lift_goals(lost, before)]
        least = d.equal("the least exponent", top, g.const(0, top.width), known, ([code],))
        moved = z.linear("a lift", [lift.distance, code], [], whole - r.top.low, known, ([code],))
        exponents = [(least, top), (moved, code)]
        wide = g.zero_extend_to(lift.distance, max(lift.distance.width, self.n.bit_length()))
        far = g.ult(g.const(self.n, wide.width), wide)

        def clamped(yes: bool, i: list[int], _: list[Equation]) -> list[int]:
            if yes:
                return self._long(lift, lost, before, exponents, i)
            amount = z.linear("a lift", [lift.amount], [lift.distance], 0, i, ([lift.distance],))
            jam = Jam(z, self.padded, lift.amount, lift.shifted, lift.lost, r.magnitude)
            return self._short(jam, lift, lost, before, [*exponents, (amount, lift.amount)])

        return z.cases(far, clamped)

    def _lift_goals(self, lost: Node, before: Node) -> list[Poly]:
        """unit·lost' - 2^low·lost ∓ (padded·2^low - magnitude·unit)."""
        old = power(self.low)
        room = self.unit * Poly.of(lost) - old * Poly.of(before)
        gap = Poly.of(self.padded) * old - Poly.of(self.r.magnitude) * self.unit
        return [room - gap, room + gap]

    def _short(
        self, jam: Jam, lift: Lift, lost: Node, before: Node, exponents: list[Equation]
    ) -> list[int]:  # fmt: skip
        """The same where less than all is shifted out."""
        z, d = self.z, self.d
        scale = self.unit * (Poly.of(lift.distance) * -1).power_of_two()
        goals = self._lift_goals(lost, before)

        def proved(yes: bool, i: list[int], _: list[Equation]) -> list[int]:
            base = [jam.raised, *exponents]
            if not yes:
                flag = d.equal("what is not lost", lost, before, i, ([lift.lost, before],))
                same = [(flag, lost), jam.raised, jam.none(i), jam.exact(i), *exponents]
                spread = d.power(d.arith([(Poly.of(lift.distance), [])]))
                room = [(scale * Poly.of(before), [spread])] if before.op != "const" else []
                return [z.rewritten(x, same, room) for x in goals]
            some = d.equal("what is lost", lost, self.g.truth(True), i, ([lift.lost, before],))
            one = z.rest(before, scale)
            up = [(scale, [jam.high]), *one, (self.unit * Poly.of(jam.bump), [])]
            down = [*z.rest(jam.bump, self.unit), (scale, [jam.strict(i)]), *one]
            base = [(some, lost), *base]
            return [z.rewritten(x, base, y) for x, y in zip(goals, (up, down), strict=True)]

        return z.cases(lift.lost, proved)

    def _long(
        self, lift: Lift, lost: Node, before: Node, exponents: list[Equation], given: list[int]
    ) -> list[int]:  # fmt: skip
        """The same where all is shifted out."""
        z, d, g, r, m = self.z, self.d, self.g, self.r, self.padded
        long = z.at_least("a long lift", [lift.distance], [], -self.n, given, ([lift.distance],))
        whole = g.eq(lift.amount, g.const(self.n, lift.amount.width))
        known = [d.lemma("how far a long lift goes", whole, given, ([lift.distance],))]
        known += [] if self.sticky is None else [self.sticky.odd]
        some = g.any_bit(m)
        cut = [m, lift.amount, before]
        alone = g.zero_extend_to(some, self.n)
        kept = d.equal("what a long lift leaves", r.magnitude, alone, known, (cut,))
        flag = d.equal("what a long lift loses", lost, some, known, (cut,))
        base = [(flag, lost), (kept, r.magnitude), (d.read(alone), alone)]
        goals = self._lift_goals(lost, before)
        scale = self.unit * (Poly.of(lift.distance) * -1).power_of_two()

        def proved(yes: bool, i: list[int], bit: list[Equation]) -> list[int]:
            if not yes:
                empty = d.lemma("that nothing is left", g.is_zero(m), i, ([m],))
                no = g.truth(False)
                never = d.equal("that nothing was lost", before, no, [empty, *known[1:]], ([m, before],))
                same = [*base, *bit, (d.fact(empty), m), (never, before)]
                return [z.rewritten(x, same) for x in goals]
            least = d.fact(d.lemma("that something is left", g.ule(g.const(1, m.width), m), i, ([m],)))
            # padded + lost <= 2^n <= 2^distance.
            short = (Poly.constant(self.n) - Poly.of(lift.distance)).power_of_two()
            one = z.rest(before, scale)
            up = [(scale, [d.range(m)]), *one, (self.unit * short, [d.power(long)]), (self.unit, [])]
            same = [*base, *bit, *exponents]
            return [z.rewritten(goals[0], same, up), z.rewritten(goals[1], same, [(scale, [least]), *one])]

        return z.cases(some, proved)
