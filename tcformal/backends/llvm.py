"""LLVM lowering: the DAG as straight-line instructions on integer lanes, by interval analysis.

Each operator computes on whole integers first: the interval of its result follows from those of its
operands.  Where that interval lies inside the node's width nothing can wrap, and the result is left
as it is; elsewhere it is reduced modulo 2^width, as the operator table says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import TRUTH, Code, LaneValue, lane_for
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter


@dataclass(frozen=True, slots=True)
class LoweringRule:
    """A lowering rule: an alternative computation of one node's value from other nodes.

    It is right where the value made is the node's on every input, which whoever makes a rule has to know.
    """

    needs: tuple[Node, ...]
    emit: Callable[[Code, Sequence[LaneValue]], LaneValue]


def fits(low: int, high: int, width: int) -> bool:
    """Whether every integer of [low, high] is a `width`-bit value, unsigned or signed."""
    half = 1 << (width - 1)
    return (low >= 0 and high < 2 * half) or (low >= -half and high < half)


class Lowering(Interpreter[LaneValue]):
    """The translation of a DAG's operators to LLVM instructions.

    Shapes: `given` holds the values of the nodes that the code starts from, by node index (inputs,
    or nodes that were computed before); what lies behind them is not walked.  `rules`: nodes, by index,
    that are not computed by their operators.
    Errors: InputError for an input without a value.
    """

    def __init__(
        self,
        graph: Graph,
        code: Code,
        given: Mapping[int, LaneValue],
        rules: Mapping[int, LoweringRule] | None = None,
    ) -> None:
        super().__init__(graph)
        self._code = code
        self._known = dict(given)
        self._rules = rules or {}

    def give(self, index: int, value: LaneValue) -> None:
        """Set the value of a node that the code starts from."""
        self._known[index] = value

    def value_of(self, root: Node) -> LaneValue:
        """The value of one node; results of earlier calls are reused."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in self._known:
                stack.pop()
                continue
            rule = self._rules.get(node.index)
            args = node.args if rule is None else rule.needs
            missing = [arg for arg in args if arg.index not in self._known]
            if missing:
                stack.extend(missing)
                continue
            values = [self._known[arg.index] for arg in args]
            if rule is None:
                self._known[node.index] = getattr(self, f"on_{node.op}")(node, *values)
            else:
                self._known[node.index] = rule.emit(self._code, values)
            stack.pop()
        return self._known[root.index]

    # ------------------------------------------------------------------ helpers
    def _result(self, node: Node, name: str, x: LaneValue, y: LaneValue, low: int, high: int) -> LaneValue:
        """The result of an operator with bounds [low, high], reduced to the node's width."""
        code, width = self._code, node.width
        if low == high:
            return self._known_result(node, low)
        if fits(low, high, width):
            bits = lane_for(low, high)
            return self._narrow(node, LaneValue(code.binary(name, x, y, bits), low, high, bits))
        top = (1 << width) - 1
        bits = lane_for(0, top)
        wrapped = LaneValue(code.binary(name, x, y, bits), 0, (1 << bits) - 1, bits)
        return self._narrow(node, self._masked(wrapped, top))

    def _masked(self, x: LaneValue, top: int) -> LaneValue:
        if x.high <= top:
            return x
        kept = self._code.binary("and", x, self._code.const(top), x.bits)
        return self._code.value(kept, 0, top, x.bits)

    def _narrow(self, node: Node, x: LaneValue) -> LaneValue:
        """A value of width 1 as a truth value in a lane of its own."""
        return self._code.as_truth(x) if node.width == 1 else x

    def _known_result(self, node: Node, value: int) -> LaneValue:
        return self._code.truth(bool(value & 1)) if node.width == 1 else self._code.const(value)

    def _readings(self, x: LaneValue, node: Node) -> list[LaneValue]:
        """The readings of x: itself, and for a constant also the signed or unsigned one."""
        if not x.constant or node.width == 1:
            return [x]
        top = 1 << node.width
        other = x.low - top if x.low >= top // 2 else x.low + top
        return [x, self._code.const(other)] if -top // 2 <= other < top else [x]

    def _common_reading(self, node: Node, x: LaneValue, y: LaneValue) -> tuple[LaneValue, LaneValue]:
        """Two values of one width in a common reading, signed only if both allow it without instructions."""
        half = 1 << (node.width - 1)
        if x.low >= 0 and y.low >= 0:
            return x, y
        if (x.constant or x.high < half) and (y.constant or y.high < half):
            return self._code.signed(x, node.width), self._code.signed(y, node.width)
        return self._code.unsigned(x, node.width), self._code.unsigned(y, node.width)

    # ------------------------------------------------------------------ leaves
    def on_const(self, node: Node) -> LaneValue:
        return self._known_result(node, node.params[1])

    def on_input(self, node: Node) -> LaneValue:
        raise InputError(f"expected a value for input {self.graph.input_name(node)}, but none was given")

    # ------------------------------------------------------------------ bits
    def on_not_(self, node: Node, x: LaneValue) -> LaneValue:
        code = self._code
        if node.width == 1:
            if x.constant:
                return code.truth(not x.low)
            return LaneValue(code.apply("xor", TRUTH, x.text, code.word(1, TRUTH)), 0, 1, TRUTH)
        top = (1 << node.width) - 1
        if x.low < 0:
            return self._result(node, "xor", x, code.const(-1), -1 - x.high, -1 - x.low)
        return self._result(node, "xor", x, code.const(top), top - x.high, top - x.low)

    def on_and_(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        if x.low < 0 and y.low < 0:
            x = self._code.unsigned(x, node.width)
        # An integer below zero has ones above: what the other one has is kept.
        high = min(v.high for v in (x, y) if v.low >= 0)
        if node.width == 1:
            return self._logic("and", x, y)
        return self._result(node, "and", x, y, 0, high)

    def on_or_(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._either(node, "or", x, y)

    def on_xor(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._either(node, "xor", x, y)

    def _either(self, node: Node, name: str, x: LaneValue, y: LaneValue) -> LaneValue:
        if node.width == 1:
            return self._logic(name, x, y)
        x, y = self._code.unsigned(x, node.width), self._code.unsigned(y, node.width)
        low = max(x.low, y.low) if name == "or" else 0
        return self._result(node, name, x, y, low, (1 << max(x.high, y.high).bit_length()) - 1)

    def _logic(self, name: str, x: LaneValue, y: LaneValue) -> LaneValue:
        """A logical operator (and, or, xor) on truth values."""
        for one, other in ((x, y), (y, x)):
            if one.constant and name == "and":
                return other if one.low else one
            if one.constant and name == "or":
                return one if one.low else other
            if one.constant and not one.low:
                return other
        return LaneValue(self._code.binary(name, x, y, TRUTH), 0, 1, TRUTH)

    def on_concat(self, node: Node, high: LaneValue, low: LaneValue) -> LaneValue:
        code, by = self._code, node.args[1].width
        low = code.unsigned(low, by)
        bounds = (high.low << by) + low.low, (high.high << by) + low.high
        if bounds[0] == bounds[1]:
            return code.const(bounds[0])
        bits = lane_for(*bounds)
        if not high.constant:
            moved = code.binary("shl", high, code.const(by), bits)
        else:
            moved = code.word(high.low << by, bits)
        if low.constant and low.low == 0:
            return LaneValue(moved, *bounds, bits)
        if high.constant and high.low == 0:
            return LaneValue(code.operand(low, bits), *bounds, bits)
        right = code.operand(low, bits)
        return LaneValue(code.apply("or disjoint", bits, moved, right), *bounds, bits)

    def on_extract(self, node: Node, x: LaneValue) -> LaneValue:
        code, low = self._code, node.params[1]
        if node.width == 1 and node.args[0].width == 1:
            return x
        bounds = x.low >> low, x.high >> low
        if bounds[0] == bounds[1]:
            return self._known_result(node, bounds[0] & ((1 << node.width) - 1))
        if node.width == 1:
            return self._bit(node, x, low)
        if low == 0:
            moved = x
        else:
            how = "ashr" if x.low < 0 else "lshr"
            # Above its lane a value has nothing but copies of its sign.
            by = code.const(min(low, x.bits - 1))
            moved = LaneValue(code.binary(how, x, by, x.bits), *bounds, x.bits)
        if fits(*bounds, node.width):
            return code.value(moved.text, *bounds, moved.bits)
        top = (1 << node.width) - 1
        bits = lane_for(0, top)
        kept = code.binary("and", moved, code.const(top), bits)
        return code.value(kept, 0, top, bits)

    def _bit(self, node: Node, x: LaneValue, position: int) -> LaneValue:
        """One bit of x, by a comparison where its bounds allow that."""
        code = self._code
        if x.low < 0 and x.high < 1 << position and -x.low <= 1 << position:
            return code.compare("slt", x, code.const(0), x.bits)
        if x.low >= 0 and x.high < 2 << position:
            return code.compare("uge", x, code.const(1 << position), x.bits)
        kept = code.binary("and", x, code.const(1 << position), x.bits)
        return code.compare("ne", LaneValue(kept, 0, 1 << position, x.bits), code.const(0), x.bits)

    def on_zero_extend(self, node: Node, x: LaneValue) -> LaneValue:
        return self._code.unsigned(x, node.args[0].width)

    def on_sign_extend(self, node: Node, x: LaneValue) -> LaneValue:
        return self._code.signed(x, node.args[0].width)

    # ------------------------------------------------------------------ arithmetic
    def on_add_mod(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        if node.width == 1:
            return self._logic("xor", x, y)
        pairs = [(p, q) for p in self._readings(x, node) for q in self._readings(y, node)]
        for p, q in pairs:
            if fits(p.low + q.low, p.high + q.high, node.width):
                return self._result(node, "add", p, q, p.low + q.low, p.high + q.high)
        return self._result(node, "add", x, y, x.low + y.low, x.high + y.high)

    def on_sub_mod(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        if node.width == 1:
            return self._logic("xor", x, y)
        pairs = [(p, q) for p in self._readings(x, node) for q in self._readings(y, node)]
        for p, q in pairs:
            if fits(p.low - q.high, p.high - q.low, node.width):
                return self._result(node, "sub", p, q, p.low - q.high, p.high - q.low)
        return self._result(node, "sub", x, y, x.low - y.high, x.high - y.low)

    def on_neg_mod(self, node: Node, x: LaneValue) -> LaneValue:
        if node.width == 1:
            return x
        return self._result(node, "sub", self._code.const(0), x, -x.high, -x.low)

    def on_mul_expand(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        x, y = (self._code.unsigned(v, a.width) for v, a in zip((x, y), node.args, strict=True))
        return self._result(node, "mul", x, y, x.low * y.low, x.high * y.high)

    # ------------------------------------------------------------------ shifts
    def _amount(self, node: Node, limit: int) -> LaneValue:
        """A shift amount, clamped to `limit`."""
        code, given = self._code, node.args[1]
        amount = code.unsigned(self._known[given.index], given.width)
        if amount.high <= limit:
            return amount
        if amount.low >= limit:
            return code.const(limit)
        if amount.bits == TRUTH:
            amount = LaneValue(code.operand(amount, 32), 0, 1, 32)
        inside = code.compare("ult", amount, code.const(limit), amount.bits)
        return code.select(inside, amount, code.const(limit), min(amount.low, limit), limit)

    def on_lshr(self, node: Node, x: LaneValue, _amount: LaneValue) -> LaneValue:
        code = self._code
        x = code.unsigned(x, node.width)
        # Beyond the highest bit that x can have nothing is left: one place more is as far as any.
        gone = x.high.bit_length()
        bits = lane_for(x.low, max(x.high, 1 << gone))
        by = self._amount(node, gone)
        low, high = x.low >> by.high, x.high >> by.low
        return self._result_in(node, "lshr", x, by, low, high, bits)

    def on_ashr(self, node: Node, x: LaneValue, _amount: LaneValue) -> LaneValue:
        x = self._code.signed(x, node.width)
        gone = max(x.high, -1 - x.low).bit_length()
        by = self._amount(node, gone)
        low = min(x.low >> by.low, x.low >> by.high)
        high = max(x.high >> by.low, x.high >> by.high)
        bits = lane_for(min(x.low, -1 - (1 << gone)), max(x.high, 1 << gone))
        return self._result_in(node, "ashr", x, by, low, high, bits)

    def on_shl_mod(self, node: Node, x: LaneValue, _amount: LaneValue) -> LaneValue:
        code, width = self._code, node.width
        x = code.unsigned(x, width)
        by = self._amount(node, width)
        low, high = x.low << by.low, x.high << by.high
        if fits(low, high, width):
            return self._result_in(node, "shl", x, by, low, high, lane_for(low, max(high, 1 << by.high)))
        top = (1 << width) - 1
        bits = lane_for(0, 1 << max(width, by.high))
        moved = LaneValue(code.binary("shl", x, by, bits), 0, (1 << bits) - 1, bits)
        return self._narrow(node, self._masked(moved, top))

    def _result_in(
        self, node: Node, name: str, x: LaneValue, by: LaneValue, low: int, high: int, bits: int
    ) -> LaneValue:
        """A shift in lanes wider than every amount, reduced to the node's width."""
        if low == high:
            return self._known_result(node, low)
        code = self._code
        return self._narrow(node, code.value(code.binary(name, x, by, bits), low, high, bits))

    # ------------------------------------------------------------------ comparisons and choice
    def on_eq(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        code = self._code
        if node.args[0].width == 1:
            same = self._logic("xor", x, y)
            return self.on_not_(node, same)
        x, y = self._common_reading(node.args[0], x, y)
        if x.high < y.low or y.high < x.low:
            return code.truth(False)
        if x.constant and y.constant:
            return code.truth(True)
        return code.compare("eq", x, y, max(x.bits, y.bits))

    def _less(self, node: Node, x: LaneValue, y: LaneValue, *, equal: bool, signed: bool) -> LaneValue:
        code = self._code
        reading = code.signed if signed else code.unsigned
        x, y = reading(x, node.args[0].width), reading(y, node.args[0].width)
        if (x.high <= y.low) if equal else (x.high < y.low):
            return code.truth(True)
        if (x.low > y.high) if equal else (x.low >= y.high):
            return code.truth(False)
        low, high = min(x.low, y.low), max(x.high, y.high)
        return code.compare(("s" if low < 0 else "u") + ("le" if equal else "lt"), x, y, lane_for(low, high))

    def on_ult(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._less(node, x, y, equal=False, signed=False)

    def on_ule(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._less(node, x, y, equal=True, signed=False)

    def on_slt(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._less(node, x, y, equal=False, signed=True)

    def on_sle(self, node: Node, x: LaneValue, y: LaneValue) -> LaneValue:
        return self._less(node, x, y, equal=True, signed=True)

    def on_ite(self, node: Node, cond: LaneValue, yes: LaneValue, no: LaneValue) -> LaneValue:
        if cond.constant:
            return yes if cond.low else no
        yes, no = self._common_reading(node, yes, no)
        low, high = min(yes.low, no.low), max(yes.high, no.high)
        if low == high:
            return yes
        test, first, second = node.args
        if test.op == "ult" and test.args == (second, first) and low >= 0:
            low = max(yes.low, no.low)  # the larger of the two
        elif test.op == "ult" and test.args == (first, second) and low >= 0:
            high = min(yes.high, no.high)
        elif _is_magnitude(test, first, second):
            low = 0
        return self._code.select(cond, yes, no, low, high)


def _is_magnitude(test: Node, negated: Node, x: Node) -> bool:
    """Whether a selection is |x| of a two's complement x."""
    top = x.width - 1
    return (
        negated.op == "neg_mod"
        and negated.args[0] is x
        and test.op == "extract"
        and test.args[0] is x
        and test.params == (top, top)
    )
