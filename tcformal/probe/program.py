"""`exec:PROGRAM`: any program that answers dot products as JSON lines of raw encodings.

The protocol, version 1.  The program reads lines from its standard input and writes lines to its standard
output, each one JSON object; it flushes what it has answered when it has to wait for input.

1. It is told what is asked: `{"protocol": "tcformal-probe/1", "unit": NAME, "m": …, "n": …, "k": K,
   "formats": {"a": …, "b": …, "c": …, "d": …}}`, with `"scale_format"` and `"scale_block"` for units with
   scales.  It answers who it is, `{"device": TEXT, "instruction": TEXT, …}` (other texts are kept as they
   are: driver, compiler), or `{"error": "one clause on why it cannot"}`.
2. It is given dot products, `{"id": 0, "a": ["0x3c00", …], "b": […], "c": "0x…"}` (with `"scale_a"` and
   `"scale_b"`), and answers each, in the same order, with `{"id": 0, "d": "0x…"}`, or with an `error`.
3. Its input ends, and it exits.
"""

from __future__ import annotations

import json
import queue
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.errors import DeviceError, TcformalError
from tcformal.oracle.values import parse_value
from tcformal.probe.device import Ability, Device
from tcformal.probe.operands import to_data
from tcformal.query.families import Batch, Raw
from tcformal.query.inputs import witness_at

PROTOCOL = "tcformal-probe/1"


class ProgramDevice(Device):
    """A program that speaks the protocol of this module; it is started anew for each batch.

    Errors: DeviceError for a program that is not there, that refuses, falls silent for longer than
    `patience_s`, answers out of order, or stops before its last answer.
    """

    def __init__(self, text: str, *, patience_s: float = 60.0) -> None:
        self.name = f"exec:{text}"
        self._words = shlex.split(text)
        self._patience_s = patience_s
        if not self._words or shutil.which(self._words[0]) is None:
            raise DeviceError(f"expected a program to run as {self.name}, but there is none of that name")

    def abilities(self) -> Sequence[Ability]:
        """Whatever the program does not refuse."""
        return [Ability("any unit that the program does not refuse", "as the program says")]

    def identify(self, spec: UnitSpec, k: int) -> dict[str, str]:
        """What the program says of itself."""
        with _Talk(self.name, self._words, self._patience_s) as talk:
            answer = talk.ask(_hello(spec, k))
        return {"device": self.name} | {str(key): str(value) for key, value in answer.items()}

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The program's answers."""
        results: list[int] = []
        rows = range(len(batch.c))
        try:
            with _Talk(self.name, self._words, self._patience_s) as talk:
                talk.ask(_hello(spec, batch.a.shape[1]))
                talk.send({"id": row, **to_data(spec, witness_at(batch, row))} for row in rows)
                for row in rows:
                    results.append(self._answer(spec, row, talk.receive()))
        except DeviceError as error:
            raise DeviceError(f"{error} ({len(results)} of {len(rows)} results came)", results) from None
        return np.array(results, dtype=np.uint64)

    def _answer(self, spec: UnitSpec, row: int, data: Mapping[str, Any]) -> int:
        if data.get("id") != row or "d" not in data:
            raise DeviceError(f"expected {self.name} to answer dot product {row}, but it said {data!r:.80}")
        d = spec.operands.d
        try:
            raw = parse_value(d, str(data["d"]))
        except TcformalError as error:
            raise DeviceError(f"expected an encoding of {d.name} from {self.name}, but {error}") from None
        return raw


def _hello(spec: UnitSpec, k: int) -> dict[str, Any]:
    o = spec.operands
    said = {
        "protocol": PROTOCOL, "unit": spec.name, "m": spec.m, "n": spec.n, "k": k,
        "formats": {"a": o.a.name, "b": o.b.name, "c": o.c.name, "d": o.d.name},
    }  # fmt: skip
    if spec.scale_format is not None:
        said |= {"scale_format": spec.scale_format.name, "scale_block": spec.scale_block}
    return said


class _Talk:
    """One run of the program: lines out by a thread of their own, lines in with a time limit."""

    def __init__(self, name: str, words: Sequence[str], patience_s: float) -> None:
        self._name = name
        self._patience_s = patience_s
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in __exit__
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
            )
        except OSError as error:
            self._errors.close()
            raise DeviceError(f"expected {name} to start, but got: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._out: IO[str] = self._process.stdin
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._threads = [threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> _Talk:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None and not self._lines.empty():
            self._process.kill()
        try:
            if len(self._threads) == 1:
                _close(self._out)
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Say one line and hear the answer."""
        try:
            self._out.write(json.dumps(said) + "\n")
            self._out.flush()
        except OSError:
            raise DeviceError(self._ended()) from None
        return self.receive()

    def send(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Say many lines without waiting for answers, then end the program's input."""
        texts = (json.dumps(line) + "\n" for line in lines)
        thread = threading.Thread(target=self._write, args=(texts,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _write(self, texts: Iterator[str]) -> None:
        try:
            self._out.writelines(texts)
        except OSError:
            return  # the program has stopped reading: what it answered tells the rest
        finally:
            _close(self._out)

    def receive(self) -> dict[str, Any]:
        """The next line; DeviceError where none comes, or the program says what is wrong."""
        try:
            line = self._lines.get(timeout=self._patience_s)
        except queue.Empty:
            self._process.kill()
            raise DeviceError(
                f"expected an answer of {self._name} within {self._patience_s:g} s, but none came"
            ) from None
        if line is None:
            raise DeviceError(self._ended())
        try:
            data = json.loads(line)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise DeviceError(f"expected a JSON object from {self._name}, but it said {line.strip()!r:.80}")
        if "error" in data:
            raise DeviceError(f"expected {self._name} to run this, but it says: {data['error']}")
        return data

    def _ended(self) -> str:
        """Why there are no more lines: what the program said last on its standard error, or its exit."""
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines()
        how = f"stopped with exit code {code}" + (f" ({said[-1]})" if said else "")
        return f"expected more answers of {self._name}, but it {how}"


def _close(stream: IO[str]) -> None:
    """Close a pipe whose other end may be gone."""
    try:
        stream.close()
    except OSError:
        return
