"""Ctrl-C and the signals that ask a program to end: one sentence and an exit code, whenever they come.

Nothing but the standard library is imported here: this is the first module of the command line.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

#: What a terminal, a session or a job scheduler sends to end a program; Ctrl-C is Python's own.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class EndedError(BaseException):
    """A signal has asked this program to end; no `except Exception` holds it up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def sentence(self) -> str:
        """What people are told."""
        return f"ended by {signal.Signals(self.number).name}"


def _at_once(number: int, _: FrameType | None) -> None:
    """End without unwinding: modules that are being imported may not let an exception through."""
    said = "interrupted" if number == signal.SIGINT else EndedError(number).sentence
    with contextlib.suppress(OSError):
        os.write(2, f"error: {said}\n".encode())
    os._exit(128 + number)


def _unwind(number: int, _: FrameType | None) -> None:
    """End what was begun; a second signal of the kind does not disturb that."""
    signal.signal(number, signal.SIG_IGN)
    raise EndedError(number)


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """While nothing has been begun: end at once, with the sentence and the exit code of later."""
    with _answered({signal.SIGINT: _at_once, **dict.fromkeys(_ENDING, _at_once)}):
        yield


@contextlib.contextmanager
def working() -> Iterator[None]:
    """While a command is at work: EndedError in the main thread, so that workers and folders are removed."""
    with _answered(dict.fromkeys(_ENDING, _unwind)):
        yield


@contextlib.contextmanager
def _answered(handlers: dict[signal.Signals, Callable[[int, FrameType | None], Any]]) -> Iterator[None]:
    """Answer signals that nobody has made other arrangements for: what is ignored stays ignored."""
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
