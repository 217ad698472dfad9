"""An executor for the tests of resumable work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class Inline(Executor):
    """Makes each call at once, in this process, whatever number of processes it is told; counts them."""

    def __init__(self, jobs: int = 1) -> None:
        del jobs
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call `fn` here."""
        self.calls += 1
        made: Future[Any] = Future()
        try:
            made.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  as an executor does
            made.set_exception(error)
        return made
