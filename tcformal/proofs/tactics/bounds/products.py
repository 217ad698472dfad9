"""The truncated sums of products that c is added to, each at most at a limit P of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.proofs.statements.encodings import CODE_BITS
from tcformal.proofs.statements.error_bound import BlockBound
from tcformal.proofs.statements.product_loss import few_bits_loss
from tcformal.proofs.statements.round_down_bound import RoundDownBound
from tcformal.proofs.tactics.bounds.aligned import Alignment, TermError
from tcformal.proofs.tactics.bounds.blocks import BlockError, BoundProof
from tcformal.proofs.tactics.bounds.derivation import Derivation, Part
from tcformal.proofs.tactics.bounds.floored import Floored, FlooredSums
from tcformal.proofs.tactics.bounds.levels import Larger, Level
from tcformal.proofs.tactics.bounds.terms import KnownTerm, weight
from tcformal.proofs.tactics.relative.products import SharpAlignment
from tcformal.semantics.stages import DotStep, Total


class FewBits(SharpAlignment):
    """The terms of one truncated sum; products, of subnormal factors as well, lose `most` units."""

    def __init__(
        self, d: Derivation, total: Total, summands: Sequence[KnownTerm], e: Node, floor: int, most: Fraction
    ) -> None:  # fmt: skip
        Alignment.__init__(self, d, total, summands, e, floor)
        self._most = most
        self._normal = {x.code: () for x in summands}

    def term(self, k: int) -> TermError:
        """Both bounds of one aligned term."""
        return Alignment.term(self, k)

    def loss(self, _k: int) -> Fraction:
        """How much of a unit a product may lose."""
        return self._most


@dataclass(frozen=True, slots=True)
class ProductSum:
    """The truncated sum of all products of a block, or of every other one."""

    alignment: Alignment
    summands: list[KnownTerm]
    terms: list[TermError]
    total: Total
    #: The limit of the products' exponents.
    own: Node


class ProductSums(BoundProof):
    """What is proved of the products of a block, and of a result so far, with P in the place of E."""

    stated: RoundDownBound

    def _half(self, step: DotStep, own: Node) -> ProductSum:
        if step.total is None or step.rounded is not None:
            raise ProofError("a sum of products is rounded before c is added")
        summands = self._summands(step, None)
        floor = self.d.assume(self.stated.least_own[self.stated.own.index(own)])
        loss = few_bits_loss(self.stated.unit)
        alignment = FewBits(self.d, step.total, summands, self._wide(own), floor, loss)
        terms = [alignment.term(k) for k in range(len(summands))]
        return ProductSum(alignment, summands, terms, step.total, own)

    def _wide(self, own: Node) -> Node:
        """A limit of products' exponents, one bit wider."""
        return self.g.zero_extend_to(own, CODE_BITS + 1)

    def _limited(self, k: int) -> int:
        """What the statement says of P and the exponent of a product, or of E and c's, one bit wider."""
        d, g, t = self.d, self.g, self.stated.terms[k]
        if k == len(self.stated.terms) - 1:
            return super()._limited(k)
        length = min(self.stated.unit.k, self.stated.unit.design.products)
        wide = self._wide(self.stated.own[k % length % len(self.stated.own)])
        goal = g.or_(g.not_(t.nonzero), g.ule(g.zero_extend_to(t.code, CODE_BITS + 1), wide))
        given = [d.assume(self.stated.limits[k])]
        return d.lemma("an exponent at most P", goal, given, ([t.code, t.nonzero], [t.code]))

    def _at_most_e(self, x: KnownTerm, own: Node) -> KnownTerm:
        """A product whose exponent is at most P, which is at most E."""
        d, g, (wide, _) = self.d, self.g, self._limit(0)
        goal = g.or_(g.not_(x.nonzero), g.ule(g.zero_extend_to(x.code, CODE_BITS + 1), wide))
        given = [x.limit, d.assume(self.stated.below[self.stated.own.index(own)])]
        return replace(x, limit=d.lemma("P at most E", goal, given, ([x.code, x.nonzero],)))

    def _products(self, h: ProductSum) -> list[Part]:
        """What truncation loses: a unit for each product but one."""
        a = h.alignment
        if not all(t.exact_at_zero for t in h.terms):
            raise ProofError("a product has more fraction bits than are kept")
        loss = few_bits_loss(self.stated.unit)
        return [((len(h.terms) - 1) * loss, [a.bounded()]), (a.unit * loss, [a.some_exact()])]

    def _level(self, h: ProductSum) -> Level:
        a = h.alignment
        return Level(h.total.e_max, a.e_max, tuple(a.in_range()), a.reached())

    def _joined(
        self, sums: FlooredSums, halves: list[ProductSum], moved: list[Floored]
    ) -> tuple[Node, Larger]:
        """Both halves at the larger exponent."""
        g, bits = self.g, halves[0].total.fraction_bits
        limit, _ = self._limit(0)
        one, two = (self._raised(self._level(h), 0) for h in halves)
        larger = Larger(self.d, (one, two), limit)
        floored = []
        for i, h in enumerate(halves):
            node, less = sums.floored(h.total.bits, larger, i, bits)
            floored.append(node)
            moved.append(less)
        width = max(x.width for x in floored) + 1
        wide = [g.wrap_to_mod(x, width) for x in floored]
        total = g.add_mod(*wide)
        sums.partial(total, wide)
        return total, larger

    def _take(self, x: KnownTerm, value: int) -> None:
        """One more term of the exact sum."""
        self.exact = self.exact + x.value
        if self.chained:
            self.sizes.append(self._size(x, value))

    def _raised(self, x: Level, reach: int) -> Level:
        """An exponent that is at most P or E is at most E + reach."""
        d, g = self.d, self.g
        far, _ = self._limit(reach)
        goal = g.ule(g.zero_extend_to(x.code, far.width), far)
        given = [x.reached, *(d.assume(y) for y in self.stated.below)]
        return replace(x, reached=d.lemma("E at most a higher limit", goal, given, ([x.code],)))

    def _contradiction(
        self, bound: BlockBound, made: BlockError, above: int, equations: Sequence[tuple[int, Node]]
    ) -> int:
        """As of other sums, with E in the place of every P."""
        d, stated = self.d, self.stated
        bits, count = int(stated.unit.design.fraction_bits or 0), stated.blocks.index(bound) + 1
        gaps = []
        for own, below in zip(stated.own, stated.below, strict=True):
            unit = weight(own, bits)
            wider = d.power(d.fact(d.assume(below)))
            gaps.append(d.prove(self._power(-bits) - unit, [], [(unit, [wider])]))
        shares = [x * count for x in stated.shares]
        bounds = list(made.bounds)
        for i in gaps:
            bounds = [most + d.about(i) * share for most, share in zip(bounds, shares, strict=True)]
        shown = [
            d.arith([(1, [i]), *((share, [gap]) for gap in gaps)])
            for i, share in zip((made.above, made.below), shares, strict=True)
        ]
        wide = replace(made, bounds=(bounds[0], bounds[1]), above=shown[0], below=shown[1])
        return super()._contradiction(bound, wide, above, equations)
