"""Two designs with the same sums: written in another order, of the same products, or with no overflows."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.batch import columns, inputs_to_try
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, PartStatus, equate
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cut_points import cut_points
from tcformal.proofs.tactics.cuts import Composition, ProofStep, bits_of, step_of
from tcformal.query.pair import SIDES
from tcformal.semantics.number import Number
from tcformal.semantics.stages import Dot

#: Inputs on which the stages of two designs are compared before proofs are tried.
_TRIED = 200

PartShown = tuple[ClaimPart, list[Lemma]]


def overflow_unread(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown:
    """What an overflow becomes, where no rounding that looks at it can overflow.

    Soundness: sum by sum, either both sides overflow alike by definition, or neither ever does, so that what
    each makes of an overflow is never read; the results in the end are one definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    for x, y in zip(one.steps, two.steps, strict=True):
        if x.rounded is None or y.rounded is None:
            continue
        since, over = len(c.uses), [c.replaced(z.result.inf) for z in (x.rounded, y.rounded)]
        same = c.equal(*over)
        name = "a rounding never overflows"
        proved = same or all(c.by_lemma(x.scope, g.truth(False), z, name=name, depths=(None,)) for z in over)
        steps.append(step_of(c, f"{x.scope.partition('.')[2]}.overflow", since, proved, same))
        if not proved:
            break
    return _made_equal(c, steps, one, two)


def _made_equal(c: Composition, steps: list[ProofStep], one: Dot, two: Dot) -> PartShown:
    """The part whose results are one definition by what was made equal, or not proved equal."""
    holds = c.equal(*(c.replaced(dot.result) for dot in (one, two)))
    made = (*steps, step_of(c, "d", len(c.uses), holds, holds))
    part = ClaimPart(
        name="", status=PartStatus.HOLDS if holds else PartStatus.OPEN, steps=made,
        note="" if holds else "d was not proved equal",
    )  # fmt: skip
    return part, [u.lemma for u in c.uses]


def products_alike(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown | None:
    """Products that two roundings make the same numbers of, subnormal ones included; None without roundings.

    Soundness: each rounded product is proved equal, part by part, for all factors; what follows is one
    definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    rounded = [[x for x in dot.steps if x.total is None and x.specials is not None] for dot in (one, two)]
    if len(rounded[0]) != len(rounded[1]):
        return None
    for x, y in zip(*rounded, strict=True):
        since = len(c.uses)
        rows = [_parts(step.specials.result) for step in (x, y) if step.specials is not None]
        pairs = list(zip(rows[0], c.all_replaced(rows[1]), strict=True))
        proved = c.by_lemmas(x.scope, pairs, name="a product rounded in two ways", depths=(None,))
        steps.append(step_of(c, f"{x.scope.partition('.')[2]}.product", since, proved, False))
        if not proved:
            break
        for of_x, of_y in zip(*rows, strict=True):
            bits_of(c, x.scope, of_x, of_y, two.result)
    return _made_equal(c, steps, one, two)


def _parts(x: Number) -> list[Node]:
    """The nodes of a number."""
    return [x.term.sign, x.term.significand, x.term.exponent.bits, x.term.zero, x.nan, x.inf]


def written_otherwise(ask: Asking, first: UnitSpec, second: UnitSpec) -> PartShown:
    """The terms of each sum, and the sums, in another order: stages that have one value on some inputs.

    Soundness: inputs only say which stages to compare; what is equal is proved stage by stage, and the
    results in the end are one definition by that.
    """
    g, (one, two) = side_by_side(first, second)
    c = Composition(g, ask.book)
    nodes = [[x for x in cut_points(dot) if x.what in ("e_max", "sum")] for dot in (one, two)]
    lanes = Vector(g, columns(inputs_to_try(first, first.k, _TRIED, 1)))
    values = [[x.tobytes() for x in lanes.run([point.node for point in row])] for row in nodes]
    known: dict[tuple[str, int, bytes], Node] = {}
    for point, value in zip(nodes[0], values[0], strict=True):
        known.setdefault((point.what, point.node.width, value), point.node)
    steps = []
    for point, value in zip(nodes[1], values[1], strict=True):
        like = known.get((point.what, point.node.width, value))
        if like is not None and not c.equal(like, c.replaced(point.node)):
            steps.append(equate(c, f"{point.scope.partition('.')[2]}.{point.what}", like, point.node))
            bits_of(c, steps[-1].name, like, point.node, two.result)
    return _made_equal(c, steps, one, two)


def side_by_side(first: UnitSpec, second: UnitSpec) -> tuple[Graph, tuple[Dot, Dot]]:
    """Both designs on the same inputs in one graph."""
    g = Graph()
    x = declare_inputs(g, first, first.k)
    dots = []
    for side, unit in zip(SIDES, (first, second), strict=True):
        with g.scope(side):
            dots.append(chained_dot(g, unit, x))
    return g, (dots[0], dots[1])
