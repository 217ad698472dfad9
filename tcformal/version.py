"""The version and the commit of the package, the oldest Python that it runs on, and the machine."""

from __future__ import annotations

import gc
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Sequence  # noqa: UP035  the other home of this name is younger than what is checked here

VERSION = "0.1.0"

_CPUINFO = Path("/proc/cpuinfo")


def processor() -> str:
    """The processor's name."""
    import platform  # here and below: no solver's process asks

    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    named = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))
    }
    return named.get("model name") or platform.processor() or platform.machine()


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit of the checkout that the package runs from, with a + where files differ; else empty."""
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return ""
    import subprocess  # only a checkout needs it

    command = [
        "git",
        "--no-optional-locks",
        "describe",
        "--always",
        "--dirty=+",
        "--abbrev=12",
        "--exclude=*",
    ]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@lru_cache(maxsize=1)
def host() -> str:
    """The processor, its cores and the Python in use, in a few words."""
    import platform

    return f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


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
