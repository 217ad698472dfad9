"""A file of records of one kind, with an index by subject; lines are parsed on demand."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from tcformal.callbacks import Warn
from tcformal.errors import RecordError
from tcformal.files import ENDING, read_packed, write_packed
from tcformal.store.lines import Line, Mark, Record, append, backwards, keep_lines, parse_line, scan, text_at
from tcformal.store.schema import check

About = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of record: its schema, its file name, and the function that gives a record's subject."""

    #: The schema, `NAME.schema.json`.
    name: str
    file: str
    #: Finds the subject of a line in its bytes, one group for each part: far cheaper than parsing the line.
    pattern: re.Pattern[bytes]
    #: The subject of a parsed record; a record whose subject differs from that of its bytes is not used.
    about: Callable[[Record], About]


class RecordFile:
    """The records of one kind in a results folder: packed lines, followed by appended ones.

    The place of a line is its offset in the file, that of a packed one its negative distance from the end.
    Ranges and units: 10^5 lines of 4 kB are indexed in half a second and 30 MB; a line is parsed, and
    checked against its schema and its digest, on demand.  Lines that are not used are reported to `warn`,
    one sentence each.
    Errors: RecordError for a file that cannot be read.
    """

    def __init__(self, folder: Path, kind: RecordKind, warn: Warn) -> None:
        self.path = folder / kind.file
        self.packed_path = folder / (kind.file + ENDING)
        self.kind = kind
        self._warn = warn
        self._said: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        """Reset the index."""
        self._mark = Mark()
        #: The packed lines, and what their file was when they were read.
        self._packed = b""
        self._stamp: tuple[int, int, int] | None = None
        #: Places of the whole lines, in order.
        self._starts = array("q")
        #: Hash of a subject -> the places of the lines about it, in order.
        self._about: dict[int, list[int]] = {}
        #: Problems of the lines that are not used, by offset.
        self._refused: dict[int, str] = {}
        self._checked: dict[int, Record] = {}

    @property
    def files(self) -> tuple[int, tuple[int, int, int] | None]:
        """The identities (inodes) of the packed and the plain file that were read."""
        return self._mark.file, self._stamp

    # ------------------------------------------------------------------ writing
    def add(self, record: Record) -> None:
        """Append a sealed record durably."""
        append(self.path, record, self._warn)

    def keep(self, starts: Collection[int], *, pack: bool) -> int:
        """Keep only the lines at these offsets, and return the number of removed ones.

        The caller holds the exclusive lock of the folder.
        """
        stay = [start for start in self.starts() if start in starts]
        plain = {start for start in stay if start >= 0}
        content = b"".join(self._text(start) for start in stay if start < 0 or pack)
        gone = self._packed.count(b"\n") - (len(stay) - len(plain))
        if content != self._packed:
            write_packed(self.packed_path, content)
        if pack:
            return gone + keep_lines(self.path, ()) - len(plain)
        return gone + keep_lines(self.path, plain)

    def _text(self, start: int) -> bytes:
        """The bytes of a line with its newline."""
        if start >= 0:
            return text_at(self.path, start).rstrip(b"\n") + b"\n"
        start += len(self._packed)
        return self._packed[start : self._packed.index(b"\n", start) + 1]

    # ------------------------------------------------------------------ reading
    def about(self, *about: str) -> Iterator[Record]:
        """The records about a subject, newest first, each validated before it is yielded."""
        self._refresh()
        key = _key(about)
        for start in reversed(self._about.get(key, [])):
            record = self._one_of(key, start)
            if record is not None and self.kind.about(record) == about:
                yield record

    def _one_of(self, key: int, start: int) -> Record | None:
        """The validated record at an offset; None on a hash collision of subjects."""
        record = self.at(start)
        if record is None or _key(self.kind.about(record)) == key:
            return record
        self._refuse(start, f"expected a record about what line {start} of {self.path} begins with, but it "
                     f"is about {' '.join(self.kind.about(record))}")  # fmt: skip
        return None

    def newest(self, *about: str) -> Record | None:
        """The newest valid record about a subject; None without one."""
        return next(self.about(*about), None)

    def starts(self) -> list[int]:
        """The offsets of all lines in order: the arguments of `at` and `line`."""
        self._refresh()
        return list(self._starts)

    def last_starts(self) -> list[int]:
        """The offset of the last line about each subject, in file order."""
        self._refresh()
        return sorted(starts[-1] for starts in self._about.values())

    def line(self, start: int) -> Line:
        """The parsed but unvalidated line at an offset, with its line number."""
        index = bisect_left(self._starts, start)
        if start < 0:
            return parse_line(self.packed_path, index + 1, self._text(start))
        packed = bisect_left(self._starts, 0)
        return parse_line(self.path, index + 1 - packed, text_at(self.path, start))

    def backwards(self) -> Iterator[tuple[int, Line]]:
        """The lines with their offsets, last first; line numbers are 0."""
        yield from backwards(self.path)
        self._refresh_packed()
        end = len(self._packed)
        while end > 0:
            start = self._packed.rfind(b"\n", 0, end - 1) + 1
            yield start - len(self._packed), parse_line(self.packed_path, 0, self._packed[start:end])
            end = start

    def at(self, start: int) -> Record | None:
        """The validated record at an offset; None, with a warning, for an invalid one."""
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
        """The newest valid record about each subject, in the order of first occurrence."""
        self._refresh()
        rows = (
            next((r for start in reversed(starts) if (r := self._one_of(key, start)) is not None), None)
            for key, starts in [*self._about.items()]
        )
        return [record for record in rows if record is not None]

    def broken(self) -> list[str]:
        """Validate every line, and yield one sentence for each invalid one."""
        self._refresh()
        for start in self._starts:
            self.at(start)
        return [self._refused[start] for start in sorted(self._refused)]

    def _refresh(self) -> None:
        """Index the lines appended since the last call."""
        self._refresh_packed()
        mark = scan(self.path, self._mark, self._take, self._warn_once)
        if (
            self._starts
            and self._mark.file
            and (mark.file != self._mark.file or mark.offset < self._mark.offset)
        ):
            self._forget()
            self._refresh_packed()
            mark = scan(self.path, Mark(), self._take, self._warn_once)
        self._mark = mark

    def _refresh_packed(self) -> None:
        """Read the packed file again if it has changed."""
        try:
            status = os.lstat(self.packed_path)
        except OSError:
            stamp = None
        else:
            stamp = status.st_ino, status.st_mtime_ns, status.st_size
        if stamp == self._stamp:
            return
        self._forget()
        content = b"" if stamp is None else read_packed(self.packed_path)
        if content and not content.endswith(b"\n"):
            raise RecordError(f"expected whole lines in {self.packed_path}, but the last one has no end")
        self._packed, self._stamp = content, stamp
        start = 0
        while start < len(content):
            end = content.index(b"\n", start) + 1
            self._take(start - len(content), content[start:end])
            start = end

    def _take(self, start: int, text: bytes) -> None:
        if self._starts and start <= self._starts[-1]:
            return  # a last line without an end, which has been seen before
        self._starts.append(start)
        if (subject := self.kind.pattern.search(text)) is not None:
            self._about.setdefault(hash(subject.groups()), []).append(start)
        else:
            problem = f"expected a record of kind {self.kind.name}, but it names nothing that it is about"
            self._refuse(start, f"line {len(self._starts)} of {self.path} is not used: {problem}")

    def _refuse(self, start: int, sentence: str) -> None:
        self._refused[start] = sentence
        self._warn_once(sentence)

    def _warn_once(self, sentence: str) -> None:
        """Report each problem once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._warn(sentence)


def _key(about: About) -> int:
    """The index hash of a subject; collisions are detected by comparison with the record."""
    return hash(tuple(part.encode(errors="surrogatepass") for part in about))
