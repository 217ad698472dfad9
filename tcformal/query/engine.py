"""The engine: it serves a kept answer, or decides by vectors, assumptions, solvers, replay and shrinking."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcformal.errors import RecordError
from tcformal.ir.node import Node
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind, Q, Question, Replayed
from tcformal.query.verdict import DECIDED, Verdict, reason_of, unanswered
from tcformal.solve.result import Decision, SolverAnswer, Status
from tcformal.version import VERSION, commit, host

if TYPE_CHECKING:
    from tcformal.theory.equality import EqualByTheorem

DEFAULT_OPTIONS = SolveOptions()

#: Name of the search by seeded vectors among the answers of the solvers.
VECTORS_NAME = "vectors"


def answer(
    q: Q, how: SolveOptions = DEFAULT_OPTIONS, *, shrink_s: float = 4.0, equal: EqualByTheorem | None = None
) -> Verdict[Q]:
    """Decide a question by a theorem, vectors or solvers, then replay and shrink the witness.

    Nothing is kept; vectors are tried only where no solvers are named.  `equal`: the
    theorems by which a question about two units has no inputs; that some inputs obey its assumptions is
    shown first.  `shrink_s`: seconds for shrinking a witness.
    Errors: those of `decide` for solvers that cannot be asked.  A question without an answer is no error:
    its verdict is UNKNOWN, TIMEOUT, or ERROR with the evidence.
    """
    start = time.monotonic()

    def verdict(kind: Kind, reason: str, d: Decision, **more: Any) -> Verdict[Q]:
        return Verdict(
            kind=kind, reason=reason, question=q, limits=how.limits, version=VERSION,
            commit=commit(), machine=host(), seconds=time.monotonic() - start, answers=d.answers,
            confirmed_by=d.confirmed_by, certificate=d.certificate, **more,
        )  # fmt: skip

    def decided(kind: Kind, d: Decision, **more: Any) -> Verdict[Q]:
        return verdict(kind, reason_of(kind, q, d.answers, d.certificate), d, **more)

    members = q.members(how.solvers)

    def ask(node: Node, shows: Callable[[Replayed], bool]) -> Decision:
        """The portfolio's decision whether some input makes a node 1, as its replay shows."""
        from tcformal.solve.portfolio import decide  # a theorem or a vector may have answered before

        return decide(
            q.graph, node, replay=lambda m: bool(shows(q.replay(m))), members=members,
            limits=how.limits, certify=how.certify, jobs=how.jobs,
        )  # fmt: skip

    allowed: dict[str, int] | None = None
    asked = False

    def impossible() -> Verdict[Q] | None:
        """The verdict for unsatisfiable or undecided assumptions; None where an input satisfies them."""
        nonlocal allowed, asked
        if asked or not q.conditions():
            return None
        asked = True
        how.progress("are the assumptions satisfiable?")
        possible = ask(q.assumed, lambda r: r.assumed)
        if possible.status is Status.SAT and possible.model is not None:
            allowed = dict(possible.model)
            return None
        if possible.status is Status.UNSAT:
            return decided(Kind.VACUOUS, possible)
        return verdict(unanswered(possible), f"whether the assumptions can hold: {possible.reason}", possible)

    if equal is not None:
        if (none := impossible()) is not None:
            return none
        by_theorem = Decision(status=Status.UNSAT, answers=(), reason=equal.reason)
        return verdict(q.NONE, equal.reason, by_theorem, theorems=equal, allowed=allowed)
    d = None
    if how.solvers is None:
        how.progress("trying vectors")
        d = _decide_by_vectors(q, how.limits.seed)
    if d is None:
        if q.ASSUMPTIONS_FIRST and (none := impossible()) is not None:
            return none
        how.progress("asking the solvers")
        d = ask(q.asked, lambda r: r.confirms)
    if d.status is Status.SAT and d.model is not None:
        how.progress("shrinking the witness")
        small = q.shrink(d.model, shrink_s)
        again = q.replay(small)
        if not again.confirms:
            return verdict(Kind.ERROR, "the shrunk witness does not replay on integers and oracle", d)
        return decided(q.FOUND, d, inputs=small, found_inputs=d.model, replayed=again)
    if d.status is Status.UNSAT:
        if not q.ASSUMPTIONS_FIRST and (none := impossible()) is not None:
            return none
        return decided(q.NONE, d, allowed=allowed)
    return verdict(unanswered(d), d.reason, d)


def _decide_by_vectors(q: Question, seed: int) -> Decision | None:
    """The decision of seeded vectors: SAT where one satisfies the question, else None.

    Such a vector also shows that the assumptions are satisfiable.
    """
    start = time.monotonic()
    inputs = q.search(seed)
    if inputs is None:
        return None
    answered = SolverAnswer(
        solver=VECTORS_NAME, version=VERSION, status=Status.SAT, model=dict(inputs),
        seconds=time.monotonic() - start,
    )  # fmt: skip
    if q.replay(inputs).confirms:
        reason = f"{VECTORS_NAME} answered sat with a model that replays"
        return Decision(status=Status.SAT, model=answered.model, answers=(answered,), reason=reason)
    reason = f"disagreement: {VECTORS_NAME} answered sat, but its model does not replay"
    return Decision(status=Status.CRASH, answers=(answered,), reason=reason, disagreement=True)


def kept_or_answered(q: Q, how: SolveOptions, *, equal: EqualByTheorem | None = None) -> Verdict[Q]:
    """The stored answer to a question, or a new one, which is stored.

    A kept answer whose evidence was not checked is asked again; where that ends without an answer, it stays
    in the store.  `equal`: theorems by which two units are one, which answer the question whatever is kept.
    Errors: those of `answer`; RecordError, unless `how.unkept` takes it, where an answer cannot be kept.
    """
    store = how.store()
    # Under assumptions a kept answer also has inputs that obey them.
    at_once = equal is not None and not q.conditions()
    kept = None if store is None or how.fresh or at_once else store.find(q, certify=how.certify)
    known = kept is not None and kept.checked
    v = kept
    if kept is None or not kept.checked:
        v = answer(q, how, equal=equal)
        if kept is not None and v.kind not in DECIDED:
            return v if v.kind is Kind.ERROR else undecided_again(kept, v)
    assert v is not None
    # An answer to other units of the same definition is kept under these names too.
    if store is not None and not ((known or equal is not None) and store.has(q)):
        try:
            store.add(v)
        except RecordError as error:
            if how.unkept is None:
                raise
            how.unkept(error)
    return v


def undecided_again(kept: Verdict[Q], again: Verdict[Q]) -> Verdict[Q]:
    """The verdict UNKNOWN after a stored answer could not be checked and a new attempt failed."""
    reason = f"{kept.reason}; asked again: {again.reason}"
    return replace(again, kind=Kind.UNKNOWN, reason=reason, served=kept.served, checked=False)
