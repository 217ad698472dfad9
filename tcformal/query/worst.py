"""Worst-case search of an error comparison: the largest excess error, and a proved upper bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcformal.checks import check_positive
from tcformal.oracle.numerals import number_text
from tcformal.programs.error import ULP_STEP
from tcformal.query.kinds.comparison.kind import asked_data, replayed_data, shrunk
from tcformal.query.kinds.comparison.parameters import ComparedPrograms
from tcformal.query.kinds.comparison.question import ErrorComparison, error_comparison
from tcformal.query.kinds.comparison.replay import ComparisonReplay, replay
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.simulation.operands.witness import Witness, witness_data

#: Answers one question within a time limit in seconds.
AskComparison = Callable[[ErrorComparison, float], Verdict[ErrorComparison]]


@dataclass(frozen=True, slots=True)
class BoundStep:
    """One question of the search: does an excess above `more_than` ulps exist?"""

    more_than: Fraction
    kind: Kind
    #: The excess of the inputs that were found, in ulps.
    found: Fraction | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The outcome of a search: the largest excess found, and the proved bound.

    Ranges and units: ulps of the exact value, where that is not zero.
    """

    asked: ComparedPrograms
    #: The inputs with the largest excess, replayed on integers and exact fractions; None: none were found.
    witness: Witness | None
    replayed: ComparisonReplay | None
    #: The verdict that proves the bound; None: no bound was proved.
    proof: Verdict[ErrorComparison] | None
    steps: tuple[BoundStep, ...]
    seconds: float

    @property
    def excess(self) -> Fraction:
        """The largest excess found, in ulps; 0 where none was found."""
        ulps = self.replayed.excess_ulps if self.replayed is not None else None
        return ulps if ulps is not None else Fraction(0)

    @property
    def bound(self) -> Fraction | None:
        """The proved bound, in ulps: no inputs have a larger excess; None if none was proved."""
        return None if self.proof is None else self.proof.question.parameters.more_than

    @property
    def outcome(self) -> str:
        """The outcome: BOUNDED (known up to ULP_STEP), FOUND (inputs without a bound) or UNKNOWN."""
        if self.bound is not None and _up(self.excess) >= self.bound:
            return "BOUNDED"
        return "UNKNOWN" if self.witness is None else "FOUND"

    @property
    def reason(self) -> str:
        """The reason of the outcome, as one sentence."""
        excess_text = f"the largest excess found is {number_text(self.excess)} ulp"
        if self.bound is None or self.proof is None:
            return f"{excess_text}; no bound was proved"
        return f"{excess_text}; none is more than {number_text(self.bound)} ulp ({self.proof.reason})"

    def to_json(self) -> dict[str, Any]:
        """The search as plain data."""
        proof = self.proof
        made = None if proof is None else proof.certificate
        data: dict[str, Any] = {
            "claim": self.asked.claim,
            **asked_data(self.asked),
            "assumptions": self.asked.texts(),
            "reason": self.reason,
            "excess_ulps": number_text(self.excess),
            "bound_ulps": None if self.bound is None else number_text(self.bound),
            "certificate": None if made is None else made.to_json(),
            "steps": [
                {
                    "more_than_ulps": number_text(s.more_than),
                    "verdict": s.kind.name,
                    "found_ulps": None if s.found is None else number_text(s.found),
                    "seconds": round(s.seconds, 3),
                }
                for s in self.steps
            ],
            "seconds": round(self.seconds, 3),
            "checked": proof is None or proof.checked,
        }
        if self.witness is not None and self.replayed is not None:
            data["witness"] = witness_data(self.asked.formats, self.witness)
            data |= replayed_data(self.replayed)
        return data


def _up(excess: Fraction) -> Fraction:
    """The next threshold above an excess."""
    return math.ceil(excess / ULP_STEP) * ULP_STEP


class _WorstSearch:
    """The state of a search: the best inputs, the lowest proved bound, the lowest unanswered threshold."""

    def __init__(self, asked: ComparedPrograms, ask: AskComparison, seconds: float) -> None:
        self.asked = asked
        self.ask_one = ask
        self.deadline = time.monotonic() + seconds
        self.witness: Witness | None = None
        self.replayed: ComparisonReplay | None = None
        self.excess = Fraction(0)
        self.unanswered: Fraction | None = None
        self.proof: Verdict[ErrorComparison] | None = None
        self.steps: list[BoundStep] = []

    def ask(self, more_than: Fraction) -> None:
        """Ask one question within the remaining time."""
        q = error_comparison(replace(self.asked, more_than=more_than))
        v = self.ask_one(q, max(self.deadline - time.monotonic(), 0.001))
        found = None
        if v.kind is Kind.VIOLATED and v.found_inputs is not None:
            inputs = v.found_inputs
            found = self._keep(replay(q, inputs), Witness.of(inputs, self.asked.products))
        elif v.kind is Kind.HOLDS:
            self.proof = v
        else:
            self.unanswered = more_than
        self.steps.append(BoundStep(more_than, v.kind, found, v.seconds))

    @property
    def bound(self) -> Fraction | None:
        """The lowest proved threshold; None if none was proved."""
        return None if self.proof is None else self.proof.question.parameters.more_than

    def _keep(self, run: ComparisonReplay, witness: Witness) -> Fraction | None:
        excess = run.excess_ulps
        if excess is not None and excess > self.excess:
            self.excess, self.witness, self.replayed = excess, witness, run
        return excess

    def next(self) -> Fraction | None:
        """The next threshold: twice the excess found, or the midpoint to the lowest upper end.

        None where no threshold lies between.
        """
        if not self.steps:
            return Fraction(0)
        low = _up(self.excess)
        ends = [x for x in (self.bound, self.unanswered) if x is not None]
        if not ends:
            return max(2 * low, ULP_STEP)
        if low >= min(ends):
            return None
        return math.floor((low + min(ends)) / 2 / ULP_STEP) * ULP_STEP

    def shrink(self, seconds: float) -> None:
        """Replace the best inputs by simpler ones with an excess smaller by less than ULP_STEP."""
        if self.witness is None:
            return
        below = _up(self.excess) - ULP_STEP
        q = error_comparison(replace(self.asked, more_than=below))
        small = shrunk(q, self.witness.inputs(), seconds=seconds)
        run = replay(q, small.inputs())
        if run.violates:
            self.witness, self.replayed = small, run


def worst(asked: ComparedPrograms, ask: AskComparison, *, seconds: float, shrinking_s: float = 4.0) -> Worst:
    """Search for the inputs with the largest excess error, in ulps of the exact value.

    The threshold doubles until no inputs are found, then the gap is halved down to ULP_STEP, within
    `seconds` in all.  A threshold without an answer is skipped, and the range below it is still searched.
    `ask` answers each question, for example from a store.
    Errors: InputError for arguments that do not fit.
    """
    check_positive("seconds", seconds)
    start = time.monotonic()
    search = _WorstSearch(asked, ask, seconds)
    while time.monotonic() < search.deadline and (threshold := search.next()) is not None:
        search.ask(threshold)
    search.shrink(shrinking_s)
    return Worst(
        asked=asked, witness=search.witness, replayed=search.replayed, proof=search.proof,
        steps=tuple(search.steps), seconds=time.monotonic() - start,
    )  # fmt: skip
