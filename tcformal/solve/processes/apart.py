"""A kept certificate checked in a process of its own: what it costs there, and what it does, costs no answer.

A certificate may come from a folder that is somebody else's copy.  A file made to unpack to all of the
memory, or a proof made to be checked for ever, ends its own process only.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.solve.certificate import Certificate, CertificateError, UncheckedError
from tcformal.solve.processes.process import Child
from tcformal.solve.result import Limits

#: Seconds between two looks at the process.
_POLL_S = 0.005


def verify_apart(graph: Graph, assertion: Node, certificate: Certificate, limits: Limits) -> int:
    """Check a kept certificate against the clauses of a question, built anew; the steps that were checked.

    Shapes: `assertion` has width 1, and the certificate says that no input makes it equal 1.
    Ranges and units: the process may take the time and the memory of `limits`, its start included.
    Errors: CertificateError for a certificate of other clauses, one that does not unpack, or one that the
    checker refuses; UncheckedError, which is one of them, where the limits did not suffice.
    """
    with tempfile.TemporaryDirectory(prefix="tcformal-") as made:
        folder = Path(made)
        kept = folder / "kept.xz"
        kept.write_bytes(certificate.proof)
        request = {
            "dag": to_json(graph, {"assertion": assertion}),
            "kept": str(kept),
            "cnf_sha256": certificate.cnf_sha256,
            "time_s": limits.time_s,
            "memory_mb": limits.memory_mb,
        }
        child = Child("tcformal.solve.checker", request, limits.time_s, folder, "check")
        try:
            while not child.over():
                time.sleep(_POLL_S)
        finally:
            child.kill()
        try:
            data = child.line()
            if "refused" in data:
                raise CertificateError(str(data["refused"]))
            return int(data["steps"])
        except (LookupError, ValueError, TypeError):
            raise UncheckedError(
                f"expected the certificate to be checked in {limits.time_s:g} s and {limits.memory_mb} MiB, "
                f"but got: {child.ending()[1]}"
            ) from None
