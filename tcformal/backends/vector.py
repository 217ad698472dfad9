"""The NumPy interpreter: every node is an array with one element (lane) per dot product.

Nodes of up to 64 bits live in uint64 lanes.  Wider ones live in object arrays of Python integers:
slower, never silently wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter, most_held

Lanes = NDArray[Any]
LANE_BITS = 64
#: Most words that `evaluate` holds at once, all nodes of some lanes: more take longer, and fill the memory.
_AT_ONCE = 1 << 25
#: Lanes of a large graph: with fewer, most of the time goes into calls.
_LARGE = 1 << 13


#: Operands of one word, by its value: arrays without axes, which NumPy takes at half the cost of a scalar.
_MASKS = tuple(np.array((1 << width) - 1, np.uint64) for width in range(LANE_BITS + 1))
_PLACES = tuple(np.array(place, np.uint64) for place in range(LANE_BITS))
_SIGNS = tuple(np.array(1 << place, np.uint64) for place in range(LANE_BITS))
_ZERO = _MASKS[0]


def _mask(width: int) -> int:
    return (1 << width) - 1


def _lanes(x: Lanes, width: int) -> Lanes:
    """An array in the lane type of `width` bits: uint64, or object above 64 bits."""
    if width <= LANE_BITS:
        return x.astype(np.uint64, copy=False)
    return x if x.dtype == object else x.astype(object)


class Vector(Interpreter[Lanes]):
    """An evaluator of a DAG on arrays of raw encodings.

    Shapes: inputs are unsigned arrays of one shape [n]; each node's value is an array [n].
    Errors: InputError for a missing input, a signed or floating array, or a value that does not fit.
    """

    def __init__(self, graph: Graph, inputs: Mapping[str, Lanes]) -> None:
        super().__init__(graph)
        self._inputs = inputs

    # ------------------------------------------------------------------ leaves
    def on_const(self, node: Node) -> Lanes:
        value = node.params[1]
        # One lane for all: an array without axes would turn wide results into bare integers.
        return np.full(1, value, dtype=np.uint64 if node.width <= LANE_BITS else object)

    def on_input(self, node: Node) -> Lanes:
        name = self.graph.input_name(node)
        if name not in self._inputs:
            raise InputError(f"expected an array for input {name}, but none was given")
        x = np.asarray(self._inputs[name])
        whole = x.dtype == object and all(isinstance(v, int) and v >= 0 for v in x.flat)
        if x.dtype.kind != "u" and not whole:
            raise InputError(f"expected an unsigned integer array for {name}, but got dtype {x.dtype}")
        if x.size and int(x.max()) > _mask(node.width):
            raise InputError(f"expected encodings of {node.width} bits for {name}, but got {int(x.max()):#x}")
        return _lanes(x, node.width)

    # ------------------------------------------------------------------ helpers
    def cut(self, x: Lanes, width: int) -> Lanes:
        """The residue x modulo 2^width, in the lane type of that width."""
        if x.dtype == object:
            return _lanes(x & _mask(width), width)
        return x if width == LANE_BITS else np.asarray(x & _MASKS[width])

    def _flip_sign(self, node: Node, x: Lanes) -> Lanes:
        """Offset binary: x with its sign bit flipped, in unsigned order."""
        place = node.width - 1
        return np.asarray(x ^ (1 << place if x.dtype == object else _SIGNS[place]))

    def _amount(self, node: Node, amount: Lanes) -> Lanes:
        """A shift amount in the lane type of the shifted value."""
        if node.width > LANE_BITS:
            return np.asarray(np.minimum(amount.astype(object), node.width))
        return np.minimum(amount, LANE_BITS).astype(np.uint64) if amount.dtype == object else amount

    # ------------------------------------------------------------------ operators
    def on_not_(self, node: Node, x: Lanes) -> Lanes:
        return np.asarray(x ^ (_mask(node.width) if x.dtype == object else _MASKS[node.width]))

    def on_and_(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        lanes: Lanes = x & y
        return lanes

    def on_or_(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        lanes: Lanes = x | y
        return lanes

    def on_xor(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        lanes: Lanes = x ^ y
        return lanes

    def on_add_mod(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.cut(x + y, node.width)

    def on_sub_mod(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.cut(x - y, node.width)

    def on_neg_mod(self, node: Node, x: Lanes) -> Lanes:
        return self.cut((0 if x.dtype == object else _ZERO) - x, node.width)

    def on_mul_expand(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(_lanes(x, node.width) * _lanes(y, node.width))

    def on_shl_mod(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        return self.cut(x << self._amount(node, amount), node.width)

    def on_lshr(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        return np.asarray(x >> self._amount(node, amount))

    def on_ashr(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        # floor(x / 2^s) of a negative x is the complement of the complement shifted.
        place = node.width - 1
        negative = x >= (_SIGNS[place] if place < LANE_BITS else 1 << place)
        flipped = np.where(negative, self.on_not_(node, x), x)
        moved = self.on_lshr(node, flipped, amount)
        return np.where(negative, self.on_not_(node, moved), moved)

    def on_eq(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x == y).astype(np.uint64)

    def on_ult(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x < y).astype(np.uint64)

    def on_ule(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x <= y).astype(np.uint64)

    def on_slt(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.on_ult(node, self._flip_sign(node.args[0], x), self._flip_sign(node.args[0], y))

    def on_sle(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.on_ule(node, self._flip_sign(node.args[0], x), self._flip_sign(node.args[0], y))

    def on_ite(self, node: Node, cond: Lanes, yes: Lanes, no: Lanes) -> Lanes:
        return np.where(cond != _ZERO, yes, no)

    def on_concat(self, node: Node, high: Lanes, low: Lanes) -> Lanes:
        width = node.args[1].width
        wide = _lanes(high, node.width)
        by = width if node.width > LANE_BITS else _PLACES[width]
        return np.asarray((wide << by) | _lanes(low, node.width))

    def on_extract(self, node: Node, x: Lanes) -> Lanes:
        high, low = node.params
        moved = np.asarray(x >> (low if x.dtype == object else _PLACES[low])) if low else x
        return _lanes(moved, node.width) if high == node.args[0].width - 1 else self.cut(moved, node.width)

    def on_zero_extend(self, node: Node, x: Lanes) -> Lanes:
        return _lanes(x, node.width)

    def on_sign_extend(self, node: Node, x: Lanes) -> Lanes:
        place = node.args[0].width - 1
        sign = 1 << place if node.width > LANE_BITS else _SIGNS[place]
        return self.cut((_lanes(x, node.width) ^ sign) - sign, node.width)


def evaluate(graph: Graph, root: Node, inputs: Mapping[str, Lanes], *, n: int) -> Lanes:
    """The value of one node on `n` lanes: an array [n] of uint64 (object above 64 bits)."""
    rows = max(1, _AT_ONCE // len(graph), min(_LARGE, _AT_ONCE // most_held(root)))
    pieces = []
    for start in range(0, max(n, 1), rows):
        some = {name: x[start : start + rows] for name, x in inputs.items()} if n > rows else inputs
        (value,) = Vector(graph, some).run([root])
        pieces.append(np.broadcast_to(value, (min(rows, n - start),)))
    return np.concatenate(pieces)
