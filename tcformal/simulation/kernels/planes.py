"""Records of decoded operands: the layout of their planes in memory, with loads and stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import TRUTH, WORD, Code, LaneValue, lane_for
from tcformal.ir.node import Node

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
    if lanes > 1:
        first = code.new(f"insertelement {code.kind(bits)} poison, i{bits} {text}, i64 0")
        zero = f"<{lanes} x i32> zeroinitializer"
        text = code.new(f"shufflevector {code.kind(bits)} {first}, {code.kind(bits)} poison, {zero}")
    return LaneValue(text, plane.low, plane.high, bits)
