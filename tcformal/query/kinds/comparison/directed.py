"""Directed inputs for error comparisons: large products that cancel, so that the exact value is tiny."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tcformal.oracle.values import encode_exact
from tcformal.programs.error import HALF, SINGLE
from tcformal.query.kinds.comparison.parameters import ComparedPrograms, ComparisonParameters
from tcformal.query.kinds.comparison.question import ErrorComparison
from tcformal.query.kinds.comparison.replay import replay
from tcformal.simulation.operands.witness import Witness

#: Binades below the largest product in which a third product is tried: more than any unit keeps.
_DEPTH = 44


def worst_directed(q: ErrorComparison) -> dict[str, int] | None:
    """The cancelling inputs with the largest excess error that violate the claim; None where none do."""
    runs = [(w, replay(q, w.inputs())) for w in cancelling(q.parameters)]
    found = [(run.excess_ulps or Fraction(0), w) for w, run in runs if run.violates]
    return max(found, key=lambda x: x[0])[1].inputs() if found else None


def cancelling(what: ComparedPrograms) -> Iterator[Witness]:
    """Two large products that cancel, a third far below them, the least product, and c minus the third.

    The error is what the alignment to the two large products cuts off the others; the exact value is the
    least product.
    Shapes: only for halves (form `table5`) with three products or more; else empty.
    """
    if not isinstance(what, ComparisonParameters) or what.form != "table5" or what.products < 3:
        return
    low, high = max(what.exponents[0], HALF.e_min), min(what.exponents[1], HALF.e_max)
    top = encode_exact(HALF, Fraction(2) ** high)
    # Subnormals count as having the least exponent of normal halves.
    least = 1 if low == HALF.e_min else encode_exact(HALF, Fraction(2) ** low)
    sign = 1 << (HALF.width - 1)
    for depth in range(1, _DEPTH):
        e = 2 * high - depth
        one = min(high, e - e // 2)
        other = e - one
        if other < low:
            return
        for factor in (Fraction(1), Fraction(3, 2), 2 - Fraction(1, 1 << HALF.fraction_bits)):
            a, b = encode_exact(HALF, factor * Fraction(2) ** one), encode_exact(HALF, Fraction(2) ** other)
            c = encode_exact(SINGLE, -factor * Fraction(2) ** e)
            rest = [least] if what.products > 3 else []
            unused = [0] * (what.products - 3 - len(rest))
            yield Witness((top, top ^ sign, a, *rest, *unused), (top, top, b, *rest, *unused), c)
