"""The statement of claim `monotonicity`: no larger c gives a smaller result."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import AT_LEAST, Poly
from tcformal.proofs.statements.encodings import Encoded, below, encoded


@dataclass(frozen=True, slots=True)
class MonotoneSum:
    """The statement as data: the conclusion holds wherever all hypotheses are 1.

    Shapes: `results` are the words that the unit makes of c and of c', with the same products, and d their
    fields; ordered u[1] is 1 where c <= c'.
    """

    unit: UnitSpec
    graph: Graph
    results: tuple[Node, Node]
    c: tuple[Encoded, Encoded]
    d: tuple[Encoded, Encoded]
    ordered: Node
    hypotheses: tuple[Node, ...]

    @property
    def conclusions(self) -> tuple[tuple[str, Poly], ...]:
        """d' - d is at least 0."""
        return ((AT_LEAST, self.d[1].value - self.d[0].value),)

    @property
    def roots(self) -> tuple[Node, ...]:
        """Every node that the statement names."""
        found = [x for d in self.d for x in (d.sign, d.significand, d.exponent)]
        return (*found, *self.hypotheses, *self.results)

    def __str__(self) -> str:
        o = self.unit.operands
        words = ", ".join(f"{x}_0…{x}_{self.unit.k - 1} ({o.names()[x]})" for x in "ab")
        return (
            f"for all encodings {words}, c and c' ({o.c}), with d and d' ({o.d}) what the unit makes of the "
            f"products and c, and of them and c', where c, c', d and d' are finite: c <= c' implies d <= d'; "
            "zeros of both signs are equal"
        )


def monotone_sum(g: Graph, unit: UnitSpec, c: tuple[Node, Node], d: tuple[Node, Node]) -> MonotoneSum:
    """The statement about two nodes of a graph, which the unit makes of two words c.

    Ranges and units: c and d have a sign.
    """
    o = unit.operands
    first, second = (encoded(g, x, o.c) for x in c)
    made = encoded(g, d[0], o.d), encoded(g, d[1], o.d)
    ordered = g.not_(below(g, *((x.sign, x.exponent, x.significand) for x in (second, first))))
    hypotheses = (first.finite, second.finite, made[0].finite, made[1].finite, ordered)
    return MonotoneSum(unit, g, d, (first, second), made, ordered, hypotheses)
