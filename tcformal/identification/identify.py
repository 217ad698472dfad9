"""Which design a device has: asked with nothing but the operand formats known; apart from the command."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tcformal.callbacks import Progress, ignore
from tcformal.checks import MOST_VECTORS, check_int
from tcformal.design.axes import altered, neighbours
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.rounding import NEAREST
from tcformal.design.trees.tree import Step
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.devices.device import CallableDevice, Function
from tcformal.errors import DeviceError, InputError
from tcformal.identification import kinds
from tcformal.identification import operand_questions as questions
from tcformal.identification.asker import Asker, OutOfTimeError, asker_of
from tcformal.identification.certify import Sameness, certainty, certified, fault, settled_designs, varied_by
from tcformal.identification.hypotheses import (
    Nearby,
    Shapes,
    as_bases,
    framed,
    hypotheses,
    measured_values,
    nan_rule,
    nan_variants,
    numbers_only,
    plain_tree,
    rare_shapes,
)
from tcformal.identification.identification import (
    FITTING,
    AxisOutcome,
    Identification,
    IdentifyVerdict,
    NearDesign,
    Settled,
    untested_clauses,
)
from tcformal.identification.kinds import kind_of, kind_of_noise, narrow_operands
from tcformal.identification.masks import AskBatch, numbers_of
from tcformal.identification.operand_questions import Isolated
from tcformal.identification.order import Order, first_masks, order_of, order_of_unit
from tcformal.identification.products_alone import NARROWED
from tcformal.identification.rates import Rate
from tcformal.identification.repeat import DEEPEST, FEW, Repeated, Repetition, noisy_inputs, repeat, strays
from tcformal.identification.stochastic import (
    how_it_rounds,
    plain_sums,
    stochastic_designs,
    with_mode,
    words_given,
)
from tcformal.identification.survivors import ListedFamily, Search
from tcformal.identification.validation import Validated, simplest_unfit, validate
from tcformal.oracle.values import NumberClass, decode, format_value, hex_word
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch_of,
    rows_of,
    together,
    with_scales,
    witness_at,
)
from tcformal.simulation.operands.inputs import ends, inputs_to_try, without_nan
from tcformal.simulation.operands.witness import Witness

#: Rounds of the search, and designs that are shown of a class.
_ROUNDS, _MEMBERS = 8, 8
#: Random inputs that are asked where all first answers are one word, their seed, and a quarter of those at
#: the ends of D that are asked first.
_MORE, _SEED, _ENDS = 200, 9, 10
#: The parts of the time that is left which stages have: trees and catalogued designs, what is near to these,
#: trees with rare parameters, trees whose outermost sum has its own parameters, proofs.
_FIRST, _NEARBY, _RARE, _ALONE, _PROOFS = 0.5, 0.3, 0.5, 0.6, 0.7
#: Exponent bits that rounded operands are tried with, beside their own; no measured parameters.
_EXPONENTS, NOTHING = 8, MappingProxyType[str, str]({})
#: Seconds in which designs are held against all answers when the time is over.
_GRACE = 1.0
_GOES_ON = "a run with the same results folder goes on with its answers"
#: How the reasons of an order end that is another one for other operands.
_DECIDED = ("that no order does", "in this order")
#: How often every input is asked again where no design fits; designs of which one parameter is changed, and
#: two; and how many of what is found have their neighbours tried.
_AGAIN, _ONCE, _BASES, _AROUND = 2, 24, 4, 2
#: How often inputs with several answers are asked again, and the share of other answers up to which they are
#: faults.  What is random gives about a quarter; a device with faults answers a hundredth wrong at most.
_OFTEN, _SELDOM = 16, 1 / 8
_SEVERAL = "{} of {} inputs gave several answers when they were asked again"
#: How often an identification may begin again, because answers that came late change what fits.
MOST_BEGUN = 4
#: Answers of a search that may be set aside, however few there are.
_ASIDE = 1
#: Designs that are shown of those that are near where none fits, and how often an input is asked again there.
_SHOWN, _TIMES = 10, 4


def identify(
    device: str | Function,
    formats: str,
    k: int | None = None,
    *,
    scale: str | None = None,
    vectors: int = 100_000,
    folder: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identification:
    """Identify the design of a device of which only the operand formats are known.

    Shapes: a device by name (`exec:PROGRAM`, `model:UNIT`, …), or a function of a, b [n, K], c [n] (and
    scale_a, scale_b [n, scales]) that gives d [n]; `formats` are those of A, B, C, D, `fp16,fp16,fp32,fp32`.
    Ranges and units: raw encodings, operands in the smallest unsigned integers that hold them; `scale` is
    FORMAT/BLOCK; K is 16 unless given, or that of the only instruction of these formats where a device has
    several; `vectors` random and directed inputs are compared at the end; answers are kept in `folder`.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: UnknownNameError for unknown formats or devices; InputError for other shapes; DeviceError for a
    device that fails, or answers otherwise than before; RecordError for kept answers that were altered.
    Source: the device's answers.

    Examples:
        >>> box = tcformal.unit("hopper/mma.m8n8k4.f64.f64.f64.f64").dot_bits  # any function of encodings
        >>> tcformal.identify(box, "fp64,fp64,fp64,fp64", 2, vectors=100)
        <IDENTIFIED callable:Unit.dot_bits: power10/xvf64gerpp@nan_word=0xf…nan_rule=b_sum_a, 2 of 6804
        designs left>
    """
    check_int("vectors", vectors, low=0, high=MOST_VECTORS)
    kept, tell = None if folder is None else Path(folder), progress or ignore
    if not isinstance(device, str):
        asker = asker_of(CallableDevice(device), formats, k, scale, None, kept)
        return identified(asker, vectors=vectors, progress=tell)
    from tcformal.devices.isolated import opened  # a function needs no drivers

    with opened(device) as found:
        return identified(asker_of(found, formats, k, scale, None, kept), vectors=vectors, progress=tell)


def identified(
    asker: Asker, *, vectors: int = 100_000, seconds: float = 300.0, progress: Progress = ignore
) -> Identification:
    """Identify a device among the trees of sums of its formats, and the catalogued designs beside them.

    `vectors` random and directed inputs are compared at the end.  After `seconds`, and where the person at
    the keyboard stops it, the best verdict so far is given; one call of the device, and one step of the
    search, end first.
    Errors: as `Asker.ask`.
    """
    of = Identifying
    if asker.spec.d_format.integer:
        from tcformal.identification.integer_search import IdentifyingIntegers  # which is an Identifying

        of = IdentifyingIntegers
    return of(asker, vectors, progress, seconds).whole()


class Identifying:
    """One identification."""

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

    # ------------------------------------------------------------------ stages
    def whole(self) -> Identification:
        """All stages, each in one or few batches, or what is known when the time or the patience ends."""
        try:
            return self._stages()
        except KeyboardInterrupt:
            return self._ended("it was stopped")
        except OutOfTimeError:
            return self._ended("the time ended")

    def _unsteady(self) -> Identification | None:
        """Ask the same inputs several times: the verdict where the answers differ, None where they do not."""
        self.progress("asking the same inputs several times")
        try:
            self.repeated = repeat(self.asker)
        except DeviceError as error:
            if self.asker.by_hand or not questions.refuses_c(self.asker, error):
                raise
            self.repeated = repeat(self.asker)
        if self.repeated.deterministic:
            return None
        rounds = self._rounds(self.repeated)
        if not rounds and not self.asker.by_hand:
            self.progress("looking at what its answers depend on")
            if text := kind_of_noise(self.asker, noisy_inputs(self.spec, self.k, self.repeated)):
                self.broken["looks like"] = text
        said = self.repeated.repetition.value
        if self.spec.d_format.integer and self.repeated.repetition is Repetition.STOCHASTIC_ROUNDING:
            said = "several answers to one input"
        return self._made(IdentifyVerdict.NON_DETERMINISTIC, said)

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
        worst = witness_at(batch, int(several[0]))
        if text := kind_of_noise(self.asker, [*noisy_inputs(self.spec, self.k), worst]):
            self.broken["looks like"] = text
        reason = _SEVERAL.format(several.size, len(answers))
        return self._made(IdentifyVerdict.NON_DETERMINISTIC, reason)

    def _seldom(self, batch: Batch) -> bool:
        """Whether inputs that once had several answers seldom have them: faults, and no randomness."""
        answers = self.asker.repeated(batch, _OFTEN)
        return strays(answers) <= _SELDOM * answers.size

    def _rounds(self, seen: Repeated) -> bool:
        """Whether a device rounds stochastically, and what it shows: the random bits, and the sum."""
        rounding = seen.repetition is Repetition.STOCHASTIC_ROUNDING
        if self.spec.d_format.integer or not (rounding or seen.repetition is Repetition.RANDOM_ORDER):
            return False  # sums of integers are not rounded
        found = None
        if not self.asker.by_hand:
            self.progress("looking for the sum that is rounded at random")
            designs = [*plain_sums(self.asker), *self._catalogued()]
            found = stochastic_designs(self.asker, designs, seen.random_bits, self.over)
        if found is not None:
            self.repeated = replace(seen, repetition=Repetition.STOCHASTIC_ROUNDING, random_bits=found.bits)
            others = len(found.designs) - 1
            more = f", or of {others} other{'s' * (others > 1)}" if others else ""
            self.broken["looks like"] = how_it_rounds(found.bits, found.more)
            self.broken["what is rounded"] = f"the sum of {found.designs[0]}{more}, as random sums show"
        elif rounding:
            self.broken["looks like"] = how_it_rounds(
                seen.random_bits, seen.random_bits == DEEPEST, seen.places
            )
        return rounding or found is not None

    def _stages(self) -> Identification:
        self.asker.until = self.deadline
        if (unsteady := self._unsteady()) is not None:
            return unsteady
        self.progress("looking for the layout of the operands")
        self._ask_first()
        if (word := self._only_word()) is not None:
            return self._constant(word)
        layout = questions.find_layout(self.asker)
        self.negated = questions.product_signs(self.asker) if layout.order is None else "none"
        self.paired, self.negated = bool(self.negated), self.negated or "none"
        word = questions.nan_word(self.asker)
        self._ask_order()
        batch, answers = self.asker.history
        plain = without_nan(self.spec, batch)
        self.search.take(rows_of(batch, plain), answers[plain])
        self.nan = word, nan_rule(self.spec, self.order, word, self.asker.history, self._settings({}))
        self.share(_FIRST)
        self._trees(alone=False)
        return self._concluded() if self.search.alive else self._beyond_trees()

    def _beyond_trees(self) -> Identification:
        """What is no tree of usual parameters: one of others, a catalogued design, or what is near to one."""
        self.beyond = True
        self._narrow_sums()
        if not self.search.alive:
            self.progress("trying the catalogued designs")
            self._listed()
        if not self.search.alive:
            self._words_given()
        if not self.search.alive:
            if (again := self._asked_again()) is not None:
                return again
            self.share(_NEARBY)
            self._narrow_operands()
        if not self.search.alive:
            self.progress("trying what is near to catalogued designs")
            self._nearby(1)
        if not self.search.alive:
            self._looks_like()
            self.sure = not self.asker.by_hand and (self.sure or kinds.is_no_sum(self.asker))
            if self.sure:
                return self._concluded()
            self._beside()
        self.share(_ALONE)
        self._trees(alone=True)
        if not self.search.alive and self.search.put_off:
            self.search.take_up_again(len(self.search.curve) + _ROUNDS)
        return self._concluded()

    def _ask_first(self) -> None:
        """What the next stages ask first, as one batch: no answer has a part in it."""
        batches = [questions.first_sums(self.spec, self.k), questions.invalid_operations(self.spec, self.k)]
        # Products alone of full length refute most designs of narrower operands or products.
        alone = questions.first_products(self.spec, self.k, questions.random_products(self.spec))
        batches += [alone, questions.subnormal_factors(self.spec, self.k)]
        batches.append(questions.large_sums(self.spec, self.k))
        batches.append(with_scales(self.spec, first_masks(self.spec.operands, self.k)))
        if self.spec.scale_format is None:
            batches.append(ends(self.spec, self.k, _ENDS, _SEED))
        self.asker.ask(together(*batches))

    def _only_word(self) -> int | None:
        """The word that is the answer to every input, random ones among them; None for other devices."""
        if one_word(self.asker.history[1]) is None:
            return None
        self.asker.ask(inputs_to_try(self.spec, self.k, _MORE, _SEED))
        return one_word(self.asker.history[1])

    def _ask_order(self) -> None:
        """The order of summation, which trees of sums are made from."""
        if self.paired:
            self.progress("asking for the order of summation")
            with_c = not self.asker.refused
            ask = questions.with_signs(self.asker.ask, self.negated, self.spec)
            self.order = order_of_unit(ask, self.spec, self.k, with_c=with_c)
            deep = questions.below_exact(self.spec, self.k, self.order)
            if len(deep.c) and 0 in numbers_of(self.spec.d_format, self._ask()(deep)):
                order = order_of(self._ask(), self.spec.operands, self.k, with_c=with_c, deep=True)
                if order.root is not None and order.root.splits(self.order.root):
                    self.order = order
            beside = questions.beside_midpoints(self.spec, self.k, self.order)
            if len(beside.c):
                self._ask()(beside)

    def _settings(self, own: Mapping[str, str]) -> dict[str, str]:
        """Parameters that were measured, by name."""
        return {"negated": self.negated, **own}

    def _trees(self, *, alone: bool, rare: Shapes | None = None, own: Mapping[str, str] = NOTHING) -> None:
        """The trees of sums of the device's order, unless something gives all answers already."""
        for converted in (False, True) if rare is None else (False,):
            if self.order is not None and self.order.root is not None and not self.search.alive:
                assert self.nan is not None
                self.progress("choosing inputs")
                for order in (self.order, *self.order.others):
                    units = hypotheses(
                        self.spec, order, self.nan, self._settings(own), alone=alone, converted=converted,
                        rare=rare,
                    )  # fmt: skip
                    self.search.add(units)
                self.search.run(_ROUNDS)
                self._vary(own)

    def _framed(self) -> None:
        """Trees whose inner sums keep the exponent of their largest term."""
        if self.order is not None and self.nan is not None:
            self.search.add(framed(self.spec, self.order, self.nan, self._settings({})))
            self.search.run(_ROUNDS)

    def _vary(self, own: Mapping[str, str]) -> None:
        """Other values of measured parameters, which are no axes of families, as a family beside these."""
        simplest = [resolve(s.family.name(s.simplest()[0])) for s in self.search.alive if own]
        if others := [other for u in simplest for other in measured_values(u, own)]:
            self.search.join(others)

    def _possible(self, unit: UnitSpec) -> bool:
        """Whether a unit can be what the device is; a composed one is called as a whole."""
        whole = unit.emulation is None or unit.k <= self.k
        return whole and same_formats(unit, self.spec) and takes(unit, self.k)

    def _catalogued(self) -> list[UnitSpec]:
        """The catalogued designs of the formats, with the word that NaNs were seen to have."""
        if self.asker.refused and self.order is not None and self.order.root is not None:
            return []  # whatever these do with c, the device has none
        return [self._worded(resolve(name)) for name in distinct_designs(self._possible)]

    def _worded(self, unit: UnitSpec) -> UnitSpec:
        """A design with the word that NaNs were seen to have."""
        saw = bool(np.any(self.spec.d_format.is_nan(self.asker.history[1])))
        if self.nan is None or unit.design.nan_word == self.nan[0] or unit.emulation is not None or not saw:
            return unit
        try:
            return resolve(altered(unit, f"nan_word={self.nan[0]:#x}"))
        except InputError:
            return unit

    def _listed(self) -> None:
        """The catalogued designs of the formats, then what is left of them with its neighbours."""
        found = self._catalogued()
        self.listed = bool(found)
        if left := self.search.listed(found):
            self.search.listed(left, [u for x in left for u in neighbours(x)])

    def _words_given(self) -> None:
        """Catalogued designs that round stochastically with one word, and their neighbours."""
        if self.asker.by_hand or self.asker.refused:
            return
        self.progress("asking where sums begin to go up")
        asked = len(self.asker.history[1])
        modes = words_given(self.asker)
        self._learn(asked)
        designs = [self._worded(u) for u in with_mode([*plain_sums(self.asker), *self._catalogued()], modes)]
        if left := self.search.listed(designs) if modes else []:
            self.listed = True
            self.search.listed(left, [u for x in left for u in neighbours(x)])

    def _narrow_operands(self) -> None:
        """Trees of factors of fewer bits than their formats have, where products show them."""
        if self.asker.by_hand:
            return
        asked = len(self.asker.history[1])
        narrow = narrow_operands(self.asker)
        self._learn(asked)
        if narrow is None:
            return
        mode, bits = narrow
        widths = dict.fromkeys((self.spec.a_format.exponent_bits, _EXPONENTS))
        modes = [mode, *(x for x in NEAREST if mode in NEAREST and x != mode)]  # ties are rarely seen
        self.own = [{"operand_rounding": f"{x}-E{e}M{bits}"} for x in modes for e in widths]
        text = f"a and b {NARROWED[mode]} {bits} fraction bits before they are multiplied"
        self.broken["looks like"] = text
        for measured in self.own:
            self._trees(alone=False, own=measured)

    def _looks_like(self) -> None:
        """What kind of device directed questions show, a hint: designs not tried yet may show it, too."""
        if self.asker.by_hand or self.own:
            return
        self.progress("looking at what kind of device it is")
        asked = len(self.asker.history[1])
        if kind := kind_of(self.asker, [*self._ranked(_BASES), *self._plain()], self._catalogued()):
            self.broken["looks like"], self.sure = kind.text, kind.outside
        elif self.order is not None and self.order.reason.endswith(_DECIDED):
            self.broken["looks like"] = f"an order of the sum that the operands decide: {self.order.reason}"
        self._learn(asked)

    def _plain(self) -> list[UnitSpec]:
        """The tree of the device's order with no other parameters than its formats have."""
        if self.order is None or self.order.root is None or self.nan is None:
            return []
        made = plain_tree(self.spec, self.order.root, self.nan, self._settings({}))
        return [] if made is None else [made]

    def _ranked(self, most: int) -> list[UnitSpec]:
        """Of catalogued designs, and the nearest of each family, those that give most answers."""
        batch, answers = self.asker.history
        rows = without_nan(self.spec, batch)
        batch, answers = numbers_only(self.spec.d_format, rows_of(batch, rows), answers[rows])
        units = {u.name: u for u in (*self._catalogued(), *self.search.near)}
        right = {name: int((replay(u, batch) == answers).sum()) for name, u in units.items()}
        return [units[name] for name in sorted(right, key=lambda name: -right[name])[:most]]

    def _beside(self) -> None:
        """What lies beside the measured order, and with two parameters changed beside the nearest designs."""
        self.share(_NEARBY)
        alone = self._terms_alone()
        if alone.limit is not None and self._nearby(1, alone.limit):
            return
        self.share(_RARE)
        self.search.rare = True
        self._framed()
        self._rare_trees(alone)
        self.share(_NEARBY)
        if not self.search.alive:
            self._nearby(2, alone.limit)

    def _terms_alone(self) -> Isolated:
        """What terms alone show, and how the sum of c cuts it."""
        self.progress("asking for terms alone")
        asked = len(self.asker.history[1])
        alone = questions.isolated(self.asker)
        if self.order is not None and (cut := questions.c_cut(self._ask(), self.spec, self.k, self.order)):
            self.own = [cut | own for own in self.own or [{}]]
        self._learn(asked)
        return alone

    def _rare_trees(self, alone: Isolated) -> None:
        """Trees of shapes that no catalogued design has."""
        asked = len(self.asker.history[1])
        shapes = rare_shapes(self.spec, self.order, alone, self._inner_bits())
        self._learn(asked)
        owned = [(x, own) for own in self.own for x in (None, *shapes)]
        for of_sums, own in (*owned, *((x, NOTHING) for x in shapes)):
            self._trees(alone=False, rare=of_sums, own=own)
            self._trees(alone=True, rare=of_sums, own=own)

    def _narrow_sums(self) -> None:
        """Trees of shapes that no catalogued design has, where inner sums are seen to be narrow.

        So they are where a product loses bits that the result has, and that c, if there is one, keeps.
        """
        spec, order = self.spec, self.order
        if self.asker.by_hand or order is None or order.root is None or self.asker.refused:
            return
        asked = len(self.asker.history[1])
        alone = questions.isolated(self.asker)
        self._learn(asked)
        of_products = spec.a_format.fraction_bits + spec.b_format.fraction_bits + 1
        whole = min(of_products, spec.d_format.fraction_bits)
        inner = [x for x in order.root.children if isinstance(x, Step)]
        if inner and alone.product_bits < min(whole, alone.c_bits or whole):
            self.share(_RARE)
            self.search.rare = True
            self._rare_trees(alone)
            self.search.rare = False

    def _inner_bits(self) -> dict[bool, int]:
        """The fraction bits that inner sums keep, as `inner_bits` has them."""
        if self.order is None:
            return {}
        return questions.inner_bits(self._ask(), self.spec, self.k, self.order)

    def _ask(self) -> AskBatch:
        """Questions in which every product is added, and every scale is 1."""

        def ask(batch: Batch) -> Raw:
            return self.asker.ask(with_scales(self.spec, batch))

        return questions.with_signs(ask, self.negated, self.spec)

    def _nearby(self, changes: int, limit: int | None = None) -> bool:
        """Whether designs beside the nearest give all answers; then these are a family, with neighbours."""
        batch, answers = self.asker.history
        rows = without_nan(self.spec, batch)
        batch, answers = numbers_only(self.spec.d_format, rows_of(batch, rows), answers[rows])
        ranked = self._ranked(_ONCE if changes == 1 else _BASES)
        beside, bases = Nearby(batch, answers, self.over), [*as_bases(ranked, self.k)]
        wider = [*beside.of_other_widths(bases)] if changes > 1 else []
        found: list[UnitSpec] = []
        for base, count in (*((x, 1) for x in wider), *((x, changes) for x in (*wider, *bases))):
            some = beside.found([base], count, limit)
            fits = [u for u in some if not self.asker.misfits(u).size]  # NaNs, too
            found = fits or found or some
            if fits or (found and changes > 1):
                break
        self.near, self.cut = self.near + beside.tried, self.cut or not beside.whole
        if left := self.search.listed(found) if found else []:
            self.listed = True
            self.search.listed(left, [u for x in left[:_AROUND] for u in neighbours(x)])
        return bool(self.search.alive)

    # ------------------------------------------------------------------ conclusions
    def _concluded(self) -> Identification:
        self.share(1 - _PROOFS)
        while self.search.unsettled and not self.over() and self.search.run(len(self.search.curve) + _ROUNDS):
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
        self.progress(f"certifying {simplest.name:.60}")
        asked, same = len(self.asker.history[1]), Sameness(simplest, self.k, _PROOFS * self.left, self.over)
        self.share(_PROOFS)
        axes = certified(self.search, simplest, self.asker, same, self.progress)
        axes += settled_designs([u for u in fitting if u.name != simplest.name], axes, self.asker, same)
        axes += self._settled_before(simplest)
        if self.asker.misfits(simplest).size:
            # An input that tells two designs apart refuted the one that seemed the simplest.
            self._learn(asked)
            return self._concluded()
        ended, self.until = self.over(), self.deadline
        if self.vectors and not self.asker.late:
            self.progress(f"comparing {simplest.name:.60} with the device")
            self.validated = validate(self.asker, simplest, self.vectors, over=self.over)
            if (found := self._refuted_late(simplest)) is not None:
                return found
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
    def _anew(self, seen: Mapping[str, str] = NOTHING) -> Identification | None:
        """The identification from the start, with all answers so far; None where it began too often.

        `seen`: what a device outside the space looks like.
        """
        if self.begun >= MOST_BEGUN or not self.left:
            return None
        self.asker.layout = None
        again = type(self)(self.asker, self.vectors, self.progress, self.left, begun=self.begun + 1)
        again.broken |= seen
        return again.whole()

    def _refuted_late(self, simplest: UnitSpec) -> Identification | None:
        """The identification with the comparison's misfits among the answers; None where none stays."""
        found = self.validated
        if found is None:
            return None
        asked = len(self.asker.history[1])
        if told := [x.witness for x in found.shown if x.stays]:
            self.asker.ask(batch_of(told))
        if self.asker.misfits(simplest).size:
            return self._anew() or self._left_uncompared(asked)
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
        broken = {} if verdict in FITTING else self.broken
        untested = *untested_clauses(self.spec, self.k, plain=plain, seen=seen), *refused
        return Identification(
            verdict=verdict, reason=reason, device=asker.identity, operands=self.spec, history=asker.history,
            layout=asker.layout, repeated=self.repeated, space=self.search.space + self.near,
            measured=self._measured(verdict) | broken, validated=self.validated, untested=untested,
            growth=self.search.growth(), probes=asker.probes, batches=asker.batches,
            seconds=(asker.seconds, time.monotonic() - self.start),
        )  # fmt: skip

    def _measured(self, verdict: IdentifyVerdict) -> dict[str, str]:
        """What was measured, by name; what answers contradict is not said to be exact."""
        if self.order is None:
            return {}
        made = self.order.measured
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


def one_word(answers: Raw) -> int | None:
    """The word that all of some answers are; None where there are several."""
    return int(answers[0]) if len(answers) and (answers == answers[0]).all() else None
