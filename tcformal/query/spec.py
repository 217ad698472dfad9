"""A question about two units: one graph with shared inputs, both results, and what is assumed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.models import Unit, chained_dot, declare_inputs
from tcformal.query.assumptions import Assumptions, assume_of_unit
from tcformal.query.question import Question

if TYPE_CHECKING:
    from tcformal.query.kinds.equality import Equality

#: Scopes under which the stages of the first and the second unit are labelled.
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class EqualityQuestion(Question):
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

    @property
    def asked(self) -> Node:
        """1 where the assumptions hold and the results differ."""
        return self.differ

    @property
    def how(self) -> Equality:
        """How such a question is replayed, shrunk, written and read."""
        from tcformal.query.kinds.equality import EQUALITY  # it needs this class

        return EQUALITY

    def evaluator(self) -> Concrete:
        """Integers: (assumed, differ, first result, second result) of one set of inputs."""
        return Concrete(self.graph, [self.assumed, self.differ, *self.results])


def question(first: UnitSpec, second: UnitSpec, what: Assumptions) -> EqualityQuestion:
    """Build the question of two units of equal operand formats.

    Shapes: K is the least common multiple of both units' k; a unit with a smaller k is applied to
    consecutive blocks, each taking the previous result as c.
    Errors: InputError where the operand or scale formats differ, a chain would need C and D of one
    format or would cut a block of scales, or an assumption speaks of scales and there are none.
    """
    pairs = zip("ABCD", _formats(first), _formats(second), strict=True)
    for letter, mine, theirs in pairs:
        if mine != theirs:
            raise InputError(
                f"expected two units of equal operand formats, but {letter} is {mine.name} in {first.name} "
                f"and {theirs.name} in {second.name}"
            )
    scaled = [(spec.scale_format, spec.scale_block) for spec in (first, second)]
    if scaled[0] != scaled[1]:
        texts = [f"{f.name} per {block}" if f is not None else "none" for f, block in scaled]
        raise InputError(
            f"expected two units of equal scales, but they are {texts[0]} in {first.name} "
            f"and {texts[1]} in {second.name}"
        )
    k = common_k(first, second)
    g = Graph()
    x = declare_inputs(g, first, k)
    results = []
    for side, spec in zip(SIDES, (first, second), strict=True):
        with g.scope(side):
            results.append(chained_dot(g, spec, x))
    assumed = assume_of_unit(g, what, first, x)
    differ = g.and_(assumed, g.not_(g.eq(results[0], results[1])))
    return EqualityQuestion(first, second, k, what, g, (results[0], results[1]), assumed, differ)


def spec_of(x: str | Unit | UnitSpec) -> UnitSpec:
    """The unit that a caller means; InputError for what is neither a name nor a unit."""
    if isinstance(x, str):
        return resolve(x)
    if isinstance(x, Unit):
        return x.spec
    if isinstance(x, UnitSpec):
        return x
    raise InputError(f"expected a unit or its name, but got {x!r}")


def common_k(*specs: UnitSpec) -> int:
    """The least common multiple of the units' k; InputError for a unit that cannot be chained up to it."""
    k = math.lcm(*(spec.k for spec in specs))
    for spec in specs:
        if spec.k != k and spec.operands.c != spec.operands.d:
            raise InputError(
                f"expected units of equal k, because {spec.name} cannot be chained: "
                f"its C is {spec.operands.c.name} and its D is {spec.operands.d.name}"
            )
        if spec.k != k and spec.k % (spec.scale_block or 1):
            raise InputError(
                f"expected units of equal k, because {spec.name} cannot be chained: "
                f"its k is {spec.k}, which cuts a block of {spec.scale_block} that share a scale"
            )
    return k


def _formats(spec: UnitSpec) -> tuple[Format, ...]:
    o = spec.operands
    return o.a, o.b, o.c, o.d


@dataclass(frozen=True, slots=True)
class Witness:
    """Operands as raw encodings."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    #: One scale per block of k, for units with scales.
    scale_a: tuple[int, ...] = ()
    scale_b: tuple[int, ...] = ()

    def inputs(self) -> dict[str, int]:
        """The operands by input name."""
        rows = {"a": self.a, "b": self.b, "scale_a": self.scale_a, "scale_b": self.scale_b}
        named = {f"{name}[{i}]": x for name, row in rows.items() for i, x in enumerate(row)}
        return named | {"c": self.c}

    @staticmethod
    def of(inputs: Mapping[str, int], k: int | None = None) -> Witness:
        """The operands from values by input name; of k products, what a solver left open is zero."""
        k = sum(name.startswith("a[") for name in inputs) if k is None else k

        def row(name: str, count: int) -> tuple[int, ...]:
            return tuple(inputs.get(f"{name}[{i}]", 0) for i in range(count))

        scales = [sum(name.startswith(f"scale_{letter}[") for name in inputs) for letter in "ab"]
        return Witness(
            row("a", k), row("b", k), inputs.get("c", 0), row("scale_a", scales[0]), row("scale_b", scales[1])
        )
