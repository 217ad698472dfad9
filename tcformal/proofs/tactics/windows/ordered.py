"""Three terms in the order of their exponents: what is known of each, and the values that they keep."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.bounds.terms import ONE, sign_of
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, in_range
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.normalise import normalise_term, shift_left_by_leading_zeros
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import Total
from tcformal.semantics.sums.exact import three_windows

#: Exponent's code, sign and significand.
RowNodes = tuple[Node, Node, Node]


class OrderedTerms:
    """The terms of one sum in windows, sorted, and placed there without loss."""

    def __init__(self, z: IntegerSteps, total: Total, summands: Sequence[SummedTerm], precision: int) -> None:
        self.z, self.d, self.g, self.total, self.summands = z, z.d, z.g, total, summands
        with self.g.scope(f"again.windows{total.bits.index}"):
            self.w = three_windows(self.g, [x.term for x in summands], precision)
        if self.w.total.bits is not total.bits or self.w.total.e_max.bits is not total.e_max.bits:
            raise ProofError("a sum of three terms is not made in windows")
        w = self.w
        self.rows: tuple[RowNodes, ...] = w.swaps[-1][3]
        self.n, self.grid = self.rows[0][2].width, w.gap_one + w.gap_two
        self.codes = [row[0] for row in self.rows]
        self._order()
        self._place()

    # ------------------------------------------------------------------ what is known of rows
    def _order(self) -> None:
        """The order and range of exponents, and that the first term is normalised, or all stand lowest."""
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
        rows = w.first_rows
        for i, j, swap, after in w.swaps:
            cut = [swap, *rows[i], *rows[j]]
            goals = [g.or_(g.is_zero(after[k][0]), g.top(after[k][2])) for k in (i, j)]
            what, known = "that a sorted term is normalised", [tops[i], tops[j]]
            tops[i], tops[j] = (d.lemma(what, goal, known, (cut,)) for goal in goals)
            rows = after
        self.top = tops[0]
        e, first = self.codes, [row[0] for row in w.first_rows]
        self.order = [
            d.lemma("that exponents are in order", g.ule(b, a), (), (first,))
            for a, b in ((e[0], e[1]), (e[1], e[2]))
        ]
        largest = Exponent(e[0], w.low, w.high)
        self.span = in_range(self.z, "the range of the largest", largest, ranges, first)
        if len(self.span) < (not span >> e[0].width):
            raise ProofError("an exponent of a sum has no range")

    def _place(self) -> None:
        """That no gap is longer than its limit, and that terms are placed without loss."""
        d, g, w = self.d, self.g, self.w
        limits = (w.one, w.gap_one, w.gaps[0]), (w.two, w.gap_two, w.gaps[1])
        self.limits = [
            d.lemma("the range of a gap", g.ule(x, g.const(k, x.width)), (), ([true],))
            for x, k, true in limits
        ]
        #: Whether a gap is not cut.
        self.near = [g.ule(true, g.const(k, true.width)) for _, k, true in limits]
        self.down = g.add_expand(w.one, w.two)
        #: significand · 2^grid - aligned · 2^distance = 0.
        self.placed = [
            self._exact(0, None, []), self._exact(1, w.one, [w.one]),
            self._exact(2, self.down, [w.one, w.two]),
        ]  # fmt: skip

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
    def _row_value(self, row: RowNodes) -> Poly:
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

    def _swapped(self, p: RowNodes, q: RowNodes, first: RowNodes, second: RowNodes, swap: Node) -> int:
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
                same = [
                    (d.fact(j), n) for j, n in ((still, moved), (empty, t.significand)) if n.op != "const"
                ]
                return [z.rewritten(goal, [*padded, *same], [(1, [x.equation])])]
            less = self.w.low - t.exponent.low - (width - t.fraction_bits - 1)
            code = z.linear(
                "the exponent of a term", [row[0], distance], [t.exponent.bits], less, [*i, *x.ranges],
                ([t.exponent.bits, distance, t.zero],),
            )  # fmt: skip
            same = [*padded, (normalised, moved), (code, row[0])]
            return [z.rewritten(goal, same, [(1, [x.equation])])]

        return z.cases(t.zero, proved)[0]
