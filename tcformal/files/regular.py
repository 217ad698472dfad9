"""Regular files only: a name that stands for a link, a pipe, a device or a folder is refused, never followed.

A results folder may be a copy of somebody else's.  What it holds under a name that this program reads or
adds to need not be a file: a link would lead the writer to any file of its user, a pipe would stop the
reader for good.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from tcformal.errors import RecordError

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


def read_regular(path: Path, limit: int, *, below: Path | None = None) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    With `below`, no folder between that one and the file may be a link either.
    Errors: RecordError for a name of anything else, a larger file, and a file that cannot be read.
    """
    with refusals(path):
        if below is not None:
            refuse_links(path.parent, below)
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as stream:
            content = stream.read(limit + 1)
    if len(content) > limit:
        raise RecordError(f"expected a file of at most {limit} bytes at {path}, but it is larger")
    return content


def refuse_links(folder: Path, below: Path) -> None:
    """RecordError where a folder below another one is reached through a link."""
    inside = folder.relative_to(below).parts
    for i in range(len(inside)):
        named = below.joinpath(*inside[: i + 1])
        if named.is_symlink():
            raise RecordError(f"expected a folder at {named}, but got a link")


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
