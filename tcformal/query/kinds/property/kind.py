"""A property of one unit as a kind of question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcformal.design.names import resolve
from tcformal.encodings.spec import Format
from tcformal.errors import RecordError
from tcformal.ir.build import Graph
from tcformal.oracle.values import value_data
from tcformal.query.assume import from_texts
from tcformal.query.kinds.property.properties import PROPERTIES
from tcformal.query.kinds.property.question import (
    PropertyQuestion,
    PropertyReplay,
    by_vectors,
    property_question,
    replay_property,
    shrink_inputs,
)
from tcformal.query.question import Kind, QuestionKind, RawInputs
from tcformal.simulation.operands.witness import by_value, explain_command, read_value


class UnitProperty(QuestionKind[PropertyQuestion]):
    """A property of one unit: VIOLATED with inputs, or HOLDS."""

    name = "property"
    found = Kind.VIOLATED
    none = Kind.HOLDS

    def replay(self, q: PropertyQuestion, inputs: RawInputs) -> PropertyReplay:
        """The replay of inputs: every call on integers and on the oracle, checked on both."""
        return replay_property(q, inputs)

    def shrink(self, q: PropertyQuestion, inputs: RawInputs, seconds: float) -> dict[str, int]:
        """Simpler inputs that violate the property: more zeros, fewer bits."""
        return shrink_inputs(q, inputs, seconds=seconds)

    def search(self, q: PropertyQuestion, seed: int) -> dict[str, int] | None:
        """The first seeded vector that violates the property; None where none does."""
        return by_vectors(q, seed)

    def assumptions(self, q: PropertyQuestion) -> list[str]:
        """The assumptions about the operands, one line each."""
        return q.assumptions.texts()

    def found_text(self, q: PropertyQuestion, finder: str) -> str:
        """The reason of VIOLATED: the property that fails, and the solver that found the inputs."""
        text = PROPERTIES[q.name].text
        return f"not always: {text}; {finder} found inputs, replayed on integers and on exact fractions"

    def none_text(self, q: PropertyQuestion, deciders: str) -> str:
        """The reason of HOLDS: the property, and the solvers that found no inputs."""
        return f"{PROPERTIES[q.name].text}: {deciders} found no inputs that violate it"

    def parts(self, q: PropertyQuestion) -> dict[str, Any]:
        """The parts of a record that identify the question."""
        o = q.unit.operands
        return {
            "kind": self.name,
            "property": q.name,
            "unit": q.unit.name,
            "k": q.k,
            "formats": o.names(),
            "assumptions": q.assumptions.spellings(),
        }

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> PropertyQuestion:
        """Build the question again from its identifying parts."""
        unit = resolve(parts["unit"])
        return property_question(
            parts["property"], unit, from_texts(unit.operands.c, parts["assumptions"]), graph
        )

    def witness_data(self, q: PropertyQuestion, inputs: RawInputs) -> dict[str, Any]:
        """Inputs as data: the text of each, by name."""
        return {name: value_data(_format(q, name), inputs.get(name, 0)) for name in q.graph.inputs}

    def read_witness(self, q: PropertyQuestion, data: Mapping[str, Any]) -> dict[str, int]:
        """Read inputs from data; RecordError where they do not fit."""
        if data.keys() != q.graph.inputs.keys():
            raise RecordError(
                f"expected inputs {', '.join(q.graph.inputs)}, but got {', '.join(data) or 'none'}"
            )
        return {name: read_value(_format(q, name), value) for name, value in data.items()}

    def results_data(self, q: PropertyQuestion, replayed: PropertyReplay) -> dict[str, Any]:
        """The result of each call."""
        d = q.unit.operands.d
        pairs = zip(q.case.calls, replayed.integers, strict=True)
        return {"results": {call.label: value_data(d, raw) for call, raw in pairs}}

    def commands(self, q: PropertyQuestion, replayed: PropertyReplay) -> list[str]:
        """The `tcformal eval` commands of the unit, one for each call."""
        words = by_value(q.unit)
        return [explain_command([q.unit.name], w, words, command="eval") for w in replayed.operands]

    def to_json(self, q: PropertyQuestion) -> dict[str, Any]:
        """The question as plain data: property, unit and k."""
        return {"property": q.name, "unit": q.unit.name, "k": q.k}


def _format(q: PropertyQuestion, name: str) -> Format:
    """The format of a property's input: an extra input such as c2 has the format of its operand."""
    row = name.partition("[")[0]
    return q.unit.input_formats()[row if row.startswith("scale_") else name[0]]


#: The only instance.
PROPERTY = UnitProperty()
