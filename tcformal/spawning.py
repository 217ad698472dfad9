"""Start-up of child Python processes: safe import path, ignored interrupts, and a link to the parent's life.

No child imports modules from the working directory, which may hold any `json.py`.  No child receives a Ctrl-C
that is meant for its parent, even during start-up.  No child outlives its parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator

#: prctl's PR_SET_PDEATHSIG.
_SET_DEATH_SIGNAL = 1

#: The variable that keeps the working directory off the path of a Python that is started, as `-P` does.
_SAFE_PATH = "PYTHONSAFEPATH"

#: The environment is one for all threads.
_environment = threading.RLock()


@contextlib.contextmanager
def spawning() -> Iterator[None]:
    """A context in which `multiprocessing` starts processes safely.

    That package starts `python -c …`, whose path begins with the working directory unless the environment
    says otherwise, and hands on this process's path, which begins with it in a Python that was started so
    itself.  An interrupt stays blocked in the new process until `init_child` is called there.
    """
    with _environment:
        kept, path = os.environ.get(_SAFE_PATH), sys.path[:]
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.environ[_SAFE_PATH] = "1"
        sys.path[:] = [entry for entry in path if entry]
        try:
            yield
        finally:
            sys.path[:] = path
            if kept is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = kept
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def init_child(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Initialise a child: it ignores interrupts, and receives signal `by` when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_parent(parent, by)


def end_with_parent(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the system send signal `by` to this process when the process `parent` ends.

    Linux only; elsewhere, no effect.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, by)
        if os.getppid() != parent:  # it ended before the system was told
            os._exit(1)
