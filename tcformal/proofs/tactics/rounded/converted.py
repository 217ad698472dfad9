"""One conversion of an exact magnitude, or of one whose lowest bit stands for what was lost below it."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.rounded.integers import Equation, in_range, power
from tcformal.proofs.tactics.rounded.lifted import LiftedMagnitude, leading, normalised, settled, within

#: Two numbers, each a node and what is added to it, and the polynomial that the second less the first is.
Apart = tuple[tuple[Node, int], tuple[Node, int], Poly]


class MagnitudeRounding(LiftedMagnitude):
    """Theorems about one record of a conversion: what is rounded off after the magnitude is normalised."""

    # ------------------------------------------------------------------ the whole
    def error(self) -> tuple[int, int]:
        """loss - lost·2^lsb ∓ (magnitude·2^lsb - significand·ulp) >= 0."""
        d, lifts = self.d, self._started()
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
            goal = self.loss - below - (here - size) * sign
            made.append(self.z.rewritten(goal, equations, parts))
        return made[0], made[1]

    def _started(self) -> tuple[int | None, int | None]:
        """The lift, what it loses, and the shift that normalises."""
        lifts, self.lost, self.odd = self._lifted()
        self.shifted = self.z.normalised(self.r.magnitude, self.r.normalised, self.r.distance)
        self.within = within(self.d, self.r)
        return lifts

    # ------------------------------------------------------------------ normalising
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
        """loss - unit·lost' ∓ (magnitude·unit - significand·ulp) >= 0."""
        z, d, g, r = self.z, self.d, self.g, self.r
        m, sig = r.magnitude, self.significand
        empty = g.is_zero(m)
        size = Poly.of(sig) * self.ulp
        goals = [
            self.loss - self.unit * Poly.of(self.lost) - (Poly.of(m) * self.unit - size) * sign
            for sign in (1, -1)
        ]
        none, some = d.assume(empty), d.assume(g.not_(empty))
        zero = d.lemma("that zero is rounded to zero", g.is_zero(sig), [none], ([m, r.limit],))
        nothing: list[Equation] = [(d.fact(none), m), (d.fact(zero), sig)]
        if self.odd is not None:
            no = d.equal(
                "that zero lost nothing", self.lost, g.truth(False), [none, self.odd], ([m, self.lost],)
            )
            nothing.append((no, self.lost))
        first = [z.rewritten(x, nothing, [(self.loss, [])] if self.loss.terms else []) for x in goals]
        # Of others: magnitude·unit = normalised·fine, significand·ulp = (kept + away)·2^(n - p)·fine.
        low = g.extract(r.normalised, self.n - self.p - 1, 0)
        whole = g.concat(r.kept, low)
        same = d.equal("what is kept and what is cut", r.normalised, whole, (), ([r.normalised],))
        grown, sums = self._grown()
        equations = [(same, r.normalised), (d.read(whole), whole), *sums, *self._exponents()]
        value = self._significand(grown)
        fine = self.unit * (Poly.of(r.distance) * -1).power_of_two()
        scale = Poly.constant(self.code.low + 1 - self.p).power_of_two()
        parts: list[list[Part]] = [[(fine * x, [self.shifted]), (scale * x, [value])] for x in (1, -1)]
        second = self._rounded_off(goals, equations, parts, low, some)
        shown = [d.cases(empty, i, j) for i, j in zip(first, second, strict=True)]
        return shown[0], shown[1]

    def _rounded_off(
        self, goals: list[Poly], equations: list[Equation], parts: list[list[Part]], low: Node, some: int
    ) -> list[int]:
        """The same of a magnitude that is not zero: what is cut off, and half a unit or a whole one."""
        r, d = self.r, self.d
        taller = d.power(self._taller(some))
        fine = self.unit * (Poly.of(r.distance) * -1).power_of_two()
        own = (Poly.of(r.height) + Poly.constant(self.code.low + 1 - self.p)).power_of_two()
        return [
            self.z.rewritten(goal, equations, [*same, (fine, [i]), (own * self.ulps, [taller])])
            for goal, same, i in zip(goals, parts, self._core(low), strict=True)
        ]

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
        r, done = self.r, normalised(self.d, self.r)
        return self.z.at_least(
            "that a result is not below its sum", [self.code.bits], [r.height], 0,
            [some, done, self.within, self.fits], (leading(r),),
        )  # fmt: skip

    def normal(self) -> int:
        """That the result has its leading bit, except at the least exponent."""
        g, r = self.g, self.r
        goal = g.or_(g.top(self.significand), g.is_zero(self.code.bits))
        return self.d.lemma("that a result is normal", goal, [*settled(self.d, r), self.fits], (leading(r),))

    def bounded(self) -> list[int]:
        """The range of the result's exponent."""
        grown, _ = self._grown()
        return in_range(self.z, "the range of a result", self.code, [self.fits], [grown, self.r.height])

    # ------------------------------------------------------------------ what is cut off
    def _core(self, low: Node) -> list[int]:
        """most - lost·2^distance ∓ (low - away·2^(n - p)) >= 0."""
        g, away, cut = self.g, self.r.away, self.n - self.p
        up, most = g.shift_left_const(away, cut), Poly.constant(self.most)
        gap = Poly.of(low) - Poly.of(away) * (1 << cut)
        return self._cut_off(
            low, [((low, 0), (up, self.most), most - gap), ((up, 0), (low, self.most), most + gap)]
        )

    def _cut_off(self, low: Node, rows: Sequence[Apart], given: Sequence[int] = ()) -> list[int]:
        """more - less - lost·2^distance >= 0, of sums of a node and a number, their gap as a polynomial."""
        z, d, g, r = self.z, self.d, self.g, self.r
        # Two sums of this width fit in one bit more.
        width, known_before = self.n - self.p + 3, list(given)
        goals = [x - Poly.of(self.lost) * Poly.of(r.distance).power_of_two() for *_, x in rows]

        def proved(yes: bool, i: list[int], bit: list[Equation]) -> list[int]:
            one = g.const(0, width)
            given: list[int] = [*known_before]
            equations: list[Equation] = [*bit]
            cuts: list[Node] = [r.normalised]
            if yes:
                near, unit = self._near(i[0]), g.const(1, width - 1)
                bit_lost = g.shl_mod(unit, r.distance)
                back = g.eq(g.lshr(bit_lost, r.distance), unit)
                fits = d.lemma("that a short shift fits", back, [near], ([r.distance],))
                one = g.zero_extend_to(bit_lost, width)
                equations += [(d.read(one), one), (d.read(bit_lost, fits), bit_lost)]
                odd = d.lemma(
                    "that a number is odd",
                    g.bit(r.magnitude, 0),
                    [*i, *self._odd()],
                    ([r.magnitude, self.lost],),
                )
                given, cuts = [near, odd, *known_before], [r.magnitude, *self._goes()]
            made = []
            for ((x, more), (y, most), _), goal in zip(rows, goals, strict=True):
                wide = [g.zero_extend_to(v, width) for v in (x, y)]
                left = g.add_mod(g.add_mod(wide[0], g.const(more, width)), one)
                right = g.add_mod(wide[1], g.const(most, width))
                fact = d.lemma("what is rounded off", g.ule(left, right), given, (cuts,))
                leaves = [one, low, r.away]
                known = [
                    *d.expanded(left, leaves, "what is cut off"),
                    *d.expanded(right, leaves, "what is cut off"),
                ]
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
        d, g, r = self.d, self.g, self.r
        far = g.ule(g.const(self.n - self.p - 1, self._wide()), g.zero_extend_to(r.distance, self._wide()))
        if r.lift is None:
            return self._close(lost, [], far)
        yes, no = d.assume(r.lift.below), d.assume(g.not_(r.lift.below))
        top = d.lemma("the least exponent", g.is_zero(r.top.bits), [yes, *self.ranges], ([self.low.bits],))
        none = d.lemma("no limit", g.is_zero(r.limit), [top], ([r.top.bits],))
        first = d.lemma("no distance", g.not_(far), [none, self.within], ([r.distance, r.limit],))
        return d.cases(r.lift.below, first, self._close(lost, [no, *self.ranges], far))

    def _wide(self) -> int:
        return max(self.r.distance.width, self.n.bit_length()) + 1

    def _close(self, lost: int, given: list[int], far: Node) -> int:
        """The same of what is not lifted: it is at least 2^bits, and not shifted out."""
        d, g, r, s = self.d, self.g, self.r, self.sticky
        before = g.truth(False) if s is None else s.lost
        known, cut = [lost], [r.magnitude, before]
        if r.lift is not None:
            none = d.lemma("that nothing is lifted", g.is_zero(r.lift.amount), given, ([self.low.bits],))
            below = ([self.padded, r.lift.amount, before],)
            known = [d.lemma("what was lost before", before, [lost, none], below)]
            known.append(d.lemma("what is not lifted", g.eq(r.magnitude, self.padded), [none], below))
            cut.append(self.padded)
        if s is None:
            return d.lemma("that nothing was lost", g.not_(far), known[:1], ((),))
        large = d.lemma("that a sum is large", self._large(r.magnitude), [*known, s.large], (cut,))
        # magnitude · 2^distance < 2^n, magnitude >= 2^bits
        assumed = d.assume(far)
        wide = g.zero_extend_to(r.distance, self._wide())
        least = self.n - self.p - 1
        if s.bits + least < self.n:
            raise ProofError("a sum that lost bits may be shifted too far")
        fact = self.z.rewritten(
            Poly.of(r.distance) - Poly.constant(least),
            [(d.read(wide), wide)] if wide is not r.distance else [],
            [(1, [d.fact(assumed)])],
        )
        up = Poly.of(r.distance).power_of_two()
        # 2^n - 1 >= normalised = magnitude·2^distance >= 2^bits·2^distance >= 2^(bits + least)
        total = d.arith([
            (1, [d.range(r.normalised)]), (1, [self.shifted]), (up, [d.fact(large)]),
            (Poly.constant(1 << (s.bits + least)), [d.power(fact)]),
        ])  # fmt: skip
        return d.refute(total, far)

    def _large(self, magnitude: Node) -> Node:
        assert self.sticky is not None, "something that can be lost"
        return self.g.ule(self.g.const(1 << self.sticky.bits, magnitude.width), magnitude)
