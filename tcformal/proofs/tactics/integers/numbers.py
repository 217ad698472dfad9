"""Integers that numbers of a circuit stand for: their signs, their sums, and that none lies between two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.summed import Addition, SignedSum, added_in_pairs
from tcformal.proofs.tactics.bounds.terms import sign_of
from tcformal.proofs.tactics.integers.wholes import below
from tcformal.proofs.tactics.rounded.integers import Equation, IntegerSteps, power
from tcformal.proofs.tactics.rounded.sums import SummedTerm
from tcformal.semantics.number import Exponent
from tcformal.semantics.reduce import signed_magnitude
from tcformal.semantics.stages import Total

#: Wide enough for the distance of two exponents.
_WIDTH = 17


@dataclass(frozen=True, slots=True)
class WholeValue:
    """A number of the circuit that is an integer: value = ±magnitude = Σ of terms of the statement, `exact`.

    Theorems: `signed`: value - ±magnitude = 0; `summed`: value - exact = 0; `within`: `taken`, the magnitudes
    of the statement that it is made of, less its own are at least 0; `small`: 2^B - magnitude >= 0.
    """

    value: Poly
    sign: Node
    magnitude: Node
    exact: Poly
    taken: Poly
    signed: int
    summed: int
    within: int
    small: int


@dataclass(frozen=True, slots=True)
class _Addend:
    """±aligned of a sum of integers."""

    sign: Node
    aligned: Node
    most: int
    small: int


class WholeNumbers:
    """Theorems about integers of magnitudes up to 2^most; `all` less 2^most is at most 0, as `bound` says."""

    def __init__(self, z: IntegerSteps, most: int, everything: Poly, bound: int) -> None:
        self.z, self.d, self.g, self.most, self.all, self.bound = z, z.d, z.g, most, everything, bound

    def small(self, magnitude: Node, taken: Poly, within: int) -> int:
        """2^most - magnitude >= 0, as what it is made of adds up to no more."""
        goal = Poly.constant(1 << self.most) - Poly.of(magnitude)
        rest = self.all - taken
        parts: list[Part] = [(1, [self.bound]), (1, [within]), *([(rest, [])] if rest.terms else [])]
        return self.d.prove(goal, [], parts)

    def nothing(self, value: Poly, sign: Node) -> WholeValue:
        """Zero."""
        d, zero, none = self.d, self.g.const(0, 1), Poly.constant(0)
        holds = d.arith([])
        small = d.arith([(1 << self.most, [])])
        return WholeValue(value, sign, zero, none, none, holds, holds, holds, small)

    def added(self, xs: Sequence[WholeValue]) -> WholeValue:
        """The sum of integers: its value is the sum of theirs."""
        d, g = self.d, self.g
        some = [x for x in xs if x.magnitude.op != "const"]
        if len(some) == 1:
            return some[0]
        if not some:
            return xs[0]
        value, exact, taken = Poly.constant(0), Poly.constant(0), Poly.constant(0)
        terms = []
        for x in some:
            value, exact, taken = value + x.value, exact + x.exact, taken + x.taken
            top = min(1 << self.most, (1 << x.magnitude.width) - 1)
            terms.append(_Addend(x.sign, x.magnitude, top, below(d, x.magnitude, top, self._under(x, top))))
        width = max(sum(x.most for x in terms).bit_length(), *(x.aligned.width for x in terms)) + 2
        level = [g.wrap_to_mod(signed_magnitude(g, x.sign, x.aligned), width) for x in terms]
        node, partials = added_in_pairs(g, level)
        made = Addition(d, Total(node, Exponent(g.const(0, 1), 0, 0), 0, partials=partials), terms).value()
        signed = d.prove(
            value - sign_of(made.sign) * Poly.of(made.magnitude), [],
            [*((1, [x.signed]) for x in some), (-1, [made.equation])],
        )  # fmt: skip
        summed = d.prove(value - exact, [], [(1, [x.summed]) for x in some])
        within = d.prove(taken - Poly.of(made.magnitude), [], self._within(made, some))
        small = self.small(made.magnitude, taken, within)
        return WholeValue(value, made.sign, made.magnitude, exact, taken, signed, summed, within, small)

    def _under(self, x: WholeValue, top: int) -> int:
        """top - magnitude >= 0."""
        return x.small if top == 1 << self.most else self.d.range(x.magnitude)

    def _within(self, made: SignedSum, some: Sequence[WholeValue]) -> list[Part]:
        """Σ taken - |Σ ±magnitudes|."""
        s, one = Poly.of(made.sign), self.d.range(made.sign)
        parts: list[Part] = [(sign_of(made.sign) * -1, [made.equation])]
        for x in some:
            # |n| - (1 - 2s)(1 - 2t)·n = 2·n·(s·(1 - t) + t·(1 - s))
            n, t = Poly.of(x.magnitude) * 2, Poly.of(x.sign)
            parts += self.z.rest(x.sign, n * s)
            parts += [(n * t, [one])] if t.terms else []
            parts.append((1, [x.within]))
        return parts

    # ------------------------------------------------------------------ signs
    def size(self, summand: SummedTerm, x: WholeValue) -> int:
        """significand · 2^(exponent - fraction bits) - magnitude = 0, of a number that is an integer."""
        t = summand.term
        size = Poly.of(t.significand) * power(t.exponent, -t.fraction_bits)
        same = self.d.prove(
            sign_of(t.sign) * size - sign_of(x.sign) * Poly.of(x.magnitude), [],
            [(-1, [summand.equation]), (1, [x.signed])],
        )  # fmt: skip
        return self.unsigned(size, t.sign, x, same)

    def unsigned(self, size: Poly, sign: Node, x: WholeValue, same: int) -> int:
        """size - magnitude = 0 from ±size - ±magnitude = 0; a size is at least 0 by itself."""
        d, g, n = self.d, self.g, x.magnitude
        goal, own = size - Poly.of(n), sign_of(sign)
        if sign is x.sign:
            return d.prove(goal, [], [(own, [same])])
        alike = g.eq(sign, x.sign)
        yes, no = d.assume(alike), d.assume(g.not_(alike))
        later, other = sorted((sign, x.sign), key=lambda node: -node.index)
        first = self.z.rewritten(goal, [(d.fact(yes), later)], [(sign_of(other), [same])])
        # Signs that differ: both are 0.
        turned = d.equal("signs that differ", later, g.not_(other), [no], ([later, other],))
        opposite = [(turned, later), (d.read(g.not_(other)), g.not_(other))]
        both = self.z.rewritten(size + Poly.of(n), opposite, [(own, [same])])
        zero = self.zero(n, lambda least: d.arith([(-1, [both]), (1, [least]), (size, [])]))
        second = self.z.rewritten(
            goal, [(zero, n)], [(1, [self.z.rewritten(size, [(zero, n)], [(1, [both])])])]
        )
        return d.cases(alike, first, second)

    def zero(self, n: Node, wrong: Callable[[int], int]) -> int:
        """n = 0, where n - 1 >= 0 is false of a number, as `wrong` shows."""
        d, some = self.d, self.g.any_bit(n)
        if n.op == "const":
            return d.arith([])
        gone = d.refute(wrong(self.at_least_one(n)), some)
        return d.equal("that a number is 0", n, self.g.const(0, n.width), [gone], ([n],))

    def at_least_one(self, n: Node) -> int:
        """n - 1 >= 0 where some bit is set."""
        d, g = self.d, self.g
        least = g.ule(g.const(1, n.width), n)
        return d.fact(d.lemma("that some bit is set", least, [d.assume(g.any_bit(n))], ([n],)))

    # ------------------------------------------------------------------ places
    def distance(self, what: str, e: Exponent, top: int, given: Sequence[int]) -> tuple[Node, Equation]:
        """top - exponent as a node, and what it is; `given` say that it is not below 0."""
        d, g = self.d, self.g
        wide, last = g.zero_extend_to(e.bits, _WIDTH), g.const(top - e.low, _WIDTH)
        k = g.sub_mod(last, wide)
        fits = d.lemma(f"that {what} is in reach", g.ule(wide, last), given, ([e.bits],))
        goal = Poly.of(k) + Poly.of(e.bits) - Poly.constant(top - e.low)
        return k, (self.z.rewritten(goal, [(d.read(k, fits), k), (d.read(wide), wide)]), k)

    def reaches(self, e: Exponent, top: int) -> Node:
        """Whether an exponent is at most `top`."""
        g = self.g
        return g.ule(g.zero_extend_to(e.bits, _WIDTH), g.const(top - e.low, _WIDTH))

    def beyond(self, e: Exponent, top: int) -> tuple[Node, int]:
        """Whether an exponent is above `top`, and that exponent - top - 1 >= 0 then."""
        d, g = self.d, self.g
        wide, last = g.zero_extend_to(e.bits, _WIDTH), g.const(top - e.low, _WIDTH)
        far = g.not_(g.ule(wide, last))
        above = g.ult(last, wide)
        fact = d.fact(d.lemma("an exponent out of reach", above, [d.assume(far)], ([wide],)))
        goal = Poly.of(e.bits) - Poly.constant(top - e.low + 1)
        return far, self.z.rewritten(goal, [], [(1, [fact]), (-1, [d.read(wide)])])

    def between(
        self, some: Node, n: Node, k: Node, x: Node, same: int, least: int, most: int, by: Poly
    ) -> int:
        """⊢ ¬some: n·2^k is no number between x and x + 1.

        Theorems: same: n·2^k - x - rest = 0, least: rest·by - 1 >= 0, and most: by - 1 - rest·by >= 0.
        """
        d, g = self.d, self.g
        q = g.lshr(x, k)
        width = max(q.width, n.width)
        one, two = g.zero_extend_to(q, width), g.zero_extend_to(n, width)
        reads = [(d.read(y), y) for y, own in ((one, q), (two, n)) if y is not own]
        up, less = Poly.of(k).power_of_two(), g.ult(one, two)
        # q < n: n·2^k >= q·2^k + 2^k >= x + 1.
        false = self.z.rewritten(
            Poly.constant(-1), reads,
            [
                (by * up, [d.fact(d.assume(less))]), (by, [d.read(q, 1)]), (by * -1, [same]), (1, [most]),
            ],
        )  # fmt: skip
        absent = d.refute(false, less)
        more = d.lemma("that no integer is larger", g.ule(two, one), [absent], ([one, two],))
        # n <= q: n·2^k <= q·2^k <= x.
        false = self.z.rewritten(
            Poly.constant(-1), reads,
            [(by * up, [d.fact(more)]), (by, [d.read(q, 0)]), (by, [same]), (1, [least])],
        )  # fmt: skip
        return d.refute(false, some)


def sum_of_magnitudes(
    d: Derivation, magnitudes: Sequence[Node], total: Node, most: int, limit: int
) -> tuple[Poly, int]:
    """Σ magnitudes, added up in `total` in this order, and that it is at most 2^most, as `limit` says."""
    g, (first, *others) = d.g, magnitudes
    top, node = (2 << most) - 1, g.zero_extend_to(first, total.width)
    value, equation = Poly.of(first), d.read(node)
    small = d.lemma("the sum of some magnitudes", g.ule(node, g.const(top, node.width)), (), ([first],))
    for k, x in enumerate(others, 2):
        wide = g.zero_extend_to(x, total.width)
        before, node = node, g.add_mod(node, wide)
        cut = ([before, x],)
        fits = d.lemma("that magnitudes add up", g.ule(node.args[0], node), [small], cut)
        value = value + Poly.of(x)
        parts: list[Part] = [(1, [d.read(node, fits)]), (1, [equation]), (1, [d.read(wide)])]
        equation = d.prove(Poly.of(node) - value, [], parts)
        last = g.const(top * k, total.width)
        small = d.lemma("the sum of some magnitudes", g.ule(node, last), [small], cut)
    goal = Poly.constant(1 << most) - value
    return value, d.prove(goal, [], [(1, [d.fact(limit)]), (1, [equation])])
