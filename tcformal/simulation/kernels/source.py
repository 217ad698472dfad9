"""The LLVM module of one cut dot product: two decoders, and the loop over tiles, rows and steps of k.

One side fills the lanes (a tile: `lanes` columns of B at once), the other side is broadcast one value at a
time.  A decoder computes the planes of its side once.  The product kernel reads them and computes the nodes
that depend on both sides; the accumulator stays in registers from step to step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcformal.backends.lanes import TRUTH, WORD, Code, LaneValue, lane_for
from tcformal.backends.llvm import Lowering, LoweringRule
from tcformal.backends.machine import x86
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut, DotCall
from tcformal.simulation.kernels.rules import declarations, loop
from tcformal.simulation.kernels.threads import Words

# ------------------- Records of decoded operands: the layout of their planes in memory, with loads and stores
#: Records that are taken lane by lane start at multiples of so many bytes.
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Plane:
    """One decoded node in a record: its byte offset and its range of values."""

    node: Node
    low: int
    high: int
    #: Bytes from the start of the record.
    offset: int
    #: Bits of one element in memory; TRUTH for truth values, which are stored as masks.
    bits: int


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """The record layout of one step of one row or tile: `size` bytes.

    `lanes`: the integers that a loaded plane has.  `broadcast`: whether one stored integer stands for all of
    them.
    """

    planes: tuple[Plane, ...]
    #: Nodes that turned out to be one integer, by node index: they are not stored.
    fixed: dict[int, LaneValue]
    size: int
    lanes: int
    broadcast: bool


def plane_layout(values: Sequence[tuple[Node, LaneValue]], lanes: int, *, broadcast: bool) -> PlaneLayout:
    """A layout for decoded values, widest planes first, so that each is aligned to its size.

    A value that is spread over the lanes is stored as a register takes it fastest: a word of 32 bits at
    least, a truth value as a mask of all lanes.
    """
    sized = []
    fixed = {node.index: value for node, value in values if value.constant}
    for node, value in values:
        if value.constant:
            continue
        if value.bits == TRUTH:
            sized.append((mask_bits(lanes) // 8, node, value, TRUTH))
        else:
            bits = _stored_bits(value, WORD if broadcast and lanes > 1 else 8)
            sized.append((bits // 8 * (1 if broadcast else lanes), node, value, bits))
    sized.sort(key=lambda row: -row[0])
    planes, offset = [], 0
    for size, node, value, bits in sized:
        planes.append(Plane(node, value.low, value.high, offset, bits))
        offset += size
    unit = 8 if broadcast else _ALIGNED
    return PlaneLayout(tuple(planes), fixed, max(unit, unit * -(-offset // unit)), lanes, broadcast)


def mask_bits(lanes: int) -> int:
    """The size in memory, in bits, of the truth values of all lanes."""
    return 8 * -(-lanes // 8)


def _stored_bits(value: LaneValue, least: int) -> int:
    """The width of the narrowest integer type in memory, of at least `least` bits, that holds a value."""
    for bits in (8, 16, 32):
        half = 1 << (bits - 1)
        inside = value.high < 2 * half if value.low >= 0 else value.low >= -half and value.high < half
        if inside and bits >= least:
            return bits
    return max(64, lane_for(value.low, value.high))


def store(code: Code, plane: Plane, value: LaneValue, base: str, layout: PlaneLayout) -> None:
    """Store a decoded value to the record at `base`; a broadcast record needs a code of one lane."""
    at = code.new(f"getelementptr i8, ptr {base}, i64 {plane.offset}")
    if plane.bits != TRUTH:
        code.lines.append(
            f"  store {code.kind(plane.bits)} {code.operand(value, plane.bits)}, ptr {at}, align 1"
        )
        return
    bits, text = mask_bits(layout.lanes), code.operand(value, TRUTH)
    if code.lanes == 1:
        mask = code.new(f"sext i1 {text} to i{bits}")
    else:
        mask = code.new(f"bitcast {code.kind(1)} {text} to i{code.lanes}")
        if bits > code.lanes:
            mask = code.new(f"zext i{code.lanes} {mask} to i{bits}")
    code.lines.append(f"  store i{bits} {mask}, ptr {at}, align 1")


def load(code: Code, plane: Plane, base: str, layout: PlaneLayout) -> LaneValue:
    """Load the value of a plane from the record at `base`."""
    at = code.new(f"getelementptr i8, ptr {base}, i64 {plane.offset}")
    lanes = layout.lanes
    if plane.bits == TRUTH:
        bits = mask_bits(lanes)
        text = code.new(f"load i{bits}, ptr {at}, align 1")
        if bits > lanes:
            text = code.new(f"trunc i{bits} {text} to i{lanes}")
        if lanes > 1:
            text = code.new(f"bitcast i{lanes} {text} to {code.kind(1)}")
        return LaneValue(text, 0, 1, TRUTH)
    bits = lane_for(plane.low, plane.high)
    grow = "sext" if plane.low < 0 else "zext"
    if not layout.broadcast:
        text = code.new(f"load {code.kind(plane.bits)}, ptr {at}, align 1")
        if bits != plane.bits:
            text = code.new(f"{grow} {code.kind(plane.bits)} {text} to {code.kind(bits)}")
        return LaneValue(text, plane.low, plane.high, bits)
    text = code.new(f"load i{plane.bits}, ptr {at}, align 1")
    if bits != plane.bits:
        text = code.new(f"{grow} i{plane.bits} {text} to i{bits}")
    return LaneValue(in_lanes(code, text, bits), plane.low, plane.high, bits)


def in_lanes(code: Code, text: str, bits: int) -> str:
    """One integer in every lane."""
    if code.lanes == 1:
        return text
    first = code.new(f"insertelement {code.kind(bits)} poison, i{bits} {text}, i64 0")
    zero = f"<{code.lanes} x i32> zeroinitializer"
    return code.new(f"shufflevector {code.kind(bits)} {first}, {code.kind(bits)} poison, {zero}")


# --------------------------- Two-level accumulation: full accumulators are added to a sum and restart at zero
# Without this fusion each accumulator is a matrix product of its own, written to memory and read again for
# the sum.
#: Bytes of a factor in memory.
BYTES = WORD // 8


@dataclass(frozen=True, slots=True)
class Promotion:
    """The rule by which a full accumulator is added to the running sum.

    Shapes: inputs `total` and `full` of `graph`, and one word for each factor: factors of side a are those of
    a row of A, of side b those of a column of B.
    Ranges and units: an accumulator is full after `steps` calls, or at the end of K; factors have at most 32
    bits, `total`, `full` and the result those of d.
    """

    graph: Graph
    root: Node
    steps: int
    #: The inputs that are factors, by side, in the order in which they lie in memory.
    factors: Mapping[str, tuple[str, ...]]
    #: How compiled code makes some nodes' values, by index; the others' as their operators say.
    rules: Mapping[int, LoweringRule] = field(default_factory=dict)

    def sum(
        self, code: Code, total: LaneValue, full: LaneValue, factors: Mapping[str, LaneValue]
    ) -> LaneValue:
        """The running sum after a full accumulator is added."""
        inputs = self.graph.inputs
        operands = {"total": total, "full": full, **factors}
        values = {inputs[name].index: x for name, x in operands.items() if name in inputs}
        return code.unsigned(
            Lowering(self.graph, code, values, self.rules).value_of(self.root), self.root.width
        )


@dataclass(frozen=True, slots=True)
class Factors:
    """The scale factors of all accumulators, in the kernel's memory layout.

    Shapes: rows [rows, accumulators, factors] of the side that is spread, lanes [accumulators, factors, whole
    tiles] of the other one: words of 32 bits, each without gaps.
    """

    rows: Words
    lanes: Words

    def arguments(self, row: int, column: int, accumulator: int) -> tuple[Any, ...]:
        """The kernel's arguments for a row, a column and an accumulator: addresses, and strides in bytes."""
        row_bytes, lane_bytes = self.rows.strides[0], self.lanes.strides[0]
        return (
            self.rows.ctypes.data + row * row_bytes + accumulator * self.rows.strides[1],
            self.lanes.ctypes.data + accumulator * lane_bytes + column * BYTES,
            row_bytes,
            lane_bytes,
        )


def factors_in_memory(
    p: Promotion, given: Mapping[str, list[Words]], rows_of: str, sizes: tuple[int, int, int]
) -> Factors:
    """The factors of each side, copied into the kernel's memory layout.

    Shapes: given: for each factor's name one array for each accumulator, of as many words as its side has
    rows (or columns), or of one; `rows_of`: the side that is spread; sizes: its rows, the whole tiles of the
    other one, and accumulators.
    """
    rows, columns, count = sizes
    other = "b" if rows_of == "a" else "a"
    high = np.zeros((rows, count, len(p.factors[rows_of])), np.uint32)
    wide = np.zeros((count, len(p.factors[other]), columns), np.uint32)
    for i, name in enumerate(p.factors[rows_of]):
        for n, x in enumerate(given[name]):
            high[:, n, i] = x
    for i, name in enumerate(p.factors[other]):
        for n, x in enumerate(given[name]):
            wide[n, i, : x.size if x.size > 1 else columns] = x
    return Factors(high, wide)


def loaded(code: Code, p: Promotion, rows_of: str, places: tuple[str, str, str]) -> dict[str, LaneValue]:
    """Load the factors of one row and one tile.

    Shapes: places: the registers with the addresses of the row's factors and of the tile's, and with the
    bytes from one factor of the tile to the next.
    """
    row, tile, apart = places
    found: dict[str, LaneValue] = {}
    kind = code.kind(WORD)
    for side, names in p.factors.items():
        for i, name in enumerate(names):
            if side == rows_of:
                at = code.new(f"getelementptr i{WORD}, ptr {row}, i64 {i}")
                text = in_lanes(code, code.new(f"load i{WORD}, ptr {at}, align {BYTES}"), WORD)
            else:
                at = code.new(f"getelementptr i8, ptr {tile}, i64 {code.new(f'mul i64 {apart}, {i}')}")
                text = code.new(f"load {kind}, ptr {at}, align {BYTES}")
            width = p.graph.inputs[name].width if name in p.graph.inputs else WORD
            found[name] = code.value(text, 0, (1 << width) - 1, WORD)
    return found


# -------------------------------------------------- The product kernel: loops over tiles, rows and steps of k
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


def shape_of(step: DotCall, broadcast_side: str, lanes: int) -> Shape:
    """The layout of a call's arrays with one side broadcast."""
    return Shape(
        k=step.k, scales=step.scales, storage=step.storage, broadcast_side=broadcast_side, lanes=lanes,
        chained=step.chained,
    )  # fmt: skip


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
    row = f"""  %row_byte = mul i64 %i, %row_bytes
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
  %taken = phi i64 [ 1, %single ], [ 1, %end_1 ]{many}"""
    tile = f"""  %tile_flag_at = getelementptr i8, ptr %tile_flags, i64 %j
  %tile_flag = load i8, ptr %tile_flag_at
  %tile_byte = mul i64 %j, %tile_bytes
  %tile_first = getelementptr i8, ptr %lanes, i64 %tile_byte
  %column = mul i64 %j, {shape.lanes}
{loop("i", "each_j", "%n_rows", row, step="%taken")}"""
    text = f"""define void @multiply(ptr noalias %spread, ptr noalias %lanes, ptr %c, ptr %d, ptr %row_flags,
    ptr %tile_flags, i64 %n_rows, i64 %n_tiles, i64 %n_steps, i64 %stride, i8 %wanted{more}) {{
entry:
{enter}
  %row_bytes = mul i64 %n_steps, {rows}
  %tile_bytes = mul i64 %n_steps, {tiles}
{loop("j", "entry", "%n_tiles", tile)}
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
    start = f"steps_{rows}" if promotion is None else f"each_block_{rows}"
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
            c = f"%c_first_{x}" if promotion is None else "zeroinitializer"
            phis.append(f"  %c_now_{x} = phi {kinds[0]} [ {c}, %{start} ], [ {d_next}, %close_step_{rows} ]")
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
    first = ("0", "0", "%tile_first") if promotion is None else (
        f"%block_{rows}", f"%block_byte_{rows}", f"%block_tile_{rows}"
    )  # fmt: skip
    step = f"""  %row_byte_{rows} = phi i64 [ {first[1]}, %{start} ], [ %next_row_{rows}, %close_step_{rows} ]
  %tile_at_{rows} = phi ptr [ {first[2]}, %{start} ], [ %next_tile_{rows}, %close_step_{rows} ]
{lines(phis)}
{lines(mixed)}
  %next_row_{rows} = add i64 %row_byte_{rows}, {size}
  %next_tile_{rows} = getelementptr i8, ptr %tile_at_{rows}, i64 {tile_size}"""
    stop = "%n_steps" if promotion is None else f"%until_{rows}"
    whole = loop(f"step_{rows}", start, stop, step, first=first[0])
    if promotion is not None:
        opened, closed = _accumulator(promotion, shape, made, rows)
        block = f"""{opened}
  %block_byte_{rows} = mul i64 %block_{rows}, {size}
  %block_tile_byte_{rows} = mul i64 %block_{rows}, {tile_size}
  %block_tile_{rows} = getelementptr i8, ptr %tile_first, i64 %block_tile_byte_{rows}
  %full_{rows} = add i64 %block_{rows}, {promotion.steps}
  %until_{rows} = call i64 @llvm.umin.i64(i64 %full_{rows}, i64 %n_steps)
{whole}
{closed}"""
        whole = loop(f"block_{rows}", f"steps_{rows}", "%n_steps", block, step=promotion.steps)
    text = f"""steps_{rows}:
{lines(before)}
{whole}
  br label %end_{rows}
end_{rows}:
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
        old = f"[ %c_first_{x}, %steps_{rows} ], [ %sum_{x}, %close_block_{rows} ]"
        phis.append(f"  %total_{x} = phi {kind} {old}")
        code = Code(shape.lanes, f"p{x}_")
        size = BYTES * len(p.factors[shape.broadcast_side])
        which = code.new(f"udiv i64 %block_{rows}, {p.steps}")
        own = code.new(f"mul i64 {code.new(f'add i64 %i, {row}')}, %row_apart")
        own = code.new(f"add i64 {own}, {code.new(f'mul i64 {which}, {size}')}")
        row_at = code.new(f"getelementptr i8, ptr %row_factors, i64 {own}")
        other = code.new(f"mul i64 {which}, %tile_apart")
        other = code.new(f"add i64 {other}, {code.new(f'mul i64 %column, {BYTES}')}")
        tile_at = code.new(f"getelementptr i8, ptr %tile_factors, i64 {other}")
        places = row_at, tile_at, code.new(f"mul i64 %stride, {BYTES}")
        factors = loaded(code, p, shape.broadcast_side, places)
        width = p.root.width
        total, d = (word(code, y, bits, width) for y in (f"%total_{x}", text))
        made = code.operand(p.sum(code, total, d, factors), bits)
        code.lines.append(f"  %sum_{x} = select i1 true, {kind} {made}, {kind} {made}")
        bodies.append(code.lines)
    mixed = [line for same in zip(*bodies, strict=True) for line in same]
    return "\n".join(phis), "\n".join(mixed)


# ------------------------------------------------------------ The module: two decoders and the product kernel
@dataclass(frozen=True, slots=True)
class Source:
    """An LLVM module with the functions `decode_a`, `decode_b` and `multiply`.

    `layouts`: of decoded records, by side.
    """

    text: str
    layouts: Mapping[str, PlaneLayout]
    #: Bits of the widest lane of the product kernel.
    widest: int


def source(
    cut: Cut, shape: Shape, flags: Mapping[str, Sequence[Node]], promotion: Promotion | None = None
) -> Source:
    """The LLVM module of a cut dot product; decoders report where a node of `flags` is 1.

    The functions' arguments stand with each of them below; all counts and strides are in elements,
    those of records in records.
    """
    texts, layouts = [], {}
    for side in "ab":
        text, layouts[side] = _decoder(cut, shape, side, flags[side])
        texts.append(text)
    text, widest = multiply(cut, shape, layouts, promotion)
    texts.append(text)
    whole = "\n".join(texts)
    texts.append(declarations(whole))
    return Source("\n".join(texts), layouts, widest)


def _decoder(cut: Cut, shape: Shape, side: str, flags: Sequence[Node]) -> tuple[str, PlaneLayout]:
    """decode(raw, scale, out, flags, count, steps, raw_stride, scale_stride).

    `count` rows or tiles; raw encodings [count, steps·k] on the side that is broadcast, and
    [steps·k, count·lanes] on the other; flags[count] become 1 where a flag is 1 in some step.
    """
    broadcast = side == shape.broadcast_side
    code = Code(1 if broadcast else shape.lanes, "v")
    known: dict[int, LaneValue] = {}
    inputs = cut.graph.inputs
    for array, name, count in (("raw", side, shape.k), ("scale", f"scale_{side}", shape.scales)):
        bits = shape.storage.get("scale" if array == "scale" else side, 0)
        for i in range(count):
            node = inputs.get(f"{name}[{i}]")
            if node is not None:
                known[node.index] = _raw(code, array, bits, node.width, i, count, broadcast, shape.lanes)
    lowering = Lowering(cut.graph, code, known, cut.rules)
    values = [(node, lowering.value_of(node)) for node in cut.planes[side]]
    layout = plane_layout(values, shape.lanes, broadcast=broadcast)
    by_node = {node.index: value for node, value in values}
    for plane in layout.planes:
        store(code, plane, by_node[plane.node.index], "%to", layout)
    marks = [lowering.value_of(node) for node in flags]
    report(code, [mark for mark in marks if not (mark.constant and not mark.low)])
    body = "\n".join(code.lines)
    enter, leave = control(body)
    inner = f"""  %which = add i64 %first, %step
  %byte = mul i64 %which, {layout.size}
  %to = getelementptr i8, ptr %out, i64 %byte
{body}"""
    outer = f"""  %flag_at = getelementptr i8, ptr %flags, i64 %index
  %first = mul i64 %index, %steps
{loop("step", "each_index", "%steps", inner)}"""
    text = f"""define void @decode_{side}(ptr noalias %raw, ptr noalias %scale,
    ptr noalias %out, ptr noalias %flags, i64 %count, i64 %steps, i64 %raw_stride, i64 %scale_stride) {{
entry:
{enter}
{loop("index", "entry", "%count", outer)}
{leave}
  ret void
}}"""
    return text, layout


def _raw(
    code: Code, array: str, bits: int, width: int, i: int, count: int, broadcast: bool, lanes: int
) -> LaneValue:
    """The raw encodings of one input, loaded in the decoder's loop."""
    first = code.new(f"mul i64 %step, {count}")
    k = code.new(f"add i64 {first}, {i}")
    if broadcast:
        row = code.new(f"mul i64 %index, %{array}_stride")
        at = code.new(f"add i64 {row}, {k}")
    else:
        row = code.new(f"mul i64 {k}, %{array}_stride")
        column = code.new(f"mul i64 %index, {lanes}")
        at = code.new(f"add i64 {row}, {column}")
    place = code.new(f"getelementptr i{bits}, ptr %{array}, i64 {at}")
    text = code.new(f"load {code.kind(bits)}, ptr {place}, align {bits // 8}")
    return word(code, text, bits, width)


def report(code: Code, marks: Sequence[LaneValue]) -> None:
    """Set the flag byte of a row or tile in which some mark is 1 in some lane."""
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
