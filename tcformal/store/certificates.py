"""Certificates as files of a results folder: their paths, their entries in records, and reading them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.errors import RecordError
from tcformal.files.regular import read_regular
from tcformal.files.write import write_whole
from tcformal.solve.certificate import Certificate
from tcformal.solve.drat import LARGEST_PACKED

#: The folder of certificates inside a results folder.
CERTIFICATES = "certificates"

#: The pattern of a certificate's file name.
NAME = re.compile(r"[0-9a-f]{64}\.drat\.xz")


def certificate_file(certificate: Certificate) -> str:
    """Where a certificate is kept inside a results folder."""
    return f"{CERTIFICATES}/{certificate.sha256}.drat.xz"


def certificate_record(c: Certificate) -> dict[str, Any]:
    """The part of a record that identifies a certificate."""
    return {**c.to_json(), "file": certificate_file(c), "seconds": c.seconds}


def keep_certificate(folder: Path, certificate: Certificate) -> None:
    """Write a certificate into a results folder; RecordError where it cannot be written."""
    write_whole(folder / certificate_file(certificate), certificate.proof)


def certificate_of(folder: Path, entry: Mapping[str, Any]) -> Certificate:
    """The certificate that a record names; RecordError where its file is missing or has another digest."""
    path = folder / entry["file"]
    proof = read_regular(path, LARGEST_PACKED, below=folder)
    found = hashlib.sha256(proof).hexdigest()
    if not found == entry["sha256"] == path.name.partition(".")[0]:
        raise RecordError(
            f"expected a certificate of digest {entry['sha256'][:12]} at {path}, but got {found[:12]}"
        )
    return Certificate(
        proof=proof, **{key: entry[key] for key in ("cnf_sha256", "solver", "checker", "steps", "seconds")}
    )
