"""Kept results compared with the current models, unit by unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tcformal.callbacks import Advance, ignore_count
from tcformal.probe.log.results import Run, pieces_of, read_runs, unit_of
from tcformal.probe.log.written import mismatches_in
from tcformal.probe.sealed import check_summary


@dataclass(frozen=True, slots=True)
class Checked:
    """The last run of one unit: its outputs, the number that the model gives now, and what is missing."""

    unit: str
    device: dict[str, str]
    #: Dot products that were compared, those of which only a digest is kept, and mismatches.
    count: int
    sealed: int
    mismatches: int
    #: The missing part of the run, in one clause; empty for a complete run.
    lacks: str = ""


def recheck(path: Path, advance: Advance = ignore_count) -> Iterator[Checked]:
    """Compare the last run of each unit of a file or of a folder's campaign with the current model.

    Errors: RecordError for a file without results, or whose outputs cannot be read back.
    """
    runs = read_runs(path)
    check_summary(path)
    latest = {run.head["unit"]: run for run in runs}
    for done, run in enumerate(latest.values()):
        advance(done, len(latest))
        yield _checked(run, path)
    advance(len(latest), len(latest))


def _checked(run: Run, path: Path) -> Checked:
    spec = unit_of(run, path)
    count = wrong = 0
    read: set[str] = set()
    for piece in pieces_of(run, path):
        count += len(piece.outputs)
        wrong += piece.wrong
        read |= {item.id for item in piece.items}
    sealed = [line for line in run.done if line.get("not_kept") and line["id"] not in read]
    return Checked(
        spec.name, dict(run.head["device"]), count, sum(int(line["count"]) for line in sealed),
        wrong + sum(mismatches_in(line) for line in sealed), run.lacks,
    )  # fmt: skip
