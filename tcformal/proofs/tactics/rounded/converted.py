"""One conversion of an exact magnitude, or of one whose lowest bit stands for what was lost below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.rounded.integers import Equation, Integers, Jam, in_range, power
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


class MagnitudeRounding:
    """Theorems about one record of a conversion of `magnitude` · 2^lsb.

    `fits`: that nothing overflows; `ranges`: the range of the lowest bit's exponent.
    """

    def __init__(
        self, z: Integers, rounded: Rounded, magnitude: Node, lsb: Exponent, sticky: Sticky | None,
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
        #: The unit of what is normalised, and of what is cut.
        self.unit = power(rounded.top, 1 - self.n)
        height = Poly.of(rounded.height) + Poly.constant(rounded.target.e_min + 1 - self.n)
        self.fine = height.power_of_two()

    # ------------------------------------------------------------------ the whole
    def error(self) -> tuple[int, int]:
        """ulps·ulp - lost·2^lsb ∓ (magnitude·2^lsb - significand·ulp) >= 0."""
        d, r = self.d, self.r
        lifts, lost, odd = self._lifted()
        self.lost, self.odd = lost, odd
        self.shifted = self.z.normalised(r.magnitude, r.normalised, r.distance)
        self.within = self._within()
        finals = self._final()
        here = Poly.of(self.source) * power(self.lsb)
        below = Poly.constant(0)
        if self.sticky is not None:
            below = Poly.of(self.sticky.lost) * power(self.low)
        size = Poly.of(self.significand) * self.ulp
        equations: list[Equation] = []
        if self.padded is not self.source:
            equations.append((d.read(self.padded), self.padded))
        made = []
        for sign, lift, final in zip((1, -1), lifts, finals, strict=True):
            parts = [(1, [final]), *([] if lift is None else [(1, [lift])])]
            goal = self.ulp * self.ulps - below - (here - size) * sign
            made.append(self.z.rewritten(goal, equations, parts))
        return made[0], made[1]

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

    # ------------------------------------------------------------------ normalising
    def _within(self) -> int:
        """That no distance exceeds its limit."""
        g, r = self.g, self.r
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
        return self.d.lemma("that a distance is at most its limit", goal, (), (tests,))

    def _exponents(self) -> list[Equation]:
        """distance + height = limit = top - e_min."""
        z, r = self.z, self.r
        given = [self.within]
        cut = ([r.distance, r.limit],)
        height = z.linear("a height", [r.height, r.distance], [r.limit], 0, given, cut)
        code, less = r.top.bits, r.top.low - r.target.e_min
        limit = z.linear("a limit", [r.limit], [code], -less, self._top(), ([code],))
        return [(height, r.height), (limit, r.limit)]

    def _top(self) -> list[int]:
        """What is known of the exponent of what is normalised."""
        return self.ranges if self.r.lift is None else []

    # ------------------------------------------------------------------ rounding
    def _final(self) -> tuple[int, int]:
        """ulps·ulp - unit·lost' ∓ (magnitude·unit - significand·ulp) >= 0."""
        z, d, g, r = self.z, self.d, self.g, self.r
        m, sig = r.magnitude, self.significand
        empty = g.is_zero(m)
        size = Poly.of(sig) * self.ulp
        goals = [
            self.ulp * self.ulps - self.unit * Poly.of(self.lost) - (Poly.of(m) * self.unit - size) * sign
            for sign in (1, -1)
        ]
        none, some = d.assume(empty), d.assume(g.not_(empty))
        zero = d.lemma("that zero is rounded to zero", g.is_zero(sig), [none], ([m, r.limit],))
        nothing: list[Equation] = [(d.fact(none), m), (d.fact(zero), sig)]
        if self.odd is not None:
            no = d.equal("that zero lost nothing", self.lost, g.truth(False), [none, self.odd], ([m, self.lost],))
            nothing.append((no, self.lost))
        first = [z.rewritten(x, nothing, [(self.ulp * self.ulps, [])]) for x in goals]
        # Of others: magnitude·unit = normalised·fine, significand·ulp = (kept + away)·2^(n - p)·fine.
        low = g.extract(r.normalised, self.n - self.p - 1, 0)
        whole = g.concat(r.kept, low)
        same = d.equal("what is kept and what is cut", r.normalised, whole, (), ([r.normalised],))
        grown, sums = self._grown()
        equations = [(same, r.normalised), (d.read(whole), whole), *sums, *self._exponents()]
        value = self._significand(grown)
        taller = d.power(self._taller(some))
        fine = self.unit * (Poly.of(r.distance) * -1).power_of_two()
        own = (Poly.of(r.height) + Poly.constant(self.code.low + 1 - self.p)).power_of_two()
        scale = Poly.constant(self.code.low + 1 - self.p).power_of_two()
        second = [
            z.rewritten(
                goal, equations,
                [(fine, [i]), (own * self.ulps, [taller]), (fine * sign, [self.shifted]), (scale * sign, [value])],
            )
            for sign, goal, i in zip((1, -1), goals, self._core(low), strict=True)
        ]  # fmt: skip
        shown = [d.cases(empty, i, j) for i, j in zip(first, second, strict=True)]
        return shown[0], shown[1]

    def _grown(self) -> tuple[Node, list[Equation]]:
        """The significand with what is added to it, before it carries out."""
        g, r = self.g, self.r
        grown = g.add_mod(*(g.zero_extend_to(x, self.p + 1) for x in (r.kept, r.away)))
        return grown, self.d.expanded(grown, [r.kept, r.away], "a significand")

    def _significand(self, grown: Node) -> int:
        """significand · 2^code - grown · 2^height = 0."""
        z, d, g, r, sig = self.z, self.d, self.g, self.r, self.significand
        goal = Poly.of(sig) * Poly.of(self.code.bits).power_of_two()
        goal = goal - Poly.of(grown) * Poly.of(r.height).power_of_two()
        cut = ([grown, r.height],)

        def carried(yes: bool, i: list[int], _: list[Equation]) -> list[int]:
            if yes:
                full = d.equal("a carry", grown, g.const(1 << self.p, self.p + 1), i, ([r.kept, r.away],))
                half = d.equal("a carry", sig, g.const(1 << (self.p - 1), self.p), i, cut)
                up = z.linear("a carry", [self.code.bits], [r.height], -1, [*i, self.fits], cut)
                return [z.rewritten(goal, [(full, grown), (half, sig), (up, self.code.bits)])]
            wide = g.zero_extend_to(sig, self.p + 1)
            same = d.equal("no carry", grown, wide, i, cut)
            equal = [(same, grown), (d.read(wide), wide)]

            def empty(none: bool, j: list[int], _: list[Equation]) -> list[int]:
                if none:
                    return [z.rewritten(goal, [*equal, (d.fact(j[0]), sig)])]
                stays = z.linear("no carry", [self.code.bits], [r.height], 0, [*i, *j, self.fits], cut)
                return [z.rewritten(goal, [*equal, (stays, self.code.bits)])]

            return z.cases(g.is_zero(sig), empty)

        return z.cases(g.top(grown), carried)[0]

    def _taller(self, some: int) -> int:
        """code - height >= 0 of a magnitude that is not zero."""
        d, g, r = self.d, self.g, self.r
        width = max(r.distance.width, r.limit.width)
        met = g.eq(g.zero_extend_to(r.distance, width), g.zero_extend_to(r.limit, width))
        goal = g.or_(g.top(r.normalised), g.is_zero(r.magnitude), met)
        done = d.lemma("that a number is normalised", goal, (), ([r.magnitude, r.limit],))
        return self.z.at_least(
            "that a result is not below its sum", [self.code.bits], [r.height], 0,
            [some, done, self.within, self.fits], ([r.normalised, r.distance, r.limit, r.magnitude],),
        )  # fmt: skip

    def normal(self) -> int:
        """That the result has its leading bit, except at the least exponent."""
        d, g, r = self.d, self.g, self.r
        zero = g.or_(g.not_(g.is_zero(r.magnitude)), g.is_zero(self.significand))
        empty = d.lemma("that zero is rounded to zero", zero, (), ([r.magnitude, r.limit],))
        width = max(r.distance.width, r.limit.width)
        met = g.eq(g.zero_extend_to(r.distance, width), g.zero_extend_to(r.limit, width))
        full = g.or_(g.top(r.normalised), g.is_zero(r.magnitude), met)
        done = d.lemma("that a number is normalised", full, (), ([r.magnitude, r.limit],))
        goal = g.or_(g.top(self.significand), g.is_zero(self.code.bits))
        return d.lemma(
            "that a result is normal", goal, [empty, done, self.within, self.fits],
            ([r.normalised, r.distance, r.limit, r.magnitude],),
        )  # fmt: skip

    def bounded(self) -> list[int]:
        """The range of the result's exponent."""
        grown, _ = self._grown()
        return in_range(self.z, "the range of a result", self.code, [self.fits], [grown, self.r.height])

    # ------------------------------------------------------------------ what is cut off
    def _core(self, low: Node) -> list[int]:
        """most - lost·2^distance ∓ (low - away·2^(n - p)) >= 0."""
        z, d, g, r = self.z, self.d, self.g, self.r
        # Two sums of this width fit in one bit more.
        width, cut = self.n - self.p + 3, self.n - self.p
        wide, up = (g.zero_extend_to(x, width) for x in (low, g.shift_left_const(r.away, cut)))
        most = g.const(self.most, width)
        goals = [
            Poly.constant(self.most) - Poly.of(self.lost) * Poly.of(r.distance).power_of_two()
            - (Poly.of(low) - Poly.of(r.away) * (1 << cut)) * sign
            for sign in (1, -1)
        ]  # fmt: skip

        def proved(yes: bool, i: list[int], bit: list[Equation]) -> list[int]:
            one = g.const(0, width)
            given: list[int] = []
            equations: list[Equation] = [*bit]
            cuts: list[Node] = [r.normalised]
            if yes:
                near, unit = self._near(i[0]), g.const(1, width - 1)
                bit_lost = g.shl_mod(unit, r.distance)
                back = g.eq(g.lshr(bit_lost, r.distance), unit)
                fits = d.lemma("that a short shift fits", back, [near], ([r.distance],))
                one = g.zero_extend_to(bit_lost, width)
                equations += [(d.read(one), one), (d.read(bit_lost, fits), bit_lost)]
                odd = d.lemma("that a number is odd", g.bit(r.magnitude, 0), [*i, *self._odd()], ([r.magnitude, self.lost],))
                given, cuts = [near, odd], [r.magnitude, *self._goes()]
            made = []
            for x, y, goal in ((wide, up, goals[0]), (up, wide, goals[1])):
                left, right = g.add_mod(x, one), g.add_mod(y, most)
                fact = d.lemma("what is rounded off", g.ule(left, right), given, (cuts,))
                leaves = [one, low, r.away]
                known = [*d.expanded(left, leaves, "what is cut off"), *d.expanded(right, leaves, "what is cut off")]
                known.sort(key=lambda e: -e[1].index)
                made.append(z.rewritten(goal, [*known, *equations], [(1, [d.fact(fact)])]))
            return made

        return z.cases(self.lost, proved)

    def _odd(self) -> list[int]:
        return [] if self.odd is None else [self.odd]

    def _goes(self) -> list[Node]:
        """The stages at which the magnitude is shifted."""
        x = self.r.distance
        made = []
        while x.op == "concat":
            made.append(x.args[1])
            x = x.args[0]
        return [*made, x]

    def _near(self, lost: int) -> int:
        """Where bits were lost, the distance leaves two bits and more below the result's last one."""
        d, g, r, s = self.d, self.g, self.r, self.sticky
        far = g.ule(g.const(self.n - self.p - 1, self._wide()), g.zero_extend_to(r.distance, self._wide()))
        goal = g.not_(far)
        if r.lift is None:
            assert s is not None, "something that can be lost"
            return self._close(lost, [], far)
        below = r.lift.below

        def lifted(yes: bool, i: list[int]) -> int:
            if yes:
                top = d.lemma("the least exponent", g.is_zero(r.top.bits), [*i, *self.ranges], ([self.low.bits],))
                none = d.lemma("no limit", g.is_zero(r.limit), [top], ([r.top.bits],))
                return d.lemma("no distance", goal, [none, self.within], ([r.distance, r.limit],))
            return self._close(lost, [*i, *self.ranges], far)

        yes, no = d.assume(below), d.assume(g.not_(below))
        return d.cases(below, lifted(True, [yes]), lifted(False, [no]))

    def _wide(self) -> int:
        return max(self.r.distance.width, self.n.bit_length()) + 1

    def _close(self, lost: int, given: list[int], far: Node) -> int:
        """The same of what is not lifted: it is at least 2^bits, and not shifted out."""
        d, g, r, s = self.d, self.g, self.r, self.sticky
        goal = g.not_(far)
        if r.lift is not None:
            lift = r.lift
            none = d.lemma("that nothing is lifted", g.is_zero(lift.amount), given, ([self.low.bits],))
            before = g.truth(False) if s is None else s.lost
            was = d.lemma("what was lost before", before, [lost, none], ([self.padded, lift.amount, before],))
            if s is None:
                return d.lemma("that nothing was lost", goal, [was], ((),))
            same = d.lemma(
                "what is not lifted", g.eq(r.magnitude, self.padded), [none], ([self.padded, lift.amount, before],)
            )
            large = d.lemma("that a sum is large", self._large(r.magnitude), [same, was, s.large], ([r.magnitude, self.padded, before],))
        else:
            assert s is not None, "something that can be lost"
            large = d.lemma("that a sum is large", self._large(r.magnitude), [lost, s.large], ([r.magnitude, s.lost],))
        assert s is not None, "something that can be lost"
        # magnitude · 2^distance < 2^n, magnitude >= 2^bits
        assumed = d.assume(far)
        wide = g.zero_extend_to(r.distance, self._wide())
        least = self.n - self.p - 1
        if s.bits + least < self.n:
            raise ProofError("a sum that lost bits may be shifted too far")
        fact = self.z.rewritten(
            Poly.of(r.distance) - Poly.constant(least), [(d.read(wide), wide)] if wide is not r.distance else [],
            [(1, [d.fact(assumed)])],
        )
        up = Poly.of(r.distance).power_of_two()
        # 2^n - 1 - normalised >= 0; normalised = magnitude·2^distance >= 2^bits·2^distance >= 2^(bits + least)
        total = d.arith([
            (1, [d.range(r.normalised)]), (1, [self.shifted]), (up, [d.fact(large)]),
            (Poly.constant(1 << (s.bits + least)), [d.power(fact)]),
        ])  # fmt: skip
        return d.refute(total, far)

    def _large(self, magnitude: Node) -> Node:
        assert self.sticky is not None, "something that can be lost"
        return self.g.ule(self.g.const(1 << self.sticky.bits, magnitude.width), magnitude)
