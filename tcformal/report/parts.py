"""Text and tables as data, drawn by rich; apart from `text`, because `probe` runs where rich is missing."""

from __future__ import annotations

import contextlib
import itertools
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tcformal.report.escape import say

if TYPE_CHECKING:
    from rich.progress import Progress

#: Width of a line where rich does not measure the terminal.
_WIDTH = 100
#: Width that a column of a table keeps.
_NARROWEST = 20


@dataclass(slots=True)
class Rows:
    """A table: column names (a leading > aligns right) and rows of texts."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Headline:
    """A line whose first word says whether the expectation holds."""

    word: str
    good: bool
    rest: str


ReportPart = str | Rows | Headline


def show(parts: Sequence[ReportPart]) -> None:
    """Print the parts on standard output."""
    try:
        from rich.text import Text

        from tcformal.report.text import console, table
    except ModuleNotFoundError:
        for part in parts:
            say(plain(part))
        return
    out = console()
    for part in parts:
        if isinstance(part, Rows):
            out.print(table(*part.columns, rows=part.rows))
        elif isinstance(part, Headline):
            head = Text(part.word, style="bold green" if part.good else "bold yellow")
            out.print(head.append(part.rest, style="default not bold"))
        else:
            out.print(Text(part))


def plain(part: ReportPart) -> str:
    """A part as aligned text; the widest columns of a table that is too wide wrap."""
    if isinstance(part, Headline):
        return part.word + part.rest
    if isinstance(part, str):
        return part
    right = [name.startswith(">") for name in part.columns]
    lines = [tuple(name.removeprefix(">") for name in part.columns), *part.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(right))]
    while (over := sum(widths) + 2 * (len(widths) - 1) - _WIDTH) > 0 and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] = max(_NARROWEST, widths[widest] - over)
    made = []
    for line in lines:
        cells = [textwrap.wrap(text, width) or [""] for text, width in zip(line, widths, strict=True)]
        for pieces in itertools.zip_longest(*cells, fillvalue=""):
            made.append("  ".join(
                text.rjust(width) if r else text.ljust(width)
                for text, width, r in zip(pieces, widths, right, strict=True)
            ).rstrip())  # fmt: skip
    return "\n".join(made)


#: Seconds between two lines of progress where standard error is no terminal.
PULSE_S = 10.0


class Pulse:
    """Progress without a terminal: every `PULSE_S` seconds a line that says what is done and how long."""

    def __init__(self, name: str) -> None:
        self._name, self._text, self._counts = name, "", ""
        self._start, self._ended = time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def __call__(self, text: str | None = None, done: int | None = None, total: int | None = None) -> None:
        """Say what is done from now on, how many steps are done, and how many there are."""
        if text is not None:
            self._text = text
        if done is not None:
            self._counts = f"{done} of {total}" if total else ""

    def _beat(self) -> None:
        while not self._ended.wait(PULSE_S):
            what = ": ".join(dict.fromkeys(x for x in (self._name, self._text) if x))
            counts = f", {self._counts}" if self._counts else ""
            say(f"{what}{counts}, {time.monotonic() - self._start:.0f} s", err=True)


@contextlib.contextmanager
def telling(name: str, limit_s: float | None = None) -> Iterator[Callable[..., None]]:
    """Progress on standard error: a function of what is being done, the steps done, and all steps.

    `limit_s`: the seconds of each solver, which are shown instead of steps.
    """
    limit = "" if limit_s is None else f"at most {limit_s:g} s for each solver"
    line = _line(limit) if sys.stderr.isatty() else None
    if line is None:
        with Pulse(limit or name) as pulse:
            yield pulse
        return
    with line:
        task = line.add_task(name, total=None)
        yield lambda text=None, done=None, total=None: line.update(
            task, description=text, completed=done, total=total
        )


def _line(limit: str) -> Progress | None:
    """A line of progress on a terminal; None where rich is missing."""
    try:
        from rich import progress

        from tcformal.report.text import console
    except ModuleNotFoundError:
        return None
    what, clock = progress.TextColumn("{task.description}", markup=False), progress.TimeElapsedColumn()
    steps = progress.BarColumn(20), progress.MofNCompleteColumn(), clock, progress.TimeRemainingColumn()
    rest = (clock, progress.TextColumn(limit)) if limit else steps
    return progress.Progress(what, *rest, console=console(stderr=True), transient=True)


@contextlib.contextmanager
def bar(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Progress on standard error, as a function of steps done and in all."""
    with telling(doing) as tell:
        yield lambda done, total: tell(done=done, total=total)
