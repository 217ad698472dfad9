"""Few rows with many columns: the parts of a product that whole steps and tiles make up, and their ends."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.kernels.block import DecodedBlock, Words
from tcformal.kernels.work import Work
from tcformal.machine import Module

if TYPE_CHECKING:  # which holds these kernels
    from tcformal.kernels.gemm import Gemm

#: Tiles that are taken to the end of k at once where their encodings lie turned.
_FAR = 4
_ARGUMENTS = (*[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 6)


class FewRows:
    """The kernels for few rows of one orientation, by whether the other side lies turned in memory."""

    def __init__(self, gemm: Gemm) -> None:
        self._gemm = gemm
        self._kernels: dict[bool, Any] = {}

    def multiply(self, rows: Words, lanes: Words, c: Words, d: Words, work: Work) -> bool:
        """All rows with all tiles; false where an operand is NaN or Inf: then d is not to be used.

        Shapes: rows [M, K], lanes [K, N]; c and d [M, whole tiles], one array where K takes several steps.
        """
        gemm, shape = self._gemm, self._gemm.shape
        k, columns = lanes.shape
        steps = slice(0, -(-k // shape.k))
        decoded = DecodedBlock(gemm, shape.spread_side, rows, None, slice(0, len(rows)), steps, work, {})
        if decoded.flags.any():
            return False
        turned = lanes.strides[1] != lanes.itemsize
        if turned and lanes.strides[0] != lanes.itemsize:
            lanes, turned = np.ascontiguousarray(lanes), False
        if turned not in self._kernels:
            self._kernels[turned] = Module(gemm.thin_text(turned), {"thin": _ARGUMENTS})
        run = self._kernels[turned].thin
        size = gemm.kernel("finite").sizes[shape.spread_side]
        flags = np.zeros(d.shape[1] // shape.lanes, np.uint8)

        def part(raw: Words, first_step: int, first_tile: int) -> None:
            """All steps and tiles of some encodings, which are whole ones."""
            n_steps, tiles = raw.shape[0] // shape.k, raw.shape[1] // shape.lanes
            along, across = raw.strides
            apart = (across if turned else along) // raw.itemsize
            row = decoded.at("finite", 0) + first_step * size

            def some(which: slice) -> None:
                # Far rows would share few places of a cache: a few tiles of them are taken to the end.
                few = _FAR if turned else tiles
                for tile in range(which.start, which.stop, few):
                    cell = (first_tile + tile) * shape.lanes
                    run(
                        row, raw.ctypes.data + tile * shape.lanes * across,
                        c.ctypes.data + cell * c.itemsize, d.ctypes.data + cell * d.itemsize,
                        flags.ctypes.data + first_tile + tile, len(rows), min(few, which.stop - tile),
                        n_steps, steps.stop * size, apart, d.shape[1],
                    )  # fmt: skip

            work.split(tiles, len(rows) * raw.shape[0] * shape.lanes, some)

        for start, stop in _ends(k, shape.k):
            for begin, end in _ends(columns, shape.lanes):
                raw = _whole(lanes[start:stop, begin:end], shape.k, shape.lanes, turned)
                part(raw, start // shape.k, begin // shape.lanes)
        return not flags.any()


def _ends(n: int, unit: int) -> list[tuple[int, int]]:
    """What is whole of n, and what is left over, where there is any."""
    whole = n - n % unit
    return [(start, stop) for start, stop in ((0, whole), (whole, n)) if start < stop]


def _whole(x: Words, k: int, lanes: int, turned: bool) -> Words:
    """Encodings filled up with zeros to whole steps and tiles, lying as they did."""
    filled = (-(-x.shape[0] // k) * k, -(-x.shape[1] // lanes) * lanes)
    if x.shape == filled:
        return x
    whole = np.zeros(filled, x.dtype, order="F" if turned else "C")
    whole[: x.shape[0], : x.shape[1]] = x
    return whole
