"""One definition on arrays, element by element: compiled once there are many of them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcformal.interp.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.interp.llvm import Lowering
from tcformal.interp.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.kernels.block import Words
from tcformal.kernels.multiply import word
from tcformal.kernels.work import Work
from tcformal.machine import Module, available, vector_bits

#: Elements of one definition that are evaluated on lanes before it is compiled: either takes about as long.
_WORTH_COMPILING = 1 << 16
#: What an element costs, in multiply–adds of a unit.
_COST = 16
#: Elements that no tile has more of.
_LARGEST_TILE = 64


@dataclass(slots=True)
class Elements:
    """A definition of one word, and how to evaluate it on many.

    Shapes: inputs `names` of `graph`, each one word an element.
    Ranges and units: `storage`: bits of an element of each input in memory, and of the result: 8, 16, 32, 64.
    """

    graph: Graph
    root: Node
    names: tuple[str, ...]
    storage: tuple[int, ...]
    result: int
    #: Elements evaluated so far.
    seen: int = 0
    #: Kernels and their lanes, by which inputs are one word for all elements.
    _kernels: dict[tuple[bool, ...], tuple[Any, int]] = field(default_factory=dict)

    def __call__(self, given: Sequence[Words], shape: tuple[int, ...], threads: int | None = None) -> Words:
        """The results on arrays that broadcast to `shape`: unsigned integers of the result's storage.

        Errors: none for words that fit their formats; nothing is modified.
        """
        n = int(np.prod(shape))
        self.seen += n
        if available() and self.seen >= _WORTH_COMPILING:
            return self._compiled(given, shape, n, threads)
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in given]
        made = evaluate(self.graph, self.root, dict(zip(self.names, flat, strict=True)), n=n)
        return made.astype(f"u{self.result // 8}").reshape(shape)

    def _compiled(self, given: Sequence[Words], shape: tuple[int, ...], n: int, threads: int | None) -> Words:
        single = tuple(x.size == 1 for x in given)
        if single not in self._kernels:
            self._kernels[single] = self._compile(single)
        kernel, lanes = self._kernels[single]
        arrays = []
        for x, one, bits in zip(given, single, self.storage, strict=True):
            whole = x.reshape(1) if one else np.broadcast_to(x, shape).reshape(-1)
            arrays.append(np.ascontiguousarray(whole, f"u{bits // 8}"))
        d = np.empty(n, f"u{self.result // 8}")
        tiles, rest = divmod(n, lanes)

        def run(some: slice) -> None:
            first = some.start * lanes
            at = [
                x.ctypes.data + (0 if one else first * x.itemsize)
                for x, one in zip(arrays, single, strict=True)
            ]
            kernel.apply(*at, d.ctypes.data + first * d.itemsize, some.stop - some.start)

        if tiles:
            with Work(threads, progress=False) as work:
                work.split(tiles, _COST * lanes, run)
        if rest:
            ends = []
            for x, one in zip(arrays, single, strict=True):
                end = np.zeros(_LARGEST_TILE, x.dtype)
                end[: 1 if one else rest] = x if one else x[-rest:]
                ends.append(end)
            last = np.empty(_LARGEST_TILE, d.dtype)
            kernel.apply(*(x.ctypes.data for x in ends), last.ctypes.data, 1)
            d[-rest:] = last[:rest]
        return d.reshape(shape)

    def _compile(self, single: tuple[bool, ...]) -> tuple[Any, int]:
        lanes = vector_bits() // WORD
        text, widest = self._source(single, lanes)
        if widest > DOUBLE:
            # No processor has lanes for wider integers: one at a time is the fastest.
            lanes = 1
            text, _ = self._source(single, 1)
        return Module(text, {"apply": (*[ctypes.c_void_p] * (len(single) + 1), ctypes.c_int64)}), lanes

    def _source(self, single: tuple[bool, ...], lanes: int) -> tuple[str, int]:
        """The module with apply(inputs…, d, tiles), and the widest lane in it."""
        code = Code(lanes, "v")
        first = code.new(f"mul i64 %tile, {lanes}")
        known: dict[int, LaneValue] = {}
        for i, (name, bits, one) in enumerate(zip(self.names, self.storage, single, strict=True)):
            node = self.graph.inputs.get(name)
            if node is None:
                continue
            if one:
                text = code.new(f"load i{bits}, ptr %x{i}, align {bits // 8}")
                if lanes > 1:
                    into = code.new(f"insertelement {code.kind(bits)} poison, i{bits} {text}, i32 0")
                    text = code.new(
                        f"shufflevector {code.kind(bits)} {into}, {code.kind(bits)} poison, "
                        f"<{lanes} x i32> zeroinitializer"
                    )
            else:
                at = code.new(f"getelementptr i{bits}, ptr %x{i}, i64 {first}")
                text = code.new(f"load {code.kind(bits)}, ptr {at}, align {bits // 8}")
            known[node.index] = word(code, text, bits, node.width)
        lowering = Lowering(self.graph, code, known)
        result = code.operand(code.unsigned(lowering.value_of(self.root), self.root.width), self.result)
        body = "\n".join(code.lines)
        pointers = ", ".join([*(f"ptr noalias %x{i}" for i in range(len(single))), "ptr noalias %d"])
        text = f"""define void @apply({pointers}, i64 %tiles) {{
entry:
  br label %each
each:
  %tile = phi i64 [ 0, %entry ], [ %next, %each ]
{body}
  %to = getelementptr i{self.result}, ptr %d, i64 {first}
  store {code.kind(self.result)} {result}, ptr %to, align {self.result // 8}
  %next = add i64 %tile, 1
  %more = icmp ult i64 %next, %tiles
  br i1 %more, label %each, label %end
end:
  ret void
}}"""
        return text, code.widest
