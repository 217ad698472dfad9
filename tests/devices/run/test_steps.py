"""The queue of a campaign: ready steps first, barriers, and what is left when the time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from executors import Inline
from inline import Clock
from tcformal.devices.campaign import CampaignStep, CampaignTimeError, run_steps
from tcformal.report.parts import Headline, Rows, plain


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


def test_what_is_ready_comes_first() -> None:
    """A step that waits is overtaken, but not by what stands behind a barrier."""
    done: list[str] = []
    late: Future[int] = Future()

    def steps() -> Iterator[CampaignStep | None]:
        yield step("late", done, late)
        yield step("ready", done, takes=lambda: late.set_result(1))
        yield None
        assert done == ["ready", "late"]
        yield step("behind", done)

    run_steps(steps(), Inline(), 9, lambda: 1.0, Clock())
    assert done == ["ready", "late", "behind"]


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


def test_failures_are_told() -> None:
    done: list[str] = []
    broken: Future[int] = Future()
    broken.set_exception(MemoryError("none left"))
    run_steps(iter([step("a", done, broken), step("b", done)]), Inline(), 2, lambda: 1.0, Clock())
    assert done == ["a failed: none left", "b"]


def test_tables_without_a_package_for_tables() -> None:
    """Aligned, at most 100 columns, the widest column folded."""
    rows = Rows(("name", ">count", "what"), [("a", "1", "word " * 40), ("b" * 12, "200", "short")])
    lines = plain(rows).splitlines()
    assert lines[0] == "name          count  what"
    assert lines[-1] == "bbbbbbbbbbbb    200  short"
    assert max(map(len, lines)) <= 100
    two = plain(Rows(("first", "second", "third"), [("x " * 60, "y " * 60, "z")])).splitlines()
    assert max(map(len, two)) <= 100
    assert plain(Headline("HOLDS", True, ": all")) == "HOLDS: all"
