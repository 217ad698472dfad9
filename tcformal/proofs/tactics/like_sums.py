"""Two sums of the same numbers that are made in other ways: what is tried to show that both round alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tcformal.ir.node import Node
from tcformal.proofs.tactics.floors import rebuilt
from tcformal.proofs.tactics.rescaled import Guesses, Rescaled
from tcformal.proofs.tactics.sum_steps import SumSteps
from tcformal.semantics.align import all_of
from tcformal.semantics.stages import DotStep

#: Exponents of both sides that are further apart are no matter of normalisation.
_APART = 40


def rounded_alike(s: SumSteps, one: DotStep, two: DotStep) -> Node | None:
    """The fact that what two steps round is one number, or that a term is NaN or Inf; None without a proof.

    Soundness: every tactic joins only what it proves, with a lemma for each step.
    """
    g, c = s.graph, s.c
    if one.specials is None or two.specials is None or one.rounded is None or two.rounded is None:
        return None
    rows = [[x.some_nan, x.positive_inf, x.negative_inf] for x in (one.specials, two.specials)]
    flags = c.all_replaced(rows[0])
    if flags != c.all_replaced(rows[1]):
        return None
    s = replace(s, unless=g.or_(*flags))
    both = rebuilt(c, rebuilt(c, (one, two)))
    parts = [x.rounded.parts for x in both if x.rounded is not None]
    if [x.width for x in parts[0]] != [x.width for x in parts[1]]:
        return None
    for steps in (both, both[::-1]):
        for guesses in _scales(*steps):
            if Rescaled(s, steps, guesses, []).equal():
                pairs = zip(*(parts if steps is both else parts[::-1]), strict=True)
                return s.said(all_of(g, [g.eq(x, y) for x, y in pairs]))
    return None


def _scales(one: DotStep, two: DotStep) -> Iterator[Guesses]:
    """What to try where one side's terms have smaller exponents, as normalised numbers have."""
    if one.total is None or two.total is None or len(one.total.terms) != len(two.total.terms):
        return
    pairs = [(x.term, y.term) for x, y in zip(one.total.terms, two.total.terms, strict=True)]
    lowest = min(y.exponent.low - y.fraction_bits for _, y in pairs)
    moved = [(x.exponent, y.exponent) for x, y in pairs if x.exponent.bits is not y.exponent.bits]
    apart = max((y.low - x.low for x, y in moved), default=0)
    if 0 < apart <= _APART:
        yield Guesses(apart, max(y.low for _, y in moved) + 1, lowest)
