"""Dot products, one pair of operands per row, decoded in registers; apart, because it is imported when used.

Rows fill the lanes.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.backends.llvm import Lowering
from tcformal.backends.machine import Module, vector_bits
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut, DotCall, cuts
from tcformal.simulation.kernels.rules import arguments, declarations, loop, needed
from tcformal.simulation.kernels.source import control, report, word
from tcformal.simulation.kernels.thin import (
    LINE,
    LanePiece,
    pieces,
    raw_lanes,
    scale_lanes,
    steps_at_once,
    turn,
    turned_piece,
)
from tcformal.simulation.kernels.threads import Words, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray


def turned_pieces(step: DotCall, lanes: int) -> dict[str, LanePiece]:
    """The block of each side's rows that is transposed at once; none for a single lane."""
    if lanes == 1:
        return {}
    of_side = {side: turned_piece(step.storage[side], step.k, lanes) for side in "ab"}
    steps = math.lcm(*(piece.steps for piece in of_side.values()))
    return {side: replace(piece, steps=steps) for side, piece in of_side.items()}


def _by_pairs(cut: Cut, k: int, roots: Sequence[Node]) -> list[tuple[list[int], list[Node]]]:
    """For each pair of neighbouring k, its inputs by index and the nodes that are computable from then on.

    Nothing that depends on c is among that.
    """
    inputs, pairs = cut.graph.inputs, -(-k // 2)
    pair_inputs: list[list[int]] = [[] for _ in range(pairs)]
    computable: list[list[Node]] = [[] for _ in range(pairs)]
    pair_of: dict[int, int] = {}
    for i in range(k):
        for side in "ab":
            pair_of[inputs[f"{side}[{i}]"].index] = i // 2
            pair_inputs[i // 2].append(inputs[f"{side}[{i}]"].index)
    for node in (x for root in roots for x in needed(root, cut.rules)):
        if node.index in pair_of:
            continue
        last = max((pair_of[x.index] for x in arguments(node, cut.rules)), default=-1)
        pair_of[node.index] = pairs if node.op == "input" else last
        if 0 <= pair_of[node.index] < pairs:
            computable[pair_of[node.index]].append(node)
    return list(zip(pair_inputs, computable, strict=True))


def dots(
    step: DotCall, cut: Cut, flags: Sequence[Node], lanes: int, at_once: int = 1
) -> tuple[str, int]:  # fmt: skip
    """The LLVM module with dots(a, b, c, d, scales…, flags, tiles, steps, strides…, ahead…), and its widest
    lane.

    c and d are one array where there are several steps.
    Rows of raw encodings, `lanes` of them a tile; the array flags is 1 where one of `flags` is in some step.
    Sums of `at_once` steps, which `steps` is a multiple of, stay in registers.
    """
    code, inputs = Code(lanes, "v"), cut.graph.inputs
    words: dict[tuple[int, int], Callable[[], LaneValue]] = {}
    of_side = turned_pieces(step, lanes)
    in_piece = code.new("sub i64 %step, %first_step")
    for side in "ab":
        piece = of_side.get(side)
        names = [f"{side}[{i}]" for i in range(step.k)]
        bits = step.storage[side]
        if piece is None:
            piece, stride = LanePiece(bits, lanes), 1
            row = code.new(f"mul i64 %row, %{side}_stride")
            offset = code.new(f"add i64 {row}, {code.new(f'mul i64 %step, {step.k}')}")
            at = code.new(f"getelementptr i{bits}, ptr %{side}, i64 {offset}")
        else:
            stride = piece.width
            offset = code.new(f"mul i64 {in_piece}, {step.k // piece.per_word * stride}")
            offset = code.new(f"add i64 {offset}, %lane_in_piece")
            at = code.new(f"getelementptr i{piece.word}, ptr %{side}_piece, i64 {offset}")
        widths = [inputs[name].width for name in names]
        values = raw_lanes(code, at, piece, widths * at_once, stride)
        words |= {(i // step.k, inputs[names[i % step.k]].index): x for i, x in enumerate(values)}
    c_bits, d_bits = step.storage["c"], step.storage["d"]
    scales: dict[int, LaneValue] = {}
    for side in "ab" if step.scales else "":
        of_scales = LanePiece(step.storage["scale"], lanes)
        at = f"%{side}_scale"
        scales |= scale_lanes(code, inputs, side, of_scales, step.scales, at, "%row", "%scale_stride")
    result, marks = "%c_now", []
    pairs = _by_pairs(cut, step.k, (cut.root, *flags))
    for which in range(at_once):
        known = scales | {inputs["c"].index: word(code, result, c_bits, inputs["c"].width)}
        lowering = Lowering(cut.graph, code, known, cut.rules)
        # What few encodings give is computed one after the other, so that registers are not full of them all.
        for given, made in pairs:
            for i in given:
                lowering.give(i, words.pop((which, i))())
            for node in made:
                lowering.value_of(node)
        result = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
        marks += [lowering.value_of(node) for node in flags]
    report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    body = "\n".join(code.lines)
    kinds = code.kind(c_bits), code.kind(d_bits)
    enter, leave = control(body)
    functions = "".join(turn(piece, f"fill_{side}") for side, piece in of_side.items())
    memory = "\n".join(
        f"  %{side}_piece = alloca [{piece.size(step.k)} x i8], align {LINE}"
        for side, piece in of_side.items()
    )
    steps, tiles = (of_side["a"].steps, of_side["a"].tiles) if of_side else (at_once, 1)
    fill = "\n".join(_fill(step, side, piece) for side, piece in of_side.items())
    filled = f"""  %filled_row = mul i64 %filled, {lanes}
  %filled_first = sub i64 %filled, %group
  %filled_lane = mul i64 %filled_first, {lanes}
{fill}"""
    tile = f"""  %row = mul i64 %tile, {lanes}
  %tile_in_piece = sub i64 %tile, %group
  %lane_in_piece = mul i64 %tile_in_piece, {lanes}
  %flag_at = getelementptr i8, ptr %flags, i64 %tile
  %c_at = getelementptr i{c_bits}, ptr %c, i64 %row
  %c_now = load {kinds[0]}, ptr %c_at, align {c_bits // 8}
{body}
  %d_at = getelementptr i{d_bits}, ptr %d, i64 %row
  store {kinds[1]} {result}, ptr %d_at, align {d_bits // 8}"""
    all_tiles = loop("tile", "each_step", "%last_tile", tile, first="%group")
    piece_of = f"""  %first_k = mul i64 %first_step, {step.k}
{loop("filled", "each_first_step", "%last_tile", filled, first="%group")}
{loop("step", "after_filled", "%last_step", all_tiles, first="%first_step", step=at_once)}"""
    text = f"""{functions}define void @dots(ptr noalias %a, ptr noalias %b, ptr %c, ptr %d,
    ptr noalias %a_scale, ptr noalias %b_scale, ptr noalias %flags, i64 %n_tiles, i64 %n_steps,
    i64 %a_stride, i64 %b_stride, i64 %a_ahead, i64 %b_ahead, i64 %scale_stride) {{
entry:
{enter}
{memory}
{pieces(tiles, steps, piece_of)}
{leave}
  ret void
}}"""
    return f"{text}\n{declarations(text)}", code.widest


def _fill(step: DotCall, side: str, piece: LanePiece) -> str:
    """Transpose one side's block that starts at %first_step, for the tile %filled."""
    x, bits, chunks = side, piece.bits, piece.steps * step.k // piece.chunk
    return f"""  %{x}_row = mul i64 %filled_row, %{x}_stride
  %{x}_i = add i64 %first_k, %{x}_row
  %{x}_from = getelementptr i{bits}, ptr %{x}, i64 %{x}_i
  %{x}_to = getelementptr i{piece.word}, ptr %{x}_piece, i64 %filled_lane
  call void @fill_{x}(ptr %{x}_from, ptr %{x}_to, i64 %{x}_stride, i64 {chunks}, i64 %{x}_ahead)"""


#: Bytes of rows taken together that are fetched before the last ones are done, and how far ahead others are.
_LONG, _AHEAD = 1 << 17, 512
_ARGUMENTS = (*[ctypes.c_void_p] * 7, *[ctypes.c_int64] * 7)


class DotRows:
    """The dot-product kernels of one call, for rows of finite operands and for any rows.

    Errors: RuntimeError where LLVM refuses the code.
    """

    def __init__(self, step: DotCall) -> None:
        self._step = step
        self._cuts, rare = cuts(step, rules=True)
        self._rare = [*rare["a"], *rare["b"]]
        self._kernels: dict[tuple[str, int], Any] = {}
        most = vector_bits() // WORD
        # No processor has lanes for wider integers: one at a time is the fastest.
        self._lanes = {
            which: most if dots(step, x, (), most)[1] <= DOUBLE else 1 for which, x in self._cuts.items()
        }
        #: Steps whose sums stay in registers, where there are so many.
        self._at_once = steps_at_once(step, self._cuts["finite"])

    def text(self, which: str, at_once: int = 1) -> str:
        """The LLVM module for `finite` or for `any` operands."""
        flags = self._rare if which == "finite" else ()
        return dots(self._step, self._cuts[which], flags, self._lanes[which], at_once)[0]

    def __call__(
        self, a: Words, b: Words, c: Words, scale_a: Words | None = None, scale_b: Words | None = None
    ) -> Words:
        """The dot products d = Σ a_k·b_k + c: raw encodings in the formats' storage.

        Shapes: a, b [n, K] with K whole calls, c [n], scale_a, scale_b [n, scales of all calls] where there
        are scales -> [n].
        Errors: none for words that fit their formats; nothing is modified.
        """
        d = np.empty(len(c), f"u{self._step.storage['d'] // 8}")
        scales = [x for x in (scale_a, scale_b) if x is not None]
        flags = self._run("finite", [a, b, c], scales, d)
        some = np.flatnonzero(np.repeat(flags, self._lanes["finite"])[: len(c)])
        if some.size:
            again = np.empty(some.size, d.dtype)
            self._run("any", [x[some] for x in (a, b, c)], [x[some] for x in scales], again)
            d[some] = again
        return d

    def _run(
        self, which: str, given: Sequence[Words], scales: Sequence[Words], d: Words
    ) -> NDArray[np.uint8]:
        """Compute d from a, b and c; the returned flags mark the tiles of d that are invalid."""
        lanes = self._lanes[which]
        given = [_in_rows(x) for x in given]
        n, k = given[0].shape
        steps = k // self._step.k
        flags = np.zeros(-(-n // lanes), np.uint8)
        # Scales are few: they are put side by side.
        turned = [np.full((x.shape[1], len(flags) * lanes), self._step.scale_one, x.dtype) for x in scales]
        for all_of, x in zip(turned, scales, strict=True):
            all_of[:, :n] = x.T
        if self._step.chained:
            # Sums wait where the next step takes them from.
            d[:] = given[2]
            given[2] = d
        # Rows are read in whole pieces: the last ones, whose ends nothing follows, are put where zeros do.
        of_side = turned_pieces(self._step, lanes)
        group, beyond, left, several = 1, 0, 0, 1
        if of_side:
            group, beyond = of_side["a"].tiles, -k % (of_side["a"].steps * self._step.k)
            several = self._at_once
            left = steps % of_side["a"].steps if several > 1 else 0
        # Whole pieces first, then the steps that are left.
        ranges = ((0, steps - left, several), (steps - left, steps, 1))
        parts = [(first, last, self._kernel(which, n)) for first, last, n in ranges if first < last]
        whole = max(0, n - -(-beyond // k)) // lanes

        def some(x: Sequence[Words], to: Words, tiles: slice, first: int) -> None:
            at = [y.ctypes.data + tiles.start * lanes * y.strides[0] for y in (*x, to)]
            apart = [y.strides[0] // y.itemsize for y in x[:2]]
            # The same place of the next rows, or of long ones the next places.
            sizes = [group * lanes * y.strides[0] for y in x[:2]]
            ahead = [size if size <= _LONG else _AHEAD for size in sizes]
            tile = first + tiles.start
            at += [y.ctypes.data + tile * lanes * y.itemsize for y in turned] or [0, 0]
            for start, stop, kernel in parts:
                places = [at[i] + start * self._step.k * x[i].itemsize for i in range(2)] + at[2:]
                counts = tiles.stop - tiles.start, stop - start, *apart, *ahead, len(flags) * lanes
                kernel.dots(*places, flags.ctypes.data + tile, *counts)

        with Work(progress=False) as work:
            work.split(whole, lanes * k, lambda tiles: some(given, d, tiles, 0))
        rest = n - whole * lanes
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

    def _kernel(self, which: str, at_once: int) -> Any:
        if (which, at_once) not in self._kernels:
            self._kernels[which, at_once] = Module(self.text(which, at_once), {"dots": _ARGUMENTS})
        return self._kernels[which, at_once]


def _in_rows(x: Words) -> Words:
    """An array with contiguous rows: the array itself or a copy."""
    aligned = x.flags.aligned and x.strides[-1] == x.itemsize and not x.strides[0] % x.itemsize
    return x if aligned and x.strides[0] >= x.shape[-1] ** (x.ndim - 1) * x.itemsize else x.copy()
