"""Certificates: proofs that clauses are unsatisfiable, checked by a program that is not a solver.

A solver's proof is trimmed to the steps that its refutation needs, and stored without hints.  Hints are
searched for on demand; `solve.lrat.check` then checks every step against clauses that are generated anew from
the question, never taken from a solver.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.backends.cnf import Cnf
from tcformal.errors import CertificateError
from tcformal.solve import drat
from tcformal.solve.drat import DratStep
from tcformal.solve.lrat.check import LratStep, check
from tcformal.solve.lrat.hints import hinted
from tcformal.version import VERSION

#: The checker whose word counts.
CHECKER = f"tcformal's LRAT checker {VERSION}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A checked proof with the digest of the clauses that it refutes.

    Ranges and units: `proof` is binary DRUP packed with xz; `seconds` were spent on trimming and checking it.
    """

    #: SHA-256 of the clauses in DIMACS form.
    cnf_sha256: str
    proof: bytes
    #: The member that wrote the proof.
    solver: str
    #: The checker and its version.
    checker: str
    #: Clauses that the proof adds before the empty one, all of which were checked.
    steps: int
    seconds: float

    @property
    def sha256(self) -> str:
        """SHA-256 of the packed proof: its name in a results folder."""
        return hashlib.sha256(self.proof).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain data, without the proof itself."""
        return {
            "format": "DRUP",
            "sha256": self.sha256,
            "cnf_sha256": self.cnf_sha256,
            "solver": self.solver,
            "checker": self.checker,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
        }


def unpack(proof: bytes) -> list[DratStep]:
    """The steps of a packed proof; CertificateError for a truncated or altered one."""
    try:
        return drat.unpack(proof)
    except ValueError as error:
        raise CertificateError(f"expected one whole packed proof, but {error}") from error


def certify(cnf: Cnf, proof: str, solver: str) -> Certificate:
    """Trim a solver's proof text, check it, and build its certificate; CertificateError if it is invalid."""
    start = time.monotonic()
    try:
        return _checked_certificate(cnf, drat.parse(proof), solver, start)
    except ValueError as error:
        raise CertificateError(f"expected a proof that can be read and kept, but {error}") from error


def checked_steps(cnf: Cnf, proof: str) -> int:
    """Check a proof text without keeping it, and return its length; CertificateError if it is invalid."""
    try:
        return check(cnf.variables, cnf.clauses, hinted(cnf, drat.parse(proof), trimmed=True)) - 1
    except ValueError as error:
        raise CertificateError(f"expected a proof that can be read, but {error}") from error


def trimmed(cnf: Cnf, certificate: Certificate) -> Certificate:
    """Trim and check a stored certificate; CertificateError as in `verify`."""
    start = time.monotonic()
    _check_clauses(cnf, certificate)
    return _checked_certificate(cnf, unpack(certificate.proof), certificate.solver, start)


def _checked_certificate(cnf: Cnf, steps: Sequence[DratStep], solver: str, start: float) -> Certificate:
    """Build the checked certificate of the steps that a refutation needs."""
    needed = hinted(cnf, steps, trimmed=True)
    checked = check(cnf.variables, cnf.clauses, needed) - 1
    packed = drat.pack(drat.drup(needed))
    return Certificate(
        cnf_sha256=cnf.digest(), proof=packed, solver=solver, checker=CHECKER, steps=checked,
        seconds=time.monotonic() - start,
    )  # fmt: skip


def lrat(cnf: Cnf, certificate: Certificate) -> list[LratStep]:
    """The steps of a stored certificate with LRAT hints, unchecked, for clauses generated anew.

    Errors: CertificateError for clauses other than the ones it was made for, a file that does not unpack,
    or a step that does not follow by unit propagation.
    """
    _check_clauses(cnf, certificate)
    return hinted(cnf, unpack(certificate.proof), trimmed=False)


def _check_clauses(cnf: Cnf, certificate: Certificate) -> None:
    """Raise CertificateError unless a certificate belongs to these clauses."""
    if cnf.digest() != certificate.cnf_sha256:
        raise CertificateError(
            f"expected a certificate of the clauses {cnf.digest()[:12]}, "
            f"but got one of {certificate.cnf_sha256[:12]}: the question or its encoding has changed"
        )


def verify(cnf: Cnf, certificate: Certificate) -> int:
    """Check every step of a stored certificate against clauses generated anew, and return their number.

    Errors: CertificateError as `lrat`, and for a step that the checker refuses.
    """
    return check(cnf.variables, cnf.clauses, lrat(cnf, certificate)) - 1


def lrat_text(steps: Sequence[LratStep]) -> str:
    """Steps in LRAT's text format, for independent checkers."""
    return "".join(
        f"{s.ident} d {' '.join(map(str, s.deleted))} 0\n"
        if s.deleted
        else " ".join(map(str, (s.ident, *s.clause, 0, *s.hints, 0))) + "\n"
        for s in steps
    )
