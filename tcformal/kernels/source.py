"""The LLVM module of one cut dot product: two decoders, and the loop over tiles, rows and steps of k.

One side is taken lane by lane (a tile: `lanes` columns of B at once), the other one value at a time for
all lanes.  A decoder computes the planes of its side once; the product kernel reads them and computes
what depends on both sides, the accumulator staying in registers from step to step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.interp.lanes import TRUTH, Code, LaneValue, lane_for
from tcformal.interp.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.kernels.cut import Cut
from tcformal.kernels.planes import PlaneLayout, load, plane_layout, store


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a module needs to know of the arrays that it reads and writes."""

    #: Products, and scales of each side, in one step.
    k: int
    scales: int
    #: Bits of an element in memory, by letter: a, b, c, d, and `scale`.
    storage: Mapping[str, int]
    #: The side that is taken one value at a time, and the lanes of the other one.
    spread_side: str
    lanes: int
    #: Whether the d of a step is the c of the next; else there is one step only.
    chained: bool

    @property
    def lanes_side(self) -> str:
        """The side that is taken lane by lane."""
        return "b" if self.spread_side == "a" else "a"


@dataclass(frozen=True, slots=True)
class Source:
    """An LLVM module with the functions `decode_a`, `decode_b` and `multiply`.

    `sizes`: bytes of a decoded record, by side.
    """

    text: str
    sizes: Mapping[str, int]
    #: Bits of the widest lane of the product kernel.
    widest: int


def source(cut: Cut, shape: Shape, flags: Mapping[str, Sequence[Node]]) -> Source:
    """The module of a cut dot product; decoders report where a node of `flags` is 1.

    The functions' arguments stand with each of them below; all counts and strides are in elements,
    those of records in records.
    """
    texts, layouts = [], {}
    for side in "ab":
        text, layouts[side] = _decoder(cut, shape, side, flags[side])
        texts.append(text)
    text, widest = _multiply(cut, shape, layouts)
    texts.append(text)
    return Source("\n".join(texts), {side: layout.size for side, layout in layouts.items()}, widest)


def _decoder(cut: Cut, shape: Shape, side: str, flags: Sequence[Node]) -> tuple[str, PlaneLayout]:
    """decode(raw, scale, out, flags, count, steps, raw_stride, scale_stride).

    `count` rows or tiles; raw encodings [count, steps·k] on the side that is spread, and
    [steps·k, count·lanes] on the other; flags[count] become 1 where a flag is 1 in some step.
    """
    spread = side == shape.spread_side
    code = Code(1 if spread else shape.lanes, "v")
    known: dict[int, LaneValue] = {}
    inputs = cut.graph.inputs
    for array, name, count in (("raw", side, shape.k), ("scale", f"scale_{side}", shape.scales)):
        bits = shape.storage.get("scale" if array == "scale" else side, 0)
        for i in range(count):
            node = inputs.get(f"{name}[{i}]")
            if node is not None:
                known[node.index] = _raw(code, array, bits, node.width, i, count, spread, shape.lanes)
    lowering = Lowering(cut.graph, code, known)
    values = [(node, lowering.value_of(node)) for node in cut.planes[side]]
    layout = plane_layout(values, shape.lanes, spread=spread)
    by_node = {node.index: value for node, value in values}
    for plane in layout.planes:
        store(code, plane, by_node[plane.node.index], "%to", layout)
    marks = [lowering.value_of(node) for node in flags]
    _report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    body = "\n".join(code.lines)
    return (
        f"""define void @decode_{side}(ptr noalias %raw, ptr noalias %scale,
    ptr noalias %out, ptr noalias %flags, i64 %count, i64 %steps, i64 %raw_stride, i64 %scale_stride) {{
entry:
  br label %outer
outer:
  %index = phi i64 [ 0, %entry ], [ %next_index, %outer_end ]
  %flag_at = getelementptr i8, ptr %flags, i64 %index
  %first = mul i64 %index, %steps
  br label %inner
inner:
  %step = phi i64 [ 0, %outer ], [ %next_step, %inner ]
  %which = add i64 %first, %step
  %byte = mul i64 %which, {layout.size}
  %to = getelementptr i8, ptr %out, i64 %byte
{body}
  %next_step = add i64 %step, 1
  %more_steps = icmp ult i64 %next_step, %steps
  br i1 %more_steps, label %inner, label %outer_end
outer_end:
  %next_index = add i64 %index, 1
  %more = icmp ult i64 %next_index, %count
  br i1 %more, label %outer, label %end
end:
  ret void
}}""",
        layout,
    )


def _raw(
    code: Code, array: str, bits: int, width: int, i: int, count: int, spread: bool, lanes: int
) -> LaneValue:
    """The raw encodings of one input, as the decoder's loop finds them."""
    first = code.new(f"mul i64 %step, {count}")
    k = code.new(f"add i64 {first}, {i}")
    if spread:
        row = code.new(f"mul i64 %index, %{array}_stride")
        at = code.new(f"add i64 {row}, {k}")
    else:
        row = code.new(f"mul i64 {k}, %{array}_stride")
        column = code.new(f"mul i64 %index, {lanes}")
        at = code.new(f"add i64 {row}, {column}")
    place = code.new(f"getelementptr i{bits}, ptr %{array}, i64 {at}")
    text = code.new(f"load {code.kind(bits)}, ptr {place}, align {bits // 8}")
    return word(code, text, bits, width)


def word(code: Code, text: str, bits: int, width: int) -> LaneValue:
    """The value of raw encodings of `width` bits in elements of `bits`."""
    lane = lane_for(0, (1 << bits) - 1)
    if lane != bits:
        text = code.new(f"zext {code.kind(bits)} {text} to {code.kind(lane)}")
    value = code.value(text, 0, (1 << width) - 1, lane)
    return code.as_truth(value) if width == 1 else value


def _report(code: Code, marks: Sequence[LaneValue]) -> None:
    """Set the flag of the row or tile where some mark is 1 in some lane."""
    if not marks:
        return
    text = code.operand(marks[0], TRUTH)
    for mark in marks[1:]:
        text = code.new(f"or {code.kind(TRUTH)} {text}, {code.operand(mark, TRUTH)}")
    if code.lanes > 1:
        mask = code.new(f"bitcast {code.kind(TRUTH)} {text} to i{code.lanes}")
        text = code.new(f"icmp ne i{code.lanes} {mask}, 0")
    byte = code.new(f"zext i1 {text} to i8")
    before = code.new("load i8, ptr %flag_at")
    after = code.new(f"or i8 {before}, {byte}")
    code.lines.append(f"  store i8 {after}, ptr %flag_at")


def _multiply(cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout]) -> tuple[str, int]:
    """multiply(spread, lanes, c, d, row_flags, tile_flags, rows, tiles, steps, stride, wanted).

    Records of the two sides; c and d [rows, stride], tiles side by side; only the pairs of a row and a
    tile are computed where (row flag or tile flag) is `wanted`.
    """
    code = Code(shape.lanes, "v")
    known: dict[int, LaneValue] = {}
    for side, base in ((shape.spread_side, "%row_at"), (shape.lanes_side, "%tile_at")):
        layout = layouts[side]
        known |= layout.fixed
        for plane in layout.planes:
            known[plane.node.index] = load(code, plane, base, layout)
    inputs = cut.graph.inputs
    c_bits, d_bits = shape.storage["c"], shape.storage["d"]
    if "c" in inputs:
        known[inputs["c"].index] = word(code, "%c_now", c_bits, inputs["c"].width)
    lowering = Lowering(cut.graph, code, known)
    result = code.unsigned(lowering.value_of(cut.root), cut.root.width)
    d_next = code.operand(result, d_bits)
    body = "\n".join(code.lines)
    kinds = code.kind(c_bits), code.kind(d_bits)
    if shape.chained:
        now = f"%c_now = phi {kinds[0]} [ %c_first, %row_go ], [ {d_next}, %steps ]"
    else:
        now = f"%c_now = select i1 true, {kinds[0]} %c_first, {kinds[0]} %c_first"
    rows, tiles = layouts[shape.spread_side].size, layouts[shape.lanes_side].size
    text = f"""define void @multiply(ptr noalias %spread, ptr noalias %lanes, ptr %c, ptr %d, ptr %row_flags,
    ptr %tile_flags, i64 %n_rows, i64 %n_tiles, i64 %n_steps, i64 %stride, i8 %wanted) {{
entry:
  %row_bytes = mul i64 %n_steps, {rows}
  %tile_bytes = mul i64 %n_steps, {tiles}
  br label %tile
tile:
  %j = phi i64 [ 0, %entry ], [ %next_j, %tile_end ]
  %tile_flag_at = getelementptr i8, ptr %tile_flags, i64 %j
  %tile_flag = load i8, ptr %tile_flag_at
  %tile_byte = mul i64 %j, %tile_bytes
  %tile_first = getelementptr i8, ptr %lanes, i64 %tile_byte
  %column = mul i64 %j, {shape.lanes}
  br label %row
row:
  %i = phi i64 [ 0, %tile ], [ %next_i, %row_end ]
  %row_flag_at = getelementptr i8, ptr %row_flags, i64 %i
  %row_flag = load i8, ptr %row_flag_at
  %flag = or i8 %row_flag, %tile_flag
  %go = icmp eq i8 %flag, %wanted
  br i1 %go, label %row_go, label %row_end
row_go:
  %row_byte = mul i64 %i, %row_bytes
  %row_first = getelementptr i8, ptr %spread, i64 %row_byte
  %row_cell = mul i64 %i, %stride
  %cell = add i64 %row_cell, %column
  %c_at = getelementptr i{c_bits}, ptr %c, i64 %cell
  %c_first = load {kinds[0]}, ptr %c_at, align {c_bits // 8}
  br label %steps
steps:
  %step = phi i64 [ 0, %row_go ], [ %next_step, %steps ]
  %row_at = phi ptr [ %row_first, %row_go ], [ %row_next, %steps ]
  %tile_at = phi ptr [ %tile_first, %row_go ], [ %tile_next, %steps ]
  {now}
{body}
  %row_next = getelementptr i8, ptr %row_at, i64 {rows}
  %tile_next = getelementptr i8, ptr %tile_at, i64 {tiles}
  %next_step = add i64 %step, 1
  %more_steps = icmp ult i64 %next_step, %n_steps
  br i1 %more_steps, label %steps, label %store
store:
  %d_at = getelementptr i{d_bits}, ptr %d, i64 %cell
  store {kinds[1]} {d_next}, ptr %d_at, align {d_bits // 8}
  br label %row_end
row_end:
  %next_i = add i64 %i, 1
  %more_rows = icmp ult i64 %next_i, %n_rows
  br i1 %more_rows, label %row, label %tile_end
tile_end:
  %next_j = add i64 %j, 1
  %more_tiles = icmp ult i64 %next_j, %n_tiles
  br i1 %more_tiles, label %tile, label %end
end:
  ret void
}}"""
    return text, code.widest
