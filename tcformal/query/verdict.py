"""A verdict: one of a closed set, with its reason, evidence and everything needed to ask again."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from tcformal.oracle.values import value_data
from tcformal.query.spec import Question, Witness
from tcformal.solve.certificate import Certificate
from tcformal.solve.result import Decision, Limits, SolverAnswer, Status


class Kind(enum.Enum):
    """What was found."""

    SEPARATED = "the two units differ on the witness"
    EQUIVALENT = "the two units agree on every input that the assumptions allow"
    HOLDS = "the claim is true of every input that the assumptions allow"
    VIOLATED = "the claim is false of the inputs shown"
    VACUOUS = "no input satisfies the assumptions"
    UNKNOWN = "no solver could tell, or none confirmed"
    TIMEOUT = "no answer within the time limit"
    ERROR = "answers that cannot all be right, or every solver failed"


def unanswered(d: Decision) -> Kind:
    """What a decision that is neither SAT nor UNSAT comes to: never an answer."""
    if d.disagreement:
        return Kind.ERROR
    return {Status.UNKNOWN: Kind.UNKNOWN, Status.TIMEOUT: Kind.TIMEOUT}.get(d.status, Kind.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to one question.

    Ranges and units: `witness` holds raw encodings of the operand formats, `results` raw encodings
    of the D format; both None unless SEPARATED.
    """

    kind: Kind
    #: One sentence.
    reason: str
    question: Question
    #: The shrunk witness, replayed on integers and on the Fraction oracle.
    witness: Witness | None = None
    #: The witness as the solver gave it.
    found: Witness | None = None
    #: Results of the first and second unit on the witness.
    results: tuple[int, int] | None = None
    #: Every solver's own answer.
    answers: tuple[SolverAnswer, ...] = ()
    #: Solvers that confirmed an unsat answer independently.
    confirmed_by: tuple[str, ...] = ()
    #: The checked proof of an EQUIVALENT or VACUOUS, when there is one.
    certificate: Certificate | None = None
    limits: Limits
    #: Wall time in seconds, shrinking included.
    seconds: float
    version: str = field(default="")
    #: When a kept answer that is served again was given, in UTC; empty for a fresh one.
    served: str = ""

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data: encodings in hex, values exact."""
        q, o = self.question, self.question.first.operands
        data: dict[str, Any] = {
            "verdict": self.kind.name,
            "reason": self.reason,
            "units": list(q.names),
            "k": q.k,
            "formats": {"a": o.a.name, "b": o.b.name, "c": o.c.name, "d": o.d.name} | _scales(q),
            "assumptions": q.assumptions.texts(),
            "question_sha256": q.digest(),
            "same_definition": q.same_definition,
            "confirmed_by": list(self.confirmed_by),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "solvers": [{**a.to_json(), "reason": a.reason} for a in self.answers],
            "limits": {
                "time_s": self.limits.time_s,
                "memory_mb": self.limits.memory_mb,
                "seed": self.limits.seed,
            },
            "seconds": round(self.seconds, 3),
            "tcformal": self.version,
            "served": bool(self.served),
        }
        if self.served:
            data["answered"] = self.served
        if self.witness is not None and self.results is not None:
            w = self.witness
            data["witness"] = {
                "a": [value_data(o.a, x) for x in w.a],
                "b": [value_data(o.b, x) for x in w.b],
                "c": value_data(o.c, w.c),
            }
            if q.first.scale_format is not None:
                for name, row in (("scale_a", w.scale_a), ("scale_b", w.scale_b)):
                    data["witness"][name] = [value_data(q.first.scale_format, x) for x in row]
            data["results"] = {
                name: value_data(o.d, r) for name, r in zip(("first", "second"), self.results, strict=True)
            }
            data["replayed_on"] = ["integers", "fractions"]
        return data


def _scales(q: Question) -> dict[str, str]:
    return {} if q.first.scale_format is None else {"scale": q.first.scale_format.name}
