"""The locks pin what the project asks for, and the citation names the version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LOCK, RUN_LOCK = (
    (ROOT / name).read_text(encoding="utf-8").splitlines()
    for name in ("requirements.lock", "requirements-run.lock")
)
#: Extras of GPUs, OpenCL, PyTorch, RTL and the site: in no environment of the lock.
NOT_LOCKED = ("cuda", "cuda12", "opencl", "torch", "rtl", "docs")


def pins(lock: list[str]) -> set[str]:
    """The packages of a lock with their versions."""
    return {line.removesuffix(" \\") for line in lock if line and not line.startswith((" ", "#"))}


def names(requirements: list[str]) -> set[str]:
    """The packages that are asked for."""
    return {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in requirements}


@pytest.mark.parametrize("lock", [LOCK, RUN_LOCK], ids=["develop", "run"])
def test_every_package_is_pinned_by_hash_and_no_address_is_named(lock: list[str]) -> None:
    entries = [line for line in lock if line and not line.startswith((" ", "#"))]
    assert entries
    assert [line for line in entries if not re.fullmatch(r"[a-z0-9._-]+==\S+ \\", line)] == []
    assert [x for x in lock if "://" in x or re.search(r"--(index|extra-index|find-links)", x)] == []


def test_every_requirement_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [*extras["solvers"], *extras["llvm"]]
    assert names(asked) - names([*pins(RUN_LOCK)]) == set()
    for name, extra in extras.items():
        asked += [] if name in NOT_LOCKED else extra
    assert names(asked) - names([*pins(LOCK)]) == set()


def test_what_runs_is_a_part_of_what_is_developed_with() -> None:
    assert pins(RUN_LOCK) < pins(LOCK)


def test_the_citation_names_the_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
