"""Separate two units, or prove them equal: the same question, asked of the portfolio."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.models import Unit
from tcformal.query.assumptions import Assumptions, assumptions
from tcformal.query.replay import replay
from tcformal.query.search import search
from tcformal.query.shrink import shrink
from tcformal.query.spec import Question, Witness, question, spec_of
from tcformal.query.verdict import Kind, Verdict, unanswered
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status
from tcformal.version import VERSION

#: What each solver may use unless the caller says otherwise.
DEFAULT_LIMITS = Limits(time_s=60.0, memory_mb=8192, seed=0)

#: Told what is being done, in a few words.
Progress = Callable[[str], None]

#: The name under which the search by seeded vectors answers beside the solvers.
VECTORS_NAME = "vectors"


def separate(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    certify: bool | None = None,
    progress: Progress = lambda _: None,
    **assumed: Any,
) -> Verdict:
    """Find the smallest inputs on which two units differ, or prove that there are none.

    Shapes: units of equal operand formats and scales; K is the least common multiple of their k.
    Assumptions: finite=True, normal=True, positive=True, nonzero=True, exponents=(lo, hi),
    scale_exponents=(lo, hi), c="0".
    `certify`: True asks for a checked proof of an EQUIVALENT or VACUOUS, False for a second solver;
    None takes what comes first.
    Errors: InputError for unequal formats or bad assumptions; UnknownNameError for unknown units or
    solvers; MissingSolverError for a solver that is not installed.  No answer is a verdict, not an
    error: UNKNOWN, TIMEOUT, or ERROR with the evidence.
    """
    one, other = spec_of(first), spec_of(second)
    what = assumptions(one.operands.c, assumed)
    return answer(
        question(one, other, what), solvers=solvers, limits=limits, certify=certify, progress=progress
    )


def prove_equal(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    certify: bool | None = None,
    progress: Progress = lambda _: None,
    **assumed: Any,
) -> Verdict:
    """Prove that two units agree on every input, or give a witness on which they do not.

    The same question as `separate`, with the same arguments and errors; EQUIVALENT is the verdict
    hoped for, with a checked proof or confirmed by a second solver.
    """
    return separate(
        first, second, solvers=solvers, limits=limits, certify=certify, progress=progress, **assumed
    )


def answer(
    q: Question,
    *,
    solvers: Sequence[str] | None,
    limits: Limits,
    certify: bool | None = None,
    jobs: int | None = None,
    progress: Progress = lambda _: None,
) -> Verdict:
    """Decide a question: assumptions first, then the difference, then replay and shrink.

    `certify` and `jobs` are those of `solve.portfolio.decide`.
    """
    start = time.monotonic()

    def verdict(kind: Kind, reason: str, decision: Decision | None = None, **more: Any) -> Verdict:
        return Verdict(
            kind=kind, reason=reason, question=q, limits=limits, version=VERSION,
            seconds=time.monotonic() - start,
            answers=decision.answers if decision else (),
            confirmed_by=decision.confirmed_by if decision else (),
            certificate=decision.certificate if decision else None,
            **more,
        )  # fmt: skip

    decision = None
    if solvers is None:
        progress("trying vectors")
        decision = _tried(q, limits.seed)
    if decision is None and q.assumptions:
        progress("are the assumptions satisfiable?")
        possible = decide(
            q.graph, q.assumed, members=solvers, limits=limits, replay=lambda m: _assumed(q, m),
            certify=certify, jobs=jobs,
        )  # fmt: skip
        if possible.status is Status.UNSAT:
            return verdict(Kind.VACUOUS, _vacuous(q.assumptions), possible)
        if possible.status is not Status.SAT:
            kind = unanswered(possible)
            return verdict(kind, f"whether the assumptions can hold: {possible.reason}", possible)

    if decision is None:
        progress("looking for inputs on which the two units differ")
        decision = decide(
            q.graph, q.differ, members=solvers, limits=limits, replay=lambda m: _separates(q, m),
            certify=certify, jobs=jobs,
        )  # fmt: skip
    if decision.status is Status.SAT and decision.model is not None:
        found = Witness.of(decision.model, q.k)
        progress("shrinking the witness")
        small = shrink(q, found)
        again = replay(q, small)
        if not again.separates:
            return verdict(Kind.ERROR, "the shrunk witness does not replay on integers and oracle", decision)
        reason = f"{_finder(decision)} found inputs; replayed on integers and on exact fractions"
        return verdict(Kind.SEPARATED, reason, decision, witness=small, found=found, results=again.integers)
    if decision.status is Status.UNSAT:
        return verdict(Kind.EQUIVALENT, _equal(q, decision), decision)
    kind = unanswered(decision)
    return verdict(kind, decision.reason, decision)


def _assumed(q: Question, model: Mapping[str, int]) -> bool:
    return bool(replay(q, Witness.of(model, q.k)).assumed)


def _separates(q: Question, model: Mapping[str, int]) -> bool:
    return replay(q, Witness.of(model, q.k)).separates


def _tried(q: Question, seed: int) -> Decision | None:
    """What seeded vectors decide; None where none of them separates.

    A vector that separates also shows that the assumptions can hold.
    """
    start = time.monotonic()
    found = search(q, seed)
    if found is None:
        return None
    said = SolverAnswer(
        solver=VECTORS_NAME,
        version=VERSION,
        status=Status.SAT,
        model=found.inputs(),
        seconds=time.monotonic() - start,
    )
    if replay(q, found).separates:
        reason = f"{VECTORS_NAME} answered sat with a model that replays"
        return Decision(status=Status.SAT, model=said.model, answers=(said,), reason=reason)
    reason = f"disagreement: {VECTORS_NAME} answered sat, but its model does not replay"
    return Decision(status=Status.CRASH, answers=(said,), reason=reason, disagreement=True)


def _finder(decision: Decision) -> str:
    return next(a.solver for a in decision.answers if a.status is Status.SAT)


def _vacuous(what: Assumptions) -> str:
    return "no operands satisfy: " + "; ".join(what.texts())


def _equal(q: Question, decision: Decision) -> str:
    who = " and ".join(sorted(a.solver for a in decision.answers if a.status is Status.UNSAT))
    same = "both units build the same definition; " if q.same_definition else ""
    made = decision.certificate
    proof = "" if made is None else f"; the proof of {made.solver} was checked by {made.checker}"
    return f"{same}{who} found no inputs on which they differ{proof}"
