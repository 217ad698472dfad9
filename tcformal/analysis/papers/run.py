"""Execution of query files: every ask is answered, compared with its expectation, and stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.analysis.bounds.accuracy import Accuracy, accuracy
from tcformal.analysis.bounds.programs import ProgramAccuracy, program_accuracy
from tcformal.analysis.papers.checked import (
    algorithm_asked,
    check_asks,
    claim_of,
    error_asked,
    golden_witness,
    mistake,
)
from tcformal.analysis.papers.files import Ask, QueryFile, find
from tcformal.analysis.papers.measured import measure, measure_asked
from tcformal.backends.concrete import Concrete
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.values import format_value, parse_value
from tcformal.programs.chain import circuit
from tcformal.query.assume import from_texts
from tcformal.query.claims.answered import answered
from tcformal.query.comparison.error_comparison import ErrorComparison, error_comparison
from tcformal.query.comparison.parameters import ProgramPair
from tcformal.query.engine import kept_or_answered
from tcformal.query.options import SolveOptions, solve_options
from tcformal.query.pair import question
from tcformal.query.programs import search_rows, worst
from tcformal.query.properties import property_question
from tcformal.query.question import Kind, Q, Question
from tcformal.query.replay import oracle_result
from tcformal.query.verdict import Verdict
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram
from tcformal.simulation.unit import Unit
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.store.store import Store

#: Outcomes that are no answer: they are asked again.
OPEN = frozenset({"UNKNOWN", "TIMEOUT", "ERROR"})
#: What errors are stated in: 2^-24.
_SCALE = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An ask of a query file with its outcome, which is derived from the verdict.

    Ranges and units: `seconds` is the wall time of the answer when it was given.
    """

    query: str
    ask: Ask
    #: The name of a verdict, or REPRODUCED or DIFFERENT.
    outcome: str
    seconds: float
    #: The verdict as plain data.
    answer: Mapping[str, Any] = field(default_factory=dict)
    #: When it was answered, if that was in an earlier run.
    served: str = ""
    #: Whether the evidence was checked in this run.
    checked: bool = True

    @property
    def as_expected(self) -> bool:
        """Whether the outcome equals the expected one and was checked in this run."""
        return self.checked and self.outcome == self.ask.expected


def question_asked(ask: Ask) -> Question:
    """The question of an ask of kind `separate`, `property` or `algorithm`, from current definitions."""
    assume = ask.body.get("assume", ())
    if ask.kind == "algorithm":
        return error_comparison(algorithm_asked(ask.body))
    if ask.kind == "property":
        spec = resolve(ask.body["unit"])
        return property_question(ask.body["property"], spec, from_texts(spec.operands.c, assume))
    first, second = (resolve(name) for name in ask.body["separate"])
    return question(first, second, from_texts(first.operands.c, assume))


def _ask(ask: Ask, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """Answer a question through the store."""
    v = _verdict(question_asked(ask), how, how.limits.time_s)
    return v.kind.name, v.to_json()


def _verdict(q: Q, how: SolveOptions, seconds: float) -> Verdict[Q]:
    """The stored verdict on a question, or a new one within `seconds`, which is stored."""
    limits = replace(how.limits, time_s=min(seconds, how.limits.time_s))
    return kept_or_answered(q, replace(how, limits=limits))


def _largest(ask: Ask, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """Search for the largest excess error within the ask's or the default time limit."""

    def one(q: ErrorComparison, seconds: float) -> Verdict[ErrorComparison]:
        return _verdict(q, how, seconds)

    asked = algorithm_asked(ask.body)
    if ask.body["algorithm"]["search"] == "random rows" and isinstance(asked, ProgramPair):
        rows = search_rows(asked, how.limits.seed)
        return ("FOUND" if rows.kind is Kind.VIOLATED else rows.kind.name), rows.to_json()
    seconds = ask.body["algorithm"].get("seconds", how.limits.time_s)
    outcome = worst(asked, one, seconds=seconds)
    return outcome.outcome, outcome.to_json()


def _evaluate(ask: Ask, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """Evaluate one input on lanes, integers and the oracle, and compare with the stated result.

    The three must agree; where they do not, the outcome is ERROR.
    """
    spec = resolve(ask.body["unit"])
    w = golden_witness(spec, ask.body["a"], ask.body["b"], ask.body["c"])
    wanted = parse_value(spec.operands.d, ask.body["d"])
    results = evaluate_three(spec, w)
    d = spec.operands.d
    data = {
        "unit": spec.name,
        "stated": {"hex": hex(wanted), "value": format_value(d, wanted)},
        "results": {name: {"hex": hex(raw), "value": format_value(d, raw)} for name, raw in results.items()},
    }
    if len(set(results.values())) > 1:
        return Kind.ERROR.name, data
    return ("REPRODUCED" if wanted in results.values() else "DIFFERENT"), data


def evaluate_three(spec: UnitSpec, w: Witness) -> dict[str, int]:
    """One dot product on each executable interpretation: raw encodings of the D format."""
    graph, root = circuit(spec, len(w.a))
    a, b = (np.array([row], dtype=np.uint64) for row in (w.a, w.b))
    lanes = Unit(spec).dot_bits(a, b, np.array([w.c], dtype=np.uint64))
    return {
        "lanes": int(lanes[0]),
        "integers": Concrete(graph, [root])(w.inputs())[0],
        "fractions": oracle_result(spec, w),
    }


def _claim(ask: Ask, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """Answer a claim about one unit through the store."""
    spec, name = resolve(ask.body["unit"]), claim_of(ask.body)
    v = answered(spec, name, how)
    if (store := how.store()) is not None:
        store.add_claim(v)
    return v.kind.name, v.to_json()


def _error(ask: Ask, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """The largest error of a unit or a program: BOUNDED where both numbers of the ask are met.

    FOUND: the inputs attain what is stated, but no bound is asked for, or none so small is proved.
    """
    x = error_asked(ask.body)
    made: Accuracy | ProgramAccuracy
    if isinstance(x.of, RunnableProgram):
        length = x.of.k if x.length is None else x.length
        made = program_accuracy(x.of, length=length, exponents=x.exponents)
        attained = made.near.ratio
    else:
        made = accuracy(x.of, length=x.length, promote=x.promote, subnormals=False)
        attained = Fraction(0) if made.attained is None else made.attained.ratio
    bound = None if made.bound is None else made.bound * _SCALE
    said = "no bound" if bound is None else f"at most {float(bound):.7g}·2^-24 of Σ|a_k·b_k|, proved"
    data = {
        "reason": f"{said}; {float(attained * _SCALE):.7g}·2^-24 attained"
        + (f"; {made.reason}" if made.reason else ""),
        "assumptions": list(made.conditions),
        "bound": None if bound is None else float(bound),
        "attained": float(attained * _SCALE),
        "checked": True,
    }
    if attained * _SCALE < x.attained:
        return Kind.UNKNOWN.name, data
    met = x.bound is not None and bound is not None and bound <= x.bound
    return ("BOUNDED" if met else "FOUND"), data


#: How each kind of ask is answered: the outcome, and the verdict as plain data.
ASKERS: dict[str, Callable[[Ask, SolveOptions], tuple[str, dict[str, Any]]]] = {
    "separate": _ask,
    "property": _ask,
    "claim": _claim,
    "algorithm": _ask,
    "largest": _largest,
    "evaluate": _evaluate,
    "error": _error,
    "measure": lambda ask, how: measure(measure_asked(ask.body), how),
}


def run(query: QueryFile, asks: Sequence[Ask], how: SolveOptions) -> Iterator[Answered]:
    """Answer every ask of a file in order; each answer is stored before the next question.

    Errors: InputError with the place in the file for names or values that do not fit (`check_asks` finds
    most of them before anything is asked); answers so far are kept.  UnknownNameError or
    MissingSolverError for a solver that cannot be asked.
    """
    if how.solvers is not None:
        check_members(how.solvers)  # now, so that what does not fit below is the file's mistake
    for ask in asks:
        start = time.monotonic()
        try:
            outcome, data = ASKERS[ask.kind](ask, how)
        except InputError as error:
            raise mistake(query, ask, error) from error
        yield Answered(
            query=query.name, ask=ask, outcome=outcome, answer=data,
            # An answer that the store served says how long it took when it was given.
            seconds=float(data.get("seconds", time.monotonic() - start)),
            served=str(data.get("answered", "")), checked=bool(data.get("checked", True)),
        )  # fmt: skip


def run_query(
    query: str | Path,
    *,
    settings: Mapping[str, str] | None = None,
    only: str | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: Store | None = None,
    fresh: bool = False,
) -> list[Answered]:
    """Answer every question of a query file, and compare with the expectations.

    Shapes: one result for each question of the file, in order; with `only`, for those with this text in
    their names.
    Ranges and units: `query` is a name such as `valpey/carry-bits`, or the path of a file that ends in
    `.toml`; `settings` give other values to its parameters; the other arguments are those of `separate`.
    Zero, NaN, Inf: as each question says.
    Errors: InputError with the place in the file for what does not fit; UnknownNameError for an unknown
    query, parameter or solver; MissingSolverError for a solver that is not installed; RecordError for an
    answer that cannot be kept.
    Source: the file's own (`source`).
    """
    file = find(str(query))
    asks = [ask for ask in file.concrete(settings) if only is None or only in ask.name]
    if not asks:
        raise InputError(f"expected an ask with {only!r} in its name, but found none")
    check_asks(file, asks)
    members = None if solvers is None else check_members(solvers)
    return list(run(file, asks, solve_options(limits, members, certify, store, fresh=fresh)))
