"""The proof-checking process: it builds a question's clauses from the DAG and checks one proof against them.

The JSON request on stdin holds `dag` (the text of a DAG whose root is named `assertion`), `time_s`,
`memory_mb`, `proof` and `packed` (the files to read the proof from and to write it packed to) and `solver`.
The JSON line on stdout holds a certificate's fields without the proof; an invalid proof is answered with
`refused` and the reason.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from tcformal.backends.cnf import to_cnf
from tcformal.errors import CertificateError
from tcformal.ir.walk import from_json
from tcformal.solve.certificate import certify
from tcformal.solve.result import Limits
from tcformal.solve.worker import Message, confine, serve


def answer(request: Message) -> Message:
    """Check one proof; a valid one is packed into its file before the answer is returned."""
    confine(Limits(request["time_s"], request["memory_mb"], request["seed"]))
    graph, roots = from_json(request["dag"])
    try:
        proof = Path(request["proof"]).read_text(encoding="ascii")
        certificate = asdict(certify(to_cnf(graph, roots["assertion"]), proof, request["solver"]))
    except FileNotFoundError:
        return {"refused": "expected a proof, but none was written"}
    except (CertificateError, UnicodeDecodeError) as error:
        return {"refused": str(error)}
    Path(request["packed"]).write_bytes(certificate.pop("proof"))
    return certificate


if __name__ == "__main__":
    serve(answer)
