"""The verdict of a question: its kind, its reason, its evidence and all that is needed to ask again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from tcformal.oracle.values import format_value
from tcformal.query.question import Kind, Q, Question
from tcformal.shown import JsonObject, Shown
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status

if TYPE_CHECKING:
    from tcformal.solve.certificate import Certificate
    from tcformal.theory.equality import EqualByTheorem

#: Verdicts that need no further asking.
DECIDED = (Kind.SEPARATED, Kind.EQUIVALENT, Kind.HOLDS, Kind.VIOLATED, Kind.VACUOUS)

#: The mark of kept answers whose evidence was not checked again.
NOT_CHECKED = "kept, not re-checked; tcformal results verify"


def kept_as(verdict: str, date: str) -> str:
    """A phrase for a stored answer whose evidence was not checked."""
    return f"kept as {verdict} on {date[:10]}, not checked"


def unanswered(d: Decision) -> Kind:
    """The verdict for an undecided question: UNKNOWN, TIMEOUT or ERROR."""
    if d.disagreement:
        return Kind.ERROR
    return {Status.UNKNOWN: Kind.UNKNOWN, Status.TIMEOUT: Kind.TIMEOUT}.get(d.status, Kind.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Shown, Generic[Q]):
    """The answer to one question, with its evidence.

    Ranges and units: `inputs` and `found_inputs` hold raw encodings by input name; both None unless the
    verdict is SEPARATED or VIOLATED.

    Examples:
        >>> verdict = tcformal.separate("valpey@terms=2", "valpey@terms=2,fraction_bits=3")
        >>> verdict.kind, verdict.checked
        (<Kind.SEPARATED: 'the two units differ on the witness'>, True)
        >>> tcformal.explain("valpey@terms=2", verdict.witness).result == verdict.results[0]
        True
    """

    kind: Kind
    #: One sentence.
    reason: str
    question: Q
    #: The shrunk witness, replayed on integers and on the Fraction oracle.
    inputs: Mapping[str, int] | None = None
    #: The witness as it was found.
    found_inputs: Mapping[str, int] | None = None
    #: The replay of the witness, by the question's kind.
    replayed: Any = None
    #: Inputs that obey the assumptions: they show for EQUIVALENT and HOLDS that these are satisfiable.
    allowed: Mapping[str, int] | None = None
    #: Every solver's own answer.
    answers: tuple[SolverAnswer, ...] = ()
    #: Solvers that confirmed an unsat answer independently.
    confirmed_by: tuple[str, ...] = ()
    #: The checked proof that no such input exists, when there is one.
    certificate: Certificate | None = None
    #: The theorems by which two units are equal; None where they were not what answered.
    theorems: EqualByTheorem | None = None
    limits: Limits
    #: Wall time in seconds, shrinking included.
    seconds: float
    version: str = field(default="")
    #: The commit of the package and the machine that gave the answer; empty where that is not recorded.
    commit: str = ""
    machine: str = ""
    #: Date of a kept answer, in UTC; empty for a fresh one.
    served: str = ""
    #: Whether the evidence was checked in this run.  False for a kept answer whose evidence is missing, or
    #: whose check did not end within its time limit: its verdict is UNKNOWN.
    checked: bool = True

    def _summary(self) -> str:
        texts, w = [f"{self.kind.name} {self.question.outcome(self.kind)}"], self.witness
        if w is not None:
            live = sum(map(bool, map(max, w.a, w.b)))
            c = format_value(self.question.c_format, w.c)
            texts += [f"{live} product{'' if live == 1 else 's'}, c={c}"]
        return ", ".join([*texts, *([] if self.kind in DECIDED else [self.reason])])

    @property
    def witness(self) -> Witness | None:
        """The operands of the shrunk witness; None where the verdict has none."""
        return None if self.inputs is None else Witness.of(self.inputs)

    @property
    def found(self) -> Witness | None:
        """The operands of the witness before shrinking; None where the verdict has none."""
        return None if self.found_inputs is None else Witness.of(self.found_inputs)

    @property
    def results(self) -> tuple[int, ...] | None:
        """The results on the witness, raw encodings of the D format; None where the verdict has none."""
        return None if self.replayed is None else tuple(self.replayed.integers)

    def to_json(self) -> JsonObject:
        """The verdict as plain data: encodings in hex, values exact."""
        q = self.question
        data: JsonObject = {
            "verdict": self.kind.name,
            "reason": self.reason,
            **q.to_json(),
            "assumptions": q.conditions(),
            "question_sha256": q.digest(),
            "confirmed_by": list(self.confirmed_by),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "solvers": [{**a.to_json(), "reason": a.reason} for a in self.answers],
            "limits": self.limits.to_json(),
            "seconds": round(self.seconds, 3),
            "tcformal": self.version,
            "commit": self.commit,
            "machine": self.machine,
            "served": bool(self.served),
            "checked": self.checked,
        }
        if self.served:
            data["answered"] = self.served
        if self.theorems is not None:
            data |= self.theorems.to_json()
        if self.inputs is not None:
            data["witness"] = q.witness_data(self.inputs)
            data |= q.results_data(self.replayed)
            data["replayed_on"] = ["integers", "fractions"]
            data["commands"] = q.commands(self.replayed)
        return data


def reason_of(
    kind: Kind, q: Question, answers: Sequence[SolverAnswer], certificate: Certificate | None
) -> str:
    """The reason of a decided verdict from its evidence alone, as one sentence."""
    if kind is q.FOUND:
        return q.found_text(next((a.solver for a in answers if a.status is Status.SAT), "a solver"))
    who = " and ".join(sorted(a.solver for a in answers if a.status is Status.UNSAT))
    proof = "" if certificate is None else (
        f"; the proof of {certificate.solver} was checked by {certificate.checker}"
    )  # fmt: skip
    if kind is Kind.VACUOUS:
        return f"no operands satisfy: {'; '.join(q.conditions())}"
    return q.none_text(who) + proof
