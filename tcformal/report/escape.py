"""Text that comes from records, devices, programs and names of files, made safe for a terminal.

Every text that this program prints goes through here: `say` and `complain` for lines, `print_json` for
data, and the console of `report.text`, which calls `printable` for all that it draws but its own styles.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

#: Characters of one sentence on standard error; of a longer one the middle is left out.
LONGEST = 2000
#: How many of them are its end.
_TAIL = 400

#: Warnings that one command prints.
MOST_WARNINGS = 8
#: Where a command counts them.
_WARNINGS = "tcformal.warnings"


def printable(text: str) -> str:
    """A text in which every character is shown as itself, or as an escape such as `\\x1b`.

    Escaped are controls (ESC, BEL, the C1 codes, all but the end of a line), marks of writing direction and
    other format characters, odd spaces, halves of surrogate pairs and what Unicode leaves undefined.
    """
    return _escaped(text, lambda character: character.encode("unicode_escape").decode())


def printable_json(value: Any) -> str:
    """Plain data as JSON in which only characters stand that show themselves; the rest is in its escapes."""
    # Outside its strings, JSON text is ASCII, so that every character replaced here is one of a string.
    return _escaped(json.dumps(value, indent=2, ensure_ascii=False), lambda c: json.dumps(c)[1:-1])


def _escaped(text: str, escape: Callable[[str], str]) -> str:
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else escape(c) for c in line)
        for line in text.split("\n")
    )


def sentence(text: str) -> str:
    """A text on one line, printable, and no longer than people read."""
    line = " ".join(text.split()) if len(text) <= LONGEST else " ".join(_clipped(text).split())
    line = printable(line)
    return line if len(line) <= LONGEST else _clipped(line)


def _clipped(text: str) -> str:
    left_out = len(text) - LONGEST
    return f"{text[: LONGEST - _TAIL]} … ({left_out} characters) … {text[-_TAIL:]}"


def say(text: str = "", *, err: bool = False, end: str = "\n") -> None:
    """Print text, of one line or several, on standard output or error."""
    click.echo(printable(text) + end, err=err, nl=False)


def complain(word: str, text: str) -> None:
    """Print one sentence on standard error behind a word that says what it is."""
    click.echo(f"{word}: {sentence(text)}", err=True)


def warn(text: str) -> None:
    """Print a warning that changes no answer; of many in one command, the first, and how many more."""
    context = click.get_current_context(silent=True)
    if context is None:
        complain("warning", text)
        return
    said = context.meta[_WARNINGS] = context.meta.get(_WARNINGS, 0) + 1
    if said <= MOST_WARNINGS:
        complain("warning", text)
    elif said == MOST_WARNINGS + 1:
        context.call_on_close(lambda: _tell_of_more(context.meta[_WARNINGS] - MOST_WARNINGS))


def _tell_of_more(count: int) -> None:
    complain("warning", f"{count} more such sentences are not shown")


def print_json(value: Any) -> None:
    """Print plain data on standard output, for programs."""
    click.echo(printable_json(value))
