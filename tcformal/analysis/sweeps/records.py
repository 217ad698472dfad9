"""The records in a file of a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from tcformal.callbacks import Advance, Warn
from tcformal.files import lines, write
from tcformal.store.schema import SEAL, sealed

SweepRecordType = TypeVar("SweepRecordType")

#: What a piece of work gives: two counts, examples, and the results as bytes.
Judged = tuple[int, int, list[str], bytes]

#: What JSON must hold for a field of such a type, as its class writes it.
_TYPES: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "tuple[str, ...]": lambda value: isinstance(value, list) and all(isinstance(x, str) for x in value),
}


def append(path: Path, record: Any) -> None:
    """Add one record with its digest, so that a kill leaves whole lines only."""
    write.append(path, sealed(asdict(record)))


def records(path: Path, kind: type[SweepRecordType], warn: Warn) -> list[SweepRecordType]:
    """The lines that are records of that class, in order; other lines are skipped with a warning.

    A torn last line, which a killed writer leaves, is skipped without a warning: its unit is swept again.
    """
    found = []
    for line in lines.read(path)[0]:
        data = dict(line.data or {})
        whole = line.data is not None and sealed(data) == line.data
        data.pop(SEAL, None)
        if whole and _fits(data, kind):
            found.append(kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}))
        elif not line.torn:
            other = (
                f"expected a record of a sweep that nobody altered in line {line.number} of {path}, "
                "but got another object"
            )
            warn(f"{line.problem or other}: it is passed over")
    return found


def swept(
    names: Iterable[str],
    pieces: int,
    submit: Callable[[str, int], Future[Judged]],
    advance: Advance,
) -> Iterator[tuple[str, tuple[int, int], tuple[str, ...], str]]:
    """The pieces of work of every unit: its counts, its first examples and the digest of its results.

    `advance` takes the pieces of work done and in all.
    """
    listed = list(names)
    finished = 0
    for name in listed:
        jobs = [submit(name, i) for i in range(pieces)]
        first = second = 0
        examples: list[str] = []
        sums = hashlib.sha256()
        for job in jobs:
            one, other, shown, results = job.result()
            first, second, examples = first + one, second + other, examples + shown
            sums.update(results)
            finished += 1
            advance(finished, pieces * len(listed))
        yield name, (first, second), tuple(examples[:3]), sums.hexdigest()


def _fits(data: dict[str, Any], kind: type[SweepRecordType]) -> bool:
    wanted = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    return data.keys() == wanted.keys() and all(_TYPES[wanted[name]](value) for name, value in data.items())
