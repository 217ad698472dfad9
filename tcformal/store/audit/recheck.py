"""A process that checks kept evidence again, one JSON request a line: certificates, and whole claims.

A request holds `dag` (the text of a DAG whose root is named `assertion`), `folder` and `certificate` (what
a record says of it); or `claim`, `unit`, `folder` and `seconds`.  The answer holds `steps` and `checker`; or
`claim` (the record of the claim proved again), `lemmas` (what was found of each that was checked) and
`bare` (the number of those without a certificate); or `refused` with the reason, or `late`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.interp.cnf import to_cnf
from tcformal.ir.walk import from_json
from tcformal.proofs.claims.register import prove_claim
from tcformal.solve.certificate import checker_version, verify
from tcformal.solve.processes.spawning import init_child
from tcformal.solve.worker import limit_resource
from tcformal.store.audit.checked_book import AUDIT_LIMITS, CheckedBook, RecheckTimeError
from tcformal.store.certificates import certificate_of
from tcformal.store.claims import claim_record
from tcformal.store.store import Store

#: Address space of this process, in bytes.
_MEMORY = 6 << 30


class CheckBench:
    """The books of checked lemmas, one for each results folder, kept from one request to the next."""

    def __init__(self) -> None:
        self._books: dict[str, CheckedBook] = {}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; what is refused is an answer too."""
        try:
            return self._claim(request) if "claim" in request else _proof(request)
        except RecheckTimeError:
            return {"late": True}
        except TcformalError as error:
            return {"refused": str(error)}

    def _claim(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folder = request["folder"]
        book = self._books.setdefault(folder, CheckedBook(Store(Path(folder)).lemmas))
        book.deadline = time.monotonic() + request["seconds"]
        spec = resolve(request["unit"])
        v = prove_claim(spec, request["claim"], book=book, limits=AUDIT_LIMITS)
        used = {lemma.sha256: lemma for lemma in v.lemmas}
        return {
            "claim": claim_record(v),
            "bare": len(used.keys() & book.unchecked),
            "lemmas": {
                sha256: {
                    "name": x.name,
                    "free_inputs": x.free_inputs,
                    "steps": x.certificate.steps,
                    "checker": x.certificate.checker,
                }
                for sha256, x in used.items()
                if sha256 in book.checked and x.certificate is not None
            },
        }


def _proof(request: Mapping[str, Any]) -> dict[str, Any]:
    """Check one certificate against the clauses of a DAG, made here."""
    graph, roots = from_json(request["dag"])
    made = certificate_of(Path(request["folder"]), request["certificate"])
    return {"steps": verify(to_cnf(graph, roots["assertion"]), made), "checker": checker_version()}


def main() -> None:
    """Answer requests until standard input ends; what a checker itself prints goes to stderr."""
    init_child(int(sys.argv[1]))
    limit_resource(resource.RLIMIT_AS, _MEMORY)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    bench = CheckBench()
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.answer(json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
