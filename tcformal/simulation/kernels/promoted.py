"""Two-level accumulation in a product kernel: full accumulators are added to a sum and restart at zero.

Without this fusion each accumulator is a matrix product of its own, written to memory and read again for the
sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tcformal.backends.lanes import WORD, Code, LaneValue
from tcformal.backends.llvm import Lowering, LoweringRule
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.simulation.kernels.work import Words

#: Bytes of a factor in memory.
BYTES = WORD // 8


@dataclass(frozen=True, slots=True)
class Promotion:
    """The rule by which a full accumulator is added to the running sum.

    Shapes: inputs `total` and `full` of `graph`, and one word for each factor: factors of side a are those of
    a row of A, of side b those of a column of B.
    Ranges and units: an accumulator is full after `steps` calls, or at the end of K; factors have at most 32
    bits, `total`, `full` and the result those of d.
    """

    graph: Graph
    root: Node
    steps: int
    #: The inputs that are factors, by side, in the order in which they lie in memory.
    factors: Mapping[str, tuple[str, ...]]
    #: How compiled code makes some nodes' values, by index; the others' as their operators say.
    rules: Mapping[int, LoweringRule] = field(default_factory=dict)

    def sum(
        self, code: Code, total: LaneValue, full: LaneValue, factors: Mapping[str, LaneValue]
    ) -> LaneValue:
        """The running sum after a full accumulator is added."""
        inputs = self.graph.inputs
        operands = {"total": total, "full": full, **factors}
        values = {inputs[name].index: x for name, x in operands.items() if name in inputs}
        return code.unsigned(
            Lowering(self.graph, code, values, self.rules).value_of(self.root), self.root.width
        )


@dataclass(frozen=True, slots=True)
class Factors:
    """The scale factors of all accumulators, in the kernel's memory layout.

    Shapes: rows [rows, accumulators, factors] of the side that is spread, lanes [accumulators, factors, whole
    tiles] of the other one: words of 32 bits, each without gaps.
    """

    rows: Words
    lanes: Words

    def arguments(self, row: int, column: int, accumulator: int) -> tuple[Any, ...]:
        """The kernel's arguments for a row, a column and an accumulator: addresses, and strides in bytes."""
        row_bytes, lane_bytes = self.rows.strides[0], self.lanes.strides[0]
        return (
            self.rows.ctypes.data + row * row_bytes + accumulator * self.rows.strides[1],
            self.lanes.ctypes.data + accumulator * lane_bytes + column * BYTES,
            row_bytes,
            lane_bytes,
        )


def factors_in_memory(
    p: Promotion, given: Mapping[str, list[Words]], rows_of: str, sizes: tuple[int, int, int]
) -> Factors:
    """The factors of each side, copied into the kernel's memory layout.

    Shapes: given: for each factor's name one array for each accumulator, of as many words as its side has
    rows (or columns), or of one; `rows_of`: the side that is spread; sizes: its rows, the whole tiles of the
    other one, and accumulators.
    """
    rows, columns, count = sizes
    other = "b" if rows_of == "a" else "a"
    high = np.zeros((rows, count, len(p.factors[rows_of])), np.uint32)
    wide = np.zeros((count, len(p.factors[other]), columns), np.uint32)
    for i, name in enumerate(p.factors[rows_of]):
        for n, x in enumerate(given[name]):
            high[:, n, i] = x
    for i, name in enumerate(p.factors[other]):
        for n, x in enumerate(given[name]):
            wide[n, i, : x.size if x.size > 1 else columns] = x
    return Factors(high, wide)


def loaded(code: Code, p: Promotion, rows_of: str, places: tuple[str, str, str]) -> dict[str, LaneValue]:
    """Load the factors of one row and one tile.

    Shapes: places: the registers with the addresses of the row's factors and of the tile's, and with the
    bytes from one factor of the tile to the next.
    """
    row, tile, apart = places
    found: dict[str, LaneValue] = {}
    kind = code.kind(WORD)
    for side, names in p.factors.items():
        for i, name in enumerate(names):
            if side == rows_of:
                at = code.new(f"getelementptr i{WORD}, ptr {row}, i64 {i}")
                text = code.new(f"load i{WORD}, ptr {at}, align {BYTES}")
                if code.lanes > 1:
                    first = code.new(f"insertelement {kind} poison, i{WORD} {text}, i64 0")
                    zero = f"<{code.lanes} x i32> zeroinitializer"
                    text = code.new(f"shufflevector {kind} {first}, {kind} poison, {zero}")
            else:
                at = code.new(f"getelementptr i8, ptr {tile}, i64 {code.new(f'mul i64 {apart}, {i}')}")
                text = code.new(f"load {kind}, ptr {at}, align {BYTES}")
            width = p.graph.inputs[name].width if name in p.graph.inputs else WORD
            found[name] = code.value(text, 0, (1 << width) - 1, WORD)
    return found
