"""The queue of a campaign: ready steps first, barriers, and what is left when the time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from executors import Inline
from inline import Clock
from tcformal.devices.run.steps import CampaignStep, CampaignTimeError, run_steps


def at_once() -> None:
    """Take no time."""


def step(
    name: str, done: list[str], future: Future[Any] | None = None, takes: Callable[[], None] = at_once
) -> CampaignStep:
    """A step that says its name when it is done."""

    def needs(pool: Executor) -> list[Future[Any]]:
        return [pool.submit(int)] if future is None else [future]

    def act(_: Any) -> None:
        takes()
        done.append(name)

    return CampaignStep("any", needs, act, lambda error: done.append(f"{name} failed: {error}"))


def test_a_window_bounds_what_is_prepared() -> None:
    prepared: list[int] = []

    def steps() -> Iterator[CampaignStep | None]:
        for i in range(6):
            prepared.append(i)
            yield step(str(i), [], takes=lambda: seen.append(len(prepared) - len(seen)))

    seen: list[int] = []
    run_steps(steps(), Inline(), 2, lambda: 1.0, Clock())
    assert max(seen) <= 2


def test_no_time_is_no_step() -> None:
    """Neither one that takes as long as its like, nor one that would be waited for."""
    clock = Clock()
    done: list[str] = []
    never: Future[int] = Future()

    def second() -> None:
        clock.now += 2

    steps: list[CampaignStep | None] = [step("one", done, takes=second), step("two", done, takes=second)]
    with pytest.raises(CampaignTimeError):
        run_steps(iter(steps), Inline(), 2, lambda: 3 - clock.now, clock)
    assert done == ["one"]
    with pytest.raises(CampaignTimeError):
        run_steps(iter([step("never", done, never)]), Inline(), 2, lambda: 0.0, clock)
    assert never.cancelled()
