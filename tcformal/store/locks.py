"""Locks of a results folder: shared for adding, exclusive for removal."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from tcformal.errors import RecordError


@contextlib.contextmanager
def shared_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's shared lock, so that a certificate and its record are added atomically."""
    with _locked(folder, fcntl.LOCK_SH):
        yield


@contextlib.contextmanager
def exclusive_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's exclusive lock, so that no other process adds to it."""
    with _locked(folder, fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def _locked(folder: Path, operation: int) -> Iterator[None]:
    """Lock the folder itself; RecordError where it cannot be created or locked."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RecordError(f"expected a results folder at {folder}, but got: {error.strerror}") from error
    try:
        try:
            fcntl.flock(file, operation)
        except OSError as error:
            raise RecordError(f"expected to lock {folder}, but got: {error.strerror}") from error
        yield
    finally:
        os.close(file)
