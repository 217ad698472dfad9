"""Stub members for the tests of the portfolio."""

from __future__ import annotations

from pathlib import Path

import pytest

from solve.stub_members import Stub
from tcformal.solve.members import Member, registry


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Enter a stub runner into the registry, as a package of its own unless one is named."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parent))
    packages = iter(["pytest", "pluggy", "iniconfig", "packaging", "pip"])

    def enter(runner: str, distribution: str | None = None, proves: bool = False) -> str:
        member = Member(distribution or next(packages), f"stub_members:{runner}", proves)
        monkeypatch.setitem(registry, runner, member)
        return runner

    return enter
