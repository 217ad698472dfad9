"""Comparison of two programs: does the first ever have the larger error?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcformal.checks import check_choice, check_int
from tcformal.oracle.interpreter import program_result
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import value_data
from tcformal.programs.program import Program, program_of
from tcformal.query.assume import Assumptions
from tcformal.query.keep import kept_or_answered
from tcformal.query.kinds.comparison.drawn import Drawn, draw
from tcformal.query.kinds.comparison.pair import ProgramPair
from tcformal.query.kinds.comparison.parameters import C_EXPONENTS
from tcformal.query.kinds.comparison.question import ErrorComparison, error_comparison
from tcformal.query.options import AnswerStore, solve_options
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.simulation.operands.witness import Witness, witness_data
from tcformal.simulation.runnable import RunnableProgram
from tcformal.solve.result import Limits

#: Products up to which a solver is asked unless another means is named.
SOLVED = 16
#: How a comparison is answered.
MEANS: dict[str, str] = {
    "solver": "random rows, then solvers: inputs, or a proof that there are none",
    "search": "random rows on lanes and kernels: inputs, or nothing",
}
#: Products of all random rows together.
_PRODUCTS, _MOST_ROWS = 1 << 20, 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramsCompared:
    """The answer to a comparison of two programs.

    Ranges and units: `drawn` counts random rows by their errors; None where a solver answered.
    """

    asked: ProgramPair
    means: str
    kind: Kind
    reason: str
    witness: Witness | None
    #: Encodings of both results on the witness.
    results: tuple[int, int] | None
    verdict: Verdict[ErrorComparison] | None
    drawn: Drawn | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data."""
        if self.verdict is not None:
            return {**self.verdict.to_json(), "means": self.means}
        data: dict[str, Any] = {
            "verdict": self.kind.name,
            "reason": self.reason,
            "claim": self.asked.claim,
            "programs": [p.name for p in self.asked.programs],
            "products": self.asked.products,
            "assumptions": self.asked.texts(),
            "means": self.means,
            "seconds": round(self.seconds, 3),
        }
        if self.drawn is not None:
            d = self.drawn
            data["rows"] = {
                "tried": d.tried, "compared": d.compared, "worse": d.worse, "better": d.better,
                "equal": d.equal,
            }  # fmt: skip
            data["largest_excess"] = None if d.excess is None else number_text(d.excess)
            data["largest_excess_approx"] = None if d.excess is None else float(d.excess)
            data["counted_in"] = self.asked.measure
        if self.witness is not None and self.results is not None:
            data["witness"] = witness_data(self.asked.formats, self.witness)
            named = zip(self.asked.labels, self.results, self.asked.result_formats, strict=True)
            data["results"] = {name: value_data(fmt, raw) for name, raw, fmt in named}
        return data


def compare_programs(
    worse: str | Program | RunnableProgram,
    other: str | Program | RunnableProgram,
    *,
    length: int = 1,
    assumptions: Assumptions | None = None,
    c_exponents: tuple[int, int] = C_EXPONENTS,
    more_than: Fraction | int | None = None,
    counted_in: str = "ulp",
    differ: bool = False,
    means: str | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ProgramsCompared:
    """Ask whether a program's error ever exceeds another's, or with `differ` whether results ever differ.

    Shapes: both take a and b of `length` elements and c, of the same formats.
    Ranges and units: errors are exact, against c + Σ a_k·b_k; `more_than` is the least excess, in ulps of the
    exact value or, with counted_in="sum", in parts of Σ|a_k·b_k|; exponents of non-zero a and b in
    `assumptions.exponents`, -15..14 unless given, that of a non-zero c in `c_exponents`.  `means` is
    "solver" (the default up to 16 products: inputs replayed on integers and fractions, or a proof) or
    "search" (random rows on lanes and kernels, the inputs replayed on fractions).  The other arguments are
    those of `separate`.
    Zero, NaN, Inf: a, b and c are finite; inputs with a result that is no number are no answer.
    Errors: InputError for programs, lengths or assumptions that do not fit; those of `separate`.  No answer
    is a verdict, not an error.
    Source: the programs' own.
    """
    start = time.monotonic()
    first, second = (program_of(x.program if isinstance(x, RunnableProgram) else x) for x in (worse, other))
    pair = ProgramPair(
        worse=first, other=second, products=check_int("length", length, low=1),
        assumptions=assumptions or Assumptions(), c_exponents=c_exponents,
        more_than=None if more_than is None else Fraction(more_than), counted_in=counted_in,
        results_differ=differ,
    )  # fmt: skip
    chosen = means or ("solver" if length <= SOLVED else "search")
    if check_choice("means", chosen, MEANS) == "search":
        return search_rows(pair, (limits or Limits()).seed)
    v = kept_or_answered(
        error_comparison(pair), solve_options(limits, solvers, certify, store, fresh=fresh, progress=progress)
    )
    results = None if v.replayed is None else v.replayed.integers
    return ProgramsCompared(
        asked=pair, means="solver", kind=v.kind, reason=v.reason, witness=_of(v, length), results=results,
        verdict=v, drawn=None, seconds=time.monotonic() - start,
    )  # fmt: skip


def _of(v: Verdict[ErrorComparison], length: int) -> Witness | None:
    return None if v.inputs is None else Witness.of(v.inputs, length)


def search_rows(pair: ProgramPair, seed: int) -> ProgramsCompared:
    """Compare on random rows, and replay the worst one in exact fractions."""
    start = time.monotonic()
    rows = max(8, min(_MOST_ROWS, _PRODUCTS // pair.products))
    found = draw(pair, rows, seed)
    kind, results = Kind.UNKNOWN, None
    reason = f"none of {found.compared} random rows shows it, which says nothing about the others"
    least = pair.more_than or Fraction(0)
    w = found.witness if pair.differ or (found.excess is not None and found.excess > least) else None
    if w is not None:
        again = [program_result(p.plan(pair.products), w.a, w.b, w.c) for p in pair.programs]
        results = (again[0], again[1])
        lanes = _on_lanes(pair, w)
        if lanes != results:
            kind, reason = Kind.ERROR, "the results of lanes and of exact fractions are not the same"
        else:
            kind = Kind.VIOLATED
            what = "differ" if pair.differ else "are worse"
            reason = (
                f"not always: {pair.claim}; {found.worse} of {found.compared} random rows {what}, "
                "the worst replayed on exact fractions"
            )
    return ProgramsCompared(
        asked=pair, means="search", kind=kind, reason=reason, witness=w, results=results, verdict=None,
        drawn=found, seconds=time.monotonic() - start,
    )  # fmt: skip


def _on_lanes(pair: ProgramPair, w: Witness) -> tuple[int, int]:
    import numpy as np

    a, b = (np.array([row], np.uint64) for row in (w.a, w.b))
    c = np.array([w.c], np.uint64)
    first, second = (int(RunnableProgram(p).evaluate(a, b, c)[0]) for p in pair.programs)
    return first, second
