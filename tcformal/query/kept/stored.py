"""Answers as records, and records as answers: nothing of a record is believed that can be recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.formats.spec import Format
from tcformal.models import scale_count
from tcformal.oracle.values import format_value, value_data
from tcformal.query.assumptions import from_texts
from tcformal.query.replay import replay
from tcformal.query.spec import Question, Witness, question
from tcformal.query.verdict import Kind, Verdict
from tcformal.records.schema import SCHEMA_VERSION, digest_of, seal
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import registry
from tcformal.solve.result import Limits, SolverAnswer, Status

Record = dict[str, Any]

#: Verdicts that need no further asking.
SETTLED = (Kind.SEPARATED, Kind.EQUIVALENT, Kind.VACUOUS)

#: The folder of certificates inside a results folder.
CERTIFICATES = "certificates"


def asked(q: Question) -> dict[str, Any]:
    """What was asked, without the definition that it builds today: names, k, formats, assumptions."""
    o = q.first.operands
    return {
        "first": q.first.name,
        "second": q.second.name,
        "k": q.k,
        "formats": {"a": o.a.name, "b": o.b.name, "c": o.c.name, "d": o.d.name},
        "assumptions": q.assumptions.spellings(),
    }


def identity(record: Mapping[str, Any]) -> str:
    """The identity of what a record's question asked: a later record of the same identity supersedes it."""
    return digest_of({key: value for key, value in record["question"].items() if key != "sha256"})


def certificate_file(certificate: Certificate) -> str:
    """Where a certificate is kept inside a results folder."""
    return f"{CERTIFICATES}/{certificate.sha256}.drat.xz"


def to_record(v: Verdict, date: str) -> Record:
    """A verdict as a record of that date.

    Errors: RecordError for a question about units that their names do not give back.
    """
    q = v.question
    for spec in (q.first, q.second):
        try:
            named = resolve(spec.name)
        except TcformalError:
            named = None
        if named != spec:
            raise RecordError(f"expected a unit that its name gives back, but got {spec.name!r}")
    d = q.first.operands.d
    results = v.results and dict(zip(("first", "second"), (value_data(d, r) for r in v.results), strict=True))
    return seal(
        {
            "schema": SCHEMA_VERSION,
            "question": {**asked(q), "sha256": q.digest()},
            "same_definition": q.same_definition,
            "verdict": v.kind.name,
            "reason": v.reason,
            "witness": _witness(q, v.witness),
            "found_witness": _witness(q, v.found),
            "results": results,
            "solvers": [_answer(a) for a in v.answers],
            "confirmed_by": list(v.confirmed_by),
            "limits": {
                "time_s": v.limits.time_s,
                "memory_mb": v.limits.memory_mb,
                "seed": v.limits.seed,
            },
            "seconds": v.seconds,
            "date": date,
            "tcformal": v.version,
            "certificate": None if v.certificate is None else _certificate(v.certificate),
            "lemmas": [],
        }
    )


def _witness(q: Question, w: Witness | None) -> dict[str, Any] | None:
    if w is None:
        return None
    rows: dict[str, Any] = {
        name: [value_data(fmt, x) for x in getattr(w, name)]
        for name, fmt in _rows(q).items()
        if fmt is not None
    }
    return {"scale_a": [], "scale_b": [], **rows, "c": value_data(q.first.operands.c, w.c)}


def _rows(q: Question) -> dict[str, Format | None]:
    """The formats of a witness's rows; None for scales that the units do not take."""
    o, scale = q.first.operands, q.first.scale_format
    return {"a": o.a, "b": o.b, "scale_a": scale, "scale_b": scale}


def _answer(a: SolverAnswer) -> dict[str, Any]:
    model = None if a.model is None else {name: hex(value) for name, value in a.model.items()}
    return {
        "name": a.solver,
        "version": a.version,
        "answer": a.status.value,
        "seconds": a.seconds,
        "reason": a.reason,
        "model": model,
    }


def _certificate(c: Certificate) -> dict[str, Any]:
    return {**c.to_json(), "file": certificate_file(c), "seconds": c.seconds}


def question_of(record: Mapping[str, Any]) -> Question:
    """The question of a record, built again from today's definitions.

    Errors: RecordError for units, formats or assumptions that no longer are what the record says.
    """
    said = record["question"]
    try:
        one, other = resolve(said["first"]), resolve(said["second"])
        q = question(one, other, from_texts(one.operands.c, said["assumptions"]))
    except TcformalError as error:
        raise RecordError(f"expected a question that can still be asked, but {error}") from error
    now = asked(q)
    for key, value in now.items():
        if value != said[key]:
            raise RecordError(
                f"expected {key} {value} in the question, as its units have it, but got {said[key]}"
            )
    return q


def check_definition(record: Mapping[str, Any], q: Question) -> None:
    """RecordError where a record answers another definition than the one that `q` builds."""
    if record["question"]["sha256"] != q.digest():
        raise RecordError(
            f"expected an answer about the definition {q.digest()[:12]}, which the units have today, but got "
            f"one about {record['question']['sha256'][:12]}: stale"
        )


def check_answers(record: Mapping[str, Any]) -> None:
    """RecordError where a settled verdict does not follow from the solvers' own answers in the record."""
    said = {a["name"]: a["answer"] for a in record["solvers"]}
    verdict = Kind[record["verdict"]]
    needed, barred = ("sat", "unsat") if verdict is Kind.SEPARATED else ("unsat", "sat")
    if barred in said.values():
        raise RecordError(f"expected no {barred} among the solvers' answers for {verdict.name}, but got "
                          f"{', '.join(said.values())}")  # fmt: skip
    who = [*record["confirmed_by"], *([record["certificate"]["solver"]] if record["certificate"] else [])]
    for name in who:
        if said.get(name) != needed:
            raise RecordError(f"expected {needed} from {name}, which confirms {verdict.name}, but got "
                              f"{said.get(name, 'no answer')}")  # fmt: skip
    if verdict is not Kind.SEPARATED and not record["certificate"] and not record["lemmas"]:
        known = [registry[name] for name, answer in said.items() if answer == needed and name in registry]
        if not any(one.confirms(other) for one in known for other in known):
            who = [name for name, answer in said.items() if answer == needed]
            raise RecordError(
                f"expected two independent solvers or a certificate for {verdict.name}, but got "
                f"{needed} from {', '.join(who) or 'none'}"
            )


def read_witness(q: Question, data: Mapping[str, Any]) -> Witness:
    """A witness from a record; RecordError where encodings and values, or its shape, do not fit."""
    rows = {}
    for name, fmt in _rows(q).items():
        count = q.k if name in "ab" else scale_count(q.first, q.k)
        if len(data[name]) != count:
            raise RecordError(f"expected {count} values for {name} of the witness, but got {len(data[name])}")
        rows[name] = tuple(_raw(fmt, x) for x in data[name]) if fmt is not None else ()
    return Witness(
        rows["a"], rows["b"], _raw(q.first.operands.c, data["c"]), rows["scale_a"], rows["scale_b"]
    )


def _raw(fmt: Format, data: Mapping[str, str]) -> int:
    raw = int(data["hex"], 16)
    try:
        value = format_value(fmt, raw)
    except InputError as error:
        raise RecordError(str(error)) from error
    if value != data["value"]:
        raise RecordError(f"expected {value} as the value of {data['hex']}, but got {data['value']}")
    return raw


def check_replays(q: Question, record: Mapping[str, Any]) -> None:
    """RecordError where a SEPARATED record's witnesses do not replay on integers and on the oracle."""
    d = q.first.operands.d
    results = tuple(_raw(d, record["results"][side]) for side in ("first", "second"))
    for which in ("witness", "found_witness"):
        again = replay(q, read_witness(q, record[which]))
        if not again.separates:
            raise RecordError(f"expected a {which} on which the two units differ, but it does not replay")
        if which == "witness" and again.integers != results:
            got = " and ".join(map(hex, results))
            raise RecordError(f"expected results {' and '.join(map(hex, again.integers))}, but got {got}")


def read_verdict(q: Question, record: Mapping[str, Any], certificate: Certificate | None) -> Verdict:
    """A record as the verdict on `q`, marked as served; what can be checked has been checked before."""
    witness, found, results = (record[key] for key in ("witness", "found_witness", "results"))
    d = q.first.operands.d
    return Verdict(
        kind=Kind[record["verdict"]],
        reason=record["reason"],
        question=q,
        witness=None if witness is None else read_witness(q, witness),
        found=None if found is None else read_witness(q, found),
        results=None if results is None else (_raw(d, results["first"]), _raw(d, results["second"])),
        answers=_answers(record["solvers"]),
        confirmed_by=tuple(record["confirmed_by"]),
        certificate=certificate,
        limits=Limits(**record["limits"]),
        seconds=record["seconds"],
        version=record["tcformal"],
        served=record["date"],
    )


def _answers(rows: Sequence[Mapping[str, Any]]) -> tuple[SolverAnswer, ...]:
    return tuple(
        SolverAnswer(
            solver=row["name"],
            version=row["version"],
            status=Status(row["answer"]),
            model=row["model"] and {name: int(text, 16) for name, text in row["model"].items()},
            seconds=row["seconds"],
            reason=row["reason"],
        )
        for row in rows
    )
