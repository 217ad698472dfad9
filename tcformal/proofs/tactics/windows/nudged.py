"""A rounding of one number as that of another beside it: both lie between the same two midpoints.

A sum whose far terms are moved up is rounded, and what has to be shown is that the result is as near to the
sum without them.  Both numbers lie within less than one step of a grid that holds the second one; where the
result's units are coarser than that grid, their halves lie on it, and where they are not, the second number
is the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Part
from tcformal.proofs.tactics.rounded.converted import MagnitudeRounding
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, exponent_of, power

TWO, HALF = Fraction(2), Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A magnitude on a grid, and theorems about it and the one that is rounded.

    `whole`: magnitude - quotient·2^place = 0, place being Σ plus - Σ minus + constant; `least`:
    quotient - 2^least_bit >= 0; `near`: 2^(place - apart) ∓ (rounded - magnitude) >= 0.
    """

    magnitude: Node
    quotient: Node
    plus: tuple[Node, ...]
    minus: tuple[Node, ...]
    constant: int
    least_bit: int
    apart: int
    whole: int
    least: int
    near: tuple[int, int]


class NudgedRounding:
    """What the rounding of one magnitude says of a neighbour: theorems loss ∓ (neighbour - significand) >= 0.

    `errors` are the theorems loss ∓ (magnitude·2^lsb - significand·ulp) >= 0 of the rounding itself.
    """

    def __init__(
        self, z: IntegerSteps, x: MagnitudeRounding, errors: tuple[int, int], beside: Neighbour
    ) -> None:
        self.z, self.d, self.g, self.x, self.errors, self.v = z, z.d, z.g, x, errors, beside
        if x.ulps * 2 != 1 or beside.apart < max(x.p - beside.least_bit, 0) + 2:
            raise ProofError("a number beside a sum may be rounded to another one")
        self.unit = power(x.lsb)
        place = Poly.constant(beside.constant)
        for n in beside.plus:
            place = place + Poly.of(n)
        for n in beside.minus:
            place = place - Poly.of(n)
        self.place, self.grid = place, place.power_of_two()
        #: 1 / ulp.
        self.per_ulp = (exponent_of(x.code, 1 - x.p) * -1).power_of_two()
        #: 1 / (unit · grid), in which the grid's step is 1.
        self.per_step = (exponent_of(x.lsb) * -1 - place).power_of_two()
        self.gap = Poly.of(beside.magnitude) * self.unit - Poly.of(x.significand) * x.ulp

    def error(self) -> tuple[int, int]:
        """loss ∓ (neighbour·2^lsb - significand·ulp) >= 0."""
        left, right, _ = self._sides(-1)
        coarse = self.g.ule(right, left)
        first, second = self.z.cases(coarse, lambda yes, i, _: self._coarse(i) if yes else self._fine(i))
        return first, second

    # ------------------------------------------------------------------ exponents
    def _sides(self, more: int) -> tuple[Node, Node, list[Equation]]:
        """Two sums whose difference is log2(ulp / (unit·grid)) + more."""
        x, v, z = self.x, self.v, self.z
        constant = x.code.low + 1 - x.p - x.lsb.low - v.constant + more
        left, one = z.total([x.code.bits, *v.minus], max(constant, 0))
        right, two = z.total([x.lsb.bits, *v.plus], max(-constant, 0))
        return left, right, one + two

    def _distance(self, sign: int, more: int, given: list[int]) -> tuple[Node, int]:
        """sign · log2(ulp / (unit·grid)) + more, which is not negative, and that it is that."""
        d, g, v = self.d, self.g, self.v
        left, right, sums = self._sides(more * sign)
        upper, lower = (left, right) if sign == 1 else (right, left)
        made = g.sub_mod(upper, lower)
        leaves = [self.x.code.bits, self.x.lsb.bits, *v.plus, *v.minus]
        within = d.lemma("that a distance does not wrap", g.ule(lower, upper), given, (leaves,))
        equations = [(d.read(made, within), made), *sorted(sums, key=lambda y: -y[1].index)]
        ratio = exponent_of(self.x.code, 1 - self.x.p) - exponent_of(self.x.lsb) - self.place
        return made, self.z.rewritten(Poly.of(made) - (ratio * sign + Poly.constant(more)), equations)

    def _shifted(
        self, what: str, x: Node, width: int, by: Node, near: Sequence[int], cut: Sequence[Node]
    ) -> tuple[Node, list[Equation]]:
        """x · 2^by in a width that holds it."""
        d, g = self.d, self.g
        wide = g.zero_extend_to(x, width)
        made = g.shl_mod(wide, by)
        fits = d.lemma(f"that {what} fits", g.eq(g.lshr(made, by), wide), near, ([*cut, by],))
        return made, [
            (d.read(made, fits), made),
            *([(d.read(wide), wide)] if wide.op == "zero_extend" else []),
        ]

    def _absent(self, node: Node, number: Poly, equations: list[Equation], parts: list[Part]) -> int:
        """That a bit is 0, because it makes a negative number one of at least 0."""
        return self.d.refute(self.z.rewritten(number, equations, parts), node)

    # ------------------------------------------------------------------ units finer than the grid
    def _fine(self, given: list[int]) -> list[int]:
        """Units no coarser than the grid: the neighbour is the result."""
        z, d, g, x, v = self.z, self.d, self.g, self.x, self.v
        i, equal = self._distance(-1, 0, given)
        exponents: list[Equation] = [(equal, x.code.bits)]
        most = max(x.p - v.least_bit, 0)
        size, per = x.significand, self.unit * self.per_ulp
        full = d.range(size)
        # (2^p - 1/2)·2^-i + 2^-apart - 2^least_bit >= 0
        far = g.ult(g.const(most, i.width), i)
        ratio = d.power(d.arith([(1, [d.fact(d.assume(far))])]))
        back, c = (Poly.of(i) * -1).power_of_two(), TWO**x.p - HALF
        number = Poly.constant(c / 2 ** (most + 1) + 1 / TWO**v.apart - TWO**v.least_bit)
        steps = self.per_step
        parts: list[Part] = [
            (steps, [self.errors[0]]), (steps * self.unit, [v.near[1]]), (steps * self.unit, [v.whole]),
            (1, [v.least]), (steps * x.ulp, [full]), (back * c, [ratio]),
        ]  # fmt: skip
        absent = self._absent(far, number, exponents, parts)
        near = d.lemma("a short distance", g.ule(i, g.const(most, i.width)), [absent], ([i],))
        width = v.quotient.width + most
        w, reads = self._shifted("a finer quotient", v.quotient, width, i, [near], [v.quotient])
        width = max(w.width, size.width)
        one, other = g.zero_extend_to(w, width), g.zero_extend_to(size, width)
        reads = [(d.read(n), n) for n, k in ((one, w), (other, size)) if n is not k] + reads
        reads.sort(key=lambda y: -y[1].index)
        within = d.power(d.arith([(1, [d.fact(near)])]))
        number = Poly.constant(TWO ** (most - v.apart) - HALF)
        room = (Poly.of(i) - Poly.constant(v.apart)).power_of_two()
        known = []
        for less, k in ((g.ult(one, other), 1), (g.ult(other, one), 0)):
            sign = -1 if k else 1
            parts = [
                (self.per_ulp, [self.errors[k]]), (per, [v.near[1 - k]]), (per * sign, [v.whole]),
                (1, [d.fact(d.assume(less))]), (room, [within]),
            ]  # fmt: skip
            known.append(self._absent(less, number, [*exponents, *reads], parts))
        same = d.fact(d.lemma("that a neighbour is the result", g.eq(one, other), known, ([one, other],)))
        turn = d.about(same).terms[((one,), ())]
        gone = Poly.of(v.quotient) * Poly.of(i).power_of_two() - Poly.of(size)
        met = z.rewritten(gone, reads, [(turn, [same])]) if one is not other else d.arith([])
        made = []
        for sign in (1, -1):
            parts = [(x.loss, []), (self.unit * -sign, [v.whole]), (x.ulp * -sign, [met])]
            made.append(z.rewritten(x.loss - self.gap * sign, exponents, parts))
        return made

    # ------------------------------------------------------------------ units coarser than the grid
    def _coarse(self, given: list[int]) -> list[int]:
        """Half a unit lies on the grid."""
        j, equal = self._distance(1, -1, given)
        exponents: list[Equation] = [(equal, self.x.code.bits)]
        most = self.v.quotient.width
        far = self.g.ult(self.g.const(most, j.width), j)
        return self.z.cases(
            far, lambda yes, i, _: self._long(j, exponents, i) if yes else self._short(j, exponents, i)
        )

    def _short(self, j: Node, exponents: list[Equation], given: list[int]) -> list[int]:
        """Units that are not far above the grid."""
        z, d, g, x, v = self.z, self.d, self.g, self.x, self.v
        width = x.p + v.quotient.width + 3
        half, one = self._shifted("half a unit", g.const(1, 1), width, j, given, [])
        doubled = g.concat(x.significand, g.const(0, 1))
        size, two = self._shifted("a result", doubled, width, j, given, [x.significand])
        wide = [g.zero_extend_to(n, width + 2) for n in (v.quotient, half, size)]
        lower, upper = g.add_mod(wide[0], wide[1]), g.add_mod(wide[2], wide[1])
        leaves = [v.quotient, half, size]
        reads = d.expanded(lower, leaves, "a sum of the grid") + d.expanded(
            upper, leaves, "a sum of the grid"
        )
        reads += [(d.read(n), n) for n in wide if n.op == "zero_extend"]
        reads += [*one, *two, (d.read(doubled), doubled)]
        reads = sorted({n: (i, n) for i, n in reads}.values(), key=lambda y: -y[1].index)
        number = Poly.constant(1 / TWO**v.apart - 1)
        steps, made = self.per_step, []
        for k, (small, large) in enumerate(((wide[0], upper), (wide[2], lower))):
            above, sign = g.ult(large, small), -1 if k else 1
            parts: list[Part] = [
                (steps, [self.errors[k]]), (steps * self.unit, [v.near[1 - k]]),
                (steps * self.unit * sign, [v.whole]), (1, [d.fact(d.assume(above))]),
            ]  # fmt: skip
            absent = self._absent(above, number, [*exponents, *reads], parts)
            fact = d.fact(d.lemma("a side of a midpoint", g.ule(small, large), [absent], ([small, large],)))
            goal = x.loss - self.gap * sign
            held = [(self.unit * self.grid, [fact]), (self.unit * -sign, [v.whole])]
            made.append(z.rewritten(goal, [*exponents, *reads], held))
        return made

    def _long(self, j: Node, exponents: list[Equation], given: list[int]) -> list[int]:
        """Units so coarse that the neighbour is less than half of one: the result is zero."""
        z, d, g, x, v = self.z, self.d, self.g, self.x, self.v
        most, size, per = v.quotient.width, x.significand, self.unit * self.per_ulp
        some = g.ult(g.const(0, size.width), size)
        ratio = d.power(d.arith([(1, [d.fact(given[0])])]))
        full = d.range(v.quotient)
        below = ((Poly.of(j) + Poly.constant(1)) * -1).power_of_two()
        c = 1 / TWO**v.apart + TWO**most - 1
        number = Poly.constant(c / TWO ** (most + 2) - HALF)
        parts: list[Part] = [
            (self.per_ulp, [self.errors[1]]), (per, [v.near[0]]), (per * -1, [v.whole]), (below, [full]),
            (1, [d.fact(d.assume(some))]), (below * c, [ratio]),
        ]  # fmt: skip
        absent = self._absent(some, number, exponents, parts)
        none = d.fact(d.lemma("that a result is zero", g.is_zero(size), [absent], ([size],)))
        step = self.unit * self.grid
        up: list[Part] = [
            (self.unit * -1, [v.whole]), (step, [full]), (step * 2 ** (most + 1), [ratio]),
            (step * (2**most + 1), []),
        ]  # fmt: skip
        down: list[Part] = [(x.loss, []), (Poly.of(v.magnitude) * self.unit, [])]
        same = [(none, size), *exponents]
        return [
            z.rewritten(x.loss - self.gap, same, up),
            z.rewritten(x.loss + self.gap, [(none, size)], down),
        ]  # fmt: skip
