"""A verdict: one of a closed set, with its reason, evidence and everything needed to ask again."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from tcformal.oracle.values import format_value
from tcformal.query.spec import Question, Witness
from tcformal.solve.result import Limits, SolverAnswer


class Kind(enum.Enum):
    """What was found."""

    SEPARATED = "the two units differ on the witness"
    EQUIVALENT = "the two units agree on every input that the assumptions allow"
    VACUOUS = "no input satisfies the assumptions"
    UNKNOWN = "no solver could tell, or none confirmed"
    TIMEOUT = "no answer within the time limit"
    ERROR = "answers that cannot all be right, or every solver failed"


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
    limits: Limits
    #: Wall time in seconds, shrinking included.
    seconds: float
    version: str = field(default="")

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data: encodings in hex, values exact."""
        q, o = self.question, self.question.first.operands
        data: dict[str, Any] = {
            "verdict": self.kind.name,
            "reason": self.reason,
            "units": list(q.names),
            "k": q.k,
            "formats": {"a": o.a.name, "b": o.b.name, "c": o.c.name, "d": o.d.name},
            "assumptions": q.assumptions.texts(),
            "question_sha256": q.digest(),
            "same_definition": q.same_definition,
            "confirmed_by": list(self.confirmed_by),
            "solvers": [
                {
                    "name": a.solver,
                    "version": a.version,
                    "answer": a.status.value,
                    "seconds": round(a.seconds, 3),
                    "reason": a.reason,
                }
                for a in self.answers
            ],
            "limits": {
                "time_s": self.limits.time_s,
                "memory_mb": self.limits.memory_mb,
                "seed": self.limits.seed,
            },
            "seconds": round(self.seconds, 3),
            "tcformal": self.version,
        }
        if self.witness is not None and self.results is not None:
            w = self.witness
            data["witness"] = {
                "a": [_exact(o.a, x) for x in w.a],
                "b": [_exact(o.b, x) for x in w.b],
                "c": _exact(o.c, w.c),
            }
            data["results"] = {
                name: _exact(o.d, r) for name, r in zip(("first", "second"), self.results, strict=True)
            }
            data["replayed_on"] = ["integers", "fractions"]
        return data


def _exact(fmt: Any, raw: int) -> dict[str, str]:
    return {"hex": f"{raw:#0{2 + -(-fmt.width // 4)}x}", "value": format_value(fmt, raw)}
