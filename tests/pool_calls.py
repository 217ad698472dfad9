"""Calls that tests make in worker processes, which import them from here."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def square(x: int) -> int:
    """x squared."""
    return x * x


def refuse(x: int) -> int:
    """Raise."""
    raise ValueError(f"expected nothing, but got {x}")


def worker() -> int:
    """The process that makes the call."""
    return os.getpid()


def die() -> None:
    """Kill the process that makes the call."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(marker: Path, x: int) -> int:
    """x squared, but the first process that is asked dies."""
    if not marker.exists():
        marker.touch()
        die()
    return x * x


def linger(started: Path, ended: Path) -> None:
    """Take for ever; say when it has started and in which process, and when it is made to end."""
    try:
        started.write_text(f"{os.getpid()}\n")
        time.sleep(600)
    finally:
        ended.touch()


def unpicklable() -> Any:
    """What no process can send."""
    return lambda: None


def die_while_answering() -> int:
    """Have the worker die when half of the answer is on its way."""

    def half(self: Connection, buf: Any, write: Any = os.write) -> None:
        write(self.fileno(), bytes(buf)[: len(buf) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    Connection._send = half  # type: ignore[attr-defined]
    return 1
