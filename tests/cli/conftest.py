"""The command line in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from tcformal.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, with no terminal and no wishes about colour."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TCFORMAL_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words)

    return invoke
