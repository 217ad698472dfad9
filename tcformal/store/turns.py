"""Turns in a results folder: many processes add to it at once, and one alone takes things out."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from tcformal.errors import RecordError


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """A certificate and the line that names it are added without anybody taking things out in between."""
    with _held(folder, fcntl.LOCK_SH):
        yield


@contextlib.contextmanager
def taking_out(folder: Path) -> Iterator[None]:
    """Nobody adds to the folder meanwhile."""
    with _held(folder, fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def _held(folder: Path, how: int) -> Iterator[None]:
    """The folder itself is locked; RecordError where it cannot be made or locked."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RecordError(f"expected a results folder at {folder}, but got: {error.strerror}") from error
    try:
        try:
            fcntl.flock(file, how)
        except OSError as error:
            raise RecordError(f"expected to lock {folder}, but got: {error.strerror}") from error
        yield
    finally:
        os.close(file)
