"""Crash-safe appends of lines to files that several processes share.

A line is added under a lock on the file itself, with one write, and is on disk before the writer continues.
The torn line of a killed writer is never joined to the next line.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import lzma
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tcformal.callbacks import Warn, ignore
from tcformal.errors import RecordError
from tcformal.files import LARGEST_CONTENT, open_regular, refusals, refuse_links, refuse_others
from tcformal.store.lines import parse_line

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
            _sync_folder(path.parent)


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


def write_whole(path: Path, content: bytes, *, below: Path | None = None) -> None:
    """Write a file atomically, so that its name never refers to a partial one.

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
    """Flush a folder's entries to disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


#: Bytes of the widest window of a packed file: lines that are much alike may stand far apart.
_WINDOW = 1 << 27


def write_packed(path: Path, content: bytes) -> None:
    """Write a compressed file; RecordError for content that could not be read back."""
    if len(content) > LARGEST_CONTENT:
        raise RecordError(
            f"expected at most {LARGEST_CONTENT} bytes to pack in {path}, but got {len(content)}"
        )
    window = min(max(len(content), 1 << 12), _WINDOW)
    xz = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": window}
    write_whole(path, lzma.compress(content, filters=[xz]))
