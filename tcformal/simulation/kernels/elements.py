"""Definitions evaluated on arrays, element by element; of many elements they are compiled."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcformal.backends.lanes import DOUBLE, WORD, Code, LaneValue
from tcformal.backends.llvm import Lowering, LoweringRule
from tcformal.backends.machine import Module, available, vector_bits
from tcformal.backends.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.simulation.kernels.rules import declarations, loop
from tcformal.simulation.kernels.source import control, in_lanes, word
from tcformal.simulation.kernels.threads import Words, Work

#: Elements of one definition that are evaluated on lanes before it is compiled: either takes about as long.
_WORTH_COMPILING = 1 << 16
#: What an evaluation on lanes costs at least, in elements.
_CALL = 1 << 9
#: What an element costs, in multiply–adds of a unit.
_COST = 16
#: Elements that one thread evaluates at once.
_FEW = 1 << 12


@dataclass(slots=True)
class Elements:
    """A scalar definition that is evaluated on every element of arrays.

    Shapes: inputs `names` of `graph`, each one word an element.
    Ranges and units: `storage`: bits of an element of each input in memory, and of the result: 8, 16, 32, 64.
    """

    graph: Graph
    root: Node
    names: tuple[str, ...]
    storage: tuple[int, ...]
    result: int
    #: How compiled code makes some nodes' values, by index; the others' as their operators say.
    rules: Mapping[int, LoweringRule] = field(default_factory=dict)
    #: Elements evaluated so far, those of an evaluation of few as `_CALL`.
    seen: int = 0
    #: Kernels and their lanes, by which inputs are one word for all elements of a row.
    _kernels: dict[tuple[bool, ...], tuple[Any, int]] = field(default_factory=dict)

    def __call__(self, given: Sequence[Words], shape: tuple[int, ...], threads: int | None = None) -> Words:
        """The results on arrays that broadcast to `shape`: unsigned integers of the result's storage.

        Errors: none for words that fit their formats; nothing is modified.
        """
        n = math.prod(shape)
        self.seen += max(n, _CALL)
        if available() and (self.seen >= _WORTH_COMPILING or self._kernels):
            return self._compiled(given, shape, threads)
        flat = [np.broadcast_to(x, shape).reshape(-1) for x in given]
        made = evaluate(self.graph, self.root, dict(zip(self.names, flat, strict=True)), n=n)
        return made.astype(f"u{self.result // 8}").reshape(shape)

    def _compiled(self, given: Sequence[Words], shape: tuple[int, ...], threads: int | None) -> Words:
        arrays, rows, columns = self._rows(given, shape)
        single = tuple(x.shape[1] == 1 for x in arrays)
        if single not in self._kernels:
            self._kernels[single] = self._compile(single)
        kernel, lanes = self._kernels[single]
        d = np.empty((rows, columns), f"u{self.result // 8}")
        tiles, rest = divmod(columns, lanes)

        def run(first: int, last: int, begin: int, count: int, xs: Sequence[Words], to: Words) -> None:
            at = [
                x.ctypes.data + first * x.strides[0] * (x.shape[0] > 1) + (0 if one else begin * x.itemsize)
                for x, one in zip(xs, single, strict=True)
            ]
            apart = [x.strides[0] // x.itemsize if x.shape[0] > 1 else 0 for x in (*xs, to)]
            out = to.ctypes.data + first * to.strides[0] + begin * to.itemsize
            kernel.apply(*at, out, last - first, count, *apart)

        if tiles and rows == 1 and columns <= _FEW:
            # Many small steps of a program: sharing them out would take longer than the work.
            run(0, 1, 0, tiles, arrays, d)
        elif tiles:
            cost = _COST * lanes * (1 if rows == 1 else tiles)
            with Work(threads, progress=False) as work:
                if rows == 1:
                    work.split(tiles, cost, lambda x: run(0, 1, x.start * lanes, x.stop - x.start, arrays, d))
                else:
                    work.split(rows, cost, lambda x: run(x.start, x.stop, 0, tiles, arrays, d))
        if rest and tiles:
            # As many lanes as others, some of them again.
            run(0, rows, columns - lanes, 1, arrays, d)
        elif rest:
            ends = []
            for x, one in zip(arrays, single, strict=True):
                end = np.zeros((x.shape[0], 1 if one else lanes), x.dtype)
                end[:, : 1 if one else rest] = x if one else x[:, -rest:]
                ends.append(end)
            last = np.empty((rows, lanes), d.dtype)
            run(0, rows, 0, 1, ends, last)
            d[:, -rest:] = last[:, :rest]
        return d.reshape(shape)

    def _rows(self, given: Sequence[Words], shape: tuple[int, ...]) -> tuple[list[Words], int, int]:
        """The arrays as matrices, with broadcast axes of length 1, and the common numbers of rows and
        columns."""
        n = math.prod(shape)
        if len(shape) == 3 and shape[2] == 1 and any(x.size > 1 and x.shape != shape for x in given):
            whole = [x if x.ndim == len(shape) else np.broadcast_to(x, shape) for x in given]
            kept, (rows, columns) = [x[:, :, 0] for x in whole], shape[:2]
        else:
            kept = [x if x.size == 1 else np.broadcast_to(x, shape) for x in given]
            kept, rows, columns = [x.reshape(1, min(x.size, n)) for x in kept], 1, n
        arrays = zip(kept, self.storage, strict=True)
        return [np.ascontiguousarray(x, f"u{bits // 8}") for x, bits in arrays], rows, columns

    def _compile(self, single: tuple[bool, ...]) -> tuple[Any, int]:
        lanes = vector_bits() // WORD
        text, widest = self._source(single, lanes)
        if widest > DOUBLE:
            # No processor has lanes for wider integers: one at a time is the fastest.
            lanes = 1
            text, _ = self._source(single, 1)
        kinds = (*[ctypes.c_void_p] * (len(single) + 1), *[ctypes.c_int64] * (len(single) + 3))
        return Module(text, {"apply": kinds}), lanes

    def _source(self, single: tuple[bool, ...], lanes: int) -> tuple[str, int]:
        """The LLVM module with apply(inputs…, d, rows, tiles, strides…, stride of d), and its widest lane."""
        once, code = Code(lanes, "r"), Code(lanes, "v")
        first = code.new(f"mul i64 %tile, {lanes}")
        known: dict[int, LaneValue] = {}
        for i, (name, bits, one) in enumerate(zip(self.names, self.storage, single, strict=True)):
            node = self.graph.inputs.get(name)
            if node is None:
                continue
            row = once.new(f"getelementptr i{bits}, ptr %x{i}, i64 {once.new(f'mul i64 %row, %s{i}')}")
            if one:
                text = in_lanes(once, once.new(f"load i{bits}, ptr {row}, align {bits // 8}"), bits)
            else:
                at = code.new(f"getelementptr i{bits}, ptr {row}, i64 {first}")
                text = code.new(f"load {code.kind(bits)}, ptr {at}, align {bits // 8}")
            known[node.index] = word(code, text, bits, node.width)
        to = once.new(f"getelementptr i{self.result}, ptr %d, i64 {once.new('mul i64 %row, %sd')}")
        lowering = Lowering(self.graph, code, known, self.rules)
        result = code.operand(code.unsigned(lowering.value_of(self.root), self.root.width), self.result)
        body = "\n".join(code.lines)
        enter, leave = control(body)
        inputs = range(len(single))
        pointers = ", ".join([*(f"ptr noalias %x{i}" for i in inputs), "ptr noalias %d"])
        strides = ", ".join([*(f"i64 %s{i}" for i in inputs), "i64 %sd"])
        begin = "\n".join(once.lines)
        tile = f"""{body}
  %to = getelementptr i{self.result}, ptr {to}, i64 {first}
  store {code.kind(self.result)} {result}, ptr %to, align {self.result // 8}"""
        row = f"""{begin}
{loop("tile", "each_row", "%tiles", tile)}"""
        text = f"""define void @apply({pointers}, i64 %rows, i64 %tiles, {strides}) {{
entry:
{enter}
{loop("row", "entry", "%rows", row)}
{leave}
  ret void
}}"""
        return f"{text}\n{declarations(text)}", code.widest
