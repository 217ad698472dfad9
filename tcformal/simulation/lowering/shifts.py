"""Shifts to the right: the floor of a signed number, and what a shift has lost.

The arithmetic shift of a signed number is its floor; the operators of a circuit shift a magnitude, look at
what is lost, add one, and change the sign.  What is shifted to the right and back again needs no more bits
than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import DOUBLE, TRUTH, Code, LaneValue, lane_for
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.semantics.round import drop_low_bits, round_away, shift_right_sticky
from tcformal.simulation.kernels.rules import LoweringRules
from tcformal.simulation.lowering.encoded import Reader


@dataclass(frozen=True, slots=True)
class _Floor:
    """The number ±x·2^raised / 2^(amount + dropped), rounded down; 0 where `gone` is 1."""

    sign: Node
    x: Node
    amount: Node
    raised: int
    dropped: int
    gone: Node | None


def add_shifts(graph: Graph, root: Node, reader: Reader, ways: LoweringRules) -> None:
    """Add a rule for every signed term below `root` that is rounded down, and every shift there and back."""
    for node in reachable([root]):
        if node.op == "shl_mod" and node.args[0].op == "lshr" and node.args[0].args[1] is node.args[1]:
            ways.add(node, (node.args[0], node.args[1], node.args[0].args[0]), _back, node)
        floor = _floor(graph, node)
        if floor is None or node.index in ways.by_index or floor.x.width + floor.raised >= DOUBLE:
            continue
        signed = [ways.derive(pair, _signed) for pair in _by_side(floor, reader)]
        value = signed[0] if len(signed) == 1 else ways.derive(signed, _times)
        gone = () if floor.gone is None else (floor.gone,)
        ways.add(node, (value, floor.amount, *gone), _shifted, floor)


def _floor(g: Graph, node: Node) -> _Floor | None:
    """What a node is the floor of; None for any other node."""
    if node.op != "ite" or node.args[1].op != "neg_mod":
        return None
    sign, made = node.args[0], _narrow(node.args[2])
    gone = None
    if made.op == "ite" and made.args[1].op == "const" and made.args[1].params[1] == 0:
        gone, made = made.args[0], _narrow(made.args[2])
    if made.op != "add_mod":
        return None
    for kept in map(_narrow, made.args):
        if kept.op != "extract" or kept.args[0].op != "lshr":
            continue
        (x, amount), dropped = kept.args[0].args, kept.params[1]
        if not dropped or _rounded_down(g, sign, x, amount, dropped) is not made:
            continue
        raised = 0
        while x.op == "concat" and x.args[1].op == "const" and x.args[1].params[1] == 0:
            x, raised = x.args[0], raised + x.args[1].width
        both = min(raised, dropped)
        return _Floor(sign, x, amount, raised - both, dropped - both, gone)
    return None


def _rounded_down(g: Graph, sign: Node, x: Node, amount: Node, dropped: int) -> Node:
    """The magnitude as `semantics.align.align` makes it."""
    shifted, lost = shift_right_sticky(g, x, amount)
    kept, guard, sticky = drop_low_bits(g, shifted, dropped)
    return g.add_expand(kept, round_away(g, "RD", sign, g.bit(kept, 0), guard, g.or_(sticky, lost)))


def _narrow(x: Node) -> Node:
    return x.args[0] if x.op == "zero_extend" else x


def _by_side(floor: _Floor, reader: Reader) -> list[tuple[Node, Node]]:
    """The sign and magnitude of each factor of a product whose factors depend on one side each, or of x."""
    if floor.x.op == "mul_expand" and floor.sign.op == "xor":
        for signs in (floor.sign.args, floor.sign.args[::-1]):
            pairs = list(zip(signs, floor.x.args, strict=True))
            if all(reader.side(s) == reader.side(x) and len(reader.side(x)) == 1 for s, x in pairs):
                return pairs
    return [(floor.sign, floor.x)]


def _signed(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A number from its sign and magnitude."""
    sign, x = given
    bits = lane_for(-x.high, x.high)
    negative = code.binary("sub", code.const(0), x, bits)
    made = code.choose(code.operand(sign, TRUTH), bits, negative, code.operand(x, bits))
    return LaneValue(made, -x.high, x.high, bits)


def _times(code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The product of two numbers whose bounds differ in sign alone."""
    most = given[0].high * given[1].high
    bits = lane_for(-most, most)
    return LaneValue(code.binary("mul", given[0], given[1], bits), -most, most, bits)


def _shifted(floor: _Floor, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """The floor of a signed number: what shifts out all but its sign is as good as any larger amount."""
    value, amount, *gone = given
    most = value.high << floor.raised
    bits = lane_for(-most, most)
    if floor.raised:
        value = LaneValue(code.binary("shl", value, code.const(floor.raised), bits), -most, most, bits)
    amount, limit = code.unsigned(amount, floor.amount.width), bits - 1 - floor.dropped
    if amount.high > limit:
        below = code.compare("ult", amount, code.const(limit), amount.bits)
        amount = code.select(below, amount, code.const(limit), min(amount.low, limit), limit)
    if floor.dropped:
        by = code.binary("add", amount, code.const(floor.dropped), amount.bits)
        amount = LaneValue(by, amount.low + floor.dropped, amount.high + floor.dropped, amount.bits)
    low, high = -most >> floor.dropped, most >> floor.dropped
    made = code.value(code.binary("ashr", value, amount, bits), low, high, bits)
    if not gone:
        return made
    none = code.choose(code.operand(gone[0], TRUTH), made.bits, code.word(0, made.bits), made.text)
    return LaneValue(none, low, high, made.bits)


def _back(node: Node, code: Code, given: Sequence[LaneValue]) -> LaneValue:
    """A number shifted to the right and back: at most the number itself, and 0 from its last bit on."""
    widths = node.width, node.args[1].width, node.width
    shifted, amount, x = (code.unsigned(y, width) for y, width in zip(given, widths, strict=True))
    bits = lane_for(0, x.high)
    if amount.high >= bits:
        below = code.compare("ult", amount, code.const(bits - 1), amount.bits)
        amount = code.select(below, amount, code.const(bits - 1), 0, bits - 1)
    return LaneValue(code.binary("shl", shifted, amount, bits), 0, x.high, bits)
