"""The version of the package, and the machine that it runs on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

VERSION = "0.1.0"

_CPUINFO = Path("/proc/cpuinfo")


def processor() -> str:
    """The processor's name."""
    lines = _CPUINFO.read_text().splitlines() if _CPUINFO.exists() else []
    named = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))
    }
    return named.get("model name") or platform.processor() or platform.machine()


def host() -> str:
    """The processor, its cores and the Python in use, in a few words."""
    return f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
