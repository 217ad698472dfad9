"""Which design of sums of integers a device has."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import numpy as np

from tcformal.design.axes import computed
from tcformal.design.catalog import catalogue
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import tree_of, tree_unit
from tcformal.design.trees.tree import Step, Tree
from tcformal.design.unit import UnitSpec
from tcformal.identification import operand_questions as questions
from tcformal.identification.asker import OutOfTimeError
from tcformal.identification.identification import AxisOutcome, Identification, IdentifyVerdict, Settled
from tcformal.identification.identify import Identifying
from tcformal.identification.integer_kinds import kind_of_integers
from tcformal.identification.integer_questions import Factors, Sums, Terms, seen
from tcformal.identification.integer_space import Tried, beside, sums_of
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, rows_of, together, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.replay import oracle_result
from tcformal.theory.equality import equal_by_theorem
from tcformal.theory.integer_theorems import integer_form

#: Random inputs that every design is held against, sums at the ends of narrow sums, and their seed.
_RANDOM, _EDGES, _SEED = 160, 240, 23
#: Answers that a design is held against one by one before it is held against all.
_ROWS = 40
#: Designs that are the nearest where none gives all answers, of so many of the first and of the last tried.
_NEAREST, _SAMPLED = 12, 48
#: Inputs at most that are made to tell designs apart.
_APART = 2048


class IdentifyingIntegers(Identifying):
    """One identification of sums of integers: exact, so that they differ where something overflows."""

    def _stages(self) -> Identification:
        self.asker.until, self.beyond = self.deadline, True
        #: Every design that was tried, by name, with what it computes; what computes all answers, with its
        #: first design; what does not, with the row of the history that refutes it.
        self._tried: dict[str, tuple[Tried, object]] = {}
        self._fits: dict[object, UnitSpec] = {}
        self._wrong: dict[object, int] = {}
        #: Whether c counts.
        self._has_c = True
        if (unsteady := self._unsteady()) is not None:
            return unsteady
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
            self._try([other for unit in self._fits.values() for other in beside(unit)])
        else:
            self.search.near = self._nearest()
            if not self.asker.by_hand:
                self.progress("looking at what kind of device it is")
                if text := kind_of_integers(self.asker) or _overflows(found.words):
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
        rows = self._telling()
        for x in designs:
            if self.over():
                raise OutOfTimeError
            if x.unit.name in self._tried:
                continue
            key = self._key(x.unit)
            self._tried[x.unit.name] = x, key
            if key not in self._fits and key not in self._wrong:
                self._judge(key, x.unit, rows)
        self.search.space = len(self._tried)
        if not self._fits:
            return
        if len(self._fits) > 1:
            asked = len(self.asker.history[1])
            self.asker.ask(self._apart(self._fits.values()))
            self._learn(asked)
        self.search.listed([*self._fits.values()])
        self.search.space = len(self._tried)
        # Further inputs may have refuted some.
        for key, unit in list(self._fits.items()):
            if (wrong := self.asker.misfits(unit)).size:
                self._wrong[key] = int(wrong[0])
                del self._fits[key]

    def _judge(self, key: object, unit: UnitSpec, rows: list[int]) -> None:
        """Hold a design against some answers one by one, which refutes most, then against all."""
        batch, answers = self.asker.history
        for place, row in enumerate(rows):
            if oracle_result(unit, padded_witness(unit, witness_at(batch, row))) != int(answers[row]):
                rows.insert(0, rows.pop(place))  # what refutes one refutes many
                self._wrong[key] = row
                return
        wrong = self.asker.misfits(unit)
        if wrong.size:
            rows.insert(0, int(wrong[0]))
            self._wrong[key] = int(wrong[0])
        else:
            self._fits[key] = unit

    def _apart(self, units: Iterable[UnitSpec]) -> Batch:
        """Inputs that take each sum of some designs beyond its ends, the other products to the other end."""
        sums, rows = Sums(self.asker), dict[object, Terms]()
        for unit in units:
            made = unit if unit.tree is not None else tree_of(unit, unit.k)
            if made is None or made.tree is None:
                continue
            for step in made.tree.root.steps():
                inside = [i for i in step.products() if i < self.k]
                cs = (0, *sums.c) if any("c" in x.children for x in step.steps()) else (0,)
                outside = [i for i in range(self.k) if i not in inside]
                for f, other in ((sums.most, sums.least), (sums.least, sums.most)):
                    for n, c in itertools.product({0, 1, len(outside)}, cs):
                        products = dict.fromkeys(inside, f) | dict.fromkeys(outside[:n], other)
                        rows.setdefault((tuple(sorted(products.items())), c), (products, c))
        return sums.batch([*rows.values()][:_APART])

    def _key(self, unit: UnitSpec) -> object:
        """What a design computes of k products; its name where no normal form says so."""
        form = integer_form(unit, self.k, zero_c=bool(self.asker.refused))
        return unit.name if form is None else form.key

    def _telling(self) -> list[int]:
        """Answers to try first: those that one sum modulo 2^n does not give, then some of all others."""
        plain = tree_unit(
            self.spec, Tree(Step((*range(self.k), "c"))),
            Design(products=self.k, conversion=f"WRAP-{self.spec.d_format.name.upper()}", nan_word=0),
        )  # fmt: skip
        batch, answers = self.asker.history
        right = replay(plain, batch) == answers
        order = np.random.default_rng(0).permutation(self.asker.trusted(batch))
        return [int(i) for i in order[np.argsort(right[order], kind="stable")][:_ROWS]]

    def _nearest(self) -> list[UnitSpec]:
        """Of the designs that were tried, some that give most answers."""
        batch, answers = self.asker.history
        units = [x.unit for x, _ in self._tried.values()]
        rows = np.array(self._telling())
        few = rows_of(batch, rows)
        some = {u.name: u for u in (*units[:_SAMPLED], *units[-_SAMPLED:])}
        right = {name: int((replay(u, few) == answers[rows]).sum()) for name, u in some.items()}
        return [some[name] for name in sorted(right, key=lambda name: -right[name])[:_NEAREST]]

    def _settled_before(self, simplest: UnitSpec) -> list[AxisOutcome]:
        """What is known of the designs that were tried: refuted, or the simplest one's function."""
        made = []
        for x, key in self._tried.values():
            if key in self._wrong:
                made.append(AxisOutcome(x.axis, x.value, x.unit.name, Settled.REFUTED, self._wrong[key]))
            elif key == self._key(simplest) and x.unit.name != simplest.name:
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


def _overflows(words: Mapping[str, str]) -> str:
    """The first of what was seen to overflow, in one clause; empty for nothing."""
    shown = {
        "a product alone": "a product that becomes another number",
        "sums of products": "sums of products that overflow",
        "c alone": "a c that becomes another number", "steps with c": "steps that saturate",
    }  # fmt: skip
    return next((f"{text} ({words[name]})" for name, text in shown.items() if name in words), "")
