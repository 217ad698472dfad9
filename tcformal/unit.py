"""The public face of a unit: its facts, and its arithmetic on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.design.catalog import catalogue
from tcformal.design.names import resolve
from tcformal.design.spec import Design
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.interp.vector import evaluate
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.semantics.mma import dot

Raw = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Unit:
    """A matrix unit or design, by name."""

    spec: UnitSpec

    @property
    def name(self) -> str:
        """The name by which this unit was asked for."""
        return self.spec.name

    @property
    def m(self) -> int:
        """Rows of A and D."""
        return self.spec.m

    @property
    def n(self) -> int:
        """Columns of B and D."""
        return self.spec.n

    @property
    def k(self) -> int:
        """Products per element of D."""
        return self.spec.k

    @property
    def a_format(self) -> Format:
        """Format of A's elements."""
        return self.spec.operands.a

    @property
    def b_format(self) -> Format:
        """Format of B's elements."""
        return self.spec.operands.b

    @property
    def c_format(self) -> Format:
        """Format of C's elements."""
        return self.spec.operands.c

    @property
    def d_format(self) -> Format:
        """Format of D's elements."""
        return self.spec.operands.d

    @property
    def design(self) -> Design:
        """The parameters of its arithmetic."""
        return self.spec.design

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the parameters come from."""
        return self.spec.sources

    def dot_bits(self, a: Raw, b: Raw, c: Raw) -> Raw:
        """d = Σ a_k·b_k + c on raw encodings, one dot product per row.

        Shapes: a, b: [n, K] with K a multiple of the unit's block; c: [n]; result [n].
        Ranges and units: unsigned integers below 2^width of each format; the result's dtype is the
        smallest unsigned one that holds the D format.  The inputs are not modified.
        Zero, NaN, Inf: as the design says; every NaN result is the design's NaN word.
        Errors: InputError for a shape, dtype or encoding that does not fit.
        Source: the unit's own (`sources`).
        """
        a, b, c = (np.asarray(x) for x in (a, b, c))
        if a.ndim != 2 or a.shape != b.shape or c.shape != a.shape[:1]:
            raise InputError(
                "expected a and b of one shape [n, K] and c of shape [n], "
                f"but got {list(a.shape)}, {list(b.shape)} and {list(c.shape)}"
            )
        graph, root = circuit(self.spec, a.shape[1])
        inputs: dict[str, Raw] = {"c": c}
        for i in range(a.shape[1]):
            inputs[f"a[{i}]"] = a[:, i]
            inputs[f"b[{i}]"] = b[:, i]
        lanes = evaluate(graph, root, inputs, n=len(c))
        return lanes.astype(f"u{self.d_format.storage_bits // 8}")


def input_names(k: int) -> list[str]:
    """The names of a dot product's inputs: a[0], b[0], a[1], …, c."""
    return [f"{x}[{i}]" for i in range(k) for x in "ab"] + ["c"]


def declare_inputs(g: Graph, spec: UnitSpec, k: int) -> tuple[list[Node], list[Node], Node]:
    """The inputs of one dot product of `spec` in a graph: a, b: [K] nodes, c: one node."""
    a, b = [], []
    for i in range(k):
        a.append(g.input(f"a[{i}]", spec.operands.a.width))
        b.append(g.input(f"b[{i}]", spec.operands.b.width))
    return a, b, g.input("c", spec.operands.c.width)


@lru_cache(maxsize=64)
def circuit(spec: UnitSpec, k: int) -> tuple[Graph, Node]:
    """The definition of one dot product of K products: a graph of its own and the node of d."""
    g = Graph()
    a, b, c = declare_inputs(g, spec, k)
    return g, dot(g, spec.design, spec.operands, a, b, c)


def unit(name: str) -> Unit:
    """The unit or design of that name: `UNIT`, `UNIT@name=value,…` or `FAMILY@name=value,…`.

    Errors: UnknownNameError naming the closest names; InputError for a value that does not fit.
    """
    return Unit(resolve(name))


def units() -> list[str]:
    """The names of all catalogued units."""
    return list(catalogue())
