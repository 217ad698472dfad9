"""What an identification concludes: the class and what is open of it, or what no design gives."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, most_exact_terms
from tcformal.identification import operand_questions as questions
from tcformal.identification.asker import Asker
from tcformal.identification.certify import Sameness, certainty, certified, fault, settled_designs, varied_by
from tcformal.identification.hypotheses import nan_variants
from tcformal.identification.identification import (
    FITTING,
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    NearDesign,
    Settled,
    untested_clauses,
)
from tcformal.identification.kinds import kind_of_noise
from tcformal.identification.masks import numbers_of
from tcformal.identification.order import Order
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import FEW, Repeated, noisy_inputs, strays
from tcformal.identification.survivors import ListedFamily, Search
from tcformal.identification.validation import Validated, simplest_unfit, validate
from tcformal.oracle.values import NumberClass, decode, format_value, hex_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, batch_of, rows_of, witness_at
from tcformal.simulation.operands.inputs import without_nan
from tcformal.simulation.operands.witness import Witness

#: Rounds of the search, and designs that are shown of a class.
ROUNDS, _MEMBERS = 8, 8
#: The parts of the time that is left which a comparison before proofs, and proofs have; nothing measured.
_COMPARED, _PROOFS, NOTHING = 0.3, 0.7, MappingProxyType[str, str]({})
#: Seconds in which designs are held against all answers when the time is over.
_GRACE = 1.0
_GOES_ON = "a run with the same results folder goes on with its answers"
#: How often every input is asked again where no design fits.
_AGAIN = 2
#: How often inputs with several answers are asked again, and the share of other answers up to which they are
#: faults.  What is random gives about a quarter; a device with faults answers a hundredth wrong at most.
_OFTEN, _SELDOM = 16, 1 / 8
_SEVERAL = "{} of {} inputs gave several answers when they were asked again"
#: Inputs with several answers that are asked for what these depend on.
_NOISY = 4
#: How often an identification may begin again, because answers that came late change what fits.
MOST_BEGUN = 4
#: Answers of a search that may be set aside, however few there are.
_ASIDE = 1
#: Designs that are shown of those that are near where none fits, and how often an input is asked again there.
_SHOWN, _TIMES = 10, 4
#: From so many terms on, sums of which the errors are summed apart are seldom other than exact ones.
_FEW_TERMS = 3


class Concluding(ABC):
    """An identification: what its answers and its search say."""

    def __init__(
        self, asker: Asker, vectors: int, progress: Progress, seconds: float = 300.0, begun: int = 0
    ) -> None:
        #: How often this identification began before.
        self.begun = begun
        self.asker, self.vectors, self.progress = asker, vectors, progress
        self.spec, self.k = asker.spec, asker.k
        self.start = time.monotonic()
        self.deadline = self.until = self.start + seconds
        self.repeated: Repeated | None = None
        self.order: Order | None = None
        self.search = Search(
            self.spec, self.k, asker.ask, trusted=asker.trusted, over=self.over, prepared=asker.prepared
        )
        self.validated: Validated | None = None
        #: Whether the answers are those of some pairing of the operands; which products are subtracted.
        self.paired, self.negated = True, "none"
        #: Other parameters that were measured, by name: each a set of them that is tried.
        self.own: list[dict[str, str]] = []
        #: Whether catalogued designs alone were tried; whether all values of the simplest one's were.
        self.listed, self.varied = False, True
        #: Designs near to others that were tried, and whether some were not because the time was over.
        self.near, self.cut = 0, False
        #: Whether other designs than trees of usual parameters were tried.
        self.beyond = False
        #: What a device outside the space looks like, and where its answers leave every design, by name.
        self.broken: dict[str, str] = {}
        #: Whether what it looks like is no design of the space.
        self.sure = False
        #: A design that gives all answers but the signs of some zeros.
        self.nearly: UnitSpec | None = None
        #: The word of NaNs, where one was seen, and the rule for NaN operands.
        self.nan: tuple[int, str] | None = None

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

    # ------------------------------------------------------------------ what is asked
    @abstractmethod
    def whole(self) -> Identification:
        """All stages, or what is known when the time or the patience ends."""

    @abstractmethod
    def _beyond_trees(self) -> Identification:
        """What is no tree of usual parameters."""

    @abstractmethod
    def _catalogued(self) -> list[UnitSpec]:
        """The catalogued designs of the formats."""

    @abstractmethod
    def _inner_bits(self) -> dict[bool, int]:
        """The fraction bits that inner sums keep."""

    # ------------------------------------------------------------------ conclusions
    def _concluded(self) -> Identification:
        self.share(1 - _PROOFS)
        while self.search.unsettled and not self.over() and self.search.run(len(self.search.curve) + ROUNDS):
            self.progress("choosing more inputs")
        fitting: list[UnitSpec] = []
        for u in self._candidates():
            if fitting and self.asker.late:
                break
            if not self.asker.misfits(u).size:
                fitting.append(u)
        if not fitting:
            if (again := self._asked_again()) is not None:
                return again
            if not self.beyond:  # trees that gave all answers but late ones, or those of NaNs
                self.search.alive = []
                return self._beyond_trees()
            return self._set_aside() or self._outside()
        self.listed = self.listed and any(isinstance(s.family, ListedFamily) for s in self.search.alive)
        asked_for = self.spec.name  # that of an instruction where one was named
        simplest = min(
            fitting, key=lambda u: (u.name != asked_for, u.tree is not None, "@" in u.name, len(u.name))
        )
        self.varied = varied_by(self.search.alive, simplest, self.k)
        if self.asker.aside:
            return self._wrong_always(simplest)
        asked = len(self.asker.history[1])
        if self._compensated(simplest):
            self._learn(asked)
            return self._concluded()
        # Late answers refute a design sooner than proofs about it end.
        self.share(_COMPARED)
        if (late := self._compared(simplest)) is not None:
            return late
        cut = self.over()
        self.progress(f"certifying {simplest.name:.60}")
        same = Sameness(simplest, self.k, _PROOFS * self.left, self.over)
        self.share(_PROOFS)
        axes = certified(self.search, simplest, self.asker, same, self.progress)
        axes += settled_designs([u for u in fitting if u.name != simplest.name], axes, self.asker, same)
        axes += self._settled_before(simplest)
        if self.asker.misfits(simplest).size:
            # An input that tells two designs apart refuted the one that seemed the simplest.
            self._learn(asked)
            return self._concluded()
        ended, self.until = self.over(), self.deadline
        if cut and (late := self._compared(simplest)) is not None:
            return late
        undecided = sum(x.settled is Settled.UNDECIDED for x in axes)
        untried = [x for x in axes if x.settled is Settled.UNTRIED]
        left_of = [u.name for u in fitting if not self.asker.misfits(u).size]
        names = (simplest.name, *(name for name in left_of if name != simplest.name))[:_MEMBERS]
        left = max(self.search.count, len(names), sum(x.settled is Settled.SAME for x in axes))
        self.search.curve.append((self.search.probes, left))
        rate = Rate(0, 1) if self.validated is None else self.validated.misfits
        once = self.asker.corrected + (0 if self.repeated is None else self.repeated.other.count)
        verdict, trees = IdentifyVerdict.REMAINING, self.order is not None and self.order.root is not None
        if (wrong := fault(simplest.name, rate, once)) is not None:
            verdict, reason = wrong
        elif untried or (self.vectors and self.validated is None):
            values = ", ".join(dict.fromkeys(x.axis for x in untried))
            before = f"{len(untried)} other designs were tried ({values})" if untried else "others were asked"
            reason = (
                f"{simplest.name} gives every answer so far, but the time ended before {before}: {_GOES_ON}"
            )
        elif undecided:
            values = ", ".join(sorted({x.axis for x in axes if x.settled is Settled.UNDECIDED}))
            reason = (
                f"no input was found that tells {undecided} designs from {simplest.name}, and no proof that "
                f"there is none{', before the time ended' if ended else ''}: {values}"
            )
        elif self.search.unsettled:
            reason = f"{simplest.name} gives every answer, but {self.search.unsettled}"
        else:
            verdict = IdentifyVerdict.IDENTIFIED
            reason = certainty(self.listed, trees, self.varied, bool(self.near)).format(simplest.name)
        return replace(self._made(verdict, reason), classes=(names,), axes=tuple(axes), survivors=left)

    def _compensated(self, simplest: UnitSpec) -> bool:
        """Whether terms at three heights refute an exact sum, as the answers of compensated sums do."""
        asked = not (self.asker.by_hand or self.asker.late or self.spec.d_format.integer)
        if not asked or most_exact_terms(simplest) < _FEW_TERMS:
            return False
        told = questions.cancelled_twice(self.spec, self.k, with_c=not self.asker.refused)
        if not len(told.c):
            return False
        self.asker.ask(told)
        return bool(self.asker.misfits(simplest).size)

    def _candidates(self) -> list[UnitSpec]:
        """The simplest design of each family, and what the catalogue has, with every rule for NaNs.

        Beside designs that fit, units of more products than k are left out: they show with more products.
        When the time is over, what was not looked at is left out.
        """
        made = [resolve(s.family.name(s.simplest()[0])).name for s in self.search.alive]
        units = [*map(resolve, dict.fromkeys((*made, *(u.name for u in self._catalogued()))))]
        batch, answers = self.asker.history
        rows = np.intersect1d(without_nan(self.spec, batch), self.asker.trusted(batch))
        few = rows_of(batch, rows)
        right: list[UnitSpec] = []
        for n, u in enumerate(units):
            if right and self.asker.late:
                units = units[:n]
                break
            if (replay(u, few) == answers[rows]).all():
                right.append(u)
        if any(u.k <= self.k for u in right):
            units, right = ([u for u in x if u.k <= self.k] for x in (units, right))
        words = [] if self.nan is None else questions.nan_words(self.spec, self.asker.history, self.nan[0])
        return [*units, *(other for u in right for other in nan_variants(u, words))]

    def _settled_before(self, simplest: UnitSpec) -> list[AxisOutcome]:
        """What is known of designs that no family of the search has."""
        return []

    # ------------------------------------------------------------------ after a refutation
    def _asked_again(self) -> Identification | None:
        """Ask every input again: the verdict where many answers differ, or after few were corrected."""
        if self.asker.by_hand:
            return None
        self.progress("asking every input again")
        batch, answers = self.asker.history
        corrected, repeated = self.asker.corrected, self.asker.repeated(batch, _AGAIN)
        several = np.flatnonzero((repeated != answers).any(axis=0))
        if several.size <= _ASIDE or not self.beyond or self._seldom(rows_of(batch, several)):
            # One wrong answer refutes every design; where it does not come again, it is none.
            return None if self.asker.corrected == corrected else self._anew()
        exact = noisy_inputs(self.spec, self.k)
        for row in several[:: max(1, several.size // _NOISY)][:_NOISY].tolist():
            if text := kind_of_noise(self.asker, [*exact, witness_at(batch, row)]):
                self.broken["looks like"] = text
                break
        reason = _SEVERAL.format(several.size, len(answers))
        return self._made(IdentifyVerdict.NON_DETERMINISTIC, reason)

    def _seldom(self, batch: Batch) -> bool:
        """Whether inputs that once had several answers seldom have them: faults, and no randomness."""
        answers = self.asker.repeated(batch, _OFTEN)
        return strays(answers) <= _SELDOM * answers.size

    def _anew(
        self, seen: Mapping[str, str] = NOTHING, nearly: UnitSpec | None = None
    ) -> Identification | None:
        """The identification from the start, with all answers so far; None where it began too often.

        `seen`: what a device outside the space looks like; `nearly`: as the attribute.
        """
        if self.begun >= MOST_BEGUN or not self.left:
            return None
        self.asker.layout = None
        again = type(self)(self.asker, self.vectors, self.progress, self.left, begun=self.begun + 1)
        again.broken |= seen
        again.nearly = nearly or self.nearly
        again.search.near += [] if again.nearly is None else [again.nearly]
        return again.whole()

    def _compared(self, simplest: UnitSpec) -> Identification | None:
        """The identification after a comparison with further inputs that refuted a design; else None."""
        if not self.vectors or self.asker.late:
            return None
        self.progress(f"comparing {simplest.name:.60} with the device")
        self.validated = validate(self.asker, simplest, self.vectors, over=self.over)
        return self._refuted_late(simplest)

    def _refuted_late(self, simplest: UnitSpec) -> Identification | None:
        """The identification with the comparison's misfits among the answers; None where none stays."""
        found = self.validated
        if found is None:
            return None
        asked = len(self.asker.history[1])
        if told := [x.witness for x in found.shown if x.stays]:
            self.asker.ask(batch_of(told))
        if self.asker.misfits(simplest).size:
            words = [word for x in found.shown if x.stays for word in (x.given, x.designed)]
            zeros = all(number == 0 for number in numbers_of(self.spec.d_format, words))
            return self._anew(nearly=simplest if zeros else None) or self._left_uncompared(asked)
        several = [x for x in found.shown if not x.stays]
        if len(several) <= _ASIDE or self._seldom(batch_of([x.witness for x in several])):
            return None
        self.validated = None
        return self._made(
            IdentifyVerdict.NON_DETERMINISTIC, _SEVERAL.format(found.misfits.count, found.misfits.of)
        )

    def _left_uncompared(self, asked: int) -> Identification:
        """What gives all answers, those from row `asked` on too, where nothing begins again."""
        self._learn(asked)
        self.validated = None
        names = tuple(u.name for u in self._candidates() if not self.asker.misfits(u).size)
        if not names:
            return self._outside()
        left = max(self.search.count, len(names))
        self.search.curve.append((self.search.probes, left))
        reason = (
            f"{names[0]} gives every answer so far, but further inputs refuted another design that did, in "
            f"the last of {self.begun + 1} searches"
        )
        made = self._made(IdentifyVerdict.REMAINING, reason)
        return replace(made, classes=(names[:_MEMBERS],), survivors=left)

    def _learn(self, asked: int) -> None:
        """Let the search learn the answers from a row of the history on."""
        batch, answers = self.asker.history
        new = without_nan(self.spec, batch)
        new = new[new >= asked]
        if new.size:
            self.search.take(rows_of(batch, new), answers[new])

    def _set_aside(self) -> Identification | None:
        """The identification without few answers, where some design gives all others; None where none does.

        One answer that is wrong every time refutes every design, too.
        """
        batch, answers = self.asker.history
        units = (*self.search.near, *self._candidates())
        nearest = min(units, key=lambda u: len(self.asker.misfits(u)), default=None)
        wrong = np.zeros(0, np.intp) if nearest is None else self.asker.misfits(nearest)
        if not wrong.size or len(self.asker.aside) + wrong.size > max(_ASIDE, FEW * len(answers)):
            return None
        self.progress(f"setting {wrong.size} of {len(answers)} answers aside")
        self.asker.set_aside(rows_of(batch, wrong))
        return self._anew({name: text for name, text in self.broken.items() if name == "looks like"})

    def _wrong_always(self, simplest: UnitSpec) -> Identification:
        """A design that gives all answers but few, which the device gives every time, or not every time."""
        _, answers = self.asker.history
        count, often = len(self.asker.aside), len(answers)
        verdict, which = IdentifyVerdict.OUTSIDE, "which the device gives every time"
        if self.asker.aside <= self.asker.unsteady:
            verdict, which = IdentifyVerdict.FAULTY, "which do not come every time"
        reason = f"{simplest.name} gives all but {count} of {often} answers, {which}"
        return self._refuted(verdict, reason, [simplest])

    # ------------------------------------------------------------------ ends
    def _constant(self, word: int) -> Identification:
        """A device that says one thing."""
        d, (_, answers) = self.spec.d_format, self.asker.history
        ends_of = "numbers at the ends" if d.integer else "infinities"
        return self._made(
            IdentifyVerdict.CONSTANT,
            f"each of {len(answers)} inputs, sums of ones, {ends_of} and random numbers among them, gives "
            f"{format_value(d, word)} ({hex_word(d, word)})",
        )

    def _outside(self) -> Identification:
        """The nearest designs, where none gives every answer, and the simplest input that none gives."""
        self._measure_widths()
        units = {u.name: u for u in (*self._candidates(), *self.search.near)}
        batch, answers = self.asker.history
        agrees = {name: int((replay(u, batch) == answers).sum()) for name, u in units.items()}
        ranked = sorted(agrees, key=lambda name: -agrees[name])[:_SHOWN]
        self.search.curve.append((self.search.probes, 0))
        self.cut = self.cut or self.over()
        unpaired = "" if self.paired else f"no pairing of {self.k} products gives the answers, and "
        verdict, reason = IdentifyVerdict.OUTSIDE, "no design of the space gives all answers"
        if self.cut and not self.sure:
            verdict = IdentifyVerdict.UNFINISHED
            reason = "no design that was tried gives all answers, but the time ended before all were"
        return self._refuted(verdict, f"{unpaired}{reason}", [units[name] for name in ranked])

    def _measure_widths(self) -> None:
        """Put widths by stage among what was measured."""
        if self.asker.by_hand or self.over():
            return
        alone, inner = questions.isolated(self.asker), self._inner_bits()
        self.broken |= {
            "products alone keep": f"{alone.product_bits} fraction bits",
            "c alone keeps": f"{alone.c_bits} fraction bits",
        }
        if alone.limit is not None:
            self.broken["results overflow"] = f"from 2^{alone.limit} on"
        elif alone.product_limit is not None:
            self.broken["products overflow"] = f"from 2^{alone.product_limit} on, c does not"
        for products, bits in inner.items():
            name = "sums of products" if products else "sums of sums"
            self.broken[f"inner {name} keep"] = f"{bits} fraction bits"

    def _ended(self, why: str) -> Identification:
        """What is known when the search ends before its end: all answers are kept."""
        self.asker.until = self.deadline = self.until = 0.0
        self.asker.until = None
        batch, answers = self.asker.history
        if not len(answers):
            return self._made(IdentifyVerdict.UNFINISHED, f"{why} before anything was asked")
        alive = [resolve(s.family.name(s.simplest()[0])) for s in self.search.alive]
        right, until = dict[str, int](), time.monotonic() + _GRACE
        for u in (*alive, *reversed(self.search.near)):  # those that were tried last are nearer
            if right and time.monotonic() > until:
                break
            right[u.name] = int((replay(u, batch) == answers).sum())
        names = tuple(sorted(right, key=lambda name: -right[name]))
        fits = tuple(name for name in names if right[name] == len(answers))[:_MEMBERS]
        if fits:
            left = max(self.search.count, len(fits))
            self.search.curve.append((self.search.probes, left))
            reason = f"{fits[0]} gives every answer so far, but {why}: {_GOES_ON}"
            return replace(self._made(IdentifyVerdict.REMAINING, reason), classes=(fits,), survivors=left)
        self.search.curve.append((self.search.probes, 0))
        near = tuple(NearDesign(name, Rate(right[name], len(answers))) for name in names[:_SHOWN])
        reason = f"no design that was tried gives all answers, but {why} before all were: {_GOES_ON}"
        return replace(self._made(IdentifyVerdict.UNFINISHED, reason), nearest=near)

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
        right = {name: int((words == answers).sum()) for name, words in given.items()}
        nearest = tuple(NearDesign(u.name, Rate(right[u.name], len(answers))) for u in near)
        return replace(self._made(verdict, reason), nearest=nearest, unfit=tuple(unfit))

    def _made(self, verdict: IdentifyVerdict, reason: str) -> Identification:
        asker, plain, seen = self.asker, self.varied and not self.listed, self.validated is not None
        refused = (questions.ANY_C,) if asker.refused else ()
        measured = self._measured(verdict) | ({} if verdict in FITTING else self.broken)
        untested = *untested_clauses(self.spec, self.k, measured, plain=plain, seen=seen), *refused
        return Identification(
            verdict=verdict, reason=reason, device=asker.identity, operands=self.spec, history=asker.history,
            layout=asker.layout, repeated=self.repeated, space=self.search.space + self.near,
            measured=measured, validated=self.validated, untested=untested,
            growth=self.search.growth(), probes=asker.probes, batches=asker.batches,
            seconds=(asker.seconds, time.monotonic() - self.start),
        )  # fmt: skip

    def _measured(self, verdict: IdentifyVerdict) -> dict[str, str]:
        """What was measured, by name; what answers contradict is not said to be exact."""
        if self.order is None:
            return {}
        made, scale = self.order.measured, self.spec.scale_format
        if scale is not None and scale != self.asker.told.scale_format:
            made |= {"scales": questions.scales_shown(scale)}
        if verdict not in FITTING:
            seen = "masks saw no bit lost, but no exact sum gives all answers"
            made = {name: seen if value == "exact" else value for name, value in made.items()}
        return made | questions.beside_order(self.order, self.negated, self.asker.refused)


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
    rounded = "" if spec.d_format.integer else ", rounded to the format of d"
    if not live:
        return f"c alone{rounded}" if c else "a sum of zeros"
    if len(live) == 1 and not c:
        return f"one product alone{rounded}"
    terms = f"{len(live)} product{'s' if len(live) > 1 else ''}{' and c' if c else ''}"
    return f"a sum of {terms}"
