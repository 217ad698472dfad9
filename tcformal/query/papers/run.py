"""Run query files: every ask answered, compared with what is expected, and kept."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, RecordError
from tcformal.interp.concrete import Concrete
from tcformal.models import Unit, circuit
from tcformal.oracle.values import format_value, parse_value
from tcformal.query.assumptions import from_texts
from tcformal.query.kept.kept_claims import KeptClaims
from tcformal.query.kept.shelf import Shelf
from tcformal.query.kept.store import Store
from tcformal.query.papers.checked import algorithm_asked, golden_witness, mistake
from tcformal.query.papers.files import Ask, QueryFile
from tcformal.query.proofs.claims import prove_claim
from tcformal.query.proofs.lemmas import LemmaBook
from tcformal.query.proofs.same_parameters import definition
from tcformal.query.property import ask_property, property_question
from tcformal.query.replay import oracle_result
from tcformal.query.separate import answer
from tcformal.query.spec import Witness, question
from tcformal.query.verdict import Kind
from tcformal.query.worse import answer as worse
from tcformal.query.worse.question import worse_question
from tcformal.records.lines import append, read
from tcformal.records.schema import SCHEMA_VERSION, check, seal
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.version import VERSION

#: The file of answered asks inside a results folder.
RUNS = "queries.jsonl"

#: Outcomes that are no answer: they are asked again.
OPEN = frozenset({"UNKNOWN", "TIMEOUT", "ERROR"})


@dataclass(frozen=True, slots=True)
class Setting:
    """How questions are asked."""

    store: Store
    limits: Limits
    solvers: Sequence[str] | None = None
    certify: bool | None = None
    jobs: int | None = None
    fresh: bool = False
    #: The lemmas of all claims, and the claims kept so far: made when the first one is asked.
    _claims: list[tuple[LemmaBook, KeptClaims]] = field(default_factory=list, repr=False)

    def claims(self) -> tuple[LemmaBook, KeptClaims]:
        """The lemmas that claims share, and the claims of the results folder."""
        if not self._claims:
            shelf = Shelf(self.store.folder)
            keeper = None if self.fresh else shelf
            book = LemmaBook(members=self.solvers, limits=self.limits, certify=self.certify, keeper=keeper)
            self._claims.append((book, KeptClaims(shelf, lambda _: None)))
        return self._claims[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One ask of a query file with its outcome.

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

    @property
    def as_expected(self) -> bool:
        """Whether the outcome is the one that the file expects."""
        return self.outcome == self.ask.expected


def _separate(ask: Ask, how: Setting) -> tuple[str, dict[str, Any]]:
    """Ask whether two designs differ; the store keeps and serves the answer."""
    first, second = (resolve(name) for name in ask.body["separate"])
    q = question(first, second, from_texts(first.operands.c, ask.body.get("assume", ())))
    kept = None if how.fresh else how.store.find(q, certify=how.certify)
    v = kept or answer(q, solvers=how.solvers, limits=how.limits, certify=how.certify, jobs=how.jobs)
    if kept is None:
        how.store.add(v)
    return v.kind.name, v.to_json()


def _property(ask: Ask, how: Setting) -> tuple[str, dict[str, Any]]:
    """Ask whether a property holds of one unit."""
    spec = resolve(ask.body["unit"])
    q = property_question(ask.body["property"], spec, from_texts(spec.operands.c, ask.body.get("assume", ())))
    v = ask_property(q, solvers=how.solvers, limits=how.limits, certify=how.certify, jobs=how.jobs)
    return v.kind.name, v.to_json()


def _evaluate(ask: Ask, how: Setting) -> tuple[str, dict[str, Any]]:
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


def _claim(ask: Ask, how: Setting) -> tuple[str, dict[str, Any]]:
    """Prove a claim about one unit in steps; the shelf keeps and serves lemmas and claims."""
    spec, name = resolve(ask.body["unit"]), ask.body["claim"]
    book, claims = how.claims()
    v = None if how.fresh else claims.find(name, spec, certify=how.certify)
    if v is None:
        v = prove_claim(spec, name, book=book, limits=how.limits, members=how.solvers)
        claims.add(v)
    # The lemmas are kept once, on the shelf: an answer names them.
    data = v.to_json()
    return v.kind.name, {
        **data,
        "definition": definition(spec, spec.k),
        "lemmas": [lemma["sha256"] for lemma in data["lemmas"]],
    }


def _algorithm(ask: Ask, how: Setting) -> tuple[str, dict[str, Any]]:
    """Ask whether one algorithm can be further from the exact value than another."""
    q = worse_question(algorithm_asked(ask.body))
    v = worse.answer(q, solvers=how.solvers, limits=how.limits, certify=how.certify, jobs=how.jobs)
    return v.kind.name, v.to_json()


#: How each kind of ask is answered: the outcome, and the verdict as plain data.
ASKERS: dict[str, Callable[[Ask, Setting], tuple[str, dict[str, Any]]]] = {
    "separate": _separate,
    "property": _property,
    "claim": _claim,
    "algorithm": _algorithm,
    "evaluate": _evaluate,
}


def identity(query: str, ask: Ask) -> str:
    """SHA-256 of what is asked and of the models' version, under which an answer is kept."""
    asked = [query, ask.name, ask.kind, ask.body, VERSION]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def run(query: QueryFile, asks: Sequence[Ask], how: Setting) -> Iterator[Answered]:
    """Answer every ask of a file, in order; each answer is kept before the next one is looked for.

    Errors: InputError with the place in the file for names or values that do not fit (`check_asks` finds
    most of them before anything is asked); answers so far are kept.  UnknownNameError or
    MissingSolverError for a solver that cannot be asked.
    """
    if how.solvers is not None:
        check_members(how.solvers)  # now, so that what does not fit below is the file's mistake
    path = how.store.folder / RUNS
    kept = {} if how.fresh else answered_already(path)
    for ask in asks:
        record = kept.get(identity(query.name, ask))
        if record is not None and _still_holds(record):
            yield Answered(
                query=query.name, ask=ask, outcome=record["outcome"], seconds=record["seconds"],
                answer=record["answer"], served=record["date"],
            )  # fmt: skip
            continue
        start = time.monotonic()
        try:
            outcome, data = ASKERS[ask.kind](ask, how)
        except InputError as error:
            raise mistake(query, ask, error) from error
        # An answer that the store served says how long it took when it was given.
        seconds = float(data.get("seconds", time.monotonic() - start))
        made = Answered(query=query.name, ask=ask, outcome=outcome, seconds=seconds, answer=data)
        again = to_record(made)
        if record is None or _said(record) != _said(again):
            append(path, again)
        yield made


def to_record(a: Answered) -> dict[str, Any]:
    """One line of the file of answered asks."""
    record = {
        "schema": SCHEMA_VERSION,
        "id": identity(a.query, a.ask),
        "query": a.query,
        "ask": a.ask.name,
        "kind": a.ask.kind,
        "body": dict(a.ask.body),
        "outcome": a.outcome,
        "expected": a.ask.expected,
        "seconds": round(a.seconds, 3),
        "answer": dict(a.answer),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tcformal": VERSION,
    }
    return seal(record, "ask")


def _said(record: Mapping[str, Any]) -> str:
    """What a record says, in one order of its keys: the record's own date and time are no part of it."""
    return json.dumps([record[key] for key in ("id", "outcome", "expected", "answer")], sort_keys=True)


def answered_already(path: Path) -> dict[str, dict[str, Any]]:
    """The last record of each ask that was answered, by identity; one that its schema refuses is none."""
    lines, _ = read(path)
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            if line.data is not None:
                check(line.data, "ask")
                found[line.data["id"]] = line.data
        except RecordError:
            continue
    return {id_: record for id_, record in found.items() if record["outcome"] not in OPEN}


def _still_holds(record: Mapping[str, Any]) -> bool:
    """Whether the definitions that a record was made of are today's."""
    body, data = record["body"], record["answer"]
    if record["kind"] == "separate":
        first, second = (resolve(name) for name in body["separate"])
        q = question(first, second, from_texts(first.operands.c, body.get("assume", ())))
        return bool(q.digest() == data["question_sha256"])
    if record["kind"] == "property":
        spec = resolve(body["unit"])
        p = property_question(body["property"], spec, from_texts(spec.operands.c, body.get("assume", ())))
        return bool(p.digest() == data["question_sha256"])
    if record["kind"] == "claim":
        spec = resolve(body["unit"])
        return bool(definition(spec, spec.k) == data.get("definition"))
    if record["kind"] == "algorithm":
        return bool(worse_question(algorithm_asked(body)).digest() == data["question_sha256"])
    return False
