"""Failures that fit a screen: what a failed assertion says of its values is cut to some lines of some length.

An assertion about a whole file, or a list of a million results, would otherwise print it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

#: Lines of one message: so many from its start, so many from its end; and characters of each of them.
FIRST, LAST, WIDEST = 30, 10, 400


def shortened(lines: Sequence[str]) -> list[str]:
    """The first and the last lines, each cut to a width, and how much was left out."""
    out = [line if len(line) <= WIDEST else f"{line[:WIDEST]}… ({len(line)} characters)" for line in lines]
    left = len(out) - FIRST - LAST
    return out if left <= 0 else [*out[:FIRST], f"E   … {left} lines left out …", *out[-LAST:]]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Cut what a failed test says of its values; the lines of its source stay."""
    report = yield
    if report.failed:
        shorten(report.longrepr)
    return report


def shorten(shown: Any) -> None:
    """Cut the messages of a failure in place; those of the exceptions that led to it, too."""
    for traceback, crash, _ in getattr(shown, "chain", ()):
        if crash is not None:
            crash.message = "\n".join(shortened(crash.message.splitlines()))
        for entry in traceback.reprentries:
            said = [line for line in entry.lines if line.startswith("E")]
            entry.lines = [*(line for line in entry.lines if not line.startswith("E")), *shortened(said)]
