"""Validation of query files: every ask is parsed, and errors name their place, before any is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from tcformal.analysis.bounds.program.words import EXPONENTS
from tcformal.analysis.papers.files import Ask, QueryFile
from tcformal.analysis.papers.measured import measure_asked
from tcformal.analysis.papers.numbers import read_number
from tcformal.checks import check_choice, check_int, check_positive, exponent_range, read_int
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.oracle.values import parse_value
from tcformal.programs.program import Program, program
from tcformal.query.assume import from_texts
from tcformal.query.claims.register import CLAIMS, conditions, under
from tcformal.query.comparison.error_comparison import comparison_parameters
from tcformal.query.comparison.parameters import (
    ComparedPrograms,
    ComparisonParameters,
    ProgramPair,
    read_excess,
)
from tcformal.query.explain.given import witness_of
from tcformal.query.properties import PROPERTIES
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.runnable import RunnableProgram, computation
from tcformal.simulation.unit import Unit

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


#: What an ask of an algorithm can search for.
SEARCHES: dict[str, str] = {
    "largest excess": "inputs with the largest excess of one error over the other",
    "random rows": "random inputs with a larger error, for products of any number",
}


def check_asks(query: QueryFile, asks: Sequence[Ask]) -> None:
    """Raise InputError for an invalid ask, naming file, ask, key and expectation."""
    for ask in asks:
        for key, attempt in _attempts(ask):
            try:
                attempt()
            except InputError as error:
                raise mistake(query, ask, error, key) from error


def mistake(query: QueryFile, ask: Ask, error: InputError, key: str | None = None) -> InputError:
    """An error with its place in the query file prepended."""
    place = f"ask.{ask.number}" if key is None else f"ask.{ask.number}.{key}"
    return InputError(f"expected a query file in {query.path}, but at {place} ({ask.name}): {error}")


def algorithm_asked(body: Mapping[str, Any]) -> ComparedPrograms:
    """The error comparison described by the key `algorithm`; InputError for invalid keys or values."""
    given = dict(body["algorithm"])
    pair = given.pop("programs", None)
    if (search := given.pop("search", None)) is not None:
        check_choice("search", search, SEARCHES)
        check_positive("seconds", given.pop("seconds", 1))
        if "more_than" in given:
            raise InputError("expected search or more_than, but got both")
        if search == "random rows" and pair is None:
            raise InputError("expected programs beside random rows, but got none")
    kind: type[ComparedPrograms] = ComparisonParameters if pair is None else ProgramPair
    own = {"assumptions", "worse", "other"} if pair is not None else {"assumptions"}
    unit = resolve(str(given.pop("unit", ""))) if pair is None else None
    for key in given:
        names = [f for f in kind.__dataclass_fields__ if f not in own]
        check_choice("key of algorithm", key, names)
    if "more_than" in given:
        given["more_than"] = read_excess(str(given["more_than"]))
    if "c_exponents" in given:
        given["c_exponents"] = _two_integers(given["c_exponents"])
    if "products" in given:
        text = given["products"]
        number = read_int("products", text) if isinstance(text, str) else text
        given["products"] = check_int("products", number, low=1)
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
    numbers: dict[str, int | None] = {"length": None, "promote": None}
    for key in numbers:
        if key in values:
            text = values[key]
            number = read_int(key, text) if isinstance(text, str) else text
            numbers[key] = check_int(key, number, low=1)
    if isinstance(of, RunnableProgram) and "promote" in values:
        raise InputError("expected promote with a unit only, but got it with a program")
    if isinstance(of, Unit) and "exponents" in values:
        raise InputError("expected exponents with a program only, but got them with a unit")
    among = exponent_range(values["exponents"]) if "exponents" in values else EXPONENTS
    bound = read_number("bound", values["bound"]) if "bound" in values else None
    attained = read_number("attained", values.get("attained", "0"))
    return ErrorAsked(of, numbers["length"], numbers["promote"], among, bound, attained)


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
            texts = [body[letter]] if isinstance(body[letter], str) else body[letter]
            for text in texts:
                yield letter, partial(parse_value, fmt, text)
        yield "a, b", lambda: golden_witness(resolve(names[0]), body["a"], body["b"], body["c"])
        return
    yield "assume", lambda: from_texts(o.c, body.get("assume", ()))
    if kind == "property":
        yield "property", lambda: check_choice("property", body["property"], PROPERTIES)
    if kind == "claim":
        yield "claim", lambda: check_choice("claim", body["claim"], CLAIMS)
        yield "assume", lambda: conditions(claim_of(body), resolve(body["unit"]))


def claim_of(body: Mapping[str, Any]) -> str:
    """The full name of the claim in an ask, with its assumptions."""
    return under(body["claim"], from_texts(resolve(body["unit"]).operands.c, body.get("assume", ())))
