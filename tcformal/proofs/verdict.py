"""The verdict on a claim about one unit: its parts, each with its steps or its witness, and its lemmas."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcformal.callbacks import view
from tcformal.design.unit import UnitSpec
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.theory.answers import TheoremAnswer
from tcformal.version import VERSION

if TYPE_CHECKING:  # an answer from a theorem has no steps and no lemmas
    from tcformal.operands.witness import Witness
    from tcformal.proofs.lemmas import Lemma
    from tcformal.proofs.tactics.cuts import ProofStep


class PartStatus(enum.Enum):
    """What became of one part of a claim."""

    HOLDS = "proved"
    VIOLATED = "refuted by a witness"
    OPEN = "neither proved nor refuted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """Inputs whose results differ, or are one where they must differ, replayed on integers and fractions.

    Shapes: raw encodings; `second` are the inputs of the second circuit where they are not the same.
    """

    first: Witness
    second: Witness
    #: Results of both circuits, raw encodings of the D format.
    results: tuple[int, int]
    #: Who found it: a solver, or `construction`.
    found_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPart:
    """One part of a claim, such as one transposition of products."""

    name: str
    status: PartStatus
    steps: tuple[ProofStep, ...] = ()
    witness: Counterexample | None = None
    #: Whether the part is there to be refuted: a negative control.
    control: bool = False
    note: str = ""
    #: A proof for the kernel, packed (`proofs.packed`); empty where the steps are not the kernel's.
    tree: str = ""

    @property
    def as_claimed(self) -> bool:
        """Whether the part came out as the claim says."""
        return self.status is (PartStatus.VIOLATED if self.control else PartStatus.HOLDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """The answer to one claim about one unit.

    HOLDS where a theorem says so, or where every part came out as claimed: every lemma applied in it proved
    and confirmed.
    """

    claim: str
    unit: UnitSpec
    kind: Kind
    reason: str
    composition: str
    parts: tuple[ClaimPart, ...]
    #: Every lemma that the proved parts rest on, and those that stood in the way of the others.
    lemmas: tuple[Lemma, ...]
    limits: Limits
    seconds: float
    version: str = VERSION
    #: The commit of the package and the machine that gave the answer; empty where that is not recorded.
    commit: str = ""
    machine: str = ""
    #: When a kept claim that is served again was answered, in UTC; empty for a fresh one.
    served: str = ""
    #: What answered it: `theorem`, `witness`, `proof` in steps, or `nothing`.
    answered_by: str = "proof"
    #: The theorem, where one answers it: then there are neither parts nor lemmas.
    theorem: TheoremAnswer | None = None
    #: Whether the proof was checked in this run.  False for a kept claim whose lemmas were not all checked
    #: again in time: its verdict is UNKNOWN.
    checked: bool = True

    def _repr_html_(self) -> str | None:
        return view("claim_html", self)

    @property
    def applications(self) -> int:
        """Applications of lemmas in proved parts."""
        return sum(n for part in self.parts for step in part.steps for n in step.lemmas.values())

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "verdict": self.kind.name,
            "claim": self.claim,
            "unit": self.unit.name,
            "reason": self.reason,
            "answered_by": self.answered_by,
            "composition": self.composition,
            "parts": [_part_data(p) for p in self.parts],
            "lemmas": [lemma.to_json() for lemma in self.lemmas],
            "limits": self.limits.to_json(),
            "seconds": round(self.seconds, 3),
            "tcformal": self.version,
            "commit": self.commit,
            "machine": self.machine,
            "served": bool(self.served),
            "checked": self.checked,
            **({"answered": self.served} if self.served else {}),
            **({} if self.theorem is None else {"theorem": self.theorem.to_json()}),
        }  # fmt: skip


def _part_data(part: ClaimPart) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": part.name,
        "standing": part.status.name,
        "control": part.control,
        "steps": [{"cut": s.name, "how": s.how, "lemmas": dict(s.lemmas)} for s in part.steps],
    }
    if part.note:
        data["note"] = part.note
    if part.tree:
        data["tree"] = part.tree
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
