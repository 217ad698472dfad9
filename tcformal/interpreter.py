"""Whether this Python is new enough, which old ones can read, and how often it looks for garbage."""

import gc
import sys
from typing import Sequence  # noqa: UP035  the other home of this name is younger than what is checked here

OLDEST = (3, 11)

#: Objects after which Python looks for garbage: nearly all that a proof makes is used until its end, and to
#: go through it as often as Python does otherwise takes a fifth of the time.
_COLLECTED = (100_000, 20, 100)


def check_python(found: Sequence[object] = sys.version_info) -> None:
    """End with one sentence and exit code 2 where Python is older than the package needs."""
    if tuple(found[:2]) < OLDEST:
        text = ".".join(str(part) for part in found[:3])
        sys.stderr.write(f"error: expected Python 3.11 or newer, but this is Python {text}\n")
        sys.exit(2)


def collect_rarely() -> None:
    """Let Python look for garbage less often, from now on, in this process."""
    gc.set_threshold(*_COLLECTED)
