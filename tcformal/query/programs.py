"""Comparison of two programs: does the first ever have the larger error, and how much larger?"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tcformal.checks import check_choice, check_int, check_positive
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import value_data
from tcformal.programs.error import ULP_STEP
from tcformal.programs.program import Program, program_of
from tcformal.query.assume import Assumptions
from tcformal.query.comparison.drawn import Drawn, draw
from tcformal.query.comparison.error_comparison import (
    ComparisonReplay,
    ErrorComparison,
    error_comparison,
    replayed_data,
    shrunk,
)
from tcformal.query.comparison.parameters import C_EXPONENTS, ComparedPrograms, ProgramPair
from tcformal.query.engine import kept_or_answered
from tcformal.query.options import AnswerStore, solve_options
from tcformal.query.question import Kind
from tcformal.query.verdict import Verdict
from tcformal.shown import JsonObject, Shown
from tcformal.simulation.operands.batch import batch_of
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
class ProgramsCompared(Shown):
    """The answer to a comparison of two programs.

    Ranges and units: `drawn` counts random rows by their errors; None where a solver answered.

    Examples:
        >>> found = tcformal.compare_programs("cutlass-3xtf32", "triton-3xtf32", differ=True)
        >>> found
        <VIOLATED, k=1: the results of cutlass-3xtf32 and triton-3xtf32 never differ>
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

    def _summary(self) -> str:
        return f"{self.kind.name}, k={self.asked.products}: {self.asked.claim}"

    def to_json(self) -> JsonObject:
        """The answer as plain data."""
        if self.verdict is not None:
            return {**self.verdict.to_json(), "means": self.means}
        data: JsonObject = {
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

    Examples:
        >>> tcformal.compare_programs("cutlass-3xtf32", "triton-3xtf32", differ=True).kind
        <Kind.VIOLATED: 'the claim is false of the inputs shown'>
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
    return ProgramsCompared(
        asked=pair, means="solver", kind=v.kind, reason=v.reason, verdict=v, drawn=None,
        witness=None if v.inputs is None else Witness.of(v.inputs, length),
        results=None if v.replayed is None else v.replayed.integers, seconds=time.monotonic() - start,
    )  # fmt: skip


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
        results, row = pair.oracle_results(w), batch_of([w])
        kind, what = Kind.VIOLATED, "differ" if pair.differ else "are worse"
        reason = (
            f"{pair.refuted}; {found.worse} of {found.compared} random rows {what}, "
            "the worst replayed on exact fractions"
        )
        if results != tuple(int(RunnableProgram(p).evaluate(row.a, row.b, row.c)[0]) for p in pair.programs):
            kind, reason = Kind.ERROR, "the results of lanes and of exact fractions are not the same"
    return ProgramsCompared(
        asked=pair, means="search", kind=kind, reason=reason, witness=w, results=results, verdict=None,
        drawn=found, seconds=time.monotonic() - start,
    )  # fmt: skip


#: Answers one question within a time limit in seconds.
AskComparison = Callable[[ErrorComparison, float], Verdict[ErrorComparison]]


@dataclass(frozen=True, slots=True)
class BoundStep:
    """One question of the search: does an excess above `more_than` ulps exist?"""

    more_than: Fraction
    kind: Kind
    #: The excess of the inputs that were found, in ulps.
    found: Fraction | None
    seconds: float


@dataclass(slots=True, kw_only=True)
class Worst:
    """A search for the largest excess, and its outcome: the largest one found, and the proved bound.

    Ranges and units: ulps of the exact value, where that is not zero.
    """

    asked: ComparedPrograms
    #: The inputs with the largest excess, replayed on integers and exact fractions; None: none were found.
    witness: Witness | None = None
    replayed: ComparisonReplay | None = None
    #: The verdict that proves the bound; None: no bound was proved.
    proof: Verdict[ErrorComparison] | None = None
    #: The last threshold without an answer.
    unanswered: Fraction | None = None
    steps: tuple[BoundStep, ...] = ()
    seconds: float = 0.0

    @property
    def excess(self) -> Fraction:
        """The largest excess found, in ulps; 0 where none was found."""
        return (self.replayed.excess_ulps if self.replayed is not None else None) or Fraction(0)

    @property
    def bound(self) -> Fraction | None:
        """The proved bound, in ulps: no inputs have a larger excess; None if none was proved."""
        return None if self.proof is None else self.proof.question.parameters.more_than

    @property
    def outcome(self) -> str:
        """The outcome: BOUNDED (known up to ULP_STEP), FOUND (inputs without a bound) or UNKNOWN."""
        if self.bound is not None and _up(self.excess) >= self.bound:
            return "BOUNDED"
        return "UNKNOWN" if self.witness is None else "FOUND"

    @property
    def reason(self) -> str:
        """The reason of the outcome, as one sentence."""
        excess_text = f"the largest excess found is {number_text(self.excess)} ulp"
        if self.bound is None or self.proof is None:
            return f"{excess_text}; no bound was proved"
        return f"{excess_text}; none is more than {number_text(self.bound)} ulp ({self.proof.reason})"

    def to_json(self) -> JsonObject:
        """The search as plain data."""
        proof = self.proof
        made = None if proof is None else proof.certificate
        data: JsonObject = {
            "claim": self.asked.claim,
            **self.asked.data(),
            "assumptions": self.asked.texts(),
            "reason": self.reason,
            "excess_ulps": number_text(self.excess),
            "bound_ulps": None if self.bound is None else number_text(self.bound),
            "certificate": None if made is None else made.to_json(),
            "steps": [
                {
                    "more_than_ulps": number_text(s.more_than),
                    "verdict": s.kind.name,
                    "found_ulps": None if s.found is None else number_text(s.found),
                    "seconds": round(s.seconds, 3),
                }
                for s in self.steps
            ],
            "seconds": round(self.seconds, 3),
            "checked": proof is None or proof.checked,
        }
        if self.witness is not None and self.replayed is not None:
            data["witness"] = witness_data(self.asked.formats, self.witness)
            data |= replayed_data(self.replayed)
        return data

    def _ask(self, more_than: Fraction, ask: AskComparison, seconds: float) -> None:
        """Ask one question; better inputs and a lower bound are kept."""
        q, found = error_comparison(replace(self.asked, more_than=more_than)), None
        v = ask(q, seconds)
        if v.kind is Kind.VIOLATED and v.found_inputs is not None:
            run = q.replay(v.found_inputs)
            found = run.excess_ulps
            if found is not None and found > self.excess:
                self.witness, self.replayed = run.witness, run
        elif v.kind is Kind.HOLDS:
            self.proof = v
        else:
            self.unanswered = more_than
        self.steps += (BoundStep(more_than, v.kind, found, v.seconds),)

    def _next(self) -> Fraction | None:
        """The next threshold: twice the excess found, or the midpoint to the lowest upper end.

        None where no threshold lies between.
        """
        if not self.steps:
            return Fraction(0)
        low = _up(self.excess)
        ends = [x for x in (self.bound, self.unanswered) if x is not None]
        if not ends:
            return max(2 * low, ULP_STEP)
        if low >= min(ends):
            return None
        return math.floor((low + min(ends)) / 2 / ULP_STEP) * ULP_STEP

    def _shrink(self, seconds: float) -> None:
        """Replace the best inputs by simpler ones with an excess smaller by less than ULP_STEP."""
        if self.witness is None:
            return
        q = error_comparison(replace(self.asked, more_than=_up(self.excess) - ULP_STEP))
        small = shrunk(q, self.witness.inputs(), seconds=seconds)
        run = q.replay(small.inputs())
        if run.confirms:
            self.witness, self.replayed = small, run


def _up(excess: Fraction) -> Fraction:
    """The next threshold above an excess."""
    return math.ceil(excess / ULP_STEP) * ULP_STEP


def worst(asked: ComparedPrograms, ask: AskComparison, *, seconds: float, shrinking_s: float = 4.0) -> Worst:
    """Search for the inputs with the largest excess error, in ulps of the exact value.

    The threshold doubles until no inputs are found, then the gap is halved down to ULP_STEP, within
    `seconds` in all.  A threshold without an answer is skipped, and the range below it is still searched.
    `ask` answers each question, for example from a store.
    Errors: InputError for arguments that do not fit.
    """
    check_positive("seconds", seconds)
    start = time.monotonic()
    found = Worst(asked=asked)
    while (left := start + seconds - time.monotonic()) > 0 and (threshold := found._next()) is not None:
        found._ask(threshold, ask, left)
    found._shrink(shrinking_s)
    found.seconds = time.monotonic() - start
    return found
