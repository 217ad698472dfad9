"""Single steps of programs as definitions of their own, compiled where many elements are asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tcformal.design.steps import InputStep, PlanStep, ProgramPlan, RoundStep, ScaledProduct
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.programs.dag import program_dag
from tcformal.semantics.headroom import headroom

if TYPE_CHECKING:  # imported where they are used, as in tcformal.matmul.unit
    from tcformal.kernels.elements import Elements
    from tcformal.kernels.rows import DotProducts


@lru_cache(maxsize=256)
def operation(
    formats: tuple[Format, ...],
    addends: tuple[ScaledProduct, ...],
    fmt: Format,
    mode: str,
    saturate: bool,
) -> Elements:
    """One rounded sum of products as a definition of its own."""
    from tcformal.kernels.elements import Elements
    from tcformal.kernels.shortcuts import Shortcuts
    from tcformal.shortcuts.rounded import add_rounded

    names = ["c", *(f"a[{i}]" for i in range(len(formats) - 1))]
    inputs: list[PlanStep] = [
        InputStep(fmt=f, length=None, name=name, letter=name) for f, name in zip(formats, names, strict=True)
    ]
    last = RoundStep(
        fmt=fmt, length=None, name="d", addends=addends, mode=mode, saturate=saturate
    )  # fmt: skip
    g = Graph()
    given = {name: [g.input(name, f.width)] for f, name in zip(formats, names, strict=True)}
    made = program_dag(g, ProgramPlan((*inputs, last), len(inputs), 0), given)
    storage = tuple(f.storage_bits for f in formats)
    ways = Shortcuts()
    if not last.saturates:
        operands = [(given[name][0], f) for f, name in zip(formats, names, strict=True)]
        add_rounded(made.result, operands, addends, fmt, mode, ways)
    return Elements(g, made.result, tuple(names), storage, fmt.storage_bits, ways.by_index)


@lru_cache(maxsize=64)
def headroom_operation(fmt: Format, limit: Any) -> tuple[DotProducts, int]:
    """The headroom of one number as a definition of its own, and its least value."""
    from tcformal.kernels.rows import DotProducts
    from tcformal.semantics.unpack import unpack

    g = Graph()
    e = headroom(g, [unpack(g, g.input("c", fmt.width), fmt)], fmt, limit)
    return DotProducts(g, e.bits), e.low
