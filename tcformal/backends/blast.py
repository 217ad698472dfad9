"""Bit blasting: every bit-vector becomes a row of gate literals, lowest bit first."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.backends.gates import FALSE, TRUE, Gates
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter

Bits = tuple[int, ...]


class Blast(Interpreter[Bits]):
    """The bit-blaster: an interpretation of the operators as gates.

    Shapes: a node of width w becomes w literals, the lowest bit first.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.gates = Gates()
        #: The literals of the inputs met, by name: what a model is read from.
        self.inputs: dict[str, Bits] = {}

    # ------------------------------------------------------------------ leaves
    def on_const(self, node: Node) -> Bits:
        width, value = node.params
        return tuple(value >> i & 1 for i in range(width))

    def on_input(self, node: Node) -> Bits:
        bits = tuple(self.gates.input() for _ in range(node.width))
        self.inputs[self.graph.input_name(node)] = bits
        return bits

    # ------------------------------------------------------------------ bit by bit
    def on_not_(self, _: Node, x: Bits) -> Bits:
        return _complement(x)

    def on_and_(self, _: Node, x: Bits, y: Bits) -> Bits:
        return tuple(map(self.gates.and_, x, y))

    def on_or_(self, _: Node, x: Bits, y: Bits) -> Bits:
        return tuple(map(self.gates.or_, x, y))

    def on_xor(self, _: Node, x: Bits, y: Bits) -> Bits:
        return tuple(map(self.gates.xor, x, y))

    def on_ite(self, _: Node, cond: Bits, yes: Bits, no: Bits) -> Bits:
        return tuple(self.gates.choice(cond[0], p, q) for p, q in zip(yes, no, strict=True))

    # ------------------------------------------------------------------ wires only
    def on_concat(self, _: Node, high: Bits, low: Bits) -> Bits:
        return low + high

    def on_extract(self, node: Node, x: Bits) -> Bits:
        high, low = node.params
        return x[low : high + 1]

    def on_zero_extend(self, node: Node, x: Bits) -> Bits:
        return x + (FALSE,) * node.params[0]

    def on_sign_extend(self, node: Node, x: Bits) -> Bits:
        return x + (x[-1],) * node.params[0]

    # ------------------------------------------------------------------ sums
    def _add(self, x: Bits, y: Bits, carry: int) -> tuple[Bits, int]:
        """A ripple-carry adder: the sum and the carry out."""
        g, bits = self.gates, []
        for p, q in zip(x, y, strict=True):
            bits.append(g.xor(g.xor(p, q), carry))
            carry = g.majority(p, q, carry)
        return tuple(bits), carry

    def on_add_mod(self, _: Node, x: Bits, y: Bits) -> Bits:
        return self._add(x, y, FALSE)[0]

    def on_sub_mod(self, _: Node, x: Bits, y: Bits) -> Bits:
        return self._add(x, _complement(y), TRUE)[0]

    def on_neg_mod(self, node: Node, x: Bits) -> Bits:
        return self._add(_complement(x), (FALSE,) * node.width, TRUE)[0]

    def on_mul_expand(self, node: Node, x: Bits, y: Bits) -> Bits:
        """An array multiplier, exact: one row per bit of the factor with fewer free bits."""
        rows, row = (x, y) if _free(x) <= _free(y) else (y, x)
        total: Bits = (FALSE,) * node.width
        for i, bit in enumerate(rows):
            if bit != FALSE:
                part = tuple(self.gates.and_(bit, q) for q in row)
                low, high = total[:i], total[i:]
                added, _ = self._add(high, part + (FALSE,) * (len(high) - len(part)), FALSE)
                total = low + added
        return total

    # ------------------------------------------------------------------ shifts
    def _shift(self, x: Bits, amount: Bits, fill: int, left: bool) -> Bits:
        """A barrel shifter: one row of multiplexers per bit of the amount; overlong shifts give `fill`."""
        g, width = self.gates, len(x)
        stages = (width - 1).bit_length()
        for i, bit in enumerate(amount[:stages]):
            far = min(1 << i, width)
            moved = (fill,) * far + x[:-far] if left else x[far:] + (fill,) * far
            x = tuple(g.choice(bit, p, q) for p, q in zip(moved, x, strict=True))
        beyond = g.any_(amount[stages:])
        return tuple(g.choice(beyond, fill, q) for q in x)

    def on_shl_mod(self, _: Node, x: Bits, amount: Bits) -> Bits:
        return self._shift(x, amount, FALSE, left=True)

    def on_lshr(self, _: Node, x: Bits, amount: Bits) -> Bits:
        return self._shift(x, amount, FALSE, left=False)

    def on_ashr(self, _: Node, x: Bits, amount: Bits) -> Bits:
        return self._shift(x, amount, x[-1], left=False)

    # ------------------------------------------------------------------ comparisons
    def _at_least(self, x: Bits, y: Bits) -> int:
        """The comparison x ≥ y, unsigned: the carry out of x + ¬y + 1."""
        carry = TRUE
        for p, q in zip(x, y, strict=True):
            carry = self.gates.majority(p, q ^ 1, carry)
        return carry

    def on_eq(self, _: Node, x: Bits, y: Bits) -> Bits:
        return (self.gates.all_(self.gates.xor(p, q) ^ 1 for p, q in zip(x, y, strict=True)),)

    def on_ult(self, _: Node, x: Bits, y: Bits) -> Bits:
        return (self._at_least(x, y) ^ 1,)

    def on_ule(self, _: Node, x: Bits, y: Bits) -> Bits:
        return (self._at_least(y, x),)

    def on_slt(self, _: Node, x: Bits, y: Bits) -> Bits:
        return (self._at_least(_biased(x), _biased(y)) ^ 1,)

    def on_sle(self, _: Node, x: Bits, y: Bits) -> Bits:
        return (self._at_least(_biased(y), _biased(x)),)


def _complement(x: Bits) -> Bits:
    return tuple(bit ^ 1 for bit in x)


def _biased(x: Bits) -> Bits:
    """Offset binary: two's complement with the top bit flipped, in unsigned order."""
    return (*x[:-1], x[-1] ^ 1)


def _free(x: Sequence[int]) -> int:
    return sum(bit > TRUE for bit in x)
