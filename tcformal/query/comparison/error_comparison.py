"""Error comparison: can one of two programs have a larger error than the other on the same inputs?

The exact value is that of the unsplit inputs, as a fixed-point integer of one window.  Markidis adds c inside
the unit, Ootomo and Yokota add it outside [VALPEY Property 5].
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.spec import Design, Operands
from tcformal.design.steps import nan_word_of
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format, Specials
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle import exact_errors as oracle
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import encode_exact, format_value, hex_word, value_data
from tcformal.programs import error
from tcformal.programs.dag import program_dag
from tcformal.programs.error import HALF, SINGLE
from tcformal.programs.program import Program
from tcformal.query.assume import Assumptions, assume, from_texts
from tcformal.query.comparison.drawn import draw
from tcformal.query.comparison.parameters import (
    ComparedPrograms,
    ComparisonParameters,
    Errors,
    ProgramPair,
    program_from,
)
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind, Question, RawInputs
from tcformal.query.shrink import shrink
from tcformal.semantics.unpack import unpack
from tcformal.shown import JsonObject, short
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.witness import (
    Witness,
    by_value,
    explain_command,
    read_witness,
    witness_data,
)
from tcformal.solve.members import default_members

#: Both splits of one element.  Kept questions name their nodes in the order in which they are made: the
#: words of one element after the other, each with and without the scaling.
_WORDS = Program(
    name="words",
    title="The words of one element",
    source="OOTOMO equations 18 to 21",
    inputs={"a": "fp32", "b": "fp32", "c": "fp32"},
    parameters={"rounding": "RNE"},
    body="""
high, low = split(c, fp16, rounding=rounding)
first, up = split(c, fp16, scale=11, rounding=rounding)
d = high
""",
)


#: The first of the solvers by default: on multipliers, splits and wide sums, word-level rewriting finds
#: inputs in a tenth of the time of a SAT solver.
_FIRST = "bitwuzla"


@dataclass(frozen=True, slots=True, eq=False)
class ErrorComparison(Question):
    """An error comparison of two algorithms: VIOLATED with inputs on which one is the worse, or HOLDS.

    Shapes: inputs a[0], b[0], …, c and the two results are raw encodings; errors are unsigned and `exact`
    is a signed number of the window.
    """

    KIND = "algorithm"
    FOUND = Kind.VIOLATED
    NONE = Kind.HOLDS
    ASSUMPTIONS_FIRST = False

    parameters: ComparedPrograms
    graph: Graph
    results: tuple[Node, Node]
    window: error.Window
    exact: Node
    errors: tuple[Node, Node]
    #: 1 where every assumption holds.
    assumed: Node
    #: 1 where they hold, both results are numbers and the error is larger as asked.
    violated: Node

    @property
    def asked(self) -> Node:
        return self.violated

    @property
    def c_format(self) -> Format:
        return self.parameters.formats["c"]

    def outcome(self, kind: Kind) -> str:
        return " against ".join(map(short, self.parameters.labels))

    def replay(self, inputs: RawInputs) -> ComparisonReplay:
        """Run inputs through both programs on integers and on the oracle, with exact errors."""
        what = self.parameters
        w = Witness.of(inputs, what.products)
        assumed, violated, first, second, raw_exact, *raw_errors = _evaluator(self)(w.inputs())
        again = what.oracle_results(w)
        products, exact, errors = what.exact_errors(w, again)
        unit, half = Fraction(2) ** self.window.low, 1 << (self.exact.width - 1)
        same = exact is not None and unit * ((raw_exact ^ half) - half) == exact
        same = same and all(e is None or unit * raw == e for e, raw in zip(errors, raw_errors, strict=True))
        return ComparisonReplay(
            asked=what, witness=w, assumed=bool(assumed), integers=(first, second), oracle=again, exact=exact,
            magnitudes=None if products is None else sum(map(abs, products), Fraction(0)),
            errors=errors, violated=bool(violated), same_errors=same,
        )  # fmt: skip

    def shrink(self, inputs: RawInputs, seconds: float) -> dict[str, int]:
        return shrunk(self, inputs, seconds=seconds).inputs()

    def search(self, seed: int) -> dict[str, int] | None:
        return worst_directed(self)

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        return sorted(default_members(), key=lambda name: name != _FIRST) if solvers is None else solvers

    def conditions(self) -> list[str]:
        return self.parameters.texts()

    def found_text(self, finder: str) -> str:
        what = self.parameters.refuted
        return f"{what}; {finder} found inputs, replayed on integers and on exact fractions"

    def none_text(self, deciders: str) -> str:
        return f"{self.parameters.claim}: {deciders} found no inputs with a larger error"

    def parts(self) -> JsonObject:
        return self.parameters.parts()

    @staticmethod
    def build(parts: Mapping[str, Any], graph: Graph | None = None) -> ErrorComparison:
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

    def witness_data(self, inputs: RawInputs) -> JsonObject:
        return witness_data(self.parameters.formats, Witness.of(inputs, self.parameters.products))

    def read_witness(self, data: Mapping[str, Any]) -> dict[str, int]:
        n = self.parameters.products
        return read_witness(self.parameters.formats, {"a": n, "b": n}, data).inputs()

    def results_data(self, replayed: ComparisonReplay) -> JsonObject:
        return replayed_data(replayed)

    def commands(self, replayed: ComparisonReplay) -> list[str]:
        """The `tcformal eval` commands for both algorithms: with c (Markidis), with 0 (Ootomo–Yokota).

        Empty for split inputs: their parts are computed inside the algorithms.
        """
        what = self.parameters
        if not isinstance(what, ComparisonParameters) or what.form != "table5":
            return []
        words, w = by_value(what.unit), replayed.witness
        longer = what.products < what.unit.k
        both = (w, replace(w, c=0))
        return [explain_command([what.unit.name], x, words, longer=longer, command="eval") for x in both]

    def to_json(self) -> JsonObject:
        return {"claim": self.parameters.claim, **self.parameters.data()}


#: Random rows before a solver is asked: few, because one row with a larger error is enough.
_ROWS = 2048


class ProgramsQuestion(ErrorComparison):
    """The question whether the first of two programs is ever the worse one, as one DAG."""

    __slots__ = ()

    KIND = "programs"

    def search(self, seed: int) -> dict[str, int] | None:
        outcome = draw(self.parameters, _ROWS, seed)
        if outcome.witness is None:
            return None
        inputs = outcome.witness.inputs()
        return inputs if self.replay(inputs).confirms else None

    def members(self, solvers: Sequence[str] | None) -> Sequence[str] | None:
        return default_members() if solvers is None else solvers

    def none_text(self, deciders: str) -> str:
        what = "difference" if self.parameters.differ else "larger error"
        return f"{self.parameters.claim}: {deciders} found no inputs with a {what}"

    @staticmethod
    def build(parts: Mapping[str, Any], graph: Graph | None = None) -> ErrorComparison:
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

    def commands(self, replayed: ComparisonReplay) -> list[str]:
        return [explain_program(p, self.parameters.formats, replayed) for p in self.parameters.programs]


def comparison_parameters(unit: str | Unit | UnitSpec, **settings: Any) -> ComparisonParameters:
    """The parameters of an error comparison on a unit, by default of min(4, k) products."""
    spec = spec_of(unit)
    return ComparisonParameters(**{"unit": spec, "products": min(4, spec.k), **settings})


def error_comparison(what: ComparedPrograms, graph: Graph | None = None) -> ErrorComparison:
    """Build the error comparison of these parameters, in an empty or a new graph."""
    g, formats = Graph() if graph is None else graph, what.formats
    rows = {}
    a, b, c_format = formats["a"], formats["b"], formats["c"]
    for letter in "ab":
        rows[letter] = [g.input(f"{letter}[{i}]", formats[letter].width) for i in range(what.products)]
    free = g.input("c", c_format.width)
    fixed = what.assumptions.c
    # A c that is assumed is a constant from here on; the input remains, for the witness to name it.
    c = free if fixed is None else g.const(fixed, c_format.width)
    results = _results(g, what, rows["a"], rows["b"], c)

    span, c_span = what.exponents, what.c_exponents
    window = what.window()
    factors = [[unpack(g, x, formats[letter]) for x in rows[letter]] for letter in "ab"]
    terms = error.exact_terms(g, factors[0], factors[1], unpack(g, c, c_format), span, c_span)
    exact = error.exact_sum(g, window, terms)
    first, second = (
        error.error(g, window, r, exact, fmt) for r, fmt in zip(results, what.result_formats, strict=True)
    )

    flags = (*what.assumptions.flags, "finite")
    of_factors, of_c = Assumptions(flags, span), Assumptions(flags, c_span, what.assumptions.c)
    words = [*((x, a) for x in rows["a"]), *((x, b) for x in rows["b"])]
    assumed = g.and_(assume(g, of_factors, words, free), assume(g, of_c, [(free, c_format)], free))
    larger, smaller = (first, second) if what.first_is_worse else (second, first)
    if what.differ:
        violated = g.and_(assumed, g.not_(g.eq(*results)))
    else:
        if what.more_than is None:
            exceeds = error.exceeds(g, larger, smaller)
        elif what.measure == "sum":
            whole = error.sum_of_magnitudes(g, window, terms[:-1])
            exceeds = error.exceeds_share(g, larger, smaller, whole, what.more_than)
        else:
            exceeds = error.exceeds_by(g, window, larger, smaller, exact, what.more_than, what.ulp_format)
        if what.more_than is not None and results[0].width == results[1].width:
            # Equal results have equal errors.  Stating it lets solvers prove bounds from the results alone;
            # where inputs are only to be found it costs time, as measured.
            exceeds = g.and_(exceeds, g.not_(g.eq(*results)))
        of_results = list(zip(results, what.result_formats, strict=True))
        numbers = assume(g, Assumptions(("finite",)), of_results, free)
        violated = g.and_(assumed, numbers, exceeds)
    made = ProgramsQuestion if isinstance(what, ProgramPair) else ErrorComparison
    return made(what, g, results, window, exact, (first, second), assumed, violated)


def _results(g: Graph, what: ComparedPrograms, a: list[Node], b: list[Node], c: Node) -> tuple[Node, Node]:
    """The result nodes of both programs."""
    if isinstance(what, ComparisonParameters) and what.form == "split":
        plan = _WORDS.with_settings(rounding=what.split_rounding).plan(1)
        for letter, row in (("a", a), ("b", b)):
            for i, word in enumerate(row):
                inputs = {"a": [word], "b": [word], "c": [word]}
                dag = program_dag(g, plan, inputs, f"{letter}{i}")
                for step in plan.rounded():
                    dag.words(step)
    inputs = {"a": a, "b": b, "c": [c]}
    first, second = (
        program_dag(g, p.plan(what.products), inputs, label).result
        for p, label in zip(what.programs, what.labels, strict=True)
    )
    return first, second


@dataclass(frozen=True, slots=True)
class ComparisonReplay:
    """The results and errors of both programs on one set of inputs.

    Ranges and units: results are encodings of the programs' formats; errors are absolute, None for a result
    that is not finite.
    """

    asked: ComparedPrograms
    witness: Witness
    assumed: bool
    integers: tuple[int, int]
    oracle: tuple[int, int]
    exact: Fraction | None
    #: Σ |a_k·b_k|.
    magnitudes: Fraction | None
    errors: Errors
    #: Whether the DAG evaluates to a larger error, as asked.
    violated: bool
    #: Whether the DAG's exact value and errors equal those in fractions.
    same_errors: bool

    @property
    def excess(self) -> Fraction | None:
        """The error asked about minus the other error; None where one is undefined."""
        first, second = self.errors
        if first is None or second is None:
            return None
        return first - second if self.asked.first_is_worse else second - first

    @property
    def ulps(self) -> tuple[Fraction, Fraction] | None:
        """Both errors in ulps of the exact value; None if it is zero or a result is not finite."""
        first, second = self.errors
        if first is None or second is None or not self.exact:
            return None
        unit = oracle.ulp(self.exact, self.asked.ulp_format)
        return first / unit, second / unit

    @property
    def excess_ulps(self) -> Fraction | None:
        """The excess in ulps of the exact value; None where it is undefined."""
        if self.excess is None or not self.exact:
            return None
        return self.excess / oracle.ulp(self.exact, self.asked.ulp_format)

    @property
    def excess_share(self) -> Fraction | None:
        """The excess divided by Σ |a_k·b_k|; None where it is undefined."""
        return self.excess / self.magnitudes if self.excess is not None and self.magnitudes else None

    @property
    def confirms(self) -> bool:
        """Whether integers and fractions agree that the inputs have the requested excess."""
        if not self.assumed or not self.violated or self.integers != self.oracle:
            return False
        if self.asked.differ:
            return self.oracle[0] != self.oracle[1]
        if not self.same_errors:
            return False
        if self.asked.more_than is None:
            return self.excess is not None and self.excess > 0
        if self.asked.measure == "sum":
            whole, excess = self.magnitudes, self.excess
            return whole is not None and excess is not None and excess > self.asked.more_than * whole
        return self.excess_ulps is not None and self.excess_ulps > self.asked.more_than


@lru_cache(maxsize=8)
def _evaluator(q: ErrorComparison) -> Concrete:
    return Concrete(q.graph, [q.assumed, q.violated, *q.results, q.exact, *q.errors])


#: Binades below the largest product in which a third product is tried: more than any unit keeps.
_DEPTH = 44


def worst_directed(q: ErrorComparison) -> dict[str, int] | None:
    """The directed inputs with the largest excess error that refute the claim; None where none do."""
    runs = [(w, q.replay(w.inputs())) for w in cancelling(q.parameters)]
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


def explain_program(p: Program, formats: Mapping[str, Any], run: ComparisonReplay) -> str:
    """The shell command that shows a program's stages on the inputs of a replay."""
    w, texts = run.witness, []
    for letter, row in (("a", w.a), ("b", w.b), ("c", (w.c,))):
        words = [format_value(formats[letter], x) for x in row]
        words = [hex_word(formats[letter], x) if "nan" in t else t for x, t in zip(row, words, strict=True)]
        texts.append(f"--{letter} {shlex.quote(','.join(words))}")
    return " ".join(["tcformal explain", shlex.quote(p.name), *texts])
