"""A supervised worker process that checks stored evidence within a time limit."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.solve.child import child_environment
from tcformal.store.lines import Record

#: Time limit for checking one kept answer, in seconds of the processor, so that no other work on the machine
#: makes it late; beyond it the answer is marked as not re-checked.
BUDGET_S = 2.0

#: Seconds for the start, and for the end after the time limit, in addition to the budget; and how often the
#: budget may pass on the clock, where the processor has other work or the check waits.
_START_S, _GRACE_S, _CLOCK = 60.0, 1.0, 5

_MODULE = "tcformal.store.audit.recheck"
#: An answer holds one of these.
_ANSWERS = {"steps", "refused", "late"}


class Rechecker:
    """A client of one checking worker; a request ends after `seconds` of processor time.

    Checking is kept out of this process, so that no certificate can hold it up or fill its memory.  A process
    that does not give up in time, because foreign code is at work in it, is ended.
    """

    def __init__(self) -> None:
        #: Default time limit of one check.
        self.seconds = BUDGET_S
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""

    def proof(
        self, dag: str, folder: Path, certificate: Mapping[str, Any], seconds: float | None = None
    ) -> Record:
        """Check a stored certificate against the clauses of a DAG with the root `assertion`."""
        return self._ask(folder, {"dag": dag, "certificate": dict(certificate)}, seconds)

    def close(self) -> None:
        """End the worker; the next request starts a new one."""
        process, self._process, self._read = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __del__(self) -> None:
        self.close()

    def _ask(self, folder: Path, what: Mapping[str, Any], seconds: float | None) -> Record:
        """Send one request and return the answer; `late` after the time limit."""
        seconds = self.seconds if seconds is None else seconds
        # The process stays where it was started, also when this one goes to another working directory.
        request = {**what, "folder": str(folder.absolute()), "seconds": seconds}
        process = self._started()
        if process is None or process.stdin is None:
            return {"late": True}
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            return {"late": True}
        reply = self._line(_CLOCK * seconds + _GRACE_S)
        if reply is None or not _ANSWERS & reply.keys():
            self.close()
            return {"late": True}
        return reply

    def _started(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
        )
        if self._line(_START_S) is None:
            self.close()
        return self._process

    def _line(self, seconds: float) -> Record | None:
        """The worker's next line as plain data; None after the time limit or the worker's end."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                chunk = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
                if not chunk:
                    return None
                self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        try:
            reply = json.loads(line)
        except ValueError:
            return None
        return reply if isinstance(reply, dict) else None
