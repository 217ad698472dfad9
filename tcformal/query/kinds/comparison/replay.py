"""What inputs do when both algorithms are run again, on integers and on exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tcformal.interp.concrete import Concrete
from tcformal.operands.witness import Witness
from tcformal.oracle import algorithms as oracle
from tcformal.query.kinds.comparison.question import Asked, ErrorComparison


@dataclass(frozen=True, slots=True)
class ComparisonReplay:
    """What inputs do when both algorithms are run again.

    Ranges and units: results are fp32 encodings, (Markidis, Ootomo and Yokota); errors are absolute, None
    for a result that is no number.
    """

    asked: Asked
    witness: Witness
    assumed: bool
    integers: tuple[int, int]
    oracle: tuple[int, int]
    exact: Fraction | None
    errors: tuple[Fraction | None, Fraction | None]
    #: Whether the DAG says that the error is larger as asked.
    violated: bool
    #: Whether the DAG's exact value and errors are those of the fractions.
    same_errors: bool

    @property
    def excess(self) -> Fraction | None:
        """By how much the error asked about exceeds the other; None where there is no such number."""
        m, oy = self.errors
        if m is None or oy is None:
            return None
        return oy - m if self.asked.worse == "ootomo-yokota" else m - oy

    @property
    def ulps(self) -> tuple[Fraction, Fraction] | None:
        """Both errors in ulps of the exact value; None where that is zero or a result is no number."""
        m, oy = self.errors
        if m is None or oy is None or not self.exact:
            return None
        unit = oracle.ulp(self.exact)
        return m / unit, oy / unit

    @property
    def excess_ulps(self) -> Fraction | None:
        """The excess in ulps of the exact value."""
        if self.excess is None or not self.exact:
            return None
        return self.excess / oracle.ulp(self.exact)

    @property
    def violates(self) -> bool:
        """Whether integers and fractions agree that the error is larger as asked."""
        if not self.assumed or not self.violated or not self.same_errors or self.integers != self.oracle:
            return False
        if self.asked.more_than is None:
            return self.excess is not None and self.excess > 0
        return self.excess_ulps is not None and self.excess_ulps > self.asked.more_than

    @property
    def confirms(self) -> bool:
        """What every question asks of a replay: here, that the error is larger as asked."""
        return self.violates


def replay(q: ErrorComparison, inputs: Mapping[str, int]) -> ComparisonReplay:
    """Run inputs through both algorithms on integers and on the oracle, and compare the errors exactly."""
    what = q.asked_of
    w = Witness.of(inputs, what.products)
    assumed, violated, m, oy, raw_exact, *raw_errors = _evaluator(q)(w.inputs())
    again = oracle_results(what, w)
    exact = oracle.exact_sum(what.factor_format, w.a, w.b, w.c)
    errors: list[Fraction | None] = [None, None]
    same = exact is not None
    if exact is not None:
        unit = Fraction(2) ** q.window.low
        half = 1 << (q.exact.width - 1)
        same = unit * ((raw_exact ^ half) - half) == exact
        errors = [oracle.error(r, exact) for r in again]
        same = same and all(
            e is None or unit * raw == e for e, raw in zip(errors, raw_errors, strict=True)
        )  # fmt: skip
    return ComparisonReplay(
        what, w, bool(assumed), (m, oy), again, exact, (errors[0], errors[1]), bool(violated), same
    )


@lru_cache(maxsize=8)
def _evaluator(q: ErrorComparison) -> Concrete:
    return Concrete(q.graph, [q.assumed, q.violated, *q.results, q.exact, *q.errors])


def oracle_results(what: Asked, w: Witness) -> tuple[int, int]:
    """The results of Markidis, and of Ootomo and Yokota, on the Fraction oracle."""
    unit, mode = what.unit, what.split_rounding
    if what.form == "table5":
        return oracle.added_inside(unit, w.a, w.b, w.c), oracle.added_outside(unit, w.a, w.b, w.c)
    return (
        oracle.markidis(unit, w.a, w.b, w.c, mode),
        oracle.ootomo_yokota(unit, w.a, w.b, w.c, mode, keep_last=what.keep_last),
    )
