"""Many designs side by side: evaluated on many operands at once, and questions about pairs of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.ir.node import Node
from tcformal.programs.chain import common_k
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.replay import oracle_result
from tcformal.simulation.families.members import Members
from tcformal.simulation.operands.random import Batch
from tcformal.simulation.operands.witness import Witness

#: Results of designs on inputs, raw encodings: [designs, inputs].
Results = NDArray[np.uint64]


class Panel:
    """Designs of equal operand formats at their common k.

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
        """The result of one design, in a DAG that all share: designs of one definition have one node."""
        return self._members.root(i)

    def evaluate(self, x: Batch, only: Sequence[int] | None = None) -> Results:
        """The results of every design, or of some, on every dot product of a batch, by lanes."""
        return self._members.outputs(x, only)

    def integers(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of every design, or of some, on integers."""
        return self._members.integers(witness, range(len(self.designs)) if only is None else only)

    def oracle(self, witness: Witness, only: Sequence[int] | None = None) -> tuple[int, ...]:
        """The results of every design, or of some, on the Fraction oracle."""
        asked = range(len(self.designs)) if only is None else only
        return tuple(oracle_result(self.designs[i], witness) for i in asked)

    def question(self, pairs: Iterable[tuple[int, int]]) -> EqualityQuestion:
        """Is there one input that tells every one of the pairs apart?

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
