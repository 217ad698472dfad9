"""The kind of question that compares a unit with somebody's RTL of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.oracle.values import value_data
from tcformal.query.kinds.equality import Equality
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import RawInputs
from tcformal.query.replay import EqualityReplay, oracle_result
from tcformal.simulation.operands.command import by_value, explain_command
from tcformal.simulation.operands.witness import Witness


@dataclass(frozen=True, slots=True)
class RtlQuestion(EqualityQuestion):
    """Does a module ever differ from a unit?  The results are those of the unit and of the module."""

    module: str
    #: The result of the module on a witness, found by the tool that read it.
    evaluate: Callable[[Witness], int]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the unit and of the module."""
        return self.first.name, self.module


class RtlEquality(Equality):
    """A unit and a module on shared operands; answers are not kept, because files change."""

    name = "rtl"

    def replay(self, q: EqualityQuestion, inputs: RawInputs) -> EqualityReplay:
        """The unit on integers and on the oracle; the module on its netlist and by the tool that read it."""
        assert isinstance(q, RtlQuestion)
        w = Witness.of(inputs, q.k)
        assumed, _, unit, module = q.evaluator()(w.inputs())
        return EqualityReplay(w, bool(assumed), (unit, module), (oracle_result(q.first, w), q.evaluate(w)))

    def found_text(self, q: EqualityQuestion, finder: str) -> str:
        """The reason of SEPARATED: who found the witness, and who replayed it."""
        return f"{finder} found inputs; replayed on integers, on exact fractions, and by yosys on the RTL"

    def none_text(self, q: EqualityQuestion, deciders: str) -> str:
        """The reason of EQUIVALENT: the solvers that found none."""
        same = "the netlist folds into the unit's definition; " if q.same_definition else ""
        return f"{same}{deciders} found no inputs on which they differ"

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> EqualityQuestion:
        """InputError: the files of the RTL are no part of a record."""
        raise InputError("expected a question of units, but got one of RTL, whose answers are not kept")

    def results_data(self, q: EqualityQuestion, replayed: EqualityReplay) -> dict[str, Any]:
        """The results of the unit and of the module."""
        pairs = zip(("unit", "module"), replayed.integers, strict=True)
        return {"results": {name: value_data(q.first.operands.d, raw) for name, raw in pairs}}

    def commands(self, q: EqualityQuestion, replayed: EqualityReplay) -> list[str]:
        """`tcformal eval` of the unit on the witness."""
        return [explain_command([q.first.name], replayed.witness, by_value(q.first), command="eval")]


#: The one of its kind.
RTL = RtlEquality()
