"""The newest record about each thing of a file of JSON lines, checked when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tcformal.errors import RecordError
from tcformal.records.lines import Line, Told, read
from tcformal.records.schema import check

Record = dict[str, Any]


class Newest:
    """The records of one kind in one file, by the keys that say what each of them is about.

    Of several lines about the same thing the last counts that is as its schema says and was not altered.
    A check costs more than reading the line, and few of thousands are asked for: so a line is checked then.
    `told` hears, in one sentence each, of lines that are not used.
    Errors: RecordError for a file that cannot be read.
    """

    def __init__(self, path: Path, kind: str, keys: Sequence[str], told: Told) -> None:
        self.path = path
        self._kind = kind
        self._keys = tuple(keys)
        self._told = told
        self._broken: dict[int, str] = {}
        self._checked: dict[tuple[str, ...], Record] = {}
        #: Lines that have not been checked, the last about each thing at the end.
        self._waiting: dict[tuple[str, ...], list[Line]] = {}
        for line in read(path)[0]:
            if line.data is None:
                self._reject(line, line.problem)
                continue
            about = self._about(line.data)
            if all(isinstance(name, str) for name in about):
                self._waiting.setdefault(about, []).append(line)
            else:
                self._check(line)

    def get(self, *about: str) -> Record | None:
        """The newest record about that; None where there is none that can be used."""
        waiting = self._waiting.get(about, [])
        while about not in self._checked and waiting:
            line = waiting.pop()
            if line.data is not None and self._check(line):
                self._checked[about] = line.data
        return self._checked.get(about)

    def put(self, record: Record) -> None:
        """A record that has just been added to the file."""
        self._checked[self._about(record)] = record

    def all(self) -> list[Record]:
        """The newest record about each thing, in the order in which these were first spoken of."""
        abouts = dict.fromkeys((*self._waiting, *self._checked))
        found = [self.get(*about) for about in abouts]
        return [record for record in found if record is not None]

    def broken(self) -> list[str]:
        """One sentence for each line that cannot be used, after checking every line of the file."""
        for about, waiting in self._waiting.items():
            self.get(*about)
            while waiting:
                self._check(waiting.pop())
        return [self._broken[number] for number in sorted(self._broken)]

    def _about(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(record.get(key) for key in self._keys)  # type: ignore[misc]

    def _check(self, line: Line) -> bool:
        try:
            check(line.data or {}, self._kind)
        except RecordError as error:
            self._reject(line, f"line {line.number} of {self.path} is not used: {error}")
            return False
        return True

    def _reject(self, line: Line, sentence: str) -> None:
        self._broken[line.number] = sentence
        self._told(sentence)
