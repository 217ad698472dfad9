"""Two sums of the same aligned terms in other widths: one extends the exact sum, and so does the other."""

from __future__ import annotations

from dataclasses import replace

from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import ExactSum, Summands
from tcformal.semantics.stages import Total


def without_nothing(c: Composition, where: str, total: Total) -> Total:
    """A sum without its terms that are the constant zero, each of which is proved to add nothing."""
    g, left = c.graph, []
    for x in total.terms:
        significand, zero = x.term.significand, g.const(0, x.aligned.width)
        none = significand.op == "const" and not significand.params[1]
        cut = [n for n in (x.term.sign, x.shift) if n.op != "const"]
        if not (none and c.by_lemma(where, zero, x.aligned, cut=cut, name="a constant zero, aligned")):
            left.append(x)
    if len(left) == len(total.terms):
        return total
    partials = []
    for p in total.partials:
        node, *of = c.all_replaced([p.node, *p.of])
        other = next((x for x in of if x.op != "const"), None)
        nothing = any(x.op == "const" and not x.params[1] for x in of)
        name = "a sum with a constant zero"
        if not (nothing and other is not None and c.by_lemma(where, other, node, cut=[other], name=name)):
            partials.append(replace(p, node=c.replaced(node), of=tuple(of)))
    bits = c.replaced(total.bits)
    return replace(total, terms=tuple(left), partials=tuple(partials), bits=bits)


def same_totals(c: Composition, one: Total, two: Total) -> bool:
    """Make two sums of terms that are one by one equal the same number; False where that is not proved.

    Soundness: that of claim carry-bits, whose exact sum both are proved to extend.
    """
    if c.equal(one.bits, c.replaced(two.bits)):
        return True
    if len(one.terms) != len(two.terms) or not one.partials or not two.partials:
        return False
    for x, y in zip(one.terms, two.terms, strict=True):
        first, second = (c.all_replaced([t.term.sign, t.aligned]) for t in (x, y))
        if not all(c.equal(p, q) for p, q in zip(first, second, strict=True)):
            return False
    nodes = [tuple(x.node for x in total.partials) for total in (one, two)]
    exact = ExactSum(c, Summands(one))
    widest = max(nodes, key=lambda x: x[-1].width)
    return (
        exact.prove(widest)
        and exact.extends(nodes[0], one.bits, first=True)
        and exact.extends(nodes[1], two.bits)
        and c.equal(one.bits, c.replaced(two.bits))
    )
