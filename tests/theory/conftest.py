"""What tests of the theory share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.theory.sources import compile_sources


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled sources of all theorems, made once."""
    folder = tmp_path_factory.mktemp("coq")
    compile_sources(folder, "Theorems.v")
    return folder
