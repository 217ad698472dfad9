"""A file of records of one kind: an index of what each line is about, and lines parsed when asked for."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcformal.callbacks import Warn
from tcformal.errors import RecordError
from tcformal.files.lines import Line, Mark, line_at, scan
from tcformal.files.write import append
from tcformal.store.schema import check

Record = dict[str, Any]
About = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of record: its schema, its file in a results folder, and what its records are about."""

    #: The schema, `NAME.schema.json`.
    name: str
    file: str
    #: Finds what a line is about in its bytes, one group for each part: far cheaper than parsing the line.
    pattern: re.Pattern[bytes]
    #: The same of a parsed record; a record that says otherwise than its bytes seemed to is not used.
    about: Callable[[Record], About]


class RecordFile:
    """The records of one kind in one results folder.

    Ranges and units: 10^5 lines of 4 kB are indexed in half a second and 30 MB; a line is parsed, and checked
    against its schema and its digest, when it is asked for.
    `warn` hears, in one sentence each, of lines that are not used.
    Errors: RecordError for a file that cannot be read.
    """

    def __init__(self, folder: Path, kind: RecordKind, warn: Warn) -> None:
        self.path = folder / kind.file
        self.kind = kind
        self._warn = warn
        self._said: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        """Start over: nothing of the file is known."""
        self._mark = Mark()
        #: Where every whole line starts, in order.
        self._starts = array("Q")
        #: Hash of what a line is about -> the last such line, by its place among the starts.
        self._last: dict[int, int] = {}
        #: The line before each that is about the same; -1 for none.
        self._before = array("q")
        #: Places of lines that were refused, or that are about nothing.
        self._refused: dict[int, str] = {}
        self._checked: dict[int, Record] = {}

    @property
    def mark(self) -> Mark:
        """How far the file has been read."""
        return self._mark

    # ------------------------------------------------------------------ writing
    def add(self, record: Record) -> None:
        """Add a sealed record, on the disk when this returns."""
        append(self.path, record, self._warn)

    # ------------------------------------------------------------------ reading
    def about(self, *about: str) -> Iterator[Record]:
        """The records about that, the newest first, each checked before it is given."""
        self._refresh()
        key = _key(about)
        for start in self._chain(key):
            record = self._one_of(key, start)
            if record is not None and self.kind.about(record) == about:
                yield record

    def _chain(self, key: int) -> Iterator[int]:
        """Where the lines about one thing start, the last one first."""
        line = self._last.get(key, -1)
        while line >= 0:
            yield self._starts[line]
            line = self._before[line]

    def _one_of(self, key: int, start: int) -> Record | None:
        """The checked record at a place; None where it is not about what its bytes seemed to be about."""
        record = self.at(start)
        if record is None or _key(self.kind.about(record)) == key:
            return record
        self._refuse(start, f"expected a record about what line {start} of {self.path} begins with, but it "
                     f"is about {' '.join(self.kind.about(record))}")  # fmt: skip
        return None

    def newest(self, *about: str) -> Record | None:
        """The newest record about that; None where there is none that can be used."""
        return next(self.about(*about), None)

    def starts(self) -> list[int]:
        """Where the lines start, in order: the places that `at` and `line` take."""
        self._refresh()
        return list(self._starts)

    def last_starts(self) -> list[int]:
        """Where the last line about each thing starts, in the order of the file."""
        self._refresh()
        return sorted(self._starts[line] for line in self._last.values())

    def line(self, start: int) -> Line:
        """The line at a place, parsed and otherwise unchecked; its number is the place's among all lines."""
        return line_at(self.path, start, bisect_left(self._starts, start) + 1)

    def at(self, start: int) -> Record | None:
        """The checked record at a place; None, with a warning, where it cannot be used."""
        if start not in self._checked and start not in self._refused:
            line = self.line(start)
            if line.data is None:
                self._refuse(start, line.problem)
            else:
                try:
                    check(line.data, self.kind.name)
                    self._checked[start] = line.data
                except RecordError as error:
                    self._refuse(start, f"line {line.number} of {self.path} is not used: {error}")
        return self._checked.get(start)

    def all(self) -> list[Record]:
        """The newest usable record about each thing, in the order in which these were first spoken of."""
        self._refresh()
        found = (
            next((r for start in self._chain(key) if (r := self._one_of(key, start)) is not None), None)
            for key in [*self._last]
        )
        return [record for record in found if record is not None]

    def broken(self) -> list[str]:
        """One sentence for each line that cannot be used, after checking every line of the file."""
        self._refresh()
        for start in self._starts:
            self.at(start)
        return [self._refused[start] for start in sorted(self._refused)]

    def _refresh(self) -> None:
        """Index what has been added to the file since the last look."""
        mark = scan(self.path, self._mark, self._take, self._tell)
        if (
            self._starts
            and self._mark.file
            and (mark.file != self._mark.file or mark.offset < self._mark.offset)
        ):
            self._forget()
            mark = scan(self.path, Mark(), self._take, self._tell)
        self._mark = mark

    def _take(self, start: int, text: bytes) -> None:
        if self._starts and start <= self._starts[-1]:
            return  # a last line without an end, which has been seen before
        line, found = len(self._starts), self.kind.pattern.search(text)
        self._starts.append(start)
        if found is not None:
            key = hash(found.groups())
            self._before.append(self._last.get(key, -1))
            self._last[key] = line
        else:
            self._before.append(-1)
            problem = f"expected a record of kind {self.kind.name}, but it names nothing that it is about"
            self._refuse(start, f"line {len(self._starts)} of {self.path} is not used: {problem}")

    def _refuse(self, start: int, sentence: str) -> None:
        self._refused[start] = sentence
        self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        """Say each thing once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._warn(sentence)


def _key(about: About) -> int:
    """The hash under which lines about something are found; a record's own words are compared afterwards."""
    return hash(tuple(part.encode(errors="surrogatepass") for part in about))
