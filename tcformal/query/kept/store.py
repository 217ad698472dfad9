"""The store: every answer a line of a file, checked when it is written, and served again when asked again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tcformal.errors import RecordError, TcformalError
from tcformal.query.kept import stored
from tcformal.query.kept.stored import Record
from tcformal.query.spec import Question
from tcformal.query.verdict import Kind, Verdict
from tcformal.records.lines import Line, Mark, Told, append, read, write_whole
from tcformal.records.schema import check
from tcformal.solve.certificate import Certificate

#: The file of answers inside a results folder.
ANSWERS = "answers.jsonl"

#: What two questions of one definition must share so that one answer serves both.
_OPERANDS = ("k", "formats", "assumptions")


def _nobody(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The last line about one question."""

    #: SHA-256 of what was asked; its first twelve digits name the record to people.
    id: str
    line: int
    #: As it stands in the file: shaped like a question's record, and otherwise unchecked.
    record: Record

    @property
    def digest(self) -> str:
        """SHA-256 of the definition that the question built when it was answered."""
        return str(self.record["question"]["sha256"])

    def check(self) -> None:
        """RecordError where the record is not as its schema says, or was altered."""
        check(self.record)


@dataclass(slots=True)
class _Index:
    """What has been read of the file of answers."""

    mark: Mark = field(default_factory=Mark)
    #: The last line of each question, by identity.
    entries: dict[str, Entry] = field(default_factory=dict)
    #: The identities that share a definition.
    by_digest: dict[str, set[str]] = field(default_factory=dict)
    #: Whole lines that hold no answer.
    broken: list[Line] = field(default_factory=list)


class Store:
    """The answers of one results folder: `answers.jsonl`, and a certificate in a file of its own for each
    proof.

    The folder is made when the first answer is added.  Several processes may add to one folder; each sees
    the others' answers.  `told` hears, in one sentence each, of lines and records that cannot be used.
    """

    def __init__(self, folder: Path, told: Told = _nobody) -> None:
        self.folder = folder
        self.path = folder / ANSWERS
        self._told = told
        self._index = _Index()
        self._said: set[str] = set()

    # ------------------------------------------------------------------ writing
    def add(self, verdict: Verdict) -> Record:
        """Keep an answer, its certificate first; the record that was written.

        Errors: RecordError where the units' names do not give the units back, or the files cannot be
        written.
        """
        date = verdict.served or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        record = stored.to_record(verdict, date)
        certificate = verdict.certificate
        if certificate is not None:
            write_whole(self.folder / stored.certificate_file(certificate), certificate.proof)
        append(self.path, record, self._told)
        return record

    # ------------------------------------------------------------------ reading
    def find(self, question: Question, *, certify: bool | None = None) -> Verdict | None:
        """The kept answer to a question, or None where it has to be asked.

        An answer counts for every pair of units that builds the same definition; one that was given to
        this very pair comes first.  `certify` is as for `answer`: where it is True, an answer that no
        input exists counts only with its certificate, and where it is False only with a second solver.
        Served are answers that need no further asking, after they have been checked: the record against
        its schema and digest, a witness by replay on integers and on the oracle, a certificate's file
        against its digest.
        """
        self._refresh()
        digest = question.digest()
        entry = self._own(question, digest) or self._shared(question, digest)
        if entry is None or entry.record.get("verdict") not in [kind.name for kind in stored.SETTLED]:
            return None
        try:
            entry.check()
            stored.check_answers(entry.record)
            certificate = self.certificate(entry.record)
            if entry.record["verdict"] == Kind.SEPARATED.name:
                stored.check_replays(question, entry.record)
            verdict = stored.read_verdict(question, entry.record, certificate)
        except TcformalError as error:
            self._tell(f"record {entry.id[:12]} of {self.path} is not used: {error}")
            return None
        if verdict.kind is not Kind.SEPARATED and (
            (certify is True and certificate is None) or (certify is False and not verdict.confirmed_by)
        ):
            return None
        return verdict

    def has(self, question: Question) -> bool:
        """Whether there is a line about this very question, as its units are defined today."""
        self._refresh()
        return self._own(question, question.digest()) is not None

    def _own(self, q: Question, digest: str) -> Entry | None:
        """The last line about this very question, unless it answers another definition."""
        own = self._index.entries.get(stored.identity({"question": stored.asked(q)}))
        return own if own is not None and own.digest == digest else None

    def _shared(self, q: Question, digest: str) -> Entry | None:
        """The last line about other units that build the same definition for the same operands."""
        asked = stored.asked(q)
        shared = [self._index.entries[i] for i in self._index.by_digest.get(digest, ())]
        alike = [e for e in shared if all(e.record["question"][key] == asked[key] for key in _OPERANDS)]
        return max(alike, key=lambda e: e.line, default=None)

    def certificate(self, record: Record) -> Certificate | None:
        """The certificate that a checked record names; RecordError where its file is missing or another."""
        said = record["certificate"]
        if said is None:
            return None
        path: Path = self.folder / said["file"]
        try:
            proof = path.read_bytes()
        except OSError as error:
            raise RecordError(f"expected the certificate {path}, but got: {error.strerror}") from error
        found = hashlib.sha256(proof).hexdigest()
        if not found == said["sha256"] == path.name.partition(".")[0]:
            raise RecordError(
                f"expected a certificate of digest {said['sha256'][:12]} at {path}, but got {found[:12]}"
            )
        return Certificate(
            proof=proof, **{key: said[key] for key in ("cnf_sha256", "solver", "checker", "steps", "seconds")}
        )

    def records(self) -> list[Entry]:
        """The last line about each question, in the order of the file; nothing of them is checked yet."""
        self._refresh()
        return sorted(self._index.entries.values(), key=lambda e: e.line)

    def broken(self) -> list[str]:
        """One sentence on each whole line that holds no answer."""
        self._refresh()
        return [line.problem for line in self._index.broken]

    def _refresh(self) -> None:
        """Read what has been added to the file since the last look."""
        lines, mark = read(self.path, self._index.mark)
        if mark.file != self._index.mark.file or mark.offset < self._index.mark.offset:
            self._index = _Index()
        self._index.mark = mark
        for line in lines:
            if line.torn:
                self._tell(f"{line.problem}: left by a writer that was stopped")
            else:
                self._take(line)

    def _take(self, line: Line) -> None:
        entry = _entry(line)
        if entry is None:
            problem = line.problem or f"expected an answer in line {line.number} of {self.path}, but got none"
            self._index.broken.append(Line(line.number, None, problem))
            self._tell(problem)
            return
        before = self._index.entries.get(entry.id)
        if before is not None:
            self._index.by_digest[before.digest].discard(before.id)
        self._index.entries[entry.id] = entry
        self._index.by_digest.setdefault(entry.digest, set()).add(entry.id)

    def _tell(self, sentence: str) -> None:
        """Say each thing once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._told(sentence)


def _entry(line: Line) -> Entry | None:
    """A line as an entry, if it holds a question by which it can be found."""
    question = None if line.data is None else line.data.get("question")
    if line.data is None or not isinstance(question, dict) or not {*_OPERANDS, "sha256"} <= question.keys():
        return None
    try:
        return Entry(stored.identity(line.data), line.number, line.data)
    except ValueError:
        return None
