"""The answer: inputs on which one algorithm is worse, replayed and shrunk, or a proof that there are none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tcformal.algorithms.split import SINGLE
from tcformal.design.spec import Operands
from tcformal.query.shrink import shrink
from tcformal.query.spec import Question, Witness
from tcformal.query.verdict import Kind, unanswered
from tcformal.query.worse.question import WorseQuestion
from tcformal.query.worse.replay import Replayed, replay, witness_data
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import default_members
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status

#: Asked first unless the caller says otherwise: with multipliers, splits and wide sums, rewriting words finds
#: inputs in a tenth of the time that clauses take.
_FIRST = "bitwuzla"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorseVerdict:
    """The answer: VIOLATED with inputs, HOLDS, VACUOUS, UNKNOWN, TIMEOUT or ERROR."""

    kind: Kind
    reason: str
    question: WorseQuestion
    witness: Witness | None = None
    replayed: Replayed | None = None
    answers: tuple[SolverAnswer, ...] = ()
    confirmed_by: tuple[str, ...] = ()
    certificate: Certificate | None = None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data: encodings in hex, values exact."""
        asked = self.question.asked
        data: dict[str, Any] = {
            "verdict": self.kind.name,
            "reason": self.reason,
            "claim": asked.claim,
            "unit": asked.unit.name,
            "form": asked.form,
            "products": asked.products,
            "assumptions": asked.texts(),
            "question_sha256": self.question.digest(),
            "confirmed_by": list(self.confirmed_by),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "solvers": [a.to_json() for a in self.answers],
            "seconds": round(self.seconds, 3),
        }  # fmt: skip
        if asked.form == "split":
            data |= {"split_rounding": asked.split_rounding, "keep_last": asked.keep_last}
        if self.witness is not None and self.replayed is not None:
            data |= witness_data(asked, self.witness, self.replayed)
        return data


def answer(
    q: WorseQuestion,
    *,
    solvers: Sequence[str] | None = None,
    limits: Limits,
    certify: bool | None = None,
    jobs: int | None = None,
    shrinking_s: float = 4.0,
    progress: Callable[[str], None] = lambda _: None,
) -> WorseVerdict:
    """Decide a question: assumptions first, then an input with the larger error, replayed and shrunk.

    `certify` and `jobs` are those of `solve.portfolio.decide`.
    """
    start = time.monotonic()

    def verdict(kind: Kind, reason: str, d: Decision, **more: Any) -> WorseVerdict:
        return WorseVerdict(
            kind=kind, reason=reason, question=q, seconds=time.monotonic() - start, answers=d.answers,
            confirmed_by=d.confirmed_by, certificate=d.certificate, **more,
        )  # fmt: skip

    common: dict[str, Any] = {
        "members": solver_order(solvers), "limits": limits, "certify": certify, "jobs": jobs,
    }  # fmt: skip
    progress("looking for inputs with the larger error")
    d = decide(q.graph, q.violated, replay=lambda m: replay(q, m).violates, **common)
    if d.status is Status.SAT and d.model is not None:
        progress("shrinking the witness")
        small = shrunk(q, d.model, seconds=shrinking_s)
        run = replay(q, small.inputs())
        if not run.violates:
            return verdict(Kind.ERROR, "the shrunk witness does not replay on integers and oracle", d)
        reason = f"not always: {q.asked.claim}; replayed on integers and on exact fractions"
        return verdict(Kind.VIOLATED, reason, d, witness=small, replayed=run)
    if d.status is Status.UNSAT:
        # Only a claim about nothing needs this: inputs with the larger error satisfy the assumptions.
        progress("are the assumptions satisfiable?")
        possible = decide(q.graph, q.assumed, replay=lambda m: replay(q, m).assumed, **common)
        if possible.status is Status.UNSAT:
            return verdict(Kind.VACUOUS, "no inputs satisfy: " + "; ".join(q.asked.texts()), possible)
        if possible.status is not Status.SAT:
            return verdict(
                unanswered(possible), f"whether the assumptions can hold: {possible.reason}", possible
            )
        return verdict(Kind.HOLDS, f"{q.asked.claim}: {d.reason}", d)
    return verdict(unanswered(d), d.reason, d)


def solver_order(solvers: Sequence[str] | None) -> Sequence[str]:
    """The solvers as named, or all that are installed in the order that suits these questions."""
    return sorted(default_members(), key=lambda name: name != _FIRST) if solvers is None else solvers


def shrunk(q: WorseQuestion, found: Mapping[str, int], *, seconds: float) -> Witness:
    """Simpler inputs that still have the larger error as asked."""
    what, fmt = q.asked, q.asked.factor_format
    # To the shrinker a question is two results on inputs of some formats, and a node that must stay 1.
    unit = replace(what.unit, operands=Operands(a=fmt, b=fmt, c=SINGLE, d=SINGLE))
    seen = Question(unit, unit, what.products, what.assumptions, q.graph, q.results, q.assumed, q.violated)
    return shrink(seen, Witness.of(found, what.products), seconds=seconds)
