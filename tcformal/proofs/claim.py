"""What programs that prove claims have in common: what they are given, how parts make a verdict."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tcformal.callbacks import Patience, Progress
from tcformal.design.unit import UnitSpec
from tcformal.errors import SolverDisagreementError
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.counterexample import counterexample as counterexample
from tcformal.proofs.lemmas import Lemma, LemmaBook
from tcformal.proofs.tactics.cut_points import CutPoint, cut_points
from tcformal.proofs.tactics.cuts import DEPTHS, Composition, ProofStep, step_of
from tcformal.proofs.tactics.rearrange import rearranged
from tcformal.proofs.verdict import ClaimPart as ClaimPart
from tcformal.proofs.verdict import ClaimVerdict as ClaimVerdict
from tcformal.proofs.verdict import Counterexample as Counterexample
from tcformal.proofs.verdict import PartStatus as PartStatus
from tcformal.query.assume import Assumptions
from tcformal.query.question import Kind
from tcformal.query.replay import results_of as results_of
from tcformal.semantics.stages import Dot
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits, Status
from tcformal.version import commit, host


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a claim's own program hands back: its parts, and how they make the whole."""

    parts: tuple[ClaimPart, ...]
    #: One sentence: why the parts, all as claimed, make the claim.
    composition: str
    #: One sentence when all parts are as claimed.
    reason: str
    #: One sentence when some part is refuted.
    violated: str = ""


def claim_verdict(
    claim: str, unit: UnitSpec, found: Finding, applied: Sequence[Lemma], limits: Limits, start: float
) -> ClaimVerdict:
    """The verdict that the parts of a claim add up to.

    `applied` are the lemmas tried for this claim.  A refuted part refutes the claim, an open one leaves it
    open, and a control that was not refuted leaves it open too.
    """
    used = {sha for p in found.parts for s in p.steps for sha in s.lemmas}
    open_parts = [p for p in found.parts if not p.as_claimed]
    refuted = [p for p in found.parts if not p.control and p.status is PartStatus.VIOLATED]
    failed = {x.sha256: x for x in applied if not x.holds}
    lemmas = {x.sha256: x for x in applied if x.sha256 in used}
    if any(x.disagreement for x in failed.values()):
        kind = Kind.ERROR
        reason = next(x.reason for x in failed.values() if x.disagreement)
    elif refuted:
        kind, reason = Kind.VIOLATED, found.violated
    elif open_parts:
        stuck = [x for x in failed.values() if x.status is Status.TIMEOUT]
        kind = Kind.TIMEOUT if stuck and len(stuck) == len(failed) else Kind.UNKNOWN
        note = f": {open_parts[0].note}" if open_parts[0].note else ""
        reason = f"{open_parts[0].name} is {open_parts[0].status.value}{note}"
    elif not found.parts:
        kind, reason = Kind.UNKNOWN, "the claim has no parts"
    else:
        kind, reason = Kind.HOLDS, found.reason
    shown = lemmas if kind is Kind.HOLDS else lemmas | failed
    # What the parts make together is said only where they were all decided.
    composition = found.composition if kind in (Kind.HOLDS, Kind.VIOLATED) else ""
    return ClaimVerdict(
        claim=claim, unit=unit, kind=kind, reason=reason, composition=composition,
        parts=found.parts, lemmas=tuple(shown.values()), limits=limits, seconds=time.monotonic() - start,
        commit=commit(), machine=host(),
    )  # fmt: skip


def pairs_of_cuts(
    first: Dot, second: Dot, wanted: Collection[str]
) -> Iterator[tuple[str, CutPoint, CutPoint]]:
    """The stages of two circuits of one shape in the order of definition: a name, and both cut points."""
    count: Counter[str] = Counter()
    for x, y in zip(cut_points(first), cut_points(second), strict=True):
        # Without the scope of the side; partial sums are counted within their sum.
        name = f"{x.scope.partition('.')[2]}.{x.what}"
        numbered = f"{name}{count[name]}" if x.what == "partial" else name
        count[name] += 1
        if x.what in wanted:
            yield numbered, x, y


def equate(
    c: Composition, name: str, x: Node, y: Node, *, depths: Sequence[int | None] = DEPTHS
) -> ProofStep:
    """Make one pair of cut points equal: by definition, by rearranging, or by a lemma of its own.

    y is built again on what was made equal before.
    """
    since = len(c.uses)
    rebuilt = c.replaced(y)
    same = c.equal(x, rebuilt)
    proved = same or rearranged(c, name, c.replaced(x), rebuilt)
    if not proved and x.width == y.width:
        what = f"{name.rpartition('.')[2]} of both sides"
        proved = c.by_lemma(name, x, rebuilt, name=what, depths=depths)
    return step_of(c, name, since, proved, same)


@dataclass(frozen=True, slots=True)
class Asking:
    """What every claim is given: the unit, the lemmas known so far, the limits, someone to tell."""

    spec: UnitSpec
    book: LemmaBook
    limits: Limits
    members: Sequence[str] | None
    progress: Progress
    #: The kept proof that is to be checked, in place of finding one.
    tree: str = ""
    #: The claim's whole name, with what follows it.
    claim: str = ""
    assumed: Assumptions = field(default_factory=Assumptions)
    #: After which a claim that tries one proof after another asks for no further lemma.
    patience: Patience = field(default_factory=Patience)


def searched(
    ask: Asking, graph: Graph, assertion: Node, most_s: float | None = None
) -> tuple[dict[str, int], str] | None:
    """Inputs that make an assertion equal 1 on integers, and the solver that found them; None for none.

    `most_s` bounds each solver's seconds further: for a question that a wider one follows.
    Errors: SolverDisagreementError for answers that cannot both be right.
    """
    run = Concrete(graph, [assertion])
    limits = ask.limits if most_s is None else replace(ask.limits, time_s=min(ask.limits.time_s, most_s))
    decision = decide(
        graph, assertion, members=ask.members, limits=limits, confirm=False,
        replay=lambda model: run(model) == [1],
    )  # fmt: skip
    if decision.disagreement:
        raise SolverDisagreementError(f"expected one answer for {ask.spec.name}, but {decision.reason}")
    who = (a.solver for a in decision.answers if a.status is Status.SAT)
    return None if decision.model is None else (decision.model, next(who))
