"""Designs listed by name on many operands: those of one structure by one DAG, with parameters as inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.simulation.families.family import Designs, World
from tcformal.simulation.families.opened import point_of, structure_of, world_of
from tcformal.simulation.operands.batch import columns, rows_of
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness

#: Inputs evaluated at once on DAGs of single designs: every stage of each holds one word for each.
_CHUNK = 2048
#: Designs of one structure from which on a DAG of all of them is worth its parameters.
_MANY = 4


class Members:
    """Designs of equal operand formats, for dot products of k terms.

    Designs that are no trees of sums, and single ones of their structure, have DAGs of their own.
    """

    def __init__(self, designs: Sequence[UnitSpec], k: int) -> None:
        self.designs, self.k = tuple(designs), k
        self._graph = Graph()
        self._inputs = declare_inputs(self._graph, designs[0], k)
        self._roots: dict[int, Node] = {}
        self._worlds: list[tuple[World, NDArray[np.intp], Designs]] = []
        self._integers: dict[int, Concrete] = {}
        for listed, trees in self._structures():
            points = [point_of(u) for u in trees]
            values = {name: tuple(dict.fromkeys(point[name] for point in points)) for name in points[0]}
            world = world_of(trees[0], values)
            rows = [[axis.values.index(point[axis.name]) for axis in world.axes] for point in points]
            self._worlds.append((world, np.array(listed, np.intp), np.array(rows, np.int16)))
        placed = {i for _, listed, _ in self._worlds for i in listed.tolist()}
        #: Designs with DAGs of their own.
        self._single = [i for i in range(len(designs)) if i not in placed]

    def _structures(self) -> list[tuple[list[int], list[UnitSpec]]]:
        """The designs of each structure that has many, and their trees."""
        found: dict[Hashable, list[tuple[int, UnitSpec]]] = defaultdict(list)
        for i, unit in enumerate(self.designs):
            if (tree := tree_of(unit, self.k)) is not None:
                found[structure_of(tree)].append((i, tree))
        many = [rows for rows in found.values() if len(rows) >= _MANY]
        return [([i for i, _ in rows], [tree for _, tree in rows]) for rows in many]

    def root(self, i: int) -> Node:
        """The result of one design in a DAG that all designs share."""
        if i not in self._roots:
            with self._graph.scope(f"design{i}"):
                self._roots[i] = chained_dot(self._graph, self.designs[i], self._inputs).result
        return self._roots[i]

    @property
    def graph(self) -> Graph:
        """The DAG of `root`."""
        return self._graph

    def outputs(self, x: Batch, only: Sequence[int] | None = None) -> Raw:
        """What designs, all unless some are named, give for each dot product: [designs, rows]."""
        wanted = list(range(len(self.designs))) if only is None else list(only)
        made = np.zeros((len(wanted), len(x.c)), np.uint64)
        # The row of each design that is wanted, -1 of the others.
        at = np.full(len(self.designs), -1)
        at[wanted] = np.arange(len(wanted))
        for world, listed, points in self._worlds:
            rows = at[listed] >= 0
            if rows.any():
                made[at[listed[rows]]] = world.outputs(points[rows], x)
        single = [i for i in self._single if at[i] >= 0]
        if single:
            made[at[single]] = self._alone(x, single)
        return made

    def integers(self, witness: Witness, only: Sequence[int]) -> tuple[int, ...]:
        """Designs' results on integers."""
        inputs, asked = witness.inputs(), set(only)
        made: dict[int, int] = {}
        for at, (world, listed, points) in enumerate(self._worlds):
            for i, point in zip(listed.tolist(), points, strict=True):
                if i in asked:
                    run = self._integers.get(at) or self._compiled(at, world.graph, [world.root])
                    (made[i],) = run(inputs | world.parameters(point))
        if asked & set(self._single):
            run = self._integers.get(-1) or self._compiled(-1, self._graph, [*map(self.root, self._single)])
            made |= dict(zip(self._single, run(inputs), strict=True))
        return tuple(made[i] for i in only)

    def _compiled(self, at: int, graph: Graph, roots: Sequence[Node]) -> Concrete:
        """A DAG on integers, kept for the next input."""
        return self._integers.setdefault(at, Concrete(graph, roots))

    def _alone(self, x: Batch, single: Sequence[int]) -> Raw:
        """What designs give that have DAGs of their own."""
        roots = [self.root(i) for i in single]
        parts: list[Raw] = [np.empty((len(roots), 0), np.uint64)]
        for start in range(0, len(x.c), _CHUNK):
            chunk = rows_of(x, np.arange(start, min(start + _CHUNK, len(x.c))))
            lanes = Vector(self._graph, columns(chunk)).run(roots)
            parts.append(np.stack([np.broadcast_to(v, chunk.c.shape).astype(np.uint64) for v in lanes]))
        return np.concatenate(parts, axis=1)
