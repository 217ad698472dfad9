"""The README's list of what has to be trusted: its sizes are today's, and nothing used is missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `(tcformal/\S+\.py)` \| (\d+) \|", re.MULTILINE)
#: What listed modules use and need not rely on: what finds proofs, which the kernel checks; the unit that a
#: claim is about; solvers, whose answers count with a checked proof only, in their order, and what carries a
#: request to a process and its line back; witnesses and assumptions; texts of errors and records.
NOT_TRUSTED = (
    "tcformal/proofs/tactics/", "tcformal/proofs/packed.py",
    "tcformal/proofs/claims/integer_witness.py", "tcformal/semantics/", "tcformal/programs/chain.py",
    "tcformal/callbacks.py", "tcformal/operands/", "tcformal/query/", "tcformal/solve/members.py",
    "tcformal/solve/order.py", "tcformal/solve/worker.py", "tcformal/solve/processes/",
    "tcformal/solve/result.py", "tcformal/solve/sat.py",
    "tcformal/solve/drat.py", "tcformal/solve/lrat/hints.py", "tcformal/solve/__init__.py",
    "tcformal/interp/concrete.py", "tcformal/ir/invariant.py", "tcformal/design/trees/",
    "tcformal/formats/custom.py", "tcformal/checks.py",
    "tcformal/errors.py", "tcformal/version.py",
)  # fmt: skip


def lines(path: str) -> int:
    """The number of lines of a file of the repository."""
    return len((ROOT / path).read_text(encoding="utf-8").splitlines())


def listed() -> dict[str, int]:
    """The files of the list, with the sizes that it gives."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("### What has to be trusted")[2]
    return {path: int(size) for path, size in ROW.findall(text)}


def used(path: str) -> set[str]:
    """The modules of the package that a module imports."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    found = (name.replace(".", "/") for name in names if name.startswith("tcformal"))
    return {f"{x}.py" if (ROOT / f"{x}.py").exists() else f"{x}/__init__.py" for x in found}


def test_sizes_are_todays() -> None:
    """In the table and in the text before it."""
    assert {path: lines(path) for path in listed()} == listed()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    gates = sum(lines(f"tcformal/interp/{name}.py") for name in ("gates", "blast", "cnf"))
    assert f"`cnf.py`, {gates} lines" in readme
    second = sum(lines(f"tcformal/independent/{name}.py") for name in ("__init__", "abc", "gates"))
    assert f"(`tcformal/independent/`, {second} lines" in readme
    assert f"(`tcformal/solve/lrat/check.py`, {lines('tcformal/solve/lrat/check.py')} lines" in readme


def test_what_is_relied_on_is_listed() -> None:
    """Whatever a listed module imports is listed, or named above."""
    missing = {x for path in listed() for x in used(path) if x not in listed()}
    assert {x for x in missing if not x.startswith(NOT_TRUSTED)} == set()


def test_a_module_that_is_missing_is_seen() -> None:
    """The rule above sees what the kernel imports, and what confirms a lemma."""
    assert {"tcformal/solve/arbiter.py", "tcformal/solve/running.py"} <= used("tcformal/solve/portfolio.py")
    assert not any(
        x.startswith(NOT_TRUSTED) for x in ("tcformal/solve/arbiter.py", "tcformal/proofs/claim.py")
    )
    assert "tcformal/ir/build.py" in used("tcformal/proofs/kernel/rules.py")
    assert not "tcformal/ir/build.py".startswith(NOT_TRUSTED)
