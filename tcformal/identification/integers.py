"""Which design of sums of integers a device has."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tcformal.design.axes import computed
from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of, tree_unit
from tcformal.design.trees.tree import Step, Tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError
from tcformal.identification import operand_questions as questions
from tcformal.identification.asker import OutOfTimeError
from tcformal.identification.identification import AxisOutcome, Identification, IdentifyVerdict, Settled
from tcformal.identification.identify import Identifying
from tcformal.identification.integer_kinds import kind_of_integers
from tcformal.identification.integer_questions import Factors, Sums, Terms, seen
from tcformal.identification.integer_space import Tried, beside, sums_of
from tcformal.identification.kinds import kind_of_noise
from tcformal.identification.repeat import Repetition, noisy_inputs, repeat
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, together, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.replay import oracle_result
from tcformal.theory.equality import equal_by_theorem
from tcformal.theory.integer_theorems import integer_form

#: Random inputs that every design is held against, sums at the ends of narrow sums, and their seed.
_RANDOM, _EDGES, _SEED = 160, 240, 23
#: Answers that a design is held against one by one before it is held against all.
_ROWS = 40
#: Designs of which it is asked how many answers they give, where none gives all.
_NEAREST = 12
#: Inputs at most that are made to tell designs apart.
_APART = 2048
#: Rounds of further inputs, and pools that they are from.
_ROUNDS, _POOLS = 2, 3


class IdentifyingIntegers(Identifying):
    """One identification of sums of integers: exact, so that they differ where something overflows."""

    def _stages(self) -> Identification:
        self.asker.until = self.deadline
        #: Designs that give all answers, by what they compute; others with the row of the history that
        #: refutes them; all that were tried.
        self._fits: dict[object, Tried] = {}
        self._rejected: list[tuple[Tried, int]] = []
        self._tried: dict[str, Tried] = {}
        #: Whether c counts.
        self._has_c = True
        #: Designs that compute what one that was tried does.
        self._alike: list[tuple[Tried, object]] = []
        self.progress("asking the same inputs several times")
        try:
            self.repeated = repeat(self.asker)
        except DeviceError as error:
            if self.asker.by_hand or not questions.refuses_c(self.asker, error):
                raise
            self.repeated = repeat(self.asker)
        if not self.repeated.deterministic:
            if not self.asker.by_hand:
                self.progress("looking at what its answers depend on")
                if text := kind_of_noise(self.asker, noisy_inputs(self.spec, self.k)):
                    self.broken["looks like"] = text
            return self._made(IdentifyVerdict.NON_DETERMINISTIC, _spread(self.repeated.repetition))
        self.asker.ask(together(questions.first_sums(self.spec, self.k), *self._inputs()))
        if (word := self._only_word()) is not None:
            return self._constant(word)
        questions.find_layout(self.asker)
        self.progress("asking where sums overflow")
        found = seen(self.asker)
        self.broken |= found.words
        self._has_c = found.has_c
        batch, answers = self.asker.history
        self.search.take(batch, answers)
        self.progress("trying orders, widths and overflows")
        self._try(Tried(u, "design", u.name) for u in self._catalogued())
        self._try(sums_of(self.spec, self.k, found))
        if self.search.alive:
            self._try([other for x in list(self._fits.values()) for other in beside(x.unit)])
        else:
            self.search.near = self._nearest()
            if not self.asker.by_hand:
                self.progress("looking at what kind of device it is")
                if text := kind_of_integers(self.asker):
                    self.broken["looks like"] = text
        return self._concluded()

    def _inputs(self) -> list[Batch]:
        """Random inputs, and products at the ends of their ranges beside c near a power of two."""
        rng, sums = np.random.default_rng(_SEED), Sums(self.asker)
        corners: list[Factors] = [(x, y) for x in sums.a for y in sums.b]
        rows: list[Terms] = []
        for i in range(_EDGES):
            most = self.k if i % 2 else min(self.k, 4)
            places = rng.permutation(self.k)[: rng.integers(1, most + 1)]
            one = np.full(len(places), rng.integers(0, 4))
            chosen = rng.integers(0, 4, len(places)) if i % 4 else one
            products = {int(p): corners[n] for p, n in zip(places, chosen, strict=True)}
            # c is small, beside a power of two, or what the products leave to one.
            power = (1 << int(rng.integers(4, max(5, sums.c[1].bit_length() + 1)))) * int(rng.choice([-1, 1]))
            c = (0, power, power - sum(x * y for x, y in products.values()))[i // 4 % 3] + int(
                rng.integers(-2, 3)
            )
            rows.append((products, max(sums.c[0], min(sums.c[1], c))))
        return [sums.batch(rows), inputs_to_try(self.spec, self.k, _RANDOM, _SEED)]

    def _catalogued(self) -> list[UnitSpec]:
        """The catalogued designs of the formats, one under the name of an instruction that was asked for.

        None for a device that takes no c.
        """
        if self.asker.refused:
            return []
        named = {computed(self.spec, self.k): self.spec} if self.spec.name in catalogue() else {}
        return [named.get(computed(u, self.k), u) for u in super()._catalogued()]

    # ------------------------------------------------------------------ designs that are tried
    def _try(self, designs: Iterable[Tried]) -> None:
        """Hold designs against all answers, each function once, and ask what splits those left.

        Errors: OutOfTimeError where the time is over before all were.
        """
        batch, answers = self.asker.history
        rows = self._telling(batch)
        for x in designs:
            if self.over():
                raise OutOfTimeError
            if x.unit.name in self._tried:
                continue
            self._tried[x.unit.name] = x
            self.search.space += 1
            key = self._key(x.unit)
            if key in self._fits or any(key == other for _, other in self._alike):
                self._alike.append((x, key))
            elif (row := self._refuting(x.unit, batch, answers, rows)) is not None:
                self._rejected.append((x, row))
            else:
                self._fits[key] = x
        if len(self._fits) > 1:
            self.asker.ask(self._apart([x.unit for x in self._fits.values()]))
            self._learn(len(answers))
        if self._fits:
            space = self.search.space
            self.search.listed([x.unit for x in self._fits.values()])
            self.search.space = space
            left = {s.family.name((int(i),)) for s in self.search.alive for i in s.values(0)}
            batch, answers = self.asker.history
            for key, x in list(self._fits.items()):
                if x.unit.name not in left:
                    del self._fits[key]
                    wrong = np.flatnonzero(replay(x.unit, batch) != answers)
                    self._rejected.append((x, int(wrong[0])) if wrong.size else (x, 0))

    def _apart(self, units: Iterable[UnitSpec]) -> Batch:
        """Inputs that take each sum of some designs beyond its ends, the other products to the other end."""
        sums, rows = Sums(self.asker), dict[object, Terms]()
        for unit in units:
            made = unit if unit.tree is not None else tree_of(unit, unit.k)
            if made is None or made.tree is None:
                continue
            for step in made.tree.root.steps():
                inside = [i for i in step.products() if i < self.k]
                outside = [i for i in range(self.k) if i not in inside]
                for f, other in ((sums.most, sums.least), (sums.least, sums.most)):
                    for n in {0, 1, len(outside)}:
                        products = dict.fromkeys(inside, f) | dict.fromkeys(outside[:n], other)
                        rows.setdefault((tuple(sorted(products.items()))), (products, 0))
        return sums.batch([*rows.values()][:_APART])

    def _key(self, unit: UnitSpec) -> object:
        """What a design computes of k products; its name where no normal form says so."""
        form = integer_form(unit, self.k, zero_c=bool(self.asker.refused))
        return unit.name if form is None else form.key

    def _telling(self, batch: Batch) -> list[int]:
        """Answers to try first: those that one sum modulo 2^n does not give, then some of all others."""
        plain = tree_unit(
            self.spec, Tree(Step((*range(self.k), "c"))),
            Design(products=self.k, conversion=f"WRAP-{self.spec.d_format.name.upper()}", nan_word=0),
        )  # fmt: skip
        batch, answers = self.asker.history
        right = replay(plain, batch) == answers
        order = np.random.default_rng(0).permutation(self.asker.trusted(batch))
        return [int(i) for i in order[np.argsort(right[order], kind="stable")][:_ROWS]]

    def _refuting(self, unit: UnitSpec, batch: Batch, answers: np.ndarray, rows: list[int]) -> int | None:
        """The row of an answer that a design does not give; None for one that gives all."""
        for place, row in enumerate(rows):
            if oracle_result(unit, padded_witness(unit, witness_at(batch, row))) != int(answers[row]):
                rows.insert(0, rows.pop(place))  # what refutes one refutes many
                return row
        wrong = self.asker.misfits(unit)
        if wrong.size:
            rows.insert(0, int(wrong[0]))
            return int(wrong[0])
        return None

    def _nearest(self) -> list[UnitSpec]:
        """Of the designs that were tried, some that give most answers."""
        batch, answers = self.asker.history
        sample = [x.unit for x, _ in self._rejected]
        some = sample[: 4 * _NEAREST] + sample[-4 * _NEAREST :]
        rows = self._telling(batch)
        few = together(*(batch_row(batch, row) for row in rows))
        right = {u.name: int((replay(u, few) == answers[rows]).sum()) for u in some}
        names = sorted(right, key=lambda name: -right[name])[:_NEAREST]
        return [resolve(name) for name in names]

    def _settled_before(self, simplest: UnitSpec) -> list[AxisOutcome]:
        """What is known of the designs that were tried: refuted, or the simplest one's function."""
        made = [AxisOutcome(x.axis, x.value, x.unit.name, Settled.REFUTED, row) for x, row in self._rejected]
        for x, _ in self._alike:
            equal = equal_by_theorem(simplest, x.unit, self.k, zero_c=bool(self.asker.refused))
            if equal is not None:
                made.append(AxisOutcome(x.axis, x.value, x.unit.name, Settled.SAME, None, equal.text))
        return made

    def _measured(self, verdict: IdentifyVerdict) -> dict[str, str]:
        """What a device says that takes no c."""
        if self.asker.refused:
            return {"accumulator": f"{questions.REFUSES_C} ({self.asker.refused})"}
        return {} if self._has_c else {"accumulator": "none: no c changes a result"}

    def _measure_widths(self) -> None:
        """Nothing is measured beside where sums overflow."""


def batch_row(batch: Batch, row: int) -> Batch:
    """One row of a batch."""
    return Batch(batch.a[row : row + 1], batch.b[row : row + 1], batch.c[row : row + 1])


def _spread(found: Repetition) -> str:
    """How several answers to one input are said where no sum is rounded."""
    return found.value if found is not Repetition.STOCHASTIC_ROUNDING else "several answers to one input"
