"""The schema of answers: what is written obeys it, and every kind of damage is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kept import certified, same, separated, unsettled, vacuous
from tcformal.errors import RecordError
from tcformal.query.question import Kind
from tcformal.solve.result import Status
from tcformal.store.answers import to_record
from tcformal.store.schema import SEAL, check, schema, seal, version

DATE = "2026-01-02T03:04:05Z"
Record = dict[str, Any]


@pytest.fixture(scope="module")
def separated_record() -> Record:
    """A record with witnesses."""
    return to_record(separated(), DATE)


@pytest.fixture(scope="module")
def certified_record() -> Record:
    """A record with a certificate."""
    return to_record(certified(), DATE)


def objects(part: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for x in part:
            yield from objects(x)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())
    assert schema()["properties"]["schema"]["const"] == version()


def test_the_schema_is_strict() -> None:
    """Each object that lists its keys needs them all, but for errors of results, and no other."""
    listed = [x for x in objects(schema()) if x.get("type") == "object" and "properties" in x]
    assert len(listed) >= 8
    for x in listed:
        assert x["additionalProperties"] is False
        assert set(x["properties"]) - set(x["required"]) <= {
            "exact",
            "errors",
            "errors_ulps",
            "commit",
            "theorems",
            "machine",
        }


def test_the_schema_knows_every_verdict_and_status() -> None:
    properties = schema()["properties"]
    assert properties["verdict"]["enum"] == [kind.name for kind in Kind]
    answers = properties["solvers"]["items"]["properties"]["answer"]["enum"]
    assert answers == [status.value for status in Status]


@pytest.mark.parametrize(
    "made",
    [
        separated,
        same,
        certified,
        vacuous,
        unsettled,
        lambda: unsettled(Kind.ERROR),
        lambda: unsettled(Kind.UNKNOWN),
    ],
)
def test_what_is_written_obeys_it(made: Callable[[], Any]) -> None:
    check(to_record(made(), DATE))


def put(place: str, value: Any) -> Callable[[Record], None]:
    """A change of one place, named by its keys."""

    def change(record: Record) -> None:
        *path, last = [int(x) if x.isdecimal() else x for x in place.split("/")]
        here: Any = record
        for key in path:
            here = here[key]
        here[last] = value

    return change


def drop(key: str) -> Callable[[Record], None]:
    """A change that leaves a key out."""
    return lambda record: record.__delitem__(key)


SEPARATED_DAMAGE = [
    *((f"no {key}", drop(key)) for key in schema()["required"] if key != SEAL),
    ("unknown key", put("note", "x")),
    ("unknown key of the question", put("question/title", "x")),
    ("unknown key of a solver", put("solvers/0/pid", 1)),
    ("another version", put("schema", 99)),
    ("unknown verdict", put("verdict", "PROBABLY")),
    ("small letters", put("verdict", "separated")),
    ("a verdict that has no witness", put("verdict", "EQUIVALENT")),
    ("no witness", put("witness", None)),
    ("no found witness", put("found_witness", None)),
    ("no results", put("results", None)),
    ("one result", put("results", {"first": {"hex": "0x0", "value": "0"}})),
    ("a certificate of a witness", put("certificate", {})),
    ("an empty reason", put("reason", "")),
    ("k of zero", put("question/k", 0)),
    ("k as text", put("question/k", "4")),
    ("no name", put("question/first", "")),
    ("a format that is none", put("question/formats/a", 16)),
    ("assumptions as text", put("question/assumptions", "finite")),
    ("an assumption twice", put("question/assumptions", ["finite", "finite"])),
    ("a short hash", put("question/sha256", "09771fabce4d")),
    ("a hash in capitals", put("question/sha256", "A" * 64)),
    ("a value without its encoding", put("witness/a/0", {"value": "1"})),
    ("an encoding in decimal", put("witness/a/0/hex", "29696")),
    ("a number as value", put("witness/a/0/value", 16384)),
    ("no row", put("witness/a", [])),
    ("an unknown status", put("solvers/0/answer", "maybe")),
    ("negative seconds", put("solvers/0/seconds", -1)),
    ("a model of decimals", put("solvers/0/model", {"c": 5})),
    ("no time", put("limits/time_s", 0)),
    ("memory of a half", put("limits/memory_mb", 0.5)),
    ("a seed below zero", put("limits/seed", -1)),
    ("a local date", put("date", "2026-01-02T03:04:05+01:00")),
    ("a date only", put("date", "2026-01-02")),
    ("seconds as text", put("seconds", "1.25")),
    ("a theorem without a name", put("theorems", [""])),
]

CERTIFIED_DAMAGE = [
    ("neither certificate nor second solver", put("certificate", None)),
    ("a verdict that has no certificate", put("verdict", "UNKNOWN")),
    ("a witness of equality", put("witness", {})),
    ("a file elsewhere", put("certificate/file", "../secrets")),
    ("a file of another kind", put("certificate/file", "certificates/x.drat.xz")),
    ("another format", put("certificate/format", "LRAT")),
    ("steps below zero", put("certificate/steps", -1)),
    ("a short digest", put("certificate/cnf_sha256", "ab")),
    ("an unknown key", put("certificate/note", "")),
    ("vacuous without an assumption",
     lambda r: (put("verdict", "VACUOUS")(r), put("question/assumptions", [])(r))),
]  # fmt: skip


def refused(record: Record, change: Callable[[Record], Any]) -> None:
    """The changed record is refused on reading, and on writing, which sets the version itself."""
    changed = copy.deepcopy(record)
    change(changed)
    with pytest.raises(RecordError, match=r"^expected a record as its schema says, but at "):
        check(changed)
    if changed.get("schema") != version():
        assert seal(changed) == seal(record)
        return
    with pytest.raises(RecordError, match=r"^expected a record as its schema says, but at "):
        seal(changed)


@pytest.mark.parametrize(
    "change", [pytest.param(change, id=name) for name, change in SEPARATED_DAMAGE]
)  # fmt: skip
def test_damage_rejects(separated_record: Record, change: Callable[[Record], Any]) -> None:
    refused(separated_record, change)


@pytest.mark.parametrize(
    "change", [pytest.param(change, id=name) for name, change in CERTIFIED_DAMAGE]
)  # fmt: skip
def test_damage_of_a_certificate_rejects(certified_record: Record, change: Callable[[Record], Any]) -> None:
    refused(certified_record, change)


@pytest.mark.parametrize(
    "change",
    [
        put("reason", "z3 found inputs"),
        put("witness/b/0/hex", "0x3c01"),
        put("question/first", "tfdpa@products=8"),
        put("solvers/0/version", "2.0"),
        put("seconds", 0.1),
        put("tcformal", "0.2.0"),
    ],
)
def test_an_alteration_that_the_schema_allows_rejects(
    separated_record: Record, change: Callable[[Record], Any]
) -> None:
    changed = copy.deepcopy(separated_record)
    change(changed)
    with pytest.raises(RecordError, match=r"^expected a record that nobody altered, of digest "):
        check(changed)


def test_a_number_that_json_does_not_have_rejects(separated_record: Record) -> None:
    changed = copy.deepcopy(separated_record)
    changed["seconds"] = float("inf")
    with pytest.raises(RecordError, match=r"^expected a record of plain data, but got: "):
        check(changed)
