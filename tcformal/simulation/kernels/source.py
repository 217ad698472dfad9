"""The LLVM module of one cut dot product: two decoders, and the loop over tiles, rows and steps of k.

One side fills the lanes (a tile: `lanes` columns of B at once), the other side is broadcast one value at a
time.  A decoder computes the planes of its side once.  The product kernel reads them and computes the nodes
that depend on both sides; the accumulator stays in registers from step to step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import TRUTH, Code, LaneValue
from tcformal.backends.llvm import Lowering
from tcformal.ir.node import Node
from tcformal.simulation.kernels.cut import Cut
from tcformal.simulation.kernels.lowering import declarations
from tcformal.simulation.kernels.multiply import Shape, control, multiply, word
from tcformal.simulation.kernels.planes import PlaneLayout, plane_layout, store
from tcformal.simulation.kernels.promoted import Promotion


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
    return (
        f"""define void @decode_{side}(ptr noalias %raw, ptr noalias %scale,
    ptr noalias %out, ptr noalias %flags, i64 %count, i64 %steps, i64 %raw_stride, i64 %scale_stride) {{
entry:
{enter}
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
{leave}
  ret void
}}""",
        layout,
    )


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
