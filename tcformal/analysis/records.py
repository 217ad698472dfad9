"""Append-only record files of long computations: sealed lines, read again on resumption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from tcformal.callbacks import Warn
from tcformal.store import lines
from tcformal.store.schema import SEAL, sealed

SweepRecordType = TypeVar("SweepRecordType")

#: What JSON must hold for a field of such a type, as its class writes it.
_TYPES: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "tuple[str, ...]": lambda value: isinstance(value, list) and all(isinstance(x, str) for x in value),
}


def append(path: Path, record: Any) -> None:
    """Append one record with its digest, so that a crash leaves whole lines only."""
    lines.append(path, sealed(asdict(record)))


def records(path: Path, kind: type[SweepRecordType], warn: Warn) -> list[SweepRecordType]:
    """The lines that are records of that class, in order; other lines are skipped with a warning.

    A torn last line, which a killed writer leaves, is skipped without a warning: its work is done again.
    """
    rows = []
    for line in lines.read(path):
        data = dict(line.data or {})
        whole = line.data is not None and sealed(data) == line.data
        data.pop(SEAL, None)
        if whole and _fits(data, kind):
            rows.append(kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}))
        elif not line.torn:
            other = (
                f"expected a record that nobody altered in line {line.number} of {path}, "
                "but got another object"
            )
            warn(f"{line.problem or other}: it is passed over")
    return rows


def _fits(data: dict[str, Any], kind: type[SweepRecordType]) -> bool:
    wanted = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    return data.keys() == wanted.keys() and all(_TYPES[wanted[name]](value) for name, value in data.items())
