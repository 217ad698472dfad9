"""Many designs side by side: one graph with shared inputs, evaluated on many operands at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.interp.concrete import Concrete
from tcformal.interp.vector import Vector
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.operands.batch import columns, rows_of
from tcformal.operands.random import Batch
from tcformal.operands.witness import Witness
from tcformal.programs.chain import chained_dot, common_k, declare_inputs
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import oracle_result

#: Results of designs on inputs, raw encodings: [designs, inputs].
Results = NDArray[np.uint64]

#: Inputs evaluated at once: every stage of every design holds one word for each.
_CHUNK = 2048


class Panel:
    """Designs of equal operand formats at their common k.

    Errors: InputError for designs that cannot be chained up to the common k.
    """

    def __init__(self, designs: Sequence[UnitSpec]) -> None:
        self.designs = tuple(designs)
        self.k = common_k(*designs)
        self._graph = Graph()
        x = declare_inputs(self._graph, designs[0], self.k)
        roots = []
        for i, spec in enumerate(designs):
            with self._graph.scope(f"design{i}"):
                roots.append(chained_dot(self._graph, spec, x).result)
        self._roots: list[Node] = roots
        self._integers = Concrete(self._graph, roots)

    def same_definition(self, first: int, second: int) -> bool:
        """Whether two designs build the same DAG, so that no input can tell them apart."""
        return self._roots[first] is self._roots[second]

    def evaluate(self, x: Batch, only: Sequence[int] | None = None) -> Results:
        """The results of every design, or of some, on every dot product of a batch, by lanes."""
        roots = self._roots if only is None else [self._roots[i] for i in only]
        parts: list[Results] = [np.empty((len(roots), 0), np.uint64)]
        for start in range(0, len(x.c), _CHUNK):
            chunk = rows_of(x, np.arange(start, min(start + _CHUNK, len(x.c))))
            lanes = Vector(self._graph, columns(chunk)).run(roots)
            parts.append(np.stack([np.broadcast_to(v, chunk.c.shape).astype(np.uint64) for v in lanes]))
        return np.concatenate(parts, axis=1)

    def integers(self, witness: Witness) -> tuple[int, ...]:
        """Every design's result on integers."""
        return tuple(self._integers(witness.inputs()))

    def oracle(self, witness: Witness) -> tuple[int, ...]:
        """Every design's result on the Fraction oracle."""
        return tuple(oracle_result(spec, witness) for spec in self.designs)

    def question(self, pairs: Iterable[tuple[int, int]]) -> EqualityQuestion:
        """Is there one input that tells every one of the pairs apart?

        Its units and results are those of the first pair.
        """
        g, listed = self._graph, list(pairs)
        differ = g.truth(True)
        for first, second in listed:
            differ = g.and_(differ, g.not_(g.eq(self._roots[first], self._roots[second])))
        first, second = listed[0]
        return EqualityQuestion(
            self.designs[first], self.designs[second], self.k, Assumptions(), g,
            (self._roots[first], self._roots[second]), g.truth(True), differ,
        )  # fmt: skip

    def step(self, pair: tuple[int, int]) -> int:
        """The fewest products after which both designs hand their whole state on as a c.

        Designs that agree on so many products agree on all: induction over the steps.  The common k
        where the result is no c, or scales would be cut.
        """
        specs = [self.designs[i] for i in pair]
        if specs[0].operands.c != specs[0].operands.d or specs[0].scale_format is not None:
            return self.k
        return math.lcm(*(_block(spec) for spec in specs))

    def short_question(self, pair: tuple[int, int]) -> EqualityQuestion:
        """Do two of the designs differ on the products of one `step`?"""
        specs = [self.designs[i] for i in pair]
        short = [spec if _block(spec) == spec.k else replace(spec, k=_block(spec)) for spec in specs]
        return question(short[0], short[1], Assumptions())


def _block(spec: UnitSpec) -> int:
    """Products after which a design hands its whole state on as a c."""
    return spec.k if spec.emulation is not None else min(spec.k, spec.design.products)
