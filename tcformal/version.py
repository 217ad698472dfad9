"""The version and the commit of the package, and the machine that it runs on."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

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
