"""A kernel for few rows: the operands in lanes are decoded in registers, not in records.

Decoded records pay where many rows read them.  For few rows, a tile's encodings are decoded in registers once
for all rows.  Results stay in memory from step to step, so that encodings are read sequentially.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.backends.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut, DotCall
from tcformal.simulation.kernels.rules import declarations, loop, needed
from tcformal.simulation.kernels.source import PlaneLayout, Shape, control, load, report, word

# --------------- Transposition of blocks in the first-level cache, so that neighbouring lanes become adjacent
# Kernels of few rows and of dot products read one encoding of every lane at a time.  Distant rows map to the
# same cache sets and evict each other.  So each cache line is read once and copied to a block without such
# conflicts.
#: Bytes that a cache reads from memory at once.
LINE = 64
#: Products of neighbouring tiles that fill the time in which one of them waits for its sum, and of the steps
#: of one tile whose sums stay in registers.
FILLED = 8
#: Lines from one that is copied to the one of its row that is fetched for later.
_SOON = 2


@dataclass(frozen=True, slots=True)
class LanePiece:
    """A cached block of one side's encodings: `steps` steps of `tiles` tiles.

    Shapes: [steps·k / per_word, tiles·lanes] words, row by row, each of `per_word` encodings of `bits` that
    follow each other in k, the first of them the lowest part.
    Ranges and units: `chunk`: encodings of one lane that are turned at once; steps·k is a multiple of it.
    """

    bits: int
    lanes: int
    steps: int = 1
    tiles: int = 1
    chunk: int = 1
    per_word: int = 1

    @property
    def width(self) -> int:
        """Words per k of a block, or per `per_word` values of k."""
        return self.tiles * self.lanes

    @property
    def word(self) -> int:
        """Bits of a word."""
        return self.bits * self.per_word

    def size(self, k: int) -> int:
        """The size of a block in bytes."""
        return self.steps * k * self.width * self.bits // 8


def turned_piece(bits: int, k: int, lanes: int) -> LanePiece:
    """The block of a side whose lanes are rows in memory, so that it must be transposed.

    Steps of few products wait longer for each other's sums than they take: other tiles fill the time.
    """
    n, per_word = _words(bits, lanes)
    chunk = n * per_word
    # Steps begin with a word.
    # Rows that are far apart share few places of a cache: what is read of each is whole lines.
    steps = math.lcm(k * max(1, FILLED // k), chunk, 8 * LINE // bits) // k
    return LanePiece(bits, lanes, steps, max(1, FILLED // k), chunk, 1 if k % per_word else per_word)


def straight_piece(bits: int, lanes: int, steps: int) -> LanePiece:
    """The block of a side whose lanes are adjacent: some steps of as many tiles as a cache line holds."""
    return LanePiece(bits, lanes, steps, max(1, 8 * LINE // (lanes * bits)))


def _words(bits: int, lanes: int) -> tuple[int, int]:
    """The words per lane that are transposed at once, and the encodings per word."""
    # The first of several narrow encodings has to be the lowest part of their word.
    per_word = WORD // bits if sys.byteorder == "little" and bits < WORD else 1
    return min(lanes, 8 * LINE // (bits * per_word)), per_word


def turn(piece: LanePiece, name: str) -> str:
    """The function NAME(from, to, apart, chunks, ahead): transpose encodings of lanes `apart` elements apart.

    Shapes: from: chunks·chunk encodings of each of `lanes` lanes; to: [chunks·chunk / per_word, width], of
    which `lanes` columns are written.
    Ranges and units: lines `ahead` bytes further are fetched.
    """
    code = Code(piece.lanes, "t")
    bits, (n, per_word) = piece.bits, _words(piece.bits, piece.lanes)
    size = bits * per_word
    rows = []
    for lane in range(code.lanes):
        offset = code.new(f"mul i64 %apart, {lane}")
        first = code.new(f"getelementptr i{bits}, ptr %source, i64 {offset}")
        soon = code.new(f"getelementptr i8, ptr {first}, i64 %ahead")
        code.lines.append(f"  call void @llvm.prefetch.p0(ptr {soon}, i32 0, i32 2, i32 1)")
        rows.append(code.new(f"load <{n} x i{size}>, ptr {first}, align {bits // 8}"))
    parts = per_word // piece.per_word
    for i, text in enumerate(_turned(code, rows, n, size)):
        for part in range(parts):
            one = text if parts == 1 else part_of(code, text, size, bits, part)
            to = code.new(f"getelementptr i{piece.word}, ptr %target, i64 {(i * parts + part) * piece.width}")
            code.lines.append(f"  store {code.kind(piece.word)} {one}, ptr {to}, align {bits // 8}")
    body = "\n".join(code.lines)
    chunk = f"""  %read = mul i64 %chunk, {piece.chunk}
  %source = getelementptr i{bits}, ptr %from, i64 %read
  %written = mul i64 %chunk, {piece.chunk // piece.per_word * piece.width}
  %target = getelementptr i{piece.word}, ptr %to, i64 %written
{body}"""
    return f"""define internal void @{name}(ptr noalias %from, ptr noalias %to, i64 %apart, i64 %chunks,
    i64 %ahead) {{
entry:
{loop("chunk", "entry", "%chunks", chunk)}
  ret void
}}
"""


def part_of(code: Code, text: str, size: int, bits: int, part: int) -> str:
    """One part of `bits` bits of words of `size` bits."""
    if part:
        text = code.apply("lshr", size, text, code.word(part * bits, size))
    return code.resize("trunc", text, size, bits)


def copy(piece: LanePiece, k: int, name: str) -> str:
    """The function NAME(from, to, apart): copy a cache line's tiles for k rows that are `apart` elements
    apart."""
    kind = f"<{piece.width} x i{piece.bits}>"
    line = f"""  %read = mul i64 %k, %apart
  %source = getelementptr i{piece.bits}, ptr %from, i64 %read
  %soon = getelementptr i8, ptr %source, i64 {_SOON * LINE}
  call void @llvm.prefetch.p0(ptr %soon, i32 0, i32 2, i32 1)
  %line = load {kind}, ptr %source, align {piece.bits // 8}
  %written = mul i64 %k, {piece.width}
  %target = getelementptr i{piece.bits}, ptr %to, i64 %written
  store {kind} %line, ptr %target, align {piece.bits // 8}"""
    return f"""define internal void @{name}(ptr noalias %from, ptr noalias %to, i64 %apart) {{
entry:
{loop("k", "entry", k, line)}
  ret void
}}
"""


def _turned(code: Code, rows: Sequence[str], n: int, bits: int) -> list[str]:
    """Transpose n columns of as many rows as lanes by vector shuffles; n is a power of two."""
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


# ------------------------------------------------------------------------------------------------- The kernel
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


def pieces(tiles: int | str, steps: int, body: str) -> str:
    """The loops over blocks: of tiles from %group to %last_tile, of steps from %first_step to %last_step."""
    piece = f"""  %end_step = add i64 %first_step, {steps}
  %last_step = call i64 @llvm.umin.i64(i64 %n_steps, i64 %end_step)
{body}"""
    group = f"""  %end_tile = add i64 %group, {tiles}
  %last_tile = call i64 @llvm.umin.i64(i64 %n_tiles, i64 %end_tile)
{loop("first_step", "each_group", "%n_steps", piece, step=steps)}"""
    return loop("group", "entry", "%n_tiles", group, step=tiles)


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
    fill, memory, function, before = "", "", "", "each_first_tile"
    if kept:
        memory = f"  %piece = alloca [{piece.size(shape.k)} x i8], align {LINE}"
        function = turn(piece, "fill") if how == "turned" else copy(piece, piece.steps * shape.k, "fill")
        fill = _fill(shape, piece, turned=how == "turned")
        before = "after_filled" if how == "turned" else before
    tile = f"""  %column = mul i64 %tile, {shape.lanes}
{body}
{loop("row", "each_tile", "%n_rows", row)}"""
    step = f"""  %step_byte = mul i64 %step, {layout.size}
  %step_first = getelementptr i8, ptr %spread, i64 %step_byte
{loop("tile", "each_step", "%line_last", tile, first="%first_tile")}"""
    line = f"""  %line_end = add i64 %first_tile, {piece.tiles}
  %line_last = call i64 @llvm.umin.i64(i64 %last_tile, i64 %line_end)
{fill}
{loop("step", before, "%last_step", step, first="%first_step", step=at_once)}"""
    lines = loop("first_tile", "each_first_step", "%last_tile", line, first="%group", step=piece.tiles)
    text = f"""{function}define void @thin(ptr noalias %spread, ptr noalias %other, ptr noalias %scale,
    ptr %c, ptr %d, ptr noalias %flags, i64 %n_rows, i64 %n_tiles, i64 %together, i64 %n_steps,
    i64 %row_bytes, i64 %apart, i64 %stride) {{
entry:
{enter}
{memory}
{pieces("%together", piece.steps, lines)}
{leave}
  ret void
}}"""
    return f"{text}\n{declarations(text)}"


#: Bytes from what is turned to what is fetched for later.
_AHEAD = 512


def _fill(shape: Shape, piece: LanePiece, *, turned: bool) -> str:
    """Copy or transpose the block that starts at %first_step and %first_tile."""
    bits = piece.bits
    if not turned:
        return f"""  %first_k = mul i64 %first_step, {shape.k}
  %k_at = mul i64 %first_k, %apart
  %tile_at = mul i64 %first_tile, {shape.lanes}
  %from_i = add i64 %k_at, %tile_at
  %from = getelementptr i{bits}, ptr %other, i64 %from_i
  call void @fill(ptr %from, ptr %piece, i64 %apart)"""
    chunks = piece.steps * shape.k // piece.chunk
    tile = f"""  %first_lane = mul i64 %filled, {shape.lanes}
  %lane_at = mul i64 %first_lane, %apart
  %from_i = add i64 %lane_at, %first_k
  %from = getelementptr i{bits}, ptr %other, i64 %from_i
  %in_line = sub i64 %filled, %first_tile
  %to_i = mul i64 %in_line, {shape.lanes}
  %to = getelementptr i{piece.word}, ptr %piece, i64 %to_i
  call void @fill(ptr %from, ptr %to, i64 %apart, i64 {chunks}, i64 {_AHEAD})"""
    return f"""  %first_k = mul i64 %first_step, {shape.k}
{loop("filled", "each_first_tile", "%line_last", tile, first="%first_tile")}"""


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
