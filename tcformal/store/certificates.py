"""Proofs in a results folder: lines of one file, named by digests in records."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.callbacks import Warn, ignore
from tcformal.errors import RecordError
from tcformal.solve.certificate import Certificate
from tcformal.store.file import RecordFile, RecordKind
from tcformal.store.lines import Record
from tcformal.store.schema import seal

PROOF = RecordKind(
    "proof", "proofs.jsonl", re.compile(rb'"sha256": "([0-9a-f]{64})"'), lambda r: (r["sha256"],)
)

#: What a record has for the file of a certificate whose proof was too long to keep.
NOT_KEPT = ""

#: What a record says of a certificate beside where its proof is.
_SAID = ("cnf_sha256", "solver", "checker", "steps", "seconds")


def certificate_record(c: Certificate) -> Record:
    """The part of a record that identifies a certificate."""
    return {**c.to_json(), "file": PROOF.file, "seconds": c.seconds}


class CertificateFile:
    """The proofs of one results folder; unusable lines are reported to `warn`."""

    def __init__(self, folder: Path, warn: Warn = ignore) -> None:
        self.folder = folder
        self.records = RecordFile(folder, PROOF, warn)

    def keep(self, certificate: Certificate) -> None:
        """Write a proof unless it is stored already; RecordError where writing fails."""
        if self.records.newest(certificate.sha256) is None:
            text = base64.b85encode(certificate.proof).decode()
            self.records.add(seal({"sha256": certificate.sha256, "proof": text}, PROOF.name))

    def find(self, entry: Mapping[str, Any]) -> Certificate:
        """The certificate that a record names; RecordError if it is missing or different."""
        if entry["file"] == NOT_KEPT:
            raise RecordError(
                f"expected a proof of digest {entry['sha256'][:12]}, but it was too long to keep: "
                "`results verify` makes another"
            )
        proof = self._line(entry)
        digest = hashlib.sha256(proof).hexdigest()
        if digest != entry["sha256"]:
            raise RecordError(
                f"expected a certificate of digest {entry['sha256'][:12]}, but got one of {digest[:12]}"
            )
        return Certificate(proof=proof, **{key: entry[key] for key in _SAID})

    def _line(self, entry: Mapping[str, Any]) -> bytes:
        record = self.records.newest(entry["sha256"])
        if record is None:
            raise RecordError(
                f"expected a proof of digest {entry['sha256'][:12]} in {self.records.path}, but got none"
            )
        try:
            return base64.b85decode(record["proof"])
        except ValueError as error:
            raise RecordError(f"expected the proof {entry['sha256'][:12]} in base 85, but {error}") from error
