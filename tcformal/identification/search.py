"""The search: families of designs, and inputs that tell apart what is left of them, until nothing does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tcformal.design.axes import computed
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.identification.survivors.choose import next_inputs
from tcformal.identification.survivors.listed import ListedFamily
from tcformal.identification.survivors.tables import Survivors
from tcformal.programs.chain import same_definition
from tcformal.simulation.operands.batch import Batch, Raw, rows_of, together
from tcformal.simulation.operands.inputs import pool_of
from tcformal.simulation.structures import Designs, parametric_family

#: Inputs of one round, and of a pool; pools that are tried before nothing is said to split what is left.
_ROUND, _POOL, _POOLS = 24, 900, 3
#: Rounds of questions about designs that are listed one by one.
_LISTED = 2
#: Designs of a family of which the nearest to the answers is kept when they refute it.
_NEAR = 64

Answers = Callable[[Batch], Raw]


def as_it_is(batch: Batch) -> Batch:
    """A batch as it is."""
    return batch


def never() -> bool:
    """No time is ever over."""
    return False


@dataclass(slots=True)
class Search:
    """What is left of some families after every answer.

    `asked` and `answers`: every input so far, and what the device gave.
    """

    spec: UnitSpec
    k: int
    ask: Answers
    seed: int = 0
    alive: list[Survivors] = field(default_factory=list)
    #: Structures that have not been tried yet: most are refuted by answers that settle another one.
    waiting: list[UnitSpec] = field(default_factory=list)
    #: Which rows of a batch are learnt from; None for all.
    trusted: Callable[[Batch], NDArray[np.intp]] | None = None
    #: Whether the time is over, so that nothing more is looked at.
    over: Callable[[], bool] = never
    #: Inputs as the device takes them.
    prepared: Callable[[Batch], Batch] = as_it_is
    #: Whether families take up parameters that no catalogued design has.
    rare: bool = False
    asked: list[Batch] = field(default_factory=list)
    answers: list[Raw] = field(default_factory=list)
    #: Designs of the families that were tried, and families that answers refuted.
    space: int = 0
    refuted: int = 0
    #: Designs that were left after each round.
    curve: list[tuple[int, int]] = field(default_factory=list)
    #: Designs of the families that answers refuted, drawn before they did.
    near: list[UnitSpec] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Designs that are left."""
        return sum(survivors.count for survivors in self.alive)

    @property
    def probes(self) -> int:
        """Inputs that were asked."""
        return sum(len(batch.c) for batch in self.asked)

    @property
    def unsettled(self) -> str:
        """What was not looked at to the end: structures, and answers that may refute more; empty for none."""
        answers = sum(len(survivors.open) for survivors in self.alive)
        if not self.waiting and not answers:
            return ""
        return f"{len(self.waiting)} structures and {answers} answers were not looked at to the end"

    def growth(self) -> tuple[tuple[int, int], ...]:
        """Inputs asked and designs left after each round.

        What is left of a structure that was taken up later was left before, too.
        """
        left = [max(count for _, count in self.curve[i:]) for i in range(len(self.curve))]
        return tuple((probes, count) for (probes, _), count in zip(self.curve, left, strict=True))

    def take(self, batch: Batch, answers: Raw) -> None:
        """Answers that are known: every family learns them."""
        if self.trusted is not None:
            rows = self.trusted(batch)
            batch, answers = rows_of(batch, rows), answers[rows]
        self.asked.append(batch)
        self.answers.append(answers)
        for survivors in self.alive:
            before = survivors.some(_NEAR)
            survivors.take(batch, answers)
            if not survivors.count:
                self.near += self._nearest(survivors, before)
        self._forget()

    def _nearest(self, survivors: Survivors, designs: Designs) -> list[UnitSpec]:
        """Of some designs of a family the one that gives most answers."""
        batch, answers = together(*self.asked), np.concatenate(self.answers)
        agrees = (survivors.family.outputs(designs, batch) == answers).sum(axis=1)
        return [resolve(survivors.family.name(designs[int(agrees.argmax())]))]

    def learn_all(self) -> None:
        """Let every family learn every answer."""
        for survivors in self.alive:
            survivors.take(together(*self.asked), np.concatenate(self.answers))
        self._forget()

    def add(self, units: Iterable[UnitSpec]) -> None:
        """More structures, the most plausible first."""
        self.waiting += units

    def run(self, most_rounds: int = 12, pools: int = 1) -> bool:
        """Answers until no structure waits, and no input of some pools tells apart what is left.

        `pools` are looked at for one round: where little is left, none is spared by asking after each.
        Whether something was asked, or a structure taken up.
        """
        before = len(self.curve), len(self.waiting)
        self._run(most_rounds, pools)
        for survivors in self.alive:
            survivors.settle()
        self._forget()
        return before != (len(self.curve), len(self.waiting))

    def listed(self, units: Sequence[UnitSpec], more: Sequence[UnitSpec] = ()) -> list[UnitSpec]:
        """Units, and more beside some that were tried, as a family in the place of all others; what is left.

        Units of the same parameters count once, the first of them, and so do those left of one definition.
        """
        found: dict[object, UnitSpec] = {}
        for u in (*units, *more):
            found.setdefault(computed(u, self.k), u)
        designs = list(found.values())
        self.alive = (
            [Survivors(ListedFamily(designs), np.random.default_rng(0), over=self.over)] if designs else []
        )
        self.space += len(designs) - (len(units) if more else 0)
        if self.alive:
            self.learn_all()
            self.run(len(self.curve) + _LISTED, _POOLS)
        left: list[UnitSpec] = []
        for u in (designs[i] for survivors in self.alive for i in survivors.values(0)):
            if not any(same_definition(u, other, self.k) for other in left):
                left.append(u)
        return left

    def _run(self, most_rounds: int, pools: int = 1) -> None:
        idle = number = 0
        while len(self.curve) < most_rounds and not self.over():
            if not self.alive or idle >= _POOLS:
                if not self._next_family():
                    return
                idle = 0
                continue
            number += 1
            pool = self.prepared(pool_of(self.spec, self.k, pools * _POOL, self.seed + number))
            rows = next_inputs(self.alive, pool, _ROUND)
            if not rows:
                idle += pools
                continue
            idle = 0
            batch = rows_of(pool, np.array(rows))
            self.take(batch, self.ask(batch))
            self.curve.append((self.probes, self.count))

    def _next_family(self) -> bool:
        """Take up the structures that wait, until one is not refuted by the answers so far."""
        while self.waiting and not self.over():
            family = parametric_family(self.waiting.pop(0), rare=self.rare)
            survivors = Survivors(family, np.random.default_rng(self.seed), over=self.over)
            self.space += survivors.family.size
            if self.asked:
                survivors.take(together(*self.asked), np.concatenate(self.answers))
            if survivors.count:
                self.alive.append(survivors)
                return True
            self.refuted += 1
        return False

    def _forget(self) -> None:
        """Let go of families of which nothing is left."""
        left = [survivors for survivors in self.alive if survivors.count]
        self.refuted += len(self.alive) - len(left)
        self.alive = left
