"""The sum of three terms in windows: what it is rounded to is as near to the sum without windows.

Terms stand in the order of their exponents, x, y, z, and what lies far below is moved up, y with z by some
bits and z by some more.  So the sum of the terms lies between x, x + y' and x + y' + z' as they stand in the
windows, with weights that add up to 1; and the result is within the loss of one rounding of each of these
that has a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.summed import PartialSums
from tcformal.proofs.tactics.bounds.terms import ONE, sign_of
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, in_range, power
from tcformal.proofs.tactics.rounded.nudged import Neighbour, NudgedRounding
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.normalise import normalise_term, shift_left_by_leading_zeros
from tcformal.semantics.number import Exponent
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total
from tcformal.semantics.sums.exact import three_windows

#: Exponent's code, sign and significand.
Row = tuple[Node, Node, Node]


class WindowSum:
    """Three terms in windows, and the number that they are rounded as."""

    def __init__(
        self, z: IntegerSteps, total: Total, summands: Sequence[SummedTerm], precision: int
    ) -> None:
        self.z, self.d, self.g, self.total, self.summands = z, z.d, z.g, total, summands
        with self.g.scope(f"again.windows{total.bits.index}"):
            self.w = three_windows(self.g, [x.term for x in summands], precision)
        if self.w.total.bits is not total.bits or self.w.total.e_max.bits is not total.e_max.bits:
            raise ProofError("a sum of three terms is not made in windows")
        w = self.w
        self.rows: tuple[Row, ...] = w.swaps[-1][3]
        self.n, self.grid = self.rows[0][2].width, w.gap_one + w.gap_two
        self.codes = [row[0] for row in self.rows]
        self.first = [row[0] for row in w.first_rows]
        self.unit = (Poly.of(self.codes[0]) + Poly.constant(w.low - (self.n - 1) - self.grid)).power_of_two()
        self.sums = PartialSums(self.d)
        for (_, sign, _), aligned in zip(self.rows, w.addends, strict=True):
            most = (1 << aligned.width) - 1
            small = self.d.lemma(
                "the range of a term", self.g.ule(aligned, self.g.const(most, aligned.width)), (), ([aligned],)
            )
            self.sums.addend(TermError(sign, aligned, aligned, 0, 0, most, small, 0, True), total.bits.width)
        wide = [
            self.g.wrap_to_mod(signed_magnitude(self.g, row[1], x), total.bits.width)
            for row, x in zip(self.rows, w.addends, strict=True)
        ]
        self.sums.partial(w.upper, wide[:2])
        self.sums.partial(total.bits, [w.upper, wide[2]])
        self.upper, self.summed = self.sums.signed(w.upper), self.sums.signed(total.bits)
        self._facts()

    # ------------------------------------------------------------------ what is known of rows
    def _facts(self) -> None:
        """The order and range of exponents, and that a term above another is normalised."""
        d, g, w, span = self.d, self.g, self.w, self.w.high - self.w.low
        ranges, tops = [], []
        for x, row in zip(self.summands, w.first_rows, strict=True):
            distance = shift_left_by_leading_zeros(g, x.term.significand)[1]
            own = Exponent(row[0], w.low, w.high)
            cut = [x.term.exponent.bits, distance, x.term.zero]
            ranges += in_range(self.z, "the range of an exponent", own, x.ranges, cut)
            cut = [x.term.significand, x.term.zero, x.term.exponent.bits]
            tops.append(d.lemma(
                "that a term above the least exponent is normalised",
                g.or_(g.is_zero(row[0]), g.top(row[2])), [x.some, *x.ranges], (cut,),
            ))  # fmt: skip
        rows = [*w.first_rows]
        for i, j, swap, after in w.swaps:
            cut = [swap, *(n for k in (i, j) for n in rows[k])]
            goals = [g.or_(g.is_zero(after[k][0]), g.top(after[k][2])) for k in (i, j)]
            what, known = "that a sorted term is normalised", [tops[i], tops[j]]
            tops[i], tops[j] = (d.lemma(what, goal, known, (cut,)) for goal in goals)
            rows = [*after]
        self.top = tops[0]
        e = self.codes
        self.order = [
            d.lemma("that exponents are in order", g.ule(b, a), (), (self.first,))
            for a, b in ((e[0], e[1]), (e[1], e[2]))
        ]
        goal = g.ule(e[0], g.const(span, e[0].width)) if not span >> e[0].width else None
        self.span = [] if goal is None else [d.lemma("the range of the largest", goal, ranges, (self.first,))]
        if span >> e[0].width:
            self.span = []
        lowered = Exponent(self.total.e_max.bits, 2 * w.low - w.high, w.high)
        cut = [*e, g.is_zero(w.upper)]
        self.ranges = in_range(self.z, "the range of a window", lowered, [*self.order, *self.span], cut)
        limits = ((w.one, w.gap_one), (w.two, w.gap_two))
        self.limits = [
            d.lemma("the range of a gap", g.ule(x, g.const(k, x.width)), (), ([t],))
            for (x, k), t in zip(limits, w.gaps, strict=True)
        ]
        down = g.add_expand(w.one, w.two)
        self.down = down
        self.near = [
            g.ule(t, g.const(k, t.width)) for t, k in zip(w.gaps, (w.gap_one, w.gap_two), strict=True)
        ]
        #: That terms are placed without loss: significand · 2^grid - aligned · 2^distance = 0.
        self.placed = [self._exact(k, by, cut) for k, by, cut in (
            (0, None, []), (1, w.one, [w.one]), (2, down, [w.one, w.two]))]  # fmt: skip

    def _exact(self, k: int, by: Node | None, cut: Sequence[Node]) -> int:
        d, g, size, aligned = self.d, self.g, self.rows[k][2], self.w.addends[k]
        placed = g.shift_left_const(size, self.grid)
        goal = Poly.of(size) * (1 << self.grid) - Poly.of(aligned) * (
            ONE if by is None else Poly.of(by).power_of_two()
        )
        equations: list[Equation] = [(d.read(placed), placed)]
        parts: list[Part] = []
        if by is None:
            return self.z.rewritten(goal, equations)
        back = g.shl_mod(aligned, by)
        nodes = [size, *cut]
        fits = d.lemma("that a shift back fits", g.eq(g.lshr(back, by), aligned), self.limits, (nodes,))
        same = d.equal("what is shifted back", placed, back, self.limits, (nodes,))
        parts.append((-1, [d.read(placed)]))
        equations = [(d.read(back, fits), back)]
        parts.append((1, [same]))
        # size·2^grid = placed = back = aligned·2^by
        return self.z.rewritten(goal, [*equations, *self._sum_of(by)], parts)

    def _sum_of(self, by: Node) -> list[Equation]:
        return self.d.expanded(by, [self.w.one, self.w.two], "a distance") if by is self.down else []

    # ------------------------------------------------------------------ values
    def _row_value(self, row: Row) -> Poly:
        code, sign, size = row
        weight = (Poly.of(code) + Poly.constant(self.w.low - (self.n - 1))).power_of_two()
        return sign_of(sign) * Poly.of(size) * weight

    def _value(self) -> int:
        """Σ summands - Σ sorted rows = 0."""
        parts: list[Part] = [(1, [self._first_value(k)]) for k in range(3)]
        rows = [*self.w.first_rows]
        goal = Poly.constant(0)
        for x in self.summands:
            goal = goal + x.value
        for row in self.rows:
            goal = goal - self._row_value(row)
        for i, j, swap, after in self.w.swaps:
            parts.append((1, [self._swapped(rows[i], rows[j], after[i], after[j], swap)]))
            rows = [*after]
        return self.z.rewritten(goal, [], parts)

    def _swapped(self, p: Row, q: Row, first: Row, second: Row, swap: Node) -> int:
        """Two rows less the same two exchanged = 0."""
        d = self.d
        goal = self._row_value(p) + self._row_value(q) - self._row_value(first) - self._row_value(second)
        cut = [swap, *p, *q]

        def proved(yes: bool, i: list[int], _: list[Equation]) -> list[int]:
            known: list[Equation] = []
            for new, old in zip((*first, *second), (*q, *p) if yes else (*p, *q), strict=True):
                if new is not old:
                    known.append((d.equal("a sorted term", new, old, i, (cut,)), new))
            known.sort(key=lambda y: -y[1].index)
            return [self.z.rewritten(goal, known)]

        return self.z.cases(swap, proved)[0]

    def _first_value(self, k: int) -> int:
        """A summand less its row = 0."""
        z, d, g, x, row = self.z, self.d, self.g, self.summands[k], self.w.first_rows[k]
        t, width = x.term, x.term.significand.width
        moved, distance = shift_left_by_leading_zeros(g, t.significand)
        if g.shift_left_const(moved, self.n - width) is not row[2] or normalise_term(g, t).sign is not row[1]:
            raise ProofError("a term of a sum is not the number that it is made of")
        normalised = z.normalised(t.significand, moved, distance)
        goal = x.value - self._row_value(row)
        padded: list[Equation] = [] if row[2] is moved else [(d.read(row[2]), row[2])]

        def proved(zero: bool, i: list[int], _: list[Equation]) -> list[int]:
            if zero:
                cut = ([t.significand, t.zero],)
                empty = d.lemma("that a zero is empty", g.is_zero(t.significand), [*i, x.empty], cut)
                still = d.lemma("that a zero stays empty", g.is_zero(moved), [empty], ([t.significand],))
                same = [(d.fact(j), n) for j, n in ((still, moved), (empty, t.significand)) if n.op != "const"]
                return [z.rewritten(goal, [*padded, *same], [(1, [x.equation])])]
            less = self.w.low - t.exponent.low - (width - t.fraction_bits - 1)
            code = z.linear(
                "the exponent of a term", [row[0], distance], [t.exponent.bits], less, [*i, *x.ranges],
                ([t.exponent.bits, distance, t.zero],),
            )  # fmt: skip
            same = [*padded, (normalised, moved), (code, row[0])]
            return [z.rewritten(goal, same, [(1, [x.equation])])]

        return z.cases(t.zero, proved)[0]

    # ------------------------------------------------------------------ neighbours
    def _bound(self, a: Node, b: Node, size: Node, by: int) -> list[Part]:
        """size - by·(-1)^a·(-1)^b·size >= 0, as parts; by is 1 or -1."""
        s = Poly.of(size)
        if by == 1:
            pairs = ((a, b), (b, a))
            return [
                (Poly.of(p) * s * 2, [self.d.range(q)]) for p, q in pairs if (Poly.of(p) * s).terms
            ] if a is not b else []
        both = Poly.of(a) * Poly.of(b) * s * 2
        return [(s * 2, [self.d.range(a), self.d.range(b)]), *([(both, [])] if both.terms else [])]

    def _far_one(self) -> tuple[int, int, int]:
        """Where the first gap is cut: that x is normalised, and y and z are small."""
        d, g, w, near = self.d, self.g, self.w, self.near[0]
        x, (_, y, z) = self.rows[0][2], w.addends
        above = d.lemma(
            "that a far term has one above it", g.or_(near, g.any_bit(self.codes[0])), self.order, (self.codes,)
        )
        top = d.lemma(
            "that a far term's larger one is normalised", g.or_(near, g.top(x)), [above, self.top],
            ([self.codes[0], near, x],),
        )  # fmt: skip
        most = (1 << (self.n + w.gap_two)) - 1
        cut = (self.rows[1][2], self.rows[2][2], w.gaps[0], w.two)
        gap = d.lemma(
            "a gap that is cut", g.or_(near, g.eq(w.one, g.const(w.gap_one, w.one.width))), (), ([w.gaps[0]],)
        )
        small = [
            d.lemma("that a far term is small", g.or_(near, g.ule(n, g.const(most, n.width))), [gap],
                    ([near, w.one, w.two, cut[0], cut[1]],))
            for n in (y, z)
        ]  # fmt: skip
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

    def _second(
        self, rounding: MagnitudeRounding, errors: tuple[int, int], far: int, some: int
    ) -> list[int]:
        """loss ∓ (±(x + y) - ±significand·ulp) >= 0, where the second gap is cut (`far`) and x + y is not 0."""
        z, d, g, w = self.z, self.d, self.g, self.w
        size, tail = self.upper.magnitude, w.addends[2]
        place = g.sub_mod(g.const(self.grid, 17), g.zero_extend_to(w.one, 17))
        on_grid = []
        for n, k in zip(w.addends[:2], (0, 1), strict=True):
            goal = g.eq(g.shl_mod(g.lshr(n, place), place), n)
            cut = [self.rows[k][2], w.one]
            on_grid.append(d.lemma("that a term lies on the grid", goal, self.limits[:1], (cut,)))
        signs = [r[1] for r in self.rows[:2]]
        goal = g.eq(g.shl_mod(g.lshr(w.upper, place), place), w.upper)
        on_grid.append(
            d.lemma("that a sum lies on the grid", goal, on_grid, ([*w.addends[:2], *signs, place],))
        )
        v = g.lshr(size, place)
        back = g.shl_mod(v, place)
        held = d.lemma("that a magnitude lies on the grid", g.eq(back, size), on_grid[2:], ([w.upper, place],))
        fits = d.lemma("that a quotient fits", g.eq(g.lshr(back, place), v), (), ([size, place],))
        by = z.linear("a place", [place, w.one], [], -self.grid, self.limits[:1], ([w.one],))
        sign = d.about(d.fact(held)).terms[((back,), ())]
        goal = Poly.of(size) - Poly.of(v) * (Poly.constant(self.grid) - Poly.of(w.one)).power_of_two()
        whole = z.rewritten(goal, [(d.read(back, fits), back), (by, place)], [(sign * -1, [d.fact(held)])])
        least = g.ule(g.const(1, v.width), v)
        within = self.sums.within(w.upper)
        least_node = d.lemma(
            "that a magnitude is not zero", g.any_bit(size), [some, within], ([w.upper],)
        )
        full = d.fact(d.lemma("that a quotient is not zero", least, [least_node, held], ([size, v],)))
        two = d.equal("a gap that is cut", w.two, g.const(w.gap_two, w.two.width), [far], ([w.gaps[1]],))
        apart = w.gap_two - self.n
        grid = (Poly.constant(self.grid) - Poly.of(w.one)).power_of_two()
        back_two = (Poly.constant(-w.gap_two) - Poly.of(w.one)).power_of_two()
        # tail·2^(one + two) = significand·2^grid < 2^(n + grid)
        reach = z.rewritten(
            grid * Poly.constant(-apart).power_of_two() - Poly.of(tail),
            [*self._sum_of(self.down), (two, w.two)],
            [(back_two * (1 << self.grid), [d.range(self.rows[2][2])]), (back_two, [self.placed[2]]),
             (back_two * (1 << self.grid), [])],
        )  # fmt: skip
        width = max(size.width, tail.width)
        a, b = g.zero_extend_to(size, width), g.zero_extend_to(tail, width)
        covered = g.ule(a, b)
        reads = [(d.read(n), n) for n, k in ((a, size), (b, tail)) if n is not k]
        share = Poly.constant(-apart).power_of_two()
        # quotient·2^place <= tail <= 2^(place - apart), and the quotient is at least 1.
        number = z.rewritten(
            grid * (share - ONE), reads,
            [(1, [d.fact(d.assume(covered))]), (1, [reach]), (1, [whole]), (grid, [full])],
        )  # fmt: skip
        number = d.arith([((Poly.of(w.one) - Poly.constant(self.grid)).power_of_two(), [number])])
        absent = d.refute(number, covered)
        s, own = self.summed.sign, self.upper.sign
        cut = ([w.upper, tail, self.rows[2][1]],)
        same = (d.equal("the sign of a nudged sum", s, own, [absent, self.sums.within(w.upper)], cut), s)
        nears = []
        for sign in (1, -1):
            goal = grid * share - (Poly.of(self.summed.magnitude) - Poly.of(size)) * sign
            parts: list[Part] = [
                (sign_of(own) * -sign, [self.summed.equation]), (sign_of(own) * sign, [self.upper.equation]),
                (1, [reach]), *self._bound(own, self.rows[2][1], tail, sign),
            ]  # fmt: skip
            nears.append(z.rewritten(goal, [same], parts))
        beside = Neighbour(
            size, v, (), (w.one,), self.grid, 0, apart, whole, full, (nears[0], nears[1])
        )
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
            self.z.rewritten(x.loss - gap * by, same, self.z.mixed(sign, *(errors[::by])))
            for by in (1, -1)
        ]

    # ------------------------------------------------------------------ the whole
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
        empty = g.is_zero(w.upper)

        def proved(none: bool, i: list[int], _: list[Equation]) -> list[int]:
            if none:
                return self._without(goals, value, third, gaps, i)
            kept = d.equal("what no window takes off", w.lost, g.const(0, w.lost.width), i, ([empty, w.cut],))
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

        above, below = z.cases(empty, proved)
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
        cut = [*self.codes, g_zero(self)]
        return self.z.linear(
            "the exponent of a window", [bits, w.lost], [self.codes[0]], less,
            [*self.order, *self.span, *given], (cut,),
        )  # fmt: skip

    def _weighted(
        self, k: int, find: Callable[[int], list[int]], same: list[Equation]
    ) -> list[int]:
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
            "what a window takes off", [w.lost, w.two], [w.gaps[1]], 0, given, ([w.gaps[1], g_zero(self)],)
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
                (1, [third[k]]), *self._apart(by, value, gaps), (self.unit * back * by, [self.summed.equation]),
                (self.unit * (ONE - back) * by, [self.upper.equation]),
            ]  # fmt: skip
            made.append(z.rewritten(goals[k], same, parts))
        return made


def g_zero(x: WindowSum) -> Node:
    """Whether the sum of the first two is zero."""
    return x.g.is_zero(x.w.upper)
