"""One conversion of an exact magnitude that is an integer: nothing is cut off, and nothing overflows."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.integers.numbers import WholeNumbers
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, power
from tcformal.proofs.tactics.rounded.lifted import normalised, within
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Lift, Rounded


class WholeRounding(MagnitudeRounding):
    """Theorems about one record of a conversion of magnitude · 2^lsb, an integer x of at most 2^B.

    `same`, which is given: magnitude · 2^lsb - x = 0; `small`: 2^B - x >= 0, B being at most the precision.
    `exact`: significand · ulp - x = 0; `fits`: that nothing overflows.
    """

    def __init__(
        self, w: WholeNumbers, rounded: Rounded, magnitude: Node, lsb: Exponent, x: Node, same: int,
        small: int, ranges: Sequence[int],
    ) -> None:  # fmt: skip
        super().__init__(w.z, rounded, magnitude, lsb, None, 0, ranges)
        self.w, self.x, self.small = w, x, small
        #: The height of a number, and the largest one whose last bit weighs at most 1.
        self.height, self.level = Exponent(rounded.height, 0, 0), self.p - 1 - rounded.target.e_min
        self.shifted = self.z.normalised(rounded.magnitude, rounded.normalised, rounded.distance)
        self.within = within(self.d, rounded)
        #: What is cut off.
        self.rest = self.g.extract(rounded.normalised, self.n - self.p - 1, 0)
        self._place(same)
        self.full = self._leading()
        none = self._nothing_cut()
        self.away = self.d.lemma(
            "that nothing is added", self.g.not_(rounded.away), [none], ([rounded.normalised],)
        )
        self.fits = self._in_reach(none)
        self.exact = self._exact(none)

    # ------------------------------------------------------------------ the place
    def _place(self, same: int) -> None:
        """`lifted`: magnitude · unit - x = 0; `placed`: normalised · fine - x = 0, and of what is kept."""
        z, d, r, x = self.z, self.d, self.r, Poly.of(self.x)
        padded: list[Equation] = []
        if self.padded is not self.source:
            padded = [(d.read(self.padded), self.padded)]
        same = z.rewritten(Poly.of(self.padded) * power(self.low) - x, padded, [(1, [same])])
        if r.lift is None:
            self.lifted = z.rewritten(Poly.of(r.magnitude) * self.unit - x, [], [(1, [same])])
        else:
            self.lifted = self._lift_whole(r.lift, same)
        back = (Poly.of(r.distance) * -1).power_of_two()
        parts: list[Part] = [(self.unit * back, [self.shifted]), (1, [self.lifted])]
        self.placed = z.rewritten(Poly.of(r.normalised) * self.fine - x, self._exponents(), parts)
        whole = self.g.concat(r.kept, self.rest)
        cut = d.equal("what is kept and what is cut", r.normalised, whole, (), ([r.normalised],))
        goal = (Poly.of(r.kept) * (1 << (self.n - self.p)) + Poly.of(self.rest)) * self.fine - x
        self.parted = z.rewritten(
            goal, [], [(1, [self.placed]), (self.fine * -1, [cut]), (self.fine * -1, [d.read(whole)])]
        )

    def _lift_whole(self, lift: Lift, same: int) -> int:
        """The same of what is lifted to the least exponent: only 0 lies below it."""
        z, d, g, r, x = self.z, self.d, self.g, self.r, self.x
        code, whole = self.low.bits, self.low.low + self.n - 1
        goal = Poly.of(r.magnitude) * self.unit - Poly.of(x)

        def proved(below: bool, i: list[int], _: list[Equation]) -> list[int]:
            known = [*i, *self.ranges]
            cut = [self.padded, lift.amount]
            if not below:
                what = "an exponent that is not lifted"
                up = z.linear(what, [r.top.bits], [code], r.top.low - whole, known, ([code],))
                nothing = d.lemma("that nothing is lifted", g.is_zero(lift.amount), known, ([code],))
                kept = d.equal("what is not lifted", r.magnitude, self.padded, [nothing], (cut,))
                return [z.rewritten(goal, [(kept, r.magnitude), (up, r.top.bits)], [(1, [same])])]
            moved = z.linear("a lift", [lift.distance, code], [], whole - r.top.low, known, ([code],))
            unit, down = power(self.low), (Poly.of(lift.distance) * -1).power_of_two()
            spread = d.power(d.arith([(Poly.of(lift.distance), [])]))
            most = (1 << self.n) - 1
            # 2^-distance · padded · 2^(e_min + 1 - n) is less than 1.
            scale = Poly.constant(r.top.low + 1 - self.n).power_of_two()

            def wrong(least: int) -> int:
                made = d.arith([(1, [least]), (1, [same]), (unit, [d.range(self.padded)])])
                goal = scale * down * most - Poly.constant(1)
                held = z.rewritten(goal, [(moved, code)], [(1, [made])])
                return d.arith([(1, [held]), (scale * down * most, [spread])])

            zero = self.w.zero(x, wrong)
            some = g.any_bit(self.padded)
            back = (Poly.of(code) + Poly.constant(self.low.low)) * -1
            parts: list[Part] = [(1, [self.w.at_least_one(self.padded)])]
            parts += [(back.power_of_two() * -1, [i]) for i in (same, zero)]
            false = d.refute(z.rewritten(Poly.constant(-1), [], parts), some)
            empty = d.lemma("that nothing is left", g.is_zero(self.padded), [false], ([self.padded],))
            gone = d.lemma("that nothing is lifted", g.is_zero(r.magnitude), [empty], (cut,))
            return [z.rewritten(goal, [(d.fact(gone), r.magnitude), (zero, x)])]

        return z.cases(lift.below, proved)[0]

    # ------------------------------------------------------------------ what is cut off
    def _leading(self) -> list[int]:
        """That a number is normalised where it is not 0 and not at the least exponent."""
        d, g, r = self.d, self.g, self.r
        empty = g.or_(g.any_bit(r.magnitude), g.is_zero(r.normalised))
        none = d.lemma("that a zero is normalised to one", empty, (), ([r.magnitude, r.limit],))
        return [normalised(d, r), none]

    def _above(self, top: int, some: int) -> tuple[Node, int]:
        """Whether a height is above `top`, and that a number, no 0 as `some` says, is normalised then."""
        d, r = self.d, self.r
        far, _ = self.w.beyond(self.height, top)
        given, cut = [d.assume(far), *self.full, some], [r.distance, r.limit, r.normalised, r.magnitude]
        return far, d.lemma("that a number is normalised", self.g.top(r.normalised), given, (cut,))

    def _nothing_cut(self) -> int:
        """That no bit is cut off."""
        z, d, g, r = self.z, self.d, self.g, self.r
        some, cut = g.any_bit(self.rest), self.n - self.p
        if some.op == "const":
            return d.lemma("that nothing is cut off", g.not_(some))
        near = self.w.reaches(self.height, self.level)
        # x · 2^k is kept and a fraction, which is not 0.
        k, depth = self.w.distance("a height", self.height, self.level, [d.assume(near)])
        grid = Poly.of(k).power_of_two()
        goal = (
            Poly.of(self.x) * grid - Poly.of(r.kept) - Poly.of(self.rest) * Poly.constant(-cut).power_of_two()
        )
        same = z.rewritten(goal, [depth], [(grid * -1, [self.parted])])
        first = self.w.between(
            some, self.x, k, r.kept, same, self.w.at_least_one(self.rest), d.range(self.rest),
            Poly.constant(1 << cut),
        )  # fmt: skip
        # A number with more bits, its last one weighing 2 at least, is above 2^precision.
        given = [d.assume(some)]
        there = d.lemma("that some bit is set", g.any_bit(r.normalised), given, ([r.normalised],))
        _, lead = self._above(self.level, there)
        large = g.ule(g.const((1 << (self.n - 1)) + 1, self.n), r.normalised)
        size = d.fact(d.lemma("the size of a number", large, [lead, *given], ([r.normalised],)))
        return d.cases(near, first, d.refute(self._too_large(self.level, size), some))

    def _too_large(self, top: int, size: int) -> int:
        """A false theorem from a height above `top` and a size of the normalised number, as x is small."""
        d = self.d
        _, more = self.w.beyond(self.height, top)
        about = d.about(size)
        least = about - Poly.of(self.r.normalised)
        # normalised · fine >= -least · 2^(top + 1 + e_min + 1 - n)
        scale = Poly.constant(top + self.r.target.e_min + 2 - self.n).power_of_two()
        beyond = (least * scale * -1, [d.power(more)])
        return d.arith([(1, [self.small]), (-1, [self.placed]), (self.fine, [size]), beyond])

    def _in_reach(self, none: int) -> int:
        """That nothing overflows."""
        d, g, r = self.d, self.g, self.r
        over, some = r.result.inf, g.any_bit(r.normalised)
        if over.op == "const":
            return d.lemma("that nothing overflows", g.not_(over))
        far, lead = self._above(self.level + 1, d.assume(some))
        large = g.ule(g.const(1 << (self.n - 1), self.n), r.normalised)
        size = d.fact(d.lemma("the size of a number", large, [lead], ([r.normalised],)))
        absent = d.refute(self._too_large(self.level + 1, size), far)
        cut = ([r.normalised, r.height, r.away, r.result.term.sign],)
        first = d.lemma("that nothing overflows", g.not_(over), [absent, none, self.away], cut)
        zero = d.assume(g.not_(some))
        second = d.lemma("that nothing overflows", g.not_(over), [zero, self.away], cut)
        return d.cases(some, first, second)

    # ------------------------------------------------------------------ the result
    def whole(self, normal: int) -> int:
        """That the significand has its leading bit, or is 0: no subnormal number is an integer."""
        z, d, g, sig, code = self.z, self.d, self.g, self.significand, self.code.bits
        goal = g.or_(g.top(sig), g.is_zero(sig))
        top, no = d.assume(g.top(sig)), d.assume(g.not_(g.top(sig)))
        least = d.lemma("the exponent of a subnormal", g.is_zero(code), [no, normal], ([sig, code],))
        most = (1 << (self.p - 1)) - 1
        below = d.lemma("that a subnormal is small", g.ule(sig, g.const(most, self.p)), [no], ([sig],))
        zeros, ulp = [(d.fact(least), code)], Poly.constant(self.code.low + 1 - self.p).power_of_two()

        def wrong(one: int) -> int:
            parts: list[Part] = [(1, [one]), (1, [self.exact]), (self.ulp, [d.fact(below)])]
            return z.rewritten(ulp * most - Poly.constant(1), zeros, parts)

        zero = self.w.zero(self.x, wrong)
        parts: list[Part] = [(ulp, [self.w.at_least_one(sig)]), (-1, [self.exact]), (-1, [zero])]
        false = d.refute(z.rewritten(ulp * -1, zeros, parts), g.any_bit(sig))
        empty = d.lemma("that nothing is left", g.is_zero(sig), [false], ([sig],))
        cut = ([sig],)
        first = d.lemma("that an integer is normal", goal, [top], cut)
        return d.cases(g.top(sig), first, d.lemma("that an integer is normal", goal, [empty], cut))

    def _exact(self, none: int) -> int:
        """significand · ulp - x = 0."""
        z, d, g, r = self.z, self.d, self.g, self.r
        grown, sums = self._grown()
        value = self._significand(grown)
        scale = Poly.constant(self.code.low + 1 - self.p).power_of_two()
        zeros = [z.bit(self.away, r.away, 0)]
        if self.rest.op != "const":
            empty = d.lemma("that nothing is cut off", g.is_zero(self.rest), [none], ([self.rest],))
            zeros.append((d.fact(empty), self.rest))
        goal = Poly.of(self.significand) * self.ulp - Poly.of(self.x)
        return z.rewritten(goal, [*sums, *zeros], [(scale, [value]), (1, [self.parted])])
