"""The package as it is installed: from a wheel, in another folder, without the repository beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="the wheel is built by hatchling")

ROOT = Path(__file__).resolve().parents[2]
QUERY = "disagreements/truncation"


def run(args: list[str], cwd: Path, path: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *args], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, installed from a wheel that is built for it."""
    made = tmp_path_factory.mktemp("wheel")
    tools = os.environ.get("PYTHONPATH", "")
    built = run(["-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)], ROOT, tools)
    assert built.returncode == 0, built.stderr
    (wheel,) = made.glob("*.whl")
    site = made / "site"
    pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--target",
        str(site),
    ]
    done = run([*pip, str(wheel)], made, tools)
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A working folder that has nothing to do with the repository."""
    return tmp_path


def tcformal(installed: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return run(["-m", "tcformal", *args], cwd, str(installed))


def test_the_installed_package_is_the_one_that_runs(installed: Path, elsewhere: Path) -> None:
    where = run(["-c", "import tcformal; print(tcformal.__file__)"], elsewhere, str(installed))
    assert Path(where.stdout.strip()).is_relative_to(installed), where.stderr


def test_the_wheel_says_that_it_is_typed(installed: Path) -> None:
    assert (installed / "tcformal" / "py.typed").is_file()


def test_the_report_is_made_from_the_wheel(installed: Path, elsewhere: Path) -> None:
    """Its templates and scripts are there: what it lacks is what it is told to look for."""
    site = installed / "tcformal" / "report" / "site"
    mine = ROOT / "tcformal" / "report" / "site"
    for folder in ("templates", "static"):
        wanted = sorted(path.name for path in (mine / folder).iterdir())
        assert wanted == sorted(path.name for path in (site / folder).iterdir())
        assert wanted
    result = tcformal(installed, elsewhere, "report", "--out", "site", "--playground", "gone.tgz")
    assert result.returncode == 2
    assert "expected Pyodide's npm package at gone.tgz" in result.stderr


@pytest.mark.long
def test_the_source_archive_says_so_too(tmp_path: Path) -> None:
    """And holds the guide for contributors with its patches."""
    tools = os.environ.get("PYTHONPATH", "")
    built = run(["-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)], ROOT, tools)
    assert built.returncode == 0, built.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {"tcformal/py.typed", "docs/CONTRIBUTING.md", "docs/changes/unit.patch"} <= names


def test_every_query_file_is_in_the_wheel(installed: Path, elsewhere: Path) -> None:
    result = tcformal(installed, elsewhere, "run", "--list", "--json")
    assert result.returncode == 0, result.stderr
    root = ROOT / "queries"
    wanted = {p.relative_to(root).with_suffix("").as_posix() for p in root.rglob("*.toml")}
    assert {q["name"] for q in json.loads(result.stdout)} == wanted


def test_a_query_runs_from_the_wheel(installed: Path, elsewhere: Path) -> None:
    result = tcformal(installed, elsewhere, "run", QUERY, "--json", "--results", "answers")
    assert result.returncode == 0, result.stderr
    assert all(a["as_expected"] for a in json.loads(result.stdout))
    assert (elsewhere / "answers" / "answers.jsonl").is_file()


def test_a_mistake_in_a_users_file_names_file_and_key(installed: Path, elsewhere: Path) -> None:
    """The schema is in the wheel as well."""
    mine = elsewhere / "mine.toml"
    mine.write_text(
        'title = "t"\nsource = "XIE"\n[[ask]]\nname = "n"\nexpected = "MAYBE"\nproperty = "p"\nunit = "u"\n'
    )
    result = tcformal(installed, elsewhere, "run", str(mine))
    assert result.returncode == 2
    assert "mine.toml" in result.stderr
    assert "ask.1.expected" in result.stderr
