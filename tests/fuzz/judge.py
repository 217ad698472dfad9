"""What must be true of every call, however odd: one of four exit codes, and few, short sentences."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from executors import Inline
from fuzz.cases import Case
from fuzz.place import ROOT, Place
from tcformal.cli import main
from tcformal.errors import NoAnswerError
from tcformal.report.escape import LONGEST
from tcformal.solve import portfolio

#: Seconds of the processor, seconds on the wall, and MiB of address space that a call may take.
SECONDS, WALL, MEMORY_MB = 30, 600, 8192
#: Lines of standard error: warnings about records, and one error.
LINES = 32
UNSAFE = re.compile("[^\n -~\xa1-\xac\xae-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\ud7ff\ue000-\U0010ffff]")


class OverdueError(BaseException):
    """A call has taken too long."""


@contextmanager
def bounded(place: Place) -> Iterator[None]:
    """This process as cases run in it: in their folder, within limits, without what takes minutes.

    No solver is asked, no worker started, no mismatch explained, and no question of a paper reported.
    """
    patch = pytest.MonkeyPatch()

    def overdue(*_: object) -> None:
        raise OverdueError

    def none_answers(race: Any, names: Sequence[str], arbiter: Any) -> Any:
        del race, names
        return arbiter.exhausted()

    def unexplained(*_: object) -> Any:
        raise NoAnswerError("expected an explanation, but none was asked for here")

    limits = resource.getrlimit(resource.RLIMIT_AS)
    answered = {number: signal.signal(number, overdue) for number in (signal.SIGALRM, signal.SIGVTALRM)}
    try:
        patch.chdir(place.root)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MB << 20, limits[1]))
        patch.setattr(portfolio._Race, "run", none_answers)
        patch.setattr("tcformal.cli.devices.mismatch.explain_mismatch", unexplained)
        patch.setattr("tcformal.report.site.build.known_queries", dict)
        for module in ("devices.campaign", "questions.pairs"):
            patch.setattr(f"tcformal.cli.{module}.SturdyPool", Inline)
        yield
    finally:
        patch.undo()
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for number, handler in answered.items():
            signal.signal(number, handler)


def call(case: Case) -> tuple[int, str, str]:
    """Exit code, output and errors of a case in this process."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL)
    try:
        done = CliRunner().invoke(
            main, list(case.words), env={"TCFORMAL_RESULTS": "r-default", **case.environment}
        )
    except OverdueError:
        return -1, "", f"still running after {SECONDS} s"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return -1, done.stdout, f"{done.stderr}\nTraceback: {done.exception!r:.500}"
    return done.exit_code, done.stdout, done.stderr


def call_apart(case: Case, place: Place) -> tuple[int, str, str]:
    """The same in a process of its own, with its solvers and workers."""
    words = [os.fsencode(word) for word in case.words]
    variables = {"TCFORMAL_RESULTS": "r-default", "PYTHONPATH": str(ROOT), **case.environment}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "tcformal", *words], cwd=place.root, env={**os.environ, **variables},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=WALL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, "", f"still running after {WALL} s"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def complaints(case: Case, code: int, out: str, err: str) -> list[str]:
    """What is wrong with an answer; none for a good one."""
    found = []
    if code not in (0, 1, 2, 3):
        found.append(f"exit code {code}")
    for word in ("Traceback", "internal error"):
        if word in err or word in out:
            found.append(word)
    if err.count("\n") > LINES or len(err) > LINES * LONGEST:
        found.append(f"{err.count(chr(10))} lines, {len(err)} characters of errors")
    for name, text in (("output", out), ("errors", err)):
        # Binary AIGER is not for terminals: `export` refuses to write it to one.
        binary = name == "output" and any("aiger" in word for word in case.words) and text.startswith("aig ")
        if not binary and (unsafe := UNSAFE.search(text)):
            found.append(f"{unsafe[0]!r} in {name}")
    if case.wants_json and out.strip() and code in (0, 1, 3):
        try:
            json.loads(out)
        except ValueError as error:
            found.append(f"no JSON: {error}")
    if code == 2 and not err.strip():
        found.append("no sentence")
    return found


def report(case: Case, place: Path, found: Sequence[str], err: str) -> str:
    """A failing case as one can look at it: what is wrong, the errors, and the command."""
    return f"{'; '.join(found)}\n  {err.strip()[:600]!r}\n  cd {place} && {case.line()}"
