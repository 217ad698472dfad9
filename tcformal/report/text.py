"""Small pieces that every table uses: exact values as text, a console that degrades."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Literal, NoReturn

from rich.console import Console
from rich.table import Table

from tcformal.formats.spec import Format
from tcformal.oracle.values import decode, format_value, hex_word

#: Width that every table fits into when the output is not a terminal.
WIDTH = 100
#: Width below which nothing can be read, whatever the terminal says.
_NARROWEST = 40


class _Console(Console):
    """A console that leaves a closed pipe to the command line."""

    def on_broken_pipe(self) -> NoReturn:
        """Hand the error on, instead of ending the process."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or error; no escape codes where there is no terminal or NO_COLOR is set.

    Widths: at most WIDTH columns; COLUMNS overrules where there is no terminal.
    """
    plain = Console(stderr=stderr)
    columns = os.environ.get("COLUMNS", "")
    width = min(plain.width, WIDTH) if plain.is_terminal else int(columns) if columns.isdecimal() else WIDTH
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return _Console(
        stderr=stderr, width=max(width, _NARROWEST), color_system=system, highlight=False, soft_wrap=False
    )


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
    """The exact value; where that is no short decimal, a rounded decimal marked with ~ beside it."""
    text = format_value(fmt, raw)
    if "2^" not in text:
        return text
    number = decode(fmt, raw).number
    whole, scale = number.numerator, number.denominator
    return f"{text} (~{Decimal(whole) / Decimal(scale):.10g})"
