"""Programs that tests send signals to, whatever the run of the tests itself ignores."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts() -> Iterator[None]:
    """Python's own answer to Ctrl-C in this process; one in the background would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def started(words: list[str], **options: Any) -> subprocess.Popen[str]:
    """A program that hears Ctrl-C, in a group of its own."""
    with interrupts():
        return subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
