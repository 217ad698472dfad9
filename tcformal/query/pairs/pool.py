"""Executors for many questions: a fault-tolerant process pool, and a Dask cluster.

`concurrent.futures.ProcessPoolExecutor` breaks permanently when one of its processes dies, and its processes
survive a killed parent.  `SturdyPool` is a pool of threads, each of which waits for a process pool of one
worker.  A dead worker is replaced and its call repeated, and no worker outlives its parent.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from tcformal.checks import MOST_JOBS, check_int
from tcformal.errors import InputError, NoAnswerError
from tcformal.spawning import init_child, spawning

P = ParamSpec("P")
T = TypeVar("T")

#: Largest number of workers that one call may lose before it fails.
MAX_DEATHS = 3

#: Seconds that a worker has to end the processes of its call after the call was cancelled.
_GRACE_S = 10.0


class WorkerKilledError(NoAnswerError):
    """The worker of a call died on every attempt."""


class _Worker:
    """One worker process, started on demand and restarted after its death."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None
        self.stopped = False

    def call(self, run: Callable[[], Any]) -> Any:
        """Run a call in the worker; BrokenProcessPool where the worker dies or was dead."""
        if self._pool is not None:
            return self._pool.submit(_run_call, run).result()
        # Spawned, not forked: a fork of a process with threads may inherit a lock that nobody releases.
        context = multiprocessing.get_context("spawn")
        try:
            with spawning():
                theirs, self._lifeline = context.Pipe(duplex=False)
                self._pool = ProcessPoolExecutor(1, context, _init_worker, (theirs, os.getpid()))
                made = self._pool.submit(_run_call, run)
                # The worker has its own end by now; with this one open, a worker that dies in the middle
                # of an answer would leave the reader waiting for the rest for good.
                cast(Any, self._pool)._result_queue._writer.close()
        except BrokenProcessPool:
            raise
        except (OSError, RuntimeError) as error:
            # No process can be had: too many of them, no memory, a script that starts itself again.
            self.discard()
            why = " ".join(str(error).split())
            raise NoAnswerError(f"expected a worker process to start, but got: {why}") from error
        if self.stopped:  # while it started
            self._cut()
        return made.result()

    def stop(self) -> None:
        """Ask the worker to exit, even during a call."""
        self.stopped = True
        self._cut()

    def _cut(self) -> None:
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            lifeline.close()

    def discard(self) -> None:
        """End the worker and wait for its exit."""
        self._cut()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()


class SturdyPool(ThreadPoolExecutor):
    """An executor of `jobs` worker processes; functions, arguments and results are pickled.

    Errors: a call that loses its worker MAX_DEATHS times fails with WorkerKilledError; a call cancelled
    by `shutdown(cancel_futures=True)` with CancelledError.
    """

    def __init__(self, jobs: int) -> None:
        super().__init__(check_int("jobs", jobs, low=1, high=MOST_JOBS), "sturdy-pool")
        self._workers = [_Worker() for _ in range(jobs)]
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Schedule `fn` on a worker; RuntimeError after `shutdown`."""
        return super().submit(self._call, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuse new calls; with `cancel_futures`, end workers during their calls."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        if cancel_futures:
            for worker in self._workers:
                worker.stop()
        super().shutdown(wait=wait)
        if wait:
            for worker in self._workers:
                worker.discard()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all calls; after an error in the block, cancel them."""
        self.shutdown(cancel_futures=kind is not None)

    def _call(self, run: Callable[[], T]) -> T:
        """Run a call in a free worker, and again in another one if that dies."""
        worker = self._free.get()
        try:
            for _ in range(MAX_DEATHS):
                try:
                    result: T = worker.call(run)
                    return result
                except BrokenProcessPool:
                    worker.discard()
                if worker.stopped:
                    raise CancelledError
            raise WorkerKilledError(f"its worker process died {MAX_DEATHS} times")
        finally:
            self._free.put(worker)


# ---------------------------------------------------------------------- in the worker
def _init_worker(lifeline: Connection, parent: int) -> None:
    """Initialise a worker: it exits when its lifeline pipe is cut or its parent ends."""
    signal.signal(signal.SIGTERM, _exit_worker)
    init_child(parent, signal.SIGTERM)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _exit_worker(*_: object) -> None:
    """End the worker during a call; a second request, from the kernel or the lifeline, has no effect."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(1)


def _watch(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # no reader is left
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(1)


def _run_call(run: Callable[[], Any]) -> Any:
    """Run a call; if it is cancelled, end its child processes and the worker."""
    try:
        return run()
    except SystemExit:
        os._exit(1)


#: Timeout of the connection to a scheduler, in seconds.
CONNECT_S = 10.0


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Connect to the Dask scheduler at `address`; pending calls are cancelled at exit.

    The workers need this package and the solvers.  Dask repeats the calls of a lost worker, and fails a
    call that has lost several workers.
    Errors: InputError where Dask is not installed or the address is invalid, NoAnswerError where no
    scheduler answers.
    """
    try:
        dask = importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise InputError(
            "expected Dask to be installed for a scheduler, but its package is missing: "
            "pip install 'tcformal[distributed]'"
        ) from error
    try:
        client = dask.Client(address, timeout=CONNECT_S, set_as_default=False)
    except ValueError as error:
        raise InputError(f"expected the address of a scheduler, but got {address!r}: {error}") from error
    except OSError as error:
        raise NoAnswerError(f"expected a Dask scheduler at {address}, but none answered: {error}") from error
    try:
        # Not `pure`: a question that is asked again must not be answered from Dask's memory.
        yield client.get_executor(pure=False)
    finally:
        client.close()
