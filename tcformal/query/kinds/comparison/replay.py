"""Replay of an error comparison: both programs on integers and on exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tcformal.backends.concrete import Concrete
from tcformal.oracle import exact_errors as oracle
from tcformal.oracle.interpreter import program_result
from tcformal.query.kinds.comparison.parameters import ComparedPrograms
from tcformal.query.kinds.comparison.question import ErrorComparison
from tcformal.simulation.operands.witness import Witness


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
    errors: tuple[Fraction | None, Fraction | None]
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
    def violates(self) -> bool:
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
            if self.excess is None or self.magnitudes is None:
                return False
            return self.excess > self.asked.more_than * self.magnitudes
        return self.excess_ulps is not None and self.excess_ulps > self.asked.more_than

    @property
    def confirms(self) -> bool:
        """Whether the replay confirms the answer."""
        return self.violates


def replay(q: ErrorComparison, inputs: Mapping[str, int]) -> ComparisonReplay:
    """Run inputs through both programs on integers and on the oracle, with exact errors."""
    what = q.parameters
    w = Witness.of(inputs, what.products)
    assumed, violated, first, second, raw_exact, *raw_errors = _evaluator(q)(w.inputs())
    again = oracle_results(what, w)
    formats = what.formats
    products = oracle.exact_products(formats["a"], formats["b"], w.a, w.b)
    exact = oracle.exact_sum(products, formats["c"], w.c)
    errors: list[Fraction | None] = [None, None]
    same = exact is not None
    if exact is not None:
        unit = Fraction(2) ** q.window.low
        half = 1 << (q.exact.width - 1)
        same = unit * ((raw_exact ^ half) - half) == exact
        errors = [oracle.error(r, exact, fmt) for r, fmt in zip(again, what.result_formats, strict=True)]
        same = same and all(
            e is None or unit * raw == e for e, raw in zip(errors, raw_errors, strict=True)
        )  # fmt: skip
    return ComparisonReplay(
        asked=what, witness=w, assumed=bool(assumed), integers=(first, second), oracle=again, exact=exact,
        magnitudes=None if products is None else sum(map(abs, products), Fraction(0)),
        errors=(errors[0], errors[1]), violated=bool(violated), same_errors=same,
    )  # fmt: skip


@lru_cache(maxsize=8)
def _evaluator(q: ErrorComparison) -> Concrete:
    return Concrete(q.graph, [q.assumed, q.violated, *q.results, q.exact, *q.errors])


def oracle_results(what: ComparedPrograms, w: Witness) -> tuple[int, int]:
    """The results of both programs on the Fraction oracle."""
    first, second = (program_result(p.plan(what.products), w.a, w.b, w.c) for p in what.programs)
    return first, second
