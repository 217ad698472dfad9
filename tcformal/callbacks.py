"""Callbacks: warnings and progress of a long computation, and its time."""

from __future__ import annotations

import os
from collections.abc import Callable

#: Takes one sentence: what was wrong, and what was done about it.
Warn = Callable[[str], None]

#: Takes, in a few words, what is being done.
Progress = Callable[[str], None]

#: Takes how many steps are done, and how many there are in all.
Advance = Callable[[int, int], None]


def ignore(_: str) -> None:
    """Drop a message."""


def ignore_count(_done: int, _all: int) -> None:
    """Drop a count."""


def processor_seconds() -> float:
    """Seconds of the processor in this process, and in those that it started and that have ended."""
    return sum(os.times()[:4])
