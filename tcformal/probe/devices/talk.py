"""Line-by-line JSON exchange with a program that may hang, flood, crash or lie."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from tcformal.errors import DeviceError

#: Bytes of one line, and of what is kept of a program's standard error.
LONGEST_LINE, _LAST_SAID = 1 << 16, 4096
#: Lines that may wait to be read; the program blocks after that.
_WAITING = 1024


class Talk:
    """One run of a program: a thread writes lines to it; lines from it have limits of time and length.

    Errors: DeviceError for a program that does not start, breaks the protocol, does not answer within
    `patience_s`, or ends too early.
    """

    def __init__(self, name: str, words: Sequence[str], patience_s: float) -> None:
        self._name = name
        self._patience_s = patience_s
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            raise DeviceError(f"expected {name} to start, but got: {message}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._out: IO[bytes] = self._process.stdin
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._closed = threading.Event()
        self._said = b""
        self._threads = [
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._listen, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._sending = False

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self._closed.set()
        # A program that has failed is not asked to stop; nor is one that says more than it was asked.
        if self._process.poll() is None and (error is not None or not self._lines.empty()):
            self._process.kill()
        try:
            if not self._sending:
                _close(self._out)
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                _close(stream)

    def _read(self, stream: IO[bytes]) -> None:
        """Queue the program's lines until its output ends or nobody waits for more."""
        line: bytes | None = b"-"
        while line is not None and len(line) <= LONGEST_LINE:
            with contextlib.suppress(OSError, ValueError):
                line = stream.readline(LONGEST_LINE + 1) or None
            while not self._closed.is_set():
                with contextlib.suppress(queue.Full):
                    self._lines.put(line, timeout=0.2)
                    break
            else:
                return

    def _listen(self, stream: IO[bytes]) -> None:
        """Keep the last part of the program's standard error."""
        with contextlib.suppress(OSError, ValueError):
            while chunk := stream.read1(_LAST_SAID):  # type: ignore[attr-defined]
                self._said = (self._said + chunk)[-_LAST_SAID:]

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send one line and return the answer."""
        try:
            self._out.write(_line(request))
            self._out.flush()
        except OSError:
            raise DeviceError(self._ended()) from None
        return self.receive()

    def send(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Send many lines without waiting for answers, then close the program's input."""
        thread = threading.Thread(target=self._write, args=(map(_line, lines),), daemon=True)
        self._threads.append(thread)
        self._sending = True
        thread.start()

    def _write(self, texts: Iterator[bytes]) -> None:
        try:
            for text in texts:
                if self._closed.is_set():
                    return
                self._out.write(text)
        except OSError:
            return  # the program has stopped reading: what it answered tells the rest
        finally:
            _close(self._out)

    def receive(self) -> dict[str, Any]:
        """The next line; DeviceError where none arrives, or the program reports an error."""
        try:
            line = self._lines.get(timeout=self._patience_s)
        except queue.Empty:
            self._process.kill()
            raise DeviceError(
                f"expected an answer of {self._name} within {self._patience_s:g} s, but none came"
            ) from None
        if line is None:
            raise DeviceError(self._ended())
        if len(line) > LONGEST_LINE:
            self._process.kill()
            raise DeviceError(
                f"expected a line of at most {LONGEST_LINE} bytes from {self._name}, but it does not end"
            )
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            self._process.kill()
            raise DeviceError(
                f"expected UTF-8 from {self._name}, but byte {error.start} is {line[error.start]:#x}"
            ) from None
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise DeviceError(f"expected a JSON object from {self._name}, but it said {text.strip()!r:.80}")
        if "error" in data:
            message = " ".join(str(data["error"]).split())
            raise DeviceError(f"expected {self._name} to run this, but it says: {message:.200}")
        return data

    def _ended(self) -> str:
        """The reason why there are no more lines: the last text on standard error, or the exit status."""
        try:
            code = self._process.wait(timeout=self._patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return f"expected more answers of {self._name}, but it has closed its output and runs on"
        self._threads[1].join(timeout=5)
        lines = self._said.decode(errors="replace").strip().splitlines()
        how = f"stopped with exit code {code}" + (f" ({lines[-1]:.200})" if lines else "")
        return f"expected more answers of {self._name}, but it {how}"


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _close(stream: IO[bytes]) -> None:
    """Close a pipe whose other end may be closed."""
    try:
        stream.close()
    except OSError:
        return
