"""Certificates: proofs that a set of clauses is unsatisfiable, checked by a program that is no solver.

The checker is dratify, which shares no code with any solver.  It verifies every step of a proof in the
DRAT format against the clauses, which are built again from the question and never taken from a solver.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tcformal.errors import TcformalError
from tcformal.interp.cnf import Cnf
from tcformal.solve import drat
from tcformal.solve.drat import Step

#: The checker's package.
CHECKER = "dratify"


class CertificateError(TcformalError):
    """A certificate does not prove its statement."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A checked proof, and the clauses that it refutes.

    Ranges and units: `proof` is binary DRAT packed with xz; `seconds` were spent on checking it.
    """

    #: SHA-256 of the clauses in DIMACS form.
    cnf_sha256: str
    proof: bytes
    #: The member that wrote the proof.
    solver: str
    #: The checker and its version.
    checker: str
    #: Steps of the proof that were checked.
    steps: int
    seconds: float

    @property
    def sha256(self) -> str:
        """SHA-256 of the packed proof: its name in a results folder."""
        return hashlib.sha256(self.proof).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The certificate as plain data, without the proof, which is a file."""
        return {
            "format": "DRAT",
            "sha256": self.sha256,
            "cnf_sha256": self.cnf_sha256,
            "solver": self.solver,
            "checker": self.checker,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
        }


def unpack(proof: bytes) -> list[Step]:
    """The steps of a packed proof; CertificateError for a truncated or altered one."""
    try:
        return drat.unpack(proof)
    except ValueError as error:
        raise CertificateError(f"expected one whole packed proof, but {error}") from error


def _compiled_engine() -> Any:
    """The checker's compiled engine; None where it is not installed."""
    try:
        import cdclkit_native
    except ImportError:
        return None
    import dratify

    dratify.register_native(cdclkit_native)
    return cdclkit_native


def checker_version() -> str:
    """The name and version of the checker, and the package of its compiled engine if that is used."""
    import dratify

    engine = _compiled_engine()
    compiled = "" if engine is None else f" with cdclkit-native {engine.__version__}"
    return f"{CHECKER} {dratify.__version__}{compiled}"


def parse(proof: str) -> list[Step]:
    """The steps of a proof in text form; CertificateError, with the position, for invalid text."""
    import dratify

    try:
        steps: list[Step] = dratify.parse_proof(proof)
        return steps
    except ValueError as error:
        raise CertificateError(f"expected a proof in DRAT form, but {error}") from error


def check_proof(cnf: Cnf, proof: str) -> int:
    """Check DRAT text against clauses, as `check_steps`."""
    return check_steps(cnf, parse(proof))


def check_steps(cnf: Cnf, steps: Sequence[Step]) -> int:
    """Check a proof against clauses; the number of steps, or CertificateError with the reason.

    Every step must follow by unit propagation; a proof that also makes definitions (RAT steps) is checked
    with all of its deletions left out.  Both together are never allowed: the checker keeps what a deleted
    clause has implied but no longer looks at that clause, and then passes definitions that it should not.
    Source: WETZLER (the format); REBOLA-PARDO (what deletions do to it).
    """
    engine = "python" if _compiled_engine() is None else "native"
    import dratify

    formula = dratify.CNF(cnf.variables)
    # The checker's own form: variable v is 2v − 2, its complement 2v − 1.
    formula.clauses = [tuple([2 * x - 2 if x > 0 else -2 * x - 1 for x in clause]) for clause in cnf.clauses]
    try:
        result = dratify.check_proof(formula, steps, check_rat=False, engine=engine)
        if result.failed_step > 0:
            result = dratify.check_proof(formula, steps, apply_deletions=False, engine=engine)
    except ValueError as error:
        raise CertificateError(f"expected a proof in DRAT form, but {error}") from error
    if not (result.ok and result.reached_empty):
        raise CertificateError(f"expected a proof of every step, but the checker refused it: {result.reason}")
    return int(result.steps)


def certify(cnf: Cnf, proof: str, solver: str) -> Certificate:
    """Check a proof and make its certificate; CertificateError where the proof fails.

    The certificate holds the steps that were checked; steps after the refutation are left out.
    """
    start = time.monotonic()
    compact = drat.compact(parse(proof))
    checked = check_steps(cnf, compact)
    try:
        packed = drat.pack(compact[:checked])
    except ValueError as error:
        raise CertificateError(f"expected a proof that can be kept, but {error}") from error
    return Certificate(
        cnf_sha256=cnf.digest(), proof=packed, solver=solver, checker=checker_version(),
        steps=check_steps(cnf, unpack(packed)) if checked < len(compact) else checked,
        seconds=time.monotonic() - start,
    )  # fmt: skip


def verify(cnf: Cnf, certificate: Certificate) -> int:
    """Check a kept certificate against clauses made anew, in this process; the number of steps.

    Errors: CertificateError for clauses other than the ones it was made for, a file that does not unpack,
    or a proof that the checker refuses.
    """
    if cnf.digest() != certificate.cnf_sha256:
        raise CertificateError(
            f"expected a certificate of the clauses {cnf.digest()[:12]}, "
            f"but got one of {certificate.cnf_sha256[:12]}: the question or its encoding has changed"
        )
    return check_steps(cnf, unpack(certificate.proof))
