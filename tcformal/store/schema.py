"""The JSON Schema of each kind of record, and a digest of each record that detects alterations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from tcformal.errors import RecordError
from tcformal.store.lines import Record

#: The key of the digest of all other keys of a record.
SEAL = "record_sha256"

#: Characters of a schema error that a sentence quotes.
_LONGEST = 160


def schema(kind: str = "answer") -> Record:
    """The JSON Schema (draft 2020-12) of a kind of record: `answer`, `claim`, `lemma` or `proof`."""
    document: Record = json.loads(
        files("tcformal.store").joinpath(f"{kind}.schema.json").read_text(encoding="utf-8")
    )
    return document


@cache
def version(kind: str = "answer") -> int:
    """The schema version of a kind of record: the only version that is written and read."""
    return int(schema(kind)["properties"]["schema"]["const"])


@cache
def _validator(kind: str) -> Any:
    # Imported here: most commands neither read nor write a record.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(kind))


def now() -> str:
    """The current time in UTC, to the second, as records give it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest_of(record: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, independent of key order."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> Record:
    """Plain data with a digest over all its other keys."""
    plain = {key: value for key, value in record.items() if key != SEAL}
    return {**plain, SEAL: digest_of(plain)}


def seal(record: Mapping[str, Any], kind: str = "answer") -> Record:
    """Add version and digest to a record; RecordError unless it fits its kind's schema."""
    record_sealed = sealed({**record, "schema": version(kind)})
    check(record_sealed, kind)
    return record_sealed


def check(record: Mapping[str, Any], kind: str = "answer") -> None:
    """Check a record against its schema and its digest; RecordError with the first problem."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(kind).iter_errors(record))
    if error is not None:
        place = "/".join(map(str, error.absolute_path)) or "its top"
        message = error.message if len(error.message) <= _LONGEST else error.message[:_LONGEST] + "…"
        raise RecordError(f"expected a record as its schema says, but at {place} {message}")
    try:
        digest = sealed(record)[SEAL]
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected a record of plain data, but got: {error}") from error
    if digest != record[SEAL]:
        raise RecordError(
            f"expected a record that nobody altered, of digest {record[SEAL][:12]}, but got {digest[:12]}"
        )
