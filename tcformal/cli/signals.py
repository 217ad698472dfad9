"""Ctrl-C and the signals that end a program: one sentence and an exit code, at any time.

Only the standard library is imported here: this is the first module of the command line.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

#: Signals by which a terminal, a session or a job scheduler ends a program; Python handles Ctrl-C itself.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class EndedError(BaseException):
    """A signal to end this program; not an Exception, so that no `except Exception` catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def sentence(self) -> str:
        """The message of the error."""
        return f"ended by {signal.Signals(self.number).name}"


def _at_once(number: int, _: FrameType | None) -> None:
    """Exit without unwinding, which modules that are being imported might prevent."""
    message = "interrupted" if number == signal.SIGINT else EndedError(number).sentence
    with contextlib.suppress(OSError):
        os.write(2, f"error: {message}\n".encode())
    os._exit(128 + number)


def _unwind(number: int, _: FrameType | None) -> None:
    """Raise EndedError, so that open work is cleaned up; later signals of the kind are ignored."""
    signal.signal(number, signal.SIG_IGN)
    raise EndedError(number)


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """During imports: exit at once on a signal, with the usual sentence and exit code."""
    with _handling({signal.SIGINT: _at_once, **dict.fromkeys(_ENDING, _at_once)}):
        yield


@contextlib.contextmanager
def working() -> Iterator[None]:
    """During a command: raise EndedError in the main thread, so that workers and folders are removed."""
    with _handling(dict.fromkeys(_ENDING, _unwind)):
        yield


@contextlib.contextmanager
def _handling(handlers: dict[signal.Signals, Callable[[int, FrameType | None], Any]]) -> Iterator[None]:
    """Install handlers for signals in their default state; ignored signals stay ignored."""
    before: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
