"""A queue of steps that each need results of other processes first: what is ready is done, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any

Submit = Callable[[Executor], list[Future[Any]]]


@dataclass(slots=True)
class Step:
    """Something to be done with a device once what it needs is there."""

    #: Steps of one kind take about as long.
    kind: str
    needs: Submit
    #: Is given what the futures gave.
    act: Callable[..., None]
    futures: list[Future[Any]] = field(default_factory=list)

    def ready(self) -> bool:
        """Whether all that it needs is there."""
        return all(f.done() for f in self.futures)


class OutOfTimeError(Exception):
    """The time is up: what is left is left."""


def run_steps(
    steps: Iterator[Step],
    pool: Executor,
    window: int,
    left: Callable[[], float],
    clock: Callable[[], float],
) -> None:
    """Do all steps, of the next `window` always the first that is ready; at most that many are prepared.

    A step is not begun where the longest step of its kind would not end in the time that is `left`.
    Errors: OutOfTimeError.
    """
    longest: dict[str, float] = {}
    waiting: list[Step] = []
    try:
        while True:
            while len(waiting) < window and (step := next(steps, None)) is not None:
                step.futures = step.needs(pool)
                waiting.append(step)
            if not waiting:
                return
            step = next((s for s in waiting if s.ready()), waiting[0])
            if not step.ready():
                pending = [f for s in waiting for f in s.futures if not f.done()]
                if left() <= 0:
                    raise OutOfTimeError
                wait(pending, timeout=min(left(), 1.0), return_when=FIRST_COMPLETED)
                continue
            if left() <= longest.get(step.kind, 0.0):
                raise OutOfTimeError
            waiting.remove(step)
            start = clock()
            step.act(*(f.result() for f in step.futures))
            longest[step.kind] = max(longest.get(step.kind, 0.0), clock() - start)
    finally:
        for step in waiting:
            for future in step.futures:
                future.cancel()
