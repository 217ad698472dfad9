"""The runs of the processors whose results are kept here, each file or campaign read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tcformal.devices.runs import Run, read_runs

HARDWARE = Path(__file__).parents[1] / "results" / "hardware"
#: Its C model takes an Inf for 2^16, and the catalogue does not.
NVDLA = HARDWARE / "NVDLA-8e06b1b9"
#: Some zeros of these have the other sign.
ZEROS = (HARDWARE / "CUTE-7b40bf01-zeros", HARDWARE / "CVFPU-e5aa6a01-zeros")
#: References that differ from their units, in a way that is known.
INEXACT = (NVDLA, *ZEROS)


@cache
def runs_of(path: Path) -> tuple[Run, ...]:
    """All runs of a file or of a folder's campaign, in order of time; nobody changes them."""
    return tuple(read_runs(path))
