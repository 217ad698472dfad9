"""The conversion of a sum loses no more than what the sum has below an ulp of a result at E."""

from __future__ import annotations

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.tied_loss import Tied
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.relative.blocks import BlockCase
from tcformal.proofs.tactics.relative.low_bits import lowest
from tcformal.proofs.tactics.relative.odd_rounding.terms import mixed


class LowConversion:
    """The conversion of a sum to a result whose exponent is at most E: it loses what is below an ulp at most.

    `reached` is the theorem e_max - E >= 0.
    """

    def __init__(self, d: Derivation, x: SumConversion, tied: Tied, reached: int) -> None:
        self.d, self.g, self.x, self.tied, self.reached = d, d.g, x, tied, reached
        self._shown: tuple[int, int] | None = None

    def bounds(self, case: BlockCase, sign: int) -> int:
        """u · v of the sum - sign·(the result less the sum), at least 0."""
        d, x, bits = self.d, self.x, self.tied.bits
        if self._shown is None:
            self._shown = self._magnitudes(case)
        s = x.summed.sign
        lost, gained = self._shown
        low, up = (lowest(self.g, x.summed.magnitude, bits, y) for y in (-1, 1))
        own = lowest(self.g, x.total.bits, bits, sign)
        chosen = self.g.ite(s, low, up) if sign > 0 else self.g.ite(s, up, low)
        same = d.equal("the low bits of a sum", own, chosen, (), ([x.total.bits],))
        equations = [(same, own)] if own is not chosen else []
        equations += [(d.read(chosen), chosen)] if chosen.op == "ite" else []
        value = sign_of(x.term.sign) * Poly.of(x.term.significand) * x.ulp
        moved = value - sign_of(s) * Poly.of(x.summed.magnitude) * x.unit
        signs = x._signs()
        some: list[Part] = [(x.ulp * -sign, [signs])] if d.about(signs).terms else []
        parts = mixed(d, s, gained, lost) if sign > 0 else mixed(d, s, lost, gained)
        return d.prove(Poly.of(own) * x.unit - moved * sign, equations, [*parts, *some])

    def _magnitudes(self, case: BlockCase) -> tuple[int, int]:
        """u·v - (magnitude·u - significand·ulp) >= 0, and with the opposite's v its opposite."""
        d, g, x, bits = self.d, self.g, self.x, self.tied.bits
        big, amount, distance, some = x._placed(0)
        width = x.term.significand.width
        ahead = x.total.fraction_bits - x.bits + width
        near = self._near(case, amount, distance, ahead)
        size = max(big.width, width + ahead) + 1
        wide = g.zero_extend_to(x.term.significand, size)
        back = g.shl_mod(wide, amount)
        side = d.lemma(
            "that a result has room",
            g.eq(g.lshr(back, amount), wide),
            [near],
            ([x.term.significand, amount],),
        )
        whole = g.zero_extend_to(big, size)
        unit = x.unit * Poly.constant(-width).power_of_two()
        exact, kept = Poly.of(x.summed.magnitude) * x.unit, Poly.of(x.term.significand) * x.ulp
        made = []
        for s, one, other in ((-1, whole, back), (1, back, whole)):
            low = lowest(g, x.summed.magnitude, bits, s)
            spread = g.zero_extend_to(g.shift_left_const(low, width), size)
            most = g.add_mod(other, spread)
            given = [near, some, *x.given]
            fact = d.fact(d.lemma("that what is below an ulp is lost", g.ule(one, most), given, x.cuts))
            fits = d.lemma(
                "that a sum has room", g.ule(most.args[0], most), [near],
                ([x.summed.magnitude, x.term.significand, amount],),
            )  # fmt: skip
            moved = (exact - kept) * -s
            goal = Poly.of(low) * x.unit - moved
            equations = [(d.read(most, fits), most), *d.placed(spread), *d.placed(whole)]
            equations += [(d.read(back, side), back), *d.placed(wide), distance]
            shown = d.prove(goal, equations, [(unit, [fact])])
            zero = g.is_zero(x.summed.magnitude)
            none = d.assume(zero)
            gone = g.is_zero(x.term.significand)
            empty = d.lemma("that a zero sum has a zero result", gone, [none, *x.given], x.cuts)
            zeros = [(d.fact(none), x.summed.magnitude), (d.fact(empty), x.term.significand)]
            nothing = d.prove(goal, zeros, [(x.unit * Poly.of(low), [])])
            made.append(d.cases(zero, nothing, shown))
        return made[0], made[1]

    def _near(self, case: BlockCase, amount: Node, distance: tuple[int, Node], ahead: int) -> int:
        """That a result at E or below is shifted by no more than a unit below an ulp."""
        d, g, e = self.d, self.g, Poly.of(self.x.e_max)
        far = g.ult(g.const(ahead, amount.width), amount)
        at_most = d.fact(d.lemma("an exponent above E", g.ule(*case.codes), [case.bit], (case.codes,)))
        below = d.prove(e - Poly.of(self.x.code), case.equations, [(1, [at_most]), (1, [self.reached])])
        assumed = d.fact(d.assume(far))
        false = d.prove(
            Poly.constant(-1), [distance], [(1, [assumed]), (1, [below])]
        )  # fmt: skip
        near = d.refute(false, far)
        goal = g.ule(amount, g.const(ahead, amount.width))
        return d.lemma("that a result is not far", goal, [near], ([amount],))
