"""The verdict on a claim, with its evidence: a theorem, refuting inputs, or solvers' answers."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcformal.design.unit import UnitSpec
from tcformal.query.question import Kind
from tcformal.shown import JsonObject, Shown, short
from tcformal.theory.theorems import TheoremAnswer
from tcformal.version import VERSION

if TYPE_CHECKING:  # an answer from a theorem has neither
    from tcformal.query.verdict import Verdict
    from tcformal.simulation.operands.witness import Witness


class PartStatus(enum.Enum):
    """The status of one part of a claim."""

    HOLDS = "proved"
    VIOLATED = "refuted by inputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """Two runs with different results where a claim says equal ones, replayed on integers and fractions.

    Shapes: raw encodings; `second` are the inputs of the second call where they are not the same.
    """

    first: Witness
    second: Witness
    #: Results of both calls, raw encodings of the D format.
    results: tuple[int, int]
    #: A solver, `vectors` or `construction`.
    found_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPart:
    """One part of a claim, such as a spread of exponents."""

    name: str
    status: PartStatus
    witness: Counterexample | None = None
    #: Whether the part is there to be refuted: a negative control.
    control: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict(Shown):
    """The answer to one claim about one unit.

    HOLDS where a theorem says so, or where solvers proved the claim as one question; VIOLATED by inputs.

    Examples:
        >>> tcformal.prove_claim("h100:fp16", "negation-symmetry").reason
        'Φ(−A, B, −C) = −Φ(A, B, C), zeros of either sign and NaNs counted as equal'
    """

    claim: str
    unit: UnitSpec
    kind: Kind
    reason: str
    #: What answered it: `theorem`, `witness`, `solvers`, or `nothing`.
    answered_by: str
    seconds: float
    parts: tuple[ClaimPart, ...] = ()
    theorem: TheoremAnswer | None = None
    #: The claim as a question, where solvers were asked.
    asked: Verdict[Any] | None = None
    #: Why no theorem answers it; empty where one does.
    in_the_way: str = ""
    version: str = VERSION
    #: The commit of the package and the machine that gave the answer; empty where that is not recorded.
    commit: str = ""
    machine: str = ""

    def _summary(self) -> str:
        return f"{self.kind.name} {self.claim} of {short(self.unit.shown)}, by {self.answered_by}"

    @property
    def checked(self) -> bool:
        """Whether the evidence was checked in this run: False for a stored but unchecked proof."""
        return self.asked is None or self.asked.checked

    @property
    def served(self) -> str:
        """The UTC date of a stored answer; empty for a new answer."""
        return "" if self.asked is None else self.asked.served

    def to_json(self) -> JsonObject:
        """The verdict as plain data."""
        return {
            "verdict": self.kind.name,
            "claim": self.claim,
            "unit": self.unit.name,
            "reason": self.reason,
            "answered_by": self.answered_by,
            "in_the_way": self.in_the_way,
            "parts": [_part_data(p) for p in self.parts],
            "seconds": round(self.seconds, 3),
            "tcformal": self.version,
            "commit": self.commit,
            "machine": self.machine,
            "served": bool(self.served),
            "checked": self.checked,
            **({"answered": self.served} if self.served else {}),
            **({} if self.theorem is None else {"theorem": self.theorem.to_json()}),
            **({} if self.asked is None else {"question": self.asked.to_json()}),
        }


def _part_data(part: ClaimPart) -> JsonObject:
    data: JsonObject = {"name": part.name, "standing": part.status.name, "control": part.control}
    if part.witness is not None:
        w = part.witness
        data["witness"] = {
            "inputs": {name: hex(x) for name, x in w.first.inputs().items()},
            "results": [hex(r) for r in w.results],
            "found_by": w.found_by,
            "replayed_on": ["integers", "fractions"],
        }
        if w.second != w.first:
            data["witness"]["second_inputs"] = {name: hex(x) for name, x in w.second.inputs().items()}
    return data
