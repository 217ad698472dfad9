"""Two sums of groups whose exact sums count from different lowest bits, as normalised factors make them."""

from __future__ import annotations

from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.semantics.stages import Dot, GroupSum


def groups_of(dot: Dot) -> list[GroupSum]:
    """Every group of a dot product, in order."""
    return [x for stage in dot.blocks for x in stage.groups]


def same_groups(c: Composition, x: GroupSum, y: GroupSum) -> bool:
    """Make the second group's sum the first one's, shifted; False where that is not proved.

    Soundness: each product in its group is one on both sides, shifted by the distance of both lowest bits,
    for all factors; so is their sum, whatever these products are.
    """
    up = y.scale - x.scale
    pairs = list(zip(x.terms, y.terms, strict=True))
    if up < 0 or len(x.placed) != len(y.placed):
        return False
    for p, q in zip(x.placed, y.placed, strict=True):
        name = "a product in its group, counted from another bit"
        if not c.by_lemma(x.scope, _moved(c, p, up, q.width), q, name=name, depths=(None,)):
            return False
    if not all(c.equal(p.sign, c.replaced(q.sign)) for p, q in pairs):
        return False
    total, wide = c.replaced(y.total), _moved(c, x.total, up, y.total.width, signed=True)
    cut = [*x.placed, *(p.sign for p, _ in pairs)]
    return c.by_lemma(x.scope, wide, total, cut=cut, name="a group's sum, counted from another bit")


def same_terms(c: Composition, one: Dot, two: Dot) -> bool:
    """Make the terms of every sum one by one the other side's; False where that is not proved."""
    for x, y in zip(one.steps, two.steps, strict=True):
        totals = x.total, y.total
        if totals[0] is None or totals[1] is None:
            return False
        if not c.equal(totals[0].e_max.bits, c.replaced(totals[1].e_max.bits)):
            return False
        for p, q in zip(totals[0].terms, totals[1].terms, strict=True):
            for first, second in ((p.term.sign, q.term.sign), (p.aligned, q.aligned)):
                name = "a group's term is aligned alike"
                if not c.by_lemma(x.scope, *c.all_replaced([first, second]), name=name):
                    return False
    return True


def _moved(c: Composition, x: Node, up: int, width: int, *, signed: bool = False) -> Node:
    """x with `up` zeros below it, in so many bits."""
    g = c.graph
    wide = max(x.width, width)
    extended = g.sign_extend_to(x, wide) if signed else g.zero_extend_to(x, wide)
    return g.extract(g.shift_left_const(extended, up), width - 1, 0)
