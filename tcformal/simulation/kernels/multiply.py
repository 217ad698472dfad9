"""The product kernel of a cut dot product: loops over tiles, rows and steps of k, as LLVM text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import Code, LaneValue, lane_for
from tcformal.backends.llvm import Lowering
from tcformal.backends.machine import x86
from tcformal.simulation.kernels.cut import Cut
from tcformal.simulation.kernels.planes import PlaneLayout, load
from tcformal.simulation.kernels.promoted import BYTES, Promotion, loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The array layout of a module: sizes of steps, lanes and elements."""

    #: Products, and scales of each side, in one step.
    k: int
    scales: int
    #: Bits of an element in memory, by letter: a, b, c, d, and `scale`.
    storage: Mapping[str, int]
    #: The side that is taken one value at a time, and the lanes of the other one.
    broadcast_side: str
    lanes: int
    #: Whether the d of a step is the c of the next; else there is one step only.
    chained: bool
    #: Neighbouring rows that are taken together.
    rows: int = 1

    @property
    def lanes_side(self) -> str:
        """The side whose rows or columns fill the lanes."""
        return "b" if self.broadcast_side == "a" else "a"


def word(code: Code, text: str, bits: int, width: int) -> LaneValue:
    """The value of a raw encoding: the low `width` bits of an element of `bits` bits."""
    lane = lane_for(0, (1 << bits) - 1)
    if lane != bits:
        text = code.new(f"zext {code.kind(bits)} {text} to {code.kind(lane)}")
    value = code.value(text, 0, (1 << width) - 1, lane)
    return code.as_truth(value) if width == 1 else value


def multiply(
    cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout], promotion: Promotion | None = None
) -> tuple[str, int]:
    """multiply(spread, lanes, c, d, row_flags, tile_flags, rows, tiles, steps, stride, wanted).

    Records of the two sides; c and d [rows, stride], tiles side by side; only the pairs of a row and a
    tile are computed where (row flag or tile flag) is `wanted`.  Neighbouring rows are taken together,
    because each result has to wait for the one before it in its own row only.  With a promotion c and d are
    sums of full accumulators, and the factors follow: row_factors, tile_factors, and the bytes from one row,
    and from one accumulator of a tile, to the next.
    """
    single, widest = _steps(cut, shape, layouts, promotion, 1)
    several, _ = _steps(cut, shape, layouts, promotion, shape.rows)
    rows, tiles = layouts[shape.broadcast_side].size, layouts[shape.lanes_side].size
    many = f", [ {shape.rows}, %end_{shape.rows} ]" if shape.rows > 1 else ""
    enter, leave = control(single)
    more = "" if promotion is None else _FACTORS
    text = f"""define void @multiply(ptr noalias %spread, ptr noalias %lanes, ptr %c, ptr %d, ptr %row_flags,
    ptr %tile_flags, i64 %n_rows, i64 %n_tiles, i64 %n_steps, i64 %stride, i8 %wanted{more}) {{
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
  %taken = phi i64 [ 1, %single ], [ 1, %end_1 ]{many}
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


_FACTORS = ", ptr %row_factors, ptr %tile_factors, i64 %row_apart, i64 %tile_apart"
#: Floats that round use the control word of x86 as it is when a process starts: to nearest, nothing flushed.
_ENTER = """  %control = alloca i32
  %usual = alloca i32
  store i32 8064, ptr %usual
  call void @llvm.x86.sse.stmxcsr(ptr %control)
  call void @llvm.x86.sse.ldmxcsr(ptr %usual)"""
_LEAVE = "  call void @llvm.x86.sse.ldmxcsr(ptr %control)"


def control(text: str) -> tuple[str, str]:
    """The instructions that set the floating-point control register at entry and restore it at exit.

    Both are empty for one that computes on integers alone.
    """
    floats = any(name in text for name in ("@llvm.fma.", " = fadd ", " = fmul ", " = fptrunc "))
    return (_ENTER, _LEAVE) if floats and x86() else ("", "")


def _wanted(row: int, name: str = "") -> str:
    """The test whether a row, `row` below the current one, and the tile need this kernel: %go_row."""
    x = f"{name}{row}"
    return f"""  %flag_i_{x} = add i64 %i, {row}
  %flag_at_{x} = getelementptr i8, ptr %row_flags, i64 %flag_i_{x}
  %row_flag_{x} = load i8, ptr %flag_at_{x}
  %flag_{x} = or i8 %row_flag_{x}, %tile_flag
  %go_{x} = icmp eq i8 %flag_{x}, %wanted"""


def _go_on(rows: int) -> str:
    """The branch to the loop over several rows where enough rows remain, else to the loop over one row."""
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


def _steps(
    cut: Cut, shape: Shape, layouts: Mapping[str, PlaneLayout], promotion: Promotion | None, rows: int
) -> tuple[str, int]:
    """The loop over the steps of neighbouring rows and one tile: from %steps_N to %end_N."""
    size, tile_size = layouts[shape.broadcast_side].size, layouts[shape.lanes_side].size
    c_bits, d_bits = shape.storage["c"], shape.storage["d"]
    code = Code(shape.lanes, "")
    kinds = code.kind(c_bits), code.kind(d_bits)
    inputs = cut.graph.inputs
    bodies: list[list[str]] = []
    before: list[str] = []
    phis: list[str] = []
    after: list[str] = []
    made: list[str] = []
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
        for side, base in ((shape.broadcast_side, at), (shape.lanes_side, f"%tile_at_{rows}")):
            layout = layouts[side]
            known |= layout.fixed
            for plane in layout.planes:
                known[plane.node.index] = load(code, plane, base, layout)
        if "c" in inputs:
            known[inputs["c"].index] = word(code, f"%c_now_{x}", c_bits, inputs["c"].width)
        lowering = Lowering(cut.graph, code, known, cut.rules)
        d_next = code.operand(code.unsigned(lowering.value_of(cut.root), cut.root.width), d_bits)
        if shape.chained:
            c, there = f"%c_first_{x}", f"%steps_{rows}"
            if promotion is not None:
                c, there = "zeroinitializer", f"%block_{rows}"
            phis.append(f"  %c_now_{x} = phi {kinds[0]} [ {c}, {there} ], [ {d_next}, %loop_{rows} ]")
        else:
            code.lines.insert(
                0, f"  %c_now_{x} = select i1 true, {kinds[0]} %c_first_{x}, {kinds[0]} %c_first_{x}"
            )
        bodies.append(code.lines)
        made.append(d_next)
        stored = d_next if promotion is None else f"%sum_{x}"
        after += [
            f"  %d_at_{x} = getelementptr i{d_bits}, ptr %d, i64 %cell_{x}",
            f"  store {kinds[1]} {stored}, ptr %d_at_{x}, align {d_bits // 8}",
        ]
    lines = "\n".join
    # The rows' instructions are the same ones: side by side, each waits for its own row's alone.
    mixed = [line for same in zip(*bodies, strict=True) for line in same]
    start, first, count, leave = f"%steps_{rows}", ("0", "0", "%tile_first"), "%n_steps", f"%end_{rows}"
    opened = closed = ""
    if promotion is not None:
        opened, closed = _accumulator(promotion, shape, made, rows)
        start, count, leave = f"%block_{rows}", f"%until_{rows}", f"%close_{rows}"
        first = (f"%block_step_{rows}", f"%block_byte_{rows}", f"%block_tile_{rows}")
    text = f"""steps_{rows}:
{lines(before)}
{opened or f"  br label %loop_{rows}"}
loop_{rows}:
  %step_{rows} = phi i64 [ {first[0]}, {start} ], [ %next_step_{rows}, %loop_{rows} ]
  %row_byte_{rows} = phi i64 [ {first[1]}, {start} ], [ %next_row_{rows}, %loop_{rows} ]
  %tile_at_{rows} = phi ptr [ {first[2]}, {start} ], [ %next_tile_{rows}, %loop_{rows} ]
{lines(phis)}
{lines(mixed)}
  %next_row_{rows} = add i64 %row_byte_{rows}, {size}
  %next_tile_{rows} = getelementptr i8, ptr %tile_at_{rows}, i64 {tile_size}
  %next_step_{rows} = add i64 %step_{rows}, 1
  %more_steps_{rows} = icmp ult i64 %next_step_{rows}, {count}
  br i1 %more_steps_{rows}, label %loop_{rows}, label {leave}
{closed}end_{rows}:
{lines(after)}
  br label %row_end"""
    return text, code.widest


def _accumulator(p: Promotion, shape: Shape, full: Sequence[str], rows: int) -> tuple[str, str]:
    """The code that starts an accumulator of neighbouring rows, and that adds full ones to their sums."""
    bits = shape.storage["d"]
    kind = Code(shape.lanes, "").kind(bits)
    phis: list[str] = []
    bodies: list[list[str]] = []
    for row, text in enumerate(full):
        x = f"{rows}_{row}"
        phis.append(f"  %total_{x} = phi {kind} [ %c_first_{x}, %steps_{rows} ], [ %sum_{x}, %close_{rows} ]")
        code = Code(shape.lanes, f"p{x}_")
        size = BYTES * len(p.factors[shape.broadcast_side])
        own = code.new(f"mul i64 {code.new(f'add i64 %i, {row}')}, %row_apart")
        own = code.new(f"add i64 {own}, {code.new(f'mul i64 %block_{rows}_i, {size}')}")
        row_at = code.new(f"getelementptr i8, ptr %row_factors, i64 {own}")
        other = code.new(f"mul i64 %block_{rows}_i, %tile_apart")
        other = code.new(f"add i64 {other}, {code.new(f'mul i64 %column, {BYTES}')}")
        tile_at = code.new(f"getelementptr i8, ptr %tile_factors, i64 {other}")
        places = row_at, tile_at, code.new(f"mul i64 %stride, {BYTES}")
        factors = loaded(code, p, shape.broadcast_side, places)
        width = p.root.width
        total, d = (word(code, y, bits, width) for y in (f"%total_{x}", text))
        made = code.operand(p.sum(code, total, d, factors), bits)
        code.lines.append(f"  %sum_{x} = select i1 true, {kind} {made}, {kind} {made}")
        bodies.append(code.lines)
    mixed = "\n".join(line for same in zip(*bodies, strict=True) for line in same)
    opened = f"""  br label %block_{rows}
block_{rows}:
  %block_{rows}_i = phi i64 [ 0, %steps_{rows} ], [ %next_block_{rows}, %close_{rows} ]
  %block_step_{rows} = phi i64 [ 0, %steps_{rows} ], [ %next_step_{rows}, %close_{rows} ]
  %block_byte_{rows} = phi i64 [ 0, %steps_{rows} ], [ %next_row_{rows}, %close_{rows} ]
  %block_tile_{rows} = phi ptr [ %tile_first, %steps_{rows} ], [ %next_tile_{rows}, %close_{rows} ]
{chr(10).join(phis)}
  %full_{rows} = add i64 %block_step_{rows}, {p.steps}
  %until_{rows} = call i64 @llvm.umin.i64(i64 %full_{rows}, i64 %n_steps)
  br label %loop_{rows}"""
    closed = f"""close_{rows}:
{mixed}
  %next_block_{rows} = add i64 %block_{rows}_i, 1
  %more_blocks_{rows} = icmp ult i64 %next_step_{rows}, %n_steps
  br i1 %more_blocks_{rows}, label %block_{rows}, label %end_{rows}
"""
    return opened, closed
