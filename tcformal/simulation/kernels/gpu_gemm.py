"""Matrix products of raw encodings on a GPU; apart, because it is imported for GPUs only.

Operands are brought there and decoded, and one launch computes the product.
As on a processor, one kernel is compiled for finite operands and another for any.  A GPU runs the second one
on the whole product if an operand is NaN or Inf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, TRUTH, WORD, Code, LaneValue, lane_for
from tcformal.backends.llvm import Lowering
from tcformal.errors import DeviceError, WidthError
from tcformal.ir.node import Node
from tcformal.simulation.card import Card
from tcformal.simulation.compilers import first_line
from tcformal.simulation.kernels.cut import Cut, DotCall, cuts
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.source import Shape, shape_of
from tcformal.simulation.kernels.threads import Words

# ------------------------------------------------- The text of the kernels: OpenCL C, CUDA C++ and HIP in one
# A thread computes some rows of one column.  Nodes that depend on A alone, or on B alone, are decoded once:
# A's values fill whole words, which a block loads into shared memory; B's values are packed into words that
# each thread reads for its column.
#: Bits of the widest integers that compilers for GPUs have.
WIDEST = 128
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "or disjoint": "|", "xor": "^",
              "shl": "<<", "lshr": ">>", "ashr": ">>"}  # fmt: skip
_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "ge": ">="}


class CCode(Code):
    """A C code builder: SSA-like statements on one integer at a time.

    Errors: WidthError for integers of more than 128 bits.
    """

    def __init__(self, prefix: str = "v") -> None:
        super().__init__(1, prefix)

    def kind(self, bits: int) -> str:
        """The C type of an integer of `bits` bits."""
        if bits > WIDEST:
            raise WidthError(f"expected integers of at most {WIDEST} bits for a GPU, but got {bits}")
        self.widest = max(self.widest, bits)
        return "bool" if bits == TRUTH else f"tc_u{bits}"

    def named(self, bits: int, expression: str) -> str:
        """Append a variable that holds an expression, and return its name."""
        name = f"{self._prefix}{self._made}"
        self._made += 1
        self.lines.append(f"const {self.kind(bits)} {name} = {expression};")
        return name

    def word(self, value: int, bits: int) -> str:
        """An integer constant as a C operand."""
        value &= (1 << bits) - 1
        if bits == TRUTH:
            return "true" if value else "false"
        if bits == WORD:
            return f"{value:#x}u"
        if bits == DOUBLE:
            return f"(tc_u64){value:#x}ul"
        high, low = (f"(tc_u128){part:#x}ul" for part in divmod(value, 1 << DOUBLE))
        return f"(({high} << {DOUBLE}) | {low})"

    def apply(self, name: str, bits: int, left: str, right: str) -> str:
        """Append a binary arithmetic operation on operands of `bits` bits."""
        if name == "ashr":
            left = f"({self._signed(bits)}){left}"
        text = f"{left} {_OPERATORS[name]} {right}"
        return self.named(bits, self._as(bits, text))

    def resize(self, how: str, text: str, bits: int, to: int) -> str:
        """Append an extension or truncation from `bits` to `to` bits."""
        if to == TRUTH:
            return self.named(TRUTH, f"({text} & 1u) != 0u")
        if how == "sext":
            text = f"({self._signed(to)})({self._signed(bits)}){text}"
        return self.named(to, self._as(to, text))

    def relate(self, how: str, bits: int, left: str, right: str) -> str:
        """Append a comparison of operands of `bits` bits."""
        if how[0] == "s":
            left, right = (f"({self._signed(bits)})({x})" for x in (left, right))
        return self.named(TRUTH, f"{left} {_RELATIONS[how.lstrip('us')]} {right}")

    def choose(self, cond: str, bits: int, left: str, right: str) -> str:
        """Append a selection between two operands by a condition."""
        return self.named(bits, f"{cond} ? {left} : {right}")

    def _as(self, bits: int, text: str) -> str:
        return f"({self.kind(bits)})({text})"

    def _signed(self, bits: int) -> str:
        self.kind(bits)
        return f"tc_s{bits}"


#: Words of shared memory that a block takes.
_STAGED = 4096
#: Threads of a block: that many columns.
THREADS = 128


@dataclass(frozen=True, slots=True)
class Field:
    """The place of one decoded value in a record: a word index and a bit offset."""

    node: Node
    value: LaneValue
    word: int
    shift: int
    #: Bits that the value takes: at most 32, or those of its lane.
    size: int


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    """The record of one row or column and one step: its decoded values in `words` words of 32 bits."""

    fields: tuple[Field, ...]
    #: Nodes that turned out to be one integer, by node index: they are not stored.
    fixed: Mapping[int, LaneValue]
    words: int


@dataclass(frozen=True, slots=True)
class GpuText:
    """The C text of the kernels `decode_a`, `decode_b` and `multiply`, with the record sizes in words."""

    text: str
    words: Mapping[str, int]
    #: Rows that a thread computes.
    rows: int


def gpu_text(cut: Cut, shape: Shape, flags: Mapping[str, Sequence[Node]], rows: int) -> GpuText:
    """The C text of a cut dot product, `rows` rows to a thread; decoders report where a node of `flags` is 1.

    Errors: WidthError for a dot product that needs integers of more than 128 bits.
    """
    texts, records, widest = [], {}, 0
    for side in "ab":
        text, records[side], wide = _decoder(cut, shape, side, flags[side])
        texts.append(text)
        widest = max(widest, wide)
    while rows > 1 and rows * records["a"].words > _STAGED:
        rows //= 2
    text, wide = _multiply(cut, shape, records, rows)
    prelude = (files("tcformal.simulation.kernels") / "prelude.h").read_text(encoding="utf-8")
    head = ["#define TC_WIDE 1"] if max(widest, wide) > DOUBLE else []
    words = {side: record.words for side, record in records.items()}
    return GpuText("\n".join([*head, prelude, *texts, text, ""]), words, rows)


def _record(values: Sequence[tuple[Node, LaneValue]], *, packed: bool) -> DecodedRecord:
    """The layout of decoded values in a record: bit-packed, or one word each."""
    fields, word, used = [], 0, 0
    for node, value in values:
        if value.constant:
            continue
        size = 1 if value.bits == TRUTH else _size(value)
        size = size if packed else max(size, WORD)
        if used and used + size > WORD:
            word, used = word + 1, 0
        fields.append(Field(node, value, word, used, size))
        if size >= WORD:
            word, used = word + size // WORD, 0
        else:
            used += size
    words = word + (1 if used else 0)
    fixed = {node.index: value for node, value in values if value.constant}
    return DecodedRecord(tuple(fields), fixed, max(4, -(-words // 4) * 4) if not packed else max(1, words))


def _size(value: LaneValue) -> int:
    signed = max((-value.low - 1).bit_length(), value.high.bit_length()) + 1
    size = value.high.bit_length() if value.low >= 0 else signed
    return size if size <= WORD else lane_for(value.low, value.high)


def _stored(code: CCode, record: DecodedRecord, at: str) -> list[str]:
    """Statements that store decoded values into a record; `at` gives the lvalue of a word index."""
    parts: dict[int, list[str]] = {}
    for field in record.fields:
        if field.size > WORD:
            for i in range(field.size // WORD):
                parts[field.word + i] = [f"(tc_u32)({field.value.text} >> {WORD * i})"]
            continue
        text = code.operand(field.value, WORD)
        if field.value.low < 0 and field.size < WORD:
            text = code.apply("and", WORD, text, code.word((1 << field.size) - 1, WORD))
        parts.setdefault(field.word, []).append(f"({text} << {field.shift})" if field.shift else text)
    return [f"{at.format(word)} = {' | '.join(x)};" for word, x in parts.items()]


def _loaded(code: CCode, record: DecodedRecord, word: str) -> dict[int, LaneValue]:
    """The values of a record, by node index; `word` gives the expression of a word index."""
    values = dict(record.fixed)
    for field in record.fields:
        value, text = field.value, word.format(field.word)
        bits = TRUTH if value.bits == TRUTH else lane_for(value.low, value.high)
        if field.size > WORD:
            high = (
                f"(({code.kind(bits)}){word.format(field.word + i)} << {WORD * i})"
                for i in range(1, bits // WORD)
            )
            text = " | ".join([text, *high])
        elif bits == TRUTH:
            text = f"{text} != 0u" if field.size == WORD else f"(({text} >> {field.shift}) & 1u) != 0u"
        elif value.low < 0 and field.size < WORD:
            up = WORD - field.size
            text = f"(tc_u32)((tc_s32)({text} << {up - field.shift}) >> {up})"
        elif field.size < WORD:
            text = f"({text} >> {field.shift}) & {(1 << field.size) - 1:#x}u"
        values[field.node.index] = LaneValue(code.named(bits, text), value.low, value.high, bits)
    return values


def _decoder(cut: Cut, shape: Shape, side: str, flags: Sequence[Node]) -> tuple[str, DecodedRecord, int]:
    """decode(raw, scale, out, flag, count, k, steps, one), a thread for each line and step.

    Raw encodings A [count, k] and B [k, count], scales alike; records of A [count, steps], words of B
    [steps, words, count].  What is missing of the last step is 0, of its scales `one`; *flag becomes 1
    where a flag is 1.
    """
    code = CCode()
    known: dict[int, LaneValue] = {}
    rows = side == "a"
    for array, name, count in (("raw", side, shape.k), ("scale", f"scale_{side}", shape.scales)):
        for i in range(count):
            node = cut.graph.inputs.get(f"{name}[{i}]")
            if node is None:
                continue
            k, all_k, fill = f"(step * {count}u + {i}u)", f"{array}_k", "0u" if array == "raw" else "one"
            at = f"(tc_u64)line * {all_k} + {k}" if rows else f"(tc_u64){k} * count + line"
            bits = lane_for(0, (1 << node.width) - 1)
            text = f"{k} < {all_k} ? ({code.kind(bits)}){array}[{at}] : {fill}"
            value = LaneValue(code.named(bits, text), 0, (1 << node.width) - 1, bits)
            known[node.index] = code.as_truth(value) if node.width == 1 else value
    lowering = Lowering(cut.graph, code, known)
    record = _record([(node, lowering.value_of(node)) for node in cut.planes[side]], packed=not rows)
    to = f"((tc_u64)line * steps + step) * {record.words}u"
    at = f"out[{to} + {{}}u]" if rows else f"out[((tc_u64)step * {record.words}u + {{}}u) * count + line]"
    writes = _stored(code, record, at)
    marks = [lowering.value_of(node) for node in flags]
    found = [code.operand(mark, TRUTH) for mark in marks if not (mark.constant and not mark.low)]
    report = [f"if ({' | '.join(found)}) *flag = 1u;"] if found else []
    body = "\n    ".join([*code.lines, *writes, *report])
    place = ("index / steps", "index % steps") if rows else ("index % count", "index / count")
    raw, scale = (f"tc_u{shape.storage.get(x, 8)}" for x in (side, "scale"))
    return (
        f"""
TC_KERNEL void decode_{side}(TC_GLOBAL const {raw} *TC_RESTRICT raw,
    TC_GLOBAL const {scale} *TC_RESTRICT scale, TC_GLOBAL tc_u32 *TC_RESTRICT out, TC_GLOBAL tc_u32 *flag,
    const tc_u32 count, const tc_u32 raw_k, const tc_u32 scale_k, const tc_u32 steps, const tc_u32 one)
{{
    const tc_u64 index = (tc_u64)TC_GROUP * {THREADS}u + TC_ITEM;
    if (index >= (tc_u64)count * steps) return;
    const tc_u32 line = (tc_u32)({place[0]}), step = (tc_u32)({place[1]});
    {body}
}}""",
        record,
        code.widest,
    )


def _multiply(cut: Cut, shape: Shape, records: Mapping[str, DecodedRecord], rows: int) -> tuple[str, int]:
    """multiply(a, b, c, d, rows, columns, steps, has_c): a block for THREADS columns of `rows` rows.

    Records as decoders write them; C and D [rows, columns].
    """
    a, b = records["a"].words, records["b"].words
    staged = max(1, _STAGED // (rows * a))
    outer, code = CCode("q"), CCode()
    known = _loaded(outer, records["b"], "b{}")
    known |= _loaded(code, records["a"], "row[{}]")
    c = cut.graph.inputs.get("c")
    if c is not None:
        bits = lane_for(0, (1 << c.width) - 1)
        known[c.index] = LaneValue(
            code.named(bits, f"({code.kind(bits)})now[r]"), 0, (1 << c.width) - 1, bits
        )
    result = code.unsigned(Lowering(cut.graph, code, known).value_of(cut.root), cut.root.width)
    types = {letter: f"tc_u{shape.storage[letter]}" for letter in "cd"}
    value = code.operand(result, lane_for(0, (1 << cut.root.width) - 1))
    to = "now" if shape.chained else "then"
    body = "\n                ".join([*code.lines, f"{to}[r] = ({types['d']}){value};"])
    reads = [f"const tc_u32 b{i} = from[{i} * (tc_u64)columns];" for i in range(b)]
    text = f"""
TC_KERNEL void multiply(TC_GLOBAL const tc_u32 *TC_RESTRICT a, TC_GLOBAL const tc_u32 *TC_RESTRICT b,
    TC_GLOBAL const {types["c"]} *TC_RESTRICT c, TC_GLOBAL {types["d"]} *TC_RESTRICT d,
    const tc_u32 rows, const tc_u32 columns, const tc_u32 steps, const tc_u32 has_c)
{{
    TC_ARRAY(tc_u32, staged, {staged * rows * a});
    const tc_u32 across = (columns + {THREADS - 1}u) / {THREADS}u;
    const tc_u32 column = TC_GROUP % across * {THREADS}u + TC_ITEM, first = TC_GROUP / across * {rows}u;
    const tc_u32 mine = column < columns ? column : columns - 1u;
    {types["c"]} now[{rows}];
    {"" if shape.chained else types["d"] + f" then[{rows}];"}
    #pragma unroll
    for (tc_u32 r = 0; r < {rows}u; r++)
        now[r] = has_c && first + r < rows ? c[(tc_u64)(first + r) * columns + mine] : 0;
    for (tc_u32 begin = 0; begin < steps; begin += {staged}u) {{
        TC_BARRIER();
        for (tc_u32 i = TC_ITEM; i < {staged * rows * a}u; i += {THREADS}u) {{
            const tc_u32 r = first + i / {staged * a}u, rest = i % {staged * a}u;
            const bool there = r < rows && begin + rest / {a}u < steps;
            staged[i] = there ? a[((tc_u64)r * steps + begin) * {a}u + rest] : 0u;
        }}
        TC_BARRIER();
        const tc_u32 left = steps - begin < {staged}u ? steps - begin : {staged}u;
        for (tc_u32 s = 0; s < left; s++) {{
            TC_GLOBAL const tc_u32 *from = b + (tc_u64)(begin + s) * {b}u * columns + mine;
            {(chr(10) + " " * 12).join([*reads, *outer.lines])}
            #pragma unroll
            for (tc_u32 r = 0; r < {rows}u; r++) {{
                TC_LOCAL const tc_u32 *row = staged + (r * {staged}u + s) * {a}u;
                {body}
            }}
        }}
    }}
    if (column < columns)
        for (tc_u32 r = 0; r < {rows}u; r++)
            if (first + r < rows) d[(tc_u64)(first + r) * columns + column] = {to}[r];
}}"""
    return text, max(code.widest, outer.widest)


# --------------------------------------------------------------------------------------------------- Launches
#: Rows of a thread: B's values are read once for all of them.  On an H100 4 were faster than 8 and 16.
ROWS = 4


@dataclass(frozen=True, slots=True)
class Placed:
    """The operands of one product in GPU memory, decoded for one kernel.

    Shapes: D [m, n], in `steps` steps.
    """

    which: str
    m: int
    n: int
    steps: int
    memory: tuple[Any, ...]
    d: Any
    has_c: bool


class GpuGemm:
    """The matrix-product kernels of one step on one GPU.

    Errors: DeviceError where the compiler refuses them; WidthError for a dot product that needs integers of
    more than 128 bits.
    """

    def __init__(self, step: DotCall, card: Card, rows: int = ROWS) -> None:
        self.step, self.card, self.rows = step, card, rows
        self._cuts, self._rare = cuts(step)
        self._programs: dict[str, tuple[GpuText, Path]] = {}

    def text(self, which: str) -> GpuText:
        """The C text of the kernels for `finite` or for `any` operands."""
        shape = shape_of(self.step, "a", lanes=1)
        return gpu_text(self._cuts[which], shape, self._rare, self.rows)

    def program(self, which: str) -> tuple[GpuText, Path]:
        """The C text of the kernels, and the file built from it."""
        if which not in self._programs:
            text = self.text(which)
            self._programs[which] = text, self.card.program(text.text, "build the kernels of a unit")
        return self._programs[which]

    def multiply(self, x: MatrixWords) -> Words:
        """The matrix product D = A·B + C, [M, N] raw encodings; K is padded with zeros to whole steps.

        Errors: DeviceError where the GPU fails, with what its library says.
        """
        try:
            placed = self.place(x)
            self.launch(placed)
            d = self.result(placed)
            self.free(placed)
        except DeviceError:
            raise
        except Exception as error:  # each library has errors of its own
            text = f"expected {self.card.name} to multiply, but {self.card.library} says: {first_line(error)}"
            raise DeviceError(text) from error
        return d

    def place(self, x: MatrixWords) -> Placed:
        """Copy the operands to the GPU, and decode them there."""
        card, storage = self.card, self.step.storage
        m, k, n = x.shape
        steps = -(-k // self.step.k)
        none = np.zeros(1, np.uint64)
        c = card.put(none if x.c is None else _as(x.c, storage["c"]))
        d = card.empty(m * n * storage["d"] // 8)
        sides = (("a", x.a, x.scale_a, m), ("b", x.b, x.scale_b, n))
        raw = [card.put(_as(words, storage[side])) for side, words, _, _ in sides]
        scales = [card.put(none if s is None else _as(s, storage["scale"])) for _, _, s, _ in sides]
        lengths = [
            0 if scale is None else scale.shape[1 if side == "a" else 0] for side, _, scale, _ in sides
        ]
        records: list[Any] = []
        for which in ("finite", "any"):
            text, path = self.program(which)
            flag = card.put(np.zeros(1, np.uint32))
            records = [card.empty(4 * text.words[side] * count * steps) for side, _, _, count in sides]
            for i, (side, _, _, count) in enumerate(sides):
                sizes = (count, k, lengths[i], steps, self.step.scale_one)
                arguments = (raw[i], scales[i], records[i], flag, *map(np.uint32, sizes))
                card.launch(path, f"decode_{side}", -(-count * steps // THREADS), THREADS, arguments)
            rare = which == "finite" and card.get(flag, 4).any()
            for memory in (flag, *(records if rare else ())):
                card.free(memory)
            if not rare:
                break
        for memory in (*raw, *scales):
            card.free(memory)
        return Placed(which, m, n, steps, (*records, c), d, x.c is not None)

    def launch(self, placed: Placed) -> None:
        """Start the product of placed operands; repeated launches are allowed."""
        text, path = self.program(placed.which)
        sizes = (placed.m, placed.n, placed.steps, placed.has_c)
        blocks = -(-placed.n // THREADS) * -(-placed.m // text.rows)
        arguments = (*placed.memory, placed.d, *map(np.uint32, sizes))
        self.card.launch(path, "multiply", blocks, THREADS, arguments)

    def result(self, placed: Placed) -> Words:
        """Copy D back, once every launch has ended."""
        width = self.step.storage["d"] // 8
        words = self.card.get(placed.d, placed.m * placed.n * width)
        return words.view(f"u{width}").reshape(placed.m, placed.n)

    def free(self, placed: Placed) -> None:
        """Free the GPU memory of a product."""
        for memory in (*placed.memory, placed.d):
            self.card.free(memory)


def _as(words: Words, bits: int) -> Words:
    return np.ascontiguousarray(words.astype(f"u{bits // 8}", copy=False))
