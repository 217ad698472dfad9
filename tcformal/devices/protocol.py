"""`exec:PROGRAM`, `hand:NAME`: programs or people that answer dot products as JSON lines.

The protocol, version 1.  The program reads lines from its standard input and writes lines to its standard
output, each one JSON object; it flushes what it has answered when it has to wait for input.

Every line is UTF-8, of at most 64 KiB.  A result is text, `0x` and hex digits.

1.  It is told what is asked: `{"protocol": "tcformal-probe/1", "unit": NAME, "m": …, "n": …, "k": K,
   "formats": {"a": …, "b": …, "c": …, "d": …}}`, with `"scale_format"` and `"scale_block"` for units with
   scales.  It answers who it is, `{"device": TEXT, "instruction": TEXT, …}` (other texts are kept as they
   are: driver, compiler), or `{"error": "one clause on why it cannot"}`.
2.  It is given dot products, `{"id": 0, "a": ["0x3c00", …], "b": […], "c": "0x…"}` (with `"scale_a"` and
   `"scale_b"`), and answers each, in the same order, with `{"id": 0, "d": "0x…"}`, or with an `error`.
3.  Its input ends, and it exits.

Lines before the first answer that are no JSON objects, a banner, are skipped.  One process is given many
batches of dot products, whose ids go on counting, as long as unit and K stay; a program that hands its
answers over only when its input ends is started anew for each batch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import queue
import re
import shlex
import shutil
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device, slug
from tcformal.errors import DeviceError, InputError
from tcformal.files import json_of, read_named
from tcformal.simulation.operands.batch import Batch, Raw, inputs_digest, witness_at
from tcformal.simulation.operands.witness import to_data

PROTOCOL = "tcformal-probe/1"
_WORD = re.compile(r"0x[0-9a-fA-F]{1,16}")
#: Bytes of one line, and of what is kept of a program's standard error.
LONGEST_LINE, _LAST_SAID = 1 << 16, 4096
#: Lines that may wait to be read; the program blocks after that.
_WAITING = 1024
#: Lines that a program may say before it says who it is.
_BANNER = 256
#: Seconds of silence after which a program that was told everything is told that no more follows.
_QUIET_S = 3.0


def result_word(spec: UnitSpec, data: Mapping[str, object], where: str) -> int:
    """The result in an answer; DeviceError for anything but an encoding of D."""
    d, text = spec.operands.d, data.get("d")
    if not isinstance(text, str) or not _WORD.fullmatch(text) or int(text, 16) >> d.width:
        raise DeviceError(f'expected an encoding of {d.name}, as "0x…", from {where}, but got {text!r:.40}')
    return int(text, 16)


def hello(spec: UnitSpec, k: int) -> dict[str, object]:
    """The request line: unit, sizes, formats and K."""
    request: dict[str, object] = {
        "protocol": PROTOCOL, "unit": spec.instruction, "m": spec.m, "n": spec.n, "k": k,
        "formats": spec.operands.names(),
    }  # fmt: skip
    if spec.scale_format is not None:
        request |= {"scale_format": spec.scale_format.name, "scale_block": spec.scale_block}
    return request


def program_identity(name: str, words: Sequence[str]) -> dict[str, str]:
    """The name of a program, with the SHA-256 of its path, content and arguments.

    The content is that of the program and of every argument that names a file, such as an interpreter's
    script; files that these read are not included.
    Errors: DeviceError for a file that cannot be read.
    """
    seen = []
    for path in map(Path, (shutil.which(words[0]) or words[0], *words[1:])):
        try:
            if path.is_file():
                with path.open("rb") as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
                seen.append([str(path.resolve()), content])
        except OSError as error:
            raise DeviceError(f"expected to read {path} of {name}, but got: {error.strerror}") from None
    text = json.dumps([list(words), seen])
    return {"program": name, "program_sha256": hashlib.sha256(text.encode(errors="replace")).hexdigest()}


class Talk:
    """A running program: a thread writes lines to it; its answers have limits of time and length.

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
        """End the program: close its input, then kill it if it does not exit."""
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
        """Close the program's input, unless lines are still being written to it."""
        self.open = False
        if self._writer is None or not self._writer.is_alive():
            _close(self._out)

    def _read(self, stream: IO[bytes]) -> None:
        """The reader thread: queue the program's output lines until the end."""
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
        """The listener thread: keep the last part of the program's standard error."""
        with contextlib.suppress(OSError, ValueError):
            while chunk := stream.read1(_LAST_SAID):  # type: ignore[attr-defined]
                self._said = (self._said + chunk)[-_LAST_SAID:]

    def hello(self, request: Mapping[str, object]) -> dict[str, object]:
        """Send the request line, and return the first JSON object; lines before it are skipped.

        Errors: DeviceError for a program that says more than a banner before it.
        """
        try:
            self._out.write(_line(request))
            self._out.flush()
        except OSError:
            raise DeviceError(self._ended()) from None
        banner = b""
        for _ in range(_BANNER):
            line = self._next()
            if line is None:
                said = f", after it said {banner.decode(errors='replace').strip()!r:.80}" if banner else ""
                raise DeviceError(self._ended() + said)
            if len(line) > LONGEST_LINE or line.lstrip().startswith(b"{"):
                return self._read_answer(line)
            banner = banner or line
        return self._read_answer(banner)

    def ready(self) -> bool:
        """Whether the program waits for input; DeviceError if it sent unrequested output."""
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

    def send(self, lines: Iterable[Mapping[str, object]], *, last: bool = False) -> None:
        """Send lines without waiting for answers; `last` closes the program's input afterwards."""
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

    def receive(self) -> dict[str, object]:
        """The next answer; DeviceError where none arrives, or the program reports an error."""
        line = self._next()
        if line is None:
            raise DeviceError(self._ended())
        return self._read_answer(line)

    def _next(self) -> bytes | None:
        """The next line, None at the end; DeviceError where none arrives in time."""
        until = time.monotonic() + self._patience_s
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=min(left, _QUIET_S))
            if self._writer is not None and not self._writer.is_alive() and self.open:
                # It may wait for the end of its input before it hands over what it has.
                self._close_input()
        self._process.kill()
        raise DeviceError(f"expected an answer of {self._name} within {self._patience_s:g} s, but none came")

    def _read_answer(self, line: bytes) -> dict[str, object]:
        """Parse an answer line; DeviceError for no JSON object, or for a reported error."""
        if len(line) > LONGEST_LINE:
            self._process.kill()
            raise DeviceError(
                f"expected a line of at most {LONGEST_LINE} bytes from {self._name}, but it does not end"
            )
        data = None
        try:
            text = line.decode()
            data = json_of(text)
        except UnicodeDecodeError as error:
            self._process.kill()
            raise DeviceError(
                f"expected UTF-8 from {self._name}, but byte {error.start} is {line[error.start]:#x}"
            ) from None
        except ValueError:
            pass
        if not isinstance(data, dict):
            raise DeviceError(f"expected a JSON object from {self._name}, but it said {text.strip()!r:.80}")
        if "error" in data:
            message = " ".join(str(data["error"]).split())
            raise DeviceError(f"expected {self._name} to run this, but it says: {message:.200}")
        return data

    def _ended(self) -> str:
        """The reason why output ended: the last text on standard error, or the exit status."""
        try:
            code = self._process.wait(timeout=self._patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return f"expected more answers of {self._name}, but it has closed its output and runs on"
        self._threads[1].join(timeout=5)
        lines = self._said.decode(errors="replace").strip().splitlines()
        how = f"stopped with exit code {code}" + (f" ({lines[-1]:.200})" if lines else "")
        return f"expected more answers of {self._name}, but it {how}"


def _line(data: Mapping[str, object]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def _close(stream: IO[bytes]) -> None:
    """Close a pipe; a broken pipe is ignored."""
    with contextlib.suppress(OSError):
        stream.close()


class ProgramDevice(Device):
    """A program that speaks this module's protocol; one process serves all batches of a request.

    Its results are recorded under the digest of its path, content and arguments.
    Errors: InputError for an invalid command; DeviceError for a program that is missing, refuses, does
    not answer within `patience_s`, answers out of order, or stops before its last answer.
    """

    def __init__(self, text: str, *, patience_s: float = 60.0) -> None:
        self.name = f"exec:{text}"
        self._patience_s = patience_s
        self._who: dict[str, str] | None = None
        self._talk: Talk | None = None
        #: What the running program was told first, and how many dot products since.
        self._request: dict[str, object] = {}
        self._count = 0
        #: Whether the program answers only when its input ends.
        self._answers_late = False
        try:
            self._words = shlex.split(text)
        except ValueError as error:
            raise InputError(f"expected the words of a program in {self.name}, but got: {error}") from None
        if "\0" in text or not self._words or shutil.which(self._words[0]) is None:
            raise DeviceError(f"expected a program to run as {self.name}, but there is none of that name")

    def abilities(self) -> Sequence[Ability]:
        """Every unit; the program may refuse some."""
        return [Ability("any unit that the program does not refuse", "as the program says")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """The identity that the program reports, with the program's digest."""
        self._who = program_identity(self.name, self._words)
        self.close()
        _, answer = self._started(hello(spec, k))
        texts: dict[str, str] = {}
        for key, text in answer.items():
            if not isinstance(text, str) or not text.strip():
                raise DeviceError(
                    f"expected texts from {self.name} on who it is, but {key!r:.40} is {text!r:.40}"
                )
            texts[key] = text
        return {"device": self.name} | texts | self._who

    def label(self, identity: dict[str, str]) -> str:
        """A folder name from the reported device and the program's digest, distinct for each program."""
        return f"{slug(super().label(identity))}-{identity['program_sha256'][:12]}"

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The program's answers; DeviceError if the program changed since it was identified."""
        if self._who is not None and program_identity(self.name, self._words) != self._who:
            raise DeviceError(f"expected {self.name} to stay as it is while it runs, but it was changed")
        results: list[int] = []
        rows = range(len(batch.c))
        try:
            talk = self._waiting(hello(spec, batch.a.shape[1]))
            first, self._count = self._count, self._count + len(rows)
            said = ({"id": first + row, **to_data(spec, witness_at(batch, row))} for row in rows)
            talk.send(said, last=self._answers_late)
            for row in rows:
                results.append(self._answer(spec, first + row, talk.receive()))
        except DeviceError as error:
            raise DeviceError(f"{error} ({len(results)} of {len(rows)} results came)", results) from None
        finally:
            # What has not answered all, whatever the reason, would answer the next batch with the rest.
            if len(results) < len(rows):
                self.close(failed=True)
        self._answers_late |= not talk.open
        return np.array(results, dtype=np.uint64)

    def _waiting(self, hello: dict[str, object]) -> Talk:
        """The running process if its request was the same, or a new process."""
        if self._talk is not None and self._request == hello and self._talk.ready():
            return self._talk
        self.close()
        return self._started(hello)[0]

    def _started(self, hello: dict[str, object]) -> tuple[Talk, dict[str, object]]:
        """Start the program, and return it with its answer to the request."""
        self._talk, self._request, self._count = Talk(self.name, self._words, self._patience_s), hello, 0
        # A device that nobody closes still ends its program.
        self._end = weakref.finalize(self, self._talk.end)
        try:
            return self._talk, self._talk.hello(hello)
        except BaseException:
            self.close(failed=True)
            raise

    def close(self, *, failed: bool = False) -> None:
        """End the running process, if there is one."""
        if self._talk is not None:
            self._end.detach()
            self._talk.end(failed=failed)
            self._talk = None

    def _answer(self, spec: UnitSpec, row: int, data: Mapping[str, object]) -> int:
        if type(data.get("id")) is not int or data["id"] != row or "d" not in data:
            raise DeviceError(f"expected {self.name} to answer dot product {row}, but it said {data!r:.80}")
        return result_word(spec, data, f"{self.name} for dot product {row}")


class HandDevice(Device):
    """An offline device, asked one batch at a time.

    A batch without answers is `waiting`, and run raises DeviceError; `answer` gives the answers, in the
    words of the protocol.
    """

    def __init__(self, text: str) -> None:
        self.name = f"hand:{text}"
        #: The batch that waits for answers.
        self.waiting: Batch | None = None
        self._file: Path | None = None

    def abilities(self) -> Sequence[Ability]:
        return [Ability("any unit", "by hand")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        del spec, k
        return {"device": self.name, "instruction": "by hand"}

    def answer(self, file: Path) -> None:
        """Set the file with the answers to the next batch."""
        self._file = file

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The answers in the file; DeviceError without a file, InputError for answers to other inputs."""
        if self._file is None:
            self.waiting = batch
            raise DeviceError(
                f"expected answers of {self.name} to {len(batch.c)} inputs, but there are none yet"
            )
        file, self._file = self._file, None
        answers: dict[str, int] = {}
        for text in read_named(file, "answers as JSON lines").splitlines():
            data = None
            with contextlib.suppress(ValueError):  # no JSON, such as a banner
                data = json_of(text)
            if isinstance(data, dict) and "id" in data:
                answers[str(data["id"])] = result_word(spec, data, f"{file}, {data['id']!s:.40}")
        ids = [str(line["id"]) for line in lines_of(spec, batch)[1:]]
        missing = [id_ for id_ in ids if id_ not in answers]
        if missing or len(answers) != len(ids):
            raise InputError(
                f"expected answers to the {len(ids)} inputs that are asked now in {file}, but "
                + (f"{missing[0]} has none" if missing else f"there are {len(answers)}")
            )
        return np.array([answers[id_] for id_ in ids], dtype=np.uint64)


def lines_of(spec: UnitSpec, batch: Batch) -> list[dict[str, object]]:
    """The lines of a batch in the protocol: the request, then each dot product.

    Its ids begin with a digest of the batch, so that answers to another are not taken for answers to this.
    """
    start = inputs_digest(batch)[:8]
    n = range(len(batch.c))
    rows: list[dict[str, object]] = [
        {"id": f"{start}-{row}", **to_data(spec, witness_at(batch, row))} for row in n
    ]
    return [hello(spec, batch.a.shape[1]), *rows]
