"""A process pool that survives its workers: a killed worker costs only the call that it was running.

`concurrent.futures.ProcessPoolExecutor` stays broken once one of its processes dies, and its processes
outlive a killed parent.  `SturdyPool` has the same interface on one such pool per worker: a dead worker is
replaced and its call repeated, and no worker outlives its parent.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from tcformal.checks import MOST_JOBS, check_int
from tcformal.errors import NoAnswerError
from tcformal.solve.processes.spawning import init_child, spawning

P = ParamSpec("P")
T = TypeVar("T")

#: Largest number of workers that one call may lose before it fails.
MAX_DEATHS = 3

#: Seconds that a worker has to end the processes of its call after the call was cancelled.
_GRACE_S = 10.0


class WorkerKilledError(NoAnswerError):
    """The worker of a call died on every attempt."""


@dataclass(slots=True, eq=False)
class _Call:
    """One call, and the number of workers that died while running it."""

    outer: Future[Any]
    run: Callable[[], Any]
    started: bool = False
    deaths: int = 0


class _Slot:
    """One worker process, started at its first call and again after it died."""

    def __init__(self) -> None:
        self.call: _Call | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def submit(self, run: Callable[[], Any]) -> Future[Any]:
        """Run a call in the worker; BrokenProcessPool where the worker has died while idle."""
        if self._pool is None:
            # Spawned, not forked: a fork of a process with threads may inherit a lock that is never released.
            context = multiprocessing.get_context("spawn")
            with spawning():
                theirs, self._lifeline = context.Pipe(duplex=False)
                self._pool = ProcessPoolExecutor(1, context, _init_worker, (theirs, os.getpid()))
                return self._pool.submit(_run_call, run)
        return self._pool.submit(_run_call, run)

    def cut(self) -> None:
        """Make the worker end itself, even in the middle of a call."""
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None

    def discard(self) -> None:
        """End the worker and wait for it."""
        self.cut()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


class SturdyPool(Executor):
    """An executor of `jobs` processes; functions, arguments and results are pickled.

    Errors: a call that loses its worker MAX_DEATHS times fails with WorkerKilledError; a call cancelled
    by `shutdown(cancel_futures=True)` with CancelledError.
    """

    def __init__(self, jobs: int) -> None:
        self._slots = [_Slot() for _ in range(check_int("jobs", jobs, low=1, high=MOST_JOBS))]
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # All of the state below belongs to this thread, so that nothing needs a lock.
        self._keeper = threading.Thread(target=self._keep, name="sturdy-pool", daemon=True)
        self._waiting: deque[_Call] = deque()
        self._closing = self._cancelled = False
        self._open = True
        self._keeper.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run `fn` in a worker; RuntimeError after `shutdown`."""
        if not self._open:
            raise RuntimeError("expected a pool that takes calls, but it was shut down")
        call = _Call(Future(), partial(fn, *args, **kwargs))
        self._inbox.put(partial(self._waiting.append, call))
        return call.outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; with `cancel_futures`, end the workers in the middle of their calls."""
        self._open = False
        self._inbox.put(partial(self._close, cancel_futures))
        if wait:
            self._keeper.join()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for every call; after an error in the block, cancel them."""
        self.shutdown(cancel_futures=kind is not None)

    # ------------------------------------------------------------------ the keeper's thread
    def _keep(self) -> None:
        while not (self._closing and not self._waiting and all(slot.call is None for slot in self._slots)):
            self._inbox.get()()
            for slot in self._slots:
                while self._waiting and slot.call is None:
                    self._start(slot, self._waiting.popleft())
        for slot in self._slots:
            slot.discard()

    def _close(self, cancel: bool) -> None:
        self._closing = True
        if cancel:
            self._cancelled = True
            while self._waiting:
                self._give_up(self._waiting.popleft(), CancelledError())
            for slot in self._slots:
                slot.cut()

    def _start(self, slot: _Slot, call: _Call) -> None:
        if not call.started and not call.outer.set_running_or_notify_cancel():
            return
        call.started = True
        slot.call = call
        try:
            inner = slot.submit(call.run)
        except BrokenProcessPool:
            self._replace_worker(slot)
        except (OSError, RuntimeError) as error:
            # No process can be had: too many of them, no memory, a script that starts itself again.
            slot.call = None
            slot.discard()
            why = " ".join(str(error).split())
            self._give_up(call, NoAnswerError(f"expected a worker process to start, but got: {why}"))
        else:
            inner.add_done_callback(lambda done: self._inbox.put(partial(self._end, slot, done)))

    def _end(self, slot: _Slot, done: Future[Any]) -> None:
        error = done.exception()
        if isinstance(error, BrokenProcessPool):
            self._replace_worker(slot)
            return
        call, slot.call = slot.call, None
        if call is not None:
            call.outer.set_exception(error) if error is not None else call.outer.set_result(done.result())

    def _replace_worker(self, slot: _Slot) -> None:
        """Replace a dead worker and repeat its call."""
        call, slot.call = slot.call, None
        slot.discard()
        if call is None:
            return
        call.deaths += 1
        if self._cancelled:
            self._give_up(call, CancelledError())
        elif call.deaths < MAX_DEATHS:
            self._waiting.appendleft(call)
        else:
            self._give_up(call, WorkerKilledError(f"its worker process died {call.deaths} times"))

    @staticmethod
    def _give_up(call: _Call, error: BaseException) -> None:
        if call.started or call.outer.set_running_or_notify_cancel():
            call.outer.set_exception(error)


# ---------------------------------------------------------------------- in the worker
def _init_worker(lifeline: Connection, parent: int) -> None:
    """Initialise a worker: it ends, with its call, when its lifeline is cut or its parent ends."""
    signal.signal(signal.SIGTERM, _exit_worker)
    init_child(parent, signal.SIGTERM)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _exit_worker(*_: object) -> None:
    raise SystemExit(1)


def _watch(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # no reader is left
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(1)


def _run_call(run: Callable[[], Any]) -> Any:
    """The result of a call; a cancelled call ends the processes it started, and then its worker."""
    try:
        return run()
    except SystemExit:
        os._exit(1)
