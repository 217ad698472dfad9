"""Cut points: the stages at which a proof may compare two circuits of one shape, from their records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tcformal.ir.node import Node
from tcformal.semantics.stages import Block, Dot, DotStep, SpecialCases


@dataclass(frozen=True, slots=True)
class CutPoint:
    """One stage of a dot product: where it stands, what it is, and of a partial sum what it is the sum of."""

    scope: str
    what: str
    node: Node
    of: tuple[Node, ...] = ()


def cut_points(dot: Dot) -> Iterator[CutPoint]:
    """The stages of all steps in the order of definition; those of single terms and roundings left out."""
    for stage in dot.stages:
        if isinstance(stage, DotStep):
            yield from _of_step(stage)
        else:
            yield from _of_block(stage)


def _of_block(block: Block) -> Iterator[CutPoint]:
    for group in block.groups:
        yield CutPoint(group.scope, "total", group.total)
        yield CutPoint(group.scope, "zero", group.zero)
    for step in block.steps:
        yield from _of_step(step)
    yield CutPoint(block.scope, "result", block.result)


def _of_step(step: DotStep) -> Iterator[CutPoint]:
    if step.total is not None:
        total = step.total
        made = [CutPoint(step.scope, "partial", x.node, x.of) for x in total.partials]
        made.append(CutPoint(step.scope, "sum", total.bits))
        made += [] if total.sticky is None else [CutPoint(step.scope, "sticky", total.sticky)]
        e_max = CutPoint(step.scope, "e_max", total.e_max.bits)
        # A sum of three terms has an e_max that depends on it.
        before = total.e_max.bits.index < total.bits.index
        yield from [e_max, *made] if before else [*made, e_max]
    if step.floor is not None:
        yield from _of_specials(f"{step.scope}.floor", step.floor.specials)
    if step.specials is not None:
        yield from _of_specials(step.scope, step.specials)


def _of_specials(scope: str, found: SpecialCases) -> Iterator[CutPoint]:
    number = found.result
    nodes = (found.some_nan, found.positive_inf, found.negative_inf, number.nan, number.inf)
    for what, node in zip(("some_nan", "positive_inf", "negative_inf", "nan", "inf"), nodes, strict=True):
        yield CutPoint(scope, what, node)


def specials_of(dot: Dot) -> Iterator[tuple[str, SpecialCases]]:
    """The special cases of every rounding, with the scope of each, in the order of definition."""
    for step in dot.steps:
        if step.floor is not None:
            yield f"{step.scope}.floor", step.floor.specials
        if step.specials is not None:
            yield step.scope, step.specials
