"""Known-bits analysis: abstract evaluation of a DAG with some unknown inputs, lane by lane.

A known bit has its value for every value of the unknown inputs.  The converse does not hold: a bit that
depends on no unknown input may come out unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tcformal.backends.vector import LANE_BITS, Lanes, Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter

#: What is unknown of a node that is known in every lane.
_NOTHING, _NOTHING_WIDE = np.zeros(1, np.uint64), np.zeros(1, object)


@dataclass(frozen=True, slots=True)
class KnownBits:
    """The known and unknown bits of one node in every lane.

    Shapes: two arrays of one shape.  Ranges and units: `value` has zeros where `unknown` has ones.
    """

    value: Lanes
    unknown: Lanes

    @property
    def known(self) -> bool:
        """Whether every bit is known in every inspected lane."""
        return self.unknown is _NOTHING or self.unknown is _NOTHING_WIDE

    @property
    def largest(self) -> Lanes:
        """The largest integer consistent with the known bits; the least one is `value`."""
        return np.asarray(self.value | self.unknown)


class Known(Interpreter[KnownBits]):
    """The known-bits evaluator of a DAG.

    Shapes: inputs as for `Vector`; a name in `unknown` needs no array, or has a mask of the lanes in which
    it is unknown.
    Errors: as `Vector`.
    """

    def __init__(self, graph: Graph, inputs: Mapping[str, Lanes], unknown: Mapping[str, Lanes]) -> None:
        super().__init__(graph)
        self._exact = Vector(graph, inputs)
        self._unknown = unknown

    def visit(self, node: Node, values: Sequence[KnownBits]) -> KnownBits:
        """The known bits of one node; fully known arguments are evaluated as in `Vector`."""
        if values and all(x.known for x in values):
            exact = self._exact.visit(node, [x.value for x in values])
            return KnownBits(exact, _NOTHING if exact.dtype != object else _NOTHING_WIDE)
        bits = super().visit(node, values)
        if bits.unknown.any():
            return bits
        return KnownBits(bits.value, _NOTHING if bits.value.dtype != object else _NOTHING_WIDE)

    # ------------------------------------------------------------------ helpers
    def _all(self, node: Node, where: Lanes, value: Lanes) -> KnownBits:
        """A value that is entirely unknown in the lanes `where`."""
        dtype = np.uint64 if node.width <= LANE_BITS else object
        zero, ones = np.zeros(1, dtype), np.full(1, (1 << node.width) - 1, dtype)
        return KnownBits(np.where(where, zero, value), np.where(where, ones, zero))

    def _when_known(self, node: Node, *args: KnownBits) -> KnownBits:
        """A node that is known only where all its arguments are."""
        where = np.asarray(np.zeros(1, np.bool_))
        for x in args:
            where = np.asarray(where | (x.unknown != 0))
        return self._all(node, where, self._exact.visit(node, [x.value for x in args]))

    def _sum(self, node: Node, x: KnownBits, y: KnownBits, carry: int) -> KnownBits:
        """The sum x + y + carry: a bit is known if its operands' bits and the carry into it are."""
        cut, width = self._exact.cut, node.width
        one = carry if x.value.dtype == object or y.value.dtype == object else np.uint64(carry)
        least, most = cut(x.value + y.value + one, width), cut(x.largest + y.largest + one, width)
        # The carries into the bits of both sums; a carry that is in the least one is in every one.
        into_least, into_most = least ^ x.value ^ y.value, most ^ x.largest ^ y.largest
        unknown = np.asarray(x.unknown | y.unknown | (into_least ^ into_most))
        return KnownBits(np.asarray(least & self._not(node, unknown)), unknown)

    def _not(self, node: Node, x: Lanes) -> Lanes:
        return self._exact.cut(x ^ ((1 << node.width) - 1) if x.dtype == object else ~x, node.width)

    def on_not_(self, node: Node, x: KnownBits) -> KnownBits:
        return KnownBits(np.asarray(self._not(node, x.value) & self._not(node, x.unknown)), x.unknown)

    @staticmethod
    def _truth(yes: Lanes, no: Lanes) -> KnownBits:
        """A truth value: 1 where it must hold, 0 where it cannot, unknown elsewhere."""
        sure = np.asarray(yes).astype(np.uint64)
        return KnownBits(sure, np.asarray(~(yes | no)).astype(np.uint64))

    # ------------------------------------------------------------------ leaves
    def on_const(self, node: Node) -> KnownBits:
        value = self._exact.on_const(node)
        return KnownBits(value, np.zeros(1, value.dtype))

    def on_input(self, node: Node) -> KnownBits:
        name = self.graph.input_name(node)
        where = self._unknown.get(name)
        if where is None:
            value = self._exact.on_input(node)
            return KnownBits(value, np.zeros(1, value.dtype))
        return self._all(node, where, np.zeros(1, np.uint64) if where.all() else self._exact.on_input(node))

    # ------------------------------------------------------------------ operators
    def on_and_(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        both = x.value & y.value
        return KnownBits(np.asarray(both), np.asarray((x.largest & y.largest) ^ both))

    def on_or_(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        some = x.value | y.value
        return KnownBits(np.asarray(some), np.asarray((x.largest | y.largest) ^ some))

    def on_xor(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        unknown = np.asarray(x.unknown | y.unknown)
        return KnownBits(np.asarray((x.value ^ y.value) & self._not(node, unknown)), unknown)

    def on_add_mod(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self._sum(node, x, y, 0)

    def on_sub_mod(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self._sum(node, x, self.on_not_(node, y), 1)

    def on_neg_mod(self, node: Node, x: KnownBits) -> KnownBits:
        zero = np.zeros(1, x.value.dtype)
        return self._sum(node, KnownBits(zero, zero), self.on_not_(node, x), 1)

    def on_mul_expand(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        product = self._when_known(node, x, y)
        nought = (x.largest == 0) | (y.largest == 0)
        empty = np.zeros(1, product.value.dtype)
        return KnownBits(np.where(nought, empty, product.value), np.where(nought, empty, product.unknown))

    def _shifted(self, node: Node, x: KnownBits, amount: KnownBits) -> KnownBits:
        """A shift by a known amount; zero shifted by any amount is zero."""
        value, unknown = (self._exact.visit(node, [v, amount.value]) for v in (x.value, x.unknown))
        # Bits of both halves that ashr repeats: one that is unknown hides the value's.
        shifted = KnownBits(np.asarray(value & self._not(node, unknown)), unknown)
        lost = self._all(node, amount.unknown != 0, shifted.value)
        empty = x.largest == 0
        zero = np.zeros(1, shifted.value.dtype)
        value = np.where(empty, zero, lost.value)
        return KnownBits(value, np.where(empty, zero, np.asarray(shifted.unknown | lost.unknown)))

    on_shl_mod = on_lshr = on_ashr = _shifted

    def on_eq(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        known = (x.unknown == 0) & (y.unknown == 0)
        apart = (x.value & ~y.largest) | (y.value & ~x.largest)
        return self._truth(known & (x.value == y.value), apart != 0)

    def on_ult(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self._truth(x.largest < y.value, x.value >= y.largest)

    def on_ule(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self._truth(x.largest <= y.value, x.value > y.largest)

    def _moved(self, node: Node, x: KnownBits) -> KnownBits:
        """Offset binary: x with its sign bit flipped, in unsigned order."""
        bit = 1 << (node.args[0].width - 1)
        flip = bit if x.value.dtype == object else np.uint64(bit)
        return KnownBits(np.asarray((x.value ^ flip) & ~x.unknown), x.unknown)

    def on_slt(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self.on_ult(node, self._moved(node, x), self._moved(node, y))

    def on_sle(self, node: Node, x: KnownBits, y: KnownBits) -> KnownBits:
        return self.on_ule(node, self._moved(node, x), self._moved(node, y))

    def on_ite(self, node: Node, cond: KnownBits, yes: KnownBits, no: KnownBits) -> KnownBits:
        either = np.asarray(yes.unknown | no.unknown | (yes.value ^ no.value))
        open_, take = cond.unknown != 0, cond.value != 0
        unknown = np.where(open_, either, np.where(take, yes.unknown, no.unknown))
        value = np.where(open_, yes.value & no.value & ~either, np.where(take, yes.value, no.value))
        return KnownBits(value, unknown)

    def _each(self, node: Node, *args: KnownBits) -> KnownBits:
        """An operator that only moves bits, applied to values and unknown masks alike.

        An unknown sign is repeated in the unknown mask; in the value it is 0 there.
        """
        value, unknown = (
            self._exact.visit(node, list(half))
            for half in zip(*((x.value, x.unknown) for x in args), strict=True)
        )
        return KnownBits(value, unknown)

    on_concat = on_extract = on_zero_extend = on_sign_extend = _each


def known_bits(
    graph: Graph, root: Node, inputs: Mapping[str, Lanes], unknown: Mapping[str, Lanes]
) -> KnownBits:
    """The known bits of one node in each lane; see `Known`."""
    (bits,) = Known(graph, inputs, unknown).run([root])
    return bits
