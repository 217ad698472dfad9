"""What every test is given: a results folder, one process that checks, failures that fit a screen."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared_checker import SharedRechecker
from short import pytest_runtest_makereport

__all__ = ["pytest_runtest_makereport"]

_number = itertools.count()

# Tests keep many DAGs and fractions: to look through them all for cycles takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)


def pytest_sessionfinish() -> None:
    """What is left is looked through once: pytest does so five times, with a second or more for each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def results_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the results folders of one run of the tests."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="session", autouse=True)
def checking() -> Iterator[None]:
    """One process checks the evidence of all stores, and takes its time, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tcformal.store.rechecker.BUDGET_S", 300.0)
        patch.setattr("tcformal.store.store.Rechecker", SharedRechecker)
        yield


@pytest.fixture
def no_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernels that another test has compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture(autouse=True)
def results_folder(results_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results folder of one test, which nothing has made yet."""
    folder = results_root / str(next(_number))
    monkeypatch.setenv("TCFORMAL_RESULTS", str(folder))
    return folder
