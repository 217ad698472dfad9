"""Loops of the program language: their sequences, and summation loops over a vector's elements."""

from __future__ import annotations

from typing import Any

from tcformal.checks import check_int
from tcformal.errors import InputError
from tcformal.programs.builder import Builder, StepValue
from tcformal.programs.functions import add, vector_of


def blocks(builder: Builder, size: Any, *vectors: Any) -> list[Any]:
    """blocks(SIZE, x, y, …): consecutive runs of SIZE elements, the last one padded with +0."""
    length, rows = _rows(builder, vectors)
    step = check_int("the size of blocks", size, low=1)
    return _together([[builder.slice(v, start, step) for start in range(0, length, step)] for v in rows])


def parts(builder: Builder, count: Any, *vectors: Any) -> list[Any]:
    """parts(COUNT, x, y, …): split-K: COUNT runs of ⌈n / COUNT⌉ elements, the last ones shorter."""
    length, rows = _rows(builder, vectors)
    size = -(-length // check_int("the number of parts", count, low=1))
    return _together(
        [
            [builder.slice(v, start, min(size, length - start)) for start in range(0, length, size)]
            for v in rows
        ]
    )


def elements(builder: Builder, *vectors: Any) -> list[Any]:
    """elements(x, y, …): the elements one by one."""
    length, rows = _rows(builder, vectors)
    return _together([[builder.element(v, i) for i in range(length)] for v in rows])


def _rows(builder: Builder, vectors: tuple[Any, ...]) -> tuple[int, list[StepValue]]:
    rows = [vector_of(v, "a loop") for v in vectors]
    if not rows or len({v.length for v in rows}) > 1:
        raise InputError("expected one or more vectors of one length to loop over")
    return rows[0].length or 0, rows


def _together(rows: list[list[StepValue]]) -> list[Any]:
    return list(rows[0]) if len(rows) == 1 else [list(x) for x in zip(*rows, strict=True)]


def chain(builder: Builder, x: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """chain(x, FORMAT): recursive summation: the elements of a vector added one after the other."""
    vector = vector_of(x, "chain")
    total = builder.element(vector, 0)
    for i in range(1, vector.length or 0):
        total = add(builder, total, builder.element(vector, i), fmt, rounding)
    return total


def pairwise(builder: Builder, x: Any, fmt: Any, rounding: Any = "RNE") -> StepValue:
    """pairwise(x, FORMAT): pairwise summation; an odd element passes to the next level."""
    vector = vector_of(x, "pairwise")
    level = [builder.element(vector, i) for i in range(vector.length or 0)]
    while len(level) > 1:
        sums = [add(builder, level[i], level[i + 1], fmt, rounding) for i in range(0, len(level) - 1, 2)]
        level = sums + level[2 * len(sums) :]
    return level[0]
