"""Line-by-line JSON exchange with a program that may hang, flood, crash or lie."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

from tcformal.errors import DeviceError

#: Bytes of one line, and of what is kept of a program's standard error.
LONGEST_LINE, _LAST_SAID = 1 << 16, 4096
#: Lines that may wait to be read; the program blocks after that.
_WAITING = 1024
#: Lines that a program may say before it says who it is.
_BANNER = 256
#: Seconds of silence after which a program that was told everything is told that no more follows.
_QUIET_S = 3.0


class Talk:
    """One run of a program: a thread writes lines to it; lines from it have limits of time and length.

    A program that keeps its answers back until its input ends is silent: then its input is closed, and
    `open` is False.
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
        self._writer: threading.Thread | None = None
        #: Whether the program can be told more.
        self.open = True

    def end(self, *, failed: bool = False) -> None:
        """End the program: its input is closed, and it is killed if it stays."""
        self._closed.set()
        # A program that has failed is not asked to stop; nor is one that says more than it was asked.
        if self._process.poll() is None and (failed or not self._lines.empty()):
            self._process.kill()
        try:
            self._close_input()
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._out, self._process.stdout, self._process.stderr):
            if stream is not None:
                _close(stream)

    def _close_input(self) -> None:
        """Tell the program that no more follows, unless lines are still being written to it."""
        self.open = False
        if self._writer is None or not self._writer.is_alive():
            _close(self._out)

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

    def hello(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send the first line and return the answer, the first JSON object; lines before it are skipped.

        Errors: DeviceError for a program that says more than a banner before it.
        """
        try:
            self._out.write(_line(request))
            self._out.flush()
        except OSError:
            raise DeviceError(self._ended()) from None
        banner = b""
        for _ in range(_BANNER):
            line = self._next(time.monotonic() + self._patience_s)
            if line is None:
                said = f", after it said {banner.decode(errors='replace').strip()!r:.80}" if banner else ""
                raise DeviceError(self._ended() + said)
            if len(line) > LONGEST_LINE or line.lstrip().startswith(b"{"):
                return self._read_answer(line)
            banner = banner or line
        return self._read_answer(banner)

    def ready(self) -> bool:
        """Whether the program waits for more; DeviceError if it says what it was not asked."""
        if not self.open:
            return False
        try:
            line = self._lines.get_nowait()
        except queue.Empty:
            return self._process.poll() is None
        if line is None:
            return False
        raise DeviceError(
            f"expected {self._name} to answer each dot product once, but it said more: "
            f"{line.decode(errors='replace').strip()!r:.80}"
        )

    def send(self, lines: Iterable[Mapping[str, Any]], *, last: bool = False) -> None:
        """Send many lines without waiting for answers; after the `last` ones the program's input ends."""
        if self._writer is not None:
            self._writer.join()  # it is done: all that it wrote has been answered
            self._threads.remove(self._writer)
        self._writer = threading.Thread(target=self._write, args=(map(_line, lines), last), daemon=True)
        self._threads.append(self._writer)
        self.open = not last
        self._writer.start()

    def _write(self, texts: Iterator[bytes], last: bool) -> None:
        try:
            for text in texts:
                if self._closed.is_set():
                    return
                self._out.write(text)
            self._out.flush()
        except OSError:
            return  # the program has stopped reading: what it answered tells the rest
        finally:
            if last or self._closed.is_set():
                _close(self._out)

    def receive(self) -> dict[str, Any]:
        """The next line; DeviceError where none arrives, or the program reports an error."""
        line = self._next(time.monotonic() + self._patience_s)
        if line is None:
            raise DeviceError(self._ended())
        return self._read_answer(line)

    def _next(self, until: float) -> bytes | None:
        """The next line before a moment, None at the end; DeviceError where none arrives."""
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=min(left, _QUIET_S))
            if self._writer is not None and not self._writer.is_alive() and self.open:
                # It may wait for the end of its input before it hands over what it has.
                self._close_input()
        self._process.kill()
        raise DeviceError(f"expected an answer of {self._name} within {self._patience_s:g} s, but none came")

    def _read_answer(self, line: bytes) -> dict[str, Any]:
        """The object of a line; DeviceError for a line without one, or with an error."""
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
