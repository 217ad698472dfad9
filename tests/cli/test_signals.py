"""Signals at any moment: one sentence, an exit code, no traceback, no worker and no folder left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import signals

ROOT = Path(__file__).resolve().parents[2]
#: Many lengths, so that workers are busy when the signal comes.
SWEEP = [
    "statistics",
    "x86/vdpbf16ps",
    "--lengths",
    ",".join(str(n) for n in range(2000, 2100, 2)),
    "--elements",
    "20000",
    "--sweep",
    "--jobs",
    "2",
]

#: A program that says when it begins to import the command line.
STARTING = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name == "tcformal.cli.group":
            print("there", flush=True)

sys.meta_path.insert(0, Finder())
from tcformal.cli import main
sys.exit(main(["suite", "tfdpa@products=16", "--vary", "fraction_bits=10..100"]))
"""


def descendants(pid: int) -> set[int]:
    """The processes of a process, from the kernel's table."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def gone(pids: set[int]) -> bool:
    """Whether none of the processes is left, within a while."""
    deadline = time.monotonic() + 120
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def busy(process: subprocess.Popen[str]) -> set[int]:
    """The processes of a sweep, once its workers are there."""
    deadline = time.monotonic() + 120
    while len(found := descendants(process.pid)) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(1.0)
    return found | descendants(process.pid)


def sweep(tmp_path: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tcformal", *SWEEP, "--results", str(tmp_path / "results")]
    (tmp_path / "scratch").mkdir()
    return signals.started(words, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path / "scratch")})


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's table of processes")
def test_a_killed_sweep_leaves_no_worker(tmp_path: Path) -> None:
    with sweep(tmp_path) as process:
        workers = busy(process)
        process.kill()
        process.communicate()
    assert gone(workers)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the kernel's table of processes")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_sweep_that_is_ended_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with sweep(tmp_path) as process:
        workers = busy(process)
        os.killpg(process.pid, number)
        _, err = process.communicate()
    assert process.returncode == 128 + number
    assert err.splitlines()[-1] in ("error: interrupted", "error: ended by SIGTERM")
    assert "Traceback" not in err
    assert gone(workers)
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(x, marks=pytest.mark.long) for x in (signal.SIGTERM, signal.SIGHUP))],
)
def test_a_signal_while_the_program_starts_is_one_sentence(number: signal.Signals) -> None:
    """At moments of the second that importing takes, and of what comes then."""
    moments = random.Random(int(number))
    said = "error: interrupted\n" if number == signal.SIGINT else f"error: ended by {number.name}\n"
    for _ in range(3):
        with signals.started([sys.executable, "-c", STARTING], cwd=ROOT) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "there\n"
            time.sleep(moments.random())
            process.send_signal(number)
            _, err = process.communicate()
        assert (process.returncode, err.splitlines(keepends=True)[-1:]) == (128 + number, [said])
        assert "Traceback" not in err


def test_what_is_ignored_stays_ignored() -> None:
    """As under nohup: a program that was started so is not ended by it."""
    code = (
        "import os, signal, sys\n"
        "from tcformal.cli.signals import working\n"
        "with working():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('goes on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,
    )  # fmt: skip
    assert done.stdout == "goes on\n"
