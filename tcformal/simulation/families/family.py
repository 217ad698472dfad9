"""A parametric family: designs that differ in some parameters, as one DAG with the parameters as inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.known import KnownBits, known_bits
from tcformal.backends.vector import Lanes, evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import specialised
from tcformal.simulation.operands.batch import columns, rows_of
from tcformal.simulation.operands.random import Batch, Raw

#: Designs as one index per axis: [n, axes].
Designs = NDArray[np.int16]
#: Lanes that are evaluated at once: as many as caches hold.
_LANES = 1 << 13


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter of a family and the texts of its possible values."""

    name: str
    values: tuple[str, ...]

    def inputs(self) -> list[str]:
        """The names of the one-hot inputs, u[1] each: one per value but the last."""
        return [f"{self.name}={value}" for value in self.values[:-1]]


@dataclass(frozen=True, slots=True)
class Family:
    """A parametric family: the designs of one structure.

    Shapes: inputs of `graph`: those of a dot product, and those of each axis; `root`: the result.
    """

    graph: Graph
    root: Node
    axes: tuple[Axis, ...]
    #: The name of the design with those values, in the order of the axes.
    named: Callable[[Sequence[str]], str]

    @property
    def size(self) -> int:
        """The number of designs, that is of combinations of values."""
        count = 1
        for axis in self.axes:
            count *= len(axis.values)
        return count

    def name(self, design: Sequence[int]) -> str:
        """The name of a design given by the index of its value on each axis."""
        return self.named([axis.values[i] for axis, i in zip(self.axes, design, strict=True)])

    def outputs(self, designs: Designs, batch: Batch) -> Raw:
        """The results of each design for each dot product: raw encodings [designs, rows]."""
        rows = len(batch.c)
        results = []
        each = max(1, _LANES // max(1, rows))
        for start in range(0, len(designs), each):
            some = designs[start : start + each]
            inputs = {name: np.tile(x, len(some)) for name, x in columns(batch).items()}
            inputs |= self._parameters(np.repeat(some, rows, axis=0))
            results.append(
                evaluate(self.graph, self.root, inputs, n=len(some) * rows).reshape(len(some), rows)
            )
        return np.concatenate(results) if results else np.zeros((0, rows), np.uint64)

    def known(
        self, designs: Designs, batch: Batch, row: int | NDArray[np.intp], unknown: NDArray[np.bool_]
    ) -> KnownBits:
        """The known bits of each design's result for one dot product, with the parameters `unknown` left
        open.

        Shapes: row: one row of the batch for all designs, or [designs]; unknown: [designs, axes], or
        [1, axes] for every design.
        """
        values, masks = [], []
        for start in range(0, len(designs), _LANES):
            some = slice(start, start + _LANES)
            at = slice(row, row + 1) if isinstance(row, int) else row[some]
            hidden = unknown if len(unknown) == 1 else unknown[some]
            given = columns(rows_of(batch, at)) | self._parameters(designs[some])
            made = known_bits(self.graph, self.root, given, self._hidden(hidden))
            count = len(designs[some])
            values.append(np.broadcast_to(made.value, (count,)))
            masks.append(np.broadcast_to(made.unknown, (count,)))
        return KnownBits(np.concatenate(values), np.concatenate(masks))

    def at(self, batch: Batch, row: int) -> Family:
        """The family restricted to one dot product's operands: a smaller DAG for questions about it."""
        inputs = {name: int(x[0]) for name, x in columns(rows_of(batch, slice(row, row + 1))).items()}
        graph, root = specialised(self.graph, self.root, inputs)
        return replace(self, graph=graph, root=root)

    def parameters(self, design: NDArray[np.int16]) -> dict[str, int]:
        """The values of the axes' inputs for one design, by input name."""
        return {
            name: int(design[column] == i)
            for column, axis in enumerate(self.axes)
            for i, name in enumerate(axis.inputs())
        }

    def _parameters(self, designs: Designs) -> dict[str, Lanes]:
        return {
            name: (designs[:, column] == i).astype(np.uint64)
            for column, axis in enumerate(self.axes)
            for i, name in enumerate(axis.inputs())
        }

    def _hidden(self, unknown: NDArray[np.bool_]) -> Mapping[str, Lanes]:
        return {
            name: unknown[:, column]
            for column, axis in enumerate(self.axes)
            if unknown[:, column].any()
            for name in axis.inputs()
        }
