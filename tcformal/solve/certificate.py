"""Certificates: proofs that clauses are unsatisfiable, checked by a program that is not a solver.

A solver's proof is trimmed to the steps that its refutation needs, and stored without hints.  Hints are
searched for on demand; `solve.lrat` then checks every step against clauses that are generated anew from
the question, never taken from a solver.  No search for hints and no trimming has to be trusted.
Source: GOLDBERG-NOVIKOV (marking from the end what a refutation needs).
"""

from __future__ import annotations

import functools
import hashlib
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tcformal.backends import machine
from tcformal.backends.cnf import Cnf
from tcformal.errors import CertificateError
from tcformal.solve import drat
from tcformal.solve import propagation as p
from tcformal.solve.drat import DratStep
from tcformal.solve.lrat import LratStep, check
from tcformal.version import VERSION

#: Literals of clauses and steps, of all searches of a process, from which on machine code saves more than it
#: takes to load.
_COMPILED_FROM = 50_000

Literals = tuple[int, ...]


def hinted(cnf: Cnf, steps: Sequence[DratStep], *, trimmed: bool) -> list[LratStep]:
    """The proof steps up to the refutation, with hints; each clause is deleted after its last use.

    Shapes: literals of `steps` are 2v − 2 for variable v, 2v − 1 for its complement.
    `trimmed` leaves out the steps without which the refutation still holds.
    Errors: CertificateError for a step that does not follow by unit propagation, for a literal of a variable
    that `cnf` has not, and for steps without a refutation.
    """
    rows = [tuple([2 * x - 2 if x > 0 else -2 * x - 1 for x in clause]) for clause in cnf.clauses]
    given = len(rows)
    operations = [*range(given), *_numbered(rows, steps)]
    highest = max((max(row) for row in rows[given:] if row), default=-1)
    if highest >= 2 * cnf.variables:
        raise CertificateError(
            f"expected a proof in {cnf.variables} variables, but got a literal of variable {highest // 2 + 1}"
        )
    search = _Search(rows, operations, given, cnf.variables)
    search.run()
    return _steps(search, rows, given, trimmed)


def _numbered(rows: list[Literals], steps: Sequence[DratStep]) -> list[int]:
    """Steps as integer operations: adding clause c is c, deleting it −1 − c; added clauses go to `rows`.

    A clause to delete is found by its literals in any order; where there is none, nothing is deleted.
    """
    if all(kind == "a" for kind, _ in steps):
        rows += [lits for _, lits in steps]
        return list(range(len(rows) - len(steps), len(rows)))
    operations: list[int] = []
    places: dict[Literals, list[int]] = {}
    for i, row in enumerate(rows):
        places.setdefault(tuple(sorted(row)), []).append(i)
    for kind, lits in steps:
        numbers = places.setdefault(tuple(sorted(lits)), [])
        if kind == "a":
            numbers.append(len(rows))
            operations.append(len(rows))
            rows.append(lits)
        elif numbers:
            operations.append(-1 - numbers.pop())
    return operations


@functools.cache
def machine_code() -> Any:
    """The compiled propagation search."""
    from tcformal.solve.native import compiled

    return compiled(p, "refute")


class _Search:
    """The state of a refutation search: its arrays, and the hints found."""

    #: Literals of all searches so far.
    seen: ClassVar[int] = 0

    def __init__(
        self, rows: Sequence[Literals], operations: Sequence[int], given: int, variables: int
    ) -> None:
        flat = [x for row in rows for x in row]
        start = [0]
        for row in rows:
            start.append(start[-1] + len(row))
        _Search.seen += len(flat)
        self.compiled = _Search.seen >= _COMPILED_FROM and machine.available()
        room = 4 * variables + 8 + 8 * len(operations)
        state = [0] * p.STATES
        state[p.GIVEN], state[p.COUNT], state[p.ROOM], state[p.VARIABLES] = (
            given, len(operations), room, variables
        )  # fmt: skip
        n = len(rows)
        self._arrays = [
            self._array(values)
            for values in (
                flat, start, operations, [0] * n, [-1] * (2 * variables), [-1] * (2 * n),
                [0] * (2 * variables), [-1] * variables, *[[0] * variables] * 3, *[[0] * (variables + 2)] * 2,
            )
        ]  # fmt: skip
        self.hints, self.begin = self._array([0] * room), self._array([0] * (n + 1))
        self.state = self._array(state)

    def _array(self, values: Sequence[int]) -> list[int] | array[int]:
        """An array of integers for machine code, or a list for Python."""
        return array("i", values) if self.compiled else list(values)

    def run(self) -> None:
        """Run the search; CertificateError where it finds no refutation."""
        ending = p.FULL
        while ending == p.FULL:
            arrays = [*self._arrays, self.hints, self.begin, self.state]
            if self.compiled:
                machine_code().refute(*[values.buffer_info()[0] for values in arrays])  # type: ignore[union-attr]
            else:
                p.refute(*arrays)
            ending = self.state[p.ENDING]
            if ending == p.FULL:
                self.hints.extend(self.hints)
                self.state[p.ROOM] = len(self.hints)
        if ending == p.UNPROVED:
            step = self.state[p.LAST] - self.state[p.GIVEN] + 1
            raise CertificateError(
                f"expected a proof of every step, but added clause {step} does not follow by unit propagation"
            )
        if ending == p.OPEN:
            raise CertificateError("expected a proof of the empty clause, but it never gets there")

    def hints_of(self, clause: int) -> list[int]:
        """The hints of an added clause."""
        return list(self.hints[self.begin[clause] : self.begin[clause + 1]])


def _steps(search: _Search, rows: Sequence[Literals], given: int, trimmed: bool) -> list[LratStep]:
    """The added clauses with hints and the empty clause, renumbered; only needed ones if `trimmed`."""
    last = search.state[p.LAST]
    final = list(search.hints[search.begin[last + 1] : search.state[p.USED]])
    needed = bytearray(given) + bytes([not trimmed]) * (last + 1 - given)
    for hint in final:
        needed[hint] = 1
    for clause in range(last, given - 1, -1):
        if needed[clause]:
            for hint in search.hints_of(clause):
                needed[hint] = 1
    added = [clause for clause in range(given, last + 1) if needed[clause]]
    number = [*range(1, given + 1), *[0] * (last + 1 - given)]
    for ident, clause in enumerate(added, given + 1):
        number[clause] = ident
    hints = [tuple([number[hint] for hint in search.hints_of(clause)]) for clause in added]
    hints.append(tuple([number[hint] for hint in final]))
    last_use = {hint: ident for ident, row in enumerate(hints, given + 1) for hint in row}
    ended: dict[int, list[int]] = {given: [c + 1 for c in range(given) if not needed[c]]}
    for hint, ident in last_use.items():
        ended.setdefault(ident, []).append(hint)
    found = [LratStep(given, deleted=tuple(ended[given]))] if ended[given] else []
    for ident, (clause, row) in enumerate(zip(added, hints, strict=False), given + 1):
        found.append(
            LratStep(ident, tuple([-(x + 1) // 2 if x & 1 else x // 2 + 1 for x in rows[clause]]), row)
        )
        if ident in ended:
            found.append(LratStep(ident, deleted=tuple(sorted(ended[ident]))))
    return [*found, LratStep(given + len(hints), (), hints[-1])]


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

    def to_json(self) -> dict[str, str | float]:
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
        needed = hinted(cnf, drat.parse(proof), trimmed=True)
        checked = check(cnf.variables, cnf.clauses, needed) - 1
        packed = drat.pack(drat.drup(needed))
    except ValueError as error:
        raise CertificateError(f"expected a proof that can be read and kept, but {error}") from error
    return Certificate(
        cnf_sha256=cnf.digest(), proof=packed, solver=solver, checker=CHECKER, steps=checked,
        seconds=time.monotonic() - start,
    )  # fmt: skip


def checked_steps(cnf: Cnf, proof: str) -> int:
    """Check a proof text without keeping it, and return its length; CertificateError if it is invalid."""
    try:
        return check(cnf.variables, cnf.clauses, hinted(cnf, drat.parse(proof), trimmed=True)) - 1
    except ValueError as error:
        raise CertificateError(f"expected a proof that can be read, but {error}") from error


def lrat(cnf: Cnf, certificate: Certificate) -> list[LratStep]:
    """The steps of a stored certificate with LRAT hints, unchecked, for clauses generated anew.

    Errors: CertificateError for clauses other than the ones it was made for, a file that does not unpack,
    or a step that does not follow by unit propagation.
    """
    if cnf.digest() != certificate.cnf_sha256:
        raise CertificateError(
            f"expected a certificate of the clauses {cnf.digest()[:12]}, "
            f"but got one of {certificate.cnf_sha256[:12]}: the question or its encoding has changed"
        )
    return hinted(cnf, unpack(certificate.proof), trimmed=False)


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
