"""Conversion of answers to records and back; whatever can be recomputed is not read from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tcformal.design.names import gives_back
from tcformal.errors import InputError, RecordError, TcformalError
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.pair import EqualityQuestion
from tcformal.query.question import Kind, Q, Question, build_question
from tcformal.query.verdict import DECIDED, Verdict, kept_as, reason_of
from tcformal.solve.certificate import Certificate
from tcformal.solve.members import registry
from tcformal.solve.result import Limits, SolverAnswer, Status
from tcformal.store.certificates import certificate_record
from tcformal.store.lines import Record
from tcformal.store.schema import digest_of, seal
from tcformal.theory.equality import EqualByTheorem, equal_by_theorem

#: Keys of a question that name units.
_NAMES = ("first", "second", "unit")


def identity(record: Mapping[str, Any]) -> str:
    """The identity of a record's question: a later record with an equal identity supersedes it."""
    return digest_of({key: value for key, value in record["question"].items() if key != "sha256"})


def identity_of(q: Question) -> str:
    """The identity of a question, under which its answer is stored."""
    return digest_of(q.parts())


def to_record(v: Verdict[Any], date: str) -> Record:
    """A verdict as a record with a date.

    Errors: RecordError for a question whose units cannot be built again from their names.
    """
    q = v.question
    parts = q.parts()
    _check_names(q, parts)
    return seal(
        {
            "question": {**parts, "sha256": q.digest()},
            "verdict": v.kind.name,
            "reason": v.reason,
            "witness": None if v.inputs is None else q.witness_data(v.inputs),
            "found_witness": None if v.found_inputs is None else q.witness_data(v.found_inputs),
            "results": None if v.replayed is None else q.results_data(v.replayed),
            "allowed": None if v.allowed is None else q.witness_data(v.allowed),
            "solvers": [_answer(a) for a in v.answers],
            "confirmed_by": list(v.confirmed_by),
            "limits": v.limits.to_json(),
            "seconds": v.seconds,
            "date": date,
            "tcformal": v.version,
            "commit": v.commit,
            "machine": v.machine,
            "certificate": None if v.certificate is None else certificate_record(v.certificate),
            **({} if v.theorems is None else v.theorems.to_json()),
        }
    )


def _check_names(q: Question, parts: Mapping[str, Any]) -> None:
    """Raise RecordError unless every unit's name resolves to that unit."""
    for key in _NAMES:
        if key not in parts:
            continue
        spec = getattr(q, key, None) or q.parameters.unit  # type: ignore[attr-defined]
        if not gives_back(spec):
            raise RecordError(f"expected a unit that its name gives back, but got {spec.name!r}")


def _answer(a: SolverAnswer) -> Record:
    model = None if a.model is None else {name: hex(value) for name, value in a.model.items()}
    return {**a.to_json(), "seconds": a.seconds, "reason": a.reason, "model": model}


def question_of(record: Mapping[str, Any]) -> Question:
    """Rebuild the question of a record from the current definitions.

    Errors: RecordError for units, formats or assumptions that no longer are those of the record.
    """
    parts = record["question"]
    try:
        q = build_question(parts)
    except RecordError:
        raise
    except TcformalError as error:
        raise RecordError(f"expected a question that can still be asked, but {error}") from error
    for key, value in q.parts().items():
        if value != parts[key]:
            raise RecordError(
                f"expected {key} {value} in the question, as its units have it, but got {parts[key]}"
            )
    return q


def check_definition(record: Mapping[str, Any], q: Question) -> None:
    """Raise RecordError unless a record's definition digest matches the rebuilt question."""
    if record["question"]["sha256"] != q.digest():
        raise RecordError(
            f"expected an answer about the definition {q.digest()[:12]}, which the units have today, but got "
            f"one about {record['question']['sha256'][:12]}: stale"
        )


def check_answers(record: Mapping[str, Any], q: Question) -> None:
    """Raise RecordError unless a decided verdict follows from the solvers' answers in the record.

    The rule is that of new answers: a finder for a witness; for none, two solvers on two encodings, or
    one whose proof is kept; and no solver with the contrary answer.
    """
    answers = {a["name"]: a["answer"] for a in record["solvers"]}
    unknown = answers.keys() - registry.keys() - {VECTORS_NAME}
    if unknown:
        raise RecordError(f"expected answers of known solvers, but got one of {min(unknown)}")
    verdict = Kind[record["verdict"]]
    if verdict not in (q.FOUND, q.NONE, Kind.VACUOUS):
        raise RecordError(
            f"expected {q.FOUND.name}, {q.NONE.name} or VACUOUS as the answer to a "
            f"question of kind {q.KIND}, but got {verdict.name}"
        )
    if "theorems" in record:
        applied_theorems(record, q)
        return
    if verdict is Kind.VACUOUS and not q.conditions():
        raise RecordError("expected assumptions in a question that is VACUOUS, but got none")
    needed, barred = ("sat", "unsat") if verdict is q.FOUND else ("unsat", "sat")
    if barred in answers.values():
        raise RecordError(f"expected no {barred} among the solvers' answers for {verdict.name}, but got "
                          f"{', '.join(answers.values())}")  # fmt: skip
    who = [*record["confirmed_by"], *([record["certificate"]["solver"]] if record["certificate"] else [])]
    for name in who:
        if answers.get(name) != needed:
            raise RecordError(f"expected {needed} from {name}, which confirms {verdict.name}, but got "
                              f"{answers.get(name, 'no answer')}")  # fmt: skip
    if verdict is not q.FOUND and not record["certificate"]:
        known = [registry[name] for name, answer in answers.items() if answer == needed and name in registry]
        if not any(one.confirms(other) for one in known for other in known):
            who = [name for name, answer in answers.items() if answer == needed]
            raise RecordError(
                f"expected two independent solvers or a certificate for {verdict.name}, but got "
                f"{needed} from {', '.join(who) or 'none'}"
            )


def applied_theorems(record: Mapping[str, Any], q: Question) -> EqualByTheorem | None:
    """Apply a record's theorems again; None for a record of solvers' answers.

    Errors: RecordError where they do not make the units of the question one, or others do.
    """
    if "theorems" not in record:
        return None
    equal = None
    if isinstance(q, EqualityQuestion):
        equal = equal_by_theorem(q.first, q.second, q.k, zero_c=q.assumptions.c == 0)
    named = [] if equal is None else [*equal.theorems]
    if equal is None or record["verdict"] != Kind.EQUIVALENT.name or named != record["theorems"]:
        raise RecordError(
            f"expected theorems by which the units are equal, but got {', '.join(record['theorems'])}"
        )
    return equal


def check_allowed(q: Question, record: Mapping[str, Any]) -> dict[str, int] | None:
    """The stored inputs that satisfy the assumptions of an EQUIVALENT or HOLDS verdict.

    None where the question has no assumptions.
    Errors: RecordError where they are missing, or do not obey the assumptions.
    """
    allowed = record["allowed"]
    needed = Kind[record["verdict"]] is q.NONE and bool(q.conditions())
    if needed != (allowed is not None):
        raise RecordError(
            f"expected {'' if needed else 'no '}inputs that show that the assumptions of {record['verdict']} "
            f"can hold, but got {'some' if allowed is not None else 'none'}"
        )
    if allowed is None:
        return None
    inputs = q.read_witness(allowed)
    if not q.replay(inputs).assumed:
        raise RecordError("expected inputs that obey the assumptions, but these do not")
    return inputs


def check_replays(q: Question, record: Mapping[str, Any]) -> Any:
    """Replay a record's witness on integers and on the oracle.

    Errors: RecordError where the found or the shrunk witness does not show what was asked about, or where
    the results are not those of the record.
    """
    replayed = None
    for which in ("found_witness", "witness"):
        replayed = q.replay(q.read_witness(record[which]))
        if not replayed.confirms:
            raise RecordError(f"expected a {which} that shows what was asked, but it does not replay")
    again = q.results_data(replayed)
    if again != record["results"]:
        raise RecordError(f"expected results {_short(again)}, but got {_short(record['results'])}")
    return replayed


def _short(results: Any) -> str:
    text = str(results)
    return text if len(text) <= 160 else text[:160] + "…"


def check_vectors(record: Mapping[str, Any], q: Question) -> None:
    """Raise RecordError where seeded vectors refute a record's verdict."""
    inputs = q.search(Limits().seed)
    if inputs is not None and q.replay(inputs).confirms:
        raise RecordError(f"expected no inputs that refute {record['verdict']}, but vectors found some")


def unchecked_verdict(q: Q, record: Mapping[str, Any]) -> Verdict[Q]:
    """The verdict UNKNOWN for a record whose evidence was not checked."""
    return Verdict(
        kind=Kind.UNKNOWN, reason=kept_as(record["verdict"], record["date"]), question=q,
        limits=read_limits(record), seconds=record["seconds"], version=record["tcformal"],
        commit=record.get("commit", ""), machine=record.get("machine", ""), served=record["date"],
        checked=False,
    )  # fmt: skip


def read_verdict(q: Q, record: Mapping[str, Any], certificate: Certificate | None) -> Verdict[Q]:
    """The verdict in a record, marked as served; its witness is replayed first.

    `certificate`: that of the record, which the caller has checked.  The reason is written anew from the
    evidence.
    Errors: RecordError for evidence that does not support the verdict.
    """
    kind = Kind[record["verdict"]]
    check_answers(record, q)
    allowed = check_allowed(q, record)
    found = kind is q.FOUND
    answers, equal = _answers(record["solvers"]), applied_theorems(record, q)
    return Verdict(
        kind=kind,
        reason=reason_of(kind, q, answers, certificate) if equal is None else equal.reason,
        theorems=equal,
        question=q,
        replayed=check_replays(q, record) if found else None,
        inputs=q.read_witness(record["witness"]) if found else None,
        found_inputs=q.read_witness(record["found_witness"]) if found else None,
        allowed=allowed,
        answers=answers,
        confirmed_by=tuple(record["confirmed_by"]),
        certificate=certificate,
        limits=read_limits(record),
        seconds=record["seconds"],
        version=record["tcformal"],
        commit=record.get("commit", ""),
        machine=record.get("machine", ""),
        served=record["date"],
    )


def read_limits(record: Mapping[str, Any]) -> Limits:
    """The limits of a record; RecordError for invalid ones."""
    try:
        return Limits(**record["limits"])
    except InputError as error:
        raise RecordError(str(error)) from error


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


def is_decided(record: Mapping[str, Any]) -> bool:
    """Whether a record's verdict is decided, so that the question need not be asked again."""
    return record.get("verdict") in [kind.name for kind in DECIDED]
