"""Which design a device has: asked with nothing but the operand formats known; apart from the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
from tcformal.identification.conclusions import NOTHING, ROUNDS, Concluding
from tcformal.identification.hypotheses import (
    Nearby,
    Shapes,
    as_bases,
    framed,
    hypotheses,
    measured_values,
    nan_rule,
    numbers_only,
    plain_tree,
    rare_shapes,
)
from tcformal.identification.identification import (
    Identification,
    IdentifyVerdict,
)
from tcformal.identification.kinds import kind_of, kind_of_noise, narrow_operands
from tcformal.identification.masks import DEEP, SHALLOW, AskBatch, numbers_of
from tcformal.identification.operand_questions import Isolated
from tcformal.identification.order import Order, first_masks, order_of, order_of_unit
from tcformal.identification.products_alone import NARROWED
from tcformal.identification.repeat import DEEPEST, Repeated, Repetition, noisy_inputs, repeat
from tcformal.identification.stochastic import (
    how_it_rounds,
    plain_sums,
    stochastic_designs,
    with_mode,
    words_given,
)
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    rows_of,
    together,
    with_scales,
)
from tcformal.simulation.operands.inputs import ends, inputs_to_try, without_nan

#: Random inputs that are asked where all first answers are one word, their seed, and a quarter of those at
#: the ends of D that are asked first.
_MORE, _SEED, _ENDS = 200, 9, 10
#: The parts of the time that is left which stages have: trees and catalogued designs, what is near to these,
#: trees with rare parameters, trees whose outermost sum has its own parameters.
_FIRST, _NEARBY, _RARE, _ALONE = 0.5, 0.3, 0.5, 0.6
#: Exponent bits that rounded operands are tried with, beside their own.
_EXPONENTS = 8
#: How the reasons of an order end that is another one for other operands.
_DECIDED = ("that no order does", "in this order")
#: Designs of which one parameter is changed, and two; and how many of what is found have their neighbours
#: tried.
_ONCE, _BASES, _AROUND = 24, 4, 2


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


class Identifying(Concluding):
    """One identification: what is asked, and in which order."""

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
        if not (rounds and self.repeated.random_bits is not None) and not self.asker.by_hand:
            self.progress("looking at what its answers depend on")
            if text := kind_of_noise(self.asker, noisy_inputs(self.spec, self.k, self.repeated)):
                self.broken["looks like"] = text
        said = self.repeated.repetition.value
        if self.spec.d_format.integer and self.repeated.repetition is Repetition.STOCHASTIC_ROUNDING:
            said = "several answers to one input"
        return self._made(IdentifyVerdict.NON_DETERMINISTIC, said)

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
        self._scales()
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
            if self.nearly is not None:
                # Sums of other shapes have the same rules for signs of zeros.
                self._nearby(2)
                self.broken["looks like"] = f"{self.nearly.name}, but for the signs of some zeros"
                self.sure = True
            self.sure = not self.asker.by_hand and (self.sure or kinds.is_no_sum(self.asker))
            if self.sure or self.search.alive:
                return self._concluded()
            self._beside()
        self.share(_ALONE)
        self._trees(alone=True)
        if not self.search.alive and self.search.put_off:
            self.search.take_up_again(len(self.search.curve) + ROUNDS)
        return self._concluded()

    def _ask_first(self) -> None:
        """What the next stages ask first, as one batch: no answer has a part in it."""
        batches = [questions.first_sums(self.spec, self.k), questions.invalid_operations(self.spec, self.k)]
        # Products alone of full length refute most designs of narrower operands or products.
        alone = questions.first_products(self.spec, self.k, questions.random_products(self.spec))
        batches += [alone, questions.subnormal_factors(self.spec, self.k)]
        batches += [questions.large_sums(self.spec, self.k), questions.scale_signs(self.spec, self.k)]
        batches.append(with_scales(self.spec, first_masks(self.spec.operands, self.k)))
        if self.spec.scale_format is None:
            batches.append(ends(self.spec, self.k, _ENDS, _SEED))
        self.asker.ask(together(*batches))

    def _scales(self) -> None:
        """Take scales to be of the format that their top bits show."""
        scale = questions.scale_format(self.asker)
        if scale is not None and scale != self.spec.scale_format:
            self.asker.take_scales(scale)
            self.spec = self.search.spec = self.asker.spec

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
            doubt = bool(self.order.reason)
            deep = questions.below_exact(self.spec, self.k, self.order)
            looked: list[Sequence[int]] = []
            if doubt or (len(deep.c) and 0 in numbers_of(self.spec.d_format, self._ask()(deep))):
                looked.append(DEEP)  # some sums keep what lies as far down as masks do at first
            if doubt and self.order.root is not None:
                looked.append(SHALLOW)  # others lose it beside the sum that is to hide it
            for depths in looked:
                order = order_of(self._ask(), self.spec.operands, self.k, with_c=with_c, depths=depths)
                fits = not order.reason if doubt else order.root and order.root.splits(self.order.root)
                if order.root is not None and fits:
                    self.order = order
                    break
            beside = questions.beside_midpoints(self.spec, self.k, self.order)
            if len(beside.c):
                self._ask()(beside)

    def _settings(self, own: Mapping[str, str]) -> dict[str, str]:
        """Parameters that were measured, by name."""
        return {"negated": self.negated, **own}

    def _trees(self, *, alone: bool, rare: Shapes | None = None, own: Mapping[str, str] = NOTHING) -> None:
        """The trees of sums of the device's order, unless something gives all answers already."""
        for converted in (False, True) if rare is None else (False,):
            orders = self._orders()
            if alone and self.order is not None and self.order.root is None:
                orders = []  # of orders that masks do not show, those without a stage of their own are tried
            if orders and not self.search.alive:
                assert self.nan is not None
                self.progress("choosing inputs")
                for order in orders:
                    units = hypotheses(
                        self.spec, order, self.nan, self._settings(own), alone=alone, converted=converted,
                        rare=rare,
                    )  # fmt: skip
                    self.search.add(units)
                self.search.run(ROUNDS)
                self._vary(own)

    def _orders(self) -> list[Order]:
        """The order of the device, and others that give the same masks."""
        return [] if self.order is None else [x for x in (self.order, *self.order.others) if x.root]

    def _framed(self) -> None:
        """Trees whose inner sums keep the exponent of their largest term."""
        if self.order is not None and self.nan is not None:
            self.search.add(framed(self.spec, self.order, self.nan, self._settings({})))
            self.search.run(ROUNDS)

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
        cuts = (questions.c_cut(self._ask(), self.spec, self.k, order) for order in self._orders())
        if cut := next(filter(None, cuts), {}):
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

        So they are where a product loses bits that the result has, and that c, if there is one, keeps; unless
        it does so because operands share an exponent.
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
        short = inner and alone.product_bits < min(whole, alone.c_bits or whole)
        if short and not kinds.shares_exponents(self.asker):
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


def one_word(answers: Raw) -> int | None:
    """The word that all of some answers are; None where there are several."""
    return int(answers[0]) if len(answers) and (answers == answers[0]).all() else None
