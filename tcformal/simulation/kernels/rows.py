"""Dot products with one pair of operands per row: on NumPy lanes, or compiled from a minimum number on."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.backends.llvm import Lowering
from tcformal.backends.machine import Module, available, vector_bits
from tcformal.backends.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.simulation.kernels.multiply import word
from tcformal.simulation.kernels.work import Words, Work

#: Rows of one definition that are evaluated on lanes before it is compiled: either takes about as long.
_WORTH_COMPILING = 1 << 17
#: What an evaluation on lanes costs at least, in rows.
_CALL = 1 << 9
#: Rows in one piece of work.
_PIECE = 1 << 14
#: The arrays of a dot product, in the order of the kernel's arguments; those of one word a row come last.
ARRAYS = ("a", "b", "scale_a", "scale_b", "c")


@dataclass(slots=True)
class DotProducts:
    """One definition of a dot product, evaluated on many rows.

    Shapes: inputs a[0], a[1], …, b[0], …, scale_a[0], …, scale_b[0], …, c of `graph`.
    """

    graph: Graph
    root: Node
    #: Rows evaluated so far, those of an evaluation of few as `_CALL`.
    seen: int = 0
    _kernel: Any = None
    _lanes: int = 0

    def __call__(self, given: Mapping[str, Words], n: int) -> Words:
        """The results of n dot products, in uint64 (object above 64 bits).

        Shapes: given: a, b [n, K], c [n], and scale_a, scale_b [n, scales] where there are scales.
        Errors: InputError for an array that is signed or floating, or holds a word that does not fit.
        """
        self.seen += max(n, _CALL)
        if available() and self.seen >= _WORTH_COMPILING and self.root.width <= DOUBLE and self._fit(given):
            return self._compiled(given, n)
        return self.on_lanes(given, n)

    def on_lanes(self, given: Mapping[str, Words], n: int) -> Words:
        """The results of n dot products on NumPy lanes, without a compiled kernel."""
        inputs = {"c": given["c"]}
        for name in ARRAYS[:-1]:
            if name in given:
                inputs |= {f"{name}[{i}]": given[name][:, i] for i in range(given[name].shape[1])}
        return evaluate(self.graph, self.root, inputs, n=n)

    def _fit(self, given: Mapping[str, Words]) -> bool:
        """Whether every word fits its input; NumPy lanes report the error otherwise."""
        for name, x in given.items():
            if x.dtype.kind != "u":
                return False
            for i, largest in enumerate(np.atleast_1d(x.max(axis=0)) if x.size else ()):
                if int(largest) >> self.graph.inputs["c" if name == "c" else f"{name}[{i}]"].width:
                    return False
        return True

    def _compiled(self, given: Mapping[str, Words], n: int) -> Words:
        if self._kernel is None:
            self._compile()
        lanes, run = self._lanes, self._kernel.rows
        d = np.empty(n, np.uint64)

        def piece(some: slice) -> None:
            start, stop = some.start * _PIECE, min(some.stop * _PIECE, n)
            count = -(-(stop - start) // lanes) * lanes
            arrays = []
            for name in ARRAYS:
                part = given[name][start:stop] if name in given else np.empty((0, 0), np.uint64)
                words = np.zeros((*part.shape[1:], count), np.uint64)
                words[..., : part.shape[0]] = part.T
                arrays.append(words)
            out = np.empty(count, np.uint64)
            pointers = [x.ctypes.data for x in (*arrays, out)]
            run(*pointers, count // lanes, count)
            d[start:stop] = out[: stop - start]

        with Work(progress=False) as work:
            work.split(-(-n // _PIECE), _PIECE * 64, piece)
        return d

    def _compile(self) -> None:
        self._lanes = vector_bits() // WORD
        text, widest = source(self.graph, self.root, self._lanes)
        if widest > DOUBLE:
            self._lanes = 1
            text, _ = source(self.graph, self.root, 1)
        kinds = (*[ctypes.c_void_p] * (len(ARRAYS) + 1), ctypes.c_int64, ctypes.c_int64)
        self._kernel = Module(text, {"rows": kinds})


def source(graph: Graph, root: Node, lanes: int) -> tuple[str, int]:
    """The LLVM module with rows(a, b, scale_a, scale_b, c, d, tiles, stride), and its widest lane.

    Words of 64 bits: a, b and scales [K, stride], c and d [stride]; `tiles` times `lanes` rows.
    """
    code = Code(lanes, "v")
    first = code.new(f"mul i64 %tile, {lanes}")
    known: dict[int, LaneValue] = {}
    for full, node in graph.inputs.items():
        name, _, rest = full.partition("[")
        row = code.new(f"mul i64 %stride, {int(rest.rstrip(']') or 0)}")
        at = code.new(f"getelementptr i64, ptr %{name}, i64 {code.new(f'add i64 {row}, {first}')}")
        text = code.new(f"load {code.kind(DOUBLE)}, ptr {at}, align 8")
        known[node.index] = word(code, text, DOUBLE, node.width)
    lowering = Lowering(graph, code, known)
    result = code.operand(code.unsigned(lowering.value_of(root), root.width), DOUBLE)
    body = "\n".join(code.lines)
    pointers = ", ".join(f"ptr noalias %{name}" for name in (*ARRAYS, "d"))
    text = f"""define void @rows({pointers}, i64 %tiles, i64 %stride) {{
entry:
  br label %each
each:
  %tile = phi i64 [ 0, %entry ], [ %next, %each ]
{body}
  %to = getelementptr i64, ptr %d, i64 {first}
  store {code.kind(DOUBLE)} {result}, ptr %to, align 8
  %next = add i64 %tile, 1
  %more = icmp ult i64 %next, %tiles
  br i1 %more, label %each, label %end
end:
  ret void
}}"""
    return text, code.widest
