"""Reading of JSON-lines files while other processes append to them (`files.write`).

Only regular files are read; links and devices are refused (`files.regular`).  The torn line of a killed
writer is never read as a record.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.callbacks import Warn, ignore
from tcformal.files import open_regular, refusals

#: Bytes that are read at a time where all lines of a file are passed over.
_BLOCK = 1 << 20

#: Bytes that are read at a time where the last lines are looked for.
_STEP = 1 << 18

#: Bytes of a file that are read at once, and of a line: bounds against files made to fill the memory.
LARGEST_FILE, LARGEST_LINE = 1 << 32, 1 << 26


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number, and its data or the problem with it."""

    #: From 1.
    number: int
    #: The object that the line holds; None for a line that holds none.
    data: dict[str, Any] | None
    #: One sentence on a line without an object.
    problem: str = ""
    #: Whether this is a last line without an end: what a killed writer left.
    torn: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A read position in a file: the file's inode, and the offset and number of whole lines read."""

    file: int = 0
    offset: int = 0
    lines: int = 0


def read(path: Path, since: Mark | None = None) -> tuple[list[Line], Mark]:
    """The lines of a file after the position `since`, and the new position; empty without a file.

    A file that has been replaced or shortened is read from its start: then the first line is number 1.
    Errors: RecordError for a file that cannot be read.
    """
    since = since or Mark()
    with refusals(path):
        try:
            file = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            return [], Mark()
        with os.fdopen(file, "rb") as stream:
            # No writer is in the middle of a line while this lock is held.
            fcntl.flock(stream, fcntl.LOCK_SH)
            status = os.fstat(stream.fileno())
            if since.file != status.st_ino or status.st_size < since.offset:
                since = Mark(status.st_ino)
            if status.st_size - since.offset > LARGEST_FILE:
                raise OSError(f"{status.st_size} bytes, of which at most {LARGEST_FILE} are read")
            stream.seek(since.offset)
            content = stream.read()
    whole, end, rest = content.rpartition(b"\n")
    texts = whole.split(b"\n") if end else []
    found = [parse_line(path, since.lines + i, text) for i, text in enumerate(texts, 1)]
    mark = Mark(since.file, since.offset + len(whole + end), since.lines + len(texts))
    if rest:
        last = parse_line(path, mark.lines + 1, rest)
        # Whole but for its end: a truncated object is none, so that this one was written to its last brace.
        found.append(last if last.data is not None else Line(last.number, None, last.problem, torn=True))
    return [line for line in found if line.data is not None or line.problem], mark


def scan(path: Path, since: Mark, take: Callable[[int, bytes], None], warn: Warn = ignore) -> Mark:
    """Pass every whole line after `since`, unparsed and with its offset, to `take`.

    The new mark; one with another file or a smaller offset than `since` says that the file was replaced or
    shortened and that nothing was taken.  `warn` is called for a torn last line.
    Errors: RecordError for a file that cannot be read.
    """
    with refusals(path):
        try:
            file = open_regular(path, os.O_RDONLY)
        except FileNotFoundError:
            return Mark()
        with os.fdopen(file, "rb", buffering=_BLOCK) as stream:
            fcntl.flock(stream, fcntl.LOCK_SH)
            status = os.fstat(stream.fileno())
            if since.offset and (since.file != status.st_ino or status.st_size < since.offset):
                return Mark(status.st_ino)
            stream.seek(since.offset)
            offset, lines = since.offset, since.lines
            while text := stream.readline(LARGEST_LINE):
                if len(text) == LARGEST_LINE:
                    raise OSError(f"line {lines + 1} has more than {LARGEST_LINE} bytes")
                if text.endswith(b"\n"):
                    if not text.isspace():
                        take(offset, text)
                    offset, lines = offset + len(text), lines + 1
                elif parse_line(path, lines + 1, text).data is not None:
                    take(offset, text)  # whole but for its end
                elif text.strip():
                    warn(f"{parse_line(path, lines + 1, text).problem}: left by a writer that was stopped")
    return Mark(status.st_ino, offset, lines)


def backwards(path: Path) -> Iterator[tuple[int, Line]]:
    """The lines of a file with their offsets, last first; line numbers are 0.

    Only as much is read as is asked for; what others add meanwhile is not seen.
    Errors: RecordError for a file that cannot be read.
    """
    with refusals(path):
        try:
            stream = os.fdopen(open_regular(path, os.O_RDONLY), "rb")
        except FileNotFoundError:
            return
        with stream:
            # No writer is in the middle of a line while this lock is held; later ones only add.
            fcntl.flock(stream, fcntl.LOCK_SH)
            end = os.fstat(stream.fileno()).st_size
            fcntl.flock(stream, fcntl.LOCK_UN)
            later: list[bytes] = []
            while end > 0:
                start = max(0, end - _STEP)
                block = os.pread(stream.fileno(), end - start, start)
                at = len(block)
                while (found := block.rfind(b"\n", 0, at)) >= 0:
                    text = b"".join([block[found + 1 : at], *reversed(later)])
                    later = []
                    if text.strip():
                        yield start + found + 1, parse_line(path, 0, text)
                    at = found
                later.append(block[:at])
                end = start
            text = b"".join(reversed(later))
            if text.strip():
                yield 0, parse_line(path, 0, text)


def text_at(path: Path, start: int) -> bytes:
    """The bytes of the line at an offset that `scan` reported.

    Errors: RecordError for a file that cannot be read.
    """
    with refusals(path), os.fdopen(open_regular(path, os.O_RDONLY), "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        stream.seek(start)
        return stream.readline(LARGEST_LINE)


def parse_line(path: Path, number: int, text: bytes) -> Line:
    """Parse the bytes of one line; a blank line has neither data nor a problem."""
    if not text.strip():
        return Line(number, None)
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return Line(number, data)
    return Line(
        number, None, f"expected a whole JSON object in line {number} of {path}, but got {_clip(text)}"
    )


def _no_number(word: str) -> None:
    """Reject NaN and Infinity, which Python's parser accepts and JSON forbids."""
    raise ValueError(word)


def _clip(text: bytes) -> str:
    shown = text.strip().decode(errors="replace")
    return repr(shown if len(shown) <= 40 else shown[:40] + "…")
