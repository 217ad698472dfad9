"""How an identification ends: its record, and what is said where no design gives every answer."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.unit import UnitSpec
from tcformal.identification.asking.alone import ANY_C, beside_order
from tcformal.identification.asking.ask import Asker
from tcformal.identification.asking.rates import Rate
from tcformal.identification.asking.repeat import Repeated
from tcformal.identification.asking.simplest import simplest_unfit
from tcformal.identification.asking.validation import Validated
from tcformal.identification.order.order import Order
from tcformal.identification.record.identification import (
    Identification,
    IdentifyVerdict,
    NearDesign,
    untested_clauses,
)
from tcformal.identification.search import Search
from tcformal.oracle.values import NumberClass, decode, format_value, hex_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Raw, batch_of, witness_at
from tcformal.simulation.operands.witness import Witness

#: Designs that are shown of those that are near where none fits, and how often an input is asked again there.
_SHOWN, _TIMES = 10, 4
#: Verdicts for which some design gives all answers.
_FITTING = (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING)


class Ending:
    """The state of one identification, and the records that it can end in."""

    def __init__(self, asker: Asker, vectors: int, progress: Progress, seconds: float, begun: int) -> None:
        #: How often this identification began before.
        self.begun = begun
        self.asker, self.vectors, self.progress = asker, vectors, progress
        self.spec, self.k = asker.spec, asker.k
        self.start = time.monotonic()
        self.deadline = self.until = self.start + seconds
        self.repeated: Repeated | None = None
        self.order: Order | None = None
        self.search = Search(self.spec, self.k, asker.ask, trusted=asker.trusted, over=self.over)
        self.search.prepared = asker.prepared
        self.validated: Validated | None = None
        #: Whether the answers are those of some pairing of the operands; which products are subtracted.
        self.paired, self.negated = True, "none"
        #: Whether catalogued designs alone were tried; whether all values of the simplest one's were.
        self.listed, self.varied = False, True
        #: Designs near to others that were tried, and whether some were not because the time was over.
        self.near, self.cut = 0, False
        #: Where answers leave every design, by name.
        self.broken: dict[str, str] = {}

    # ------------------------------------------------------------------ the time
    def over(self) -> bool:
        """Whether the time of the stage is over."""
        return time.monotonic() > self.until

    def share(self, part: float) -> None:
        """Give the next stage a part of the time that is left."""
        self.cut = self.cut or self.over()
        now = time.monotonic()
        self.until = now + part * max(0.0, self.deadline - now)

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self.deadline - time.monotonic())

    # ------------------------------------------------------------------ ends
    def _constant(self, word: int) -> Identification:
        """A device that says one thing."""
        d, (_, answers) = self.spec.d_format, self.asker.history
        return self._made(
            IdentifyVerdict.CONSTANT,
            f"each of {len(answers)} inputs, sums of ones, infinities and random numbers among them, gives "
            f"{format_value(d, word)} ({hex_word(d, word)})",
        )

    def _outside(self, units: Sequence[UnitSpec]) -> Identification:
        """The nearest designs, where none gives every answer, and the simplest input that none gives."""
        batch, answers = self.asker.history
        agrees = {u.name: int((replay(u, batch) == answers).sum()) for u in units}
        ranked = sorted(agrees, key=lambda name: -agrees[name])[:_SHOWN]
        self.search.curve.append((self.search.probes, 0))
        self.cut = self.cut or self.over()
        unpaired = "" if self.paired else f"no pairing of {self.k} products gives the answers, and "
        if self.cut:
            reason = (
                f"{unpaired}no design that was tried gives all answers, but the time ended before all were"
            )
            verdict = IdentifyVerdict.UNFINISHED
        else:
            reason = f"{unpaired}no design of the space gives all answers"
            verdict = IdentifyVerdict.OUTSIDE
        by_name = {u.name: u for u in units}
        return self._refuted(verdict, reason, [by_name[name] for name in ranked])

    def _refuted(self, verdict: IdentifyVerdict, reason: str, near: Sequence[UnitSpec]) -> Identification:
        """A verdict with the designs that give most answers, and the simplest input that none gives."""
        found: Witness | None = None
        if near and not self.asker.by_hand:
            self.progress("looking for the simplest input that no design gives")
            found = simplest_unfit(self.asker, near, self.over)
        batch, answers = self.asker.history
        given = {u.name: replay(u, batch) for u in near}
        wrong = np.all([x != answers for x in given.values()], axis=0) if given else np.zeros(0, np.bool_)
        unfit: list[int] = np.flatnonzero(wrong).tolist()
        if found is not None:
            again = self.asker.repeated(batch_of([found]), _TIMES)[:, 0]
            same = "the same every time" if (again == again[0]).all() else "several results"
            unfit.sort(key=lambda row: witness_at(batch, row) != found)
            self.broken["breaks at"] = (
                f"{stage_of(self.spec, found)}; asked {_TIMES} times more, the device gives {same}"
            )
        nearest = tuple(
            NearDesign(u.name, Rate(int((given[u.name] == answers).sum()), len(answers))) for u in near
        )
        return self._made(verdict, reason, nearest=nearest, unfit=tuple(unfit))

    def _made(self, verdict: IdentifyVerdict, reason: str, **more: object) -> Identification:
        asker = self.asker
        found = {
            "space": self.search.space + self.near, "growth": self.search.growth(),
            "validated": self.validated, "measured": self._measured(verdict) | self.broken, **more,
        }  # fmt: skip
        return Identification(
            verdict=verdict, reason=reason, device=asker.identity, operands=self.spec, history=asker.history,
            layout=asker.layout, repeated=self.repeated, probes=asker.probes, batches=asker.batches,
            seconds=(asker.seconds, time.monotonic() - self.start), untested=self._untested(), **found,  # type: ignore[arg-type]
        )  # fmt: skip

    def _measured(self, verdict: IdentifyVerdict) -> dict[str, str]:
        """What was measured, by name; what answers contradict is not said to be exact."""
        made = {} if self.order is None else self.order.measured
        if verdict not in _FITTING:
            seen = "masks saw no bit lost, but no exact sum gives all answers"
            made = {name: seen if value == "exact" else value for name, value in made.items()}
        return (
            made if self.order is None else made | beside_order(self.order, self.negated, self.asker.refused)
        )

    def _untested(self) -> tuple[str, ...]:
        plain, seen = self.varied and not self.listed, self.validated is not None
        refused = (ANY_C,) if self.asker.refused else ()
        return (*untested_clauses(self.spec, self.k, plain=plain, seen=seen), *refused)


def stage_of(spec: UnitSpec, w: Witness) -> str:
    """The stage of a dot product that an input asks for, in a few words."""
    formats = (*((spec.a_format, x) for x in w.a), *((spec.b_format, x) for x in w.b), (spec.c_format, w.c))
    kinds = {decode(fmt, x).kind for fmt, x in formats}
    if kinds != {NumberClass.FINITE}:
        return "the rules for Inf and NaN"
    live = [
        (x, y) for x, y in zip(w.a, w.b, strict=True)
        if decode(spec.a_format, x).number and decode(spec.b_format, y).number
    ]  # fmt: skip
    c = bool(decode(spec.c_format, w.c).number)
    if not live:
        return "c alone, rounded to the format of d" if c else "a sum of zeros"
    if len(live) == 1 and not c:
        return "one product alone, rounded to the format of d"
    terms = f"{len(live)} product{'s' if len(live) > 1 else ''}{' and c' if c else ''}"
    return f"a sum of {terms}"


def one_word(answers: Raw) -> int | None:
    """The word that all of some answers are; None where there are several."""
    return int(answers[0]) if len(answers) and (answers == answers[0]).all() else None
