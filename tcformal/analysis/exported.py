"""Records of export tests: designs that external tools have read and run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tcformal.analysis.records import records
from tcformal.callbacks import Warn, ignore
from tcformal.version import VERSION

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
