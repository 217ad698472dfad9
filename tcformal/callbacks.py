"""Callbacks: warnings and progress of a long computation, its time, and the views that a notebook shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

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


#: Makes the SVG or HTML of a value: a notebook asks the value, and views are made layers above it.
View = Callable[[Any], str | None]

_VIEWS: dict[str, View] = {}


def set_view(name: str, make: View) -> None:
    """Say who makes the view of this name."""
    _VIEWS[name] = make


def view(name: str, value: Any) -> str | None:
    """The view of a value; None where nobody makes it, and the notebook shows the value as text."""
    return _VIEWS[name](value) if name in _VIEWS else None
