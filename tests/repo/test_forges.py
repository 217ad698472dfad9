"""The pipelines of public forges run what a change has to pass, and nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from tcformal.interpreter import OLDEST

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def pipeline(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def commands(jobs: dict[str, Any]) -> dict[str, list[str]]:
    """The shell commands of each job, as both forges write them."""
    return {
        name: [*job.get("script", ()), *(step["run"] for step in job.get("steps", ()) if "run" in step)]
        for name, job in jobs.items()
    }


def images() -> list[str]:
    matrix = pipeline(".github/workflows/check.yml")["jobs"]["check"]["strategy"]["matrix"]["image"]
    (row,) = pipeline(".gitlab-ci.yml")["check"]["parallel"]["matrix"]
    assert row["IMAGE"] == matrix
    return list(matrix)


def test_both_forges_run_the_same_checks() -> None:
    github = commands(pipeline(".github/workflows/check.yml")["jobs"])
    gitlab = commands(
        {name: x for name, x in pipeline(".gitlab-ci.yml").items() if name in ("check", "long")}
    )
    assert github == gitlab == {"check": ["./.ci/run"], "long": ["make test-long", "make mutants"]}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    for target in re.findall(r"make ([\w-]+)", str(github)):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)


def test_the_oldest_python_is_among_those_that_are_checked() -> None:
    versions = [tuple(map(int, re.findall(r"(\d+)\.(\d+)-", image)[0])) for image in images()]
    assert min(versions) == OLDEST
    assert len(set(versions)) > 1
