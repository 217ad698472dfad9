"""The sources in Coq, compiled once for all tests that ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.theory.sources import compile_sources


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all compiled sources."""
    folder = tmp_path_factory.mktemp("theory")
    compile_sources(folder)
    return folder
