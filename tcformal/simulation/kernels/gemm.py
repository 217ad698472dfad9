"""Matrix products of raw encodings by compiled kernels: blocking, threads, and the rare rows with NaN or Inf.

One kernel is compiled for finite operands, another for any.  Decoding flags the rows and columns with NaN or
Inf, and only their results come from the second kernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD
from tcformal.backends.machine import Module, vector_bits
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut, DotCall, cuts
from tcformal.simulation.kernels.source import (
    Factors,
    Promotion,
    Shape,
    Source,
    factors_in_memory,
    shape_of,
    source,
)
from tcformal.simulation.kernels.thin import piece_of, steps_at_once, thin
from tcformal.simulation.kernels.threads import Words, Work

#: Bytes of decoded operands that are held at once.
_HELD = 1 << 26


def multiply_stack(gemm: Gemm, a: Words, b: Words, c: Words | None, work: Work) -> Words:
    """The products D = A·B + C of a stack of matrices without scales, with B's columns in lanes.

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
    gemm: Gemm, sides: tuple[DecodedBlock, DecodedBlock], c: Words | None, counts: tuple[int, int, int, int],
    work: Work,
) -> Words:  # fmt: skip
    """The product of each decoded matrix A with its own tiles of B: [count, M, whole tiles]."""
    count, m, n, tiles = counts
    rows, lanes = sides
    storage, stride = gemm.step.storage, tiles * gemm.shape.lanes
    d = np.zeros((count, m, stride), f"u{storage['d'] // 8}")
    start = d if gemm.step.chained else np.zeros((count, m, stride), f"u{storage['c'] // 8}")
    if c is not None:
        start[:, :, :n] = c
    kernels, n_steps = gemm.kernels_for(rows, lanes), rows.steps.stop

    def run(some: slice) -> None:
        for i in range(some.start, some.stop):
            flags = rows.flags.ctypes.data + i * m, lanes.flags.ctypes.data + i * tiles
            for wanted, which in enumerate(kernels):
                gemm.kernel(which).module.multiply(
                    rows.at(which, i * m), lanes.at(which, i * tiles), start[i].ctypes.data, d[i].ctypes.data,
                    *flags, m, tiles, n_steps, stride, wanted,
                )  # fmt: skip

    work.split(count, m * stride * n_steps * gemm.shape.k, run)
    return d


#: Tiles that are taken to the end of k at once where each has memory of its own.
_FAR = 4
_ARGUMENTS = (*[ctypes.c_void_p] * 6, *[ctypes.c_int64] * 7)


class FewRows:
    """The kernels for products of few rows, by the memory layout of the other side."""

    def __init__(self, gemm: Gemm) -> None:
        self._gemm = gemm
        self._kernels: dict[tuple[str, int], Any] = {}
        #: Steps whose sums stay in registers, where there are so many.
        self.at_once = steps_at_once(gemm.step, gemm.cut)

    def multiply(
        self, rows: Words, row_scale: Words | None, lanes: Words, scale: Words | None, c: Words, d: Words,
        prepared: Prepared | None, work: Work,
    ) -> bool:  # fmt: skip
        """Multiply all rows with all tiles into d; false, with d invalid, where an operand is NaN or Inf.

        Shapes: rows [M, K], lanes [K, N], their scales [M, S] and [S, N] or None; c and d [M, whole tiles],
        one array where K takes several steps.
        """
        gemm, shape = self._gemm, self._gemm.shape
        k, columns = lanes.shape
        steps = slice(0, -(-k // shape.k))
        decoded = DecodedBlock(
            gemm, shape.broadcast_side, rows, row_scale, slice(0, len(rows)), steps, work, {}
        )
        if decoded.flags.any() or (prepared is not None and not prepared.finite):
            return False
        flags = np.zeros(d.shape[1] // shape.lanes, np.uint8)
        # Scales are few: they are put in whole steps and tiles.
        scales = np.full((steps.stop * shape.scales, d.shape[1]), gemm.step.scale_one, np.uint8)
        if scale is not None:
            scales = scales.astype(scale.dtype)
            scales[: scale.shape[0], :columns] = scale
        sizes = gemm.kernel("finite").sizes
        size = sizes[shape.broadcast_side]

        def run(
            how: str, at: int, tile_bytes: int, apart: int, first: tuple[int, int], n: int, of: int, line: int
        ) -> None:
            """Multiply `n` steps of some tiles, from tile and step `first` on; `line` tiles share a cache
            line."""
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
        """Whether decoded records are nearly as small as the encodings, so that reading beats decoding.

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
    """Split range(n) into the part of whole units and the remainder, without empty parts."""
    whole = n - n % unit
    return [(start, stop) for start, stop in ((0, whole), (whole, n)) if start < stop]


def _whole(x: Words, k: int, lanes: int, turned: bool) -> Words:
    """Encodings padded with zeros to whole steps and tiles, in the same memory order."""
    filled = (-(-x.shape[0] // k) * k, -(-x.shape[1] // lanes) * lanes)
    if x.shape == filled:
        return x
    whole = np.zeros(filled, x.dtype, order="F" if turned else "C")
    whole[: x.shape[0], : x.shape[1]] = x
    return whole


class Prepared:
    """The decoded B of a product, for kernels with B's columns in lanes.

    Shapes: b [K, N], scale_b [scales, N] or None; `blocks`: by their first tile and step.
    Errors: none for encodings that fit their formats; they are read again where a NaN or Inf is met, so that
    nobody may write to them.
    """

    def __init__(self, gemm: Gemm, b: Words, scale_b: Words | None, work: Work) -> None:
        shape = gemm.shape
        tiles, steps = -(-b.shape[1] // shape.lanes), -(-b.shape[0] // shape.k)
        self.at_once = gemm.tile_steps
        self.blocks: dict[tuple[int, int], DecodedBlock] = {}
        for tile in range(0, tiles, gemm.panel_tiles):
            some = slice(tile, min(tile + gemm.panel_tiles, tiles))
            for step in range(0, steps, self.at_once):
                which = slice(step, min(step + self.at_once, steps))
                self.blocks[tile, step] = DecodedBlock(gemm, "b", b, scale_b, some, which, work, {})

    @property
    def finite(self) -> bool:
        """Whether no encoding of B is NaN or Inf."""
        return not any(block.flags.any() for block in self.blocks.values())

    @property
    def nbytes(self) -> int:
        """The size of all decoded records in bytes."""
        return sum(block.nbytes for block in self.blocks.values())


#: Bytes between rows that share places of a cache, and what keeps them apart.
_ALIAS, _APART = 2048, 192


class DecodedBlock:
    """A block of decoded operands: some rows (or tiles) and some steps of one side."""

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
        """Decode the block for the kernel `which`, too."""
        if which not in self._records:
            self._decoded(which, np.zeros_like(self.flags))

    def at(self, which: str, index: int) -> int:
        """The address of the first record of a row (or tile)."""
        start = int(self._records[which].ctypes.data)
        size: int = self._gemm.kernel(which).sizes[self._side]
        return start + index * self._n_steps * size

    @property
    def nbytes(self) -> int:
        """The size of the block's records in bytes."""
        return sum(int(x.nbytes) for x in self._memory.values())

    @property
    def _n_steps(self) -> int:
        return int(self.steps.stop - self.steps.start)

    def _decoded(self, which: str, flags: Words) -> None:
        kernel, shape = self._gemm.kernel(which), self._gemm.shape
        count, size = len(flags), kernel.sizes[self._side]
        broadcast = self._side == shape.broadcast_side
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

        self._work.split(count, self._n_steps * shape.k * (1 if broadcast else shape.lanes) * 4, run)

    def _part(self, given: Words, per_step: int, some: slice, fill: int) -> Words:
        """The raw encodings of some rows (or tiles), padded to whole steps and tiles, each row contiguous."""
        lanes = self._gemm.shape.lanes
        broadcast = self._side == self._gemm.shape.broadcast_side
        first, last = self.steps.start * per_step, self.steps.stop * per_step
        begin, end = self.which.start + some.start, self.which.start + some.stop
        if broadcast:
            piece, shape = given[begin:end, first:last], (end - begin, last - first)
        else:
            piece = given[first:last, begin * lanes : end * lanes]
            shape = (last - first, (end - begin) * lanes)
        if piece.strides[1] != piece.itemsize:
            # What is turned is first copied as it lies: far rows would share few places of a cache.
            piece = np.ascontiguousarray(np.ascontiguousarray(piece.T).T)
        if piece.shape == shape and (broadcast or piece.strides[0] % _ALIAS):
            return piece
        # Rows that far apart would share few places of a cache too: each is put a little further.
        whole = np.empty((shape[0], shape[1] + (0 if broadcast else _APART // given.itemsize)), given.dtype)
        whole[: piece.shape[0], : piece.shape[1]] = piece
        whole[piece.shape[0] :] = fill
        whole[:, piece.shape[1] :] = fill
        return whole


def _stride(words: Words) -> int:
    """The row stride of an array, in elements."""
    return int(words.strides[0] // words.itemsize)


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
    """The operands of one matrix product as raw encodings.

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
        """The sizes M, K, N."""
        m, k = self.a.shape
        return m, k, self.b.shape[1]

    def turned(self) -> MatrixWords:
        """The transposed product: the columns of B become rows; sides keep their names."""
        c, scale_a, scale_b = (None if x is None else x.T for x in (self.c, self.scale_a, self.scale_b))
        return MatrixWords(self.a.T, self.b.T, c, scale_a, scale_b, factors=self.factors)


class _Compiled:
    """A compiled module and the sizes of its records in bytes."""

    def __init__(self, made: Source, *, promoted: bool) -> None:
        self.layouts = made.layouts
        self.sizes = {side: layout.size for side, layout in made.layouts.items()}
        multiply = (*_MULTIPLY, *_FACTORS) if promoted else _MULTIPLY
        kinds = {"decode_a": _DECODE, "decode_b": _DECODE, "multiply": multiply}
        self.module: Any = Module(made.text, kinds)


class Gemm:
    """The matrix-product kernels of one step, with B's columns (`broadcast_side` a) or A's rows (b) in lanes.

    Ranges and units: with a promotion, of calls whose d is a c again, results are sums of full accumulators,
    c is the sum before the first of them, and each accumulator starts at zero.
    Errors: RuntimeError where LLVM refuses the code.
    """

    def __init__(self, step: DotCall, broadcast_side: str, promotion: Promotion | None = None) -> None:
        self.step, self.promotion = step, promotion
        self._cuts, self._rare = cuts(step, rules=True)
        self.shape = shape_of(step, broadcast_side, vector_bits() // WORD)
        made = self._source("finite")
        if made.widest > DOUBLE:
            # No processor has lanes for wider integers: one at a time is the fastest.
            self.shape = replace(self.shape, lanes=1)
        self._kernels: dict[str, _Compiled] = {}
        self.kernel("finite")
        self._few = FewRows(self)

    def _source(self, which: str) -> Source:
        # Whoever decodes for any operands knows already that some are NaN or Inf.
        flags: Mapping[str, Sequence[Node]] = self._rare if which == "finite" else {"a": (), "b": ()}
        return source(self._cuts[which], self._shape_of(which), flags, self.promotion)

    def _shape_of(self, which: str) -> Shape:
        several = which == "finite" and self.shape.lanes > 1
        return replace(self.shape, rows=ROWS) if several else self.shape

    def text(self, which: str) -> tuple[str, Shape]:
        """The LLVM module and shape of the kernel for `finite` or for `any` operands."""
        return self._source(which).text, self._shape_of(which)

    @property
    def cut(self) -> Cut:
        """The cut of the dot product for finite operands."""
        return self._cuts["finite"]

    def thin_text(self, how: str, at_once: int = 1) -> str:
        """The LLVM module of the kernel for few rows; `how` names the other side's layout, see `thin`."""
        layouts, flags = self._kernels["finite"].layouts, self._rare[self.shape.lanes_side]
        return thin(self._cuts["finite"], self.shape, layouts, flags, how, at_once)

    def kernel(self, which: str) -> _Compiled:
        """The compiled kernel for `finite` or for `any` operands."""
        if which not in self._kernels:
            self._kernels[which] = _Compiled(self._source(which), promoted=self.promotion is not None)
        return self._kernels[which]

    def kernels_for(self, *blocks: DecodedBlock) -> tuple[str, ...]:
        """The kernels that a product of blocks needs, for each of which they are decoded."""
        if not any(block.flags.any() for block in blocks):
            return ("finite",)
        for block in blocks:
            block.decode("any")
        return "finite", "any"

    def multiply(self, x: MatrixWords, work: Work) -> Words:
        """The matrix product D = A·B + C, [M, N] raw encodings; K is padded with zeros to whole steps.

        Errors: none for operands whose encodings fit their formats; nothing is modified.
        """
        if self.shape.broadcast_side == "b":
            return np.ascontiguousarray(self._multiply(x.turned(), work).T)
        return self._multiply(x, work)

    def _multiply(self, x: MatrixWords, work: Work) -> Words:
        shape, storage = self.shape, self.step.storage
        sides = {"a": (x.a, x.scale_a), "b": (x.b, x.scale_b)}
        rows_of, lanes_of = sides[shape.broadcast_side], sides[shape.lanes_side]
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
        step_bytes += min(rows, _PANEL) * kernel.sizes[shape.broadcast_side]
        at_once = self._whole(max(self.tile_steps, _BLOCK_BYTES // step_bytes))
        if prepared is not None:
            at_once = prepared.at_once
        work.expect(rows * tiles * -(-steps // at_once))
        factors = None
        if self.promotion is not None:
            sizes = rows, stride, -(-steps // self.promotion.steps)
            factors = factors_in_memory(self.promotion, x.factors or {}, shape.broadcast_side, sizes)
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
                        self, shape.broadcast_side, *rows_of, some_rows, some_steps, work, memory
                    )
                    self._pairs(rows_block, lanes_block, c, d, factors, work)
        return d if stride == columns else np.ascontiguousarray(d[:, :columns])

    @property
    def panel_tiles(self) -> int:
        """The number of tiles whose decoded operands are held in memory at once."""
        return max(1, _PANEL // self.shape.lanes)

    @property
    def tile_steps(self) -> int:
        """The number of decoded steps of one tile that fit the first-level cache: at least one."""
        return self._whole(_TILE_BYTES // self.kernel("finite").sizes[self.shape.lanes_side])

    def _whole(self, steps: int) -> int:
        """A number of steps rounded to whole accumulators: at least one."""
        unit = 1 if self.promotion is None else self.promotion.steps
        return max(1, steps // unit) * unit

    def _pairs(
        self, rows: DecodedBlock, tiles: DecodedBlock, c: Words, d: Words, factors: Factors | None, work: Work
    ) -> None:
        """Multiply every row of one block with every tile of another."""
        kernels, n_steps, stride = (
            self.kernels_for(rows, tiles),
            rows.steps.stop - rows.steps.start,
            d.shape[1],
        )

        def run(some_rows: slice, some_tiles: slice) -> None:
            row = rows.which.start + some_rows.start
            column = (tiles.which.start + some_tiles.start) * self.shape.lanes
            cell = row * stride + column
            more: tuple[Any, ...] = ()
            if factors is not None and self.promotion is not None:
                more = factors.arguments(row, column, rows.steps.start // self.promotion.steps)
            counts = some_rows.stop - some_rows.start, some_tiles.stop - some_tiles.start, n_steps, stride
            flags = rows.flags.ctypes.data + some_rows.start, tiles.flags.ctypes.data + some_tiles.start
            for wanted, which in enumerate(kernels):
                self.kernel(which).module.multiply(
                    rows.at(which, some_rows.start), tiles.at(which, some_tiles.start),
                    c.ctypes.data + cell * c.itemsize, d.ctypes.data + cell * d.itemsize,
                    *flags, *counts, wanted, *more,
                )  # fmt: skip

        work.split_pairs(len(rows.flags), len(tiles.flags), n_steps * self.shape.k * self.shape.lanes, run)
