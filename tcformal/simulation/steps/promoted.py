"""Accumulators that a program adds up one after the other, computed by one kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends import machine
from tcformal.design.steps import InputStep, ProgramPlan, RoundStep, format_of
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.programs.dag import program_dag
from tcformal.simulation import compiled
from tcformal.simulation.kernels.shortcuts import Shortcuts
from tcformal.simulation.operands.random import Raw
from tcformal.simulation.steps.accumulators import Accumulators

if TYPE_CHECKING:  # imported where they are used, as in tcformal.simulation.compiled
    from tcformal.simulation.kernels.gemm import Gemm
    from tcformal.simulation.kernels.prepared import Prepared
    from tcformal.simulation.kernels.promoted import Promotion


#: Products of an accumulator whose decoded operands a core keeps in its fastest cache.
_LONGEST = 512


def sides_of(x: Accumulators, axes: Sequence[set[int]]) -> tuple[str, ...] | None:
    """Of each factor the operand whose rows, or columns, it goes with; None where a kernel cannot take them.

    Shapes: axes: of each step of the plan the axes of the result that its value depends on.
    """
    found = []
    for steps in x.factors:
        along = set[int]().union(*(axes[i] for i in steps))
        if len(along) > 1:
            return None
        found.append("b" if 1 in along else "a")
    return tuple(found)


def promoted_words(
    x: Accumulators, sides: tuple[str, ...], given: Mapping[str, Raw], known: Mapping[int, Raw],
    options: Mapping[str, Any],
) -> Raw:  # fmt: skip
    """The last sum of some accumulators: encodings [rows, columns, 1].

    Shapes: given: by letter [rows, 1, K] and [1, columns, K]; known: the values of the factors' steps and of
    the sum before.
    """
    from tcformal.simulation.kernels.gemm import MatrixWords
    from tcformal.simulation.kernels.work import Work

    unit, steps = x.unit, -(-x.products // x.unit.k)
    a, b = given[x.a][:, 0, x.start : x.stop], given[x.b][0, :, x.start : x.stop].T
    (m, _), n = a.shape, b.shape[1]
    a, b = (
        y.astype(f"u{f.storage_bits // 8}", copy=False) for y, f in ((a, unit.a_format), (b, unit.b_format))
    )
    total = None if x.total is None else np.broadcast_to(known[x.total][:, :, 0], (m, n))
    factors = {f"x{i}": [known[j].reshape(-1) for j in which] for i, which in enumerate(x.factors)}
    side = compiled.spread_side(m, n)
    gemm = promoted_gemm(unit, side, x.joins, sides, steps)
    prepared: Prepared | None = None
    kept = options.get("prepared")
    if kept is not None and kept.spec == unit and x.b == "b" and x.stop <= kept.shape[0] and side == "a":
        prepared = kept.part(x.start, x.stop, gemm)
    with Work(options.get("threads"), options.get("progress")) as work:
        words = MatrixWords(a, b, total, prepared=prepared, factors=factors)
        return gemm.multiply(words, work)[:, :, None]


def takes(x: Accumulators, m: int, n: int) -> bool:
    """Whether a kernel of their own is worth it: whole calls but for the last one, rows enough, few calls."""
    from tcformal.simulation.kernels.gemm import FEW

    whole = x.products % x.unit.k == 0 and x.products <= _LONGEST
    return machine.available() and whole and min(m, n) > FEW and compiled.large(m * n * (x.stop - x.start))


@lru_cache(maxsize=64)
def promoted_gemm(
    unit: UnitSpec, spread_side: str, joins: ProgramPlan, sides: tuple[str, ...], calls: int
) -> Gemm:
    """The kernels of a unit whose accumulators are added up.

    Shapes: sides: of each factor that `joins` takes, `a` or `b`; an accumulator is full after `calls`.
    """
    from tcformal.simulation.kernels.gemm import Gemm

    return Gemm(compiled.dot_call(unit), spread_side, _promotion(joins, sides, calls))


def _promotion(joins: ProgramPlan, sides: tuple[str, ...], calls: int) -> Promotion:
    from tcformal.simulation.kernels.promoted import Promotion
    from tcformal.simulation.lowering.rounded import add_rounded

    g, ways = Graph(), Shortcuts()
    inputs = [step for step in joins.steps if isinstance(step, InputStep)]
    dag = program_dag(g, joins, {x.letter: [g.input(x.letter, format_of(x).width)] for x in inputs})
    for i in joins.rounded():
        step = joins.steps[i]
        assert isinstance(step, RoundStep)
        order = tuple(dict.fromkeys(step.sources))
        operands = [(dag.words(j)[0], format_of(joins.steps[j])) for j in order]
        addends = tuple(replace(x, factors=tuple(order.index(j) for j in x.factors)) for x in step.addends)
        add_rounded(dag.words(i)[0], operands, addends, step.target, step.mode, ways)
    names = [x.letter for x in inputs[2:]]
    factors = {side: tuple(n for n, s in zip(names, sides, strict=True) if s == side) for side in "ab"}
    return Promotion(g, dag.result, calls, factors, ways.by_index)
