"""Can one algorithm on a unit be further from the exact value than another?  How that question is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.spec import Operands
from tcformal.formats.spec import Format
from tcformal.operands.codec import read_witness, witness_data
from tcformal.operands.command import by_value, explain_command
from tcformal.operands.witness import Witness
from tcformal.oracle.text import number_text
from tcformal.oracle.values import value_data
from tcformal.programs.split import SINGLE
from tcformal.query.assume import from_texts
from tcformal.query.kinds.comparison.directed import worst_directed
from tcformal.query.kinds.comparison.question import ALGORITHMS, Asked, ErrorComparison, error_comparison
from tcformal.query.kinds.comparison.replay import ComparisonReplay, replay
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Inputs, Kind, QuestionKind
from tcformal.query.shrink.shrink import shrink
from tcformal.solve.members import default_members

#: Asked first unless the caller says otherwise: with multipliers, splits and wide sums, rewriting words finds
#: inputs in a tenth of the time that clauses take.
_FIRST = "bitwuzla"


class Program(QuestionKind[ErrorComparison]):
    """Two algorithms on one unit: VIOLATED with inputs on which one errs more, or HOLDS."""

    name = "algorithm"
    found = Kind.VIOLATED
    none = Kind.HOLDS
    assumptions_first = False

    def replay(self, q: ErrorComparison, inputs: Inputs) -> ComparisonReplay:
        """Both algorithms on integers and on the oracle, errors compared exactly."""
        return replay(q, inputs)

    def shrink(self, q: ErrorComparison, inputs: Inputs, seconds: float) -> dict[str, int]:
        """The fewest non-zero terms, round values, exponents near zero."""
        return shrunk(q, inputs, seconds=seconds).inputs()

    def search(self, q: ErrorComparison, seed: int) -> dict[str, int] | None:
        """Directed inputs, whatever the seed: those that cancel, with the largest error."""
        return worst_directed(q)

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        """The solvers as named, or all that are installed in the order that suits these questions."""
        return sorted(default_members(), key=lambda name: name != _FIRST) if solvers is None else solvers

    def assumptions(self, q: ErrorComparison) -> list[str]:
        """What is assumed of a, b and c."""
        return q.asked_of.texts()

    def found_text(self, q: ErrorComparison, finder: str) -> str:
        """What is not always so."""
        what = q.asked_of.claim
        return f"not always: {what}; {finder} found inputs, replayed on integers and on exact fractions"

    def none_text(self, q: ErrorComparison, deciders: str) -> str:
        """What is always so."""
        return f"{q.asked_of.claim}: {deciders} found no inputs with a larger error"

    def parts(self, q: ErrorComparison) -> dict[str, Any]:
        """The unit, the form of the algorithms, ranges and assumptions."""
        what = q.asked_of
        return {
            "kind": self.name,
            "unit": what.unit.name,
            "form": what.form,
            "worse": what.worse,
            "products": what.products,
            "split_rounding": what.split_rounding,
            "keep_last": what.keep_last,
            "c_exponents": list(what.c_exponents),
            "more_than": None if what.more_than is None else str(what.more_than),
            "assumptions": what.assumptions.spellings(),
        }

    def build(self, parts: Mapping[str, Any]) -> ErrorComparison:
        """The same question of the unit of that name."""
        unit, more_than = resolve(parts["unit"]), parts["more_than"]
        return error_comparison(
            Asked(
                unit=unit, form=parts["form"], worse=parts["worse"], products=parts["products"],
                split_rounding=parts["split_rounding"], keep_last=parts["keep_last"],
                assumptions=from_texts(unit.operands.c, parts["assumptions"]),
                c_exponents=(parts["c_exponents"][0], parts["c_exponents"][1]),
                more_than=None if more_than is None else Fraction(more_than),
            )
        )  # fmt: skip

    def witness_data(self, q: ErrorComparison, inputs: Inputs) -> dict[str, Any]:
        """Rows of a and b, and c."""
        return witness_data(_formats(q), Witness.of(inputs, q.asked_of.products))

    def read_witness(self, q: ErrorComparison, data: Mapping[str, Any]) -> dict[str, int]:
        """The same, read back."""
        n = q.asked_of.products
        return read_witness(_formats(q), {"a": n, "b": n}, data).inputs()

    def results_data(self, q: ErrorComparison, replayed: ComparisonReplay) -> dict[str, Any]:
        """The exact value, and the result and error of each algorithm."""
        return replayed_data(replayed)

    def commands(self, q: ErrorComparison, replayed: ComparisonReplay) -> list[str]:
        """Of halves, the unit with c, which is Markidis, and with 0, to which Ootomo and Yokota add c.

        None for inputs that are split: their parts are made inside the algorithms.
        """
        what = q.asked_of
        if what.form != "table5":
            return []
        words, w = by_value(what.unit), replayed.witness
        longer = what.products < what.unit.k
        both = (w, replace(w, c=0))
        return [explain_command([what.unit.name], x, words, longer=longer, command="eval") for x in both]

    def to_json(self, q: ErrorComparison) -> dict[str, Any]:
        """Claim, unit, form and products, and how inputs are split."""
        what = q.asked_of
        split = {"split_rounding": what.split_rounding, "keep_last": what.keep_last}
        return {
            "claim": what.claim,
            "unit": what.unit.name,
            "form": what.form,
            "products": what.products,
            **(split if what.form == "split" else {}),
        }


def shrunk(q: ErrorComparison, found: Mapping[str, int], *, seconds: float = 4.0) -> Witness:
    """Simpler inputs that still have the larger error as asked."""
    what, fmt = q.asked_of, q.asked_of.factor_format
    # To the shrinker a question is two results on inputs of some formats, and a node that must stay 1.
    unit = replace(what.unit, operands=Operands(a=fmt, b=fmt, c=SINGLE, d=SINGLE))
    seen = EqualityQuestion(
        unit, unit, what.products, what.assumptions, q.graph, q.results, q.assumed, q.violated
    )  # fmt: skip
    return shrink(seen, Witness.of(found, what.products), seconds=seconds)


def replayed_data(run: ComparisonReplay) -> dict[str, Any]:
    """What both algorithms make of inputs, as plain data."""
    data: dict[str, Any] = {
        "exact": None if run.exact is None else number_text(run.exact),
        "results": {
            name: value_data(SINGLE, raw) for name, raw in zip(ALGORITHMS, run.integers, strict=True)
        },
        "errors": {
            name: None if e is None else number_text(e)
            for name, e in zip(ALGORITHMS, run.errors, strict=True)
        },
    }  # fmt: skip
    if run.ulps is not None:
        data["errors_ulps"] = dict(zip(ALGORITHMS, map(float, run.ulps), strict=True))
    return data


def _formats(q: ErrorComparison) -> dict[str, Format]:
    fmt = q.asked_of.factor_format
    return {"a": fmt, "b": fmt, "c": SINGLE}


#: The one of its kind.
PROGRAM = Program()
