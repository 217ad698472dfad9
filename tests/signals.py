"""Programs that tests send signals to, whatever the run of the tests itself ignores."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts() -> Iterator[None]:
    """The usual answers to signals in this process; one in the background, or under nohup, ignores some."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    }
    try:
        yield
    finally:
        for number, answer in before.items():
            signal.signal(number, answer)


def started(words: list[str], **options: Any) -> subprocess.Popen[str]:
    """A program that signals end, in a group of its own."""
    with interrupts():
        return subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
