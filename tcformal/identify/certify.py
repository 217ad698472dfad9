"""For every other value of every axis of what was identified: the refuting input, or the proof, or neither."""

from __future__ import annotations

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import TcformalError
from tcformal.identify.ask import Asker
from tcformal.identify.identification import AxisOutcome, Settled
from tcformal.identify.search import Search
from tcformal.identify.survivors.tables import Survivors
from tcformal.identify.survivors.world import Designs
from tcformal.matmul.replay import replay
from tcformal.programs.chain import definition


def outcomes(search: Search, simplest: UnitSpec, asker: Asker, progress: Progress) -> list[AxisOutcome]:
    """What is known of each value that the simplest design does not have, one axis changed at a time."""
    made: list[AxisOutcome] = []
    for survivors in search.alive:
        made += _of_world(survivors, simplest, asker, progress)
    return made


def _of_world(
    survivors: Survivors, simplest: UnitSpec, asker: Asker, progress: Progress
) -> list[AxisOutcome]:
    batch, answers = asker.history
    world = survivors.world
    base = survivors.simplest()
    changed: list[tuple[int, int, Designs]] = []
    for i, axis in enumerate(world.axes):
        for value in range(len(axis.values)):
            if value != base[0, i]:
                design = base.copy()
                design[0, i] = value
                changed.append((i, value, design))
    if not changed:
        return []
    given = world.outputs(np.concatenate([design for _, _, design in changed]), batch)
    made = []
    for (i, value, design), outputs in zip(changed, given, strict=True):
        axis = world.axes[i]
        name = world.name(design[0])
        wrong = np.flatnonzero(outputs != answers)
        if wrong.size:
            made.append(AxisOutcome(axis.name, axis.values[value], name, Settled.REFUTED, int(wrong[0])))
            continue
        progress(f"is {axis.name}={axis.values[value]} the same?")
        made.append(_unrefuted(axis.name, axis.values[value], name, simplest, asker.k))
    return made


def _unrefuted(axis: str, value: str, name: str, simplest: UnitSpec, k: int) -> AxisOutcome:
    """A value that no answer refutes: the same definition, or undecided."""
    try:
        same = definition(resolve(name), k) == definition(simplest, k)
    except TcformalError:
        same = False
    if same:
        return AxisOutcome(axis, value, name, Settled.SAME, evidence="the definitions are the same")
    return AxisOutcome(axis, value, name, Settled.UNDECIDED)


def apart(first: UnitSpec, second: UnitSpec, batch: object) -> bool:
    """Whether two designs give different results on some input of a batch."""
    return bool((replay(first, batch) != replay(second, batch)).any())  # type: ignore[arg-type]
