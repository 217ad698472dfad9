"""A kernel for few rows: operands that are taken lane by lane are decoded where they are used.

Decoded records are worth their memory where many rows meet them.  Where few do, a tile's encodings are
decoded in registers, once for all of the rows; results wait in memory from step to step, so that neighbouring
encodings are read one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcformal.interp.lanes import Code, LaneValue
from tcformal.interp.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.kernels.cut import Cut
from tcformal.kernels.multiply import Shape, control, word
from tcformal.kernels.planes import PlaneLayout, load
from tcformal.kernels.shortcuts import declarations
from tcformal.kernels.source import report


def raw_lanes(
    code: Code, at: str, bits: int, widths: Sequence[int], stride: str, *, turned: bool
) -> list[LaneValue]:
    """The raw encodings of one step in every lane, from the address of the first of them.

    Shapes: one value for each width; `stride` counts elements from one k to the next, the lanes side by side,
    or, `turned`, from one lane to the next, with a lane's encodings side by side.
    """
    lanes, n = code.lanes, len(widths)
    kind = code.kind(bits)
    if not turned:
        found = []
        for i, width in enumerate(widths):
            offset = code.new(f"mul i64 {stride}, {i}")
            place = code.new(f"getelementptr i{bits}, ptr {at}, i64 {offset}")
            text = code.new(f"load {kind}, ptr {place}, align {bits // 8}")
            found.append(word(code, text, bits, width))
        return found
    rows = []
    for lane in range(lanes):
        offset = code.new(f"mul i64 {stride}, {lane}")
        place = code.new(f"getelementptr i{bits}, ptr {at}, i64 {offset}")
        rows.append(code.new(f"load <{n} x i{bits}>, ptr {place}, align {bits // 8}"))
    # Rows half of all apart are interleaved until one row has the lanes of each k side by side.
    size = n
    while len(rows) > 1:
        half = len(rows) // 2
        order = ", ".join(f"i32 {i}, i32 {size + i}" for i in range(size))
        whole = f"<{size} x i{bits}>"
        rows = [
            code.new(f"shufflevector {whole} {x}, {whole} {y}, <{2 * size} x i32> <{order}>")
            for x, y in zip(rows[:half], rows[half:], strict=True)
        ]
        size *= 2
    (joined,) = rows
    found = []
    for i, width in enumerate(widths):
        order = ", ".join(f"i32 {i * lanes + lane}" for lane in range(lanes))
        whole = f"<{size} x i{bits}>"
        text = code.new(f"shufflevector {whole} {joined}, {whole} poison, <{lanes} x i32> <{order}>")
        found.append(word(code, text, bits, width))
    return found


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
    known = {node.index: x for node, x in zip(given, values, strict=True) if node is not None}
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
