"""What a stored answer looks like: a JSON Schema, and a digest of each record that shows any alteration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from tcformal.errors import RecordError

#: The key under which a record keeps the digest of all its other keys.
SEAL = "record_sha256"

#: Characters of the schema's own complaint that a sentence shows.
_LONGEST = 160


def schema(kind: str = "answer") -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of record: `answer`, `claim` or `lemma`."""
    found: dict[str, Any] = json.loads(
        files("tcformal.store").joinpath(f"{kind}.schema.json").read_text(encoding="utf-8")
    )
    return found


@cache
def version(kind: str = "answer") -> int:
    """The version of a kind's schema that is written, and the only one that is read."""
    return int(schema(kind)["properties"]["schema"]["const"])


@cache
def _validator(kind: str) -> Any:
    # Imported here: most commands neither read nor write a record.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(kind))


def now() -> str:
    """The time of a record, in UTC and to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest_of(record: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, whatever the order of its keys."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Plain data with the digest of all its other keys."""
    plain = {key: value for key, value in record.items() if key != SEAL}
    return {**plain, SEAL: digest_of(plain)}


def seal(record: Mapping[str, Any], kind: str = "answer") -> dict[str, Any]:
    """A record with version and digest; RecordError for one that is not as the schema of its kind says."""
    made = sealed({**record, "schema": version(kind)})
    check(made, kind)
    return made


def check(record: Mapping[str, Any], kind: str = "answer") -> None:
    """Check a record against its schema and its own digest; RecordError with what is wrong first."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(record))
    if error is not None:
        place = "/".join(map(str, error.absolute_path)) or "its top"
        said = error.message if len(error.message) <= _LONGEST else error.message[:_LONGEST] + "…"
        raise RecordError(f"expected a record as its schema says, but at {place} {said}")
    try:
        found = sealed(record)[SEAL]
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected a record of plain data, but got: {error}") from error
    if found != record[SEAL]:
        raise RecordError(
            f"expected a record that nobody altered, of digest {record[SEAL][:12]}, but got {found[:12]}"
        )
