"""Stores that tests fill, and files that are not what a store expects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tcformal.store.store import Store


@pytest.fixture
def told() -> list[str]:
    """What a store complained of."""
    return []


@pytest.fixture
def store(tmp_path: Path, told: list[str]) -> Store:
    """A store without answers."""
    return Store(tmp_path / "results", told.append)


def made_odd(path: Path, kind: str) -> None:
    """Put a link to the file, a pipe, a folder, or a link to a device in its place."""
    if kind == "link":
        real = path.parent / "real"
        path.rename(real)
        path.symlink_to(real)
        return
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
