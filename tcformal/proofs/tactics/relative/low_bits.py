"""What aligned terms and their sum have below an ulp of the result, and what that leaves them to lose."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.errors import ProofError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.tied_loss import Tied
from tcformal.proofs.tactics.bounds.aligned import TermError
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.terms import shown_value, sign_of, weight
from tcformal.proofs.tactics.relative.odd_rounding.terms import mixed
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.reduce import signed_magnitude


def lowest(g: Graph, node: Node, bits: int, sign: int) -> Node:
    """The low bits of a number in two's complement, or with the sign 1 of its opposite: what d may gain."""
    low = g.extract(node, bits - 1, 0)
    return g.neg_mod(low) if sign > 0 else low


@dataclass(frozen=True, slots=True)
class TiedTerm:
    """Theorems about one aligned term, v its units below an ulp on either side.

    `above`: loss·u·(1 - 2^-shift) - rate·v·u + value - ±aligned·u >= 0; `below`: of the value's opposite.
    """

    above: int
    below: int
    lows: tuple[Node, Node]

    def side(self, sign: int) -> int:
        """The theorem of one side."""
        return self.above if sign > 0 else self.below

    def low(self, sign: int) -> Poly:
        """v of one side."""
        return Poly.of(self.lows[0 if sign > 0 else 1])


class LowBits:
    """The units below an ulp of each term, and of their partial sums: no more than those of the terms."""

    def __init__(
        self, d: Derivation, alignment: SharpAlignment, terms: list[TermError], tied: Tied, c: Node
    ) -> None:
        self.d, self.g, self.alignment, self.terms, self.tied, self.c = d, d.g, alignment, terms, tied, c
        self.width = alignment.total.partials[0].node.width
        self.of = {p.node: p.of for p in alignment.total.partials}

    def term(self, k: int, beside: bool, empty: int | None) -> TiedTerm:
        """One term: a product, or c; `empty` is the theorem that nothing is left of it."""
        d, g, t, bits = self.d, self.g, self.terms[k], self.tied.bits
        word = g.wrap_to_mod(signed_magnitude(g, t.sign, t.aligned), self.width)
        lows = tuple(lowest(g, word, bits, s) for s in (1, -1))
        if empty is not None:
            equations = []
            for low in lows:
                none = d.lemma(
                    "that nothing has no low bits", g.is_zero(low), [empty], ([t.sign, t.aligned],)
                )
                equations += [(d.fact(none), low)] if low.op != "const" else []
            above, below = (
                d.prove(
                    d.about(i) - Poly.of(low) * self.alignment.unit * self.tied.rate, equations, [(1, [i])]
                )
                for i, low in zip((t.above, t.below), lows, strict=True)
            )
            return TiedTerm(above, below, (lows[0], lows[1]))
        # The units of ±aligned, from those of aligned and of its opposite.
        up, down = (lowest(g, t.aligned, bits, s) for s in (1, -1))
        reads = []
        for s, low in zip((1, -1), lows, strict=True):
            chosen = g.ite(t.sign, down, up) if s > 0 else g.ite(t.sign, up, down)
            same = d.equal("the low bits of a term", low, chosen, (), ([t.sign, t.aligned],))
            equations = [(same, low)] if low is not chosen and low.op != "const" else []
            reads.append([*equations, *([(d.read(chosen), chosen)] if chosen.op == "ite" else [])])
        make = self._beside if beside else self._product
        above, below = make(k, lows, (up, down), reads)
        return TiedTerm(above, below, (lows[0], lows[1]))

    def _product(
        self, k: int, lows: tuple[Node, ...], own: tuple[Node, Node], reads: list[list[tuple[int, Node]]]
    ) -> tuple[int, int]:
        """Both bounds of a product: what is shifted out counts on one side, what is below an ulp on both."""
        d, g, x, made = self.d, self.g, self.alignment.summands[k], self.alignment.total.terms[k]
        t, unit, tied = made.term, self.alignment.unit, self.tied
        places = self.alignment.total.fraction_bits - t.fraction_bits
        placed = g.shift_left_const(t.significand, places)
        if places < 0 or made.aligned is not g.lshr(placed, made.shift):
            raise ProofError(f"aligned term {k} is no truncated shift of a product of few bits")
        most = (unit - unit * (Poly.of(made.shift) * -1).power_of_two()) * tied.loss
        gap = Poly.of(t.significand) * weight(x.code, t.fraction_bits) - Poly.of(made.aligned) * unit
        goals = (
            most - unit * Poly.of(own[0]) * tied.rate,
            most - unit * Poly.of(own[1]) * tied.rate - gap,
            gap,
        )
        some, none = d.assume(x.nonzero), d.assume(g.not_(x.nonzero))
        scale = unit * (Poly.of(made.shift) * -1).power_of_two()
        equations = [(self.alignment.distance(k, some), x.code)]
        equations += [(d.read(placed), placed)] if placed.op == "concat" else []
        out = (
            self.alignment.shifted_out(k, some, placed, tied.loss, own[0], tied.rate, lost=False),
            self.alignment.shifted_out(k, some, placed, tied.loss, own[1], tied.rate),
            d.read(made.aligned, 0),
        )
        shown = [d.prove(goal, equations, [(scale, [i])]) for goal, i in zip(goals, out, strict=True)]
        # Nothing is lost of a term that is zero.
        size = t.significand
        cuts = ([size, made.shift], [made.shift])
        empty = d.lemma(f"that the zero term {k} is empty", g.is_zero(size), [none], (x.own,))
        zeros = [(d.fact(empty), size)]
        for n in (made.aligned, *own):
            i = d.lemma(f"that the zero term {k} adds nothing", g.is_zero(n), [empty], cuts)
            zeros += [(d.fact(i), n)] if n.op != "const" else []
        spread = d.power(d.arith([(Poly.of(made.shift), [])]))
        room: list[Part] = [(scale * tied.loss, [spread])]
        nothing = [d.prove(goal, zeros, p) for goal, p in zip(goals, (room, room, []), strict=True)]
        one, other, low = (d.cases(x.nonzero, i, j) for i, j in zip(shown, nothing, strict=True))
        value = shown_value(d, x, f"term {k}")
        moved = x.value - sign_of(t.sign) * Poly.of(made.aligned) * unit
        gains = d.arith([(1, [one]), (1, [low])])
        above = d.prove(
            most - unit * Poly.of(lows[0]) * tied.rate + moved, reads[0],
            [*mixed(d, t.sign, gains, other), (1, [value])],
        )  # fmt: skip
        below = d.prove(
            most - unit * Poly.of(lows[1]) * tied.rate - moved, reads[1],
            [*mixed(d, t.sign, other, gains), (-1, [value])],
        )  # fmt: skip
        return above, below

    def _beside(
        self, k: int, lows: tuple[Node, ...], _own: tuple[Node, Node], _reads: list[list[tuple[int, Node]]]
    ) -> tuple[int, int]:
        """Both bounds of c, which has no units below an ulp where it is not shifted."""
        d, g, t, unit, tied = self.d, self.g, self.terms[k], self.alignment.unit, self.tied
        shift, made = t.shift, []
        still = g.is_zero(shift)
        yes, no = d.assume(still), d.assume(g.not_(still))
        share = (Poly.of(shift) * -1).power_of_two()
        most = (1 << tied.bits) - 1
        moved = d.lemma("that c is shifted", g.ule(g.const(1, shift.width), shift), [no], ([shift],))
        # 2^(shift - 1) - 1 >= 0, and so 1 - 2·2^-shift >= 0.
        half = d.arith([(share * 2, [d.power(d.prove(
            Poly.of(shift) - Poly.constant(1), [], [(1, [d.fact(moved)])]
        ))])])  # fmt: skip
        aligned = self.alignment.total.terms[k]
        facts = [yes, *self.alignment.summands[k].facts, *self.alignment.short(k)]
        for i, low in zip((t.above, t.below), lows, strict=True):
            goal = (Poly.constant(1) - share) * (2 * most) - Poly.of(low)
            none = d.lemma(
                "that c has no lower bits", g.is_zero(low), facts,
                ([aligned.term.significand, t.sign, shift], [shift], []),
            )  # fmt: skip
            first = d.prove(goal, [(d.fact(none), low), (d.fact(yes), shift)])
            second = d.prove(goal, [], [(most, [half]), (1, [d.range(low)])])
            rest = d.cases(still, first, second)
            made.append(d.arith([(1, [i]), (unit * tied.rate, [rest])]))
        return made[0], made[1]

    # ------------------------------------------------------------------ sums
    def added(self, sign: int) -> int:
        """Σ v of the terms - v of the sum, at least 0."""
        return self._below(self.alignment.total.bits, sign)[0]

    def _below(self, node: Node, sign: int) -> tuple[int, Poly]:
        """Σ v of the terms that a node is the sum of, less its own, at least 0; and that sum."""
        d, g, bits = self.d, self.g, self.tied.bits
        own = lowest(g, node, bits, sign)
        if node not in self.of:
            if node.op in ("sign_extend", "extract") and node.args[0] in self.of:
                i, total = self._below(node.args[0], sign)
                same = d.equal(
                    "the low bits of a sum", own, lowest(g, node.args[0], bits, sign), (), (node.args,)
                )
                return d.arith([(1, [i]), (-1, [same])]), total
            return d.arith([]), Poly.of(own)
        parts = [self._below(y, sign) for y in self.of[node]]
        lows = [g.zero_extend_to(lowest(g, y, bits, sign), bits + 1) for y in self.of[node]]
        both = g.add_mod(*lows)
        wide = g.zero_extend_to(own, bits + 1)
        small = d.fact(d.lemma("the low bits of a sum", g.ule(wide, both), (), (self.of[node],)))
        equations = [(d.read(n), n) for n in (*lows, wide) if n.op == "zero_extend"]
        if both.op == "add_mod":
            fits = d.lemma("that low bits fit", g.ule(both.args[0], both), (), (self.of[node],))
            equations.insert(0, (d.read(both, fits), both))
        total = parts[0][1] + parts[1][1]
        made = d.prove(total - Poly.of(own), equations, [(1, [small]), *((1, [i]) for i, _ in parts)])
        return made, total
