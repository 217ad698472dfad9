"""A question about two units: one graph with shared inputs, both results, and what is assumed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest
from tcformal.query.assumptions import Assumptions, assume
from tcformal.semantics.mma import dot
from tcformal.unit import declare_inputs

#: Scopes under which the stages of the first and the second unit are labelled.
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Question:
    """Do two units ever differ?

    Shapes: K products; inputs a[0], b[0], …, c are raw encodings shared by both units.
    """

    first: UnitSpec
    second: UnitSpec
    k: int
    assumptions: Assumptions
    graph: Graph
    #: The results of both units, raw encodings of one format.
    results: tuple[Node, Node]
    #: 1 where every assumption holds.
    assumed: Node
    #: 1 where the assumptions hold and the results differ.
    differ: Node

    @property
    def names(self) -> tuple[str, str]:
        """The names of both units."""
        return self.first.name, self.second.name

    @property
    def same_definition(self) -> bool:
        """Whether both units build the same DAG, so that no input can tell them apart."""
        return self.results[0] is self.results[1]

    def digest(self) -> str:
        """SHA-256 of the question's definition."""
        return digest(self.graph, {"assertion": self.differ, "assumed": self.assumed})

    def evaluator(self) -> Concrete:
        """Integers: (assumed, differ, first result, second result) of one set of inputs."""
        return Concrete(self.graph, [self.assumed, self.differ, *self.results])


def question(first: UnitSpec, second: UnitSpec, what: Assumptions) -> Question:
    """Build the question of two units of equal operand formats.

    Shapes: K is the least common multiple of both units' k; a unit with a smaller k is applied to
    consecutive blocks, each taking the previous result as c.
    Errors: InputError where the operand formats differ, or a chain would need C and D of one format.
    """
    pairs = zip("ABCD", _formats(first), _formats(second), strict=True)
    for letter, mine, theirs in pairs:
        if mine != theirs:
            raise InputError(
                f"expected two units of equal operand formats, but {letter} is {mine.name} in {first.name} "
                f"and {theirs.name} in {second.name}"
            )
    k = math.lcm(first.k, second.k)
    for spec in (first, second):
        if spec.k != k and spec.operands.c != spec.operands.d:
            raise InputError(
                f"expected units of equal k, because {spec.name} cannot be chained: "
                f"its C is {spec.operands.c.name} and its D is {spec.operands.d.name}"
            )
    g = Graph()
    a, b, c = declare_inputs(g, first, k)
    results = []
    for side, spec in zip(SIDES, (first, second), strict=True):
        with g.scope(side):
            results.append(chained_dot(g, spec, a, b, c))
    o = first.operands
    words = [*((w, o.a) for w in a), *((w, o.b) for w in b), (c, o.c)]
    assumed = assume(g, what, words, c)
    differ = g.and_(assumed, g.not_(g.eq(results[0], results[1])))
    return Question(first, second, k, what, g, (results[0], results[1]), assumed, differ)


def chained_dot(g: Graph, spec: UnitSpec, a: Sequence[Node], b: Sequence[Node], c: Node) -> Node:
    """The unit applied to consecutive runs of k products, each result the next c."""
    if len(a) == spec.k:
        return dot(g, spec.design, spec.operands, a, b, c)
    for i, start in enumerate(range(0, len(a), spec.k)):
        with g.scope(f"call{i}"):
            stop = start + spec.k
            c = dot(g, spec.design, spec.operands, a[start:stop], b[start:stop], c)
    return c


def _formats(spec: UnitSpec) -> tuple[Format, ...]:
    o = spec.operands
    return o.a, o.b, o.c, o.d


@dataclass(frozen=True, slots=True)
class Witness:
    """Operands as raw encodings."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int

    def inputs(self) -> dict[str, int]:
        """The operands by input name."""
        named = {f"a[{i}]": x for i, x in enumerate(self.a)}
        named |= {f"b[{i}]": x for i, x in enumerate(self.b)}
        return named | {"c": self.c}

    @staticmethod
    def of(inputs: Mapping[str, int], k: int) -> Witness:
        """The operands from values by input name; what a solver left open is zero."""
        a = tuple(inputs.get(f"a[{i}]", 0) for i in range(k))
        b = tuple(inputs.get(f"b[{i}]", 0) for i in range(k))
        return Witness(a, b, inputs.get("c", 0))
