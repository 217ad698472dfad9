"""Elements of all tables: exact values as text, and a console that adapts to its terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table

from tcformal.formats.spec import Format
from tcformal.oracle.values import decode, format_value, hex_word
from tcformal.report.escape import printable

#: Width that every table fits into when the output is not a terminal.
WIDTH = 100
#: Width that COLUMNS may ask for at most.
_WIDEST = 10_000
#: Width below which nothing can be read, whatever the terminal says.
_NARROWEST = 40


class _Console(Console):
    """A console that draws no control character of a text, and leaves a closed pipe to the command line."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The output: the console's own control codes unchanged, every text made printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> NoReturn:
        """Hand the error on, instead of ending the process."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error; no escape codes where there is no terminal or NO_COLOR is set.

    Widths: at most WIDTH columns; COLUMNS overrules where there is no terminal.
    """
    # Both sizes are said, because rich reads COLUMNS and LINES itself and takes `²` for a number.
    columns, lines = shutil.get_terminal_size()
    terminal = Console(stderr=stderr, width=columns, height=lines).is_terminal
    width = min(columns, WIDTH) if terminal else _columns(os.environ.get("COLUMNS", ""))
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return _Console(
        stderr=stderr, width=max(width, _NARROWEST), height=max(lines, 1), color_system=system,
        highlight=False, soft_wrap=False, markup=False, emoji=False,
    )  # fmt: skip


def _columns(text: str) -> int:
    """The width in COLUMNS; WIDTH where it is not a number."""
    digits = text.isascii() and text.isdecimal() and len(text) <= len(str(_WIDEST))
    return min(int(text), _WIDEST) if digits else WIDTH


def counting(field: str) -> tuple[ProgressColumn, ...]:
    """Columns of a bar that counts: its description, how far it is, the time, and a text of the task."""
    return (
        shown("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(),
        shown(f"{{task.fields[{field}]}}"),
    )  # fmt: skip


def progress(*columns: ProgressColumn, transient: bool = False) -> Progress:
    """A progress bar on standard error; by default a text, the bar, the percentage, the remaining time."""
    usual = (shown("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*(columns or usual), console=console(stderr=True), transient=transient)


def shown(field: str) -> TextColumn:
    """A column of a progress bar that shows a text unchanged."""
    return TextColumn(field, markup=False)


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table in the house style; a column named with a leading > is aligned right."""
    made = Table(title=title, box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in columns:
        right = name.startswith(">")
        made.add_column(name.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    return made


def value_and_hex(fmt: Format, raw: int) -> str:
    """`1.5 (0x3e00)`: the exact value and the raw encoding."""
    return f"{format_value(fmt, raw)} ({hex_word(fmt, raw)})"


def with_decimal(fmt: Format, raw: int) -> str:
    """The exact value; if that is no short decimal, followed by a rounded decimal marked with ~."""
    text = format_value(fmt, raw)
    if "2^" not in text:
        return text
    number = decode(fmt, raw).number
    whole, scale = number.numerator, number.denominator
    return f"{text} (~{Decimal(whole) / Decimal(scale):.10g})"
