"""The import contracts hold on the real tree, and each of them breaks when it is violated."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter", reason="the imports do not depend on what is installed")

ROOT = Path(__file__).resolve().parents[2]
LINT = "from importlinter.cli import lint_imports_command as main; main(['--no-cache', '--no-logo'])"
#: Lints once for each line that is to be planted in a module: to start the linter takes longer than to lint.
LINT_PLANTED = """
import contextlib, io, json, sys
from pathlib import Path
from importlinter.cli import lint_imports
reports = []
for module, line in json.load(sys.stdin):
    path, out = Path("tcformal", module), io.StringIO()
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\\n{line}\\n", encoding="utf-8")
    with contextlib.redirect_stdout(out):
        code = lint_imports(cache_dir="cache", no_logo=True)
    path.write_text(text, encoding="utf-8")
    reports.append((code, out.getvalue()))
print(json.dumps(reports))
"""
LAZY = """
import importlib, pkgutil, sys, tcformal
solver_terms = {f"tcformal.backends.terms.term_{name}" for name in ("z3", "cvc5", "bitwuzla")}
for module in pkgutil.walk_packages(tcformal.__path__, "tcformal.", onerror=lambda name: None):
    # tcformal.torch is nothing without PyTorch, which no other module imports.
    alone = module.name in solver_terms | {"tcformal.__main__"} or module.name.startswith("tcformal.torch")
    if not alone:
        importlib.import_module(module.name)
print(sorted({"z3", "cvc5", "bitwuzla", "llvmlite"} & set(sys.modules)))
"""


def run(code: str, root: Path, given: str = "") -> tuple[int, str]:
    """Run Python code in `root`, whose package is found before any installed one."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, input=given, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def copied(folder: Path) -> Path:
    """A copy of the package and of its contracts, to plant violations in."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "tcformal", folder / "tcformal", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def broken(report: str) -> set[str]:
    """The names of the contracts that a report calls broken."""
    return set(re.findall(r"^(.+) BROKEN$", report, re.MULTILINE))


def test_contracts_hold() -> None:
    """The tree as it is keeps every contract."""
    code, report = run(LINT, ROOT)
    assert code == 0, report
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", report), report


LAYERS = "A layer imports only the layers below it"
QUERY = "A question knows neither its verdict nor the engine"
STORE = "What is served knows nothing of audits"
PROBE = "Logs know no devices and no runs, plans no logs"
ROOTS = "No module of the package imports the package's root"
INTERP = "An interpreter knows operators only: no semantics, designs or formats"
ORACLE = "The oracle shares no arithmetic with the models"
INDEPENDENT = "The second definition of the operators shares nothing with the first"
PURE = "No solver, NumPy or LLVM below the interpreters, nor in the oracle"
SOLVERS = "Solver packages are imported by their term interpreters and by the runners only"
KERNELS = "Kernels are made of DAGs: they know no semantics, designs or formats"
LLVM = "LLVM is called in one module"
TERMS = "Solver terms are built by the runners only, inside a worker process"


#: A module, the line that is planted in it, and the contracts that it breaks.
PLANTED = [
    pytest.param("semantics/round.py", "import z3", {PURE, SOLVERS}, id="solver-in-semantics"),
    pytest.param("semantics/round.py", "def f():\n    import z3", {PURE, SOLVERS}, id="lazy-solver"),
    pytest.param("oracle/exact.py", "from tcformal.semantics import mma", {ORACLE}, id="semantics-in-oracle"),
    pytest.param(
        "backends/second_gates.py", "import tcformal.ir.ops", {INDEPENDENT}, id="ir-in-second-gates"
    ),
    pytest.param("oracle/exact.py", "import numpy", {PURE}, id="numpy-in-oracle"),
    pytest.param("design/spec.py", "import numpy", {PURE}, id="numpy-in-design"),
    pytest.param(
        "simulation/kernels/gemm.py", "import tcformal.encodings.spec", {KERNELS}, id="formats-in-kernels"
    ),
    pytest.param("simulation/kernels/gemm.py", "import llvmlite.binding", {LLVM}, id="llvm-in-gemm"),
    pytest.param("backends/concrete.py", "import tcformal.design.spec", {INTERP}, id="design-in-interp"),
    pytest.param(
        "backends/concrete.py", "from tcformal import design", {INTERP}, id="design-in-interp-from-root"
    ),
    pytest.param("solve/portfolio.py", "import cvc5", {SOLVERS}, id="solver-in-portfolio"),
    pytest.param(
        "query/separate.py",
        "from tcformal.backends.terms.term_z3 import Z3Terms",
        {TERMS},
        id="terms-outside-worker",
    ),
    pytest.param("ir/node.py", "import tcformal.encodings.spec", {LAYERS, INTERP}, id="formats-in-ir"),
    pytest.param("query/pair.py", "from tcformal import __version__", {ROOTS}, id="root-in-query"),
    pytest.param("query/question.py", "import tcformal.query.pair", {QUERY}, id="kind-in-question"),
    pytest.param("query/verdict.py", "def f():\n    import tcformal.query.engine", {QUERY}, id="lazy-engine"),
    pytest.param("query/claims/answered.py", "import tcformal.store.file", {LAYERS}, id="store-in-query"),
    pytest.param("theory/claims.py", "import tcformal.query.pair", {LAYERS}, id="query-in-theory"),
    pytest.param("query/pairs/pool.py", "import tcformal.query.suites.suite", {QUERY}, id="suite-in-pairs"),
    pytest.param("store/answers.py", "import tcformal.store.audit.audit", {STORE}, id="audit-in-store"),
    pytest.param("devices/plan.py", "import tcformal.devices.runner", {PROBE}, id="run-in-plan"),
    pytest.param("devices/runs.py", "import tcformal.devices.runner", {PROBE}, id="run-in-log"),
    pytest.param(
        "devices/runner.py",
        "import tcformal.identification.refutation",
        {LAYERS, PROBE},
        id="identify-in-probe",
    ),
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[int, str]]:
    """What the linter says of each planted line, one at a time."""
    lines = [(str(module), str(line)) for module, line, _ in (param.values for param in PLANTED)]
    code, said = run(LINT_PLANTED, copied(tmp_path_factory.mktemp("planted")), json.dumps(lines))
    assert code == 0, said
    return dict(zip(lines, map(tuple, json.loads(said)), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("module", "line", "contracts"), PLANTED)
def test_a_planted_import_rejects(
    reports: dict[tuple[str, str], tuple[int, str]], module: str, line: str, contracts: set[str]
) -> None:
    """One forbidden import breaks the contracts meant for it; at most the layers besides.

    A module that imports the root imports everything, and so breaks the contracts of folders besides.
    """
    code, report = reports[module, line]
    assert code == 1, report
    besides = {LAYERS} | ({QUERY, STORE, PROBE} if ROOTS in contracts else set())
    assert contracts <= broken(report) <= contracts | besides, report
    assert (
        f"tcformal.{module.removesuffix('.py').replace('/', '.')}" in report.partition("Broken contracts")[2]
    )


def test_a_module_outside_the_map_rejects(tmp_path: Path) -> None:
    """A new top-level module has to be entered into the layers."""
    copy = copied(tmp_path)
    (copy / "tcformal" / "stray.py").write_text('"""Belongs to no layer."""\n', encoding="utf-8")
    code, report = run(LINT, copy)
    assert code == 1
    assert broken(report) == {LAYERS}
    assert "tcformal.stray" in report


def test_importing_loads_no_solver() -> None:
    """Every module but the three term interpreters is imported without a solver, and without LLVM."""
    code, loaded = run(LAZY, ROOT)
    assert (code, loaded.strip()) == (0, "[]"), loaded
