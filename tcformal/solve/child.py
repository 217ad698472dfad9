"""A supervised child process that answers one JSON request with one JSON line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.solve.result import Status, is_out_of_memory

#: Bytes of a process's last words that are looked at.
_TAIL = 4096


def child_environment(folder: Path | None = None) -> dict[str, str]:
    """The caller's environment, in which the child also finds this package when it is not installed.

    Whatever the child or its own children leave behind lies in `folder`, where one is given, because they
    may be killed.  Python looks for nothing in the working directory, neither in the child nor in what that
    may start.
    """
    root = Path(__file__).resolve().parents[3]
    paths = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    if root.name != "site-packages":
        paths.insert(0, str(root))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}
    return environment if folder is None else {**environment, "TMPDIR": str(folder)}


class Child:
    """A child process in its own process group, with files for its three streams.

    Shapes: `module` is run with `request` on standard input and is to write one line of JSON.
    Ranges and units: it may take `time_s` seconds, its start included.
    """

    def __init__(
        self, module: str, request: Mapping[str, Any], time_s: float, folder: Path, key: str
    ) -> None:
        self.timed_out = False
        self._out, self._err = folder / f"{key}.out", folder / f"{key}.err"
        asked = folder / f"{key}.in"
        asked.write_text(json.dumps(request))
        self._start = time.monotonic()
        self._time_s = time_s
        with asked.open("rb") as stdin, self._out.open("wb") as stdout, self._err.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, str(os.getpid())],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=child_environment(folder),
                start_new_session=True,
            )

    @property
    def seconds(self) -> float:
        """The wall time since the start, in seconds."""
        return time.monotonic() - self._start

    def over(self) -> bool:
        """Whether the process has ended, or was killed at its time limit."""
        if self._process.poll() is None:
            if self.seconds < self._time_s:
                return False
            self.timed_out = True
        self.kill()
        return True

    def kill(self) -> None:
        """Kill the process and its descendants."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def line(self) -> Any:
        """The last output line as JSON; ValueError or LookupError without a complete one."""
        return json.loads(self._out.read_bytes().splitlines()[-1])

    def ending(self) -> tuple[Status, str]:
        """The exit status and last output of a process that gave no answer."""
        if self.timed_out:
            return Status.TIMEOUT, f"no answer in {self._time_s:g} s"
        code = self._process.returncode
        words = self._err.read_bytes()[-_TAIL:].decode(errors="replace").strip()
        ending = f"exited with status {code}" if code >= 0 else f"was ended by signal {-code}"
        last = f" ({words.splitlines()[-1]})" if words else ""
        status = Status.MEMORY if is_out_of_memory(words) else Status.CRASH
        return status, f"the process {ending} without a readable answer{last}"
