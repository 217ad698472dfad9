"""The pool: calls and results, and that a worker's death costs the call that it was making, nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, wait
from pathlib import Path

import pytest

from pool_calls import die, die_once, die_while_answering, linger, refuse, square, unpicklable, worker
from tcformal.errors import InputError, NoAnswerError
from tcformal.query.pairs.pool import MAX_DEATHS, SturdyPool, WorkerKilledError, _exit_worker

TESTS = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


def eventually(true: Callable[[], bool]) -> bool:
    """Whether something comes true, however busy the machine is."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    """Whether a process runs: one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_calls_are_made_and_errors_come_back() -> None:
    with SturdyPool(2) as pool:
        squares = [pool.submit(square, x) for x in range(20)]
        refused = pool.submit(refuse, 7)
        unsent = pool.submit(unpicklable)
        assert [f.result() for f in squares] == [x * x for x in range(20)]
        with pytest.raises(ValueError, match=r"^expected nothing, but got 7$"):
            refused.result()
        assert unsent.exception() is not None
        assert pool.submit(square, 3).result() == 9


def test_a_worker_that_dies_is_replaced_and_its_call_made_again(tmp_path: Path) -> None:
    with SturdyPool(2) as pool:
        once = pool.submit(die_once, tmp_path / "dead", 5)
        others = [pool.submit(square, x) for x in range(10)]
        assert once.result() == 25
        assert [f.result() for f in others] == [x * x for x in range(10)]


def test_a_call_that_kills_every_worker_is_given_up_and_costs_no_other() -> None:
    with SturdyPool(2) as pool:
        before = [pool.submit(square, x) for x in range(5)]
        deadly = pool.submit(die)
        after = [pool.submit(square, x) for x in range(5)]
        with pytest.raises(WorkerKilledError, match=rf"^its worker process died {MAX_DEATHS} times$"):
            deadly.result()
        assert [f.result() for f in (*before, *after)] == [x * x for x in range(5)] * 2


def test_a_worker_that_dies_in_the_middle_of_an_answer_keeps_nobody_waiting() -> None:
    with SturdyPool(1) as pool:
        with pytest.raises(WorkerKilledError):
            pool.submit(die_while_answering).result(PATIENCE_S)
        assert pool.submit(square, 4).result() == 16


def test_a_worker_killed_while_idle_costs_nothing() -> None:
    with SturdyPool(1) as pool:
        for _ in range(3):
            os.kill(pool.submit(worker).result(), signal.SIGKILL)
            assert pool.submit(square, 4).result() == 16


def test_a_pool_that_is_left_by_an_error_ends_its_calls(tmp_path: Path) -> None:
    started, ended = tmp_path / "started", tmp_path / "ended"

    def left() -> None:
        with SturdyPool(1) as pool:
            calls.append(pool.submit(linger, started, ended))
            calls.append(pool.submit(square, 2))
            assert eventually(started.exists)
            raise RuntimeError("enough")

    calls: list[object] = []
    with pytest.raises(RuntimeError, match="enough"):
        left()
    first, second = calls
    for call in (first, second):
        with pytest.raises(CancelledError):
            call.result()  # type: ignore[attr-defined]
    assert ended.exists()
    assert multiprocessing.active_children() == []


def test_a_cancelled_call_is_not_made(tmp_path: Path) -> None:
    started = [tmp_path / "first", tmp_path / "second"]
    pool = SturdyPool(1)
    running = pool.submit(linger, started[0], tmp_path / "ended")
    waiting = pool.submit(linger, started[1], tmp_path / "ended")
    assert eventually(started[0].exists)
    assert waiting.cancel()
    assert not running.cancel()
    pool.shutdown(cancel_futures=True)
    wait([running])
    assert not started[1].exists()


def test_a_pool_that_was_shut_down_takes_no_calls() -> None:
    pool = SturdyPool(1)
    call = pool.submit(square, 6)
    pool.shutdown()
    assert call.result() == 36
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(square, 6)


@pytest.mark.parametrize("jobs", [0, -1, True])
def test_a_pool_has_workers(jobs: int) -> None:
    with pytest.raises(InputError, match="jobs"):
        SturdyPool(jobs)


PARENT = """
import sys
from pathlib import Path
from pool_calls import linger
from tcformal.query.pairs.pool import SturdyPool

if __name__ == "__main__":
    pool = SturdyPool(2)
    for name in ("one", "two"):
        pool.submit(linger, Path(sys.argv[1], f"{name}.started"), Path(sys.argv[1], f"{name}.ended"))
    sys.stdin.read()
"""


def test_workers_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    """Nor do the calls that they were making, which end what they started first."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    started = [tmp_path / f"{name}.started" for name in ("one", "two")]
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
    ) as parent:  # fmt: skip
        assert eventually(lambda: all(path.exists() and path.read_text().endswith("\n") for path in started))
        pids = {int(path.read_text()) for path in started}
        assert len(pids) == len(started)
        assert all(alive(pid) for pid in pids)
        parent.kill()
    assert eventually(lambda: not any(alive(pid) for pid in pids))
    assert all((tmp_path / f"{name}.ended").exists() for name in ("one", "two"))


def test_a_second_signal_does_not_cut_the_end_of_a_call_short() -> None:
    """The kernel and the lifeline both end the worker of a parent that is gone."""
    ended = []

    def call() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            ended.append("call")

    before = signal.signal(signal.SIGTERM, _exit_worker)
    try:
        with pytest.raises(SystemExit):
            call()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended == ["call"]


def test_a_worker_that_cannot_be_started_costs_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more processes, say: the call says so, and nobody waits for ever."""

    def refused(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    with SturdyPool(2) as pool:
        with monkeypatch.context() as patch:
            patch.setattr("tcformal.query.pairs.pool.ProcessPoolExecutor", refused)
            calls = [pool.submit(square, x) for x in range(3)]
            for call in calls:
                with pytest.raises(
                    NoAnswerError, match=r"^expected a worker process to start, but got: .*Resource"
                ):
                    call.result()
        assert pool.submit(square, 3).result() == 9
