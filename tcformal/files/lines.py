"""Files of JSON lines that several processes add to, and that survive a writer killed at any moment.

Only regular files are read and added to: what else a name may stand for is refused (`records.regular`).
A line is added under a lock on the file itself, with one write, and is on the disk before the writer goes
on.  What a killed writer left of a line is never read as a record and never joined to the next line.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.files.regular import open_regular, refusals, refuse_links, refuse_others

#: Told, in one sentence, what was wrong and what was done about it.
Told = Callable[[str], None]

#: Bytes that are read at a time where all lines of a file are passed over.
_BLOCK = 1 << 20

#: Bytes that are read at a time where the last lines are looked for.
_STEP = 1 << 18

#: The ending of the file beside, to which torn lines are moved.
ASIDE = ".torn"

#: Bytes of a file that are read at once, and of a line: bounds against files made to fill the memory.
LARGEST_FILE, LARGEST_LINE = 1 << 32, 1 << 26


def _nobody(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file."""

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
    """How far a file has been read: the file itself, and the whole lines behind us."""

    file: int = 0
    offset: int = 0
    lines: int = 0


def read(path: Path, since: Mark | None = None) -> tuple[list[Line], Mark]:
    """The lines of a file after `since`, and how far whole lines went; no lines where there is no file.

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
    found = [_line(path, since.lines + i, text) for i, text in enumerate(texts, 1)]
    mark = Mark(since.file, since.offset + len(whole + end), since.lines + len(texts))
    if rest:
        last = _line(path, mark.lines + 1, rest)
        # Whole but for its end: a truncated object is none, so that this one was written to its last brace.
        found.append(last if last.data is not None else Line(last.number, None, last.problem, torn=True))
    return [line for line in found if line.data is not None or line.problem], mark


def scan(path: Path, since: Mark, take: Callable[[int, bytes], None], told: Told = _nobody) -> Mark:
    """Hand every whole line after `since`, with the place at which it starts, to `take`, unparsed.

    The new mark; one with another file or a smaller offset than `since` says that the file was replaced or
    shortened and that nothing was taken.  `told` hears of a torn last line.
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
                elif _line(path, lines + 1, text).data is not None:
                    take(offset, text)  # whole but for its end
                elif text.strip():
                    told(f"{_line(path, lines + 1, text).problem}: left by a writer that was stopped")
    return Mark(status.st_ino, offset, lines)


def backwards(path: Path) -> Iterator[tuple[int, Line]]:
    """The lines of a file with the places at which they start, the last one first; their numbers are 0.

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
                        yield start + found + 1, _line(path, 0, text)
                    at = found
                later.append(block[:at])
                end = start
            text = b"".join(reversed(later))
            if text.strip():
                yield 0, _line(path, 0, text)


def line_at(path: Path, start: int, number: int) -> Line:
    """The line that starts at a place which `scan` gave; `number` is what it is called in sentences.

    Errors: RecordError for a file that cannot be read.
    """
    with refusals(path), os.fdopen(open_regular(path, os.O_RDONLY), "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        stream.seek(start)
        return _line(path, number, stream.readline(LARGEST_LINE))


def _line(path: Path, number: int, text: bytes) -> Line:
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
    """NaN and Infinity are words of Python's, not of JSON's."""
    raise ValueError(word)


def _clip(text: bytes) -> str:
    shown = text.strip().decode(errors="replace")
    return repr(shown if len(shown) <= 40 else shown[:40] + "…")


def append(path: Path, data: Mapping[str, Any], told: Told = _nobody) -> None:
    """Add one line as `append_all` adds several."""
    append_all(path, [data], told)


def append_all(path: Path, rows: Iterable[Mapping[str, Any]], told: Told = _nobody) -> None:
    """Add lines with one write, on the disk when this returns; folders are made as needed.

    A torn last line is moved to the file beside that ends in `.torn`, and `told` hears of it.
    Errors: RecordError for a file that cannot be written; then nothing of the lines is left in it.
    """
    added = b"".join(_encoded(data) + b"\n" for data in rows)
    if not added:
        return
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        made = not path.exists()
        with _locked(path) as file:
            end = os.fstat(file).st_size
            tail = _tail(file, end)
            if tail:
                end = _mend(path, file, end, tail, told)
            try:
                written = os.pwrite(file, added, end)
                if written != len(added):
                    raise OSError(f"only {written} of {len(added)} bytes were written")
                os.fsync(file)
            except OSError:
                os.ftruncate(file, end)
                raise
        if made:
            _sync_folder(path.parent)


def keep_lines(path: Path, starts: Collection[int]) -> int:
    """Keep only the lines that start at these places; how many whole lines were taken out.

    Writers that wait meanwhile add to the new file.
    Errors: RecordError for a file that cannot be read or written; then it is as it was.
    """
    if not path.exists():
        return 0
    with refusals(path), _locked(path) as file:
        with open(file, "rb", closefd=False) as stream:
            stream.seek(0)
            kept, offset, lines = [], 0, 0
            for text in stream:
                if offset in starts:
                    kept.append(text if text.endswith(b"\n") else text + b"\n")
                lines += bool(text.strip())
                offset += len(text)
        if len(kept) < lines:
            write_whole(path, b"".join(kept))
    return lines - len(kept)


def _encoded(data: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half of a pair of surrogates, which only an escape can write
        return json.dumps(data, allow_nan=False).encode()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file that `path` names, open and held against every other writer and reader."""
    while True:
        file = open_regular(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Another file may have been put in its place while this one was waited for.
            named = os.lstat(path).st_ino if os.path.lexists(path) else None
            if os.fstat(file).st_ino == named:
                yield file
                return
        finally:
            os.close(file)


def _tail(file: int, end: int) -> bytes:
    """What follows the last end of a line."""
    tail = b""
    while end > 0:
        start = max(0, end - (1 << 16))
        _, found, after = os.pread(file, end - start, start).rpartition(b"\n")
        tail = after + tail
        if found:
            break
        end = start
    return tail


def _mend(path: Path, file: int, end: int, tail: bytes, told: Told) -> int:
    """Close a last line that lacks only its end, or move a torn one aside; the file's new end."""
    if _line(path, 0, tail).data is not None:
        os.pwrite(file, b"\n", end)
        return end + 1
    aside = path.with_name(path.name + ASIDE)
    with os.fdopen(open_regular(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as stream:
        stream.write(tail + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.ftruncate(file, end - len(tail))
    told(f"a torn last line of {path} was moved to {aside}: its writer was stopped in the middle of it")
    return end - len(tail)


def write_whole(path: Path, content: bytes, *, below: Path | None = None) -> None:
    """Write a file so that its name never stands for half of it.

    With `below`, no folder between that one and the file may be a link.
    Errors: RecordError where that cannot be done, or the name stands for something else than a file.
    """
    with refusals(path):
        if below is not None:
            refuse_links(path.parent, below)
        refuse_others(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        file, part = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fchmod(stream.fileno(), 0o644)
                os.fsync(stream.fileno())
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put a new name in a folder on the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
