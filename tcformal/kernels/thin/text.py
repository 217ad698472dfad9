"""A kernel for few rows: operands that are taken lane by lane are decoded where they are used.

Decoded records are worth their memory where many rows meet them.  Where few do, a tile's encodings are
decoded in registers, once for all of the rows; results wait in memory from step to step, so that neighbouring
encodings are read one after the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tcformal.interp.lanes import WORD, Code, LaneValue
from tcformal.interp.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.kernels.cut import Cut
from tcformal.kernels.multiply import Shape, control, word
from tcformal.kernels.planes import PlaneLayout, load
from tcformal.kernels.shortcuts import declarations
from tcformal.kernels.source import report


def raw_lanes(
    code: Code, at: str, bits: int, widths: Sequence[int], stride: str, *, turned: bool, ahead: str = ""
) -> list[Callable[[], LaneValue]]:
    """The raw encodings of one step in every lane, from the address of the first of them.

    Shapes: one value for each width, whose last instructions are written when it is called for; `stride`
    counts elements from one k to the next, the lanes side by side, or, `turned`, from one lane to the next,
    with a lane's encodings side by side, which are fetched `ahead` bytes before they are read.
    """
    kind = code.kind(bits)
    if not turned:

        def read(i: int, width: int) -> LaneValue:
            offset = code.new(f"mul i64 {stride}, {i}")
            place = code.new(f"getelementptr i{bits}, ptr {at}, i64 {offset}")
            return word(code, code.new(f"load {kind}, ptr {place}, align {bits // 8}"), bits, width)

        return [partial(read, i, width) for i, width in enumerate(widths)]
    # Several narrow encodings are turned as one word, where the first of them is the lowest part of it.
    together = WORD // bits if sys.byteorder == "little" and bits < WORD else 1
    if len(widths) % together:
        together = 1
    size, n = bits * together, len(widths) // together
    firsts = []
    for lane in range(code.lanes):
        offset = code.new(f"mul i64 {stride}, {lane}")
        firsts.append(code.new(f"getelementptr i{bits}, ptr {at}, i64 {offset}"))
        if ahead:
            soon = code.new(f"getelementptr i8, ptr {firsts[-1]}, i64 {ahead}")
            code.lines.append(f"  call void @llvm.prefetch.p0(ptr {soon}, i32 0, i32 3, i32 1)")
    words: list[str] = []
    while len(words) < n:
        # As many as a power of two, and as there are lanes at most.
        some = min(code.lanes, 1 << (n - len(words)).bit_length() - 1)
        rows = []
        for first in firsts:
            place = code.new(f"getelementptr i{size}, ptr {first}, i64 {len(words)}")
            rows.append(code.new(f"load <{some} x i{size}>, ptr {place}, align {bits // 8}"))
        words += _turned(code, rows, some, size)

    def part(i: int, width: int) -> LaneValue:
        text, up = words[i // together], i % together * bits
        if together == 1:
            return word(code, text, bits, width)
        if up:
            text = code.apply("lshr", size, text, code.word(up, size))
        if up + bits < size:
            text = code.apply("and", size, text, code.word((1 << bits) - 1, size))
        return word(code, text, size, width)

    return [partial(part, i, width) for i, width in enumerate(widths)]


def _turned(code: Code, rows: Sequence[str], n: int, bits: int) -> list[str]:
    """The columns of a matrix from its rows, one for each lane; n, a power of two, is no more than those."""
    lanes, size = code.lanes, n

    def shuffled(x: str, y: str, order: Sequence[int]) -> str:
        whole = f"<{size} x i{bits}>"
        picked = ", ".join(f"i32 {i}" for i in order)
        return code.new(f"shufflevector {whole} {x}, {whole} {y}, <{len(order)} x i32> <{picked}>")

    # Rows n apart fill a register side by side: register v has word p of row g·n + v in lane g·n + p.
    while size < lanes:
        pairs = [(g + v, g + v + n) for g in range(0, len(rows), 2 * n) for v in range(n)]
        rows = [shuffled(rows[i], rows[j], range(2 * size)) for i, j in pairs]
        size *= 2
    made, bit = list(rows), 1
    while bit < n:
        # This bit of a word's number, which says where it lies, and of a register's change places.
        for v in range(n):
            if not v & bit:
                x, y = made[v], made[v | bit]
                made[v] = shuffled(x, y, [lanes + i - bit if i & bit else i for i in range(lanes)])
                made[v | bit] = shuffled(x, y, [lanes + i if i & bit else i + bit for i in range(lanes)])
        bit *= 2
    return made


def thin(cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout], flags: Sequence[Node], how: str) -> str:
    """thin(spread, other, c, d, flags, rows, tiles, together, steps, row_bytes, apart, stride).

    So many tiles `together` are taken to the end of k before the next ones.

    Records of the spread side, `row_bytes` from row to row; of the other side raw encodings that lie
    `straight` or `turned` (`raw_lanes`), or its `records`, `apart` elements, or bytes, from one k, lane or
    tile to the next; c and d [rows, stride], the same array where there are several steps.  flags[tiles]
    become 1 where one of the other side's flags is 1 in some step of raw encodings: that tile's results are
    not to be used.
    """
    code = Code(shape.lanes, "v")
    decoded = _records(code, layouts[shape.lanes_side]) if how == "records" else {}
    if how != "records":
        decoded = _decoded(code, cut, shape, flags, turned=how == "turned")
    layout = layouts[shape.spread_side]
    row = _row(cut, shape, layout, decoded)
    body = "\n".join(code.lines)
    enter, leave = control(body + row)
    text = f"""define void @thin(ptr noalias %spread, ptr noalias %other, ptr %c, ptr %d, ptr noalias %flags,
    i64 %n_rows, i64 %n_tiles, i64 %together, i64 %n_steps, i64 %row_bytes,
     i64 %apart, i64 %stride) {{
entry:
{enter}
  br label %each_group
each_group:
  %group = phi i64 [ 0, %entry ], [ %next_group, %group_end ]
  %next_group = add i64 %group, %together
  %fewer = icmp ult i64 %n_tiles, %next_group
  %last_tile = select i1 %fewer, i64 %n_tiles, i64 %next_group
  br label %each_step
each_step:
  %step = phi i64 [ 0, %each_group ], [ %next_step, %step_end ]
  %step_byte = mul i64 %step, {layout.size}
  %step_first = getelementptr i8, ptr %spread, i64 %step_byte
  br label %each_tile
each_tile:
  %tile = phi i64 [ %group, %each_step ], [ %next_tile, %tile_end ]
  %column = mul i64 %tile, {shape.lanes}
{body}
  br label %each_row
each_row:
  %row = phi i64 [ 0, %each_tile ], [ %next_row, %each_row ]
{row}
  %next_row = add i64 %row, 1
  %more_rows = icmp ult i64 %next_row, %n_rows
  br i1 %more_rows, label %each_row, label %tile_end
tile_end:
  %next_tile = add i64 %tile, 1
  %more_tiles = icmp ult i64 %next_tile, %last_tile
  br i1 %more_tiles, label %each_tile, label %step_end
step_end:
  %next_step = add i64 %step, 1
  %more_steps = icmp ult i64 %next_step, %n_steps
  br i1 %more_steps, label %each_step, label %group_end
group_end:
  %more_groups = icmp ult i64 %next_group, %n_tiles
  br i1 %more_groups, label %each_group, label %end
end:
{leave}
  ret void
}}"""
    return f"{text}\n{declarations(text)}"


def _records(code: Code, layout: PlaneLayout) -> dict[int, LaneValue]:
    """The planes of a tile and a step, as they were kept."""
    tile = code.new("mul i64 %tile, %apart")
    offset = code.new(f"add i64 {tile}, {code.new(f'mul i64 %step, {layout.size}')}")
    base = code.new(f"getelementptr i8, ptr %other, i64 {offset}")
    return layout.fixed | {plane.node.index: load(code, plane, base, layout) for plane in layout.planes}


def _decoded(
    code: Code, cut: Cut, shape: Shape, flags: Sequence[Node], *, turned: bool
) -> dict[int, LaneValue]:
    """The planes of a tile and a step from raw encodings, whose flags are reported."""
    side = shape.lanes_side
    bits = shape.storage[side]
    given = [cut.graph.inputs.get(f"{side}[{i}]") for i in range(shape.k)]  # None for what nothing reads
    step, tile = ("1", "%apart") if turned else ("%apart", "1")
    first = code.new(f"mul i64 {code.new(f'mul i64 %step, {shape.k}')}, {step}")
    second = code.new(f"mul i64 {code.new(f'mul i64 %tile, {shape.lanes}')}, {tile}")
    at = code.new(f"getelementptr i{bits}, ptr %other, i64 {code.new(f'add i64 {first}, {second}')}")
    widths = [bits if node is None else node.width for node in given]
    values = raw_lanes(code, at, bits, widths, "%apart", turned=turned)
    known = {node.index: x() for node, x in zip(given, values, strict=True) if node is not None}
    lowering = Lowering(cut.graph, code, known, cut.shortcuts)
    decoded = {node.index: lowering.value_of(node) for node in cut.planes[side]}
    marks = [lowering.value_of(node) for node in flags]
    code.lines.append("  %flag_at = getelementptr i8, ptr %flags, i64 %tile")
    report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    return decoded


def _row(cut: Cut, shape: Shape, layout: PlaneLayout, decoded: Mapping[int, LaneValue]) -> str:
    """One row and tile: its record, the sum so far, and the sum that takes its place."""
    code = Code(shape.lanes, "r")
    c_bits, d_bits = shape.storage["c"], shape.storage["d"]
    base = code.new(f"getelementptr i8, ptr %step_first, i64 {code.new('mul i64 %row, %row_bytes')}")
    cell = code.new(f"add i64 %column, {code.new('mul i64 %row, %stride')}")
    known = {**decoded, **layout.fixed}
    for plane in layout.planes:
        known[plane.node.index] = load(code, plane, base, layout)
    if "c" in cut.graph.inputs:
        place = code.new(f"getelementptr i{c_bits}, ptr %c, i64 {cell}")
        text = code.new(f"load {code.kind(c_bits)}, ptr {place}, align {c_bits // 8}")
        known[cut.graph.inputs["c"].index] = word(code, text, c_bits, cut.graph.inputs["c"].width)
    lowering = Lowering(cut.graph, code, known, cut.shortcuts)
    d = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
    place = code.new(f"getelementptr i{d_bits}, ptr %d, i64 {cell}")
    code.lines.append(f"  store {code.kind(d_bits)} {d}, ptr {place}, align {d_bits // 8}")
    return "\n".join(code.lines)
