"""The log of a long audit: what was found is written line by line, and not checked again by a later run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from tcformal.errors import InputError
from tcformal.store.audit.audit import AuditFinding, AuditStatus
from tcformal.store.audit.claim_audit import ClaimFinding
from tcformal.store.file import Record
from tcformal.store.schema import digest_of
from tcformal.store.store import Entry


class AuditLog:
    """Findings about records, each appended to a file as a line of JSON as soon as it is made.

    A finding counts for the same record (by digest), the same way of checking and the same sources of the
    package only.  Records that failed are checked again; those that the way leaves undecided within its time
    are not, so that a run that is ended and repeated comes to the others.
    Errors: InputError for a file whose first line is no finding.
    """

    def __init__(self, path: Path, way: str) -> None:
        self._path, self._way = path, f"{way}, {_sources()[:16]}"
        self._found: dict[str, tuple[AuditStatus, str]] = {}
        #: How many findings were taken over from earlier runs.
        self.taken = 0
        text = path.read_text() if path.exists() else ""
        for i, line in enumerate(text.splitlines()):
            try:
                way, digest, status, reason = json.loads(line)
                standing = AuditStatus[status]
            except (ValueError, KeyError, TypeError):
                if i == 0:
                    raise InputError(f"expected a log of findings, but {path} is another file") from None
                continue  # a run was killed while it wrote: the record is checked again
            if way == self._way and standing is not AuditStatus.FAILED:
                self._found[digest] = standing, reason
        self._start = "\n" if text and not text.endswith("\n") else ""

    def answers(self, check: Callable[[Entry], AuditFinding]) -> Callable[[Entry], AuditFinding]:
        """The audit of an answer that is in the log already, or is then."""

        def checked(entry: Entry) -> AuditFinding:
            earlier = self._earlier(entry.record)
            found = check(entry) if earlier is None else AuditFinding(entry, *earlier)
            if earlier is None:
                self._add(entry.record, found.status, found.reason)
            return found

        return checked

    def claims(self, prove: Callable[[Record], ClaimFinding]) -> Callable[[Record], ClaimFinding]:
        """The audit of a claim that is in the log already, or is then."""

        def checked(record: Record) -> ClaimFinding:
            earlier = self._earlier(record)
            if earlier is not None:
                return ClaimFinding(record["claim"], record["unit"], record["verdict"], *earlier)
            found = prove(record)
            self._add(record, found.status, found.reason)
            return found

        return checked

    def _earlier(self, record: Record) -> tuple[AuditStatus, str] | None:
        found = self._found.get(digest_of(record))
        self.taken += found is not None
        return found

    def _add(self, record: Record, status: AuditStatus, reason: str) -> None:
        line = json.dumps([self._way, digest_of(record), status.name, reason], ensure_ascii=False)
        with self._path.open("a") as file:
            file.write(f"{self._start}{line}\n")
        self._start = ""


@lru_cache(maxsize=1)
def _sources() -> str:
    """The SHA-256 of every module of the package."""
    root, found = Path(__file__).resolve().parents[2], hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
