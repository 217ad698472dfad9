"""Claim `zero-products`: products of +0 that fill a call up change nothing, Φ(A‖0, B‖0, C) = Φ(A, B, C)."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.callbacks import Patience
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import declare_inputs
from tcformal.proofs.claim import Asking, ClaimPart, Finding, PartStatus, equate
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.refuted import refuted_by_solvers, refuted_by_vectors
from tcformal.proofs.tactics.cut_points import CutPoint, cut_points
from tcformal.proofs.tactics.cuts import Composition, ProofStep
from tcformal.query.assume import Assumptions
from tcformal.query.kinds.property.properties import zero_products as case_of
from tcformal.query.kinds.property.question import property_question
from tcformal.semantics.stages import Dot

#: The processor's time for the stages, in times of one solver's: who has not got to the results then is told
#: so at once, because their difference as a whole is decided by nobody.
PATIENCE = 2

_FILLED = "Φ(A‖0, B‖0, C) = Φ(A, B, C)"


def zero_products(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """Both calls stage by stage: e_max, the sums, d; or a witness.

    Soundness: every step makes two nodes of one graph equal on every input (`Composition`), the last one
    the two results.
    """
    q = property_question("zero-products", ask.spec, Assumptions())
    witness = refuted_by_vectors(q, ask.limits.seed)
    if witness is None:
        g = Graph()
        filled, alone = case_of(g, ask.spec, declare_inputs(g, ask.spec, ask.spec.k)).calls
        c = Composition(g, ask.book)
        steps, note = _steps(ask, c, filled.dot, alone.dot)
        holds = c.equal(filled.dot.result, alone.dot.result)
        if not holds:
            ask.progress("asking solvers for inputs on which products of +0 change the result")
            witness = refuted_by_solvers(ask, q)
        status, lemmas = PartStatus.HOLDS if holds else PartStatus.OPEN, [u.lemma for u in c.uses]
    if witness is not None:
        part = ClaimPart(name=_FILLED, status=PartStatus.VIOLATED, witness=witness)
        return Finding(parts=(part,), composition="", reason="", violated=f"not always: {_FILLED}"), []
    part = ClaimPart(name=_FILLED, status=status, steps=tuple(steps), note=note)
    finding = Finding(
        parts=(part,), composition="e_max, sums and result of both calls are equal, one after the other",
        reason=f"{_FILLED}, bit for bit, with half the products +0·+0",
    )  # fmt: skip
    return finding, lemmas


def _steps(ask: Asking, c: Composition, filled: Dot, alone: Dot) -> tuple[list[ProofStep], str]:
    """The stages that both calls have, then the results; and what was not proved equal first."""
    steps, theirs = list[ProofStep](), dict(_stages(alone))
    patience = Patience(PATIENCE * ask.limits.time_s)
    pairs = [
        (name, *_of_one_width(c.graph, x.node, theirs[name].node))
        for name, x in _stages(filled)
        if name in theirs
    ]
    for name, mine, other in [*pairs, ("d", filled.result, alone.result)]:
        if patience.over:
            return steps, f"{_first_open(steps, name)} in {patience.seconds:g} seconds of the processor"
        ask.progress(name)
        steps.append(equate(c, name, other, mine))
    return steps, "" if steps[-1].proved else _first_open(steps, "d")


def _first_open(steps: Sequence[ProofStep], last: str) -> str:
    return f"{next((s.name for s in steps if not s.proved), last)} was not proved equal"


def _stages(dot: Dot) -> list[tuple[str, CutPoint]]:
    """e_max and the sum of every step, by name."""
    return [
        (f"{x.scope.partition('.')[2]}.{x.what}", x)
        for x in cut_points(dot)
        if x.what in ("e_max", "sum", "total")
    ]


def _of_one_width(g: Graph, x: Node, y: Node) -> tuple[Node, Node]:
    """Two's complement sums in the wider one's width."""
    width = max(x.width, y.width)
    return g.sign_extend_to(x, width), g.sign_extend_to(y, width)
