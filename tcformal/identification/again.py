"""An identification that goes on after a refutation: answers asked again, or set aside, or other designs."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from tcformal.design.axes import neighbours
from tcformal.design.unit import UnitSpec
from tcformal.identification.asking.repeat import FEW
from tcformal.identification.outcome import Ending
from tcformal.identification.record.identification import Identification, IdentifyVerdict
from tcformal.identification.survivors.near import Nearby, as_bases, numbers_only
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of, rows_of
from tcformal.simulation.operands.inputs import without_nan

#: How often every input is asked again where no design fits.
_AGAIN = 2
#: How often an identification may begin again, because answers that came late change what fits.
MOST_BEGUN = 4
#: Answers of a search that may be set aside, however few there are.
_ASIDE = 1
#: Designs near which others are looked for, and designs that are shown of a class.
_BASES, _MEMBERS = 4, 8


class BegunAgain(Ending):
    """What is done where answers refute every design so far."""

    @abstractmethod
    def whole(self) -> Identification:
        """All stages."""

    @abstractmethod
    def _candidates(self) -> list[UnitSpec]:
        """Designs that may give all answers."""

    @abstractmethod
    def _catalogued(self) -> list[UnitSpec]:
        """The catalogued designs of the formats."""

    def _nearby(self, changes: int, limit: int | None = None) -> bool:
        """Whether designs beside the nearest give all answers; then these are a family, with neighbours."""
        batch, answers = self.asker.history
        rows = without_nan(self.spec, batch)
        batch, answers = numbers_only(self.spec.d_format, rows_of(batch, rows), answers[rows])
        units = {u.name: u for u in (*self._catalogued(), *self.search.near)}
        right = {name: int((replay(u, batch) == answers).sum()) for name, u in units.items()}
        ranked = [units[name] for name in sorted(right, key=lambda name: -right[name])[:_BASES]]
        beside = Nearby(batch, answers, self.over)
        found = beside.found([*as_bases(ranked, self.k)], changes, limit)
        self.near, self.cut = self.near + beside.tried, self.cut or not beside.whole
        if left := self.search.listed(found) if found else []:
            self.listed = True
            self.search.listed(left, [u for x in left for u in neighbours(x)])
        return bool(self.search.alive)

    def _anew(self) -> Identification | None:
        """The identification from the start, with all answers so far; None where it began too often."""
        if self.begun >= MOST_BEGUN or not self.left:
            return None
        self.asker.layout = None
        return type(self)(self.asker, self.vectors, self.progress, self.left, begun=self.begun + 1).whole()

    def _refuted_late(self, simplest: UnitSpec) -> Identification | None:
        """The identification with the comparison's misfits among the answers; None where none stays."""
        found = self.validated
        if found is None:
            return None
        asked = len(self.asker.history[1])
        if told := [x.witness for x in found.shown if x.stays]:
            self.asker.ask(batch_of(told))
        if not self.asker.misfits(simplest).size:
            return None
        return self._anew() or self._left_uncompared(asked)

    def _left_uncompared(self, asked: int) -> Identification:
        """What gives all answers, those from row `asked` on too, where nothing begins again."""
        self._learn(asked)
        self.validated = None
        names = tuple(u.name for u in self._candidates() if not self.asker.misfits(u).size)
        if not names:
            return self._outside(self._nearest())
        left = max(self.search.count, len(names))
        self.search.curve.append((self.search.probes, left))
        return self._made(
            IdentifyVerdict.REMAINING,
            f"{names[0]} gives every answer so far, but further inputs refuted another design that did, in "
            f"the last of {self.begun + 1} searches",
            classes=(names[:_MEMBERS],), survivors=left,
        )  # fmt: skip

    def _learn(self, asked: int) -> None:
        """Let the search learn the answers from a row of the history on."""
        batch, answers = self.asker.history
        new = without_nan(self.spec, batch)
        new = new[new >= asked]
        if not new.size:
            return
        self.search.take(rows_of(batch, new), answers[new])

    def _asked_again(self) -> Identification | None:
        """The identification after every input was asked twice more; None where that corrects no answer.

        One wrong answer refutes every design; where it does not come again, it is none.
        """
        asker = self.asker
        corrected = asker.corrected
        if asker.by_hand:
            return None
        self.progress("asking every input again")
        asker.repeated(asker.history[0], _AGAIN)
        return None if asker.corrected == corrected else self._anew()

    def _set_aside(self) -> Identification | None:
        """The identification without few answers, where some design gives all others; None where none does.

        One answer that is wrong every time refutes every design, too.
        """
        batch, answers = self.asker.history
        nearest = min(
            (*self.search.near, *self._candidates()), key=lambda u: len(self.asker.misfits(u)), default=None
        )
        wrong = np.zeros(0, np.intp) if nearest is None else self.asker.misfits(nearest)
        if not wrong.size or len(self.asker.aside) + wrong.size > max(_ASIDE, FEW * len(answers)):
            return None
        self.progress(f"setting {wrong.size} of {len(answers)} answers aside")
        self.asker.set_aside(rows_of(batch, wrong))
        return self._anew()

    def _wrong_always(self, simplest: UnitSpec) -> Identification:
        """A design that gives all answers but few, which the device gives every time, or not every time."""
        _, answers = self.asker.history
        count, often = len(self.asker.aside), len(answers)
        if self.asker.aside <= self.asker.unsteady:
            reason = f"{simplest.name} gives all but {count} of {often} answers, which do not come every time"
            return self._refuted(IdentifyVerdict.FAULTY, reason, [simplest])
        reason = (
            f"{simplest.name} gives all but {count} of {often} answers, which the device gives every time"
        )
        return self._refuted(IdentifyVerdict.OUTSIDE, reason, [simplest])

    def _nearest(self) -> list[UnitSpec]:
        """Designs that may be near where none fits."""
        units = {u.name: u for u in (*self._candidates(), *self.search.near)}
        return list(units.values())
