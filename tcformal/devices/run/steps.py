"""A queue of steps that wait for results of other processes; ready steps are run in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any

from tcformal.errors import TcformalError

Submit = Callable[[Executor], list[Future[Any]]]


@dataclass(slots=True)
class CampaignStep:
    """A step on a device, with the futures that it needs."""

    #: Steps of one kind take about as long.
    kind: str
    needs: Submit
    #: Called with the results of the futures.
    act: Callable[..., None]
    #: Called with the error of a future.
    fail: Callable[[Exception], None]
    futures: list[Future[Any]] = field(default_factory=list)

    def ready(self) -> bool:
        """Whether all needed results are there."""
        return all(f.done() for f in self.futures)


class CampaignTimeError(Exception):
    """The time limit of the campaign is reached."""


def run_steps(
    steps: Iterator[CampaignStep | None],
    pool: Executor,
    window: int,
    left: Callable[[], float],
    clock: Callable[[], float],
) -> None:
    """Run all steps: of the next `window`, always the first that is ready; at most that many are prepared.

    None is a barrier: later steps are made after all earlier ones are done.  A step does not begin where
    the longest step of its kind would exceed the time `left`.
    Errors: CampaignTimeError.
    """
    longest: dict[str, float] = {}
    waiting: list[CampaignStep] = []
    more = True
    try:
        while more or waiting:
            barrier = False
            while more and not barrier and len(waiting) < window:
                barrier, more = _prepare(steps, pool, waiting)
            while waiting and (barrier or not more or len(waiting) == window):
                _do_one(waiting, longest, left, clock)
    finally:
        for step in waiting:
            for future in step.futures:
                future.cancel()


def _prepare(
    steps: Iterator[CampaignStep | None], pool: Executor, waiting: list[CampaignStep]
) -> tuple[bool, bool]:
    """Start the computations that the next step needs; whether it is a barrier, and whether there is one."""
    try:
        step = next(steps)
    except StopIteration:
        return False, False
    if step is None:
        return True, True
    step.futures = step.needs(pool)
    waiting.append(step)
    return False, True


def _do_one(
    waiting: list[CampaignStep],
    longest: dict[str, float],
    left: Callable[[], float],
    clock: Callable[[], float],
) -> None:
    """Run the first ready step, after waiting for one; CampaignTimeError where too little time is left."""
    while (step := next((s for s in waiting if s.ready()), None)) is None:
        if left() <= 0:
            raise CampaignTimeError
        pending = [f for s in waiting for f in s.futures if not f.done()]
        wait(pending, timeout=min(left(), 1.0), return_when=FIRST_COMPLETED)
    if left() <= longest.get(step.kind, 0.0):
        raise CampaignTimeError
    waiting.remove(step)
    start = clock()
    try:
        found = [f.result() for f in step.futures]
    except Exception as error:  # noqa: BLE001  whatever befell another process, the other steps go on
        step.fail(error)
    else:
        step.act(*found)
    longest[step.kind] = max(longest.get(step.kind, 0.0), clock() - start)


def sentence(error: Exception) -> str:
    """The error of another process as one sentence."""
    if isinstance(error, TcformalError):
        return str(error)
    return f"expected the inputs and the model's results, but got {type(error).__name__}: {error!s:.100}"


def given(value: Any) -> Future[Any]:
    """A finished future with that result."""
    made: Future[Any] = Future()
    made.set_result(value)
    return made
