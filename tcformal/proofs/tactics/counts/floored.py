"""A sum of CDNA3: that of the products and c are cut at the larger exponent, added, floored and rounded."""

from __future__ import annotations

from collections.abc import Mapping

from tcformal.errors import ProofError
from tcformal.proofs.tactics.counts.counted import Counted, CountedTerms
from tcformal.proofs.tactics.counts.shifted import Unrounded, in_steps, scaled
from tcformal.semantics.align import distance_below
from tcformal.semantics.number import Exponent
from tcformal.semantics.stages import DotStep, Operand


def floored(
    w: CountedTerms, step: DotStep, products: Unrounded, sums: Mapping[Operand, Counted], overflow: str
) -> Counted:
    """Make a block's result that of the exact sum of its terms, rounded once.

    Soundness: with c as a count of the same units, (1) the sum with c is the sum of both counts times a power
    of two; (2) its floor is that of the count, and (3) so is what is rounded from the floor.
    Errors: ProofError where that is not proved.
    """
    total, floor, g = step.total, step.floor, w.c.graph
    if total is None or floor is None or step.rounded is None or len(step.operands) != 2:
        raise ProofError(f"expected the sum of products and c with its floor at {step.scope}")
    beside = step.operands[1]
    if beside.kind == "c":
        term, count, known = w.gaps.terms[-1].number.term, w.counts[-1], w.known[-1]
        cut = [term.significand, term.sign, term.zero, term.exponent.bits]
    else:
        count = sums[beside].count
        cut, known = [count.node, *w.signs], [count.fact]
    last = products.last
    node, code = w.rebuilt([total.bits, total.e_max.bits]).values()
    e_max = Exponent(code, total.e_max.low, total.e_max.high)
    up = distance_below(g, e_max, w.low.shifted(total.fraction_bits))
    added = w.add(last.count, count)
    width = in_steps(max(node.width, w.width + total.fraction_bits))
    sum_ = scaled(w, node, (1 << (node.width - 1)) - 1, added, up, total.fraction_bits, width)
    cut += [last.node, last.count.node, products.e_max.bits, w.code]
    given = [products.few(w), *last.facts, last.count.fact, *products.known, *known, *w.limit]
    pairs = [(sum_.shifted, sum_.long), *((g.truth(True), fact) for fact in sum_.facts)]
    w.all_equal(pairs, "a sum with c is its count, scaled", cut, given)
    high = g.const(total.e_max.high - total.e_max.low, code.width)
    ends = w.fact(g.ule(code, high), "an exponent is below its end", cut, given)
    x = Unrounded(sum_, e_max, total.fraction_bits, up, [ends, *w.limit])
    exact, known = x.taken_over(w, floor.rounded, overflow)
    w.take_sign(floor.rounded, exact, [node, added.node, up], known)
    last_one = w.rounding(added.node, w.low, step.rounded.target, overflow)
    for take in (w.take_over, w.take_sign):
        take(step.rounded, last_one, [added.node, w.code], [added.fact, *w.limit])
    return Counted(added, last_one)
