"""The question whether two units ever differ, as one DAG on shared inputs, and the replay of a witness."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.backends.concrete import Concrete
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs.chain import chained_dot, common_k, declare_inputs, filled
from tcformal.query.assume import Assumptions, assume_of_unit
from tcformal.query.question import Kind, Question
from tcformal.query.replay import oracle_result
from tcformal.shown import short
from tcformal.simulation.matrix_unit import padded_witness
from tcformal.simulation.operands.witness import Witness

#: Scopes under which the stages of the first and the second unit are labelled.
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class EqualityQuestion(Question):
    """The question whether two units ever differ.

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
    def c_format(self) -> Format:
        return self.first.operands.c

    def outcome(self, kind: Kind) -> str:
        sign = {Kind.SEPARATED: "≠", Kind.EQUIVALENT: "="}.get(kind, "?")
        return f"{short(self.first.shown)} {sign} {short(self.second.shown)}{self.assumptions.phrase()}"

    @property
    def same_definition(self) -> bool:
        """Whether both units build the same DAG, so that no input separates them."""
        return self.results[0] is self.results[1]

    @property
    def asked(self) -> Node:
        return self.differ

    def evaluator(self) -> Concrete:
        """An integer evaluator of (assumed, differ, first result, second result)."""
        return Concrete(self.graph, [self.assumed, self.differ, *self.results])


def question(
    first: UnitSpec,
    second: UnitSpec,
    what: Assumptions,
    graph: Graph | None = None,
    k: int | None = None,
) -> EqualityQuestion:
    """Build the question whether two units of equal operand formats ever differ, in an empty or a new graph.

    Shapes: K is the least common multiple of both units' k unless given; a unit with a smaller k is applied
    to consecutive blocks, each taking the previous result as c, the last one filled up with products 0·0.
    Errors: InputError where the operand or scale formats differ, where a chain would need C and D of one
    format or would cut a block of scales, and for assumptions about scales that do not exist.
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
    k = common_k(first, second) if k is None else k
    g = Graph() if graph is None else graph
    x = declare_inputs(g, first, k)
    results = []
    for side, spec in zip(SIDES, (first, second), strict=True):
        with g.scope(side):
            results.append(chained_dot(g, spec, filled(g, spec, x)).result)
    assumed = assume_of_unit(g, what, first, x)
    differ = g.and_(assumed, g.not_(g.eq(results[0], results[1])))
    return EqualityQuestion(first, second, k, what, g, (results[0], results[1]), assumed, differ)


def _formats(spec: UnitSpec) -> tuple[Format, ...]:
    o = spec.operands
    return o.a, o.b, o.c, o.d


@dataclass(frozen=True, slots=True)
class EqualityReplay:
    """The results of both units on one witness.

    Ranges and units: results are raw encodings of the D format.
    """

    witness: Witness
    assumed: bool
    #: Results on the integer interpretation.
    integers: tuple[int, int]
    #: Results on the Fraction oracle.
    oracle: tuple[int, int]

    @property
    def agrees(self) -> bool:
        """Whether integers and oracle computed the same results."""
        return self.integers == self.oracle

    @property
    def confirms(self) -> bool:
        """Whether the witness obeys the assumptions, and the units differ on integers and oracle."""
        return self.assumed and self.agrees and self.integers[0] != self.integers[1]


def replay(question: EqualityQuestion, witness: Witness) -> EqualityReplay:
    """Run a witness through both units on integers and on the oracle."""
    assumed, _, first, second = question.evaluator()(witness.inputs())
    one, other = (oracle_result(u, padded_witness(u, witness)) for u in (question.first, question.second))
    return EqualityReplay(witness, bool(assumed), (first, second), (one, other))
