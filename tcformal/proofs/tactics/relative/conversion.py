"""What the conversion of a sum loses beside 2^(E - p), E the largest exponent of the terms."""

from __future__ import annotations

from fractions import Fraction

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import OFFSET
from tcformal.proofs.statements.relative_bound import RelativeBound
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.rounded import SumConversion
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.relative.odd_rounding.terms import odd_moves

ONE = Poly.constant(1)


class SharpConversion:
    """The conversion of one sum; `finest` is the theorem 2^(E - F) - u >= 0, u the unit of the sum."""

    def __init__(self, d: Derivation, x: SumConversion, stated: RelativeBound, finest: int) -> None:
        self.d, self.g, self.x, self.stated, self.finest = d, d.g, x, stated, finest

    def _power(self, by: int) -> Poly:
        """2^(E + by)."""
        return (Poly.of(self.stated.base.e) + Poly.constant(by - OFFSET)).power_of_two()

    def bounds(
        self, high: bool, bit: int, codes: tuple[Node, Node], equations: list[tuple[int, Node]]
    ) -> tuple[Poly, tuple[int, int]]:  # fmt: skip
        """What the conversion loses, with one unit of the sum, in one of the cases of the result's exponent.

        The bound is `share` of an ulp of the result where its exponent is above E, else of 2^(E - p); it has
        the theorems that it is at least ±(the result less the sum), less a unit where sums are cut.
        """
        d, g, x, e = self.d, self.g, self.x, Poly.of(self.stated.base.e)
        ulp, own, share = x.ulp, self._power(-x.bits), self.stated.share
        if high:
            ratio = d.power(d.prove(Poly.of(x.code) - e - ONE, equations, [(1, [d.fact(bit)])]))
            smaller = d.prove(ulp - own, [], [(own * 2, [ratio]), (own, [])])
        else:
            at_most = d.fact(d.lemma("an exponent above E", g.ule(*codes), [bit], (codes,)))
            ratio = d.power(d.prove(e - Poly.of(x.code), equations, [(1, [at_most])]))
            smaller = d.prove(own - ulp, [], [(ulp, [ratio])])
        bound = ulp if high else own
        if share != 1:
            lost, most = x.error(), bound * share + Poly.constant(x.flushed)
            extra: list[Part] = [] if high else [(share, [smaller])]
            value = sign_of(x.term.sign) * Poly.of(x.term.significand) * ulp
            moved = value - sign_of(x.summed.sign) * Poly.of(x.summed.magnitude) * x.unit
            above, below = (
                d.prove(most - moved * s, [], [(1, [i]), *extra])
                for s, i in ((1, lost.above), (-1, lost.below))
            )
            return most, (above, below)
        if x.rounded.target.mode == "RO":
            return bound, self._odd(high, smaller, bound)
        return bound, self._cut(high, smaller, bound)

    def _odd(self, high: bool, smaller: int, bound: Poly) -> tuple[int, int]:
        """A sum that is rounded to odd loses all but one unit of an ulp at most, on either side."""
        x = self.x
        own, room = self._power(-x.bits), self._power(-x.total.fraction_bits)
        larger: list[Part] = [] if high else [(1, [smaller])]
        spare: list[Part] = [(1, [self.finest]), (own - room, []), *([(1, [smaller])] if high else [])]
        return odd_moves(x, bound, larger, spare)

    def _cut(self, high: bool, smaller: int, bound: Poly) -> tuple[int, int]:
        """A sum that is cut loses a whole number of units: all but one of an ulp at most, or nothing."""
        d, g, x = self.d, self.g, self.x
        unit, ulp = x.unit, x.ulp
        size, exact = Poly.of(x.term.significand) * ulp, Poly.of(x.summed.magnitude) * x.unit
        own, room = self._power(-x.bits), self._power(-x.total.fraction_bits)
        goal = bound - unit - exact + size
        # Where nothing is lost: 2^(E - p) is at least 2^(E - F), and that at least a unit.
        spare: list[Part] = [(1, [self.finest]), (own - room, [])]
        spare += [(1, [smaller])] if high else []
        low, _ = x._floor(exact - size, ulp - exact + size)
        big, amount, distance, some = x._placed(0)
        kept = g.lshr(big, amount)
        wide = g.zero_extend_to(x.term.significand, big.width)
        same = d.equal("that a result is its sum cut", wide, kept, [some, *x.given], x.cuts)
        own_width: list[Part] = [(1, [d.read(wide)])] if wide is not x.term.significand else []
        places = g.const(x.term.significand.width, amount.width)
        coarse = g.ule(places, amount)
        yes, no = d.assume(coarse), d.assume(g.not_(coarse))
        cuts = ([x.summed.magnitude, amount],)
        # An ulp of at least a unit: the magnitude is shifted by the difference of their exponents.
        by = g.sub_mod(amount, places)
        direct = g.lshr(x.summed.magnitude, by)
        moved = d.equal("a shift of a shift", kept, g.zero_extend_to(direct, kept.width), [yes], cuts)
        shifted = [(d.read(by, yes), by), distance]
        longer = g.zero_extend_to(direct, kept.width)
        read: list[Part] = [(-1, [d.read(longer)])] if longer is not direct else []
        # U(direct) - U(significand), from those of the wider nodes and of `kept`.
        equal = d.arith([*own_width, (-1, [same]), (-1, [moved]), *read])
        extra: list[Part] = [] if high else [(1, [smaller])]
        cut = d.prove(goal, [(equal, direct), *shifted], [(unit, [d.read(direct, 1)]), *extra])
        # A finer ulp: nothing is shifted out.
        back = g.shl_mod(kept, amount)
        held = d.equal("that a finer ulp loses nothing", back, big, [no], cuts)
        side = d.lemma("that a finer ulp loses nothing", g.eq(g.lshr(back, amount), kept), (), cuts)
        part = unit * Fraction(1, 2**x.term.significand.width)
        kept_is = d.arith([*own_width, (-1, [same])])
        whole = d.prove(
            goal, [distance],
            [*spare, (part * Poly.of(amount).power_of_two() * -1, [kept_is]),
             (part * -1, [d.read(back, side)]), (part, [held]), (part, [d.read(big)])],
        )  # fmt: skip
        up = d.cases(coarse, cut, whole)
        # A zero sum has a zero result.
        zero = g.is_zero(x.summed.magnitude)
        none = d.assume(zero)
        empty = d.lemma("that a zero sum has a zero result", g.is_zero(x.term.significand),
                        [none, *x.given], x.cuts)  # fmt: skip
        nothing = d.prove(
            goal, [(d.fact(none), x.summed.magnitude), (d.fact(empty), x.term.significand)], spare
        )
        up = d.cases(zero, nothing, up)
        signs, s = x._signs(), Poly.of(x.summed.sign)
        one = d.range(x.summed.sign)
        value = sign_of(x.term.sign) * size
        moves = value - sign_of(x.summed.sign) * exact
        own_sign: list[Part] = [(ulp, [signs])] if d.about(signs).terms else []
        less: list[Part] = [(ulp * -1, [signs])] if d.about(signs).terms else []
        above = d.prove(bound - unit - moves, [], [(1, [up]), (2, [one, low]), *less])
        below = d.prove(bound - unit + moves, [], [(1, [up]), (s * 2, [low]), *own_sign])
        return above, below
