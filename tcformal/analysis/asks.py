"""Asks of query files: parsed and checked, answered, and compared with their expectations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.analysis.bounds.accuracy import Accuracy, accuracy
from tcformal.analysis.bounds.program_accuracy import ProgramAccuracy, program_accuracy
from tcformal.analysis.bounds.word_forms import EXPONENTS
from tcformal.analysis.monotonicity import monotonicity
from tcformal.analysis.queryfile import Ask, QueryFile, find
from tcformal.analysis.samples import error_sample, weighted
from tcformal.backends.concrete import Concrete
from tcformal.checks import check_choice, check_int, check_positive, exponent_range, read_int
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, parse_value
from tcformal.programs.program import Program, program
from tcformal.query.assume import from_texts
from tcformal.query.claims.answered import answered
from tcformal.query.claims.register import CLAIMS, conditions, under
from tcformal.query.comparison.error_comparison import (
    ErrorComparison,
    comparison_parameters,
    error_comparison,
)
from tcformal.query.comparison.parameters import (
    ComparedPrograms,
    ComparisonParameters,
    ProgramPair,
    read_excess,
)
from tcformal.query.engine import kept_or_answered
from tcformal.query.options import SolveOptions, solve_options
from tcformal.query.pair import question
from tcformal.query.programs import search_rows, worst
from tcformal.query.properties import PROPERTIES, property_question
from tcformal.query.question import Kind, Question
from tcformal.query.verdict import Verdict
from tcformal.semantics.chain import circuit
from tcformal.shown import JsonObject, Shown, short
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.operands.given import witness_of
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import oracle_result
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.store.store import Store

#: What each kind of ask can come to.
OUTCOMES: dict[str, tuple[str, ...]] = {
    "separate": ("SEPARATED", "EQUIVALENT", "VACUOUS"),
    "property": ("HOLDS", "VIOLATED", "VACUOUS"),
    "claim": ("HOLDS", "VIOLATED"),
    "algorithm": ("HOLDS", "VIOLATED", "VACUOUS"),
    "largest": ("BOUNDED", "FOUND"),
    "error": ("BOUNDED", "FOUND"),
    "measure": ("REPRODUCED", "DIFFERENT", "FOUND", "HOLDS"),
    "evaluate": ("REPRODUCED", "DIFFERENT"),
}
#: An outcome, and the verdict as JSON.
Outcome = tuple[str, JsonObject]
#: Outcomes that are no answer: they are asked again.
OPEN = frozenset({"UNKNOWN", "TIMEOUT", "ERROR"})
#: What an ask of an algorithm can search for: the largest excess of one error over the other, or random
#: inputs with a larger error, for products of any number.
_SEARCHES = ("largest excess", "random rows")
#: What errors are stated in, 2^-24, and digits to which the largest one of random products is compared.
_SCALE, _DIGITS = 1 << 24, 4


# ---------------------------------------------------------------------- parsing
def read_number(name: str, text: str) -> Fraction:
    """Parse a nonnegative decimal number or fraction; InputError for another text."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"expected a number for {name}, but got {text!r}") from None
    if number < 0 or len(text) > 40:
        raise InputError(f"expected a number of at least 0 for {name}, but got {text!r}")
    return number


def _count(key: str, given: Any, low: int = 1) -> int:
    """An integer that a query file writes as such or as a text, in which a parameter was filled in."""
    return check_int(key, read_int(key, given) if isinstance(given, str) else given, low=low)


@dataclass(frozen=True, slots=True)
class MeasureAsked:
    """A parsed ask about a measured quantity, with its expectation.

    Ranges and units: `random`: the largest error of random products in units of u·|A||B|; `falls`: ulps by
    which the result falls at least where c grows by one step.  One of both.
    """

    of: Unit | RunnableProgram
    length: int
    random: Fraction | None
    falls: Fraction | None
    elements: int
    distribution: str
    seed: int


def measure_asked(body: Mapping[str, Any]) -> MeasureAsked:
    """Parse the key `measure`; InputError for invalid values."""
    values = body["measure"]
    of = computation(values["of"])
    if ("random" in values) == ("falls" in values):
        raise InputError("expected one of random and falls to measure")
    length = _count("length", values.get("length", of.k))
    elements, seed = (
        _count("elements", values.get("elements", 1024)),
        _count("seed", values.get("seed", 0), 0),
    )
    distribution = values.get("distribution", "normal")
    weighted(of.a_format, distribution)  # refuses what it does not know
    random, falls = (read_number(x, values[x]) if x in values else None for x in ("random", "falls"))
    return MeasureAsked(of, length, random, falls, elements, distribution, seed)


@dataclass(frozen=True, slots=True)
class ErrorAsked:
    """A parsed ask about the largest error of a unit or a program, with the expected bounds.

    Ranges and units: `bound`, the proved one at most, and `attained`, at least, in units of 2^-24·Σ|a_k·b_k|.
    """

    of: Unit | RunnableProgram
    length: int | None
    promote: int | None
    exponents: tuple[int, int]
    bound: Fraction | None
    attained: Fraction


def error_asked(body: Mapping[str, Any]) -> ErrorAsked:
    """Parse the key `error`; InputError for invalid values."""
    values = body["error"]
    of = computation(values["of"])
    length, promote = (_count(x, values[x]) if x in values else None for x in ("length", "promote"))
    if isinstance(of, RunnableProgram) and "promote" in values:
        raise InputError("expected promote with a unit only, but got it with a program")
    if isinstance(of, Unit) and "exponents" in values:
        raise InputError("expected exponents with a program only, but got them with a unit")
    among = exponent_range(values["exponents"]) if "exponents" in values else EXPONENTS
    bound = read_number("bound", values["bound"]) if "bound" in values else None
    return ErrorAsked(of, length, promote, among, bound, read_number("attained", values.get("attained", "0")))


def algorithm_asked(body: Mapping[str, Any]) -> ComparedPrograms:
    """The error comparison described by the key `algorithm`; InputError for invalid keys or values."""
    given = dict(body["algorithm"])
    pair = given.pop("programs", None)
    if (search := given.pop("search", None)) is not None:
        check_choice("search", search, _SEARCHES)
        check_positive("seconds", given.pop("seconds", 1))
        if "more_than" in given:
            raise InputError("expected search or more_than, but got both")
        if search == "random rows" and pair is None:
            raise InputError("expected programs beside random rows, but got none")
    kind: type[ComparedPrograms] = ComparisonParameters if pair is None else ProgramPair
    own = {"assumptions"} if pair is None else {"assumptions", "worse", "other"}
    unit = resolve(str(given.pop("unit", ""))) if pair is None else None
    for key in given:
        check_choice("key of algorithm", key, [f for f in kind.__dataclass_fields__ if f not in own])
    if "more_than" in given:
        given["more_than"] = read_excess(str(given["more_than"]))
    if "c_exponents" in given:
        given["c_exponents"] = _two_integers(given["c_exponents"])
    if "products" in given:
        given["products"] = _count("products", given["products"])
    for key in ("keep_last", "results_differ"):
        if not isinstance(given.get(key, False), bool):
            raise InputError(f"expected true or false for {key}, but got {given[key]!r}")
    assume = body.get("assume", ())
    if unit is not None:
        return comparison_parameters(unit, assumptions=from_texts(unit.operands.c, assume), **given)
    worse, other = programs_of(pair)
    return ProgramPair(
        worse=worse, other=other, assumptions=from_texts(worse.input_format("c"), assume), **given
    )  # fmt: skip


def programs_of(names: Any) -> tuple[Program, Program]:
    """The two programs that an ask names; InputError for anything but two names."""
    if not isinstance(names, list) or len(names) != 2:
        raise InputError(f"expected programs as [A, B], but got {names!r}")
    return program(str(names[0])), program(str(names[1]))


def _two_integers(value: Any) -> tuple[int, int]:
    """Parse a range of two integers."""
    if not isinstance(value, list) or len(value) != 2 or any(type(x) is not int for x in value):
        raise InputError(f"expected c_exponents as [low, high], but got {value!r}")
    return value[0], value[1]


def golden_witness(spec: UnitSpec, a: Sequence[str], b: Sequence[str], c: str) -> Witness:
    """Operands from texts; short lists are padded with zeros."""
    filled = [[*row, *["0"] * (spec.k - len(row))] for row in (a, b)]
    return witness_of(spec, filled[0], filled[1], c)


def claim_of(body: Mapping[str, Any]) -> str:
    """The full name of the claim in an ask, with its assumptions."""
    return under(body["claim"], from_texts(resolve(body["unit"]).operands.c, body.get("assume", ())))


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


# ---------------------------------------------------------------------- checks before anything is asked
def check_asks(query: QueryFile, asks: Sequence[Ask]) -> None:
    """Raise InputError for an invalid ask, naming file, ask, key and expectation."""
    for ask in asks:
        for key, attempt in _attempts(ask):
            try:
                attempt()
            except InputError as error:
                raise mistake(query, ask, error, f".{key}") from error


def mistake(query: QueryFile, ask: Ask, error: InputError, key: str = "") -> InputError:
    """An error with its place in the query file prepended."""
    place = f"ask.{ask.number}{key}"
    return InputError(f"expected a query file in {query.path}, but at {place} ({ask.name}): {error}")


def _attempts(ask: Ask) -> Iterator[tuple[str, Callable[[], object]]]:
    """The validations of an ask: each key, with a function that raises InputError if it is invalid."""
    body, kind = ask.body, ask.kind
    yield "expected", lambda: check_choice(f"outcome of {kind}", ask.expected, OUTCOMES[kind])
    if kind in ("algorithm", "largest"):
        if "programs" in body["algorithm"]:
            yield "algorithm.programs", lambda: programs_of(body["algorithm"]["programs"])
        else:
            yield "algorithm.unit", lambda: resolve(str(body["algorithm"].get("unit", "")))
        yield "algorithm", lambda: algorithm_asked({"algorithm": body["algorithm"]})
        yield "assume", lambda: algorithm_asked(body)
        return
    if kind in ("error", "measure"):
        yield kind, lambda: (error_asked if kind == "error" else measure_asked)(body)
        return
    key = "separate" if kind == "separate" else "unit"
    names = body["separate"] if kind == "separate" else [body["unit"]]
    for name in names:
        yield key, partial(resolve, name)
    o = resolve(names[0]).operands
    if kind == "evaluate":
        for letter, fmt in (("a", o.a), ("b", o.b), ("c", o.c), ("d", o.d)):
            for text in [body[letter]] if isinstance(body[letter], str) else body[letter]:
                yield letter, partial(parse_value, fmt, text)
        yield "a, b", lambda: golden_witness(resolve(names[0]), body["a"], body["b"], body["c"])
        return
    yield "assume", lambda: from_texts(o.c, body.get("assume", ()))
    if kind == "property":
        yield "property", lambda: check_choice("property", body["property"], PROPERTIES)
    if kind == "claim":
        yield "claim", lambda: check_choice("claim", body["claim"], CLAIMS)
        yield "assume", lambda: conditions(claim_of(body), resolve(body["unit"]))


# ---------------------------------------------------------------------- answers
@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Shown):
    """An ask of a query file with its outcome, which is derived from the verdict.

    Ranges and units: `seconds` is the wall time of the answer when it was given.

    Examples:
        >>> answer = tcformal.run_query("disagreements/truncation")[0]
        >>> answer.outcome, answer.as_expected
        ('SEPARATED', True)
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

    def _summary(self) -> str:
        expected = "" if self.as_expected else f", expected {self.ask.expected}"
        return f"{self.outcome} {short(self.query)}: {self.ask.name}{expected}"

    @property
    def as_expected(self) -> bool:
        """Whether the outcome equals the expected one and was checked in this run."""
        return self.checked and self.outcome == self.ask.expected


def _ask(ask: Ask, how: SolveOptions) -> Outcome:
    """Answer a question through the store."""
    v = kept_or_answered(question_asked(ask), how)
    return v.kind.name, v.to_json()


def _largest(ask: Ask, how: SolveOptions) -> Outcome:
    """Search for the largest excess error within the ask's or the default time limit."""

    def one(q: ErrorComparison, seconds: float) -> Verdict[ErrorComparison]:
        limits = replace(how.limits, time_s=min(seconds, how.limits.time_s))
        return kept_or_answered(q, replace(how, limits=limits))

    asked = algorithm_asked(ask.body)
    if ask.body["algorithm"]["search"] == "random rows" and isinstance(asked, ProgramPair):
        rows = search_rows(asked, how.limits.seed)
        return ("FOUND" if rows.kind is Kind.VIOLATED else rows.kind.name), rows.to_json()
    outcome = worst(asked, one, seconds=ask.body["algorithm"].get("seconds", how.limits.time_s))
    return outcome.outcome, outcome.to_json()


def _evaluate(ask: Ask, how: SolveOptions) -> Outcome:
    """Evaluate one input on lanes, integers and the oracle, and compare with the stated result.

    The three must agree; where they do not, the outcome is ERROR.
    """
    spec = resolve(ask.body["unit"])
    d, w = spec.operands.d, golden_witness(spec, ask.body["a"], ask.body["b"], ask.body["c"])
    wanted = parse_value(d, ask.body["d"])
    results = evaluate_three(spec, w)
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
    a, b, c = (np.array([row], dtype=np.uint64) for row in (w.a, w.b, w.c))
    return {
        "lanes": int(Unit(spec).dot_bits(a, b, c)[0]),
        "integers": Concrete(graph, [root])(w.inputs())[0],
        "fractions": oracle_result(spec, w),
    }


def _claim(ask: Ask, how: SolveOptions) -> Outcome:
    """Answer a claim about one unit through the store."""
    v = answered(resolve(ask.body["unit"]), claim_of(ask.body), how)
    if (store := how.store()) is not None:
        store.add_claim(v)
    return v.kind.name, v.to_json()


def _error(ask: Ask, how: SolveOptions) -> Outcome:
    """The largest error of a unit or a program: BOUNDED where both numbers of the ask are met.

    FOUND: the inputs attain what is stated, but no bound is asked for, or none so small is proved.
    """
    x = error_asked(ask.body)
    made: Accuracy | ProgramAccuracy
    if isinstance(x.of, RunnableProgram):
        length = x.of.k if x.length is None else x.length
        made = program_accuracy(x.of, length=length, exponents=x.exponents)
        attained = made.near.ratio * _SCALE
    else:
        made = accuracy(x.of, length=x.length, promote=x.promote, subnormals=False)
        attained = Fraction(0) if made.attained is None else made.attained.ratio * _SCALE
    bound = None if made.bound is None else made.bound * _SCALE
    said = "no bound" if bound is None else f"at most {float(bound):.7g}·2^-24 of Σ|a_k·b_k|, proved"
    data = {
        "reason": f"{said}; {float(attained):.7g}·2^-24 attained"
        + (f"; {made.reason}" if made.reason else ""),
        "assumptions": list(made.conditions),
        "bound": None if bound is None else float(bound),
        "attained": float(attained),
        "checked": True,
    }
    if attained < x.attained:
        return Kind.UNKNOWN.name, data
    met = x.bound is not None and bound is not None and bound <= x.bound
    return ("BOUNDED" if met else "FOUND"), data


def _measure(ask: Ask, how: SolveOptions) -> Outcome:
    """Measure a quantity: REPRODUCED or DIFFERENT for errors; FOUND, HOLDS or UNKNOWN for defects."""
    x = measure_asked(ask.body)
    if x.random is not None:
        return _random(x, x.random)
    defects = monotonicity(
        x.of, length=x.length, limits=how.limits, solvers=how.solvers, certify=how.certify, store=how.store(),
        fresh=how.fresh,
    )  # fmt: skip
    fall = defects.largest("c")
    checked = defects.claim is None or defects.claim.checked
    if fall is None:
        said = "proved not to" if defects.proved else "none found"
        outcome = "HOLDS" if defects.proved else "UNKNOWN"
        return outcome, {"checked": checked, "reason": f"falls where c grows: {said}"}
    met = x.falls is not None and fall.ulps >= x.falls
    return ("FOUND" if met else "UNKNOWN"), {
        "checked": checked, "reason": f"falls by {number_text(fall.ulps)} ulps where c grows, replayed twice",
        "ulps": float(fall.ulps), "relative": float(fall.relative),
        "inputs": [{k: hex(v) for k, v in w.inputs().items() if v} for w in (fall.first, fall.second)],
    }  # fmt: skip


def _random(x: MeasureAsked, stated: Fraction) -> Outcome:
    """The errors of seeded random products, compared with the stated largest one."""
    s = error_sample(x.of, x.length, elements=x.elements, distribution=x.distribution, seed=x.seed)
    q = s.quantiles
    largest = q.get(1.0, float("nan"))
    same = f"{largest:.{_DIGITS}g}" == f"{float(stated):.{_DIGITS}g}"
    reason = (
        f"{s.errors.size} products of {x.length}: median {q.get(0.5, 0):.4g}, largest {largest:.4g} in units "
        f"of 2^-{s.unit.d_format.precision}·|A||B|"
    )
    return ("REPRODUCED" if same else "DIFFERENT"), {"reason": reason, "largest": largest, "checked": True}


#: How each kind of ask is answered.
ASKERS: dict[str, Callable[[Ask, SolveOptions], Outcome]] = {
    "separate": _ask, "property": _ask, "claim": _claim, "algorithm": _ask, "largest": _largest,
    "evaluate": _evaluate, "error": _error, "measure": _measure,
}  # fmt: skip


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

    Examples:
        >>> for answer in tcformal.run_query("disagreements/truncation"):
        ...     print(repr(answer))
        <SEPARATED disagreements/truncation: one rounding to zero of the exact sum, or truncated terms>
        <REPRODUCED disagreements/truncation: 2 - 2^-40, terms truncated>
        <REPRODUCED disagreements/truncation: 2 - 2^-40, rounded to zero>
    """
    file = find(str(query))
    asks = [ask for ask in file.concrete(settings) if only is None or only in ask.name]
    if not asks:
        raise InputError(f"expected an ask with {only!r} in its name, but found none")
    check_asks(file, asks)
    members = None if solvers is None else check_members(solvers)
    return list(run(file, asks, solve_options(limits, members, certify, store, fresh=fresh)))
