"""Can one of two algorithms on a unit be further from the exact value than the other?

The algorithms are Markidis, which adds inside the unit, and Ootomo and Yokota, which adds outside
[VALPEY Property 5].  The exact value is that of the true inputs, in fixed-point integers of one window.
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

#: What the inputs a and b are.
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
class Asked:
    """What is asked; InputError for what does not fit together.

    Shapes: `products` products in one call, the unit's others being 0·0.
    """

    unit: UnitSpec
    form: str = "table5"
    #: The algorithm whose error is to be the larger one.
    worse: str = "ootomo-yokota"
    products: int = 4
    #: How the inputs are split; of no effect on halves.
    split_rounding: str = "RNE"
    #: Whether Ootomo and Yokota keep the product of the remainders.
    keep_last: bool = False
    #: Of a, b and c, but for the exponents, which are those of a and b.
    assumptions: Assumptions = field(default_factory=Assumptions)
    #: Range of c's exponent, where c is not zero.
    c_exponents: tuple[int, int] = C_EXPONENTS
    #: By how many ulps of the exact value, which then is not zero, the error is to be larger; None: at all.
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
        """Range of the exponents of a and b, where they are not zero."""
        return self.assumptions.exponents or EXPONENTS[self.form]

    def texts(self) -> list[str]:
        """What is assumed, one readable line for each."""
        (low, high), (c_low, c_high) = self.exponents, self.c_exponents
        return [
            *replace(self.assumptions, exponents=None).texts(),
            f"exponents of non-zero a and b in {low}..{high}",
            f"exponent of a non-zero c in {c_low}..{c_high}",
        ]

    @property
    def claim(self) -> str:
        """One sentence, true where the answer is no."""
        other = next(name for name in ALGORITHMS if name != self.worse)
        by = "" if self.more_than is None else f" by more than {number_text(self.more_than)} ulp"
        return f"the error of {ALGORITHMS[self.worse]} is never larger than that of {ALGORITHMS[other]}{by}"


@dataclass(frozen=True, slots=True, eq=False)
class ErrorComparison(Question):
    """A question, built.

    Shapes: inputs a[0], b[0], …, c are raw encodings; results (Markidis, Ootomo and Yokota) u[32];
    errors unsigned and `exact` signed numbers of the window.
    """

    asked_of: Asked
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


def asked(unit: str | Unit | UnitSpec, **settings: Any) -> Asked:
    """A question's parameters from a unit or its name; `products` is 4, or the unit's k if that is less."""
    spec = spec_of(unit)
    return Asked(**{"unit": spec, "products": min(4, spec.k), **settings})


def error_comparison(what: Asked) -> ErrorComparison:
    """Build the question."""
    g, fmt = Graph(), what.factor_format
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
        # Equal results have equal errors.  Saying so makes bounds quick to prove, at the results already;
        # where inputs are only to be found, it was measured to cost time.
        exceeds = g.and_(exceeds, g.not_(g.eq(*results)))
    else:
        exceeds = error.exceeds(g, larger, smaller)
    numbers = assume(g, Assumptions(("finite",)), [(r, SINGLE) for r in results], free)
    violated = g.and_(assumed, numbers, exceeds)
    return ErrorComparison(what, g, results, window, exact, (of_m, of_oy), assumed, violated)


def _results(g: Graph, what: Asked, a: list[Node], b: list[Node], c: Node) -> tuple[Node, Node]:
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
