"""Stacks of matrices: all decoded at once, then multiplied pair by pair."""

from __future__ import annotations

import numpy as np

from tcformal.simulation.kernels.gemm import DecodedBlock, Gemm
from tcformal.simulation.kernels.work import Words, Work

#: Bytes of decoded operands that are held at once.
_HELD = 1 << 26


def multiply_stack(gemm: Gemm, a: Words, b: Words, c: Words | None, work: Work) -> Words:
    """D = A·B + C of many matrices without scales, for kernels whose lanes are B's columns: raw encodings.

    Shapes: a [S, M, K], b [S, K, N], c [S, M, N] or None for zeros -> [S, M, N].
    Errors: none for operands whose encodings fit their formats; nothing is modified.
    """
    (s, m, k), n = a.shape, b.shape[2]
    shape, sizes = gemm.shape, gemm.kernel("finite").sizes
    steps = slice(0, -(-k // shape.k))
    tiles = -(-n // shape.lanes)
    d = np.empty((s, m, n), f"u{gemm.step.storage['d'] // 8}")
    held = max(1, _HELD // (steps.stop * (m * sizes["a"] + tiles * sizes["b"])))
    memory: dict[tuple[str, str], Words] = {}
    for first in range(0, s, held):
        some = slice(first, min(first + held, s))
        count = some.stop - some.start
        whole = np.zeros((k, count, tiles * shape.lanes), b.dtype)
        whole[:, :, :n] = b[some].transpose(1, 0, 2)
        sides = (
            DecodedBlock(
                gemm, "a", a[some].reshape(-1, k), None, slice(0, count * m), steps, work, memory
            ),
            DecodedBlock(
                gemm, "b", whole.reshape(k, -1), None, slice(0, count * tiles), steps, work, memory
            ),
        )  # fmt: skip
        made = _pairs(gemm, sides, None if c is None else c[some], (count, m, n, tiles), work)
        d[some] = made[:, :, :n]
    return d


def _pairs(
    gemm: Gemm,
    sides: tuple[DecodedBlock, DecodedBlock],
    c: Words | None,
    counts: tuple[int, int, int, int],
    work: Work,
) -> Words:
    """Each matrix of decoded rows with its own tiles: [count, M, whole tiles]."""
    count, m, n, tiles = counts
    rows, lanes = sides
    storage, stride = gemm.step.storage, tiles * gemm.shape.lanes
    d = np.zeros((count, m, stride), f"u{storage['d'] // 8}")
    start = d if gemm.step.chained else np.zeros((count, m, stride), f"u{storage['c'] // 8}")
    if c is not None:
        start[:, :, :n] = c
    rare = bool(rows.flags.any() or lanes.flags.any())
    if rare:
        for block in sides:
            block.decode("any")
    n_steps = rows.steps.stop

    def run(some: slice) -> None:
        for i in range(some.start, some.stop):
            flags = rows.flags.ctypes.data + i * m, lanes.flags.ctypes.data + i * tiles
            for wanted, which in enumerate(("finite", "any") if rare else ("finite",)):
                gemm.kernel(which).module.multiply(
                    rows.at(which, i * m), lanes.at(which, i * tiles), start[i].ctypes.data, d[i].ctypes.data,
                    *flags, m, tiles, n_steps, stride, wanted,
                )  # fmt: skip

    work.split(count, m * stride * n_steps * gemm.shape.k, run)
    return d
