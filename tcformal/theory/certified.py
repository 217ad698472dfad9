"""Certified refinements: a unit's claims with the refutations of their negations, kept by the clauses
they refute.
"""

from __future__ import annotations

import base64
import json
import lzma
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tcformal.design.unit import UnitSpec
from tcformal.errors import CertificateError, InputError
from tcformal.interp.cnf import Cnf, to_cnf
from tcformal.solve.certificate import CHECKER, Certificate, verify
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.refinement.printing import name
from tcformal.theory.refinement.questions import decide, question


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """A unit's claims, all certified.

    Ranges and units: `claims` counts those of the file for Coq, `certificates` has the different ones, by the
    SHA-256 of their clauses; `seconds` were spent on those that were not known before.
    """

    unit: str
    claims: int
    certificates: Mapping[str, Certificate]
    seconds: float

    @property
    def size(self) -> int:
        """Bytes of all proofs."""
        return sum(len(x.proof) for x in self.certificates.values())


def refinement(spec: UnitSpec, known: Mapping[str, Certificate] | None = None) -> Refinement:
    """Decide every claim about a unit's circuit; claims in `known` are checked again instead.

    Errors: InputError for a unit that has no plan, and for a claim that is false; CertificateError for a
    known
    certificate that does not refute its claim's negation.
    """
    start = time.process_time()
    plan, made, count = Plan(spec), {}, 0
    for text, cnf in _questions(plan):
        count += 1
        key = cnf.digest()
        if key in made:
            continue
        if known is not None and key in known:
            verify(cnf, known[key])
            made[key] = known[key]
            continue
        certificate = decide(cnf)
        if certificate is None:
            raise InputError(f"expected every claim about {spec.name} to hold, but {text()[:200]} does not")
        made[key] = certificate
    return Refinement(unit=spec.name, claims=count, certificates=made, seconds=time.process_time() - start)


def check(spec: UnitSpec, kept: Mapping[str, Certificate]) -> int:
    """Check every claim about a unit's circuit along its kept certificate; the number of steps.

    Errors: CertificateError for a claim without one, or one that does not refute its negation.
    """
    steps, seen = 0, set()
    for text, cnf in _questions(Plan(spec)):
        key = cnf.digest()
        if key in seen:
            continue
        seen.add(key)
        certificate = kept.get(key)
        if certificate is None:
            raise CertificateError(f"expected a certificate of {text()[:200]}, but {spec.name} has none kept")
        steps += verify(cnf, certificate)
    return steps


def _questions(plan: Plan) -> Iterator[tuple[Callable[[], str], Cnf]]:
    """Each claim as Coq reads it, made when it is asked for, and the clauses of its negation."""
    for claim in plan.claims():
        yield partial(claim.coq, name), to_cnf(*question(claim))


def save(path: Path, kept: Mapping[str, Certificate]) -> None:
    """Write certificates to one packed file."""
    rows = {
        key: {"proof": base64.b64encode(x.proof).decode(), "solver": x.solver, "steps": x.steps}
        for key, x in sorted(kept.items())
    }
    path.write_bytes(lzma.compress(json.dumps(rows, separators=(",", ":")).encode()))


def load(path: Path) -> dict[str, Certificate]:
    """The certificates of a file that `save` wrote, unchecked; CertificateError for another file."""
    try:
        rows = json.loads(lzma.decompress(path.read_bytes()))
        return {
            key: Certificate(
                cnf_sha256=key, proof=base64.b64decode(x["proof"], validate=True), solver=x["solver"],
                checker=CHECKER, steps=x["steps"], seconds=0.0,
            )
            for key, x in rows.items()
        }  # fmt: skip
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CertificateError(
            f"expected a file of certificates, but {path.name} is none: {error}"
        ) from error
