"""The conversion to odd to a result of exponent E: it gains half of the low bits' range less these."""

from __future__ import annotations

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.odd_gain import OddGain
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.relative.blocks import BlockCase
from tcformal.proofs.tactics.relative.odd_rounding.gaining import low_word
from tcformal.proofs.tactics.relative.odd_rounding.terms import mixed


class OddConversion:
    """The conversion of one sum; `reached` and `most` are the theorems e_max - E >= 0 and E - e_max >= 0."""

    def __init__(self, d: Derivation, x: SumConversion, gain: OddGain, reached: int, most: int) -> None:
        self.d, self.g, self.x, self.gain, self.reached, self.most = d, d.g, x, gain, reached, most

    def bounds(self, case: BlockCase, sign: int, bit: int) -> int:
        """u · (half - the sum's low bits) - sign · (the result less the sum), at least 0.

        `bit` is the theorem that the result's exponent is not below E, as `case.bit` that it is not above.
        """
        d, g, x, bits = self.d, self.g, self.x, self.gain.bits
        s = x.summed.sign
        plus, minus = self._magnitudes(case, bit)
        up, down = (low_word(g, x.summed.magnitude, bits, y) for y in (1, -1))
        own = low_word(g, x.total.bits, bits, sign)
        chosen = g.ite(s, down, up) if sign > 0 else g.ite(s, up, down)
        same = d.equal("the low bits of a sum", own, chosen, (), ([x.total.bits],))
        equations = [(same, own)] if own is not chosen else []
        equations += [(d.read(chosen), chosen)] if chosen.op == "ite" else []
        value = sign_of(x.term.sign) * Poly.of(x.term.significand) * x.ulp
        moved = value - sign_of(s) * Poly.of(x.summed.magnitude) * x.unit
        signs = x._signs()
        some: list[Part] = [(x.ulp * -sign, [signs])] if d.about(signs).terms else []
        parts = mixed(d, s, plus, minus) if sign > 0 else mixed(d, s, minus, plus)
        goal = (Poly.constant(self.gain.half) - Poly.of(own)) * x.unit - moved * sign
        return d.prove(goal, equations, [*parts, *some])

    def _magnitudes(self, case: BlockCase, bit: int) -> tuple[int, int]:
        """u·(half - low) ∓ (significand·ulp - magnitude·u) >= 0, low of the magnitude and of its opposite."""
        d, g, x, bits = self.d, self.g, self.x, self.gain.bits
        big, amount, distance, some = x._placed(0)
        width = x.term.significand.width
        ahead = x.total.fraction_bits - x.bits + width
        there = self._there(case, bit, amount, distance, ahead)
        size = max(big.width, width + ahead) + 2
        wide, whole = g.zero_extend_to(x.term.significand, size), g.zero_extend_to(big, size)
        back = g.shl_mod(wide, amount)
        room = ([x.term.significand, amount],)
        side = d.lemma("that a result has room", g.eq(g.lshr(back, amount), wide), [there], room)
        half = g.const(self.gain.half << width, size)
        unit = x.unit * Poly.constant(-width).power_of_two()
        exact, kept = Poly.of(x.summed.magnitude) * x.unit, Poly.of(x.term.significand) * x.ulp
        made = []
        for s, one, other in ((1, back, whole), (-1, whole, back)):
            low = low_word(g, x.summed.magnitude, bits, s)
            spread = g.zero_extend_to(g.shift_left_const(low, width), size)
            sums = g.add_mod(one, spread), g.add_mod(other, half)
            fact = d.fact(d.lemma(
                "that a sum is made odd", g.ule(*sums), [there, some, *x.given], x.cuts
            ))  # fmt: skip
            cut = tuple([n, x.term.significand, amount] for n in (x.summed.magnitude, x.summed.whole))
            equations = []
            for n in sums:
                fits = d.lemma("that a sum has room", g.ule(n.args[0], n), [there], cut)
                equations.append((d.read(n, fits), n))
            equations += [*d.placed(spread), *d.placed(whole), (d.read(back, side), back)]
            equations += [*d.placed(wide), distance]
            goal = (Poly.constant(self.gain.half) - Poly.of(low)) * x.unit - (kept - exact) * s
            shown = d.prove(goal, equations, [(unit, [fact])])
            zero = g.is_zero(x.summed.magnitude)
            none, gone = d.assume(zero), g.is_zero(x.term.significand)
            empty = d.lemma("that a zero sum has a zero result", gone, [none, *x.given], x.cuts)
            ends = ([x.summed.magnitude], [x.summed.whole])
            no_low = d.lemma("that a zero sum has no low bits", g.is_zero(low), [none], ends)
            zeros = [
                (d.fact(no_low), low), (d.fact(none), x.summed.magnitude), (d.fact(empty), x.term.significand)
            ]  # fmt: skip
            nothing = d.prove(goal, zeros, [(x.unit * self.gain.half, [])])
            made.append(d.cases(zero, nothing, shown))
        return made[0], made[1]

    def _there(self, case: BlockCase, bit: int, amount: Node, distance: tuple[int, Node], ahead: int) -> int:
        """That a result of exponent E is shifted by its ulp in units."""
        d, g, e = self.d, self.g, Poly.of(self.x.e_max)
        code, limit = case.codes
        top = g.const(ahead, amount.width)
        found = []
        for node, known, other, s in (
            (g.ult(top, amount), g.ule(code, limit), self.reached, 1),
            (g.ult(amount, top), g.ule(limit, code), self.most, -1),
        ):
            given = case.bit if s > 0 else bit
            fact = d.fact(d.lemma("an exponent that is E", known, [given], (case.codes,)))
            met = d.prove((e - Poly.of(self.x.code)) * s, case.equations, [(1, [fact]), (1, [other])])
            false = d.prove(
                Poly.constant(-1), [distance], [(1, [d.fact(d.assume(node))]), (1, [met])]
            )  # fmt: skip
            found.append(d.refute(false, node))
        return d.lemma("that a result is shifted so far", g.eq(amount, top), found, ([amount],))
