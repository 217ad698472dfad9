"""Executors for the tests of resumable work."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any


class InProcess(Executor):
    """Runs each piece of work at once; counts them."""

    def __init__(self) -> None:
        self.pieces = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.pieces += 1
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done
