"""Fusion of accumulators: neighbouring accumulators of a program that one kernel computes and adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tcformal.backends.lanes import WORD
from tcformal.design.steps import (
    CallStep,
    ConstantStep,
    InputStep,
    PlanStep,
    ProgramPlan,
    RoundStep,
    SliceStep,
    format_of,
)
from tcformal.design.unit import UnitSpec
from tcformal.simulation.steps.order import needed_by

#: Rounded steps by which one accumulator joins the sum at most: a longer run is not looked through, or a
#: program of many rounded steps and no accumulators would be looked through again from each of them.
LONGEST_JOIN = 8


@dataclass(frozen=True, slots=True)
class Accumulators:
    """A run of accumulators over neighbouring k, each started from zero and added by one rule.

    Shapes: k from `start` to `stop`, `products` in each accumulator but the last one; `joins` takes `total`,
    `full` and one scalar for each factor, `factors[i][j]` the step with factor i of accumulator j.
    """

    unit: UnitSpec
    start: int
    stop: int
    products: int
    #: Letters of the inputs, the step with the sum before (None: zero), and the step with the last sum.
    a: str
    b: str
    total: int | None
    result: int
    joins: ProgramPlan
    factors: tuple[tuple[int, ...], ...]
    #: The steps that are nobody else's: they are not computed one by one.
    inside: frozenset[int]


@lru_cache(maxsize=256)
def accumulators(plan: ProgramPlan) -> tuple[Accumulators, ...]:
    """The maximal runs of at least two accumulators that one kernel can compute."""
    if not any(isinstance(step, CallStep) for step in plan.steps):
        return ()
    users = _users(plan)
    runs: list[Accumulators] = []
    for i in sorted(needed_by(plan)):
        made = _joined(plan, i, users, {x.result for x in runs})
        if made is None:
            continue
        before = runs[-1] if runs else None
        if before is not None and _follows(before, made, users):
            runs[-1] = replace(
                before, stop=made.stop, result=i, inside=before.inside | made.inside | {before.result},
                factors=tuple((*x, *y) for x, y in zip(before.factors, made.factors, strict=True)),
            )  # fmt: skip
        else:
            runs.append(made)
    return tuple(x for x in runs if x.stop - x.start > x.products)


def _users(plan: ProgramPlan) -> dict[int, set[int]]:
    """The steps that use each step's value, by step."""
    users: dict[int, set[int]] = {}
    for i in needed_by(plan):
        for source in plan.steps[i].sources:
            users.setdefault(source, set()).add(i)
    return users


def _follows(before: Accumulators, x: Accumulators, users: Mapping[int, set[int]]) -> bool:
    """Whether an accumulator continues a run whose last sum has no other user."""
    same = (before.unit, before.a, before.b, before.joins) == (x.unit, x.a, x.b, x.joins)
    full = (before.stop - before.start) % before.products == 0
    own = users[before.result] <= {*x.inside, x.result}
    fits = x.total == before.result and x.start == before.stop and x.products <= before.products
    return same and full and own and fits


def _joined(
    plan: ProgramPlan, last: int, users: Mapping[int, set[int]], sums: set[int]
) -> Accumulators | None:
    """The accumulator that a rounded sum adds to the previous sum; None for any other step."""
    steps = plan.steps
    calls: list[int] = []
    totals: list[int] = []
    scalars: list[int] = []
    rounded: list[int] = []
    stack, seen = [last], set[int]()
    while stack:
        i = stack.pop()
        if i in seen:
            continue
        seen.add(i)
        step = steps[i]
        if isinstance(step, RoundStep) and i not in sums:
            if step.length is not None or step.saturates or any(x.exponents for x in step.addends):
                return None
            rounded.append(i)
            stack += step.sources
        elif isinstance(step, CallStep):
            calls.append(i)
        elif isinstance(step, ConstantStep) or i in sums:
            totals.append(i)
        elif step.length is None:
            scalars.append(i)
        else:
            return None
        if len(calls) > 2 or len(totals) > 1 or len(rounded) > LONGEST_JOIN:
            return None
    if len(calls) == 2 and not totals:
        totals = [calls.pop(calls.index(min(calls)))]
    if len(calls) != 1 or len(totals) != 1:
        return None
    (call,), (total,) = calls, totals
    inside = frozenset({call, *rounded} - {last})
    run = _run(plan, call)
    if run is None or any(not users[i] <= {*inside, last} for i in inside):
        return None
    zero = isinstance(steps[total], ConstantStep)
    if zero and steps[total].word != 0:  # type: ignore[attr-defined]
        return None
    unit, start, stop, a, b = run
    joins = _alone(plan, (total, call), scalars, sorted(rounded))
    wide = unit.d_format
    if joins.fmt != wide or format_of(joins.steps[0]) != wide:
        return None
    if any(format_of(steps[i]).storage_bits > WORD for i in scalars):
        return None
    return Accumulators(
        unit=unit, start=start, stop=stop, products=stop - start, a=a, b=b, total=None if zero else total,
        result=last, joins=joins, factors=tuple((i,) for i in scalars), inside=inside,
    )  # fmt: skip


def _run(plan: ProgramPlan, call: int) -> tuple[UnitSpec, int, int, str, str] | None:
    """The unit, k range and inputs of a call that starts from zero; None for any other call."""
    step = plan.steps[call]
    if not isinstance(step, CallStep):
        return None
    c, a, b = (plan.steps[i] for i in (step.c, step.a, step.b))
    unit = step.unit
    whole = unit.c_format == unit.d_format and unit.scale_format is None
    if not isinstance(c, ConstantStep) or c.word or not whole:
        return None
    if not isinstance(a, SliceStep) or not isinstance(b, SliceStep):
        return None
    from_a, from_b = plan.steps[a.source], plan.steps[b.source]
    if not isinstance(from_a, InputStep) or not isinstance(from_b, InputStep):
        return None
    length = a.length or 1
    alike = (a.start, a.length) == (b.start, b.length)
    if not alike or a.start + length > min(from_a.length or 1, from_b.length or 1):
        return None
    return unit, a.start, a.start + length, from_a.letter, from_b.letter


def _alone(
    plan: ProgramPlan, two: Sequence[int], scalars: Sequence[int], rounded: Sequence[int]
) -> ProgramPlan:
    """The rounding steps of an accumulation as a separate program from the old sum to the new one."""
    names = ("total", "full", *(f"x{i}" for i in range(len(scalars))))
    place: dict[int, int] = {}
    steps: list[PlanStep] = []
    for name, i in zip(names, (*two, *scalars), strict=True):
        place[i] = len(steps)
        steps.append(InputStep(fmt=format_of(plan.steps[i]), length=None, name=name, letter=name))
    for i in rounded:
        step = plan.steps[i]
        assert isinstance(step, RoundStep)
        place[i] = len(steps)
        addends = tuple(replace(x, factors=tuple(place[j] for j in x.factors)) for x in step.addends)
        steps.append(replace(step, name=f"s{len(steps)}", addends=addends))
    return ProgramPlan(tuple(steps), len(steps) - 1, 0)
