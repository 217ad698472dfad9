"""Every order of summation over any kind of operands: `coq/Orders.v`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tcformal.design.rounding import Conversion
from tcformal.design.spec import Design
from tcformal.design.trees.tree import Step, stage_designs
from tcformal.design.unit import UnitSpec

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Stage:
    """A fused sum and what it is rounded to."""

    design: Design
    target: Conversion


def stages(unit: UnitSpec) -> list[Stage]:
    """Of every sum of a block, `Exact.block_stages`."""
    d = unit.design
    if unit.tree is not None:
        return [Stage(x, x.rho) for x in stage_designs(unit.tree, d).values()]
    if d.c_position == "joined":
        return [Stage(d, d.rho)]
    return [Stage(d, d.step), Stage(d, d.rho)]


def in_order(
    unit: UnitSpec, add: Callable[[Stage, Sequence[A]], A], zero: A, none: A, terms: Sequence[A], c: A
) -> A:
    """The sum of a block's terms and c, by a sum of any operands: `Orders.block_order`."""
    d = unit.design
    if unit.tree is not None:
        of = {name: Stage(x, x.rho) for name, x in stage_designs(unit.tree, d).items()}

        def step(t: Step) -> A:
            operands = []
            for x in t.children:
                if isinstance(x, Step):
                    operands.append(step(x))
                elif isinstance(x, int):
                    operands.append(terms[x] if x < len(terms) else none)
                else:
                    operands.append(c if x == "c" else zero)
            return add(of[t.stage], operands)

        return step(unit.tree.root)
    last = Stage(d, d.rho)
    if d.c_position == "joined":
        return add(last, [*terms, c])
    first = Stage(d, d.step)

    def chain(start: A, rest: Sequence[A]) -> A:
        for x in rest:
            start = add(first, [start, x])
        return start

    if d.c_position == "first":
        return add(last, [chain(c, terms[:-1]), terms[-1]])

    def two(rest: Sequence[A]) -> A:
        return add(first, [chain(zero, rest[::2]), chain(zero, rest[1::2])])

    def pairs(rest: Sequence[A]) -> list[A]:
        both = [add(first, rest[i : i + 2]) for i in range(0, len(rest) - 1, 2)]
        return [*both, *rest[len(both) * 2 :]]

    inner: A
    if d.summation == "fused":
        inner = add(first, terms)
    elif d.summation == "sequential":
        inner = chain(terms[0], terms[1:])
    elif d.summation == "two_chains":
        inner = two(terms)
    elif d.summation == "pair_chains":
        inner = two(pairs(terms))
    else:
        level = list(terms)
        while len(level) > 1:
            level = pairs(level)
        inner = level[0]
    return add(last, [inner, c])
