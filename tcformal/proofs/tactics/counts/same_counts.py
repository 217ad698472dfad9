"""Two calls of units within a spread: both results are one, because both sums are of the same counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tcformal.callbacks import Patience
from tcformal.design.unit import UnitSpec
from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.programs.chain import OperandNodes
from tcformal.proofs.tactics.counts.counted import CountedTerms, NoRoom
from tcformal.proofs.tactics.counts.in_turn import known_sums, lossless
from tcformal.proofs.tactics.cuts import Composition, ProofStep, step_of
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.query.assume import Assumptions, assume
from tcformal.query.spread import gaps_of
from tcformal.semantics.stages import Dot


@dataclass(frozen=True, slots=True)
class CountedCall:
    """A unit's dot product and, where its products are in another order, the place of each in the first."""

    name: str
    unit: UnitSpec
    dot: Dot
    order: tuple[int, ...] = ()


def same_counts(
    c: Composition,
    spec: UnitSpec,
    x: OperandNodes,
    calls: Sequence[CountedCall],
    what: Assumptions,
    progress: Callable[[str], None],
    patience: Patience,
    *,
    bounded: bool,
) -> tuple[list[ProofStep], str]:
    """Prove the results of two calls equal under assumptions with a spread; the steps, and what failed.

    No lemma is asked without `patience`.  `bounded`: whether terms have no exponents but those of their
    formats, or of the assumptions.
    Errors: NoRoom where that might be of use and is not said.
    """
    steps = list[ProofStep]()
    try:
        for call in calls:
            known_sums(call.dot)
        w = CountedTerms(
            c,
            gaps_of(c.graph, spec, x),
            what.spread or 0,
            supposed_of(c, spec, x, what),
            span_of(spec, what) if bounded else None,
            patience,
        )
        steps.append(step_of(c, "terms", 0, True, False))
        counts = []
        for call in calls:
            since, w.order = len(c.uses), call.order
            progress(f"sums of {call.name}")
            counts.append(lossless(w, call.dot, call.unit.design.overflow))
            steps.append(step_of(c, f"sums of {call.name}", since, True, False))
        since = len(c.uses)
        if not rearranged(c, "sum", counts[0].node, counts[1].node):
            raise ProofError("expected a proof that both sums are of the same terms, but found none")
        steps.append(step_of(c, "sum", since, True, False))
        since = len(c.uses)
        results = w.rebuilt([call.dot.result for call in calls]).values()
        mine, its = c.all_replaced(list(results), {counts[1].node: counts[0].node})
        if not c.equal(mine, its):
            w.equal(
                mine, its, "both results are one word", [counts[0].node, w.code], [counts[0].fact, *w.limit]
            )
        steps.append(step_of(c, "d", since, True, False))
    except NoRoom as error:
        if not bounded:
            raise
        return steps, str(error)
    except ProofError as error:
        return steps, str(error)
    return steps, ""


def supposed_of(c: Composition, spec: UnitSpec, x: OperandNodes, what: Assumptions) -> list[Node]:
    """What the assumptions say of each operand, supposed; ProofError for assumptions about several."""
    if "finite" not in what.flags or what.of_terms().keys() - {"spread"} or spec.scale_format is not None:
        raise ProofError("expected finite operands, and assumptions about single operands without scales")
    o = spec.operands
    of_one = Assumptions(what.flags, what.exponents)
    supposed = []
    for word, fmt in [*((a, o.a) for a in x.a), *((b, o.b) for b in x.b), (x.c, o.c)]:
        node = assume(c.graph, of_one, [(word, fmt)], x.c)
        if node.op != "const":
            c.suppose(node, True)
            supposed.append(node)
    return supposed


def span_of(spec: UnitSpec, what: Assumptions) -> tuple[int, int]:
    """The exponents that products and c can have, c only where it is not a constant."""
    o = spec.operands
    low, high = what.exponents or (-40000, 40000)
    lows = [max(low, fmt.e_min) for fmt in (o.a, o.b, o.c)]
    highs = [min(high, fmt.e_max) for fmt in (o.a, o.b, o.c)]
    if what.c is not None:
        return lows[0] + lows[1], highs[0] + highs[1]
    return min(lows[0] + lows[1], lows[2]), max(highs[0] + highs[1], highs[2])
