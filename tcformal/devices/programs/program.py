"""`exec:PROGRAM`: any program that answers dot products as JSON lines of raw encodings.

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

import re
import shlex
import shutil
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.devices.device import Ability, Device, slug
from tcformal.devices.log.identity import program_identity
from tcformal.devices.programs.talk import Talk
from tcformal.errors import DeviceError, InputError
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.text import to_data

PROTOCOL = "tcformal-probe/1"
_WORD = re.compile(r"0x[0-9a-fA-F]{1,16}")


class ProgramDevice(Device):
    """A program that speaks the protocol of this module; it runs on until it is asked for something else.

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
        self._told: dict[str, Any] = {}
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
        """The identity that the program states, and the digest of the program."""
        self._who = program_identity(self.name, self._words)
        self.close()
        _, answer = self._started(hello(spec, k))
        for key, text in answer.items():
            if not isinstance(text, str) or not text.strip():
                raise DeviceError(
                    f"expected texts from {self.name} on who it is, but {key!r:.40} is {text!r:.40}"
                )
        return {"device": self.name} | answer | self._who

    def label(self, identity: dict[str, str]) -> str:
        """The stated device and the program's digest, so that programs never share a folder."""
        return f"{slug(super().label(identity))}-{identity['program_sha256'][:12]}"

    def run(self, spec: UnitSpec, batch: Batch) -> Raw:
        """The program's answers; DeviceError where it is not the program that was identified."""
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

    def _waiting(self, hello: dict[str, Any]) -> Talk:
        """The running program if it was told this, or a new one."""
        if self._talk is not None and self._told == hello and self._talk.ready():
            return self._talk
        self.close()
        return self._started(hello)[0]

    def _started(self, hello: dict[str, Any]) -> tuple[Talk, dict[str, Any]]:
        """A new run of the program, and its answer to the first line."""
        self._talk, self._told, self._count = Talk(self.name, self._words, self._patience_s), hello, 0
        # A device that nobody closes still ends its program.
        self._end = weakref.finalize(self, self._talk.end)
        try:
            return self._talk, self._talk.hello(hello)
        except BaseException:
            self.close(failed=True)
            raise

    def close(self, *, failed: bool = False) -> None:
        """End the running program, if there is one."""
        if self._talk is not None:
            self._end.detach()
            self._talk.end(failed=failed)
            self._talk = None

    def _answer(self, spec: UnitSpec, row: int, data: Mapping[str, Any]) -> int:
        if type(data.get("id")) is not int or data["id"] != row or "d" not in data:
            raise DeviceError(f"expected {self.name} to answer dot product {row}, but it said {data!r:.80}")
        return result_word(spec, data, f"{self.name} for dot product {row}")


def result_word(spec: UnitSpec, data: Mapping[str, Any], where: str) -> int:
    """The result in an answer; DeviceError for another text than an encoding of D."""
    d, text = spec.operands.d, data.get("d")
    if not isinstance(text, str) or not _WORD.fullmatch(text) or int(text, 16) >> d.width:
        raise DeviceError(f'expected an encoding of {d.name}, as "0x…", from {where}, but got {text!r:.40}')
    return int(text, 16)


def hello(spec: UnitSpec, k: int) -> dict[str, Any]:
    """The first line: what is asked."""
    o = spec.operands
    request = {
        "protocol": PROTOCOL, "unit": spec.name, "m": spec.m, "n": spec.n, "k": k,
        "formats": o.names(),
    }  # fmt: skip
    if spec.scale_format is not None:
        request |= {"scale_format": spec.scale_format.name, "scale_block": spec.scale_block}
    return request
