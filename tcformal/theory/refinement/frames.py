"""Sums in c's frame: products of the other sign add their complements (`Frames.v`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.stages import DotStep
from tcformal.theory.refinement.ending import Ending, ToRound
from tcformal.theory.refinement.fused import Front
from tcformal.theory.refinement.nans import MaybeNan, Nans
from tcformal.theory.refinement.products import Rounding, rounding
from tcformal.theory.refinement.values import make_claim
from tcformal.theory.terms import (
    Claim,
    Expr,
    all_of,
    any_of,
    choice,
    differ,
    equal,
    is_one,
    magnitude,
    sg,
    u,
    within,
)


class Framed(Front):
    """A block: products and c at c's exponent and theirs, their sum, and one or two roundings.

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, d: Design, steps: Sequence[DotStep], into: Sequence[Sequence[Node]], entering: Sequence[Node]
    ) -> None:
        first, *narrowed = steps
        if first.total is None or first.rounded is None or first.specials is None:
            raise InputError(f"expected a sum that is rounded, but {first.scope} is none")
        *self.products, self.c = first.specials.operands
        if d.aligned_group is not None or d.accumulation != "ones_complement" or d.vanished_c == "dropped":
            raise InputError(f"expected products that add complements to c, but {first.scope} has others")
        lowered = replace(self.c, term=first.total.terms[-1].term)
        super().__init__(
            first.total, [*self.products, lowered], str(d.alignment_rounding), d.zero_exponent,
            [*into, entering],
        )  # fmt: skip
        self.d = d
        zero_sign = "positive" if narrowed else None
        of = self.framed_round()
        self.first = Ending(first.rounded, first.specials.result, d, of, zero_sign)
        self.narrowed: Rounding | None = None
        if narrowed:
            last = narrowed[0]
            assert last.rounded is not None
            assert last.specials is not None
            made = rounding(first.specials.result, last.rounded, last.specials.result, d)
            # A zero that it is given has no sign, and no other number is subnormal.
            of = replace(made.ending.of, nodes=self.first.of.nodes)
            self.narrowed = replace(made, ending=replace(made.ending, of=of, zero_sign="ieee"))

    @property
    def ending(self) -> Ending:
        """How it is rounded last."""
        return self.first if self.narrowed is None else self.narrowed.ending

    def framed_bound(self, node: Node) -> int:
        """The largest magnitude of a partial sum."""
        if node in self.sums:
            return sum(map(self.framed_bound, self.sums[node].of))
        return self.largest(self.places[node]) + 1

    def framed_round(self) -> ToRound:
        """`Frames.v`, framed_round."""
        bound, down = self.framed_bound(self.tree), self.n < 0
        of = self.to_round("RNE")
        known = (within(bound, self.n), of.known[1])
        operands = (*self.products, self.c)
        return replace(of, operands=operands, size=magnitude(self.n), bound=bound, known=known, sign=down)

    # ------------------------------------------------------------------ claims
    def claims(self) -> Iterator[Claim]:
        """`Frames.v`, framed_claims."""
        yield from self.aligned_claims()
        yield from self._sum_claims()
        yield from self.first.kept_claims()
        flags = [y for x in self.first.of.operands for y in (x.nan, x.inf, x.term.sign)]
        cut = [*flags, *self.first.of.nodes, *(self.first.nodes() if not self.first.tiny else ())]
        yield from self.first.outcome_claims(cut, cut)
        if self.narrowed is not None:
            yield from self.narrowed.claims()

    def _sum_claims(self) -> Iterator[Claim]:
        """`Frames.v`, framed_sum_claims."""
        s, sign = sg(self.tree), self.c.term.sign
        zeros = [x.term.zero for x in self.numbers]
        total = choice(all_of(map(is_one, zeros)), 0, choice(is_one(sign), 0 - s, s))
        cut = [self.tree, sign, *zeros]
        yield make_claim([self._within_framed(self.tree)], equal(self.n, total), cut)
        yield from self._framed_tree_claims(self.tree)

    def _within_framed(self, node: Node) -> Expr:
        return within(self.framed_bound(node), sg(node))

    def _framed_tree_claims(self, node: Node) -> Iterator[Claim]:
        if node not in self.sums:
            place = self.places[node]
            x, sign = self.total.terms[place], self.numbers[place].term.sign
            other, a = differ(is_one(sign), is_one(self.c.term.sign)), u(x.aligned)
            goal = equal(sg(node), choice(other, -1 - a, a))
            yield make_claim([], goal, [sign, self.c.term.sign, x.aligned])
            number = self.numbers[place].term
            yield make_claim([], a <= self.largest(place), [number.significand, x.shift])
            return
        left, right = self.sums[node].of
        given = [self._within_framed(left), self._within_framed(right)]
        yield make_claim(given, equal(sg(node), sg(left) + sg(right)), [left, right])
        yield from self._framed_tree_claims(left)
        yield from self._framed_tree_claims(right)

    def cut(self) -> list[Node]:
        """The nodes that the number that is handed on, and its word, are made of."""
        if self.narrowed is not None:
            return self.narrowed.cut()
        flags = [y for x in self.first.of.operands for y in (x.nan, x.inf, x.term.sign)]
        return [*flags, self.total.bits, *self.first.nodes()]


def then_c_term(
    word: int, default: int, nans: Sequence[Nans], products: Sequence[Number], c: MaybeNan
) -> Expr:
    """`Frames.v`, then_c_term."""
    factors = any_of(a.present | b.present for a, b in nans)
    signs = ((is_one(x.inf), is_one(x.term.sign)) for x in products)
    pairs = list(signs)
    infinite = any_of((x & ~y for x, y in pairs)) & any_of((x & y for x, y in pairs))
    invalid = any_of(is_one(x.nan) for x in products) | infinite
    last = choice(c.present, c.word, default)
    return choice(factors, word, choice(invalid, default, last))
