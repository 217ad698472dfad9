"""A checkout on a machine with a GPU: no solver, no table, no schema package; `probe` runs all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Hides every package but those that a CUDA image for Python has, from this process and those it spawns.
HIDING = """
import sys
from importlib.metadata import packages_distributions

KEPT = {"numpy", "click", "ml_dtypes"}
HIDDEN = {name for name in packages_distributions() if name not in KEPT and not name.startswith("_")}


class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN - {"tcformal", "pip", "setuptools"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


sys.meta_path.insert(0, Hidden)
"""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment without the other packages."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    return {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """`python -m tcformal` from the checkout."""
    return subprocess.run(
        [sys.executable, "-m", "tcformal", *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.mark.long
def test_a_campaign_needs_little(bare: dict[str, str], tmp_path: Path) -> None:
    """From the command line, worker processes included; then its results are compared."""
    probe = subprocess.run([sys.executable, "-c", "import rich"], env=bare, capture_output=True, text=True)
    assert "ModuleNotFoundError" in probe.stderr
    name = "volta/mma.m8n8k4.f32.f16.f16.f16"
    words = ("--vectors", "60", "--jobs", "1", "--minutes", "2", "--unit", name, "--results", str(tmp_path))
    made = run(bare, "probe", "campaign", "--device", "model:volta", *words)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("HOLDS: ")
    assert max(map(len, made.stdout.splitlines()[1:-1])) <= 100
    folder = str(tmp_path / "hardware" / "model-volta")
    compared = run(bare, "probe", "compare", folder, "--json")
    assert compared.returncode == 0, compared.stderr
    assert name in json.loads(compared.stdout)["survivors"]


def test_other_commands_say_what_is_missing(bare: dict[str, str]) -> None:
    made = run(bare, "separate", "a", "b")
    assert made.returncode == 2
    assert made.stderr.count("\n") == 1
    assert made.stderr == (
        "error: expected rich for the command separate, but it is not installed: "
        "python -m pip install tcformal\n"
    )
    listed = run(bare, "probe", "devices")
    assert listed.returncode == 0, listed.stderr
    assert "vdpbf16ps" in listed.stdout


@pytest.mark.long
def test_a_fresh_environment_is_enough(tmp_path: Path) -> None:
    """A real environment that holds these packages alone."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    packages = ["numpy", "click", "ml_dtypes"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, capture_output=True)
    words = ["--vectors", "60", "--jobs", "1", "--minutes", "2", "--results", str(tmp_path)]
    made = subprocess.run(
        [python, "-m", "tcformal", "probe", "campaign", "--device", "model:volta", *words],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
