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
from tcformal.kernels.shortcuts import declarations
from tcformal.machine import x86


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
    #: Neighbouring rows that are taken together.
    rows: int = 1

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
    whole = "\n".join(texts)
    texts.append(declarations(whole))
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
    lowering = Lowering(cut.graph, code, known, cut.shortcuts)
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
    tile are computed where (row flag or tile flag) is `wanted`.  Neighbouring rows are taken together,
    because each result has to wait for the one before it in its own row only.
    """
    single, widest = _steps(cut, shape, layouts, 1)
    several, _ = _steps(cut, shape, layouts, shape.rows)
    rows, tiles = layouts[shape.spread_side].size, layouts[shape.lanes_side].size
    enter, leave = _control(single)
    text = f"""define void @multiply(ptr noalias %spread, ptr noalias %lanes, ptr %c, ptr %d, ptr %row_flags,
    ptr %tile_flags, i64 %n_rows, i64 %n_tiles, i64 %n_steps, i64 %stride, i8 %wanted) {{
entry:
{enter}
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
  %row_byte = mul i64 %i, %row_bytes
  %row_first = getelementptr i8, ptr %spread, i64 %row_byte
  %row_cell = mul i64 %i, %stride
  %cell = add i64 %row_cell, %column
{_go_on(shape.rows)}
{several if shape.rows > 1 else ""}
single:
{_wanted(0)}
  br i1 %go_0, label %steps_1, label %row_end
{single}
row_end:
  %taken = phi i64 [ 1, %single ], [ 1, %end_1 ]{f", [ {shape.rows}, %end_{shape.rows} ]" if shape.rows > 1 else ""}
  %next_i = add i64 %i, %taken
  %more_rows = icmp ult i64 %next_i, %n_rows
  br i1 %more_rows, label %row, label %tile_end
tile_end:
  %next_j = add i64 %j, 1
  %more_tiles = icmp ult i64 %next_j, %n_tiles
  br i1 %more_tiles, label %tile, label %end
end:
{leave}
  ret void
}}"""
    return text, widest


#: Floats that round use the control word of x86 as it is when a process starts: to nearest, nothing flushed.
_ENTER = """  %control = alloca i32
  %usual = alloca i32
  store i32 8064, ptr %usual
  call void @llvm.x86.sse.stmxcsr(ptr %control)
  call void @llvm.x86.sse.ldmxcsr(ptr %usual)"""
_LEAVE = "  call void @llvm.x86.sse.ldmxcsr(ptr %control)"


def _control(text: str) -> tuple[str, str]:
    """What a function that computes on floats does first and last, whatever other libraries set."""
    floats = any(name in text for name in ("@llvm.fma.", " = fadd ", " = fmul ", " = fptrunc "))
    return (_ENTER, _LEAVE) if floats and x86() else ("", "")


def _wanted(row: int, name: str = "") -> str:
    """Whether the pair of a row, `row` below the current one, and the tile is wanted: %go_row."""
    x = f"{name}{row}"
    return f"""  %flag_i_{x} = add i64 %i, {row}
  %flag_at_{x} = getelementptr i8, ptr %row_flags, i64 %flag_i_{x}
  %row_flag_{x} = load i8, ptr %flag_at_{x}
  %flag_{x} = or i8 %row_flag_{x}, %tile_flag
  %go_{x} = icmp eq i8 %flag_{x}, %wanted"""


def _go_on(rows: int) -> str:
    """The way to the steps of several rows, where so many are left and wanted, or else to those of one."""
    if rows == 1:
        return "  br label %single"
    lines = [
        f"  %last_i = add i64 %i, {rows}",
        "  %enough = icmp ule i64 %last_i, %n_rows",
        "  br i1 %enough, label %several, label %single",
        "several:",
        *(_wanted(row, "s") for row in range(rows)),
        "  %all_s0 = and i1 %go_s0, %go_s0",
    ]
    lines += [f"  %all_s{row} = and i1 %all_s{row - 1}, %go_s{row}" for row in range(1, rows)]
    return "\n".join([*lines, f"  br i1 %all_s{rows - 1}, label %steps_{rows}, label %single"])


def _steps(cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout], rows: int) -> tuple[str, int]:
    """The loop over the steps of some neighbouring rows and one tile: from %steps_N to %end_N."""
    size, tile_size = layouts[shape.spread_side].size, layouts[shape.lanes_side].size
    c_bits, d_bits = shape.storage["c"], shape.storage["d"]
    code = Code(shape.lanes, "")
    kinds = code.kind(c_bits), code.kind(d_bits)
    inputs = cut.graph.inputs
    bodies: list[list[str]] = []
    before: list[str] = []
    phis: list[str] = []
    after: list[str] = []
    for row in range(rows):
        x = f"{rows}_{row}"
        code = Code(shape.lanes, f"r{x}_")
        before += [
            f"  %cells_{x} = mul i64 %stride, {row}",
            f"  %cell_{x} = add i64 %cell, %cells_{x}",
            f"  %c_at_{x} = getelementptr i{c_bits}, ptr %c, i64 %cell_{x}",
            f"  %c_first_{x} = load {kinds[0]}, ptr %c_at_{x}, align {c_bits // 8}",
            f"  %bytes_{x} = mul i64 %row_bytes, {row}",
            f"  %first_{x} = getelementptr i8, ptr %row_first, i64 %bytes_{x}",
        ]
        known: dict[int, LaneValue] = {}
        at = code.new(f"getelementptr i8, ptr %first_{x}, i64 %row_byte_{rows}")
        for side, base in ((shape.spread_side, at), (shape.lanes_side, f"%tile_at_{rows}")):
            layout = layouts[side]
            known |= layout.fixed
            for plane in layout.planes:
                known[plane.node.index] = load(code, plane, base, layout)
        if "c" in inputs:
            known[inputs["c"].index] = word(code, f"%c_now_{x}", c_bits, inputs["c"].width)
        lowering = Lowering(cut.graph, code, known, cut.shortcuts)
        d_next = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
        if shape.chained:
            phis.append(
                f"  %c_now_{x} = phi {kinds[0]} [ %c_first_{x}, %steps_{rows} ], [ {d_next}, %loop_{rows} ]"
            )
        else:
            code.lines.insert(
                0, f"  %c_now_{x} = select i1 true, {kinds[0]} %c_first_{x}, {kinds[0]} %c_first_{x}"
            )
        bodies.append(code.lines)
        after += [
            f"  %d_at_{x} = getelementptr i{d_bits}, ptr %d, i64 %cell_{x}",
            f"  store {kinds[1]} {d_next}, ptr %d_at_{x}, align {d_bits // 8}",
        ]
    lines = "\n".join
    # The rows' instructions are the same ones: side by side, each waits for its own row's alone.
    mixed = [line for same in zip(*bodies, strict=True) for line in same]
    text = f"""steps_{rows}:
{lines(before)}
  br label %loop_{rows}
loop_{rows}:
  %step_{rows} = phi i64 [ 0, %steps_{rows} ], [ %next_step_{rows}, %loop_{rows} ]
  %row_byte_{rows} = phi i64 [ 0, %steps_{rows} ], [ %next_row_{rows}, %loop_{rows} ]
  %tile_at_{rows} = phi ptr [ %tile_first, %steps_{rows} ], [ %next_tile_{rows}, %loop_{rows} ]
{lines(phis)}
{lines(mixed)}
  %next_row_{rows} = add i64 %row_byte_{rows}, {size}
  %next_tile_{rows} = getelementptr i8, ptr %tile_at_{rows}, i64 {tile_size}
  %next_step_{rows} = add i64 %step_{rows}, 1
  %more_steps_{rows} = icmp ult i64 %next_step_{rows}, %n_steps
  br i1 %more_steps_{rows}, label %loop_{rows}, label %end_{rows}
end_{rows}:
{lines(after)}
  br label %row_end"""
    return text, code.widest
