"""Two calls of units that differ in the words of NaN alone: no step makes one."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.errors import ProofError
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.programs.chain import OperandNodes
from tcformal.proofs.tactics.counts.same_counts import supposed_of
from tcformal.proofs.tactics.cuts import Composition
from tcformal.query.assume import Assumptions
from tcformal.semantics.stages import Dot


def without_nan(
    c: Composition, spec: UnitSpec, x: OperandNodes, dots: Sequence[Dot], what: Assumptions
) -> str:
    """Make two results one definition where no step of either makes a NaN; else why that is not proved.

    Soundness: step by step no result is NaN, which is put in the place of the flag that says so; both
    results are then one definition.
    """
    note, instead = (
        "no inputs found on which they differ, and no proof that there are none",
        dict[Node, Node](),
    )
    try:
        supposed = supposed_of(c, spec, x, what)
        for dot in dots:
            before: list[Node] = []
            for step in dot.steps:
                if step.specials is None:
                    raise ProofError(f"expected sums that are each rounded, but got another at {step.scope}")
                made = step.specials.result
                roots = [made.nan, *before]
                nan, *cut = c.all_replaced(roots, instead) if instead else roots
                no, inputs = c.graph.truth(False), {n for n in reachable([nan]) if n.op == "input"}
                given = [fact for fact in supposed if inputs & set(reachable([fact]))]
                if not c.by_lemma(step.scope, no, nan, name="no sum is NaN", given=given, cut=cut):
                    raise ProofError(f"expected a proof that no sum is NaN at {step.scope}, but found none")
                instead[made.nan], before = no, [made.inf, made.term.sign]
        c.all_replaced([dot.result for dot in dots], instead)
    except ProofError as error:
        note = str(error)
    return note
