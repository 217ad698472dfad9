"""Error comparison: can one of two programs have a larger error than the other on the same inputs?

The exact value is that of the unsplit inputs, as a fixed-point integer of one window.  Markidis adds c inside
the unit, Ootomo and Yokota add it outside [VALPEY Property 5].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tcformal.backends.concrete import Concrete
from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.oracle import exact_errors as oracle
from tcformal.oracle.interpreter import program_result
from tcformal.programs import error
from tcformal.programs.dag import program_dag
from tcformal.programs.program import Program
from tcformal.query.assume import Assumptions, assume
from tcformal.query.comparison.parameters import ComparedPrograms, ComparisonParameters, ProgramPair
from tcformal.query.question import Kind, Question
from tcformal.semantics.unpack import unpack
from tcformal.shown import short
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.simulation.operands.witness import Witness

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


@dataclass(frozen=True, slots=True, eq=False)
class ErrorComparison(Question):
    """An error comparison, built as one DAG.

    Shapes: inputs a[0], b[0], …, c and the two results are raw encodings; errors are unsigned and `exact`
    is a signed number of the window.
    """

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


class ProgramsQuestion(ErrorComparison):
    """An error comparison of two programs, built as one DAG."""

    __slots__ = ()


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


def replay(q: ErrorComparison, inputs: Mapping[str, int]) -> ComparisonReplay:
    """Run inputs through both programs on integers and on the oracle, with exact errors."""
    what = q.parameters
    w = Witness.of(inputs, what.products)
    assumed, violated, first, second, raw_exact, *raw_errors = _evaluator(q)(w.inputs())
    again = oracle_results(what, w)
    products, exact, errors = exact_errors(what, w, again)
    unit, half = Fraction(2) ** q.window.low, 1 << (q.exact.width - 1)
    same = exact is not None and unit * ((raw_exact ^ half) - half) == exact
    same = same and all(e is None or unit * raw == e for e, raw in zip(errors, raw_errors, strict=True))
    return ComparisonReplay(
        asked=what, witness=w, assumed=bool(assumed), integers=(first, second), oracle=again, exact=exact,
        magnitudes=None if products is None else sum(map(abs, products), Fraction(0)),
        errors=errors, violated=bool(violated), same_errors=same,
    )  # fmt: skip


#: Exact errors of both programs; None for a result that is not finite.
Errors = tuple[Fraction | None, Fraction | None]


def exact_errors(
    what: ComparedPrograms, w: Witness, results: Sequence[int]
) -> tuple[list[Fraction] | None, Fraction | None, Errors]:
    """The exact products, their exact sum with c, and the errors of both results on fractions."""
    formats = what.formats
    products = oracle.exact_products(formats["a"], formats["b"], w.a, w.b)
    exact = oracle.exact_sum(products, formats["c"], w.c)
    if exact is None:
        return products, None, (None, None)
    first, second = (oracle.error(r, exact, fmt) for r, fmt in zip(results, what.result_formats, strict=True))
    return products, exact, (first, second)


@lru_cache(maxsize=8)
def _evaluator(q: ErrorComparison) -> Concrete:
    return Concrete(q.graph, [q.assumed, q.violated, *q.results, q.exact, *q.errors])


def oracle_results(what: ComparedPrograms, w: Witness) -> tuple[int, int]:
    """The results of both programs on the Fraction oracle."""
    first, second = (program_result(p.plan(what.products), w.a, w.b, w.c) for p in what.programs)
    return first, second
