"""Data flow of a program: needed steps, the axes that each depends on, and last uses."""

from __future__ import annotations

from collections.abc import Mapping

from tcformal.design.steps import InputStep, ProgramPlan
from tcformal.simulation.operands.random import Raw


def needed_by(plan: ProgramPlan) -> set[int]:
    """The indices of the steps that the result depends on."""
    needed, stack = set(), [plan.result]
    while stack:
        i = stack.pop()
        if i not in needed:
            needed.add(i)
            stack += plan.steps[i].sources
    return needed


def last_uses(plan: ProgramPlan, steps: set[int]) -> dict[int, list[int]]:
    """The values that are dead after each step, restricted to values that only `steps` use."""
    last: dict[int, int] = {}
    elsewhere = {plan.result}
    for i in sorted(needed_by(plan)):
        for source in plan.steps[i].sources:
            last[source] = i
            if i not in steps:
                elsewhere.add(source)
    done: dict[int, list[int]] = {}
    for source, i in last.items():
        if source not in elsewhere:
            done.setdefault(i, []).append(source)
    return done


def axes_of(plan: ProgramPlan, given: Mapping[str, Raw]) -> list[set[int]]:
    """For each step the axes on which its values depend: rows (0), columns (1)."""
    axes: list[set[int]] = []
    for s in plan.steps:
        own = {axis for axis in (0, 1) if isinstance(s, InputStep) and given[s.letter].shape[axis] > 1}
        axes.append(own.union(*(axes[i] for i in s.sources)))
    return axes


def of_rows_and_columns(plan: ProgramPlan, given: Mapping[str, Raw]) -> set[int]:
    """The steps whose values depend on rows and columns, and so are as large as the result."""
    return {i for i, axes in enumerate(axes_of(plan, given)) if len(axes) == 2}
