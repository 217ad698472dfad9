"""Two sums of the same aligned terms in other widths: one extends the exact sum, and so does the other."""

from __future__ import annotations

from dataclasses import replace

from tcformal.ir.node import Node
from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.exact_sums import Bounded, ExactSum, Summands, within
from tcformal.semantics.reduce import signed_magnitude
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
    if not one.terms or len(one.terms) != len(two.terms) or not one.partials or not two.partials:
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


def not_least(c: Composition, where: str, total: Total) -> list[Node]:
    """The fact that a sum is not the least number of its width, whose magnitude is 0; none for no proof."""
    g, total = c.graph, without_nothing(c, where, total)
    if not total.partials:
        return []
    bits, last = c.all_replaced([total.bits, total.partials[-1].node])
    least = g.const(1 << (bits.width - 1), bits.width)
    fact = g.not_(g.eq(bits, least))
    true, name = g.truth(True), "a sum is not the least number of its width"
    if c.by_lemma(where, true, fact, cut=[last], name=name):
        return [fact]
    exact, width = ExactSum(c, Summands(total)), total.partials[-1].node.width
    known: dict[int, Bounded] = {}
    for x in total.terms:
        leaf = signed_magnitude(g, x.term.sign, x.aligned)
        found, wide = exact.bounded_leaf(x, leaf), g.wrap_to_mod(leaf, width)
        if found is None or found.most >> (width - 1):
            return []
        inside = within(g, wide, found.most)
        if not c.by_lemma(where, true, inside, given=[found.fact], cut=[leaf], name="an addend within it"):
            return []
        known[wide.index] = Bounded(wide, found.most, inside)
    for p in total.partials:
        parts = [known[x.index] for x in p.of if x.index in known]
        most = sum(x.most for x in parts)
        if len(parts) != 2 or most >> (width - 1):
            return []
        inside, given, cut = within(g, p.node, most), [x.fact for x in parts], [x.node for x in parts]
        if not c.by_lemma(where, true, inside, given=given, cut=cut, name=f"a partial sum is within ±{most}"):
            return []
        known[p.node.index] = Bounded(p.node, most, inside)
    # What was proved on the way may have put other nodes in the place of those that the bounds are of.
    top, plain = known[total.partials[-1].node.index], g.not_(g.eq(total.bits, least))
    proved = c.by_lemma(where, true, plain, given=[top.fact], cut=[top.node], name=name)
    return [fact] if proved and c.equal(c.replaced(plain), fact) else []
