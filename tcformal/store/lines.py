"""JSON-lines files that several processes share: read while others append, and appended without loss.

Only regular files are read and written; links and devices are refused.  A line is added under a lock on the
file itself, with one write, and is on disk before the writer continues.  The torn line of a killed writer is
never read as a record, and never joined to the next line.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from tcformal.callbacks import Warn, ignore
from tcformal.errors import RecordError
from tcformal.files import open_regular, refusals, sync_folder, write_whole
from tcformal.shown import JsonObject

#: A record: one JSON object, as a line of a file holds it.
Record = JsonObject

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
    data: Record | None
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


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[BinaryIO | None]:
    """A file while no writer is in the middle of a line of it; None without a file."""
    with refusals(path):
        try:
            stream = os.fdopen(open_regular(path, os.O_RDONLY), "rb", buffering=_BLOCK)
        except FileNotFoundError:
            stream = None
        if stream is None:
            yield None
            return
        with stream:
            fcntl.flock(stream, fcntl.LOCK_SH)
            yield stream


def read(path: Path) -> list[Line]:
    """The lines of a file; empty without a file.

    Errors: RecordError for a file that cannot be read.
    """
    with _reading(path) as stream:
        if stream is None:
            return []
        size = os.fstat(stream.fileno()).st_size
        if size > LARGEST_FILE:
            raise OSError(f"{size} bytes, of which at most {LARGEST_FILE} are read")
        content = stream.read()
    *whole, rest = content.split(b"\n")
    found = [parse_line(path, i, text) for i, text in enumerate(whole, 1)]
    last = parse_line(path, len(found) + 1, rest)
    # Whole but for its end: a truncated object is none, so that an object was written to its last brace.
    found.append(last if last.data is not None else replace(last, torn=True))
    return [line for line in found if line.data is not None or line.problem]


def scan(path: Path, since: Mark, take: Callable[[int, bytes], None], warn: Warn = ignore) -> Mark:
    """Pass every whole line after `since`, unparsed and with its offset, to `take`.

    The new mark; one with another file or a smaller offset than `since` says that the file was replaced or
    shortened and that nothing was taken.  `warn` is called for a torn last line.
    Errors: RecordError for a file that cannot be read.
    """
    with _reading(path) as stream:
        if stream is None:
            return Mark()
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
            elif (last := parse_line(path, lines + 1, text)).data is not None:
                take(offset, text)  # whole but for its end
            elif last.problem:
                warn(f"{last.problem}: left by a writer that was stopped")
    return Mark(status.st_ino, offset, lines)


def backwards(path: Path) -> Iterator[tuple[int, Line]]:
    """The lines of a file with their offsets, last first; line numbers are 0.

    Only as much is read as is asked for; what others add meanwhile is not seen.
    Errors: RecordError for a file that cannot be read.
    """
    with _reading(path) as stream:
        if stream is None:
            return
        end = os.fstat(stream.fileno()).st_size
        fcntl.flock(stream, fcntl.LOCK_UN)  # later writers only add
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


#: The ending of the file beside, to which torn lines are moved.
ASIDE = ".torn"


def append(path: Path, data: Mapping[str, Any], warn: Warn = ignore) -> None:
    """Append one line durably, as `append_all` appends several."""
    append_all(path, [data], warn)


def append_all(path: Path, rows: Iterable[Mapping[str, Any]], warn: Warn = ignore) -> None:
    """Append lines durably with one write; folders are created as needed.

    A torn last line is moved to the file beside that ends in `.torn`, and `warn` is called for it.
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
                end = _mend(path, file, end, tail, warn)
            try:
                written = os.pwrite(file, added, end)
                if written != len(added):
                    raise OSError(f"only {written} of {len(added)} bytes were written")
                os.fsync(file)
            except OSError:
                os.ftruncate(file, end)
                raise
        if made:
            sync_folder(path.parent)


def keep_lines(path: Path, starts: Collection[int]) -> int:
    """Keep only the lines at these offsets, and return the number of removed lines.

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
    """Open and exclusively lock the file that `path` names, even if it is replaced meanwhile."""
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
    """The bytes after the last newline of a file."""
    tail = b""
    while end > 0:
        start = max(0, end - (1 << 16))
        _, found, after = os.pread(file, end - start, start).rpartition(b"\n")
        tail = after + tail
        if found:
            break
        end = start
    return tail


def _mend(path: Path, file: int, end: int, tail: bytes, warn: Warn) -> int:
    """Complete a last line without its newline, or move a torn one aside; the file's new end."""
    if parse_line(path, 0, tail).data is not None:
        os.pwrite(file, b"\n", end)
        return end + 1
    aside = path.with_name(path.name + ASIDE)
    with os.fdopen(open_regular(aside, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as stream:
        stream.write(tail + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    os.ftruncate(file, end - len(tail))
    warn(f"a torn last line of {path} was moved to {aside}: its writer was stopped in the middle of it")
    return end - len(tail)


@contextlib.contextmanager
def folder_lock(folder: Path, *, exclusive: bool = False) -> Iterator[None]:
    """Hold a results folder's lock: shared, to add a record with what it names; exclusive, to remove any.

    Errors: RecordError where the folder cannot be created or locked.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RecordError(f"expected a results folder at {folder}, but got: {error.strerror}") from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        except OSError as error:
            raise RecordError(f"expected to lock {folder}, but got: {error.strerror}") from error
        yield
    finally:
        os.close(file)
