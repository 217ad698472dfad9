"""The changes that the guide for contributors shows apply and work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGES = ROOT / "docs" / "changes"
PATCHES = sorted(path.stem for path in CHANGES.glob("*.patch"))

#: What shows that a change works; it prints what came out.
WORKS = {
    "rounding-mode": (
        """
import numpy as np
import tcformal
from tcformal.analysis.asks import evaluate_three
from tcformal.simulation.operands.witness import Witness

away = tcformal.unit("valpey@terms=2,conversion=RAZ-FP32,align_bits=8")
rng = np.random.default_rng(3)
for _ in range(60):
    a, b, c = (int(rng.integers(0, 1 << n)) for n in (16, 16, 32))
    assert len(set(evaluate_three(away.spec, Witness((a,), (b,), c)).values())) == 1, (a, b, c)
# 1 + 2^-25 is the next number above 1, and so on the other side of zero.
up, down = (tcformal.explain(away, [x], ["2^-12"], c).result for x, c in (("2^-13", 1), ("-2^-13", -1)))
verdict = tcformal.separate(away, "valpey@terms=2,align_bits=8")
print(hex(up), hex(down), verdict.kind.name)
""",
        "0x3f800001 0xbf800001 SEPARATED",
    ),
    "property": (
        """
import tcformal

kept = tcformal.check_property("valpey@terms=2", "keeps-c")
lost = tcformal.check_property("valpey@terms=2,c_subnormals=positive_zero", "keeps-c")
print(kept.kind.name, lost.kind.name)
""",
        "HOLDS VIOLATED",
    ),
}


def files(patch: str) -> list[str]:
    """The files that a patch changes."""
    return re.findall(r"^\+\+\+ b/(\S+)$", patch, re.MULTILINE)


def apply(name: str, where: Path, *options: str) -> subprocess.CompletedProcess[str]:
    patch = str(CHANGES / f"{name}.patch")
    return subprocess.run(
        ["git", "apply", *options, patch], cwd=where, capture_output=True, text=True, check=False
    )


def test_every_change_is_shown_and_shown_to_work() -> None:
    assert sorted(WORKS) == PATCHES


@pytest.mark.parametrize("name", PATCHES)
def test_a_change_touches_at_most_five_files(name: str) -> None:
    assert 1 <= len(files((CHANGES / f"{name}.patch").read_text(encoding="utf-8"))) <= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=() if x == "rounding-mode" else pytest.mark.long) for x in PATCHES]
)
def test_a_change_applies_and_works(name: str, tmp_path: Path) -> None:
    patch = (CHANGES / f"{name}.patch").read_text(encoding="utf-8")
    for path in {"tcformal", *files(patch)}:
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, tmp_path / path, ignore=shutil.ignore_patterns("__pycache__"))
        elif not path.startswith("tcformal/"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, tmp_path / path)
    program, wanted = WORKS[name]
    assert _run(program, tmp_path).returncode != 0, "the program works without the change"
    done = apply(name, tmp_path)
    assert done.returncode == 0, done.stderr
    result = _run(program, tmp_path)
    assert result.stdout.strip() == wanted, result.stderr
    # It is there now, and does not apply twice.
    assert apply(name, tmp_path, "--check").returncode != 0


def _run(program: str, where: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with the package of a folder."""
    (where / "program.py").write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "program.py"], cwd=where, env={"PYTHONPATH": str(where)}, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
