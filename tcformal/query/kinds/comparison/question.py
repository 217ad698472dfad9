"""Error comparison: can one of two algorithms on a unit have a larger error than the other?

Markidis adds c inside the unit, Ootomo and Yokota add it outside [VALPEY Property 5].  The exact value is
that of the unsplit inputs, as a fixed-point integer of one window.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tcformal.checks import check_choice, check_int
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.formats.spec import Format
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.matmul.unit import Unit, spec_of
from tcformal.oracle.text import number_text
from tcformal.programs import corrected, error
from tcformal.programs.split import HALF, SINGLE, SPLIT_ROUNDINGS, Split, split
from tcformal.query.assume import Assumptions, assume
from tcformal.query.question import Question
from tcformal.semantics.unpack import unpack

#: The formats of the inputs a and b, and the algorithms on them.
FORMS: dict[str, str] = {
    "table5": "halves: Markidis is TC(a·b, c), Ootomo and Yokota is RNE(TC(a·b, 0) + c)",
    "split": "singles, which both algorithms split into halves",
}
ALGORITHMS: dict[str, str] = {"markidis": "Markidis", "ootomo-yokota": "Ootomo and Yokota"}
#: Exponents of a and b in each form: those of VALPEY §6 (Type 1 of Ootomo and Yokota); of halves, their own.
EXPONENTS = {"table5": (-14, 14), "split": (-15, 14)}
#: Exponents of c: from where it reaches the lowest bit of a product, as in Table 5, to the largest product.
C_EXPONENTS = (-24, 30)
#: Beyond every exponent of c: a wider range would only make the exact sums wider.
EXPONENT_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonParameters:
    """The parameters of an error comparison.

    Shapes: `products` products in one call; the unit's other products are 0·0.
    Errors: InputError for parameters that do not fit together.
    """

    unit: UnitSpec
    form: str = "table5"
    #: The algorithm whose error is asked to be the larger one.
    worse: str = "ootomo-yokota"
    products: int = 4
    #: Rounding mode of the split; of no effect on halves.
    split_rounding: str = "RNE"
    #: Whether Ootomo and Yokota keep the product of the remainders.
    keep_last: bool = False
    #: Assumptions about a, b and c; their `exponents` bound a and b only.
    assumptions: Assumptions = field(default_factory=Assumptions)
    #: Range of the exponent of a non-zero c.
    c_exponents: tuple[int, int] = C_EXPONENTS
    #: Least excess of the error, in ulps of a non-zero exact value; None: any excess counts.
    more_than: Fraction | None = None

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("algorithm", self.worse, ALGORITHMS)
        check_choice("split rounding", self.split_rounding, SPLIT_ROUNDINGS)
        corrected.check_unit(self.unit, self.products)
        for name, value in self.assumptions.of_terms().items():
            raise InputError(f"expected no assumption {name} about two algorithms, but got {name}={value}")
        if self.keep_last and self.form != "split":
            raise InputError(f"expected keep_last with form=split only, but got form={self.form}")
        for bound in self.c_exponents:
            check_int("c_exponents", bound, low=-EXPONENT_LIMIT, high=EXPONENT_LIMIT)
        if self.c_exponents[0] > self.c_exponents[1]:
            raise InputError(f"expected c_exponents as (low, high), but got {self.c_exponents}")

    @property
    def factor_format(self) -> Format:
        """Format of a and b."""
        return HALF if self.form == "table5" else SINGLE

    @property
    def exponents(self) -> tuple[int, int]:
        """The range of the exponents of non-zero a and b."""
        return self.assumptions.exponents or EXPONENTS[self.form]

    def texts(self) -> list[str]:
        """The assumptions, one readable line each."""
        (low, high), (c_low, c_high) = self.exponents, self.c_exponents
        return [
            *replace(self.assumptions, exponents=None).texts(),
            f"exponents of non-zero a and b in {low}..{high}",
            f"exponent of a non-zero c in {c_low}..{c_high}",
        ]

    @property
    def claim(self) -> str:
        """The claim that the question may refute, as one sentence."""
        other = next(name for name in ALGORITHMS if name != self.worse)
        by = "" if self.more_than is None else f" by more than {number_text(self.more_than)} ulp"
        return f"the error of {ALGORITHMS[self.worse]} is never larger than that of {ALGORITHMS[other]}{by}"


@dataclass(frozen=True, slots=True, eq=False)
class ErrorComparison(Question):
    """An error comparison as one DAG.

    Shapes: inputs a[0], b[0], …, c are raw encodings; results (Markidis, Ootomo and Yokota) u[32]; errors
    are unsigned and `exact` is a signed number of the window.
    """

    parameters: ComparisonParameters
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
        """1 where the assumptions hold and the error is larger as asked."""
        return self.violated


def comparison_parameters(unit: str | Unit | UnitSpec, **settings: Any) -> ComparisonParameters:
    """The parameters of an error comparison; `products` is by default 4, or the unit's k if less."""
    spec = spec_of(unit)
    return ComparisonParameters(**{"unit": spec, "products": min(4, spec.k), **settings})


def error_comparison(what: ComparisonParameters, graph: Graph | None = None) -> ErrorComparison:
    """The error comparison of these parameters, in an empty graph, or a new one."""
    g, fmt = Graph() if graph is None else graph, what.factor_format
    a = [g.input(f"a[{i}]", fmt.width) for i in range(what.products)]
    b = [g.input(f"b[{i}]", fmt.width) for i in range(what.products)]
    free = g.input("c", SINGLE.width)
    fixed = what.assumptions.c
    # A c that is assumed is a constant from here on; the input remains, for the witness to name it.
    c = free if fixed is None else g.const(fixed, SINGLE.width)
    results = _results(g, what, a, b, c)

    span, c_span = what.exponents, what.c_exponents
    window = error.window(fmt, what.products, span, c_span)
    factors = [[unpack(g, x, fmt) for x in row] for row in (a, b)]
    last = unpack(g, c, SINGLE)
    exact = error.exact_sum(g, window, factors[0], factors[1], last, span, c_span)
    of_m, of_oy = (error.error(g, window, r, exact) for r in results)

    flags = (*what.assumptions.flags, "finite")
    of_factors, of_c = Assumptions(flags, span), Assumptions(flags, c_span, what.assumptions.c)
    words = [(x, fmt) for x in (*a, *b)]
    assumed = g.and_(assume(g, of_factors, words, free), assume(g, of_c, [(free, SINGLE)], free))
    larger, smaller = (of_oy, of_m) if what.worse == "ootomo-yokota" else (of_m, of_oy)
    if what.more_than is not None:
        exceeds = error.exceeds_by(g, window, larger, smaller, exact, what.more_than)
        # Equal results have equal errors.  Stating it lets solvers prove bounds from the results alone; where
        # inputs are only to be found it costs time, as measured.
        exceeds = g.and_(exceeds, g.not_(g.eq(*results)))
    else:
        exceeds = error.exceeds(g, larger, smaller)
    numbers = assume(g, Assumptions(("finite",)), [(r, SINGLE) for r in results], free)
    violated = g.and_(assumed, numbers, exceeds)
    return ErrorComparison(what, g, results, window, exact, (of_m, of_oy), assumed, violated)


def _results(
    g: Graph, what: ComparisonParameters, a: list[Node], b: list[Node], c: Node
) -> tuple[Node, Node]:
    """The results of Markidis, and of Ootomo and Yokota."""
    if what.form == "table5":
        inside = corrected.added_inside(g, what.unit, a, b, c)
        return inside, corrected.added_outside(g, what.unit, a, b, c)
    parts: dict[str, list[Split]] = {"a": [], "b": []}
    for letter, row in (("a", a), ("b", b)):
        for i, word in enumerate(row):
            with g.scope(f"{letter}{i}"):
                parts[letter].append(split(g, word, what.split_rounding))
    with g.scope("markidis"):
        first = corrected.markidis(g, what.unit, parts["a"], parts["b"], c)
    with g.scope("ootomo-yokota"):
        second = corrected.ootomo_yokota(
            g, what.unit, parts["a"], parts["b"], c, keep_last=what.keep_last
        )  # fmt: skip
    return first, second
