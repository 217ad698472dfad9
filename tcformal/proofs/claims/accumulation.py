"""Claim `sign-magnitude`: sums in sign and magnitude and in two's complement give the same results."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.proofs.claim import (
    Asking,
    ClaimPart,
    Finding,
    PartStatus,
    equate,
    pairs_of_cuts,
)
from tcformal.proofs.lemmas import Lemma
from tcformal.proofs.tactics.cut_points import CutPoint
from tcformal.proofs.tactics.cuts import Composition, ProofStep, bits_of, step_of
from tcformal.proofs.tactics.truncated import require_truncated_sum, require_unbounded_sum
from tcformal.semantics.stages import Dot

#: Sums that are truncated, and rounded down with c.
_TRUNCATED_TWICE = ("tr", "gtr")


def check_sign_magnitude(spec: UnitSpec) -> None:
    """Errors: InputError for a unit whose sum is another or bounded, or whose factors are cut."""
    if spec.design.summation not in _TRUNCATED_TWICE:
        require_truncated_sum(spec, "sign-magnitude")
    _check_sum(spec)


def _check_sum(spec: UnitSpec) -> None:
    """Errors: InputError for a bounded sum, one of another kind, and factors that are cut."""
    require_unbounded_sum(spec, "sign-magnitude")
    if spec.design.piece_bits is not None:
        raise InputError(
            f"expected whole products as terms for claim sign-magnitude, but {spec.name} cuts factors into "
            f"pieces of {spec.design.piece_bits} bits"
        )


def sign_magnitude(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """One lemma for each partial sum, composed along the tree of the sum.

    Soundness: let conv(s, m) be the two's complement number of sign s and magnitude m in the width W of
    the sum.  The leaves of both trees are the same nodes.  Where two partial sums of the first tree have
    been proved equal to conv(s, m) and conv(t, x) of the second, their sum equals conv(s, m) + conv(t, x)
    by congruence, and the lemma conv(step((s, m), (t, x))) == conv(s, m) + conv(t, x), for all s, m, t
    and x, makes it equal to the second tree's partial sum.  Magnitudes grow by a bit per step, so that
    the lemma needs no bound on them.  What follows the sum is one definition on equal nodes.
    """
    require_truncated_sum(ask.spec, "sign-magnitude")
    ask.progress("sign and magnitude against two's complement")
    part, lemmas = same_accumulation(ask)
    steps = part.steps
    count = sum(".partial" in s.name for s in steps)
    finding = Finding(
        parts=(part,),
        composition=(
            f"each of {count} partial sums in sign and magnitude is the partial sum in two's complement, "
            "by one step from those below it; what follows the sums is one definition"
        ),
        reason="sums in sign and magnitude and in two's complement give the same results",
    )
    return finding, lemmas


def same_accumulation(ask: Asking) -> tuple[ClaimPart, list[Lemma]]:
    """The unit, whose sums are unbounded and in two's complement, against itself in sign and magnitude.

    Errors: InputError for a unit whose sums are others.
    """
    spec, g = ask.spec, Graph()
    if spec.design.c_position == "after":
        _check_sum(spec)  # c is added to the sum as it is
    else:
        check_sign_magnitude(spec)
    other = replace(spec, design=replace(spec.design, accumulation="sign_magnitude"))
    x = declare_inputs(g, spec, spec.k)
    dots = []
    for side, unit in (("A", spec), ("B", other)):
        with g.scope(side):
            dots.append(chained_dot(g, unit, x))
    steps, c = prove_accumulation(ask, g, (dots[0], dots[1]))
    holds = c.equal(dots[0].result, dots[1].result)
    part = ClaimPart(
        name="sign and magnitude",
        status=PartStatus.HOLDS if holds else PartStatus.OPEN,
        steps=tuple(steps),
        note="" if holds else f"{next((s.name for s in steps if not s.proved), 'd')} was not proved equal",
    )
    return part, [u.lemma for u in c.uses]


def prove_accumulation(ask: Asking, g: Graph, dots: tuple[Dot, Dot]) -> tuple[list[ProofStep], Composition]:
    """Partial sums from the leaves to the root, block by block, then the results."""
    c = Composition(g, ask.book)
    steps: list[ProofStep] = []
    converted: dict[int, Node] = {}
    for name, x, y in pairs_of_cuts(*dots, ("e_max", "partial", "sum", "result")):
        if x.what == "partial":
            steps.append(_partial(c, name, x, y.node, converted))
        else:
            steps.append(equate(c, name, x.node, y.node))
        if not steps[-1].proved:
            return steps, c
        if x.what == "sum":
            since = len(c.uses)
            if bits_of(c, name, x.node, y.node, dots[1].result):
                steps.append(step_of(c, f"{name}.bits", since, True, False))
    steps.append(equate(c, "d", dots[0].result, dots[1].result))
    return steps, c


def _partial(c: Composition, name: str, cut: CutPoint, y: Node, converted: dict[int, Node]) -> ProofStep:
    """x = p + q in two's complement, y = conv(step(…)); `converted` maps p and q to their conv."""
    since = len(c.uses)
    g, x = c.graph, cut.node
    rebuilt = c.replaced(y)
    same = c.equal(x, rebuilt)
    converted[x.index] = rebuilt
    if same:
        return step_of(c, name, since, True, same)
    proved = False
    if cut.of:
        total = g.add_mod(*(converted.get(a.index, a) for a in cut.of))
        proved = c.by_congruence(x, total) and c.by_lemma(
            name, total, rebuilt, name=f"a step in sign and magnitude on {x.width} bits", depths=(0, 1)
        )
    return step_of(c, name, since, proved, same)
