"""Safe output: text from records, devices, programs and file names, escaped for a terminal.

All output of this program passes through here: `say` and `complain` for lines, `print_json` for data, and
the console of `report.text`, which applies `printable` to everything except its own styles.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import click

from tcformal.callbacks import SHORT_NAMES

#: Plain data as a command prints them with --json, by name.
Plain = dict[str, object]

#: Characters of one sentence on standard error; of a longer one the middle is left out.
LONGEST = 2000
#: How many of these characters are the end of the sentence.
_TAIL = 400

#: Warnings that one command prints.
MOST_WARNINGS = 8
#: Where the option -v is noted.
VERBOSE = "tcformal.verbose"
#: Where a command counts them.
_WARNINGS = "tcformal.warnings"


def printable(text: str) -> str:
    """The text with every unprintable character replaced by an escape such as `\\x1b`.

    Escaped are controls (ESC, BEL, the C1 codes, all but the end of a line), marks of writing direction
    and other format characters, unusual spaces, surrogates and unassigned code points.
    """
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def printable_json(value: Any) -> str:
    """Plain data as JSON in printable characters only; the others are written as escapes."""
    # Outside its strings, JSON text is ASCII, so that every character replaced here is one of a string.
    return _escaped(json.dumps(value, indent=2, ensure_ascii=False), lambda c: json.dumps(c)[1:-1])


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else escape(c) for c in line)
        for line in text.split("\n")
    )


def short_names(text: str) -> list[tuple[int, int, str]]:
    """Where a text names units by whose short names a command was called: start, end, the short name."""
    heard = SHORT_NAMES.get()
    return sorted(
        (*match.span(), name)
        for unit, name in ({} if heard is None else heard.names).items()
        for match in re.finditer(rf"(?<![\w/.-]){re.escape(unit)}(?![\w/-]|[.:]\w)", text)
    )


def tell_names() -> None:
    """Print what short names stand for, below an answer in text on standard output."""
    heard = SHORT_NAMES.get()
    if heard is not None and heard.shown:
        width = max(shutil.get_terminal_size().columns, _NAME)
        texts = list(heard.said.values())
        if len(texts) > _MOST_NAMES:
            texts[_MOST_NAMES - 1 :] = [f"and so on, {len(texts)} names in all"]
        for text in texts:
            say(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))


def as_given(text: str) -> str:
    """A text with the names of units as the command was given them, where a shell needs no quotes."""
    for start, end, name in reversed(short_names(text)):
        if shlex.quote(name) == name:
            text = text[:start] + name + text[end:]
    return text


def say_command(text: str) -> None:
    """Print a command on one line, to be copied."""
    say(as_given(text))


def sentence(text: str) -> str:
    """A text on one line, printable, and cut to a readable length."""
    line = " ".join(text.split()) if len(text) <= LONGEST else " ".join(_clipped(text).split())
    line = printable(line)
    return line if len(line) <= LONGEST else _clipped(line)


def _clipped(text: str) -> str:
    left_out = len(text) - LONGEST
    return f"{text[: LONGEST - _TAIL]} … ({left_out} characters) … {text[-_TAIL:]}"


#: Where text goes instead of standard output, while it is captured.
_PAPER: ContextVar[io.StringIO | None] = ContextVar("paper", default=None)


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """Take what `say` and consoles would write on standard output, of this thread only."""
    paper = io.StringIO()
    token = _PAPER.set(paper)
    try:
        yield paper
    finally:
        _PAPER.reset(token)


def paper() -> io.StringIO | None:
    """Where text is captured; None where it goes to standard output."""
    return _PAPER.get()


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print text, of one line or several, on standard output or error."""
    click.echo(printable(text) + end, None if err else paper(), err=err, nl=False)


def complain(word: str, text: str) -> None:
    """Print one sentence on standard error after a word that gives its kind."""
    click.echo(f"{word}: {sentence(text)}", err=True)


def warn(text: str) -> None:
    """Print a warning; of many in one command, the first, and the number of the others."""
    context = click.get_current_context(silent=True)
    if context is None:
        complain("warning", text)
        return
    count = context.meta[_WARNINGS] = context.meta.get(_WARNINGS, 0) + 1
    if count <= MOST_WARNINGS:
        complain("warning", text)
    elif count == MOST_WARNINGS + 1:
        context.call_on_close(lambda: _count_warnings(context.meta[_WARNINGS] - MOST_WARNINGS))


def _count_warnings(count: int) -> None:
    """Print the number of warnings that were not shown."""
    complain("warning", f"{count} more such sentences are not shown")


#: Characters of a name that are shown.
_NAME = 44
#: Lines at most on what names stand for.
_MOST_NAMES = 4


def shortened(name: str) -> str:
    """A name that takes one line: of a longer one, the parameters that do not fit are left out."""
    return name if len(name) <= _NAME or verbose() else f"{name[: _NAME - 1]}…"


def verbose() -> bool:
    """Whether the command that runs was asked for more than a screen, with -v."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(VERBOSE))


def print_json(value: Any) -> None:
    """Print plain data on standard output, for programs."""
    click.echo(printable_json(value))
