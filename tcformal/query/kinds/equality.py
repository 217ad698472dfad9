"""Equality of two units as a kind of question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcformal.design.names import resolve
from tcformal.ir.build import Graph
from tcformal.oracle.values import value_data
from tcformal.programs.chain import scale_count
from tcformal.query.assume import from_texts
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.question import Kind, QuestionKind, RawInputs
from tcformal.query.replay import EqualityReplay, replay
from tcformal.query.search import search
from tcformal.query.shrink.shrink import shrink
from tcformal.simulation.operands.witness import (
    Witness,
    by_value,
    explain_command,
    read_witness,
    witness_data,
)


class Equality(QuestionKind[EqualityQuestion]):
    """Two units on shared operands: SEPARATED with a witness, or EQUIVALENT."""

    name = "separate"
    found = Kind.SEPARATED
    none = Kind.EQUIVALENT

    def replay(self, q: EqualityQuestion, inputs: RawInputs) -> EqualityReplay:
        """The replay of a witness: both units on integers and on the oracle."""
        return replay(q, Witness.of(inputs, q.k))

    def shrink(self, q: EqualityQuestion, inputs: RawInputs, seconds: float) -> dict[str, int]:
        """A witness with the fewest non-zero terms, round values and exponents near zero."""
        return shrink(q, Witness.of(inputs, q.k), seconds=seconds).inputs()

    def search(self, q: EqualityQuestion, seed: int) -> dict[str, int] | None:
        """The simplest seeded vector that separates; None where none does."""
        witness = search(q, seed)
        return None if witness is None else witness.inputs()

    def assumptions(self, q: EqualityQuestion) -> list[str]:
        """The assumptions about the operands, one line each."""
        return q.assumptions.texts()

    def found_text(self, q: EqualityQuestion, finder: str) -> str:
        """The reason of SEPARATED: the solver that found the witness."""
        return f"{finder} found inputs; replayed on integers and on exact fractions"

    def none_text(self, q: EqualityQuestion, deciders: str) -> str:
        """The reason of EQUIVALENT: the solvers that found none."""
        same = "both units build the same definition; " if q.same_definition else ""
        return f"{same}{deciders} found no inputs on which they differ"

    def parts(self, q: EqualityQuestion) -> dict[str, Any]:
        """The parts of a record that identify the question."""
        o = q.first.operands
        return {
            "kind": self.name,
            "first": q.first.name,
            "second": q.second.name,
            "k": q.k,
            "formats": o.names(),
            "assumptions": q.assumptions.spellings(),
        }

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> EqualityQuestion:
        """Build the question again from its identifying parts."""
        one, other = resolve(parts["first"]), resolve(parts["second"])
        return question(one, other, from_texts(one.operands.c, parts["assumptions"]), graph)

    def witness_data(self, q: EqualityQuestion, inputs: RawInputs) -> dict[str, Any]:
        """A witness as data: rows of a, b and scales, and c."""
        return witness_data(q.first.input_formats(), Witness.of(inputs, q.k))

    def read_witness(self, q: EqualityQuestion, data: Mapping[str, Any]) -> dict[str, int]:
        """Read a witness from data; RecordError where its shape does not fit."""
        scales = scale_count(q.first, q.k)
        counts = {"a": q.k, "b": q.k, "scale_a": scales, "scale_b": scales}
        return read_witness(q.first.input_formats(), counts, data).inputs()

    def results_data(self, q: EqualityQuestion, replayed: EqualityReplay) -> dict[str, Any]:
        """The result of each unit."""
        d = q.first.operands.d
        pairs = zip(("first", "second"), replayed.integers, strict=True)
        return {"results": {name: value_data(d, raw) for name, raw in pairs}}

    def commands(self, q: EqualityQuestion, replayed: EqualityReplay) -> list[str]:
        """The `tcformal eval` command of both units on the witness."""
        return [explain_command(q.names, replayed.witness, by_value(q.first), command="eval")]

    def to_json(self, q: EqualityQuestion) -> dict[str, Any]:
        """The question as plain data: units, k, formats, and whether both definitions are equal."""
        o = q.first.operands
        scale = {} if q.first.scale_format is None else {"scale": q.first.scale_format.name}
        return {
            "units": list(q.names),
            "k": q.k,
            "formats": o.names() | scale,
            "same_definition": q.same_definition,
        }


#: The one of its kind.
EQUALITY = Equality()
