"""Two sums of which one has terms besides that alignment cuts off, whatever the others are."""

from __future__ import annotations

from tcformal.proofs.tactics.cuts import Composition
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.semantics.stages import Total


def without_cut_terms(c: Composition, where: str, one: Total, two: Total) -> bool:
    """Make two sums one number; False where a term that the second alone has may add something.

    Soundness: `Composition` joins nothing that is not proved.  (1) Such a term has no aligned bits at any
    distance, that of a largest exponent of its own among them.  (2) For all inputs the largest exponent is
    the one without such terms: other pieces of the same factors have theirs, or it lies below that of zeros.
    (3) The other terms are then aligned alike, and their sum is rearranged.
    """
    g = c.graph
    own = {x.term.significand.index for x in one.terms}
    for x in two.terms:
        if x.term.significand.index not in own:
            nothing, name = g.const(0, x.aligned.width), "a term that is cut off at any distance"
            if not c.by_lemma(where, nothing, x.aligned, cut=[x.shift], name=name):
                return False
    if one.e_max.low != two.e_max.low:
        return False
    codes, name = (one.e_max.bits, two.e_max.bits), "the largest exponent without such terms"
    if not c.by_lemma(where, *codes, name=name, depths=(None,)):
        return False
    first, second = c.all_replaced([one.bits, two.bits])
    return rearranged(c, where, first, second)
