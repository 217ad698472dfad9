"""Work in pieces on several threads, with a progress bar after a few seconds."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from types import TracebackType
from typing import Any

from numpy.typing import NDArray

from tcformal.checks import check_int

#: Raw encodings, one a word.
Words = NDArray[Any]

#: Multiply–adds in one piece: a second at most on the slowest kernels, so that an interruption is heard.
_LARGEST = 1 << 24
#: Multiply–adds below which a piece is not worth a thread.
_SMALLEST = 1 << 18
#: Seconds after which a bar is shown.
_PATIENCE = 2.0


def processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Work:
    """A thread pool for the pieces of one product, with its progress bar.

    Ranges and units: `threads` at least 1, None: one for each processor.  `progress`: whether a bar
    is shown on standard error once a product takes more than two seconds; None: on a terminal.
    Errors: InputError for another number of threads; what a piece raises.
    """

    def __init__(self, threads: int | None = None, progress: bool | None = None) -> None:
        self._threads = processors() if threads is None else check_int("threads", threads, low=1)
        self._shown = sys.stderr.isatty() if progress is None else progress
        self._pool: ThreadPoolExecutor | None = None
        self._bar: Any = None
        self._started = time.monotonic()
        self._done = self._all = 0

    def __enter__(self) -> Work:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._bar is not None:
            self._bar.stop()

    def expect(self, pairs: int) -> None:
        """Add pairs to the expected total of the progress bar."""
        self._all += pairs

    def split(self, count: int, cost: int, run: Callable[[slice], None]) -> None:
        """Call `run` on slices that partition range(count); one item costs `cost` multiply-adds."""
        size = max(1, _piece(count * cost, self._threads) // cost)
        parts = [slice(i, min(i + size, count)) for i in range(0, count, size)]
        self._all_of([(partial(run, part), 0) for part in parts])

    def split_pairs(self, rows: int, tiles: int, cost: int, run: Callable[[slice, slice], None]) -> None:
        """Call `run` on slices of rows and of tiles that partition all pairs; one pair costs `cost`."""
        piece = max(1, _piece(rows * tiles * cost, self._threads) // cost)
        high = min(rows, piece)
        wide = max(1, min(tiles, piece // high))
        parts = [
            (slice(i, min(i + high, rows)), slice(j, min(j + wide, tiles)))
            for j in range(0, tiles, wide)
            for i in range(0, rows, high)
        ]
        self._all_of([(partial(run, r, t), (r.stop - r.start) * (t.stop - t.start)) for r, t in parts])

    def _all_of(self, pieces: Sequence[tuple[Callable[[], None], int]]) -> None:
        """Run all pieces, and count the pairs of each finished one."""
        if len(pieces) == 1 or self._threads == 1:
            for call, pairs in pieces:
                call()
                self.advance(pairs)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="tcformal")
        pairs_of = {self._pool.submit(call): pairs for call, pairs in pieces}
        open_ = set(pairs_of)
        while open_:
            done, open_ = wait(open_, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
                self.advance(pairs_of[future])

    def advance(self, pairs: int) -> None:
        """Add finished multiply-adds, and move the progress bar."""
        self._done += pairs
        self._show()

    def _show(self) -> None:
        if not self._shown or time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            try:
                from rich.console import Console
                from rich.progress import Progress
            except ModuleNotFoundError:
                self._shown = False  # a bare checkout multiplies without a bar
                return
            width, height = shutil.get_terminal_size()
            self._bar = Progress(console=Console(stderr=True, width=width, height=height), transient=True)
            self._task = self._bar.add_task("multiplying", total=self._all)
            self._bar.start()
        self._bar.update(self._task, completed=self._done, total=self._all)


def _piece(cost: int, threads: int) -> int:
    """The number of multiply-adds in one piece of a product that costs `cost`."""
    return min(_LARGEST, max(_SMALLEST, -(-cost // (4 * threads))))
