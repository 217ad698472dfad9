"""The checking process: it ends with its parent, is replaced when it dies, and can be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kept import COMPLEMENT, SIGNS, certified, unserved
from stores import made_odd
from tcformal.errors import RecordError
from tcformal.store import lines
from tcformal.store.certificates import PROOF, certificate_record
from tcformal.store.rechecker import Rechecker
from tcformal.store.store import Store

#: Serves the kept answer, tells the pid of its checker, and waits.
PARENT = """
import sys, time
from pathlib import Path
from kept import certified
from tcformal.store.store import Store
store = Store(Path(sys.argv[1]))
store.rechecker.seconds = 120.0
assert store.find(certified().question).checked
print(store.rechecker._process.pid, flush=True)
time.sleep(600)
"""

#: The command line with a checker that never answers, its interrupts as of a process at a terminal.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tcformal.cli import main
from tcformal.store import rechecker
rechecker._MODULE, rechecker.BUDGET_S = "silent_checker", 600.0
ask = rechecker.Rechecker._line
def line(self, seconds):
    print("waiting", self._process.pid, file=sys.stderr, flush=True)
    return ask(self, seconds)
rechecker.Rechecker._line = line
main()
"""


def environment() -> dict[str, str]:
    """The paths of this process, for a child."""
    return {**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)}


def ends(pid: int) -> bool:
    """Whether a process ends soon."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(autouse=True)
def _own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each store of this file has a process of its own."""
    monkeypatch.setattr("tcformal.store.store.Rechecker", Rechecker)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A folder with an answer whose certificate has to be checked."""
    store = Store(tmp_path)
    store.add(certified())
    return store


@pytest.mark.slow
def test_a_checker_that_was_killed_is_replaced(store: Store) -> None:
    for _ in range(3):
        found = store.find(certified().question)
        assert found is not None
        assert found.checked
        process = store.rechecker._process
        assert process is not None
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_checker_that_dies_at_work_leaves_the_answer_unchecked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcformal.store.rechecker._MODULE", "silent_checker")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    real = store.rechecker._line
    calls = iter(range(9))

    def line(seconds: float) -> object:
        if next(calls):  # ready, and now at work
            assert store.rechecker._process is not None
            store.rechecker._process.kill()
        return real(seconds)

    monkeypatch.setattr(store.rechecker, "_line", line)
    found = store.find(certified().question)
    assert found is not None
    assert not found.checked
    monkeypatch.undo()
    again = store.find(certified().question)
    assert again is not None
    assert again.checked


@pytest.mark.slow
def test_a_checker_ends_with_its_parent(store: Store) -> None:
    words = [sys.executable, "-c", PARENT, str(store.folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    assert ends(child)


@pytest.mark.slow
def test_an_interrupt_while_checking_is_one_sentence(store: Store) -> None:
    """Exit code 130, nothing written, nobody left."""
    before = {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()}
    words = [sys.executable, "-c", INTERRUPTED, "prove", SIGNS, COMPLEMENT, "--assume", "c=0"]
    words += ["--results", str(store.folder)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        process.stderr.readline()  # the start
        child = int(process.stderr.readline().split()[1])  # the check
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().split("\n") == ["", "error: interrupted", ""]
        assert process.stdout.read() == ""
    assert process.returncode == 130
    assert ends(child)
    assert {path: path.read_bytes() for path in store.folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "device", "large"])
def test_a_certificate_that_is_no_file_of_its_size_is_refused(
    store: Store, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once: no link is followed, no pipe waited for, nothing without an end read."""
    made = certified().certificate
    assert made is not None
    path = tmp_path / PROOF.file
    if kind == "large":
        monkeypatch.setattr(lines, "LARGEST_LINE", len(made.proof))
    else:
        made_odd(path, kind)
    here = Store(tmp_path)
    with pytest.raises(
        RecordError, match=r"^expected a (regular file|file that can be read and written) at "
    ):
        here.certificates.find(certificate_record(made))
    assert unserved(store.find(certified().question))
