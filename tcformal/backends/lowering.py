"""Base of operator lowering: values by node, results reduced to a node's width, and replacement rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tcformal.backends.lanes import Code, LaneValue, lane_for
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


class Ground(Interpreter[LaneValue], partial=True):
    """The common state of operator lowering: a code builder, and the values of nodes.

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


def fits(low: int, high: int, width: int) -> bool:
    """Whether every integer of [low, high] is a `width`-bit value, unsigned or signed."""
    half = 1 << (width - 1)
    return (low >= 0 and high < 2 * half) or (low >= -half and high < half)
