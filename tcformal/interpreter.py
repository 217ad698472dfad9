"""Whether this Python is new enough: old ones can read this module, which is called before anything else."""

import sys
from typing import Sequence  # noqa: UP035  the other home of this name is younger than what is checked here

OLDEST = (3, 11)


def check_python(found: Sequence[object] = sys.version_info) -> None:
    """End with one sentence and exit code 2 where Python is older than the package needs."""
    if tuple(found[:2]) < OLDEST:
        text = ".".join(str(part) for part in found[:3])
        sys.stderr.write(f"error: expected Python 3.11 or newer, but this is Python {text}\n")
        sys.exit(2)
