"""Decoded operands: the records of some rows, or tiles, and some steps of one side of a product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcformal.simulation.kernels.work import Work

if TYPE_CHECKING:  # which makes blocks
    from tcformal.simulation.kernels.gemm import Gemm

#: Raw encodings, one a word.
Words = NDArray[Any]

#: Bytes between rows that share places of a cache, and what keeps them apart.
_ALIAS, _APART = 2048, 192


class DecodedBlock:
    """The decoded operands of some rows (or tiles) and some steps of one side."""

    def __init__(
        self, gemm: Gemm, side: str, raw: Words, scale: Words | None, which: slice, steps: slice, work: Work,
        memory: dict[tuple[str, str], Words],
    ) -> None:  # fmt: skip
        self._gemm, self._side, self._raw, self._scale, self._work = gemm, side, raw, scale, work
        self.which, self.steps, self._memory = which, steps, memory
        self.flags = np.zeros(which.stop - which.start, np.uint8)
        self._records: dict[str, Words] = {}
        self._decoded("finite", self.flags)

    def decode(self, which: str) -> None:
        """Decode for another kernel too."""
        if which not in self._records:
            self._decoded(which, np.zeros_like(self.flags))

    def at(self, which: str, index: int) -> int:
        """The address of a row's (or tile's) first record."""
        start = int(self._records[which].ctypes.data)
        size: int = self._gemm.kernel(which).sizes[self._side]
        return start + index * self._n_steps * size

    @property
    def nbytes(self) -> int:
        """Bytes of its records."""
        return sum(int(x.nbytes) for x in self._memory.values())

    @property
    def _n_steps(self) -> int:
        return int(self.steps.stop - self.steps.start)

    def _decoded(self, which: str, flags: Words) -> None:
        kernel, shape = self._gemm.kernel(which), self._gemm.shape
        count, size = len(flags), kernel.sizes[self._side]
        spread = self._side == shape.spread_side
        # Filled later by the decoder; aligned for the widest registers.
        needed, key = count * self._n_steps * size + 64, (self._side, which)
        if key not in self._memory or len(self._memory[key]) < needed:
            self._memory[key] = np.empty(needed, np.uint8)
        memory = self._memory[key]
        records = memory[-memory.ctypes.data % 64 :]
        self._records[which] = records
        decode = getattr(kernel.module, f"decode_{self._side}")

        def run(some: slice) -> None:
            raw = self._part(self._raw, shape.k, some, 0)
            scale = None
            if self._scale is not None:
                scale = self._part(self._scale, shape.scales, some, self._gemm.step.scale_one)
            decode(
                raw.ctypes.data, 0 if scale is None else scale.ctypes.data,
                records.ctypes.data + some.start * self._n_steps * size, flags.ctypes.data + some.start,
                some.stop - some.start, self._n_steps, _stride(raw), 0 if scale is None else _stride(scale),
            )  # fmt: skip

        self._work.split(count, self._n_steps * shape.k * (1 if spread else shape.lanes) * 4, run)

    def _part(self, given: Words, per_step: int, some: slice, fill: int) -> Words:
        """The raw encodings of some rows (or tiles), filled up to whole steps and tiles; a row is one run."""
        lanes = self._gemm.shape.lanes
        spread = self._side == self._gemm.shape.spread_side
        first, last = self.steps.start * per_step, self.steps.stop * per_step
        begin, end = self.which.start + some.start, self.which.start + some.stop
        if spread:
            piece, shape = given[begin:end, first:last], (end - begin, last - first)
        else:
            piece = given[first:last, begin * lanes : end * lanes]
            shape = (last - first, (end - begin) * lanes)
        if piece.strides[1] != piece.itemsize:
            # What is turned is first copied as it lies: far rows would share few places of a cache.
            piece = np.ascontiguousarray(np.ascontiguousarray(piece.T).T)
        if piece.shape == shape and (spread or piece.strides[0] % _ALIAS):
            return piece
        # Rows that far apart would share few places of a cache too: each is put a little further.
        whole = np.empty((shape[0], shape[1] + (0 if spread else _APART // given.itemsize)), given.dtype)
        whole[: piece.shape[0], : piece.shape[1]] = piece
        whole[piece.shape[0] :] = fill
        whole[:, piece.shape[1] :] = fill
        return whole


def _stride(words: Words) -> int:
    """Elements from one row to the next."""
    return int(words.strides[0] // words.itemsize)
