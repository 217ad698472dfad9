"""Transposition of matrix blocks in the first-level cache, so that neighbouring lanes become adjacent.

Kernels of few rows and of dot products read one encoding of every lane at a time.  Distant rows map to the
same cache sets and evict each other.  So each cache line is read once and copied to a block without such
conflicts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import WORD, Code

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
    return f"""define internal void @{name}(ptr noalias %from, ptr noalias %to, i64 %apart, i64 %chunks,
    i64 %ahead) {{
entry:
  br label %each
each:
  %chunk = phi i64 [ 0, %entry ], [ %next, %each ]
  %read = mul i64 %chunk, {piece.chunk}
  %source = getelementptr i{bits}, ptr %from, i64 %read
  %written = mul i64 %chunk, {piece.chunk // piece.per_word * piece.width}
  %target = getelementptr i{piece.word}, ptr %to, i64 %written
{body}
  %next = add i64 %chunk, 1
  %more = icmp ult i64 %next, %chunks
  br i1 %more, label %each, label %end
end:
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
    return f"""define internal void @{name}(ptr noalias %from, ptr noalias %to, i64 %apart) {{
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %next, %each ]
  %read = mul i64 %k, %apart
  %source = getelementptr i{piece.bits}, ptr %from, i64 %read
  %soon = getelementptr i8, ptr %source, i64 {_SOON * LINE}
  call void @llvm.prefetch.p0(ptr %soon, i32 0, i32 2, i32 1)
  %line = load {kind}, ptr %source, align {piece.bits // 8}
  %written = mul i64 %k, {piece.width}
  %target = getelementptr i{piece.bits}, ptr %to, i64 %written
  store {kind} %line, ptr %target, align {piece.bits // 8}
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, {k}
  br i1 %more, label %each, label %end
end:
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
