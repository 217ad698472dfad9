"""Error comparison: can one of two programs have a larger error than the other on the same inputs?

The exact value is that of the unsplit inputs, as a fixed-point integer of one window.  Markidis adds c inside
the unit, Ootomo and Yokota add it outside [VALPEY Property 5].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tcformal.design.unit import UnitSpec
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.programs import error
from tcformal.programs.dag import program_dag
from tcformal.programs.program import Program
from tcformal.query.assume import Assumptions, assume
from tcformal.query.kinds.comparison.pair import ProgramPair
from tcformal.query.kinds.comparison.parameters import ComparedPrograms, ComparisonParameters
from tcformal.query.question import Question
from tcformal.semantics.unpack import unpack
from tcformal.simulation.matrix_unit import Unit, spec_of

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
        """The node that is 1 where the assumptions hold and the error is larger as asked."""
        return self.violated


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
