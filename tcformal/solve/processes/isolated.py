"""A kept certificate checked in a process of its own, with limits of time and memory.

A certificate may come from a copied folder: a file that unpacks to fill the memory, or a proof that takes
for ever, ends its own process only.
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

#: Seconds between two polls of the process.
_POLL_S = 0.005


def verify_isolated(graph: Graph, assertion: Node, certificate: Certificate, limits: Limits) -> int:
    """Check a kept certificate against the clauses of a question, built anew; the number of steps checked.

    Shapes: `assertion` has width 1; the certificate proves that no input makes it equal 1.
    Ranges and units: the process, its start included, has the time and memory of `limits`.
    Errors: CertificateError for a certificate of other clauses, one that does not unpack, or one that the
    checker refuses; its subclass UncheckedError where the limits did not suffice.
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
