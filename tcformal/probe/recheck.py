"""Kept results against the models as they are now, unit by unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcformal.probe.compare import last_run
from tcformal.probe.replay import replay
from tcformal.probe.results import Run, mismatches_in, pieces_of, read_runs, sealed_lines, unit_of


@dataclass(frozen=True, slots=True)
class Checked:
    """One unit's last run: what was given, and how much of it the model gives now."""

    unit: str
    device: dict[str, str]
    #: Dot products that were compared, those of which only a digest is kept, and mismatches.
    count: int
    sealed: int
    mismatches: int


def recheck(path: Path, told: Callable[[int, int], None] = lambda _done, _all: None) -> Iterator[Checked]:
    """Replay the last run of each unit of a file or of a folder's campaign.

    Errors: RecordError for a file without results, or whose outputs cannot be read back.
    """
    runs = read_runs(path)
    names = list(dict.fromkeys(str(run.head.get("unit")) for run in runs if run.done))
    for done, name in enumerate(names):
        told(done, len(names))
        yield _checked(last_run(runs, path, name), path)
    told(len(names), len(names))


def _checked(run: Run, path: Path) -> Checked:
    spec = unit_of(run, path)
    count = wrong = 0
    pieces = list(pieces_of(run, path))
    for piece in pieces:
        count += len(piece.outputs)
        wrong += int(np.count_nonzero(replay(spec, piece.batch) != piece.outputs))
    sealed = sealed_lines(run, pieces)
    return Checked(
        spec.name, dict(run.head["device"]), count, sum(int(line["count"]) for line in sealed),
        wrong + sum(mismatches_in(line) for line in sealed),
    )  # fmt: skip
