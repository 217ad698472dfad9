"""Every other value of every axis of what was identified: the refuting input, the proof, or neither."""

from __future__ import annotations

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.arrangements import tree_of
from tcformal.design.names import resolve
from tcformal.design.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.identify.asking.ask import Asker
from tcformal.identify.record.identification import AxisOutcome, Settled
from tcformal.identify.same import Sameness
from tcformal.identify.search import Search
from tcformal.identify.survivors.tables import Survivors
from tcformal.identify.survivors.world import Designs
from tcformal.operands.batch import batch_of


def certified(search: Search, simplest: UnitSpec, asker: Asker, progress: Progress) -> list[AxisOutcome]:
    """What is known of each value that the simplest design does not have, one axis changed at a time.

    Where a solver finds an input that tells a value from the simplest design's, the device is asked.
    """
    same = Sameness(simplest, asker.k)
    made: dict[str, AxisOutcome] = {}
    for survivors in search.alive:
        for outcome in _of_world(survivors, simplest, same, asker, progress):
            made.setdefault(outcome.design, outcome)
    return list(made.values())


def _of_world(
    survivors: Survivors, simplest: UnitSpec, same: Sameness, asker: Asker, progress: Progress
) -> list[AxisOutcome]:
    world, base = survivors.world, _base(survivors, simplest, asker.k)
    changed: list[tuple[int, int, Designs]] = []
    for i, axis in enumerate(world.axes):
        for value in range(len(axis.values)):
            if value != base[0, i]:
                design = base.copy()
                design[0, i] = value
                changed.append((i, value, design))
    if world.name(base[0]) != simplest.name:
        changed.append((-1, -1, base))
    made = []
    for i, value, design in changed:
        name = world.name(design[0])
        parameter, text = ("structure", name) if i < 0 else (world.axes[i].name, world.axes[i].values[value])
        probe = _refuting(survivors, design, asker)
        proof = ""
        if probe is None:
            progress(f"proving that {parameter}={text} changes nothing")
            found = same.compared(resolve(name))
            if found.witness is not None:
                asker.ask(batch_of([found.witness]))
                probe = _refuting(survivors, design, asker)
            proof = found.proof
        settled = Settled.REFUTED if probe is not None else Settled.SAME if proof else Settled.UNDECIDED
        made.append(AxisOutcome(parameter, text, name, settled, probe, proof))
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
