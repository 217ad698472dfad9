"""Sums that round down: truncated sums of products, and c, at the largest exponent (`RoundDown.v`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.stages import DotStep, Floored
from tcformal.theory.refinement.ending import Ending, ToRound
from tcformal.theory.refinement.fused import Front, span_of
from tcformal.theory.refinement.products import rounding
from tcformal.theory.refinement.values import exponent_of, is_finite, make_claim
from tcformal.theory.terms import Claim, Expr, choice, equal, is_one, lower, magnitude, num, sg, u, within


@dataclass(frozen=True, slots=True)
class Part:
    """A sum of counts (`RoundDown.v`, part)."""

    node: Node
    bound: int
    level: Exponent

    @property
    def top(self) -> Expr:
        """Its exponent."""
        return level_term(self.level)

    @property
    def known(self) -> list[Expr]:
        """What is known of its exponent."""
        return level_known(self.level)


def level_term(e: Exponent) -> Expr:
    """`RoundDown.v`, level_term."""
    return u(e.bits) + e.low


def level_span(e: Exponent) -> int:
    """The largest code of an exponent."""
    return e.high - e.low


def level_known(e: Exponent) -> list[Expr]:
    """`RoundDown.v`, level_known."""
    return [u(e.bits) <= level_span(e)]


def _larger_claims(
    given: Sequence[Expr], a: Expr, b: Expr, e: Exponent, cut: Sequence[Node]
) -> Iterator[Claim]:
    goals = [equal(level_term(e), choice(a < b, b, a)), *level_known(e)]
    return (make_claim(given, x, cut) for x in goals)


def _floor_claims(x: Part, up: int, e: Exponent, y: Floored) -> Iterator[Claim]:
    z, scaled, k = lower(u(y.shift), x.node.width + up), sg(x.node) * (1 << up), sg(y.kept)
    given = [x.top <= level_term(e), *x.known, *level_known(e)]
    yield make_claim(given, equal(u(y.shift), level_term(e) - x.top), [x.level.bits, e.bits])
    goal = (k << z <= scaled) & (scaled < k + 1 << z)
    yield make_claim([], goal, [x.node, y.shift])


def _signed(sign: Node, size: Expr) -> Expr:
    return choice(is_one(sign), 0 - size, size)


class Down:
    """A block: the products' sums, c, both rounded down, and the two roundings of their sum.

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, d: Design, steps: Sequence[DotStep], into: Sequence[Sequence[Node]], entering: Sequence[Node]
    ) -> None:
        *firsts, last = steps
        if last.floor is None or last.total is None or last.rounded is None or last.specials is None:
            raise InputError(f"expected a sum that is rounded down before its rounding, but got {last.scope}")
        *products, self.c = last.floor.specials.operands
        self.d, self.total, self.entering = d, last.total, entering
        self.two, (self.joined,) = len(firsts) == 2, last.total.of
        places = [slice(i, None, len(firsts)) for i in range(len(firsts))]
        self.fronts = [
            Front(x, products[y], str(d.alignment_rounding), d.zero_exponent, into[y])
            for x, y in zip(self.joined.of or (self.joined,), places, strict=True)
        ]
        self.parts = [Part(x.total.bits, x.bound, x.total.e_max) for x in self.fronts]
        self.part = Part(self.joined.bits, sum(x.bound for x in self.parts), self.joined.e_max)
        self.products_floored, self.c_floored = self.total.floored
        self.more = self.total.fraction_bits - self.joined.fraction_bits
        inner = replace(d, result_subnormals="kept", zero_sign="sum")
        self.floor = Ending(last.floor.rounded, last.floor.specials.result, inner, self._to_round())
        signed = rounding(self.floor.outcome, last.rounded, last.specials.result, d)
        # A zero that it is given has no sign.
        self.last = replace(signed, ending=replace(signed.ending, zero_sign="ieee"))

    @property
    def ending(self) -> Ending:
        """How it is rounded last."""
        return self.last.ending

    @property
    def c_largest(self) -> int:
        """The largest magnitude that is kept of c."""
        x, up = self.c.term, self.joined.fraction_bits - self.c.term.fraction_bits
        full = (1 << x.significand.width) - 1
        return (full << up if up >= 0 else full >> -up) + 1

    @property
    def _size(self) -> Expr:
        return sg(self.total.bits)

    def _to_round(self) -> ToRound:
        """`RoundDown.v`, floor_sum."""
        n, e = self._size, self.total.e_max
        bound = (self.part.bound + self.c_largest) << self.more
        return ToRound(
            operands=[*self._products(), self.c],
            size=magnitude(n),
            no_size=equal(n, 0),
            down=n < 0,
            unit=u(e.bits) + (e.low - self.total.fraction_bits),
            bound=bound,
            known=(within(bound, n), *level_known(e)),
            sign=n < 0,
            nodes=(self.total.bits, e.bits),
        )

    def _products(self) -> list[Number]:
        """The products in order."""
        found: list[Number] = []
        for i in range(len(self.fronts[0].numbers)):
            found += [x.numbers[i] for x in self.fronts if i < len(x.numbers)]
        return found

    # ------------------------------------------------------------------ claims
    def claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, down_claims."""
        yield from self.fronts[0].front_claims()
        if self.two:
            yield from self._side_claims()
        x, e, c = self.part, self.total.e_max, self.c.term
        given = [*x.known, self._c_known]
        yield from _larger_claims(given, x.top, exponent_of(self.c), e, [x.level.bits, c.exponent.bits])
        yield from _floor_claims(x, self.more, e, self.products_floored)
        yield from self._c_claims()
        k, unit = self.products_floored.kept, num(1 << self.more)
        ranges = [within(x.bound << self.more, sg(k)), self._c_within]
        goal = equal(self._size, sg(k) + self._kept_c * unit)
        yield make_claim(ranges, goal, [k, self.c_floored.kept, c.sign])
        q, rho = self.floor.of, self.floor.rounded.target
        below = u(self.floor.rounded.height) + 1 <= rho.e_max - rho.e_min
        yield make_claim([~q.no_size, *q.known], below, q.nodes)
        yield from self.floor.kept_claims()
        cut = [*(y for z in q.operands for y in (z.nan, z.inf, z.term.sign)), self.total.bits]
        cut += self.floor.nodes()
        yield from self.floor.outcome_claims(cut, cut)
        yield from self.last.claims()

    def _side_claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, side_claims."""
        (a, b), (y, z), e = self.parts, self.joined.floored, self.joined.e_max
        yield from self.fronts[1].front_claims()
        yield from _larger_claims([*a.known, *b.known], a.top, b.top, e, [a.level.bits, b.level.bits])
        yield from _floor_claims(a, 0, e, y)
        yield from _floor_claims(b, 0, e, z)
        given = [within(a.bound, sg(y.kept)), within(b.bound, sg(z.kept))]
        yield make_claim(given, equal(sg(self.joined.bits), sg(y.kept) + sg(z.kept)), [y.kept, z.kept])

    @property
    def _c_known(self) -> Expr:
        return u(self.c.term.exponent.bits) <= span_of(self.c)

    @property
    def _c_within(self) -> Expr:
        return u(self.c_floored.kept) <= self.c_largest

    @property
    def _kept_c(self) -> Expr:
        return _signed(self.c.term.sign, u(self.c_floored.kept))

    def _c_claims(self) -> Iterator[Claim]:
        """`RoundDown.v`, c_claims."""
        x, y, e, f = self.c.term, self.c_floored, self.total.e_max, self.joined.fraction_bits
        up, below = max(0, f - x.fraction_bits), max(0, x.fraction_bits - f)
        z, b = lower(u(y.shift), x.significand.width + up), self._kept_c
        size = _signed(x.sign, u(x.significand)) * (1 << up)
        here, next_one = ((t << z) * (1 << below) for t in (b, b + 1))
        far, cut = f + 1 < u(y.shift), [x.sign, x.significand, y.shift]
        yield make_claim([is_finite(self.c)], self._c_known, self.entering)
        given = [exponent_of(self.c) <= level_term(e), self._c_known, *level_known(e)]
        goal = equal(u(y.shift), level_term(e) - exponent_of(self.c))
        yield make_claim(given, goal, [x.exponent.bits, e.bits])
        near = [~far] if self.two else []
        yield make_claim(near, (here <= size) & (size < next_one), cut)
        yield make_claim([], self._c_within, cut)
        if self.two:
            yield make_claim([far], equal(u(y.kept), 0), cut)

    def cut(self) -> list[Node]:
        """The nodes that the number that is handed on, and its word, are made of."""
        return self.last.cut()
