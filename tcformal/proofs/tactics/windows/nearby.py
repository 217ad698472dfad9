"""The sums beside that of three terms in windows: those without what lies far below.

A rounding of the whole sum is one of x alone where y is far below, and one of x + y where z is.
"""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import PartialSums
from tcformal.proofs.tactics.bounds.terms import ONE, sign_of
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, in_range, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.proofs.tactics.windows.nudged import Neighbour, NudgedRounding
from tcformal.proofs.tactics.windows.ordered import OrderedTerms
from tcformal.semantics.number import Exponent
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total


class NearbySums(OrderedTerms):
    """Three terms in windows, their sum, and that of the first two; roundings of what lies beside."""

    def __init__(self, z: IntegerSteps, total: Total, summands: Sequence[SummedTerm], precision: int) -> None:
        super().__init__(z, total, summands, precision)
        d, g, w, wide = self.d, self.g, self.w, []
        self.unit = (Poly.of(self.codes[0]) + Poly.constant(w.low - (self.n - 1) - self.grid)).power_of_two()
        #: Whether the first two cancel.
        self.empty = g.is_zero(w.upper)
        sums = PartialSums(d)
        for (_, sign, _), x in zip(self.rows, w.addends, strict=True):
            most = (1 << x.width) - 1
            small = d.lemma("the range of a term", g.ule(x, g.const(most, x.width)), (), ([x],))
            sums.addend(TermError(sign, x, x, 0, 0, most, small, 0, True), total.bits.width)
            wide.append(g.wrap_to_mod(signed_magnitude(g, sign, x), total.bits.width))
        sums.partial(w.upper, wide[:2])
        sums.partial(total.bits, [w.upper, wide[2]])
        self.upper, self.summed, self.within = (
            sums.signed(w.upper),
            sums.signed(total.bits),
            sums.within(w.upper),
        )
        moved = Exponent(total.e_max.bits, 2 * w.low - w.high, w.high)
        cut = [*self.codes, self.empty]
        self.ranges = in_range(z, "the range of a window", moved, [*self.order, *self.span], cut)

    def _bound(self, a: Node, b: Node, size: Node, by: int) -> list[Part]:
        """size - by·(-1)^a·(-1)^b·size >= 0, as parts; by is 1 or -1."""
        s = Poly.of(size)
        if by == 1:
            pairs = ((a, b), (b, a)) if a is not b else ()
            return [(Poly.of(p) * s * 2, [self.d.range(q)]) for p, q in pairs if (Poly.of(p) * s).terms]
        both = Poly.of(a) * Poly.of(b) * s * 2
        return [(s * 2, [self.d.range(a), self.d.range(b)]), *([(both, [])] if both.terms else [])]

    def _far_one(self) -> tuple[int, int, int]:
        """Where the first gap is cut: that x is normalised, and y and z are small."""
        d, g, w, near = self.d, self.g, self.w, self.near[0]
        x, (_, y, z) = self.rows[0][2], w.addends
        above = d.lemma(
            "that a far term has one above it",
            g.or_(near, g.any_bit(self.codes[0])),
            self.order,
            (self.codes,),
        )
        top = d.lemma(
            "that a far term's larger one is normalised", g.or_(near, g.top(x)), [above, self.top],
            ([self.codes[0], near, x],),
        )  # fmt: skip
        most = (1 << (self.n + w.gap_two)) - 1
        cut = [near, w.one, w.two, self.rows[1][2], self.rows[2][2]]
        gap = d.lemma(
            "a gap that is cut", g.or_(near, g.eq(w.one, g.const(w.gap_one, w.one.width))), (), ([w.gaps[0]],)
        )
        what = "that a far term is small"
        small = [d.lemma(what, g.or_(near, g.ule(n, g.const(most, n.width))), [gap], (cut,)) for n in (y, z)]
        return top, small[0], small[1]

    def _first(self, rounding: MagnitudeRounding, errors: tuple[int, int], far: int) -> list[int]:
        """loss ∓ (±x - ±significand·ulp) >= 0, where the first gap is cut (`far`)."""
        z, d, g, w = self.z, self.d, self.g, self.w
        x, size = self.rows[0], w.addends[0]
        implied = self._far_one()
        goals = [g.top(x[2])] + [
            g.ule(n, g.const((1 << (self.n + w.gap_two)) - 1, n.width)) for n in w.addends[1:]
        ]
        near = self.near[0]
        known = [
            d.lemma("what is known of a far term", goal, [far, i], ([near, n],))
            for goal, i, n in zip(goals, implied, (x[2], *w.addends[1:]), strict=True)
        ]
        s = self.summed.sign
        cut = ([*w.addends, *(r[1] for r in self.rows)],)
        same = (d.equal("the sign of a nudged sum", s, x[1], known, cut), s)
        least = g.ule(g.const(1 << (self.n - 1), self.n), x[2])
        full = d.fact(d.lemma("that a number is normalised", least, known[:1], ([x[2]],)))
        room = Poly.constant(1 << (self.n + w.gap_two + 1))
        nears = []
        for sign in (1, -1):
            goal = room - (Poly.of(self.summed.magnitude) - Poly.of(size)) * sign
            # ±(total - x) = ±(±y ± z)
            parts: list[Part] = [(sign_of(x[1]) * -sign, [self.summed.equation])]
            for k in (1, 2):
                parts += self._bound(x[1], self.rows[k][1], w.addends[k], sign)
                parts.append((1, [d.fact(known[k])]))
            parts.append((2, []))
            nears.append(z.rewritten(goal, [same], parts))
        beside = Neighbour(
            size, x[2], (), (), self.grid, self.n - 1, w.gap_one - self.n - 1,
            d.arith([(-1, [self.placed[0]])]), full, (nears[0], nears[1]),
        )  # fmt: skip
        made = NudgedRounding(z, rounding, errors, beside).error()
        return self._signed(rounding, made, size, x[1], [same])

    def _on_grid(self, some: int) -> tuple[Node, int, int]:
        """|x + y| less q·2^(grid - one) = 0, and q >= 1 where it is not 0 (`some`): q, and both theorems."""
        z, d, g, w, size = self.z, self.d, self.g, self.w, self.upper.magnitude
        place = g.sub_mod(g.const(self.grid, 17), g.zero_extend_to(w.one, 17))
        signs = [row[1] for row in self.rows[:2]]
        given, cut = self.limits[:1], [*w.addends[:2], *signs, place]
        terms = []
        for x, row in zip(w.addends[:2], self.rows[:2], strict=True):
            goal = g.eq(g.shl_mod(g.lshr(x, place), place), x)
            terms.append(d.lemma("that a term lies on the grid", goal, given, ([row[2], w.one],)))
        goal = g.eq(g.shl_mod(g.lshr(w.upper, place), place), w.upper)
        total = d.lemma("that a sum lies on the grid", goal, terms, (cut,))
        q = g.lshr(size, place)
        back, below = g.shl_mod(q, place), ([w.upper, place],)
        held = d.lemma("that a magnitude lies on the grid", g.eq(back, size), [total], below)
        fits = d.lemma("that a quotient fits", g.eq(g.lshr(back, place), q), (), ([size, place],))
        fact = d.fact(held)
        sign = d.about(fact).terms[((back,), ())]
        by = z.linear("a place", [place, w.one], [], -self.grid, given, ([w.one],))
        value = Poly.of(size) - Poly.of(q) * (Poly.constant(self.grid) - Poly.of(w.one)).power_of_two()
        whole = z.rewritten(value, [(d.read(back, fits), back), (by, place)], [(sign * -1, [fact])])
        what, known = "that a magnitude is not zero", [some, self.within]
        met = d.lemma(what, g.any_bit(size), known, ([w.upper],))
        least = g.ule(g.const(1, q.width), q)
        return q, whole, d.fact(d.lemma("that a quotient is not zero", least, [met, held], ([size, q],)))

    def _second(self, rounding: MagnitudeRounding, errors: tuple[int, int], far: int, some: int) -> list[int]:
        """loss ∓ (±(x + y) - ±significand·ulp) >= 0: the second gap is cut (`far`), x + y not 0 (`some`)."""
        z, d, g, w = self.z, self.d, self.g, self.w
        size, tail, own = self.upper.magnitude, w.addends[2], self.upper.sign
        q, whole, least = self._on_grid(some)
        two = d.equal("a gap that is cut", w.two, g.const(w.gap_two, w.two.width), [far], ([w.gaps[1]],))
        apart = w.gap_two - self.n
        grid = (Poly.constant(self.grid) - Poly.of(w.one)).power_of_two()
        share = Poly.constant(-apart).power_of_two()
        # tail·2^(one + two) = significand·2^grid < 2^(n + grid)
        back = (Poly.constant(-w.gap_two) - Poly.of(w.one)).power_of_two()
        full = back * (1 << self.grid)
        reach = z.rewritten(
            grid * share - Poly.of(tail), [*self._sum_of(self.down), (two, w.two)],
            [(full, [d.range(self.rows[2][2])]), (back, [self.placed[2]]), (full, [])],
        )  # fmt: skip
        width = max(size.width, tail.width)
        a, b = g.zero_extend_to(size, width), g.zero_extend_to(tail, width)
        covered = g.ule(a, b)
        reads = [(d.read(n), n) for n, k in ((a, size), (b, tail)) if n is not k]
        # quotient·2^place <= tail <= 2^(place - apart), and the quotient is at least 1.
        false = z.rewritten(
            grid * (share - ONE), reads,
            [(1, [d.fact(d.assume(covered))]), (1, [reach]), (1, [whole]), (grid, [least])],
        )  # fmt: skip
        step = (Poly.of(w.one) - Poly.constant(self.grid)).power_of_two()
        known = [d.refute(d.arith([(step, [false])]), covered), self.within]
        s, cut = self.summed.sign, ([w.upper, tail, self.rows[2][1]],)
        same = (d.equal("the sign of a nudged sum", s, own, known, cut), s)
        nears = []
        for by in (1, -1):
            goal = grid * share - (Poly.of(self.summed.magnitude) - Poly.of(size)) * by
            parts: list[Part] = [
                (sign_of(own) * -by, [self.summed.equation]), (sign_of(own) * by, [self.upper.equation]),
                (1, [reach]), *self._bound(own, self.rows[2][1], tail, by),
            ]  # fmt: skip
            nears.append(z.rewritten(goal, [same], parts))
        beside = Neighbour(size, q, (), (w.one,), self.grid, 0, apart, whole, least, (nears[0], nears[1]))
        made = NudgedRounding(z, rounding, errors, beside).error()
        return self._signed(rounding, made, size, own, [same])

    def _signed(
        self, x: MagnitudeRounding, errors: tuple[int, int], size: Node, sign: Node, same: list[Equation]
    ) -> list[int]:
        """loss ∓ (±size·2^lsb - ±significand·ulp) >= 0, the latter with the sign of the sum."""
        own = self.summed.sign
        unit = power(x.lsb)
        gap = sign_of(sign) * Poly.of(size) * unit - sign_of(own) * Poly.of(x.significand) * x.ulp
        return [
            self.z.rewritten(x.loss - gap * by, same, self.z.mixed(sign, *(errors[::by]))) for by in (1, -1)
        ]
