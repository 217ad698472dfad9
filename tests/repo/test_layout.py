"""House rules that no linter checks: docstrings, sizes, and that the texts speak of what exists."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tcformal.cli import main
from tcformal.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "tcformal").rglob("*.py"))
TEXTS = {".py", ".md", ".toml", ".lock", ".yaml", ".yml", ".cff", ".json", ".jsonl", ".cu", ".c", ".h", ""}
GENERATED = {".git", ".venv", "dist", "site", "__pycache__", "shared"}
#: Paths of the machine that a text was written on; spelled in two parts so that this file passes too.
LOCAL_PATHS = re.compile("|".join((r"(?<![\w.-])/wo" + r"rk/", r"/tmp/ve" + r"nv")))


def name_of(path: Path) -> str:
    """A path as a test's name."""
    return str(path.relative_to(ROOT))


def texts() -> Iterator[Path]:
    """Every text file of the repository: tool caches and generated folders are left out."""
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if GENERATED.intersection(parts) or any(p.startswith(".") and p != ".ci" for p in parts[:-1]):
            continue
        if path.is_file() and path.suffix in TEXTS:
            yield path


def undocumented(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    """The public functions, classes and methods that have no docstring.

    Exempt: an interpreter's `on_*` methods (the operator table documents each operator), overloads,
    and the setter of a property, whose getter speaks for it.
    """
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.name.startswith(("_", "on_")):
            continue
        decorators = {ast.unparse(d) for d in child.decorator_list}
        if "overload" in decorators or f"{child.name}.setter" in decorators:
            continue
        if ast.get_docstring(child) is None:
            yield prefix + child.name
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, f"{prefix}{child.name}.")


def readme_code() -> str:
    """What the README shows as code, fenced or inline; one command a line."""
    if not (ROOT / "README.md").exists():
        pytest.skip("there is no README.md yet")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    fence = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return "\n".join(fence.findall(text) + re.findall(r"`([^`\n]+)`", fence.sub("", text)))


def test_modules_are_documented() -> None:
    """A module and all that is public in it have a docstring; an empty package file needs none."""
    missing = []
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        if source and ast.get_docstring(tree) is None:
            missing.append(name_of(path))
        missing += [f"{name_of(path)}: {name}" for name in undocumented(tree)]
    assert missing == []


def test_undocumented_rejects() -> None:
    """The rule above sees functions, classes and methods, and leaves private and `on_` names alone."""
    tree = ast.parse(
        "def f(): ...\nclass C:\n    def m(self): ...\n    def on_add(self): ...\n    def _p(self): ..."
    )
    assert list(undocumented(tree)) == ["f", "C", "C.m"]


def test_no_local_paths() -> None:
    """No text names a path of the machine that it was written on."""
    found = [
        f"{name_of(path)}:{number}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if LOCAL_PATHS.search(line)
    ]
    assert found == []


def test_lock_is_portable() -> None:
    """The lock pins every package by hash, and names no address and no file."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert entries
    assert [line for line in entries if not re.fullmatch(r"[a-z0-9._-]+==\S+ \\", line)] == []
    assert [
        line for line in lines if "://" in line or re.search(r"--(index|extra-index|find-links)", line)
    ] == []


def test_lock_holds_what_the_project_asks_for() -> None:
    """Each requirement of pyproject.toml, the development and build ones included, is pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for name, extra in project["project"]["optional-dependencies"].items():
        # What only GPUs, OpenCL, PyTorch, RTL or the site need is in no environment of the lock.
        asked += [] if name in ("cuda", "cuda12", "opencl", "torch", "rtl", "docs") else extra
    names = {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in asked}
    pinned = re.findall(
        r"^([a-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert names - set(pinned) == set()


def test_citation_names_the_version() -> None:
    """The citation file speaks of the version that the package has."""
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_changes_are_listed_by_version() -> None:
    """The newest version of the changelog is the package's; older ones follow, each with a date."""
    heads = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    when = r"(\d+)\.(\d+)\.(\d+) \((\d{4}-\d\d-\d\d|not released yet)\)"
    found = [re.fullmatch(when, head) for head in heads]
    versions = [tuple(map(int, match.groups()[:3])) for match in found if match is not None]
    assert len(versions) == len(heads)
    assert ".".join(map(str, versions[0])) == VERSION
    assert versions == sorted(set(versions), reverse=True)
    assert not any("not released" in head for head in heads[1:])


def test_readme_names_targets_that_exist() -> None:
    """Each `make TARGET` of the README is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = re.findall(r"^\W*make ([a-z][a-z-]*)", readme_code(), re.MULTILINE)
    assert set(named) <= targets


def test_readme_names_commands_that_exist() -> None:
    """Each `tcformal COMMAND` of the README is a command of the tool."""
    unknown = []
    for words in re.findall(r"^(?:\$ |\S*/)?tcformal((?: [a-z][a-z-]*)+)", readme_code(), re.MULTILINE):
        command: click.Command = main
        for word in words.split():
            if not isinstance(command, click.Group):
                break
            found = command.get_command(click.Context(command), word)
            if found is None:
                unknown.append(words.strip())
                break
            command = found
    assert unknown == []
