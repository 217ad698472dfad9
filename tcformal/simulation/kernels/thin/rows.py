"""Few rows with many columns: the parts of a product that whole steps and tiles make up, and their ends."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends.machine import Module, vector_bits
from tcformal.simulation.kernels.block import DecodedBlock, Words
from tcformal.simulation.kernels.thin.text import piece_of, steps_at_once
from tcformal.simulation.kernels.work import Work

if TYPE_CHECKING:  # which holds these kernels
    from tcformal.simulation.kernels.gemm import Gemm
    from tcformal.simulation.kernels.prepared import Prepared

#: Tiles that are taken to the end of k at once where each has memory of its own.
_FAR = 4
_ARGUMENTS = (*[ctypes.c_void_p] * 6, *[ctypes.c_int64] * 7)


class FewRows:
    """The kernels for few rows of one orientation, by how the other side lies in memory."""

    def __init__(self, gemm: Gemm) -> None:
        self._gemm = gemm
        self._kernels: dict[tuple[str, int], Any] = {}
        #: Steps whose sums stay in registers, where there are so many.
        self.at_once = steps_at_once(gemm.step, gemm.cut)

    def multiply(
        self, rows: Words, row_scale: Words | None, lanes: Words, scale: Words | None, c: Words, d: Words,
        prepared: Prepared | None, work: Work,
    ) -> bool:  # fmt: skip
        """All rows with all tiles; false where an operand is NaN or Inf: then d is not to be used.

        Shapes: rows [M, K], lanes [K, N], their scales [M, S] and [S, N] or None; c and d [M, whole tiles],
        one array where K takes several steps.
        """
        gemm, shape = self._gemm, self._gemm.shape
        k, columns = lanes.shape
        steps = slice(0, -(-k // shape.k))
        decoded = DecodedBlock(gemm, shape.spread_side, rows, row_scale, slice(0, len(rows)), steps, work, {})
        if decoded.flags.any() or (prepared is not None and not prepared.finite):
            return False
        flags = np.zeros(d.shape[1] // shape.lanes, np.uint8)
        # Scales are few: they are put in whole steps and tiles.
        scales = np.full((steps.stop * shape.scales, d.shape[1]), gemm.step.scale_one, np.uint8)
        if scale is not None:
            scales = scales.astype(scale.dtype)
            scales[: scale.shape[0], :columns] = scale
        sizes = gemm.kernel("finite").sizes
        size = sizes[shape.spread_side]

        def run(
            how: str, at: int, tile_bytes: int, apart: int, first: tuple[int, int], n: int, of: int, line: int
        ) -> None:
            """Some tiles and `n` steps from the first ones, `of` tiles in all, `line` of them in a line."""
            kernel = self._kernel(how, self.at_once if not n % self.at_once else 1)
            step, tile = first
            # What lies tile by tile is taken to the end of k before the next.
            few = of if how == "straight" else line if how == "turned" else _FAR

            def some(lines: slice) -> None:
                which = slice(lines.start * line, min(lines.stop * line, of))
                cell = (tile + which.start) * shape.lanes
                kernel.thin(
                    decoded.at("finite", 0) + step * size, at + which.start * tile_bytes,
                    scales.ctypes.data + (step * shape.scales * d.shape[1] + cell) * scales.itemsize,
                    c.ctypes.data + cell * c.itemsize, d.ctypes.data + cell * d.itemsize,
                    flags.ctypes.data + tile + which.start, len(rows), which.stop - which.start, few, n,
                    steps.stop * size, apart, d.shape[1],
                )  # fmt: skip

            work.split(-(-of // line), len(rows) * n * shape.k * shape.lanes * line, some)

        if prepared is not None and self._dense:
            for (tile, step), block in prepared.blocks.items():
                n, size_of = block.steps.stop - step, sizes[shape.lanes_side]
                for start, stop in _ends(n, self.at_once):
                    at = block.at("finite", 0) + start * size_of
                    first = step + start, tile
                    run("records", at, n * size_of, n * size_of, first, stop - start, len(block.flags), 1)
            return True
        turned = lanes.strides[1] != lanes.itemsize
        if turned and lanes.strides[0] != lanes.itemsize:
            lanes, turned = np.ascontiguousarray(lanes), False
        how = "turned" if turned else "straight"
        piece = piece_of(shape, how, self.at_once)
        # What is read at once is whole: the columns of a line, or the k of several steps.
        sizes_of = piece.steps * shape.k, shape.lanes if turned else piece.width
        for start, stop in _ends(k, sizes_of[0]):
            for begin, end in _ends(columns, sizes_of[1]):
                raw = _whole(lanes[start:stop, begin:end], *sizes_of, turned)
                along, across = raw.strides
                run(
                    how, raw.ctypes.data, shape.lanes * across, (across if turned else along) // raw.itemsize,
                    (start // shape.k, begin // shape.lanes), -(-(stop - start) // shape.k),
                    -(-(end - begin) // shape.lanes), piece.tiles,
                )  # fmt: skip
        return not flags.any()

    @property
    def _dense(self) -> bool:
        """Whether records are little more than the encodings: reading them takes less time than decoding.

        Wider registers decode faster, while memory is read no faster.
        """
        gemm, side = self._gemm, self._gemm.shape.lanes_side
        most = 1 if vector_bits() > 256 else 2
        raw = gemm.shape.k * gemm.shape.lanes * gemm.shape.storage[side] // 8
        return gemm.kernel("finite").sizes[side] <= most * raw

    def _kernel(self, how: str, at_once: int) -> Any:
        if (how, at_once) not in self._kernels:
            text = self._gemm.thin_text(how, at_once)
            self._kernels[how, at_once] = Module(text, {"thin": _ARGUMENTS})
        return self._kernels[how, at_once]


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
