"""The sources in Coq, compiled once for all tests that ask for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.theory.checked import compile_sources


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of compiled sources are for one process, so that these are compiled once."""
    for item in items:
        if "compiled" in getattr(item, "fixturenames", ()):
            # The specification alone, which agreement asks for, is compiled in no time.
            alone = item.path.stem == "test_agreement"
            item.add_marker(pytest.mark.xdist_group("coq of the specification" if alone else "coq"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all compiled sources."""
    folder = tmp_path_factory.mktemp("theory")
    compile_sources(folder)
    return folder
