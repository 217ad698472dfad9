"""Lemmas that were proved, kept with their certificates, and used again for the same statement."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tcformal.errors import RecordError
from tcformal.query.kept.stored import certificate_file
from tcformal.query.proofs.lemmas import Lemma
from tcformal.records.lines import Told, append, write_whole
from tcformal.records.newest import Newest
from tcformal.records.schema import SCHEMA_VERSION, seal
from tcformal.solve.certificate import Certificate
from tcformal.solve.result import Status
from tcformal.version import VERSION

LEMMAS = "lemmas.jsonl"


def _nobody(_: str) -> None:
    """Tell nobody."""


def now() -> str:
    """The time of a record, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Shelf:
    """The lemmas of one results folder, for programs that continue where they were stopped.

    A kept lemma is used again only for the very statement that it was proved of, told by its SHA-256, and
    only while its record is as it was written and its certificate's file is whole.  `told` hears of
    records that are not used.
    """

    def __init__(self, folder: Path, told: Told = _nobody) -> None:
        self.folder = folder
        self._told = told
        self._records = Newest(folder / LEMMAS, "lemma", ("sha256",), told)

    def find(self, sha256: str, *, certify: bool | None = None) -> Lemma | None:
        """The kept lemma of that statement, with a certificate where `certify` asks for one."""
        record = self._records.get(sha256)
        if record is None or (certify and record["certificate"] is None):
            return None
        try:
            made = self._certificate(record["certificate"])
        except RecordError as error:
            self._told(f"the lemma {sha256[:12]} is proved again: {error}")
            return None
        return Lemma(
            name=record["name"], sha256=sha256, free_inputs=record["free_inputs"], status=Status.UNSAT,
            reason=record["reason"], decided_by=record["decided_by"],
            confirmed_by=tuple(record["confirmed_by"]), certificate=made, seconds=record["seconds"],
        )  # fmt: skip

    def _certificate(self, said: Mapping[str, Any] | None) -> Certificate | None:
        if said is None:
            return None
        path = self.folder / said["file"]
        try:
            proof = path.read_bytes()
        except OSError as error:
            raise RecordError(f"expected the certificate {path}, but got: {error.strerror}") from error
        found = hashlib.sha256(proof).hexdigest()
        if found != said["sha256"]:
            raise RecordError(
                f"expected a file of digest {said['sha256'][:12]} at {path}, but got {found[:12]}"
            )
        return Certificate(
            proof=proof, **{key: said[key] for key in ("cnf_sha256", "solver", "checker", "steps", "seconds")}
        )

    def add(self, lemma: Lemma) -> None:
        """Keep a lemma that holds, its certificate first; others are asked again and not kept."""
        if not lemma.holds:
            return
        plain = lemma.to_json()
        if lemma.certificate is not None:
            name = certificate_file(lemma.certificate)
            write_whole(self.folder / name, lemma.certificate.proof)
            plain["certificate"] = {**plain["certificate"], "file": name}
        record = seal({**plain, "schema": SCHEMA_VERSION, "date": now(), "tcformal": VERSION}, "lemma")
        append(self.folder / LEMMAS, record, self._told)
        self._records.put(record)
