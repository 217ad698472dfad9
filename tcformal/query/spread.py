"""The exponent spread of a dot product: the distance between its terms' exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import OperandNodes
from tcformal.semantics.align import all_of, distance_below, largest
from tcformal.semantics.number import Exponent, Number
from tcformal.semantics.product import Scales, product, scaled_products
from tcformal.semantics.stages import Maximum
from tcformal.semantics.unpack import unpack


@dataclass(frozen=True, slots=True)
class Gap:
    """One term of a dot product with its distance below the largest exponent.

    Shapes: live u[1], gap u[w].
    Zero, NaN, Inf: `live` is 1 where the term is none of these; elsewhere `gap` means nothing.
    """

    number: Number
    live: Node
    gap: Node


@dataclass(frozen=True, slots=True)
class Gaps:
    """All terms of a dot product with their gaps, products first, then c.

    `top` is their largest exponent, `maximum` how it is found; it takes the terms in order.
    """

    terms: tuple[Gap, ...]
    top: Exponent
    maximum: Maximum

    def within(self, g: Graph, spread: int) -> Node:
        """The node that is 1 where every term lies at most `spread` below the largest exponent."""
        return all_of(g, [self.near(g, x, spread) for x in self.terms])

    def near(self, g: Graph, x: Gap, spread: int) -> Node:
        """The node that is 1 where one term lies at most `spread` below the largest exponent, or is zero, NaN
        or Inf."""
        if spread >> x.gap.width:
            return g.truth(True)
        return g.or_(g.not_(x.live), g.ule(x.gap, g.const(spread, x.gap.width)))


def gaps_of(g: Graph, spec: UnitSpec, x: OperandNodes) -> Gaps:
    """The gaps of a dot product's terms: exact products with block scales, and c.

    Ranges and units: the exponent of a product is the sum of its factors' exponents (and its scales'),
    whatever its significand; subnormals have e_min.
    Zero, NaN, Inf: such terms take no part; without live terms `top` has its least value.
    """
    o = spec.operands
    factors = zip(x.a, x.b, strict=True)
    numbers = [product(g, unpack(g, a, o.a), unpack(g, b, o.b)) for a, b in factors]
    if spec.scale_format is not None and spec.scale_block is not None:
        scales = Scales(fmt=spec.scale_format, block=spec.scale_block, a=x.scale_a, b=x.scale_b)
        numbers = scaled_products(g, numbers, scales, 0)
    return gaps(g, [*numbers, unpack(g, x.c, o.c)])


def gaps(g: Graph, numbers: Sequence[Number]) -> Gaps:
    """The gaps of numbers below their largest exponent, as in `gaps_of`."""
    lives = [g.not_(g.or_(x.term.zero, x.nan, x.inf)) for x in numbers]
    rows = list(zip(numbers, lives, strict=True))
    # A constant zero, such as c, does not widen the range of exponents.
    shown = [x.term.exponent for x, live in rows if live is not g.truth(False)]
    low = min((e.low for e in shown), default=0)
    parts, none = [], Exponent(g.const(0, 1), low, low)
    for x, live in rows:
        e = x.term.exponent
        if live is g.truth(False):
            parts.append(none)
        else:
            code = e.rebased(g, low, e.high)
            parts.append(Exponent(g.ite(live, code, g.const(0, code.width)), low, e.high))
    top, maximum = largest(g, parts)
    terms = []
    for x, live in rows:
        own = none if live is g.truth(False) else x.term.exponent
        terms.append(Gap(x, live, distance_below(g, own, top)))
    return Gaps(tuple(terms), top, maximum)
