"""The lemma cache: proved lemmas, kept with their certificates and used again for the same statement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcformal.errors import RecordError
from tcformal.query.kept.answers import certificate_file, certificate_record
from tcformal.query.proofs.lemmas import Lemma
from tcformal.records.file import RecordFile
from tcformal.records.lines import Told, write_whole
from tcformal.records.schema import seal
from tcformal.solve.certificate import Certificate
from tcformal.solve.result import Status
from tcformal.version import VERSION

#: Says whether the certificate of a lemma proves the statement in this DAG, and if not, why.
Check = Callable[[str, Mapping[str, Any]], str]


def now() -> str:
    """The time of a record, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def certificate_of(folder: Path, said: Mapping[str, Any]) -> Certificate:
    """The certificate that a checked record names; RecordError where its file is missing or another."""
    path = folder / said["file"]
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


class LemmaCache:
    """The lemmas of one results folder, for programs that continue where they were stopped.

    A kept lemma is used again only for the very statement that it was proved of, told by its SHA-256, and
    only after `check` has found that its certificate proves that statement.  `told` hears of records that
    are not used.
    """

    def __init__(self, records: RecordFile, told: Told, check: Check) -> None:
        self.folder = records.path.parent
        self.records = records
        self._told = told
        self._check = check

    def find(self, sha256: str) -> Lemma | None:
        """The kept lemma of that statement, as its record says and unchecked; None where none is kept."""
        record = self.records.newest(sha256)
        if record is None:
            return None
        try:
            said = record["certificate"]
            made = None if said is None else certificate_of(self.folder, said)
        except RecordError as error:
            self._told(f"the lemma {sha256[:12]} is proved again: {error}")
            return None
        return Lemma(
            name=record["name"], sha256=sha256, free_inputs=record["free_inputs"], status=Status.UNSAT,
            reason=record["reason"], decided_by=record["decided_by"],
            confirmed_by=tuple(record["confirmed_by"]), certificate=made, seconds=record["seconds"],
        )  # fmt: skip

    def checked(self, sha256: str, dag: str) -> Lemma | None:
        """The kept lemma of the statement in `dag`, its certificate checked; None where it is to be proved.

        A lemma that two solvers agreed on has nothing to check, and is proved again.
        """
        lemma = self.find(sha256)
        if lemma is None or lemma.certificate is None:
            return None
        refused = self._check(dag, certificate_record(lemma.certificate))
        if refused:
            self._told(f"the lemma {sha256[:12]} is proved again: {refused}")
            return None
        return lemma

    def add(self, lemma: Lemma) -> None:
        """Keep a lemma that holds, its certificate first; others are asked again and not kept."""
        if not lemma.holds:
            return
        plain = lemma.to_json()
        if lemma.certificate is not None:
            name = certificate_file(lemma.certificate)
            write_whole(self.folder / name, lemma.certificate.proof)
            plain["certificate"] = {**plain["certificate"], "file": name}
        record = seal({**plain, "date": now(), "tcformal": VERSION}, "lemma")
        self.records.add(record)
