"""The store: answers and claims of a results folder, whose evidence is checked before they are served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcformal.callbacks import Warn, ignore
from tcformal.errors import RecordError, TcformalError
from tcformal.ir.walk import to_json
from tcformal.query.question import Kind, Q, Question
from tcformal.query.verdict import Verdict
from tcformal.shown import Shown
from tcformal.solve.certificate import Certificate
from tcformal.store import answers
from tcformal.store.certificates import NOT_KEPT, CertificateFile
from tcformal.store.claim_records import CLAIM, keep_claim
from tcformal.store.file import RecordFile, RecordKind
from tcformal.store.lines import Line, Record, folder_lock
from tcformal.store.rechecker import Rechecker
from tcformal.store.schema import check, now

if TYPE_CHECKING:
    from tcformal.query.claims.claim_verdict import ClaimVerdict

ANSWER = RecordKind(
    "answer",
    "answers.jsonl",
    re.compile(rb'"sha256": "([0-9a-f]{64})"'),
    lambda r: (r["question"]["sha256"],),
)

#: Keys in which two questions of one definition must agree so that one answer serves both.
_OPERANDS = ("kind", "k", "formats", "assumptions")


@dataclass(frozen=True, slots=True)
class Entry:
    """The newest stored line about one question, unvalidated."""

    #: SHA-256 of the question; its first twelve digits name the record in texts.
    id: str
    #: Byte offset of the line in its file.
    start: int
    #: The record as written in the file: it has the form of a question's record, and is otherwise unchecked.
    record: Record

    @property
    def digest(self) -> str:
        """SHA-256 of the question's definition at the time of the answer."""
        return str(self.record["question"]["sha256"])

    def check(self) -> None:
        """Check the record against its schema and its digest; RecordError with the first problem."""
        check(self.record)


class Store(Shown):
    """The answers and claims of one results folder, with one file for all proofs.

    The folder is made when the first answer is added.  Several processes may add to one folder; each sees
    the others' answers.  Evidence is checked before an answer is served: a witness is replayed on integers
    and on the oracle, a certificate is checked against clauses made from the question.  Claims are kept to be
    listed and audited: theorems answer them again whenever they are asked.  Lines and records that cannot be
    used are reported to `warn`, one sentence each.

    Examples:
        >>> store = tcformal.Store("results")
        >>> tcformal.separate("valpey@terms=2", "valpey@terms=2,fraction_bits=3", store=store).served
        ''
        >>> tcformal.separate("valpey@terms=2", "valpey@terms=2,fraction_bits=3", store=store).served[:2]
        '20'
    """

    def __init__(self, folder: str | Path, warn: Warn = ignore) -> None:
        self.folder = Path(folder)
        self._warn = warn
        self.answers = RecordFile(self.folder, ANSWER, warn)
        self.claims = RecordFile(self.folder, CLAIM, warn)
        self.certificates = CertificateFile(self.folder, warn)
        self.rechecker = Rechecker()

    def _summary(self) -> str:
        return f"Store {self.folder}"

    @property
    def path(self) -> Path:
        """The path of the file of answers."""
        return self.answers.path

    # ------------------------------------------------------------------ answers
    def add(self, verdict: Verdict[Any]) -> Record:
        """Store an answer, its certificate first, and return the record.

        Errors: RecordError where a unit's name does not resolve to that unit, or where the files cannot be
        written.
        """
        record = answers.to_record(verdict, verdict.served or now())
        with folder_lock(self.folder):
            if verdict.certificate is not None:
                self.certificates.keep(verdict.certificate)
            self.answers.add(record)
        return record

    def find(self, question: Q, *, certify: bool | None = None) -> Verdict[Q] | None:
        """The stored answer to a question after its evidence was checked; None where none is usable.

        An answer counts for every pair of units with the same definition; one about this very pair comes
        first.  Of an answer without a witness, vectors are tried before its certificate is checked; where
        that is missing or takes too long, the verdict is UNKNOWN, and not `checked`.  `certify=False` asks
        for the answer of a second solver beside the certificate.
        """
        entry = self._entry(question)
        if entry is None or not answers.is_decided(entry):
            return None
        kept = entry["certificate"]
        try:
            if Kind[entry["verdict"]] is question.FOUND:
                return answers.read_verdict(question, entry, None)
            answers.check_answers(entry, question)
            answers.check_vectors(entry, question)
            if "theorems" in entry:
                return answers.read_verdict(question, entry, None)
            if certify is False and kept is not None and not entry["confirmed_by"]:
                return None
            made = self._proof(entry)
            checked = None if made is None else self.checked(question, entry, made)
            if checked is None:
                return answers.unchecked_verdict(question, entry)
            return answers.read_verdict(question, entry, checked)
        except TcformalError as error:
            self._not_used(entry, error)
            return None

    def _proof(self, entry: Record) -> Certificate | None:
        """The certificate that a record names; None for none, and for an unreadable one."""
        kept = entry["certificate"]
        if kept is None or kept["file"] == NOT_KEPT:
            return None
        try:
            return self.certificates.find(kept)
        except RecordError as error:
            self._not_used(entry, error)
            return None

    def _not_used(self, entry: Record, error: TcformalError) -> None:
        self._warn(f"record {answers.identity(entry)[:12]} of {self.path} is not used: {error}")

    def checked(
        self, q: Question, record: Record, made: Certificate, seconds: float | None = None
    ) -> Certificate | None:
        """The certificate after a new check; None at the time limit, RecordError if it is refused."""
        root = q.assumed if record["verdict"] == Kind.VACUOUS.name else q.asked
        dag = to_json(q.graph, {"assertion": root})
        reply = self.rechecker.proof(dag, self.folder, record["certificate"], seconds)
        if "refused" in reply:
            raise RecordError(reply["refused"])
        return None if "late" in reply else replace(made, checker=reply["checker"], steps=reply["steps"])

    def has(self, question: Question) -> bool:
        """Whether an answer to this exact question with current definitions is stored."""
        mine = answers.identity_of(question)
        return any(answers.identity(r) == mine for r in self.answers.about(question.digest()))

    def _entry(self, q: Question) -> Record | None:
        """The newest record about this question, or about other units of the same definition."""
        mine, parts = answers.identity_of(q), q.parts()
        shared = None
        for record in self.answers.about(q.digest()):
            if answers.identity(record) == mine:
                return record
            asked = record["question"]
            alike = all(asked.get(key) == parts.get(key) for key in _OPERANDS)
            if shared is None and alike and q.KIND == "separate":
                shared = record
        return shared

    def certificate(self, record: Record) -> Certificate | None:
        """The certificate that a record names; RecordError for a missing file or a wrong digest."""
        certificate = record["certificate"]
        return None if certificate is None else self.certificates.find(certificate)

    def entries(self) -> Iterator[Entry]:
        """The newest line about each question, newest first, unvalidated."""
        seen: set[str] = set()
        for start, line in self.answers.backwards():
            entry = _entry(start, line)
            if entry is not None and entry.id not in seen:
                seen.add(entry.id)
                yield entry

    def records(self) -> list[Entry]:
        """The newest line about each question, in file order, unvalidated."""
        return [*self.entries()][::-1]

    def broken(self) -> list[str]:
        """One sentence for each line that is no valid answer."""
        sentences = []
        for start in self.answers.starts():
            line = self.answers.line(start)
            if _entry(start, line) is None:
                sentences.append(
                    line.problem
                    or f"expected an answer in line {line.number} of {self.path}, but got something else"
                )
        return sentences

    # ------------------------------------------------------------------ claims
    def newest_claims(self) -> Iterator[Record]:
        """The newest line about each claim of a unit, newest first, unvalidated beyond its schema."""
        seen: set[tuple[str, ...]] = set()
        for _, line in self.claims.backwards():
            try:
                check(line.data or {}, CLAIM.name)
            except RecordError:
                continue
            assert line.data is not None
            if (about := CLAIM.about(line.data)) not in seen:
                seen.add(about)
                yield line.data

    def add_claim(self, v: ClaimVerdict) -> None:
        """Store a claim unless the newest record is equal."""
        keep_claim(self.claims, v)


def _entry(start: int, line: Line) -> Entry | None:
    """A line as an entry; None where it names no question."""
    data = line.data
    question = None if data is None else data.get("question")
    if data is None or not isinstance(question, dict) or not {"kind", "sha256"} <= question.keys():
        return None
    try:
        return Entry(answers.identity(data), start, data)
    except (ValueError, RecursionError):
        return None
