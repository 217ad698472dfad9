"""Python files of the working directory are data: neither the command nor any process it starts runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What this program and the Python that it starts import, and what a Python may import by itself.
NAMES = (
    "json",
    "numpy",
    "tcformal",
    "sitecustomize",
    "usercustomize",
    "multiprocessing",
    "pickle",
    "ctypes",
    "click",
)
PLANTED = """
import os, sys
with open(os.path.join(os.path.dirname(__file__), "marks", os.path.basename(__file__)), "w") as mark:
    mark.write(repr(sys.argv))
raise SystemExit("planted")
"""

#: The command that an installation makes.
COMMAND = """
import sys
from tcformal.cli import main

if __name__ == "__main__":
    sys.exit(main())
"""

#: A device in a process of its own.
ISOLATED = """
from tcformal.devices.isolated import IsolatedDevice

if __name__ == "__main__":
    device = IsolatedDevice("model:volta")
    print(len(device.units()))
    device.close()
"""

#: A library's user, whose own path begins with the working directory as it does in a notebook.
NOTEBOOK = """
import sys
from tcformal.query.pairs.pool import SturdyPool

sys.path.insert(0, "")
if __name__ == "__main__":
    with SturdyPool(1) as pool:
        print(pool.submit(len, [1, 2]).result())
"""

UNITS = (
    "valpey@terms=2,fraction_bits=5,accumulation=sign_magnitude",
    "valpey@terms=2,fraction_bits=5",
    "--assume",
    "c=0",
)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A working directory with a file of every name."""
    folder = tmp_path / "planted"
    (folder / "marks").mkdir(parents=True)
    for name in NAMES:
        (folder / f"{name}.py").write_text(PLANTED)
    return folder


def run_in(folder: Path, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python there, with the package on its path."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def marks(folder: Path) -> list[str]:
    """The planted files that were run."""
    return sorted(path.name for path in (folder / "marks").iterdir())


def test_the_planted_files_are_run_where_python_looks_for_them(planted: Path) -> None:
    """The test can fail: a Python that is started as programs usually start one runs them."""
    run_in(planted, ["-c", "import json"])
    assert marks(planted) == ["json.py"]


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        (COMMAND, ["units", "volta/mma.m8n8k4.f32.f16.f16.f32"], "volta"),
        (COMMAND, ["prove", *UNITS, "--solvers", "cadical", "--certify"], "EQUIVALENT"),
        pytest.param(
            COMMAND, ["prove", *UNITS, "--solvers", "kissat,z3,cvc5"], "EQUIVALENT", marks=pytest.mark.long
        ),
        pytest.param(
            COMMAND,
            ["statistics", "x86/vdpbf16ps", "--lengths", "2", "--elements", "1", "--sweep", "--jobs", "1"],
            "vdpbf16ps",
            marks=pytest.mark.long,
        ),
        (ISOLATED, [], "3\n"),
        (NOTEBOOK, [], "2\n"),
    ],
    ids=["command", "worker and checker", "workers", "pool", "isolated device", "pool of a notebook"],
)
def test_no_process_runs_them(
    planted: Path, tmp_path: Path, script: str, words: list[str], said: str
) -> None:
    (tmp_path / "script.py").write_text(script)
    done = run_in(planted, [str(tmp_path / "script.py"), *words])
    assert marks(planted) == []
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.slow
def test_python_m_drops_the_working_directory(planted: Path) -> None:
    """A `tcformal.py` is what `python -m tcformal` means there: nothing of ours runs before it."""
    done = run_in(planted, ["-m", "tcformal", "--version"])
    assert (marks(planted), done.stderr) == (["tcformal.py"], "planted\n")
    (planted / "marks" / "tcformal.py").unlink()
    (planted / "tcformal.py").unlink()
    done = run_in(planted, ["-m", "tcformal", "prove", *UNITS, "--solvers", "cadical", "--certify"])
    assert done.returncode == 0, done.stderr
    done = run_in(
        planted,
        [
            "-m",
            "tcformal",
            "statistics",
            "x86/vdpbf16ps",
            "--lengths",
            "2",
            "--elements",
            "1",
            "--sweep",
            "--jobs",
            "1",
        ],
    )
    assert done.returncode == 0, done.stderr
    assert marks(planted) == []


def test_python_p_m_never_looks_there(planted: Path) -> None:
    done = run_in(planted, ["-P", "-m", "tcformal", "--version"])
    assert done.returncode == 0, done.stderr
    assert marks(planted) == []


def test_the_installed_command_never_looks_there(planted: Path) -> None:
    command = Path(sysconfig.get_path("scripts")) / "tcformal"
    if not command.exists():
        pytest.skip("the command is not installed")
    done = run_in(planted, [str(command), "--version"])
    assert done.returncode == 0, done.stderr
    assert marks(planted) == []
