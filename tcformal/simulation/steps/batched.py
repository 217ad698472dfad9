"""Calls of many plans on the same operands, evaluated side by side: a unit is evaluated once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcformal.design.steps import CallStep, ProgramPlan
from tcformal.design.unit import UnitSpec
from tcformal.simulation.operands.random import Raw
from tcformal.simulation.steps.values import RememberedRun, filled
from tcformal.simulation.unit import Unit


def results_of(plans: Sequence[ProgramPlan], given: Mapping[str, Raw], memo: dict[Any, Raw]) -> list[Raw]:
    """The encodings of each plan's result: [elements].

    Shapes: given: by letter [elements, 1, length], or 1 in place of elements.
    Ranges and units: `memo`, an empty dict at first, keeps the values of all steps on these operands.
    """
    runs = [RememberedRun(plan, given, {}, memo) for plan in plans]
    while _calls(runs, memo):
        pass
    n = max(x.shape[0] for x in given.values())
    return [np.broadcast_to(RememberedRun(plan, given, {}, memo).result()[:, 0], n) for plan in plans]


def _calls(runs: Sequence[RememberedRun], memo: dict[Any, Raw]) -> bool:
    """Evaluate every call whose operands are known; whether there was one."""
    waiting: dict[UnitSpec, dict[Any, tuple[Raw, Raw, Raw]]] = {}
    for run in runs:
        for i, step in enumerate(run.plan.steps):
            if i in run.known or any(j not in run.known for j in step.sources):
                continue
            key = run.kind(step) if isinstance(step, CallStep) else None
            if isinstance(step, CallStep) and key not in memo:
                operands = run.known[step.a], run.known[step.b], run.known[step.c]
                waiting.setdefault(step.unit, {})[key] = operands
            else:
                run.known[i] = run.value(step)
    for unit, calls in waiting.items():
        memo |= zip(calls, _side_by_side(unit, list(calls.values())), strict=True)
    return bool(waiting)


def _side_by_side(unit: UnitSpec, calls: Sequence[tuple[Raw, Raw, Raw]]) -> list[Raw]:
    """Each chain of calls of one unit, as many products at a time as one call takes: [elements, 1, 1]."""
    n = max(x.shape[0] for call in calls for x in call)
    o, model = unit.operands, Unit(unit)
    a, b, d = (
        [
            np.broadcast_to(x[i][:, 0, :], (n, x[i].shape[2])).astype(f"u{fmt.storage_bits // 8}")
            for x in calls
        ]
        for i, fmt in enumerate((o.a, o.b, o.c))
    )
    longest = max(x.shape[1] for x in a)
    for start in range(0, longest, unit.k):
        active = [i for i, x in enumerate(a) if x.shape[1] > start]
        some = slice(start, start + unit.k)
        first, second = (np.concatenate([filled(x[i][:, some], unit.k) for i in active]) for x in (a, b))
        made = model.dot_bits(first, second, np.concatenate([d[i][:, 0] for i in active]))
        for i, part in zip(active, np.split(made, len(active)), strict=True):
            d[i] = part[:, None]
    return [x[:, :, None] for x in d]
