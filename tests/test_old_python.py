"""An old Python ends with one sentence and exit code 2, before it meets anything that it cannot read."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tcformal.version import check_python

ROOT = Path(__file__).parents[1]
#: What an old Python reads before it is told to stop.
ENTRY = ("tcformal/__init__.py", "tcformal/__main__.py", "tcformal/version.py")


@pytest.mark.parametrize("found", [(3, 10, 12, "final", 0), (3, 8, 20, "final", 0), (2, 7, 18, "final", 0)])
def test_an_old_python_rejects(found: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        check_python(found)
    assert caught.value.code == 2
    version = ".".join(map(str, found[:3]))
    text = f"error: expected Python 3.11 or newer, but this is Python {version}\n"
    assert capsys.readouterr().err == text


@pytest.mark.parametrize("found", [(3, 11, 0), (3, 13, 1), (4, 0, 0), sys.version_info])
def test_a_new_python_goes_on(found: tuple[object, ...]) -> None:
    check_python(found)


@pytest.mark.parametrize("name", ENTRY)
def test_an_old_python_can_read_the_way_in(name: str) -> None:
    ast.parse((ROOT / name).read_text(), feature_version=(3, 8))


def test_what_old_pythons_cannot_read_is_seen() -> None:
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass\n", feature_version=(3, 8))


@pytest.mark.parametrize(
    "way",
    [
        "runpy.run_module('tcformal', run_name='__main__')",
        "from tcformal.cli import main; main()",
    ],
)
def test_every_way_in_is_one_sentence(way: str) -> None:
    """`python -m tcformal` from a checkout, and the entry point; no other package is imported before."""
    pretend = "import runpy, sys; sys.argv = ['tcformal', 'units']; sys.version_info = (3, 10, 12, 'final')"
    hide = "sys.modules.update({name: None for name in ('numpy', 'click', 'ml_dtypes')})"
    done = subprocess.run(
        [sys.executable, "-c", f"{pretend}; {hide}; {way}"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: expected Python 3.11 or newer, but this is Python 3.10.12\n"
