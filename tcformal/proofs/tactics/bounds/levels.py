"""The larger of two exponents, and how far each of them lies below it."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import Poly
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.tactics.bounds.derivation import Derivation
from tcformal.proofs.tactics.bounds.terms import code_of
from tcformal.semantics.align import largest_exponent, shift_to
from tcformal.semantics.number import Exponent


@dataclass(frozen=True, slots=True)
class Level:
    """An exponent, its code, the theorems about its range, and that it is at most E."""

    exponent: Exponent
    code: Node
    ranges: tuple[int, ...]
    reached: int


class Larger:
    """The larger of two exponents, and how far each of them lies below it.

    `levels` are both; `e` is the limit of both as a node.
    """

    def __init__(self, d: Derivation, levels: tuple[Level, Level], e: Node) -> None:
        g = d.g
        self.d, self.g, self.levels = d, g, levels
        self.exponent = largest_exponent(g, [x.exponent for x in levels])
        self.code = code_of(g, self.exponent)
        cut = [x.exponent.bits for x in levels]
        given = [i for x in levels for i in x.ranges]
        span = self.exponent.high - self.exponent.low
        bits = self.exponent.bits
        ranges: tuple[int, ...] = ()
        if not span >> bits.width:
            goal = g.ule(bits, g.const(span, bits.width))
            ranges = (d.lemma("the range of the larger exponent", goal, given, (cut, [])),)
        below = [x.reached for x in levels]
        goal = g.ule(g.zero_extend_to(self.code, e.width), e)
        reached = d.lemma("the larger exponent at most E", goal, [*given, *below], ([*cut, e], []))
        self.level = Level(self.exponent, self.code, ranges, reached)
        self.shifts = [shift_to(g, x.exponent, self.exponent) for x in levels]
        #: That code + shift - the larger's code = 0.
        self.distances = [self._distance(x, s) for x, s in zip(levels, self.shifts, strict=True)]

    def _distance(self, x: Level, shift: Node) -> int:
        d, g = self.d, self.g
        wide = g.zero_extend_to(shift, CODE_BITS)
        reach = g.add_mod(x.code, wide)
        cuts: tuple[list[Node], ...] = ([y.exponent.bits for y in self.levels], [])
        given = [i for y in self.levels for i in y.ranges]
        met = d.equal("the larger exponent less another", reach, self.code, given, cuts)
        fits = d.lemma("that a distance fits", g.ule(reach.args[0], reach), given, cuts)
        reads = [(d.read(reach, fits), reach), (d.read(wide), wide)]
        goal = Poly.of(x.code) + Poly.of(shift) - Poly.of(self.code)
        return d.prove(goal, [(met, self.code), *reads])

    def some_exact(self) -> int:
        """2^-shift + 2^-shift - 1 >= 0: one of the two is not shifted."""
        d, g, (one, two) = self.d, self.g, self.shifts
        shares = [(Poly.of(s) * -1).power_of_two() for s in (one, two)]
        goal = shares[0] + shares[1] - Poly.constant(1)
        first, second = g.is_zero(one), g.is_zero(two)
        absent = d.assume(g.not_(first))
        given = [i for x in self.levels for i in x.ranges]
        cuts: tuple[list[Node], ...] = ([x.exponent.bits for x in self.levels], [])
        last = d.lemma("that some distance is 0", second, [absent, *given], cuts)
        yes = d.prove(goal, [(d.fact(d.assume(first)), one)], [(shares[1], [])])
        return d.cases(first, yes, d.prove(goal, [(d.fact(last), two)], [(shares[0], [])]))
