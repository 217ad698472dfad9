"""The conversion of a sum that rounds down, toward -Inf."""

from __future__ import annotations

from tcformal.errors import ProofError
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.rounded import RoundingError, SumConversion
from tcformal.proofs.tactics.bounds.terms import sign_of


class DownConversion(SumConversion):
    """A conversion whose result lies at most one ulp below the sum, and never above it."""

    def error(self) -> RoundingError:
        """`above`: -x >= 0, `below`: ulp + x >= 0, x being the value of the result less ±magnitude·u."""
        d, g = self.d, self.g
        if self.rounded.target.mode != "RD":
            raise ProofError(f"expected a conversion that rounds down, but got {self.rounded.target.mode}")
        signs, sign = self._signs(), self.summed.sign
        size = Poly.of(self.term.significand) * self.ulp
        exact = Poly.of(self.summed.magnitude) * self.unit
        value = sign_of(self.term.sign) * size
        moved = value - sign_of(sign) * exact
        positive = g.is_zero(sign)
        yes, no = d.assume(positive), d.assume(g.not_(positive))
        minus = d.lemma("that a sum is negative", g.eq(sign, g.truth(True)), [no], ([sign],))
        low, up = self._floor(exact - size, self.ulp - exact + size, [yes])
        over, under = self._raised([minus], exact, size)
        same = (self.ulp * -1, [signs]) if d.about(signs).terms else (0, [])
        less = (self.ulp, [signs]) if d.about(signs).terms else (0, [])
        zero, one = [(d.fact(yes), sign)], [(d.fact(minus), sign)]
        above = d.cases(
            positive, d.prove(moved * -1, zero, [(1, [low]), same]),
            d.prove(moved * -1, one, [(1, [over]), same]),
        )  # fmt: skip
        below = d.cases(
            positive, d.prove(self.ulp + moved, zero, [(1, [up]), less]),
            d.prove(self.ulp + moved, one, [(1, [under]), less]),
        )  # fmt: skip
        return RoundingError(value, self.code, above, below)

    def _raised(self, negative: list[int], exact: Poly, size: Poly) -> tuple[int, int]:
        """0 <= significand·ulp - magnitude·u <= ulp, of a sum that is negative."""
        d, g = self.d, self.g
        over_goal, under_goal = size - exact, self.ulp - size + exact
        big, amount, distance, some = self._placed(0)
        kept = g.lshr(big, amount)
        wide = g.zero_extend_to(self.term.significand, big.width)
        more, back = g.add_mod(kept, g.const(1, big.width)), g.shl_mod(kept, amount)
        up, whole = g.eq(wide, more), g.and_(g.eq(wide, kept), g.eq(back, big))
        given = [some, *negative, *self.given]
        known = d.lemma("that a result is its sum made larger", g.or_(whole, up), given, self.cuts)
        scale = self.unit * _power(-self.term.significand.width)
        plain = [(d.read(wide), wide), (d.read(big), big), distance]
        low, high = d.read(kept, 0), d.read(kept, 1)
        # One unit more than the floor of the magnitude.
        yes = d.assume(up)
        fits = d.lemma("that a unit more fits", g.ule(more.args[0], more), (), ([self.summed.whole, amount],))
        equations = [(d.read(more, fits), kept), (d.fact(yes), more), *plain]
        first = [
            d.prove(over_goal, equations, [(scale, [high]), (scale, [])]),
            d.prove(under_goal, equations, [(scale, [low])]),
        ]
        # The magnitude itself.
        no = d.assume(g.not_(up))
        exactly = d.lemma("that a sum is exact", whole, [known, no], ([up, whole],))
        met, none = (d.lemma("a part of an exact sum", x, [exactly], (list(whole.args),)) for x in whole.args)
        if whole.args[0].args != g.eq(wide, kept).args:
            met, none = none, met
        restored = d.lemma("that nothing is lost", g.eq(g.lshr(back, amount), kept), (), ([big, amount],))
        rest = d.prove(
            Poly.of(big) - Poly.of(kept) * Poly.of(amount).power_of_two(),
            [(d.fact(none), big), (d.read(back, restored), back)],
        )
        equations = [(d.fact(met), kept), *plain]
        second = [
            d.prove(over_goal, equations, [(scale * -1, [rest])]),
            d.prove(under_goal, equations, [(scale, [rest]), (self.ulp, [])]),
        ]
        shown = [d.cases(up, i, j) for i, j in zip(first, second, strict=True)]
        return self._both((over_goal, under_goal), shown)


def _power(k: int) -> Poly:
    return Poly.constant(k).power_of_two()
