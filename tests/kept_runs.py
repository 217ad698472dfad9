"""The runs of the processors whose results are kept here, each file or campaign read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tcformal.devices.runs import Run, read_runs


@cache
def runs_of(path: Path) -> tuple[Run, ...]:
    """All runs of a file or of a folder's campaign, in order of time; nobody changes them."""
    return tuple(read_runs(path))
