"""Which design a device has: asked with nothing but the operand formats known."""

from __future__ import annotations

import time

import numpy as np

from tcformal.callbacks import Progress, ignore
from tcformal.design.axes import neighbours
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.identify.asking.ask import Asker
from tcformal.identify.asking.layout import find_layout, first_sums
from tcformal.identify.asking.nans import invalid_operations, nan_word
from tcformal.identify.asking.rates import Rate
from tcformal.identify.asking.repeat import FEW, Repeated, repeat
from tcformal.identify.asking.validation import Validated, validate, with_misfits
from tcformal.identify.certify import certainty, certified, fault, settled_designs, varied_by
from tcformal.identify.hypotheses import hypotheses, nan_rule, nan_variants
from tcformal.identify.order.order import Order, first_masks, order_of
from tcformal.identify.record.identification import (
    Identification,
    IdentifyVerdict,
    NearDesign,
    Settled,
    untested_clauses,
)
from tcformal.identify.same import Sameness
from tcformal.identify.search import Search
from tcformal.matmul.replay import replay
from tcformal.operands.batch import batch_of, rows_of, together
from tcformal.operands.pool import without_nan

#: How often every input is asked again where no design fits.
_AGAIN = 2
#: Rounds of the search, designs that are shown of a class, and of those that are near where none fits.
_ROUNDS, _MEMBERS, _SHOWN = 8, 8, 10
#: How often an identification may begin again, because answers that came late change what fits.
_MOST_BEGUN = 4
#: Answers of a search that may be set aside, however few there are.
_ASIDE = 1


def identify(
    asker: Asker, *, vectors: int = 100_000, seconds: float = 300.0, progress: Progress = ignore
) -> Identification:
    """Identify a device among the trees of sums of its formats, and the catalogued designs beside them.

    `vectors` random and directed inputs are compared at the end; lemmas and solvers are asked for `seconds`.
    Errors: as `Asker.ask`.
    """
    return Identifying(asker, vectors, progress, seconds).whole()


class Identifying:
    """One identification."""

    def __init__(
        self, asker: Asker, vectors: int, progress: Progress, seconds: float = 300.0, begun: int = 0
    ) -> None:
        #: How often this identification began before.
        self.begun = begun
        self.asker, self.vectors, self.progress, self.seconds = asker, vectors, progress, seconds
        self.spec, self.k = asker.spec, asker.k
        self.start = time.monotonic()
        self.repeated: Repeated | None = None
        self.order: Order | None = None
        self.search = Search(self.spec, self.k, asker.ask, trusted=asker.trusted)
        self.validated: Validated | None = None
        #: Whether the answers are those of some pairing of the operands.
        self.paired = True
        #: Whether catalogued designs alone were tried; whether all values of the simplest one's were.
        self.listed, self.varied = False, True

    def whole(self) -> Identification:
        """All stages, each in one or few batches."""
        self.progress("asking the same inputs several times")
        self.repeated = repeat(self.asker)
        if not self.repeated.deterministic:
            return self._made(IdentifyVerdict.NON_DETERMINISTIC, self.repeated.repetition.value)
        self.progress("looking for the layout of the operands")
        self._ask_first()
        self.paired = find_layout(self.asker).order is not None
        word = nan_word(self.asker)
        self._ask_order()
        batch, answers = self.asker.history
        plain = without_nan(self.spec, batch)
        self.search.take(rows_of(batch, plain), answers[plain])
        nan = word, nan_rule(self.spec, self.order, word, self.asker.history)
        self._trees(nan, alone=False)
        if not self.search.alive:
            self.progress("trying the catalogued designs")
            self._listed()
        self._trees(nan, alone=True)
        return self._concluded()

    def _ask_first(self) -> None:
        """What the next stages ask first, as one batch: no answer has a part in it."""
        batches = [first_sums(self.spec, self.k), invalid_operations(self.spec, self.k)]
        if self.spec.scale_format is None:
            batches.append(first_masks(self.spec.operands, self.k))
        self.asker.ask(together(*batches))

    def _ask_order(self) -> None:
        """The order of summation, which trees of sums are made from."""
        if self.spec.scale_format is None and self.paired:
            self.progress("asking for the order of summation")
            self.order = order_of(self.asker.ask, self.spec.operands, self.k)

    def _trees(self, nan: tuple[int, str], *, alone: bool) -> None:
        """The trees of sums of the device's order, unless something gives all answers already."""
        for converted in (False, True):
            if self.order is not None and self.order.root is not None and not self.search.alive:
                self.progress("choosing inputs")
                self.search.add(hypotheses(self.spec, self.order, nan, alone=alone, converted=converted))
                self.search.run(_ROUNDS)

    def _possible(self, unit: UnitSpec) -> bool:
        """Whether a unit can be what the device is; a composed one is called as a whole."""
        whole = unit.emulation is None or unit.k <= self.k
        return whole and same_formats(unit, self.spec) and takes(unit, self.k)

    def _listed(self) -> None:
        """The catalogued designs of the formats, then what is left of them with its neighbours."""
        found = [resolve(name) for name in distinct_designs(self._possible)]
        self.listed = bool(found)
        if left := self.search.listed(found):
            self.search.listed(left, [u for x in left for u in neighbours(x)])

    # ------------------------------------------------------------------ conclusions
    def _concluded(self) -> Identification:
        while self.search.unsettled and self.search.run(len(self.search.curve) + _ROUNDS):
            self.progress("choosing more inputs")
        batch, answers = self.asker.history
        fitting = [u for u in self._candidates() if not self.asker.misfits(u).size]
        if not fitting:
            return self._asked_again() or self._set_aside() or self._outside()
        simplest = min(fitting, key=lambda u: (u.tree is not None, "@" in u.name, len(u.name)))
        self.varied = varied_by(self.search.alive, simplest, self.k)
        self.progress(f"certifying {simplest.name}")
        asked, same = len(answers), Sameness(simplest, self.k, self.seconds)
        axes = certified(self.search, simplest, self.asker, same, self.progress)
        axes += settled_designs([u for u in fitting if u.name != simplest.name], axes, self.asker, same)
        batch, answers = self.asker.history
        if self.asker.misfits(simplest).size:
            # An input that tells two designs apart refuted the one that seemed the simplest.
            self._learn(asked)
            return self._concluded()
        if self.vectors:
            self.progress(f"comparing {simplest.name} with the device")
            self.validated = validate(self.asker, simplest, self.vectors)
            if (found := self._refuted_late(simplest)) is not None:
                return found
        if self.asker.aside:
            self.validated = with_misfits(self.asker, simplest, self.validated, batch, answers)
        undecided = sum(x.settled is Settled.UNDECIDED for x in axes)
        left_of = [u.name for u in fitting if not self.asker.misfits(u).size]
        names = (simplest.name, *(name for name in left_of if name != simplest.name))[:_MEMBERS]
        left = max(self.search.count, len(names))
        self.search.curve.append((self.search.probes, left))
        more = {"classes": (names,), "axes": tuple(axes), "survivors": left}
        rate = Rate(0, 1) if self.validated is None else self.validated.misfits
        once = self.asker.corrected + (0 if self.repeated is None else self.repeated.other.count)
        if (wrong := fault(simplest.name, rate, once)) is not None:
            verdict, reason = wrong
            return self._made(verdict, reason, **more)
        if undecided:
            values = ", ".join(sorted({x.axis for x in axes if x.settled is Settled.UNDECIDED}))
            return self._made(
                IdentifyVerdict.REMAINING,
                f"no input was found that tells {undecided} designs from {simplest.name}, and no proof that "
                f"there is none: {values}",
                **more,
            )
        if self.search.unsettled:
            return self._made(
                IdentifyVerdict.REMAINING,
                f"{simplest.name} gives every answer, but {self.search.unsettled}",
                **more,
            )
        trees = self.order is not None and self.order.root is not None
        reason = certainty(self.listed, trees, self.varied).format(simplest.name)
        return self._made(IdentifyVerdict.IDENTIFIED, reason, **more)

    def _anew(self) -> Identification | None:
        """The identification from the start, with all answers so far; None where it began too often."""
        if self.begun >= _MOST_BEGUN:
            return None
        self.asker.layout = None
        return type(self)(self.asker, self.vectors, self.progress, self.seconds, begun=self.begun + 1).whole()

    def _refuted_late(self, simplest: UnitSpec) -> Identification | None:
        """The identification with the comparison's misfits among the answers; None where few or none stay."""
        found = self.validated
        if found is None or found.misfits.count <= FEW * found.misfits.of:
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
            return self._outside()
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

    def _candidates(self) -> list[UnitSpec]:
        """The simplest design of each world, and what the catalogue has, with every rule for NaNs."""
        made = [resolve(s.world.name(s.simplest()[0])).name for s in self.search.alive]
        units = [*map(resolve, dict.fromkeys((*made, *distinct_designs(self._possible))))]
        return [*units, *(other for unit in units for other in nan_variants(unit))]

    def _outside(self) -> Identification:
        """The nearest designs, where none gives every answer."""
        batch, answers = self.asker.history
        agrees = {u.name: int((replay(u, batch) == answers).sum()) for u in self._candidates()}
        ranked = sorted(agrees, key=lambda name: -agrees[name])[:_SHOWN]
        nearest = tuple(NearDesign(name, Rate(agrees[name], len(answers))) for name in ranked)
        self.search.curve.append((self.search.probes, 0))
        unpaired = "" if self.paired else f"no pairing of {self.k} products gives the answers, and "
        reason = f"{unpaired}no design of the space gives all answers"
        return self._made(IdentifyVerdict.OUTSIDE, reason, nearest=nearest)

    def _made(self, verdict: IdentifyVerdict, reason: str, **more: object) -> Identification:
        asker = self.asker
        found = {
            "space": self.search.space, "growth": self.search.growth(), "validated": self.validated,
            "measured": {} if self.order is None else self.order.measured, **more,
        }  # fmt: skip
        return Identification(
            verdict=verdict, reason=reason, device=asker.identity, operands=self.spec, history=asker.history,
            layout=asker.layout, repeated=self.repeated, probes=asker.probes, batches=asker.batches,
            seconds=(asker.seconds, time.monotonic() - self.start), untested=self._untested(), **found,  # type: ignore[arg-type]
        )  # fmt: skip

    def _untested(self) -> tuple[str, ...]:
        plain, seen = self.varied and not self.listed, self.validated is not None
        return untested_clauses(self.spec, self.k, plain=plain, seen=seen)
