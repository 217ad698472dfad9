"""Which design a device has: asked with nothing but the operand formats known."""

from __future__ import annotations

import numpy as np

from tcformal.callbacks import Progress, ignore
from tcformal.design.axes import altered, neighbours
from tcformal.design.catalog import distinct_designs
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats, takes
from tcformal.errors import DeviceError, InputError
from tcformal.identification.again import BegunAgain
from tcformal.identification.asking.alone import isolated, product_signs, refuses_c, with_signs
from tcformal.identification.asking.ask import Asker
from tcformal.identification.asking.layout import find_layout, first_sums
from tcformal.identification.asking.nans import invalid_operations, nan_word, nan_words
from tcformal.identification.asking.rates import Rate
from tcformal.identification.asking.repeat import repeat
from tcformal.identification.asking.validation import validate
from tcformal.identification.certify import certainty, certified, fault, settled_designs, varied_by
from tcformal.identification.hypotheses import hypotheses, nan_rule, nan_variants
from tcformal.identification.order.order import first_masks, order_of
from tcformal.identification.order.tasks import AskBatch
from tcformal.identification.outcome import one_word
from tcformal.identification.record.identification import Identification, IdentifyVerdict, Settled
from tcformal.identification.same import Sameness
from tcformal.identification.structures import Shapes, rare_shapes
from tcformal.identification.survivors.listed import ListedFamily
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import rows_of, together
from tcformal.simulation.operands.inputs import inputs_to_try, without_nan

#: Rounds of the search, and designs that are shown of a class.
_ROUNDS, _MEMBERS = 8, 8
#: Random inputs that are asked where all first answers are one word, and their seed.
_MORE, _SEED = 200, 9
#: The parts of the time that is left which stages have: trees and catalogued designs, what is near to these,
#: trees with rare parameters, trees whose outermost sum has its own parameters, proofs.
_FIRST, _NEARBY, _RARE, _ALONE, _PROOFS = 0.5, 0.3, 0.5, 0.6, 0.7


def identify(
    asker: Asker, *, vectors: int = 100_000, seconds: float = 300.0, progress: Progress = ignore
) -> Identification:
    """Identify a device among the trees of sums of its formats, and the catalogued designs beside them.

    `vectors` random and directed inputs are compared at the end.  After `seconds` the best verdict so far is
    given; what a device is asked first, and one call of it, may take longer.
    Errors: as `Asker.ask`.
    """
    return Identifying(asker, vectors, progress, seconds).whole()


class Identifying(BegunAgain):
    """One identification."""

    def __init__(
        self, asker: Asker, vectors: int, progress: Progress, seconds: float = 300.0, begun: int = 0
    ) -> None:
        super().__init__(asker, vectors, progress, seconds, begun)
        #: The word of NaNs, where one was seen, and the rule for NaN operands.
        self.nan: tuple[int, str] | None = None

    def whole(self) -> Identification:
        """All stages, each in one or few batches."""
        self.progress("asking the same inputs several times")
        try:
            self.repeated = repeat(self.asker)
        except DeviceError as error:
            if self.asker.by_hand or not refuses_c(self.asker, error):
                raise
            self.repeated = repeat(self.asker)
        if not self.repeated.deterministic:
            return self._made(IdentifyVerdict.NON_DETERMINISTIC, self.repeated.repetition.value)
        self.progress("looking for the layout of the operands")
        self._ask_first()
        if (word := self._only_word()) is not None:
            return self._constant(word)
        self.negated = product_signs(self.asker) if find_layout(self.asker).order is None else "none"
        self.paired, self.negated = bool(self.negated), self.negated or "none"
        word = nan_word(self.asker)
        self._ask_order()
        batch, answers = self.asker.history
        plain = without_nan(self.spec, batch)
        self.search.take(rows_of(batch, plain), answers[plain])
        self.nan = word, nan_rule(self.spec, self.order, word, self.asker.history, self.negated)
        self.share(_FIRST)
        self._trees(alone=False)
        if not self.search.alive:
            self.progress("trying the catalogued designs")
            self._listed()
        if not self.search.alive:
            self._beside()
        self.share(_ALONE)
        self._trees(alone=True)
        return self._concluded()

    def _ask_first(self) -> None:
        """What the next stages ask first, as one batch: no answer has a part in it."""
        batches = [first_sums(self.spec, self.k), invalid_operations(self.spec, self.k)]
        if self.spec.scale_format is None:
            batches.append(first_masks(self.spec.operands, self.k))
        self.asker.ask(together(*batches))

    def _only_word(self) -> int | None:
        """The word that is the answer to every input, random ones among them; None for other devices."""
        if one_word(self.asker.history[1]) is None:
            return None
        self.asker.ask(inputs_to_try(self.spec, self.k, _MORE, _SEED))
        return one_word(self.asker.history[1])

    def _ask_order(self) -> None:
        """The order of summation, which trees of sums are made from."""
        if self.spec.scale_format is None and self.paired:
            self.progress("asking for the order of summation")
            ask: AskBatch = self.asker.ask
            if self.negated != "none":
                ask = with_signs(ask, self.negated, self.spec)
            self.order = order_of(ask, self.spec.operands, self.k, with_c=not self.asker.refused)

    def _trees(self, *, alone: bool, rare: Shapes | None = None) -> None:
        """The trees of sums of the device's order, unless something gives all answers already."""
        for converted in (False, True):
            if self.order is not None and self.order.root is not None and not self.search.alive:
                assert self.nan is not None
                self.progress("choosing inputs")
                self.search.add(
                    hypotheses(
                        self.spec, self.order, self.nan, alone=alone, converted=converted, rare=rare,
                        negated=self.negated,
                    )
                )  # fmt: skip
                self.search.run(_ROUNDS)

    def _possible(self, unit: UnitSpec) -> bool:
        """Whether a unit can be what the device is; a composed one is called as a whole."""
        whole = unit.emulation is None or unit.k <= self.k
        return whole and same_formats(unit, self.spec) and takes(unit, self.k)

    def _catalogued(self) -> list[UnitSpec]:
        """The catalogued designs of the formats, with the word that NaNs were seen to have."""
        if self.asker.refused and self.order is not None and self.order.root is not None:
            return []  # whatever these do with c, the device has none
        found = [resolve(name) for name in distinct_designs(self._possible)]
        return [*map(self._worded, found)]

    def _worded(self, unit: UnitSpec) -> UnitSpec:
        """A design with the word that NaNs were seen to have."""
        if self.nan is None or unit.design.nan_word == self.nan[0] or unit.emulation is not None:
            return unit
        try:
            return resolve(altered(unit, f"nan_word={self.nan[0]:#x}")) if self._saw_nan() else unit
        except InputError:
            return unit

    def _saw_nan(self) -> bool:
        return bool(np.any(self.spec.d_format.is_nan(self.asker.history[1])))

    def _listed(self) -> None:
        """The catalogued designs of the formats, then what is left of them with its neighbours."""
        found = self._catalogued()
        self.listed = bool(found)
        if left := self.search.listed(found):
            self.search.listed(left, [u for x in left for u in neighbours(x)])

    def _beside(self) -> None:
        """What lies beside the nearest designs and the measured order: one and two parameters changed."""
        self.progress("trying what is near to the nearest designs")
        self.share(_NEARBY)
        if self._nearby(1):
            return
        self.progress("asking for terms alone")
        asked = len(self.asker.history[1])
        rare = isolated(self.asker)
        self._learn(asked)
        if rare.limit is not None and self._nearby(1, rare.limit):
            return
        self.share(_RARE)
        self.search.rare = True
        for shapes in rare_shapes(self.spec, rare):
            self._trees(alone=False, rare=shapes)
        self.share(_NEARBY)
        if not self.search.alive:
            self._nearby(2, rare.limit)

    # ------------------------------------------------------------------ conclusions
    def _concluded(self) -> Identification:
        self.share(1 - _PROOFS)
        while self.search.unsettled and not self.over() and self.search.run(len(self.search.curve) + _ROUNDS):
            self.progress("choosing more inputs")
        fitting = [u for u in self._candidates() if not self.asker.misfits(u).size]
        if not fitting:
            return self._asked_again() or self._set_aside() or self._outside(self._nearest())
        self.listed = self.listed and any(isinstance(s.family, ListedFamily) for s in self.search.alive)
        simplest = min(fitting, key=lambda u: (u.tree is not None, "@" in u.name, len(u.name)))
        self.varied = varied_by(self.search.alive, simplest, self.k)
        if self.asker.aside:
            return self._wrong_always(simplest)
        self.progress(f"certifying {simplest.name}")
        asked, same = len(self.asker.history[1]), Sameness(simplest, self.k, _PROOFS * self.left)
        axes = certified(self.search, simplest, self.asker, same, self.progress)
        axes += settled_designs([u for u in fitting if u.name != simplest.name], axes, self.asker, same)
        if self.asker.misfits(simplest).size:
            # An input that tells two designs apart refuted the one that seemed the simplest.
            self._learn(asked)
            return self._concluded()
        if self.vectors:
            self.progress(f"comparing {simplest.name} with the device")
            self.until = self.deadline
            self.validated = validate(self.asker, simplest, self.vectors, over=self.over)
            if (found := self._refuted_late(simplest)) is not None:
                return found
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
        reason = certainty(self.listed, trees, self.varied, bool(self.near)).format(simplest.name)
        return self._made(IdentifyVerdict.IDENTIFIED, reason, **more)

    def _candidates(self) -> list[UnitSpec]:
        """The simplest design of each family, and what the catalogue has, with every rule for NaNs."""
        made = [resolve(s.family.name(s.simplest()[0])).name for s in self.search.alive]
        units = [*map(resolve, dict.fromkeys((*made, *(u.name for u in self._catalogued()))))]
        batch, answers = self.asker.history
        rows = np.intersect1d(without_nan(self.spec, batch), self.asker.trusted(batch))
        few = rows_of(batch, rows)
        right = [u for u in units if (replay(u, few) == answers[rows]).all()]
        words = [] if self.nan is None else nan_words(self.spec, self.asker.history, self.nan[0])
        return [*units, *(other for u in right for other in nan_variants(u, words))]
