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
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.semantics.chain import chained_dot, common_k, declare_inputs
from tcformal.simulation.operands.batch import Batch, Raw, columns, rows_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.simulation.structures import Designs, Family, parametric_family, point_of, structure_of

#: Inputs evaluated at once on DAGs of single designs: every stage of each holds one word for each.
_CHUNK = 2048
#: Designs of one structure from which on a DAG of all of them is worth its parameters.
_MANY = 4


class Panel:
    """Designs with equal operand formats at their common k.

    Designs that are no trees of sums, and single ones of their structure, have DAGs of their own.
    Errors: InputError for designs that cannot be chained up to the common k.
    """

    def __init__(self, designs: Sequence[UnitSpec]) -> None:
        self.designs, self.k = tuple(designs), common_k(*designs)
        self._graph = Graph()
        self._inputs = declare_inputs(self._graph, designs[0], self.k)
        self._roots: dict[int, Node] = {}
        self._families: list[tuple[Family, NDArray[np.intp], Designs]] = []
        self._integers: dict[int, Concrete] = {}
        by_structure: dict[Hashable, list[tuple[int, UnitSpec]]] = defaultdict(list)
        for i, unit in enumerate(self.designs):
            if (tree := tree_of(unit, self.k)) is not None:
                by_structure[structure_of(tree)].append((i, tree))
        for listed in (listed for listed in by_structure.values() if len(listed) >= _MANY):
            points = [point_of(tree) for _, tree in listed]
            values = {name: tuple(dict.fromkeys(point[name] for point in points)) for name in points[0]}
            family = parametric_family(listed[0][1], values)
            rows = [[axis.values.index(point[axis.name]) for axis in family.axes] for point in points]
            self._families.append(
                (family, np.array([i for i, _ in listed], np.intp), np.array(rows, np.int16))
            )
        placed = {i for _, listed, _ in self._families for i in listed.tolist()}
        #: Designs with DAGs of their own.
        self._single = [i for i in range(len(designs)) if i not in placed]

    def same_definition(self, first: int, second: int) -> bool:
        """Whether two designs build the same DAG, so that no input can tell them apart."""
        return self.root(first) is self.root(second)

    def root(self, i: int) -> Node:
        """The result of one design in a shared DAG: equal definitions share one node."""
        if i not in self._roots:
            with self._graph.scope(f"design{i}"):
                self._roots[i] = chained_dot(self._graph, self.designs[i], self._inputs).result
        return self._roots[i]

    def evaluate(self, x: Batch, only: Sequence[int] | None = None) -> Raw:
        """The results of the designs `only`, by default all, by lanes: raw encodings [designs, rows]."""
        wanted = list(range(len(self.designs)) if only is None else only)
        results = np.zeros((len(wanted), len(x.c)), np.uint64)
        # The row of each design that is wanted, -1 of the others.
        at = np.full(len(self.designs), -1)
        at[wanted] = np.arange(len(wanted))
        for family, listed, points in self._families:
            rows = at[listed] >= 0
            if rows.any():
                results[at[listed[rows]]] = family.outputs(points[rows], x)
        single = [i for i in self._single if at[i] >= 0]
        roots = [self.root(i) for i in single]
        for start in range(0, len(x.c) if single else 0, _CHUNK):
            chunk = rows_of(x, np.arange(start, min(start + _CHUNK, len(x.c))))
            lanes = Vector(self._graph, columns(chunk)).run(roots)
            for i, lane in zip(single, lanes, strict=True):
                results[at[i], start : start + _CHUNK] = lane
        return results

    def integers(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of the designs `only`, by default all, on integers."""
        only = range(len(self.designs)) if only is None else only
        inputs, asked = witness.inputs(), set(only)
        results: dict[int, int] = {}
        for at, (family, listed, points) in enumerate(self._families):
            for i, point in zip(listed.tolist(), points, strict=True):
                if i in asked:
                    (results[i],) = self._evaluator(at)(inputs | family.parameters(point))
        if asked & set(self._single):
            results |= dict(zip(self._single, self._evaluator(-1)(inputs), strict=True))
        return tuple(results[i] for i in only)

    def _evaluator(self, at: int) -> Concrete:
        """An integer evaluator of one family's DAG, or for -1 of the designs that have DAGs of their own."""
        if at not in self._integers:
            family = self._families[at][0] if at >= 0 else None
            graph, roots = (
                (self._graph, [*map(self.root, self._single)])
                if family is None
                else (family.graph, [family.root])
            )
            self._integers[at] = Concrete(graph, roots)
        return self._integers[at]

    def oracle(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of the designs `only`, by default all, on the Fraction oracle."""
        asked = range(len(self.designs)) if only is None else only
        return tuple(oracle_result(self.designs[i], witness) for i in asked)

    def question(self, pairs: Iterable[tuple[int, int]]) -> EqualityQuestion:
        """The question whether one input distinguishes all of the pairs at once.

        Its units and results are those of the first pair.
        """
        g, listed = self._graph, list(pairs)
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
