"""A store, and what it complains of."""

from __future__ import annotations

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
