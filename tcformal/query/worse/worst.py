"""How much further from the exact value can one algorithm be?  Ever larger excesses, and a bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tcformal.algorithms.error import ULP_STEP
from tcformal.algorithms.split import SINGLE
from tcformal.checks import check_positive
from tcformal.oracle.values import number_text
from tcformal.query.kinds.operands import witness_data
from tcformal.query.kinds.program import PROGRAM, replayed_data, shrunk
from tcformal.query.spec import Witness
from tcformal.query.worse.question import Asked, worse_question
from tcformal.query.worse.replay import Replayed, replay
from tcformal.solve.certificate import Certificate
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Decision, Limits, Status


@dataclass(frozen=True, slots=True)
class Step:
    """One question of the search: is there an excess of more than so many ulps?"""

    more_than: Fraction
    status: Status
    #: The excess of the inputs that were found, in ulps.
    found: Fraction | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The worst case that was found, and the bound that was proved.

    Ranges and units: ulps of the exact value, where that is not zero.
    """

    asked: Asked
    #: The inputs with the largest excess, replayed on integers and on exact fractions; None: none were found.
    witness: Witness | None
    replayed: Replayed | None
    #: No inputs have an excess of more than this: confirmed by a checked proof or a second solver.
    bound: Fraction | None
    #: What decided the bound.
    decision: Decision | None
    steps: tuple[Step, ...]
    seconds: float

    @property
    def excess(self) -> Fraction:
        """The largest excess found, in ulps; 0 where none was found."""
        ulps = self.replayed.excess_ulps if self.replayed is not None else None
        return ulps if ulps is not None else Fraction(0)

    @property
    def certificate(self) -> Certificate | None:
        """The checked proof of the bound, when there is one."""
        return self.decision.certificate if self.decision is not None else None

    @property
    def reason(self) -> str:
        """One sentence."""
        found = f"the largest excess found is {number_text(self.excess)} ulp"
        if self.bound is None:
            return f"{found}; no bound was proved"
        proof = "" if self.decision is None else f" ({self.decision.reason})"
        return f"{found}; none is more than {number_text(self.bound)} ulp{proof}"

    def to_json(self) -> dict[str, Any]:
        """The search as plain data."""
        data: dict[str, Any] = {
            "claim": self.asked.claim,
            "unit": self.asked.unit.name,
            "form": self.asked.form,
            "products": self.asked.products,
            "assumptions": self.asked.texts(),
            "reason": self.reason,
            "excess_ulps": number_text(self.excess),
            "bound_ulps": None if self.bound is None else number_text(self.bound),
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "steps": [
                {
                    "more_than_ulps": number_text(s.more_than),
                    "answer": s.status.value,
                    "found_ulps": None if s.found is None else number_text(s.found),
                    "seconds": round(s.seconds, 3),
                }
                for s in self.steps
            ],
            "seconds": round(self.seconds, 3),
        }
        if self.witness is not None and self.replayed is not None:
            fmt = self.asked.factor_format
            data["witness"] = witness_data({"a": fmt, "b": fmt, "c": SINGLE}, self.witness)
            data |= replayed_data(self.replayed)
        return data


class _Search:
    """The best inputs so far, the lowest bound proved, and the lowest threshold without an answer."""

    def __init__(self, asked: Asked, limits: Limits, seconds: float, common: dict[str, Any]) -> None:
        self.asked = asked
        self.limits = limits
        self.deadline = time.monotonic() + seconds
        self.common = common
        self.witness: Witness | None = None
        self.replayed: Replayed | None = None
        self.excess = Fraction(0)
        self.bound: Fraction | None = None
        self.given_up: Fraction | None = None
        self.decision: Decision | None = None
        self.steps: list[Step] = []

    def ask(self, more_than: Fraction, progress: Callable[[str], None]) -> None:
        """One question, in what is left of the time."""
        left = self.deadline - time.monotonic()
        limits = replace(self.limits, time_s=min(self.limits.time_s, max(left, 0.001)))
        progress(f"is there an excess of more than {number_text(more_than)} ulp?")
        q = worse_question(replace(self.asked, more_than=more_than))
        start = time.monotonic()
        d = decide(
            q.graph, q.violated, limits=limits, replay=lambda m: replay(q, m).violates, **self.common
        )  # fmt: skip
        found = None
        if d.status is Status.SAT and d.model is not None:
            found = self._keep(replay(q, d.model), Witness.of(d.model, self.asked.products))
        elif d.status is Status.UNSAT:
            self.bound, self.decision = more_than, d
        else:
            self.given_up = more_than
        self.steps.append(Step(more_than, d.status, found, time.monotonic() - start))

    def _keep(self, run: Replayed, witness: Witness) -> Fraction | None:
        excess = run.excess_ulps
        if excess is not None and excess > self.excess:
            self.excess, self.witness, self.replayed = excess, witness, run
        return excess

    def next(self) -> Fraction | None:
        """The next threshold: twice the excess found, or halfway up to what is proved or given up.

        None where nothing lies between.
        """
        if not self.steps:
            return Fraction(0)
        low = math.ceil(self.excess / ULP_STEP) * ULP_STEP
        ends = [x for x in (self.bound, self.given_up) if x is not None]
        if not ends:
            return max(2 * low, ULP_STEP)
        if low >= min(ends):
            return None
        return math.floor((low + min(ends)) / 2 / ULP_STEP) * ULP_STEP

    def shrink(self, seconds: float) -> None:
        """Simpler inputs in place of the best ones, with an excess smaller by less than ULP_STEP."""
        if self.witness is None:
            return
        below = (math.ceil(self.excess / ULP_STEP) - 1) * ULP_STEP
        q = worse_question(replace(self.asked, more_than=below))
        small = shrunk(q, self.witness.inputs(), seconds=seconds)
        run = replay(q, small.inputs())
        if run.violates:
            self.witness, self.replayed = small, run


def worst(
    asked: Asked,
    *,
    seconds: float,
    limits: Limits,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    jobs: int | None = None,
    shrinking_s: float = 4.0,
    progress: Callable[[str], None] = lambda _: None,
) -> Worst:
    """Search for the inputs with the largest excess error, in ulps of the exact value.

    The threshold doubles until no inputs are found, then the gap is halved down to ULP_STEP, for `seconds`
    in all and `limits` for each question; a threshold without an answer is given up, and what lies below it
    is still searched.  Errors: InputError for arguments that do not fit.
    """
    check_positive("seconds", seconds)
    start = time.monotonic()
    search = _Search(
        asked, limits, seconds, {"members": PROGRAM.members(solvers), "certify": certify, "jobs": jobs}
    )
    while time.monotonic() < search.deadline and (threshold := search.next()) is not None:
        search.ask(threshold, progress)
    progress("shrinking the witness")
    search.shrink(shrinking_s)
    return Worst(
        asked=asked, witness=search.witness, replayed=search.replayed, bound=search.bound,
        decision=search.decision, steps=tuple(search.steps), seconds=time.monotonic() - start,
    )  # fmt: skip
