"""One proof, one question, one process: builds the clauses anew from the DAG and has the proof checked.

The JSON request on stdin holds `dag` (the text of a DAG whose root is named `assertion`), `time_s`,
`memory_mb`, and one of two things:

* a new proof: `proof` and `packed` (the files to read it from and to write it packed to) and `solver`; the
  JSON line on stdout holds what a certificate says beside its proof;
* a kept one: `kept` (the file that it lies in, packed) and `cnf_sha256`; the line holds its `steps`.

A proof that does not hold is answered with `refused` and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tcformal.interp.cnf import to_cnf
from tcformal.ir.walk import from_json
from tcformal.solve.certificate import CertificateError, certify, verify_packed
from tcformal.solve.result import Limits
from tcformal.solve.worker import confine, serve


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Check one proof; a new one is written packed to its file before the answer is given."""
    confine(Limits(request["time_s"], request["memory_mb"], 0))
    graph, roots = from_json(request["dag"])
    try:
        if "kept" in request:
            clauses = to_cnf(graph, roots["assertion"])
            return {
                "steps": verify_packed(clauses, Path(request["kept"]).read_bytes(), request["cnf_sha256"])
            }
        proof = Path(request["proof"]).read_text(encoding="ascii")
        made = asdict(certify(to_cnf(graph, roots["assertion"]), proof, request["solver"]))
    except FileNotFoundError:
        return {"refused": "expected a proof, but none was written"}
    except (CertificateError, UnicodeDecodeError) as error:
        return {"refused": str(error)}
    Path(request["packed"]).write_bytes(made.pop("proof"))
    return made


if __name__ == "__main__":
    serve(answer)
