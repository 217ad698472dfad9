"""Matrix products of raw encodings on compiled kernels: blocks, threads, and rows that need the rare cases.

A kernel is compiled for operands of which none is NaN or Inf, and another one for all: decoding says
which rows and columns hold such operands, and only their results are taken from the second.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD
from tcformal.backends.machine import Module, vector_bits
from tcformal.ir.node import Node
from tcformal.simulation.kernels.block import DecodedBlock, Words
from tcformal.simulation.kernels.cut import Cut, DotCall, cuts
from tcformal.simulation.kernels.multiply import Shape
from tcformal.simulation.kernels.promoted import Factors, Promotion, factors_in_memory
from tcformal.simulation.kernels.source import Source, source
from tcformal.simulation.kernels.thin.rows import FewRows
from tcformal.simulation.kernels.thin.text import thin
from tcformal.simulation.kernels.work import Work

if TYPE_CHECKING:  # made of kernels
    from tcformal.simulation.kernels.prepared import Prepared

#: Bytes of one tile's decoded steps that a core keeps in its fastest cache.
_TILE_BYTES = 16384
#: Bytes of decoded steps below which a block is not worth its overhead.
_BLOCK_BYTES = 1 << 20
#: Rows and columns whose decoded operands are held at once.
_PANEL = 8192
#: Rows that a kernel for finite operands takes together.
ROWS = 4
#: Rows for which the other side is decoded where it is used.
FEW = 8

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
_DECODE = (*[_POINTER] * 4, *[_COUNT] * 4)
_MULTIPLY = (*[_POINTER] * 6, *[_COUNT] * 4, ctypes.c_int8)
_FACTORS = (*[_POINTER] * 2, *[_COUNT] * 2)


@dataclass(frozen=True, slots=True)
class MatrixWords:
    """One matrix product in raw encodings.

    Shapes: a [M, K], b [K, N], c [M, N] or None for zeros; scale_a [M, S] and scale_b [S, N], or None.
    """

    a: Words
    b: Words
    c: Words | None = None
    scale_a: Words | None = None
    scale_b: Words | None = None
    #: B as it was decoded before.
    prepared: Prepared | None = None
    #: What a promotion multiplies with, by name: one array for each accumulator.
    factors: Mapping[str, list[Words]] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, K, N."""
        m, k = self.a.shape
        return m, k, self.b.shape[1]

    def turned(self) -> MatrixWords:
        """The transposed operands, sides kept by name: rows are B's columns."""
        c, scale_a, scale_b = (None if x is None else x.T for x in (self.c, self.scale_a, self.scale_b))
        return MatrixWords(self.a.T, self.b.T, c, scale_a, scale_b, factors=self.factors)


class _Compiled:
    """One compiled module with the sizes of its records."""

    def __init__(self, made: Source, *, promoted: bool) -> None:
        self.layouts = made.layouts
        self.sizes = {side: layout.size for side, layout in made.layouts.items()}
        multiply = (*_MULTIPLY, *_FACTORS) if promoted else _MULTIPLY
        kinds = {"decode_a": _DECODE, "decode_b": _DECODE, "multiply": multiply}
        self.module: Any = Module(made.text, kinds)


class Gemm:
    """The kernels of one step, with B's columns (`spread_side` a) or A's rows (b) side by side in lanes.

    Ranges and units: with a promotion, of calls whose d is a c again, results are sums of full accumulators,
    c is the sum before the first of them, and each accumulator starts at zero.
    Errors: RuntimeError where LLVM refuses the code.
    """

    def __init__(self, step: DotCall, spread_side: str, promotion: Promotion | None = None) -> None:
        self.step, self.promotion = step, promotion
        self._cuts, self._rare = cuts(step, shortcuts=True)
        self.shape = Shape(
            k=step.k, scales=step.scales, storage=step.storage, spread_side=spread_side,
            lanes=vector_bits() // WORD, chained=step.chained,
        )  # fmt: skip
        made = self._source("finite")
        if made.widest > DOUBLE:
            # No processor has lanes for wider integers: one at a time is the fastest.
            self.shape = replace(self.shape, lanes=1)
        self._kernels = {"finite": self._compiled("finite")}
        self._few = FewRows(self)

    def _source(self, which: str) -> Source:
        # Whoever decodes for any operands knows already that some are NaN or Inf.
        flags: Mapping[str, Sequence[Node]] = self._rare if which == "finite" else {"a": (), "b": ()}
        return source(self._cuts[which], self._shape_of(which), flags, self.promotion)

    def _compiled(self, which: str) -> _Compiled:
        return _Compiled(self._source(which), promoted=self.promotion is not None)

    def _shape_of(self, which: str) -> Shape:
        several = which == "finite" and self.shape.lanes > 1
        return replace(self.shape, rows=ROWS) if several else self.shape

    def text(self, which: str) -> tuple[str, Shape]:
        """The module of the kernel for `finite` operands, or for `any`, and its shape."""
        return self._source(which).text, self._shape_of(which)

    @property
    def cut(self) -> Cut:
        """The dot product of finite operands."""
        return self._cuts["finite"]

    def thin_text(self, how: str, at_once: int = 1) -> str:
        """The module of the kernel for few rows; `how` the other side lies: see `thin`."""
        layouts, flags = self._kernels["finite"].layouts, self._rare[self.shape.lanes_side]
        return thin(self._cuts["finite"], self.shape, layouts, flags, how, at_once)

    @property
    def digest(self) -> str:
        """SHA-256 of the code of all kernels: other code has to be compared again."""
        texts = [self._source(which).text for which in self._cuts]
        if self.shape.lanes > 1:
            several = sorted({1, self._few.at_once})
            texts += [self.thin_text(how, n) for how in ("straight", "turned", "records") for n in several]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def kernel(self, which: str) -> _Compiled:
        """The compiled kernel for `finite` operands, or for `any`."""
        if which not in self._kernels:
            self._kernels[which] = self._compiled(which)
        return self._kernels[which]

    def multiply(self, x: MatrixWords, work: Work) -> Words:
        """D = A·B + C, [M, N] raw encodings; K is filled up with zeros to whole steps.

        Errors: none for operands whose encodings fit their formats; nothing is modified.
        """
        if self.shape.spread_side == "b":
            return np.ascontiguousarray(self._multiply(x.turned(), work).T)
        return self._multiply(x, work)

    def _multiply(self, x: MatrixWords, work: Work) -> Words:
        shape, storage = self.shape, self.step.storage
        sides = {"a": (x.a, x.scale_a), "b": (x.b, x.scale_b)}
        rows_of, lanes_of = sides[shape.spread_side], sides[shape.lanes_side]
        (rows, k), columns = rows_of[0].shape, lanes_of[0].shape[1]
        tiles = -(-columns // shape.lanes)
        stride = tiles * shape.lanes
        d = np.zeros((rows, stride), f"u{storage['d'] // 8}")
        c = d if self.step.chained else np.zeros((rows, stride), f"u{storage['c'] // 8}")
        if x.c is not None:
            c[:, :columns] = x.c
        steps = -(-k // shape.k)
        prepared = x.prepared if shape.lanes_side == "b" else None
        if rows <= FEW and self.promotion is None and shape.lanes > 1:
            if self._few.multiply(*rows_of, *lanes_of, c, d, prepared, work):
                return d if stride == columns else np.ascontiguousarray(d[:, :columns])
            c[:, :columns] = 0 if x.c is None else x.c
        kernel = self.kernel("finite")
        panel_tiles = self.panel_tiles
        # One step of all rows and tiles that are held at once.
        step_bytes = min(tiles, panel_tiles) * kernel.sizes[shape.lanes_side]
        step_bytes += min(rows, _PANEL) * kernel.sizes[shape.spread_side]
        at_once = self._whole(max(self.tile_steps, _BLOCK_BYTES // step_bytes))
        if prepared is not None:
            at_once = prepared.at_once
        work.expect(rows * tiles * -(-steps // at_once))
        factors = None
        if self.promotion is not None:
            sizes = rows, stride, -(-steps // self.promotion.steps)
            factors = factors_in_memory(self.promotion, x.factors or {}, shape.spread_side, sizes)
        # Each block's records take the place of those of the block before it.
        memory: dict[tuple[str, str], Words] = {}
        for tile in range(0, tiles, panel_tiles):
            some_tiles = slice(tile, min(tile + panel_tiles, tiles))
            for first in range(0, steps, at_once):
                some_steps = slice(first, min(first + at_once, steps))
                lanes_block = (
                    DecodedBlock(self, shape.lanes_side, *lanes_of, some_tiles, some_steps, work, memory)
                    if prepared is None
                    else prepared.blocks[tile, first]
                )
                for row in range(0, rows, _PANEL):
                    some_rows = slice(row, min(row + _PANEL, rows))
                    rows_block = DecodedBlock(
                        self, shape.spread_side, *rows_of, some_rows, some_steps, work, memory
                    )
                    self._pairs(rows_block, lanes_block, c, d, factors, work)
        return d if stride == columns else np.ascontiguousarray(d[:, :columns])

    @property
    def panel_tiles(self) -> int:
        """Tiles whose decoded operands are held at once."""
        return max(1, _PANEL // self.shape.lanes)

    @property
    def tile_steps(self) -> int:
        """Steps of one tile, decoded, that a core keeps in its fastest cache: one at least."""
        return self._whole(_TILE_BYTES // self.kernel("finite").sizes[self.shape.lanes_side])

    def _whole(self, steps: int) -> int:
        """So many steps, in whole accumulators: one at least."""
        unit = 1 if self.promotion is None else self.promotion.steps
        return max(1, steps // unit) * unit

    def _pairs(
        self, rows: DecodedBlock, tiles: DecodedBlock, c: Words, d: Words, factors: Factors | None, work: Work
    ) -> None:
        """Every row of a block with every tile of another."""
        rare = bool(rows.flags.any() or tiles.flags.any())
        n_steps = rows.steps.stop - rows.steps.start
        stride = d.shape[1]

        def run(some_rows: slice, some_tiles: slice) -> None:
            row = rows.which.start + some_rows.start
            column = (tiles.which.start + some_tiles.start) * self.shape.lanes
            cell = row * stride + column
            more: tuple[Any, ...] = ()
            if factors is not None and self.promotion is not None:
                more = factors.arguments(row, column, rows.steps.start // self.promotion.steps)
            counts = some_rows.stop - some_rows.start, some_tiles.stop - some_tiles.start, n_steps, stride
            flags = rows.flags.ctypes.data + some_rows.start, tiles.flags.ctypes.data + some_tiles.start
            for wanted, which in enumerate(("finite", "any") if rare else ("finite",)):
                self.kernel(which).module.multiply(
                    rows.at(which, some_rows.start), tiles.at(which, some_tiles.start),
                    c.ctypes.data + cell * c.itemsize, d.ctypes.data + cell * d.itemsize,
                    *flags, *counts, wanted, *more,
                )  # fmt: skip

        if rare:
            for block in (rows, tiles):
                block.decode("any")
        cost = n_steps * self.shape.k * self.shape.lanes
        work.split_pairs(len(rows.flags), len(tiles.flags), cost, run)
