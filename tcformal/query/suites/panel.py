"""A panel of designs: they are evaluated together on many operands, and compared in pairs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import chained_dot, common_k, declare_inputs
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import oracle_result
from tcformal.simulation.families.family import Designs, Family
from tcformal.simulation.families.structures import parametric_family, point_of, structure_of
from tcformal.simulation.operands.batch import columns, rows_of
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness

#: Inputs evaluated at once on DAGs of single designs: every stage of each holds one word for each.
_CHUNK = 2048
#: Designs of one structure from which on a DAG of all of them is worth its parameters.
_MANY = 4


class Members:
    """Designs with equal operand formats, for dot products of k terms.

    Designs that are no trees of sums, and single ones of their structure, have DAGs of their own.
    """

    def __init__(self, designs: Sequence[UnitSpec], k: int) -> None:
        self.designs, self.k = tuple(designs), k
        self._graph = Graph()
        self._inputs = declare_inputs(self._graph, designs[0], k)
        self._roots: dict[int, Node] = {}
        self._families: list[tuple[Family, NDArray[np.intp], Designs]] = []
        self._integers: dict[int, Concrete] = {}
        for listed, trees in self._structures():
            points = [point_of(u) for u in trees]
            values = {name: tuple(dict.fromkeys(point[name] for point in points)) for name in points[0]}
            family = parametric_family(trees[0], values)
            rows = [[axis.values.index(point[axis.name]) for axis in family.axes] for point in points]
            self._families.append((family, np.array(listed, np.intp), np.array(rows, np.int16)))
        placed = {i for _, listed, _ in self._families for i in listed.tolist()}
        #: Designs with DAGs of their own.
        self._single = [i for i in range(len(designs)) if i not in placed]

    def _structures(self) -> list[tuple[list[int], list[UnitSpec]]]:
        """The designs grouped by structures with many designs, and the trees."""
        by_structure: dict[Hashable, list[tuple[int, UnitSpec]]] = defaultdict(list)
        for i, unit in enumerate(self.designs):
            if (tree := tree_of(unit, self.k)) is not None:
                by_structure[structure_of(tree)].append((i, tree))
        many = [rows for rows in by_structure.values() if len(rows) >= _MANY]
        return [([i for i, _ in rows], [tree for _, tree in rows]) for rows in many]

    def root(self, i: int) -> Node:
        """The result of one design in a shared DAG."""
        if i not in self._roots:
            with self._graph.scope(f"design{i}"):
                self._roots[i] = chained_dot(self._graph, self.designs[i], self._inputs).result
        return self._roots[i]

    @property
    def graph(self) -> Graph:
        """The shared DAG of all `root` nodes."""
        return self._graph

    def outputs(self, x: Batch, only: Sequence[int] | None = None) -> Raw:
        """The results of the designs `only`, by default all: raw encodings [designs, rows]."""
        wanted = list(range(len(self.designs))) if only is None else list(only)
        results = np.zeros((len(wanted), len(x.c)), np.uint64)
        # The row of each design that is wanted, -1 of the others.
        at = np.full(len(self.designs), -1)
        at[wanted] = np.arange(len(wanted))
        for family, listed, points in self._families:
            rows = at[listed] >= 0
            if rows.any():
                results[at[listed[rows]]] = family.outputs(points[rows], x)
        single = [i for i in self._single if at[i] >= 0]
        if single:
            results[at[single]] = self._alone(x, single)
        return results

    def integers(self, witness: Witness, only: Sequence[int]) -> tuple[int, ...]:
        """The results of designs on one witness, on integers."""
        inputs, asked = witness.inputs(), set(only)
        results: dict[int, int] = {}
        for at, (family, listed, points) in enumerate(self._families):
            for i, point in zip(listed.tolist(), points, strict=True):
                if i in asked:
                    run = self._integers.get(at) or self._compiled(at, family.graph, [family.root])
                    (results[i],) = run(inputs | family.parameters(point))
        if asked & set(self._single):
            run = self._integers.get(-1) or self._compiled(-1, self._graph, [*map(self.root, self._single)])
            results |= dict(zip(self._single, run(inputs), strict=True))
        return tuple(results[i] for i in only)

    def _compiled(self, at: int, graph: Graph, roots: Sequence[Node]) -> Concrete:
        """A compiled integer evaluator of a DAG, cached for the next input."""
        return self._integers.setdefault(at, Concrete(graph, roots))

    def _alone(self, x: Batch, single: Sequence[int]) -> Raw:
        """The results of the designs that have DAGs of their own."""
        roots = [self.root(i) for i in single]
        parts: list[Raw] = [np.empty((len(roots), 0), np.uint64)]
        for start in range(0, len(x.c), _CHUNK):
            chunk = rows_of(x, np.arange(start, min(start + _CHUNK, len(x.c))))
            lanes = Vector(self._graph, columns(chunk)).run(roots)
            parts.append(np.stack([np.broadcast_to(v, chunk.c.shape).astype(np.uint64) for v in lanes]))
        return np.concatenate(parts, axis=1)


class Panel:
    """Designs with equal operand formats at their common k.

    Errors: InputError for designs that cannot be chained up to the common k.
    """

    def __init__(self, designs: Sequence[UnitSpec]) -> None:
        self.designs = tuple(designs)
        self.k = common_k(*designs)
        self._members = Members(self.designs, self.k)

    def same_definition(self, first: int, second: int) -> bool:
        """Whether two designs build the same DAG, so that no input can tell them apart."""
        return self.root(first) is self.root(second)

    def root(self, i: int) -> Node:
        """The result of one design in a shared DAG: equal definitions share one node."""
        return self._members.root(i)

    def evaluate(self, x: Batch, only: Sequence[int] | None = None) -> Raw:
        """The results of the designs `only`, by default all, on a batch, by lanes: [designs, inputs]."""
        return self._members.outputs(x, only)

    def integers(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of the designs `only`, by default all, on integers."""
        return self._members.integers(witness, range(len(self.designs)) if only is None else only)

    def oracle(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of the designs `only`, by default all, on the Fraction oracle."""
        asked = range(len(self.designs)) if only is None else only
        return tuple(oracle_result(self.designs[i], witness) for i in asked)

    def question(self, pairs: Iterable[tuple[int, int]]) -> EqualityQuestion:
        """The question whether one input distinguishes all of the pairs at once.

        Its units and results are those of the first pair.
        """
        g, listed = self._members.graph, list(pairs)
        differ = g.truth(True)
        for first, second in listed:
            differ = g.and_(differ, g.not_(g.eq(self.root(first), self.root(second))))
        first, second = listed[0]
        return EqualityQuestion(
            self.designs[first], self.designs[second], self.k, Assumptions(), g,
            (self.root(first), self.root(second)), g.truth(True), differ,
        )  # fmt: skip

    def step(self, pair: tuple[int, int]) -> int:
        """The fewest products after which both designs pass on their whole state as a c.

        Designs that agree on so many products agree on all: induction over the steps.  The common k
        where the result is no c, or scales would be cut.
        """
        specs = [self.designs[i] for i in pair]
        if specs[0].operands.c != specs[0].operands.d or specs[0].scale_format is not None:
            return self.k
        return math.lcm(*(_block(spec) for spec in specs))

    def short_question(self, pair: tuple[int, int]) -> EqualityQuestion:
        """The question whether two designs differ on the products of one `step`."""
        specs = [self.designs[i] for i in pair]
        short = [spec if _block(spec) == spec.k else replace(spec, k=_block(spec)) for spec in specs]
        return question(short[0], short[1], Assumptions())


def _block(spec: UnitSpec) -> int:
    """The number of products after which a design passes on its whole state as a c."""
    return spec.k if spec.emulation is not None else min(spec.k, spec.design.products)
