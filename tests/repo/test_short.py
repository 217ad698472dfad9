"""No failed assertion prints a whole file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from short import FIRST, LAST, WIDEST, shortened

TESTS = Path(__file__).resolve().parents[1]

#: What a test might get wrong, and a word of its message that has to be left.
FAILURES = {
    "a file beside another": "    assert text == text + 'x'\n",
    "a file as the message": "    assert text == '', text\n",
    "an error with a file in it": "    raise ValueError(text)\n",
    "a long list": "    assert list(range(10**5)) == [*range(10**5 - 1), 7]\n",
    "an error from another": "    try:\n        raise ValueError(text)\n    except ValueError as e:\n"
    "        raise KeyError(text) from e\n",
}


def test_failures_fit_a_screen(tmp_path: Path) -> None:
    """Run by pytest as it is run in a pipeline, where it leaves nothing out by itself."""
    text = "text = 'a line of a file\\n' * 10**4 + 'x' * 10**5\n"
    tests = [f"def test_{name.replace(' ', '_')}():\n{body}" for name, body in FAILURES.items()]
    (tmp_path / "test_it.py").write_text(text + "\n".join(tests))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "short",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            ".",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS), "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"{len(FAILURES)} failed" in done.stdout
    assert done.stdout.count("test_it.py:") >= len(FAILURES)
    assert len(done.stdout) < 2 * len(FAILURES) * WIDEST * (FIRST + LAST)
    assert len(done.stdout.splitlines()) < 3 * len(FAILURES) * (FIRST + LAST)


def test_what_is_short_stays() -> None:
    lines = [f"E   line {i}" for i in range(FIRST + LAST)]
    assert shortened(lines) == lines


def test_what_is_left_out_is_said() -> None:
    lines = [f"E   line {i}" for i in range(100)]
    out = shortened([*lines, "x" * 1000])
    assert out[:FIRST] == lines[:FIRST]
    assert out[FIRST] == f"E   … {101 - FIRST - LAST} lines left out …"
    assert out[-1] == "x" * WIDEST + "… (1000 characters)"
