"""Private cache folders for native code, writable by nobody but the user who executes it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from tcformal.errors import InputError, RecordError

#: What another user might do to a file or folder.
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def private_folder(name: str) -> Path | None:
    """The folder `tcformal/NAME` in the user's cache, with private permissions; None where impossible.

    Errors: InputError for an XDG_CACHE_HOME that is no absolute path, RecordError for a folder that is a
    link, belongs to somebody else, or may be written by others: what lies in it is not to be trusted.
    Relative paths are invalid by the XDG Base Directory Specification 0.8.
    """
    configured = os.environ.get("XDG_CACHE_HOME")
    if configured and not os.path.isabs(configured):
        raise InputError(f"expected an absolute path in XDG_CACHE_HOME, but got {configured!r}")
    try:
        root = Path(configured) if configured else Path.home() / ".cache"
        root.mkdir(parents=True, exist_ok=True)
        for folder in (root / "tcformal", root / "tcformal" / name):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            _close_to_others(folder)
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):  # nothing can be written there, or nobody knows whose home it is
        return None
    return folder if os.access(folder, os.W_OK) else None


def _close_to_others(folder: Path) -> None:
    status = os.lstat(folder)
    problem = None
    if not stat.S_ISDIR(status.st_mode):
        problem = "something else"
    elif status.st_uid != os.geteuid():
        problem = f"one of user {status.st_uid}"
    elif status.st_mode & _OTHERS_WRITE:
        problem = f"one that others may write (mode {stat.S_IMODE(status.st_mode):o})"
    if problem is not None:
        raise RecordError(
            f"expected a folder of your own for compiled code at {folder}, but got {problem}: remove it, "
            "or set XDG_CACHE_HOME to another"
        )
    if status.st_mode & _OTHERS:
        os.chmod(folder, 0o700)


def read_private(path: Path) -> bytes | None:
    """The content of a file that only this user can write; None for any other file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not _is_private(os.fstat(file)):
        os.close(file)
        return None
    with os.fdopen(file, "rb") as stream:
        return stream.read()


def is_private(path: Path) -> bool:
    """Whether a path is a regular file that only this user can write."""
    try:
        return _is_private(os.lstat(path))
    except OSError:
        return False


def _is_private(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE
