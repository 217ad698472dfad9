"""The lock pins what the project asks for, and the citation names the version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
#: Extras of GPUs, OpenCL, PyTorch, RTL and the site: in no environment of the lock.
NOT_LOCKED = ("cuda", "cuda12", "opencl", "torch", "rtl", "docs")


def test_every_package_is_pinned_by_hash_and_no_address_is_named() -> None:
    entries = [line for line in LOCK if line and not line.startswith((" ", "#"))]
    assert entries
    assert [line for line in entries if not re.fullmatch(r"[a-z0-9._-]+==\S+ \\", line)] == []
    assert [x for x in LOCK if "://" in x or re.search(r"--(index|extra-index|find-links)", x)] == []


def test_every_requirement_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for name, extra in project["project"]["optional-dependencies"].items():
        asked += [] if name in NOT_LOCKED else extra
    names = {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in asked}
    assert names - {line.partition("==")[0] for line in LOCK} == set()


def test_the_citation_names_the_version() -> None:
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
