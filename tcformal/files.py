"""Files of others: regular files only, of bounded size, packed or not, and those that a person names.

A results folder may be a copy of somebody else's.  What it holds under a name that this program reads or
adds to need not be a file: a link would lead the writer to any file of its user, a pipe would stop the
reader for good.  A name that stands for a link, a pipe, a device or a folder is refused, never followed.
"""

from __future__ import annotations

import contextlib
import json
import lzma
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tcformal.errors import InputError, RecordError

#: What a name may stand for instead of a file.
_KINDS = {
    stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


def open_regular(path: Path, flags: int, mode: int = 0o666) -> int:
    """The descriptor of a regular file; no link is followed at the name itself, and no pipe is waited for.

    Errors: RecordError for a name of anything else, OSError as `os.open`: FileNotFoundError where there is
    no such name.
    """
    refuse_others(path)
    # Between the look and the opening, another process may have put something else there.
    file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, mode)
    try:
        _refuse(path, os.fstat(file).st_mode)
    except BaseException:
        os.close(file)
        raise
    return file


def refuse_others(path: Path) -> None:
    """RecordError where a name stands for anything but a regular file; it may stand for nothing."""
    with contextlib.suppress(FileNotFoundError):
        _refuse(path, os.lstat(path).st_mode)


def _refuse(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise RecordError(f"expected a regular file at {path}, but got {kind}")


def read_regular(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Errors: RecordError for a name of anything else, a larger file, and a file that cannot be read.
    """
    with refusals(path), os.fdopen(open_regular(path, os.O_RDONLY), "rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise RecordError(f"expected a file of at most {limit} bytes at {path}, but it is larger")
    return content


@contextlib.contextmanager
def refusals(path: Path) -> Iterator[None]:
    """An operating system's refusal as one sentence of ours."""
    try:
        yield
    except OSError as error:
        what = error.strerror or str(error)
        raise RecordError(
            f"expected a file that can be read and written at {path}, but got: {what}"
        ) from error
    except ValueError as error:  # a name with a zero byte, or one that the file system cannot encode
        raise RecordError(f"expected the name of a file, but got {str(path)!r}: {error}") from error


#: The ending of a packed file.
ENDING = ".xz"

#: Bytes that a file may have packed and unpacked, and of memory that unpacking may take.
LARGEST_PACKED, LARGEST_CONTENT, _MEMORY = 1 << 26, 1 << 28, 1 << 28


def unpacked(packed: bytes, most: int) -> tuple[bytes, bool]:
    """At most `most` bytes of what was packed with xz, and whether they are all of it and nothing follows.

    Errors: LZMAError for what is not packed with xz, is altered, or would take too much memory.
    """
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
    content = unpacker.decompress(packed, max_length=most)
    return content, unpacker.eof and not unpacker.unused_data


def read_packed(path: Path) -> bytes:
    """The content of a packed file.

    Errors: RecordError for anything but a regular file, and for one that is cut off, altered, or larger.
    """
    try:
        content, whole = unpacked(read_regular(path, LARGEST_PACKED), LARGEST_CONTENT)
    except lzma.LZMAError as error:
        raise RecordError(f"expected a file packed with xz at {path}, but {error}") from error
    if not whole:
        raise RecordError(
            f"expected one whole file packed with xz at {path}, of at most {LARGEST_CONTENT} bytes unpacked, "
            "but it goes on"
        )
    return content


#: Bytes that such a file may have.
LARGEST = 1 << 28


def read_named(path: Path, what: str, limit: int = LARGEST) -> str:
    """The text of a file that may be named by a link.

    Errors: InputError, saying that `what` was expected, for a name of anything but a regular file of at most
    `limit` bytes, and for bytes that are no UTF-8.
    """
    try:
        return read_regular(Path(os.path.realpath(path)), limit).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"expected {what} in {path}, but got: {error}") from None
    except (RecordError, ValueError) as error:
        why = str(error).partition(", but ")[2].removeprefix("got").lstrip(": ")
        raise InputError(f"expected {what} in {path}, but got: {why or error}") from None


def values_of(text: str) -> list[Any]:
    """The one value of a JSON text, or the values of a text that has one a line; ValueError as `json_of`."""
    try:
        return [json_of(text)]
    except ValueError:
        return [json_of(line) for line in text.splitlines() if line.strip()]


def json_of(text: str) -> Any:
    """What a JSON text stands for; ValueError for one that is none, or nested deeper than can be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, so that its name never refers to a partial one.

    Errors: RecordError where that cannot be done, or the name stands for something else than a file.
    """
    with refusals(path):
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
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
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
