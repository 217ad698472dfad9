"""Products of few bits that are rounded to odd and lie near the largest: they lose less than a unit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.tactics.bounds.aligned import Alignment
from tcformal.proofs.tactics.relative.odd_rounding.terms import OddTerm


class NearOddTerm(OddTerm):
    """One aligned product that is shifted by `span` at most.

    `known` gives the theorems that it is not shifted further and that its factors are normal, from the one
    that it is not zero.
    """

    def __init__(
        self, alignment: Alignment, k: int, loss: Fraction, span: int, known: Callable[[int], list[int]]
    ) -> None:
        super().__init__(alignment, k, loss)
        self.span, self.known = span, known

    def _nonzero(self, some: int, over_goal: Poly, under_goal: Poly) -> tuple[int, int]:
        """Both bounds of a product that lies near the largest: its few bits lose less than a unit."""
        d, g, alignment, k = self.d, self.g, self.alignment, self.k
        made = alignment.total.terms[k]
        shift, span, width = made.shift, self.span, self.placed.width
        given = [some, *self.known(some)]
        own = [f.significand for f in alignment.summands[k].factors]
        cuts = ([*own, shift], [made.term.significand, shift], [shift])
        one, wide = g.const(1, width + span), g.zero_extend_to(made.aligned, width + span)
        power, up = g.shl_mod(one, shift), g.shl_mod(wide, shift)
        mask, equations = g.sub_mod(power, one), list[tuple[int, Node]]()
        for x, y in ((power, one), (up, wide)):
            fits = d.lemma("that a shift fits", g.eq(g.lshr(x, shift), y), given, cuts)
            equations.append((d.read(x, fits), x))
        least = d.lemma("that a power of two is not zero", g.ule(one, power), given, cuts)
        equations.insert(0, (d.read(mask, least), mask))
        parts, share = self.loss.denominator, self.loss.numerator
        lost, first, second = (
            g.mul_expand(x, g.const(y, y.bit_length()))
            for x, y in ((mask, share), (up, parts), (self.placed, parts))
        )
        size = max(lost.width, first.width, second.width)
        wider = [g.zero_extend_to(x, size) for x in (lost, first, second)]
        reads = [
            (d.read(x), x) for x in (*wider, lost, first, second) if x.op in ("zero_extend", "mul_expand")
        ]
        scale = Poly.of(alignment.e_max) - Poly.constant(OFFSET + alignment.total.fraction_bits)
        scale = (scale - Poly.of(shift)).power_of_two() * Fraction(1, parts)
        plain = [(alignment.distance(k, some), alignment.summands[k].code)]
        found = []
        for goal, x, y in ((over_goal, wider[1], wider[2]), (under_goal, wider[2], wider[1])):
            most = g.add_expand(wider[0], y)
            fits = d.lemma("that both fit", g.ule(most.args[0], most), (), (wider,))
            less = g.ule(g.zero_extend_to(x, most.width), most)
            fact = d.fact(d.lemma(f"what product {k} loses to odd", less, given, cuts))
            own_reads = [(d.read(most, fits), most)]
            own_reads += [(d.read(n), n) for n in (*most.args, *less.args) if n.op == "zero_extend"]
            more = [(d.read(self.placed), self.placed)] if self.placed.op == "concat" else []
            wide_reads = [(d.read(wide), wide)]
            found.append(d.prove(
                goal, [*own_reads, *reads, *equations, *wide_reads, *more, *plain], [(scale, [fact])]
            ))  # fmt: skip
        return found[0], found[1]
