"""Puts one mutant after the other into a copy of the package and runs the tests that must notice it.

    PYTHONPATH=tests python -m mutants.run [WORDS…]

First the same tests are run on the package as it is: they must pass, or "caught" would mean nothing.
With WORDS only the mutants whose layer or name contains one of them are tried.  Exit status: 0 where all
are caught, 1 where one survives or the tests fail by themselves, 2 where the list does not fit the sources.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click

from mutants.mutant import LIST, Mutant, MutantError, named_tests, read

ROOT = Path(__file__).resolve().parents[2]
#: Seconds that the tests of one mutant may take, and all named tests together without one.
LIMIT_S, LIMIT_UNCHANGED_S = 120.0, 600.0
JOBS = 2

#: What the tests are given besides the package; what they only read is linked.
_COPIED = ("tcformal", "tests", "benchmarks", "hw_probes", "queries", "pyproject.toml", "README.md")
_LINKED = ("results",)

#: How a run of pytest can end: its own exit codes.
_ENDS = {0: "SURVIVED", 1: "caught"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the tests of one mutant ended."""

    mutant: Mutant
    #: `caught`, `SURVIVED`, `timed out`, or `did not run`.
    end: str
    seconds: float
    #: The first test that failed, or the last line that pytest wrote.
    said: str


def copied(root: Path, folder: Path) -> None:
    """What the tests need, in a folder of its own."""
    for name in _COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name)
        elif (root / name).exists():
            shutil.copy2(root / name, folder / name)
    for name in _LINKED:
        if (root / name).exists():
            (folder / name).symlink_to(root / name)


def run_tests(folder: Path, tests: Sequence[str], limit_s: float) -> tuple[int | None, str]:
    """Run tests in a copy, up to the first failure: pytest's exit code (None: too long), what it wrote."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        # Kernels compiled by one mutant are no other's.
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTEST_ADDOPTS": "",
        # No test needs a plugin, and loading them takes longer than most tests.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "--no-header"]
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "pytest", *options, *tests],
        cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        try:
            written, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            written = ""
        finally:
            # Solvers that the tests have left behind belong to the same session.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return (process.returncode if written else None), written


def tried(root: Path, mutant: Mutant) -> Outcome:
    """One mutant in a copy of the package, and how its tests ended."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tcformal-mutant-") as name:
        folder = Path(name)
        copied(root, folder)
        (folder / mutant.file).write_text(mutant.changed(root), encoding="utf-8")
        code, written = run_tests(folder, mutant.tests, LIMIT_S)
    end = "timed out" if code is None else _ENDS.get(code, "did not run")
    return Outcome(mutant, end, time.monotonic() - start, _telling(written))


def _telling(written: str) -> str:
    """The line of pytest's output that names the test that failed, or its last line."""
    lines = written.strip().splitlines() or ["no output"]
    return next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), lines[-1])


def unchanged(root: Path, tests: Sequence[str]) -> str:
    """Run tests in a copy without a mutant: empty where they pass, else what pytest said."""
    with tempfile.TemporaryDirectory(prefix="tcformal-mutant-") as name:
        copied(root, Path(name))
        code, written = run_tests(Path(name), tests, LIMIT_UNCHANGED_S)
    return "" if code == 0 else f"expected these tests to pass without a mutant, but: {_telling(written)}"


def chosen(mutants: Sequence[Mutant], words: Sequence[str]) -> list[Mutant]:
    """The mutants whose layer or name contains one of the words; all of them without words."""
    found = [m for m in mutants if not words or any(w in f"{m.layer} {m.name}" for w in words)]
    if not found:
        raise MutantError(f"expected mutants of {' or '.join(words) or 'the list'}, but there are none")
    return found


def run(root: Path, path: Path, words: Sequence[str], say: Callable[[str], None] = click.echo) -> int:
    """Try the mutants of a list, two at a time, and say how each ended; the exit status."""
    start = time.monotonic()
    try:
        mutants = chosen(read(path), words)
        if find_spec("torch") is None:
            absent = [m for m in mutants if m.layer == "torch"]
            mutants = [m for m in mutants if m not in absent]
            if absent:
                say(f"not tried without PyTorch: {len(absent)} mutants of the layer torch")
        for mutant in mutants:
            mutant.changed(root)
    except (MutantError, OSError) as error:
        say(str(error))
        return 2
    tests = named_tests(mutants)
    with ThreadPoolExecutor(JOBS) as pool:
        halves = [half for half in (tests[0::2], tests[1::2]) if half]
        failures = [text for text in pool.map(lambda half: unchanged(root, half), halves) if text]
        for text in failures:
            say(text)
        if failures:
            return 1
        say(
            f"without a mutant all {len(tests)} named tests and files pass ({time.monotonic() - start:.0f} s)"
        )
        outcomes = []
        for outcome in pool.map(lambda mutant: tried(root, mutant), mutants):
            outcomes.append(outcome)
            m = outcome.mutant
            say(f"{outcome.end:<11} {m.layer:<9} {m.name:<62} {outcome.seconds:5.1f} s")
            if outcome.end != "caught":
                say(f"            {m.file}: {outcome.said}")
    caught = sum(outcome.end == "caught" for outcome in outcomes)
    say(f"{caught} of {len(outcomes)} mutants caught in {time.monotonic() - start:.0f} s")
    return 0 if caught == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(run(ROOT, LIST, sys.argv[1:]))
