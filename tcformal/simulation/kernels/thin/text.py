"""A kernel for few rows: the operands in lanes are decoded in registers, not in records.

Decoded records pay where many rows read them.  For few rows, a tile's encodings are decoded in registers once
for all rows.  Results stay in memory from step to step, so that encodings are read sequentially.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tcformal.backends.lanes import Code, LaneValue
from tcformal.backends.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut, DotCall
from tcformal.simulation.kernels.lowering import declarations, needed
from tcformal.simulation.kernels.multiply import Shape, control, word
from tcformal.simulation.kernels.planes import PlaneLayout, load
from tcformal.simulation.kernels.source import report
from tcformal.simulation.kernels.thin.turn import (
    FILLED,
    LINE,
    LanePiece,
    copy,
    part_of,
    straight_piece,
    turn,
    turned_piece,
)


def raw_lanes(
    code: Code, at: str, piece: LanePiece, widths: Sequence[int], stride: int | str
) -> list[Callable[[], LaneValue]]:
    """The raw encodings of one step in every lane, loaded from an address with adjacent lanes.

    Shapes: one value for each width, whose instructions are written when it is called for; `stride` counts
    words from one k, or those together, to the next.
    """
    bits, size, per_word = piece.bits, piece.word, piece.per_word

    def read(i: int, width: int) -> LaneValue:
        offset = code.new(f"mul i64 {stride}, {i // per_word}")
        place = code.new(f"getelementptr i{size}, ptr {at}, i64 {offset}")
        text = code.new(f"load {code.kind(size)}, ptr {place}, align {bits // 8}")
        if per_word > 1:
            text = part_of(code, text, size, bits, i % per_word)
        return word(code, text, bits, width)

    return [partial(read, i, width) for i, width in enumerate(widths)]


def scale_lanes(
    code: Code, inputs: Mapping[str, Node], side: str, piece: LanePiece, scales: int, at: str, lane: str,
    stride: str,
) -> dict[int, LaneValue]:  # fmt: skip
    """One side's scales in %step, by input: loaded from encodings [steps·scales, stride] at lane `lane`."""
    row = code.new(f"mul i64 {code.new(f'mul i64 %step, {scales}')}, {stride}")
    first = code.new(f"getelementptr i{piece.bits}, ptr {at}, i64 {code.new(f'add i64 {row}, {lane}')}")
    nodes = [inputs[f"scale_{side}[{i}]"] for i in range(scales)]
    values = raw_lanes(code, first, piece, [node.width for node in nodes], stride)
    return {node.index: x() for node, x in zip(nodes, values, strict=True)}


def next_piece(tiles: int | str, steps: int) -> str:
    """The loops over blocks of tiles and steps, from %entry into %each_piece; `PIECE_END` closes them."""
    return f"""  br label %each_group
each_group:
  %group = phi i64 [ 0, %entry ], [ %next_group, %group_end ]
  %next_group = add i64 %group, {tiles}
  %last_tile = call i64 @llvm.umin.i64(i64 %n_tiles, i64 %next_group)
  br label %each_piece
each_piece:
  %first_step = phi i64 [ 0, %each_group ], [ %next_first, %piece_end ]
  %next_first = add i64 %first_step, {steps}
  %last_step = call i64 @llvm.umin.i64(i64 %n_steps, i64 %next_first)"""


#: From %piece_end to %end: what `next_piece` begins is done again.
PIECE_END = """piece_end:
  %more_pieces = icmp ult i64 %next_first, %n_steps
  br i1 %more_pieces, label %each_piece, label %group_end
group_end:
  %more_groups = icmp ult i64 %next_group, %n_tiles
  br i1 %more_groups, label %each_group, label %end"""


#: The most products of a step, and nodes for each, whose sums wait in memory longer than in registers.
_SHORT, _FEW = 2, 8


def steps_at_once(step: DotCall, cut: Cut) -> int:
    """The number of steps whose sums stay in registers: several short ones where d is the next c."""
    short = step.k <= _SHORT and len(needed(cut.root, cut.rules)) <= _FEW * step.k
    return FILLED // step.k if short and step.chained and not step.scales else 1


def piece_of(shape: Shape, how: str, at_once: int) -> LanePiece:
    """The block of the other side that is kept at once, for the layouts `straight`, `turned` or `records`."""
    bits = shape.storage[shape.lanes_side]
    if how == "turned":
        return turned_piece(bits, shape.k, shape.lanes)
    if how == "straight":
        return straight_piece(bits, shape.lanes, at_once)
    return LanePiece(bits, shape.lanes, at_once)


def thin(
    cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout], flags: Sequence[Node], how: str, at_once: int
) -> str:  # fmt: skip
    """The LLVM text of thin(spread, other, scale, c, d, flags, rows, tiles, together, steps, row_bytes,
    apart, stride).

    So many tiles `together`, whole lines of them, are taken to the end of k before the next ones; sums of
    `at_once` steps, which `steps` is a multiple of, stay in registers.

    Records of the spread side, `row_bytes` from row to row; of the other side raw encodings that lie
    `straight`, lanes side by side, or `turned`, lane after lane, or its `records`, `apart` elements, or
    bytes, from one k, lane or tile to the next; scales of raw encodings [steps·scales, stride]; c and d
    [rows, stride], the same array where there are several steps.  Raw encodings are read in the whole steps
    of a piece (`piece_of`), straight ones in whole lines of tiles.  flags[tiles] become 1 where one of the
    other side's flags is 1 in some step of raw encodings: that tile's results are not to be used.
    """
    code, piece = Code(shape.lanes, "v"), piece_of(shape, how, at_once)
    kept = how == "turned" or piece.tiles > 1
    if how == "records":
        decoded = [_records(code, layouts[shape.lanes_side], step) for step in range(at_once)]
    else:
        decoded = _decoded(code, cut, shape, flags, piece if kept else None, at_once)
    layout = layouts[shape.broadcast_side]
    row = _row(cut, shape, layout, decoded)
    body = "\n".join(code.lines)
    enter, leave = control(body + row)
    fill, memory, function = "", "", ""
    if kept:
        memory = f"  %piece = alloca [{piece.size(shape.k)} x i8], align {LINE}"
        function = turn(piece, "fill") if how == "turned" else copy(piece, piece.steps * shape.k, "fill")
        fill = _fill(shape, piece, turned=how == "turned")
    text = f"""{function}define void @thin(ptr noalias %spread, ptr noalias %other, ptr noalias %scale,
    ptr %c, ptr %d, ptr noalias %flags, i64 %n_rows, i64 %n_tiles, i64 %together, i64 %n_steps,
    i64 %row_bytes, i64 %apart, i64 %stride) {{
entry:
{enter}
{memory}
{next_piece("%together", piece.steps)}
  br label %each_line
each_line:
  %first_tile = phi i64 [ %group, %each_piece ], [ %next_line, %line_end ]
  %next_line = add i64 %first_tile, {piece.tiles}
  %line_last = call i64 @llvm.umin.i64(i64 %last_tile, i64 %next_line)
{fill}
  br label %each_step
each_step:
  %step = phi i64 [ %first_step, %{"filled" if fill else "each_line"} ], [ %next_step, %step_end ]
  %step_byte = mul i64 %step, {layout.size}
  %step_first = getelementptr i8, ptr %spread, i64 %step_byte
  br label %each_tile
each_tile:
  %tile = phi i64 [ %first_tile, %each_step ], [ %next_tile, %tile_end ]
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
  %more_tiles = icmp ult i64 %next_tile, %line_last
  br i1 %more_tiles, label %each_tile, label %step_end
step_end:
  %next_step = add i64 %step, {at_once}
  %more_steps = icmp ult i64 %next_step, %last_step
  br i1 %more_steps, label %each_step, label %line_end
line_end:
  %more_lines = icmp ult i64 %next_line, %last_tile
  br i1 %more_lines, label %each_line, label %piece_end
{PIECE_END}
end:
{leave}
  ret void
}}"""
    return f"{text}\n{declarations(text)}"


#: Bytes from what is turned to what is fetched for later.
_AHEAD = 512


def _fill(shape: Shape, piece: LanePiece, *, turned: bool) -> str:
    """Copy or transpose the block that starts at %first_step and %first_tile: from %each_line to %filled."""
    bits = piece.bits
    if not turned:
        return f"""  %first_k = mul i64 %first_step, {shape.k}
  %k_at = mul i64 %first_k, %apart
  %tile_at = mul i64 %first_tile, {shape.lanes}
  %from_i = add i64 %k_at, %tile_at
  %from = getelementptr i{bits}, ptr %other, i64 %from_i
  call void @fill(ptr %from, ptr %piece, i64 %apart)
  br label %filled
filled:"""
    chunks = piece.steps * shape.k // piece.chunk
    return f"""  %first_k = mul i64 %first_step, {shape.k}
  br label %each_filled
each_filled:
  %filled_tile = phi i64 [ %first_tile, %each_line ], [ %next_filled, %each_filled ]
  %first_lane = mul i64 %filled_tile, {shape.lanes}
  %lane_at = mul i64 %first_lane, %apart
  %from_i = add i64 %lane_at, %first_k
  %from = getelementptr i{bits}, ptr %other, i64 %from_i
  %in_line = sub i64 %filled_tile, %first_tile
  %to_i = mul i64 %in_line, {shape.lanes}
  %to = getelementptr i{piece.word}, ptr %piece, i64 %to_i
  call void @fill(ptr %from, ptr %to, i64 %apart, i64 {chunks}, i64 {_AHEAD})
  %next_filled = add i64 %filled_tile, 1
  %more_filled = icmp ult i64 %next_filled, %line_last
  br i1 %more_filled, label %each_filled, label %filled
filled:"""


def _records(code: Code, layout: PlaneLayout, step: int) -> dict[int, LaneValue]:
    """The planes of a tile and of the step `step` after the first one, loaded from prepared records."""
    tile = code.new("mul i64 %tile, %apart")
    which = code.new(f"add i64 %step, {step}")
    offset = code.new(f"add i64 {tile}, {code.new(f'mul i64 {which}, {layout.size}')}")
    base = code.new(f"getelementptr i8, ptr %other, i64 {offset}")
    return layout.fixed | {plane.node.index: load(code, plane, base, layout) for plane in layout.planes}


def _decoded(
    code: Code, cut: Cut, shape: Shape, flags: Sequence[Node], piece: LanePiece | None, at_once: int
) -> list[dict[int, LaneValue]]:
    """The planes of a tile and of each step, decoded from encodings; flags are reported."""
    side = shape.lanes_side
    bits = shape.storage[side]
    given = [cut.graph.inputs.get(f"{side}[{i}]") for i in range(shape.k)]  # None for what nothing reads
    step, tile, base, stride = "%step", "%tile", "%other", "%apart"
    if piece is None:
        piece = LanePiece(bits, shape.lanes)
    else:
        step, tile = (code.new(f"sub i64 {x}, %first_{x[1:]}") for x in (step, tile))
        base, stride = "%piece", str(piece.width)
    first = code.new(f"mul i64 {code.new(f'mul i64 {step}, {shape.k // piece.per_word}')}, {stride}")
    second = code.new(f"mul i64 {tile}, {shape.lanes}")
    at = code.new(f"getelementptr i{piece.word}, ptr {base}, i64 {code.new(f'add i64 {first}, {second}')}")
    widths = [bits if node is None else node.width for node in given]
    values = raw_lanes(code, at, piece, widths * at_once, stride)
    scales: dict[int, LaneValue] = {}
    if shape.scales:
        of_scales = LanePiece(shape.storage["scale"], shape.lanes)
        lane = code.new(f"mul i64 %tile, {shape.lanes}")
        scales = scale_lanes(code, cut.graph.inputs, side, of_scales, shape.scales, "%scale", lane, "%stride")
    decoded, marks = [], []
    for i in range(0, len(values), shape.k):
        words = zip(given, values[i : i + shape.k], strict=True)
        known = scales | {node.index: x() for node, x in words if node is not None}
        lowering = Lowering(cut.graph, code, known, cut.rules)
        decoded.append({node.index: lowering.value_of(node) for node in cut.planes[side]})
        marks += [lowering.value_of(node) for node in flags]
    code.lines.append("  %flag_at = getelementptr i8, ptr %flags, i64 %tile")
    report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    return decoded


def _row(cut: Cut, shape: Shape, layout: PlaneLayout, decoded: Sequence[Mapping[int, LaneValue]]) -> str:
    """The code for one row and tile: load its records and its sum, add all steps, store the sum."""
    code = Code(shape.lanes, "r")
    c_bits, d_bits = shape.storage["c"], shape.storage["d"]
    base = code.new(f"getelementptr i8, ptr %step_first, i64 {code.new('mul i64 %row, %row_bytes')}")
    cell = code.new(f"add i64 %column, {code.new('mul i64 %row, %stride')}")
    c = cut.graph.inputs.get("c")
    d = ""
    if c is not None:
        place = code.new(f"getelementptr i{c_bits}, ptr %c, i64 {cell}")
        d = code.new(f"load {code.kind(c_bits)}, ptr {place}, align {c_bits // 8}")
    for i, planes in enumerate(decoded):
        at = code.new(f"getelementptr i8, ptr {base}, i64 {i * layout.size}")
        known = {**planes, **layout.fixed}
        for plane in layout.planes:
            known[plane.node.index] = load(code, plane, at, layout)
        if c is not None:
            known[c.index] = word(code, d, c_bits, c.width)
        lowering = Lowering(cut.graph, code, known, cut.rules)
        d = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
    place = code.new(f"getelementptr i{d_bits}, ptr %d, i64 {cell}")
    code.lines.append(f"  store {code.kind(d_bits)} {d}, ptr {place}, align {d_bits // 8}")
    return "\n".join(code.lines)
