"""The question whether two units ever differ, as one DAG on shared inputs, and vectors that separate most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcformal.backends.concrete import Concrete
from tcformal.backends.vector import Vector
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle.values import value_data
from tcformal.query.assume import Assumptions, assume_of_unit, from_texts
from tcformal.query.few import boundaries_of, few
from tcformal.query.question import Kind, Question, RawInputs
from tcformal.query.shrink import shrink, witness_cost
from tcformal.semantics.chain import chained_dot, common_k, declare_inputs, filled, scale_count
from tcformal.shown import JsonObject, short
from tcformal.simulation.matrix_unit import padded_witness
from tcformal.simulation.operands.batch import Batch, columns, witness_at
from tcformal.simulation.operands.inputs import boundaries, inputs_to_try
from tcformal.simulation.operands.witness import (
    Witness,
    by_value,
    explain_command,
    read_witness,
    witness_data,
)
from tcformal.simulation.replay import oracle_result
from tcformal.theory.equality import EqualByTheorem, equal_by_theorem

#: Scopes under which the stages of the first and the second unit are labelled.
SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class EqualityQuestion(Question):
    """The question whether two units ever differ: SEPARATED with a witness, or EQUIVALENT.

    Shapes: K products; inputs a[0], b[0], …, c are raw encodings shared by both units.
    """

    KIND = "separate"
    FOUND = Kind.SEPARATED
    NONE = Kind.EQUIVALENT

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

    def replay(self, inputs: RawInputs) -> EqualityReplay:
        """Run inputs through both units on integers and on the oracle."""
        w = Witness.of(inputs, self.k)
        assumed, _, first, second = self.evaluator()(w.inputs())
        one, other = (oracle_result(u, padded_witness(u, w)) for u in (self.first, self.second))
        return EqualityReplay(w, bool(assumed), (first, second), (one, other))

    def shrink(self, inputs: RawInputs, seconds: float) -> dict[str, int]:
        return shrink(self, Witness.of(inputs, self.k), seconds=seconds).inputs()

    def search(self, seed: int) -> dict[str, int] | None:
        witness = search(self, seed)
        return None if witness is None else witness.inputs()

    def conditions(self) -> list[str]:
        return self.assumptions.texts()

    def found_text(self, finder: str) -> str:
        return f"{finder} found inputs; replayed on integers and on exact fractions"

    def none_text(self, deciders: str) -> str:
        same = "both units build the same definition; " if self.same_definition else ""
        return f"{same}{deciders} found no inputs on which they differ"

    def parts(self) -> JsonObject:
        return {
            "kind": self.KIND,
            "first": self.first.name,
            "second": self.second.name,
            "k": self.k,
            "formats": self.first.operands.names(),
            "assumptions": self.assumptions.spellings(),
        }

    @staticmethod
    def build(parts: Mapping[str, Any], graph: Graph | None = None) -> EqualityQuestion:
        one, other = resolve(parts["first"]), resolve(parts["second"])
        return question(one, other, from_texts(one.operands.c, parts["assumptions"]), graph)

    def witness_data(self, inputs: RawInputs) -> JsonObject:
        return witness_data(self.first.input_formats(), Witness.of(inputs, self.k))

    def read_witness(self, data: Mapping[str, Any]) -> dict[str, int]:
        scales = scale_count(self.first, self.k)
        counts = {"a": self.k, "b": self.k, "scale_a": scales, "scale_b": scales}
        return read_witness(self.first.input_formats(), counts, data).inputs()

    def results_data(self, replayed: EqualityReplay) -> JsonObject:
        d = self.first.operands.d
        pairs = zip(("first", "second"), replayed.integers, strict=True)
        return {"results": {name: value_data(d, raw) for name, raw in pairs}}

    def commands(self, replayed: EqualityReplay) -> list[str]:
        return [explain_command(self.names, replayed.witness, by_value(self.first), command="eval")]

    def to_json(self) -> JsonObject:
        scale = {} if self.first.scale_format is None else {"scale": self.first.scale_format.name}
        return {
            "units": list(self.names),
            "k": self.k,
            "formats": self.first.operands.names() | scale,
            "same_definition": self.same_definition,
        }


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
            f"and {texts[1]} in {second.name}; with scale=none in a name no element has one"
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


def theorems_on(q: EqualityQuestion, solvers: Sequence[str] | None) -> EqualByTheorem | None:
    """The theorems by which the two units of a question are one; None without any, and for named solvers."""
    if solvers is not None or q.same_definition:  # which the engine sees
        return None
    return equal_by_theorem(q.first, q.second, q.k, zero_c=q.assumptions.c == 0)


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


#: Default number of vectors: half of them directed, half from the families.
VECTORS = 6144
#: Number of dot products of a few terms beside a boundary.
_FEW = 4000
#: Number of the simplest separating vectors that are compared in detail.
_FINALISTS = 48


def search(question: EqualityQuestion, seed: int, n: int = VECTORS) -> Witness | None:
    """The simplest of n seeded operand vectors that satisfies the assumptions and separates.

    Where none does, sums that lie where few of them do are tried, then a few terms beside the boundaries of
    either unit.  None says nothing about other vectors.
    Shapes: K products, with scales for units that take them.
    Zero, NaN, Inf: vectors whose results are numbers come before zeros of two signs, and those before results
    with NaN or Inf.
    """
    witness = _simplest(question, inputs_to_try(question.first, question.k, n, seed))
    if witness is None and question.first.scale_format is None:
        witness = _simplest(question, boundaries(question.first, question.k, seed))
    units = [question.first]
    if boundaries_of(question.second) != boundaries_of(question.first):
        units.append(question.second)
    for unit in units:
        witness = witness or _simplest(question, few(unit, question.k, _FEW, seed))
    return witness


def _simplest(question: EqualityQuestion, tried: Batch) -> Witness | None:
    """The simplest separating vector of a batch."""
    n = len(tried.c)
    if question.assumptions.c is not None:
        tried.c[:] = question.assumptions.c
    roots = [question.differ, *question.results]
    differ, *results = (np.broadcast_to(x, (n,)) for x in Vector(question.graph, columns(tried)).run(roots))
    rows = np.flatnonzero(differ)
    if not rows.size:
        return None
    d = question.first.operands.d
    words = [x[rows].astype(np.uint64) for x in results]
    special = np.any([d.is_special(x) for x in words], axis=0)
    sign = np.uint64(0 if d.integer else d.sign_bit)
    zeros = np.all([(x & ~sign) == 0 for x in words], axis=0)
    rank = 2 * special + zeros
    terms = ((tried.a[rows] != 0) | (tried.b[rows] != 0)).sum(axis=1)
    order = np.lexsort((terms, rank))[:_FINALISTS]
    kept = [i for i in order if rank[i] == rank[order[0]]]
    finalists = [witness_at(tried, int(rows[i])) for i in kept]
    return min(finalists, key=lambda w: witness_cost(question, w))
