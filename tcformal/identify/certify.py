"""Every other value of every axis of what was identified: the refuting input, the proof, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.identify.asking.ask import Asker
from tcformal.identify.record.identification import AxisOutcome, Settled
from tcformal.identify.same import Likeness, Sameness
from tcformal.identify.search import Search
from tcformal.identify.survivors.tables import Survivors
from tcformal.matmul.worlds.world import Designs
from tcformal.operands.batch import batch_of
from tcformal.operands.witness import Witness


@dataclass(frozen=True, slots=True)
class _OtherValue:
    """One other value of an axis: the simplest design of a world with it."""

    survivors: Survivors
    design: Designs
    axis: str
    value: str
    name: str

    def outcome(self, asker: Asker, found: Likeness | None = None) -> AxisOutcome:
        """What is known of it; a witness was asked of the device before."""
        probe = _refuting(self.survivors, self.design, asker)
        proof = "" if found is None or probe is not None else found.proof
        settled = Settled.REFUTED if probe is not None else Settled.SAME if proof else Settled.UNDECIDED
        return AxisOutcome(self.axis, self.value, self.name, settled, probe, proof)


def certified(search: Search, simplest: UnitSpec, asker: Asker, progress: Progress) -> list[AxisOutcome]:
    """What is known of each value that the simplest design does not have, one axis changed at a time.

    Lemmas and pools of inputs come first for all values, then solvers.  Inputs that are found to tell values
    from the simplest design's are asked of the device together, after the lemmas and after the solvers.
    """
    same = Sameness(simplest, asker.k)
    values = {x.name: x for survivors in search.alive for x in _values(survivors, simplest, asker.k)}
    made: dict[str, AxisOutcome] = {}
    for ask in (None, same.quickly, same.by_solvers):
        known: dict[str, Likeness] = {}
        told: list[Witness] = []
        for name, x in values.items():
            if ask is None or made[name].settled is not Settled.UNDECIDED or same.told(resolve(name), told):
                continue
            progress(f"proving that {x.axis}={x.value} changes nothing")
            known[name] = found = ask(resolve(name))
            told += [] if found.witness is None else [found.witness]
        if told:
            asker.ask(batch_of(told))
        for name, x in values.items():
            if ask is None or made[name].settled is Settled.UNDECIDED:
                made[name] = x.outcome(asker, known.get(name))
    return list(made.values())


def _values(survivors: Survivors, simplest: UnitSpec, k: int) -> list[_OtherValue]:
    """Every other value of each axis of a world, and itself where the simplest design has another."""
    world, base = survivors.world, _base(survivors, simplest, k)
    made = []
    for i, axis in enumerate(world.axes):
        for value in range(len(axis.values)):
            if value != base[0, i]:
                design = base.copy()
                design[0, i] = value
                made.append(
                    _OtherValue(survivors, design, axis.name, axis.values[value], world.name(design[0]))
                )
    if (name := world.name(base[0])) != simplest.name:
        made.append(_OtherValue(survivors, base, "structure", name, name))
    return made


def _base(survivors: Survivors, simplest: UnitSpec, k: int) -> Designs:
    """The design of a world that has the simplest design's parameters, or else the plainest that is left."""
    plainest = survivors.simplest()
    made = None if simplest.k > k or k % simplest.k else tree_of(simplest, k)
    if made is None or made.tree is None:
        return plainest
    stages = stage_designs(made.tree, made.design)
    base = plainest.copy()
    for i, axis in enumerate(survivors.world.axes):
        stage, _, name = axis.name.rpartition(".")
        value = getattr(stages.get(stage, made.design), name, None)
        text = "exact" if value is None else str(value)
        if text in axis.values and axis.values.index(text) in survivors.values(i):
            base[0, i] = axis.values.index(text)
    return base


def _refuting(survivors: Survivors, design: Designs, asker: Asker) -> int | None:
    """The first input of the history to which a design gives another answer than the device."""
    batch, answers = asker.history
    wrong = np.flatnonzero(survivors.world.outputs(design, batch)[0] != answers)
    return int(wrong[0]) if wrong.size else None
