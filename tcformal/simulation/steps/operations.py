"""Single program steps as element-wise definitions, compiled for many elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tcformal.design.steps import (
    InputStep,
    PlanStep,
    ProgramPlan,
    QuotientStep,
    RoundStep,
    ScaledProduct,
    format_of,
)
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.programs.dag import program_dag
from tcformal.semantics.headroom import headroom, largest_magnitude
from tcformal.simulation.kernels.elements import Elements
from tcformal.simulation.kernels.lowering import LoweringRules

if TYPE_CHECKING:  # imported where it is used, as in tcformal.simulation.unit
    from tcformal.simulation.kernels.rows import DotProducts


def _names(count: int) -> tuple[str, ...]:
    return ("c", *(f"a[{i}]" for i in range(count - 1)))


def _alone(formats: Sequence[Format], last: RoundStep | QuotientStep) -> Elements:
    """An element-wise definition of one step on inputs of these formats."""
    names = _names(len(formats))
    inputs: list[PlanStep] = [
        InputStep(fmt=f, length=None, name=name, letter=name) for f, name in zip(formats, names, strict=True)
    ]
    g = Graph()
    given = {name: [g.input(name, f.width)] for f, name in zip(formats, names, strict=True)}
    made = program_dag(g, ProgramPlan((*inputs, last), len(inputs), 0), given)
    storage = tuple(f.storage_bits for f in formats)
    return Elements(g, made.result, names, storage, format_of(last).storage_bits)


@lru_cache(maxsize=256)
def operation(
    formats: tuple[Format, ...],
    addends: tuple[ScaledProduct, ...],
    fmt: Format,
    mode: str,
    saturate: bool,
) -> Elements:
    """An element-wise rounded sum of products."""
    from tcformal.simulation.lowering.rounded import add_rounded

    last = RoundStep(
        fmt=fmt, length=None, name="d", addends=addends, mode=mode, saturate=saturate
    )  # fmt: skip
    elements = _alone(formats, last)
    if not last.saturates:
        ways = LoweringRules()
        operands = [(elements.graph.inputs[name], f) for f, name in zip(formats, elements.names, strict=True)]
        add_rounded(elements.root, operands, addends, fmt, mode, ways)
        elements.rules = ways.by_index
    return elements


@lru_cache(maxsize=64)
def quotient(formats: tuple[Format, Format], fmt: Format, mode: str) -> Elements:
    """An element-wise rounded quotient."""
    last = QuotientStep(fmt=fmt, length=None, name="d", dividend=0, divisor=1, mode=mode)
    return _alone(formats, last)


@lru_cache(maxsize=64)
def larger_magnitude(fmt: Format, least: int) -> Elements:
    """An element-wise maximum of two magnitudes."""
    g = Graph()
    words = [g.input(name, fmt.width) for name in _names(2)]
    root = largest_magnitude(g, words, fmt, least)
    return Elements(g, root, _names(2), (fmt.storage_bits,) * 2, fmt.storage_bits)


@lru_cache(maxsize=64)
def headroom_operation(fmt: Format, limit: Any) -> tuple[DotProducts, int]:
    """An element-wise headroom of one number, with its least value."""
    from tcformal.semantics.unpack import unpack
    from tcformal.simulation.kernels.rows import DotProducts

    g = Graph()
    e = headroom(g, [unpack(g, g.input("c", fmt.width), fmt)], fmt, limit)
    return DotProducts(g, e.bits), e.low
