"""Callbacks: warnings and progress of a long computation, and its time."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class ShortNames:
    """The short names of units that a command was given."""

    #: The first short name of each unit.
    names: dict[str, str] = field(default_factory=dict)
    #: What each of them stands for, in words.
    said: dict[str, str] = field(default_factory=dict)
    #: Whether the command has printed text.
    shown: bool = False


#: Those of the command that runs; None where none does.
SHORT_NAMES: ContextVar[ShortNames | None] = ContextVar("short_names", default=None)


def hear(unit: str, name: str, text: str, *, shown: bool = True) -> None:
    """Note that a unit was given by another name, what that stands for, and whether answers show it so."""
    if (heard := SHORT_NAMES.get()) is not None:
        if shown:
            heard.names.setdefault(unit, name)
        heard.said[name] = text
