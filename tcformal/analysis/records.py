"""Records of long computations: sealed lines, appended and read again; those of export tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tcformal.callbacks import Warn, ignore
from tcformal.store import lines
from tcformal.store.schema import SEAL, sealed
from tcformal.version import VERSION

SweepRecordType = TypeVar("SweepRecordType")


def append(path: Path, record: Any) -> None:
    """Append one record with its digest, so that a crash leaves whole lines only."""
    lines.append(path, sealed(asdict(record)))


def records(path: Path, kind: type[SweepRecordType], warn: Warn) -> list[SweepRecordType]:
    """The lines that are records of that class, in order; other lines are skipped with a warning.

    A torn last line, which a killed writer leaves, is skipped without a warning: its work is done again.
    """
    names, rows = {field.name for field in fields(kind)}, []  # type: ignore[arg-type]
    for line in lines.read(path):
        data = dict(line.data or {})
        problem = line.problem or (
            f"expected a record that nobody altered in line {line.number} of {path}, but got another object"
        )
        whole = line.data is not None and sealed(data) == line.data
        data.pop(SEAL, None)
        try:
            if not whole or data.keys() != names:
                raise msgspec.ValidationError
            rows.append(msgspec.convert(data, kind))
        except msgspec.ValidationError:
            if not line.torn:
                warn(f"{problem}: it is passed over")
    return rows


#: The file of the records, in the results folder.
EXPORTS = "exports.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRecord:
    """The results of external tools on one exported design: one line of the results file."""

    unit: str
    to: str
    #: SHA-256 of the definition: records of earlier ones are not counted.
    definition: str
    #: SHA-256 of the exported file: another file is read again.
    file: str
    #: The tools that read it, with their versions.
    tools: tuple[str, ...]
    #: What the first tool that refused the file said of it; empty where all took it.
    refused: str
    vectors: int
    seed: int
    #: Vectors on which a tool's result differs from that of integers.
    mismatches: int
    #: The first of them, ready for `tcformal explain`.
    examples: tuple[str, ...]
    version: str = VERSION

    @property
    def good(self) -> bool:
        """Whether all tools accepted the file and reproduced the integer results."""
        return not self.refused and not self.mismatches and self.vectors > 0


def held(path: Path, warn: Warn = ignore) -> list[ExportRecord]:
    """The last record of each design and format, in order."""
    return [*{(r.unit, r.to): r for r in records(path, ExportRecord, warn)}.values()]
