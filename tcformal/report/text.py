"""Elements of all tables: exact values as text, and a console that adapts to its terminal."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.containers import Lines
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tcformal.callbacks import SHORT_NAMES
from tcformal.encodings.spec import Format
from tcformal.oracle.values import decode, format_value, value_and_hex
from tcformal.report.escape import paper, printable, short_names

#: Digits of an id or digest that people are shown.
SHOWN = 12

if TYPE_CHECKING:
    from tcformal.design.unit import UnitSpec
    from tcformal.simulation.operands.witness import Witness

#: Width that every table fits into when the output is not a terminal.
WIDTH = 100
#: Width that COLUMNS may ask for at most.
_WIDEST = 10_000
#: Rows that a list shows on one screen; `--all` shows the others.
SCREEN = 40
#: Width below which nothing can be read, whatever the terminal says.
_NARROWEST = 40


class _Console(Console):
    """A console that draws no control character of a text, and leaves a closed pipe to the command line."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The output: the console's own control codes unchanged, every text made printable."""
        if not self.stderr and (heard := SHORT_NAMES.get()) is not None:
            heard.shown = True
        for segment in super().render(_shortened(renderable), options):
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
    file = None if stderr else paper()
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") or file else "auto"
    return _Console(
        stderr=stderr, file=file, width=max(width, _NARROWEST), height=max(lines, 1), color_system=system,
        force_jupyter=False, highlight=False, soft_wrap=False, markup=False, emoji=False,
    )  # fmt: skip


def _columns(text: str) -> int:
    """The width in COLUMNS; WIDTH where it is not a number."""
    digits = text.isascii() and text.isdecimal() and len(text) <= len(str(_WIDEST))
    return min(int(text), _WIDEST) if digits else WIDTH


def table(*columns: str, rows: Iterable[Sequence[RenderableType]] = (), title: str | None = None) -> Table:
    """A table in the house style; a column named with a leading > is aligned right.

    Cells are broken at spaces, and words that are too long at separators.
    """
    made = SeparableTable(title=title, box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in columns:
        right = name.startswith(">")
        made.add_column(name.removeprefix(">"), justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def one_line(*columns: str, rows: Iterable[Sequence[str]]) -> Table:
    """A table of rows that take one line each: of the last column, what does not fit is left out."""
    lines = [columns, *rows]
    room = console().width - sum(2 + max(len(line[i]) for line in lines) for i in range(len(columns) - 1))

    def cut(text: str) -> str:
        return text if len(text) <= room else text[: room - 1].rstrip(" ,:") + "…"

    return table(*columns, rows=[(*line[:-1], cut(line[-1])) for line in lines[1:]])


def fitting(*columns: str, rows: Iterable[Sequence[str]]) -> Table:
    """A table of rows that take one line each: the last columns are left out where the width has no room."""
    names, rows = [name.removeprefix(">") for name in columns], list(rows)
    room, kept = console().width + 2, 0
    for column in zip(names, *rows, strict=True):
        room -= 2 + max(map(len, column))
        if room < 0 and kept:
            break
        kept += 1
    made = table(*columns[:kept], rows=[row[:kept] for row in rows])
    if kept < len(columns):
        made.caption = Text(f"beyond this width: {', '.join(names[kept:])}", "dim")
        made.caption_justify = "left"
    return made


#: Places where a long name may go on in the next line: after a separator, or a dot before a letter; where
#: there is none, after an underscore or an equals sign.
_BREAKS = (
    re.compile(r"(?<=[/,@;:|&·])(?=\S)|(?<=\.)(?=[A-Za-z])|(?<=[^\W_])(?=[(+])"),
    re.compile(r"(?<=[_=])(?=\S)"),
)


class SeparableText(Text):
    """Text whose words, where they are too long for a line, are broken at separators."""

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Lines of at most `width`: as any text, once long words are cut at separators."""
        cuts = [
            word.start() + at
            for word in re.finditer(r"\S+", self.plain)
            if len(word.group()) > width
            for at in _cuts(word.group(), width)
        ]
        whole = Text("\n").join(self.divide(cuts)) if cuts else self.copy()
        return Text.wrap(whole, console, width, **options)


def _cuts(word: str, width: int) -> list[int]:
    """Where a word is cut into parts of at most `width`, at separators as far as there are any."""
    places = [[match.start() for match in pattern.finditer(word)] for pattern in _BREAKS]
    cuts, start = [], 0
    while len(word) - start > width:
        near = [place for kind in reversed(places) for place in kind if start + 1 < place <= start + width]
        start = near[-1] if near else start + width
        cuts.append(start)
    return cuts


class SeparableTable(Table):
    """A table whose cells wrap at separators."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row; texts become texts that are broken at separators."""
        super().add_row(*map(_separable, cells), **options)


def _shortened(given: RenderableType) -> RenderableType:
    """A text with the names of units as the command was given them."""
    found = short_names(given.plain) if isinstance(given, Text) else []
    if not found or not isinstance(given, Text):
        return given
    pieces = given.divide([at for start, end, _ in found for at in (start, end)])
    for piece, (_, _, name) in zip(pieces[1::2], found, strict=True):
        piece.plain = name
    made = given.blank_copy()
    for piece in pieces:
        made.append_text(piece)
    return made


def _separable(cell: RenderableType | None) -> RenderableType | None:
    if isinstance(cell, str):
        cell = Text(cell)
    cell = None if cell is None else _shortened(cell)
    if isinstance(cell, Text):
        made = SeparableText(cell.plain, style=cell.style)
        made.spans = cell.spans
        return made
    return cell


def many(n: int, one: str, more: str = "") -> str:
    """A number of things, by the name of one, and of more where that is not with an s."""
    return f"{n} {one if n == 1 else more or one + 's'}"


def headline(word: str, style: str, rest: str) -> Text:
    """A verdict in its colour, and the rest of its line."""
    return Text(word, style=style).append(rest, style="default not bold")


def with_decimal(fmt: Format, raw: int) -> str:
    """The exact value; if that is no short decimal, followed by a rounded decimal marked with ~."""
    text = format_value(fmt, raw)
    if "2^" not in text:
        return text
    number = decode(fmt, raw).number
    whole, scale = number.numerator, number.denominator
    return f"{text} (~{Decimal(whole) / Decimal(scale):.10g})"


def short_value(fmt: Format, raw: int) -> str:
    """The value as a decimal of few digits: as `with_decimal` rounds it, where it is rounded."""
    exact, rounded, text = with_decimal(fmt, raw).partition(" (~")
    return text.removesuffix(")") if rounded else exact


def scale_lines(spec: UnitSpec, w: Witness) -> list[str]:
    """One line per block whose scales are not both 1, and one for the others; empty without scales."""
    fmt, block = spec.scale_format, spec.scale_block
    if fmt is None or block is None:
        return []
    pairs = list(zip(w.scale_a, w.scale_b, strict=True))
    lines = [
        f"k = {i * block}…{min((i + 1) * block, len(w.a)) - 1}: scale_a[{i}] = {value_and_hex(fmt, x)}, "
        f"scale_b[{i}] = {value_and_hex(fmt, y)}"
        for i, (x, y) in enumerate(pairs)
        if (x, y) != (fmt.one, fmt.one)
    ]
    if not lines:
        return ["all scales are 1"]
    return lines if len(lines) == len(pairs) else [*lines, "all other scales are 1"]
