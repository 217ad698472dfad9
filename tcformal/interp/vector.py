"""NumPy lanes: every node is an array with one element per dot product.

Nodes of up to 64 bits live in uint64 lanes.  Wider ones live in object arrays of Python integers:
slower, never silently wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import Interpreter

Lanes = NDArray[Any]
LANE_BITS = 64
#: Most words that `evaluate` holds at once, all nodes of some lanes: more take longer, and fill the memory.
_AT_ONCE = 1 << 25


def _mask(width: int) -> int:
    return (1 << width) - 1


def _lanes(x: Lanes, width: int) -> Lanes:
    """x in the representation of nodes of `width` bits."""
    if width <= LANE_BITS:
        return x.astype(np.uint64, copy=False)
    return x if x.dtype == object else x.astype(object)


class Vector(Interpreter[Lanes]):
    """Evaluates a DAG on arrays of raw encodings.

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
        """x modulo 2^width, in the lanes of that width."""
        if width == LANE_BITS and x.dtype != object:
            return x
        return _lanes(x & (_mask(width) if x.dtype == object else np.uint64(_mask(width))), width)

    def _flip_sign(self, node: Node, x: Lanes) -> Lanes:
        """x with its sign bit flipped: two's complement order becomes unsigned order."""
        width = node.width
        flip = 1 << (width - 1)
        return x ^ (flip if x.dtype == object else np.uint64(flip))

    def _shift(self, node: Node, x: Lanes, amount: Lanes, go: Callable[[Lanes, Lanes], Lanes]) -> Lanes:
        """Shift by a data-dependent amount; `go` sees amounts below the width only."""
        width = node.width
        narrow = np.minimum(amount, width) if amount.dtype == object else np.minimum(amount, np.uint64(width))
        if width > LANE_BITS:
            return self.cut(go(x, narrow.astype(object)), width)
        narrow = narrow.astype(np.uint64)
        inside = narrow < np.uint64(width)
        moved = go(x, np.where(inside, narrow, np.uint64(0)))
        return self.cut(np.where(inside, moved, np.uint64(0)), width)

    @staticmethod
    def _truth(x: Lanes) -> Lanes:
        return np.asarray(x).astype(np.uint64)

    # ------------------------------------------------------------------ operators
    def on_not_(self, node: Node, x: Lanes) -> Lanes:
        return self.cut(~x if x.dtype != object else x ^ _mask(node.width), node.width)

    def on_and_(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x & y)

    def on_or_(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x | y)

    def on_xor(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(x ^ y)

    def on_add_mod(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.cut(np.asarray(x + y), node.width)

    def on_sub_mod(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self.cut(np.asarray(x - y), node.width)

    def on_neg_mod(self, node: Node, x: Lanes) -> Lanes:
        zero = 0 if x.dtype == object else np.uint64(0)
        return self.cut(np.asarray(zero - x), node.width)

    def on_mul_expand(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return np.asarray(_lanes(x, node.width) * _lanes(y, node.width))

    def on_shl_mod(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        return self._shift(node, x, amount, lambda v, s: v << s)

    def on_lshr(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        return self._shift(node, x, amount, lambda v, s: v >> s)

    def on_ashr(self, node: Node, x: Lanes, amount: Lanes) -> Lanes:
        # floor(x / 2^s) of a negative x is the complement of the complement shifted.
        negative = self.on_lshr(node, x, np.asarray(_lanes(np.array(node.width - 1), 64))) != 0
        flipped = np.where(negative, self.on_not_(node, x), x)
        moved = self.on_lshr(node, flipped, amount)
        return np.where(negative, self.on_not_(node, moved), moved)

    def on_eq(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self._truth(x == y)

    def on_ult(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self._truth(x < y)

    def on_ule(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self._truth(x <= y)

    def on_slt(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self._truth(self._flip_sign(node.args[0], x) < self._flip_sign(node.args[0], y))

    def on_sle(self, node: Node, x: Lanes, y: Lanes) -> Lanes:
        return self._truth(self._flip_sign(node.args[0], x) <= self._flip_sign(node.args[0], y))

    def on_ite(self, node: Node, cond: Lanes, yes: Lanes, no: Lanes) -> Lanes:
        return np.where(cond != 0, yes, no)

    def on_concat(self, node: Node, high: Lanes, low: Lanes) -> Lanes:
        width = node.args[1].width
        wide = _lanes(high, node.width)
        by = width if node.width > LANE_BITS else np.uint64(width)
        return np.asarray((wide << by) | _lanes(low, node.width))

    def on_extract(self, node: Node, x: Lanes) -> Lanes:
        high, low = node.params
        moved = np.asarray(x >> (low if x.dtype == object else np.uint64(low))) if low else x
        return _lanes(moved, node.width) if high == node.args[0].width - 1 else self.cut(moved, node.width)

    def on_zero_extend(self, node: Node, x: Lanes) -> Lanes:
        return _lanes(x, node.width)

    def on_sign_extend(self, node: Node, x: Lanes) -> Lanes:
        width = node.args[0].width
        wide = _lanes(x, node.width)
        above = _mask(node.width) ^ _mask(width)
        top = self.cut(np.asarray(x >> (width - 1 if x.dtype == object else np.uint64(width - 1))), 1)
        fill = above if node.width > LANE_BITS else np.uint64(above)
        return np.where(top != 0, wide | fill, wide)


def evaluate(graph: Graph, root: Node, inputs: Mapping[str, Lanes], *, n: int) -> Lanes:
    """The value of one node on `n` lanes: an array [n] of uint64 (object above 64 bits)."""
    rows = max(1, _AT_ONCE // len(graph))
    pieces = []
    for start in range(0, max(n, 1), rows):
        some = {name: x[start : start + rows] for name, x in inputs.items()} if n > rows else inputs
        (value,) = Vector(graph, some).run([root])
        pieces.append(np.broadcast_to(value, (min(rows, n - start),)))
    return np.concatenate(pieces)
