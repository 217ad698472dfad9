"""Dot products whose rows have operands of their own: rows are lanes, decoded where they are used."""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.interp.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.interp.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.kernels.block import Words
from tcformal.kernels.cut import Cut, DotCall, cuts
from tcformal.kernels.multiply import control, word
from tcformal.kernels.shortcuts import arguments, declarations, needed
from tcformal.kernels.source import report
from tcformal.kernels.thin.text import raw_lanes
from tcformal.kernels.thin.turn import LINE, Piece, turn, turned_piece
from tcformal.kernels.work import Work
from tcformal.machine import Module, vector_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes of rows taken together that are fetched before the last ones are done, and how far ahead others are.
_LONG, _AHEAD = 1 << 17, 512
_ARGUMENTS = (*[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 6)


class DotRows:
    """The kernels of one call without scales, for rows of finite operands and for any.

    Errors: RuntimeError where LLVM refuses the code.
    """

    def __init__(self, step: DotCall) -> None:
        self._step = step
        self._cuts, rare = cuts(step, shortcuts=True)
        self._rare = [*rare["a"], *rare["b"]]
        self._kernels: dict[str, Any] = {}
        most = vector_bits() // WORD
        # No processor has lanes for wider integers: one at a time is the fastest.
        self._lanes = {
            which: most if _text(step, x, (), most)[1] <= DOUBLE else 1 for which, x in self._cuts.items()
        }

    def text(self, which: str) -> str:
        """The module for `finite` operands, or for `any`."""
        flags = self._rare if which == "finite" else ()
        return _text(self._step, self._cuts[which], flags, self._lanes[which])[0]

    @property
    def digest(self) -> str:
        """SHA-256 of the code of both kernels: other code has to be compared again."""
        return hashlib.sha256("\0".join(self.text(which) for which in self._cuts).encode()).hexdigest()

    def __call__(self, a: Words, b: Words, c: Words) -> Words:
        """d = Σ a_k·b_k + c: raw encodings in the formats' storage.

        Shapes: a, b [n, K] with K whole calls, c [n] -> [n].
        Errors: none for words that fit their formats; nothing is modified.
        """
        d = np.empty(len(c), f"u{self._step.storage['d'] // 8}")
        flags = self._run("finite", a, b, c, d)
        some = np.flatnonzero(np.repeat(flags, self._lanes["finite"])[: len(c)])
        if some.size:
            again = np.empty(some.size, d.dtype)
            self._run("any", a[some], b[some], c[some], again)
            d[some] = again
        return d

    def _run(self, which: str, a: Words, b: Words, c: Words, d: Words) -> NDArray[np.uint8]:
        """Fill d; what comes back says which tiles of it are not to be used."""
        if which not in self._kernels:
            self._kernels[which] = Module(self.text(which), {"dots": _ARGUMENTS})
        run, lanes, k = self._kernels[which].dots, self._lanes[which], a.shape[1]
        steps = k // self._step.k
        flags = np.zeros(-(-len(c) // lanes), np.uint8)
        given = [_in_rows(x) for x in (a, b, c)]
        if self._step.chained:
            # Sums wait where the next step takes them from.
            d[:] = c
            given[2] = d
        # Rows are read in whole pieces: the last ones, whose ends nothing follows, are put where zeros do.
        pieces = _pieces(self._step, lanes)
        at_once, beyond = 1, 0
        if pieces:
            at_once, beyond = pieces["a"].tiles, -k % (pieces["a"].steps * self._step.k)
        whole = max(0, len(c) - -(-beyond // k)) // lanes

        def some(x: Sequence[Words], to: Words, tiles: slice, first: int) -> None:
            at = [y.ctypes.data + tiles.start * lanes * y.strides[0] for y in (*x, to)]
            apart = [y.strides[0] // y.itemsize for y in x[:2]]
            # The same place of the next rows, or of long ones the next places.
            sizes = [at_once * lanes * y.strides[0] for y in x[:2]]
            ahead = [size if size <= _LONG else _AHEAD for size in sizes]
            run(*at, flags.ctypes.data + first + tiles.start, tiles.stop - tiles.start, steps, *apart, *ahead)

        with Work(progress=False) as work:
            work.split(whole, lanes * k, lambda tiles: some(given, d, tiles, 0))
        rest = len(c) - whole * lanes
        if rest:
            tiles, ends = -(-rest // lanes), []
            for x in given:
                end = np.zeros((tiles * lanes, *[k + beyond] * (x.ndim - 1)), x.dtype)
                end[(slice(rest), *[slice(k)] * (x.ndim - 1))] = x[-rest:]
                ends.append(end)
            last = ends[2] if self._step.chained else np.empty(tiles * lanes, d.dtype)
            some(ends, last, slice(0, tiles), whole)
            d[-rest:] = last[:rest]
        return flags


def _in_rows(x: Words) -> Words:
    """An array whose rows are runs in memory, one after the other."""
    aligned = x.flags.aligned and x.strides[-1] == x.itemsize and not x.strides[0] % x.itemsize
    return x if aligned and x.strides[0] >= x.shape[-1] ** (x.ndim - 1) * x.itemsize else x.copy()


def _pieces(step: DotCall, lanes: int) -> dict[str, Piece]:
    """What of each side's rows is turned at once, the same steps; nothing for rows taken one at a time."""
    if lanes == 1:
        return {}
    pieces = {side: turned_piece(step.storage[side], step.k, lanes) for side in "ab"}
    steps = math.lcm(*(piece.steps for piece in pieces.values()))
    return {side: replace(piece, steps=steps) for side, piece in pieces.items()}


def _by_pairs(cut: Cut, k: int, roots: Sequence[Node]) -> list[tuple[list[int], list[Node]]]:
    """The inputs of each two neighbouring k, by index, and what can be computed once they are known.

    Nothing that depends on c is among that.
    """
    inputs, pairs = cut.graph.inputs, -(-k // 2)
    given: list[list[int]] = [[] for _ in range(pairs)]
    made: list[list[Node]] = [[] for _ in range(pairs)]
    pair_of: dict[int, int] = {}
    for i in range(k):
        for side in "ab":
            pair_of[inputs[f"{side}[{i}]"].index] = i // 2
            given[i // 2].append(inputs[f"{side}[{i}]"].index)
    for node in (x for root in roots for x in needed(root, cut.shortcuts)):
        if node.index in pair_of:
            continue
        last = max((pair_of[x.index] for x in arguments(node, cut.shortcuts)), default=-1)
        pair_of[node.index] = pairs if node.op == "input" else last
        if 0 <= pair_of[node.index] < pairs:
            made[pair_of[node.index]].append(node)
    return list(zip(given, made, strict=True))


def _text(step: DotCall, cut: Cut, flags: Sequence[Node], lanes: int) -> tuple[str, int]:
    """The module with dots(a, b, c, d, flags, tiles, steps, strides…, ahead…), and its widest lane.

    c and d are one array where there are several steps.
    Rows of raw encodings, `lanes` of them a tile; the array flags is 1 where one of `flags` is in some step.
    """
    code, inputs = Code(lanes, "v"), cut.graph.inputs
    words: dict[int, Callable[[], LaneValue]] = {}
    pieces = _pieces(step, lanes)
    in_piece = code.new("sub i64 %step, %first_step")
    for side in "ab":
        piece = pieces.get(side)
        names = [f"{side}[{i}]" for i in range(step.k)]
        bits = step.storage[side]
        if piece is None:
            piece, stride = Piece(bits, lanes), 1
            row = code.new(f"mul i64 %row, %{side}_stride")
            offset = code.new(f"add i64 {row}, {code.new(f'mul i64 %step, {step.k}')}")
            at = code.new(f"getelementptr i{bits}, ptr %{side}, i64 {offset}")
        else:
            stride = piece.width
            offset = code.new(f"mul i64 {in_piece}, {step.k // piece.together * stride}")
            offset = code.new(f"add i64 {offset}, %lane_in_piece")
            at = code.new(f"getelementptr i{piece.word}, ptr %{side}_piece, i64 {offset}")
        widths = [inputs[name].width for name in names]
        values = raw_lanes(code, at, piece, widths, stride)
        words |= {inputs[name].index: x for name, x in zip(names, values, strict=True)}
    c_bits, d_bits = step.storage["c"], step.storage["d"]
    known = {inputs["c"].index: word(code, "%c_now", c_bits, inputs["c"].width)}
    lowering = Lowering(cut.graph, code, known, cut.shortcuts)
    # What few encodings give is computed one after the other, so that registers are not full of all of them.
    for given, made in _by_pairs(cut, step.k, (cut.root, *flags)):
        for i in given:
            lowering.give(i, words.pop(i)())
        for node in made:
            lowering.value_of(node)
    result = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
    marks = [lowering.value_of(node) for node in flags]
    report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    body = "\n".join(code.lines)
    kinds = code.kind(c_bits), code.kind(d_bits)
    enter, leave = control(body)
    functions = "".join(turn(piece, f"fill_{side}") for side, piece in pieces.items())
    memory = "\n".join(
        f"  %{side}_piece = alloca [{piece.size(step.k)} x i8], align {LINE}"
        for side, piece in pieces.items()
    )
    fill = "\n".join(_fill(step, side, piece) for side, piece in pieces.items())
    at_once, tiles = (pieces["a"].steps, pieces["a"].tiles) if pieces else (1, 1)
    text = f"""{functions}define void @dots(ptr noalias %a, ptr noalias %b, ptr %c, ptr %d,
    ptr noalias %flags, i64 %n_tiles, i64 %n_steps, i64 %a_stride, i64 %b_stride,
    i64 %a_ahead, i64 %b_ahead) {{
entry:
{enter}
{memory}
  br label %each_group
each_group:
  %group = phi i64 [ 0, %entry ], [ %next_group, %group_end ]
  %next_group = add i64 %group, {tiles}
  %last_tile = call i64 @llvm.umin.i64(i64 %n_tiles, i64 %next_group)
  br label %each_piece
each_piece:
  %first_step = phi i64 [ 0, %each_group ], [ %next_first, %piece_end ]
  %next_first = add i64 %first_step, {at_once}
  %last_step = call i64 @llvm.umin.i64(i64 %n_steps, i64 %next_first)
  %first_k = mul i64 %first_step, {step.k}
  br label %each_filled
each_filled:
  %filled = phi i64 [ %group, %each_piece ], [ %next_filled, %each_filled ]
  %filled_row = mul i64 %filled, {lanes}
  %filled_first = sub i64 %filled, %group
  %filled_lane = mul i64 %filled_first, {lanes}
{fill}
  %next_filled = add i64 %filled, 1
  %more_filled = icmp ult i64 %next_filled, %last_tile
  br i1 %more_filled, label %each_filled, label %each_step
each_step:
  %step = phi i64 [ %first_step, %each_filled ], [ %next_step, %step_end ]
  br label %each_tile
each_tile:
  %tile = phi i64 [ %group, %each_step ], [ %next_tile, %each_tile ]
  %row = mul i64 %tile, {lanes}
  %tile_in_piece = sub i64 %tile, %group
  %lane_in_piece = mul i64 %tile_in_piece, {lanes}
  %flag_at = getelementptr i8, ptr %flags, i64 %tile
  %c_at = getelementptr i{c_bits}, ptr %c, i64 %row
  %c_now = load {kinds[0]}, ptr %c_at, align {c_bits // 8}
{body}
  %d_at = getelementptr i{d_bits}, ptr %d, i64 %row
  store {kinds[1]} {result}, ptr %d_at, align {d_bits // 8}
  %next_tile = add i64 %tile, 1
  %more_tiles = icmp ult i64 %next_tile, %last_tile
  br i1 %more_tiles, label %each_tile, label %step_end
step_end:
  %next_step = add i64 %step, 1
  %more_steps = icmp ult i64 %next_step, %last_step
  br i1 %more_steps, label %each_step, label %piece_end
piece_end:
  %more_pieces = icmp ult i64 %next_first, %n_steps
  br i1 %more_pieces, label %each_piece, label %group_end
group_end:
  %more_groups = icmp ult i64 %next_group, %n_tiles
  br i1 %more_groups, label %each_group, label %end
end:
{leave}
  ret void
}}"""
    return f"{text}\n{declarations(text)}", code.widest


def _fill(step: DotCall, side: str, piece: Piece) -> str:
    """One side's piece of %first_step and of the tile %filled, turned."""
    x, bits, chunks = side, piece.bits, piece.steps * step.k // piece.chunk
    return f"""  %{x}_row = mul i64 %filled_row, %{x}_stride
  %{x}_i = add i64 %first_k, %{x}_row
  %{x}_from = getelementptr i{bits}, ptr %{x}, i64 %{x}_i
  %{x}_to = getelementptr i{piece.word}, ptr %{x}_piece, i64 %filled_lane
  call void @fill_{x}(ptr %{x}_from, ptr %{x}_to, i64 %{x}_stride, i64 {chunks}, i64 %{x}_ahead)"""
