"""Error comparison of two algorithms, or of two programs of the language, as kinds of questions."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tcformal.design.names import resolve
from tcformal.design.spec import Design, Operands
from tcformal.design.steps import nan_word_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Specials
from tcformal.ir.build import Graph
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import encode_exact, format_value, hex_word, value_data
from tcformal.programs.error import HALF, SINGLE
from tcformal.programs.program import Program, program, read_program
from tcformal.query.assume import from_texts
from tcformal.query.comparison.drawn import draw
from tcformal.query.comparison.error_comparison import (
    ComparisonReplay,
    ErrorComparison,
    error_comparison,
    replay,
)
from tcformal.query.comparison.parameters import ComparedPrograms, ComparisonParameters, ProgramPair
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import JsonObject, Kind, QuestionKind, RawInputs
from tcformal.query.shrink import shrink
from tcformal.simulation.operands.witness import (
    Witness,
    by_value,
    explain_command,
    read_witness,
    witness_data,
)
from tcformal.solve.members import default_members

#: Binades below the largest product in which a third product is tried: more than any unit keeps.
_DEPTH = 44


def worst_directed(q: ErrorComparison) -> dict[str, int] | None:
    """The directed inputs with the largest excess error that refute the claim; None where none do."""
    runs = [(w, replay(q, w.inputs())) for w in cancelling(q.parameters)]
    violations = [(run.excess_ulps or Fraction(0), w) for w, run in runs if run.confirms]
    return max(violations, key=lambda x: x[0])[1].inputs() if violations else None


def cancelling(what: ComparedPrograms) -> Iterator[Witness]:
    """Directed inputs: two large products that cancel, a third far below, the least product, and c minus the
    third.

    The error is what the alignment to the two large products cuts off the others; the exact value is the
    least product.
    Shapes: only for halves (form `table5`) with three products or more; else empty.
    """
    if not isinstance(what, ComparisonParameters) or what.form != "table5" or what.products < 3:
        return
    low, high = max(what.exponents[0], HALF.e_min), min(what.exponents[1], HALF.e_max)
    top = encode_exact(HALF, Fraction(2) ** high)
    # Subnormals count as having the least exponent of normal halves.
    least = 1 if low == HALF.e_min else encode_exact(HALF, Fraction(2) ** low)
    sign = 1 << (HALF.width - 1)
    for depth in range(1, _DEPTH):
        e = 2 * high - depth
        one = min(high, e - e // 2)
        other = e - one
        if other < low:
            return
        for factor in (Fraction(1), Fraction(3, 2), 2 - Fraction(1, 1 << HALF.fraction_bits)):
            a, b = encode_exact(HALF, factor * Fraction(2) ** one), encode_exact(HALF, Fraction(2) ** other)
            c = encode_exact(SINGLE, -factor * Fraction(2) ** e)
            rest = [least] if what.products > 3 else []
            unused = [0] * (what.products - 3 - len(rest))
            yield Witness((top, top ^ sign, a, *rest, *unused), (top, top, b, *rest, *unused), c)


#: The first of the solvers by default: on multipliers, splits and wide sums, word-level rewriting finds
#: inputs in a tenth of the time of a SAT solver.
_FIRST = "bitwuzla"


class AlgorithmKind(QuestionKind[ErrorComparison]):
    """Two algorithms on shared inputs: VIOLATED with inputs on which one has the larger error, or HOLDS."""

    name = "algorithm"
    found = Kind.VIOLATED
    none = Kind.HOLDS
    assumptions_first = False

    def replay(self, q: ErrorComparison, inputs: RawInputs) -> ComparisonReplay:
        return replay(q, inputs)

    def shrink(self, q: ErrorComparison, inputs: RawInputs, seconds: float) -> dict[str, int]:
        return shrunk(q, inputs, seconds=seconds).inputs()

    def search(self, q: ErrorComparison, seed: int) -> dict[str, int] | None:
        return worst_directed(q)

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        return sorted(default_members(), key=lambda name: name != _FIRST) if solvers is None else solvers

    def assumptions(self, q: ErrorComparison) -> list[str]:
        return q.parameters.texts()

    def found_text(self, q: ErrorComparison, finder: str) -> str:
        what = q.parameters.refuted
        return f"{what}; {finder} found inputs, replayed on integers and on exact fractions"

    def none_text(self, q: ErrorComparison, deciders: str) -> str:
        return f"{q.parameters.claim}: {deciders} found no inputs with a larger error"

    def parts(self, q: ErrorComparison) -> JsonObject:
        return q.parameters.parts()

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> ErrorComparison:
        unit, more_than = resolve(parts["unit"]), parts["more_than"]
        return error_comparison(
            ComparisonParameters(
                unit=unit, form=parts["form"], worse=parts["worse"], products=parts["products"],
                split_rounding=parts["split_rounding"], keep_last=parts["keep_last"],
                assumptions=from_texts(unit.operands.c, parts["assumptions"]),
                c_exponents=(parts["c_exponents"][0], parts["c_exponents"][1]),
                more_than=None if more_than is None else Fraction(more_than),
            ),
            graph,
        )  # fmt: skip

    def witness_data(self, q: ErrorComparison, inputs: RawInputs) -> JsonObject:
        return witness_data(q.parameters.formats, Witness.of(inputs, q.parameters.products))

    def read_witness(self, q: ErrorComparison, data: Mapping[str, Any]) -> dict[str, int]:
        n = q.parameters.products
        return read_witness(q.parameters.formats, {"a": n, "b": n}, data).inputs()

    def results_data(self, q: ErrorComparison, replayed: ComparisonReplay) -> JsonObject:
        return replayed_data(replayed)

    def commands(self, q: ErrorComparison, replayed: ComparisonReplay) -> list[str]:
        """The `tcformal eval` commands for both algorithms: with c (Markidis), with 0 (Ootomo–Yokota).

        Empty for split inputs: their parts are computed inside the algorithms.
        """
        what = q.parameters
        if not isinstance(what, ComparisonParameters) or what.form != "table5":
            return []
        words, w = by_value(what.unit), replayed.witness
        longer = what.products < what.unit.k
        both = (w, replace(w, c=0))
        return [explain_command([what.unit.name], x, words, longer=longer, command="eval") for x in both]

    def to_json(self, q: ErrorComparison) -> JsonObject:
        return {"claim": q.parameters.claim, **q.parameters.data()}


def shrunk(q: ErrorComparison, found: Mapping[str, int], *, seconds: float = 4.0) -> Witness:
    """Simpler inputs that still have the requested excess error."""
    what, formats = q.parameters, q.parameters.formats
    # The shrinker needs a question with two results, inputs of known formats, and a node that must stay 1.
    # Its costs are those of a unit with these formats; its design, and a D as no unit has it, do not matter.
    d = what.result_formats[0]
    d = d if d.specials is Specials.IEEE else SINGLE
    operands = Operands(a=formats["a"], b=formats["b"], c=formats["c"], d=d)
    design = Design(
        products=1, conversion=f"RNE-E{d.exponent_bits}M{d.fraction_bits}", nan_word=nan_word_of(d)
    )  # fmt: skip
    unit = UnitSpec(name="programs", m=1, n=1, k=what.products, operands=operands, design=design)
    seen = EqualityQuestion(
        unit, unit, what.products, what.assumptions, q.graph, q.results, q.assumed, q.violated
    )  # fmt: skip
    return shrink(seen, Witness.of(found, what.products), seconds=seconds)


def replayed_data(run: ComparisonReplay) -> JsonObject:
    """A replay as plain data."""
    labels = run.asked.labels
    data: JsonObject = {
        "exact": None if run.exact is None else number_text(run.exact),
        "results": {
            name: value_data(fmt, raw)
            for name, raw, fmt in zip(labels, run.integers, run.asked.result_formats, strict=True)
        },
        "errors": {
            name: None if e is None else number_text(e)
            for name, e in zip(labels, run.errors, strict=True)
        },
    }  # fmt: skip
    if run.ulps is not None:
        data["errors_ulps"] = dict(zip(labels, map(float, run.ulps), strict=True))
    return data


#: The only instance.
PROGRAM = AlgorithmKind()


#: Random rows before a solver is asked: few, because one row with a larger error is enough.
_ROWS = 2048


class ProgramsKind(AlgorithmKind):
    """Two programs on shared inputs: VIOLATED with inputs on which the first is worse, or HOLDS."""

    name = "programs"

    def search(self, q: ErrorComparison, seed: int) -> dict[str, int] | None:
        outcome = draw(q.parameters, _ROWS, seed)
        if outcome.witness is None:
            return None
        inputs = outcome.witness.inputs()
        return inputs if self.replay(q, inputs).confirms else None

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        return default_members() if solvers is None else solvers

    def none_text(self, q: ErrorComparison, deciders: str) -> str:
        what = "difference" if q.parameters.differ else "larger error"
        return f"{q.parameters.claim}: {deciders} found no inputs with a {what}"

    def build(self, parts: Mapping[str, Any], graph: Graph | None = None) -> ErrorComparison:
        worse, other = program_from(parts["worse"]), program_from(parts["other"])
        more_than = parts["more_than"]
        return error_comparison(
            ProgramPair(
                worse=worse, other=other, products=parts["products"],
                c_exponents=(parts["c_exponents"][0], parts["c_exponents"][1]),
                more_than=None if more_than is None else Fraction(more_than),
                counted_in=parts["measure"], results_differ=parts["differ"],
                assumptions=from_texts(worse.input_format("c"), parts["assumptions"]),
            ),
            graph,
        )  # fmt: skip

    def commands(self, q: ErrorComparison, replayed: ComparisonReplay) -> list[str]:
        return [explain_program(p, q.parameters.formats, replayed) for p in q.parameters.programs]


def explain_program(p: Program, formats: Mapping[str, Any], run: ComparisonReplay) -> str:
    """The shell command that shows a program's stages on the inputs of a replay."""
    w, texts = run.witness, []
    for letter, row in (("a", w.a), ("b", w.b), ("c", (w.c,))):
        words = [format_value(formats[letter], x) for x in row]
        words = [hex_word(formats[letter], x) if "nan" in t else t for x, t in zip(row, words, strict=True)]
        texts.append(f"--{letter} {shlex.quote(','.join(words))}")
    return " ".join(["tcformal explain", shlex.quote(p.name), *texts])


def program_from(data: str | Mapping[str, Any]) -> Program:
    """Load the program of a record."""
    if isinstance(data, str):
        return program(data)
    return read_program({k: v for k, v in data.items() if k != "name"}, data["name"])


#: The only instance.
PROGRAMS = ProgramsKind()
