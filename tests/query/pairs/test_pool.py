"""The pool: calls and results, and that a worker's death costs the call that it was making, nothing else."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from pool_calls import die, die_once, linger, refuse, square, unpicklable
from tcformal.query.pairs.pool import MAX_DEATHS, SturdyPool, WorkerKilledError

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
