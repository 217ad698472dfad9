"""c added to the truncated sum of products before that is rounded (`After.v`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tcformal.design.spec import Design
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.number import Number
from tcformal.semantics.stages import DotStep
from tcformal.semantics.sums.step import as_term
from tcformal.theory.refinement.ending import Ending
from tcformal.theory.refinement.fused import Front, lead_claims, leads, operand_cut, operand_known
from tcformal.theory.refinement.values import exponent_of, is_finite, make_claim
from tcformal.theory.terms import Claim, Expr, constant, equal, iff, is_one, magnitude, u


class After:
    """A block: the products' sum, that as a number, c, both with their leading ones on top, and the end.

    `into`: the nodes at which each product is cut; `entering`: those at which c is.
    """

    def __init__(
        self, g: Graph, d: Design, steps: Sequence[DotStep], into: Sequence[Sequence[Node]],
        entering: Sequence[Node],
    ) -> None:  # fmt: skip
        first, last = steps
        if first.total is None or last.total is None or last.rounded is None or last.specials is None:
            raise InputError(f"expected a sum of products and one with c, but got {first.scope}")
        *products, c = last.specials.operands
        self.d, self.c, self.entering = d, c, entering
        self.first = Front(first.total, products, str(d.alignment_rounding), d.zero_exponent, into)
        self.made = Number(as_term(g, first.total), g.truth(False), g.truth(False))
        operands = [self.made, c]
        self.cuts: list[Sequence[Node]] = [self._first_nodes(), operand_cut(c, entering)]
        known = [operand_known(x) for x in operands]
        self.leads = Front(last.total, leads(last.total, operands), "RO", "none", self.cuts, known)
        mode = last.rounded.target.mode
        of = self.leads.to_round(mode)
        of = replace(of, operands=tuple(last.specials.operands), sign=self._sign(mode))
        self.ending = Ending(last.rounded, last.specials.result, d, of)

    def _first_nodes(self) -> list[Node]:
        return [self.first.total.bits, self.first.total.e_max.bits]

    def _sign(self, mode: str) -> Expr:
        """`After.v`, after_sign."""
        s, none = self.first.sign(mode), equal(self.leads.n, 0)
        zeros = equal(self.first.n, 0) & iff(s, is_one(self.c.term.sign))
        of_zero = zeros & s | ~zeros & constant(mode == "RD")
        return ~none & (self.leads.n < 0) | none & of_zero

    def claims(self) -> Iterator[Claim]:
        """`After.v`, after_claims."""
        yield from self.first.front_claims()
        y, known = self.made, list(self.first.to_round(self.ending.rounded.target.mode).known)
        cut, n = self._first_nodes(), self.first.n
        yield make_claim([], is_finite(y))
        yield make_claim(known, iff(is_one(y.term.sign), n < 0), cut)
        yield make_claim(known, equal(u(y.term.significand), magnitude(n)), cut)
        yield make_claim(known, equal(exponent_of(y), self.first.top), cut)
        yield from lead_claims(y, self.leads.numbers[0], known, cut, cut)
        yield from lead_claims(
            self.c, self.leads.numbers[1], [is_finite(self.c)], self.entering, self.cuts[1]
        )
        yield from self.leads.front_claims()
        yield from self.ending.kept_claims()
        # The sign of a zero is that of terms of which none is lost: both sums are made of them there.
        c = self.c.term
        signed = [*self._flags(), *self.first.terms_cut(), self.first.total.e_max.bits, c.significand]
        ieee = self.d.zero_sign == "ieee"
        yield from self.ending.outcome_claims(self.cut(), signed if ieee else self.cut())

    def _flags(self) -> list[Node]:
        return [y for x in self.ending.of.operands for y in (x.nan, x.inf, x.term.sign)]

    def cut(self) -> list[Node]:
        """The nodes that special cases, the number that is handed on, and its word are made of."""
        sums = [self.first.total.bits, self.leads.total.bits]
        return [*self._flags(), *self.first.terms_cut(), *sums, *self.ending.nodes()]
