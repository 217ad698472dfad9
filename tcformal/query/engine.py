"""The engine: vectors, assumptions, portfolio, replay and shrinking make the verdict on any question."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tcformal.query.kinds.register import kind_of
from tcformal.query.question import Kind, Q, Question
from tcformal.query.verdict import Verdict, reason_of, unanswered
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status
from tcformal.version import VERSION, commit, host

#: What each solver may use unless the caller says otherwise.
DEFAULT_LIMITS = Limits()

#: Told what is being done, in a few words.
Progress = Callable[[str], None]

#: The name under which the search by seeded vectors answers beside the solvers.
VECTORS_NAME = "vectors"


def answer(
    q: Q,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    certify: bool | None = None,
    jobs: int | None = None,
    shrink_s: float = 4.0,
    progress: Progress = lambda _: None,
) -> Verdict[Q]:
    """Decide a question: seeded vectors, then the assumptions, then the solvers; replay and shrink.

    `certify` and `jobs` are those of `solve.portfolio.decide`; vectors are tried only where no solvers are
    named.
    `shrink_s`: seconds for shrinking a witness.
    Errors: those of `decide` for solvers that cannot be asked.  No answer is a verdict, not an error:
    UNKNOWN, TIMEOUT, or ERROR with the evidence.
    """
    start = time.monotonic()
    how = kind_of(q)

    def verdict(kind: Kind, reason: str, d: Decision, **more: Any) -> Verdict[Q]:
        return Verdict(
            kind=kind, reason=reason, question=q, limits=limits, version=VERSION,
            commit=commit(), machine=host(), seconds=time.monotonic() - start, answers=d.answers,
            confirmed_by=d.confirmed_by, certificate=d.certificate, **more,
        )  # fmt: skip

    def settled(kind: Kind, d: Decision, **more: Any) -> Verdict[Q]:
        return verdict(kind, reason_of(kind, q, d.answers, d.certificate), d, **more)

    common: dict[str, Any] = {
        "members": how.members(solvers), "limits": limits, "certify": certify, "jobs": jobs,
    }  # fmt: skip

    allowed: dict[str, int] | None = None

    def impossible() -> Verdict[Q] | None:
        """The verdict where no input satisfies the assumptions, or nobody knows; None where one does."""
        nonlocal allowed
        if not how.assumptions(q):
            return None
        progress("are the assumptions satisfiable?")
        possible = decide(q.graph, q.assumed, replay=lambda m: bool(how.replay(q, m).assumed), **common)
        if possible.status is Status.SAT and possible.model is not None:
            allowed = dict(possible.model)
            return None
        if possible.status is Status.UNSAT:
            return settled(Kind.VACUOUS, possible)
        return verdict(unanswered(possible), f"whether the assumptions can hold: {possible.reason}", possible)

    d = None
    if solvers is None:
        progress("trying vectors")
        d = _tried(q, limits.seed)
    if d is None:
        if how.assumptions_first and (none := impossible()) is not None:
            return none
        progress("asking the solvers")
        d = decide(q.graph, q.asked, replay=lambda m: bool(how.replay(q, m).confirms), **common)
    if d.status is Status.SAT and d.model is not None:
        progress("shrinking the witness")
        small = how.shrink(q, d.model, shrink_s)
        again = how.replay(q, small)
        if not again.confirms:
            return verdict(Kind.ERROR, "the shrunk witness does not replay on integers and oracle", d)
        return settled(how.found, d, inputs=small, found_inputs=d.model, replayed=again)
    if d.status is Status.UNSAT:
        if not how.assumptions_first and (none := impossible()) is not None:
            return none
        return settled(how.none, d, allowed=allowed)
    return verdict(unanswered(d), d.reason, d)


def _tried(q: Question, seed: int) -> Decision | None:
    """The decision of seeded vectors; None where none of them shows what is asked about.

    A vector that does also shows that the assumptions can hold.
    """
    start = time.monotonic()
    found = kind_of(q).search(q, seed)
    if found is None:
        return None
    said = SolverAnswer(
        solver=VECTORS_NAME, version=VERSION, status=Status.SAT, model=dict(found),
        seconds=time.monotonic() - start,
    )  # fmt: skip
    if _confirms(q, found):
        reason = f"{VECTORS_NAME} answered sat with a model that replays"
        return Decision(status=Status.SAT, model=said.model, answers=(said,), reason=reason)
    reason = f"disagreement: {VECTORS_NAME} answered sat, but its model does not replay"
    return Decision(status=Status.CRASH, answers=(said,), reason=reason, disagreement=True)


def _confirms(q: Question, inputs: Mapping[str, int]) -> bool:
    return bool(kind_of(q).replay(q, inputs).confirms)
