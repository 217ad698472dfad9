"""The certificate checker: every proof step must follow from its hints by unit propagation.

These lines have to be right.  They search for nothing, and import nothing but the class of their errors.
Source: CRUZ-FILIPE (LRAT, without the steps that only preserve satisfiability).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tcformal.errors import CertificateError


class LratStep(NamedTuple):
    """A proof step: a clause added with hints, or numbers of deleted clauses."""

    #: The number of the clause; of a deletion, that of the last clause before it.
    ident: int
    #: Literals ±1, ±2, …, as in the DIMACS format.
    clause: tuple[int, ...] = ()
    #: Numbers of clauses.  With all literals of `clause` false, each but the last has one open literal and no
    #: true one, and makes it true; the last has only false ones.
    hints: tuple[int, ...] = ()
    #: Of a deletion: numbers of clauses that are not used any more.
    deleted: tuple[int, ...] = ()


def check(variables: int, clauses: Sequence[Sequence[int]], steps: Iterable[LratStep]) -> int:
    """Check that steps derive the empty clause, and return the number of added clauses.

    Shapes: `clauses` are rows of literals ±1…±`variables`, numbered from 1.
    Errors: CertificateError with the first step that is refused, or if the empty clause is never added.
    """
    known = {number: tuple(clause) for number, clause in enumerate(clauses, 1)}
    newest, added = len(known), 0
    for ident, clause, hints, deleted in steps:
        if deleted:
            for number in deleted:
                if known.pop(number, None) is None:
                    raise _refused(ident, f"clauses to delete, but there is no clause {number}")
            continue
        if ident <= newest:
            raise _refused(ident, f"a number above {newest}")
        if not all(0 < abs(x) <= variables for x in clause):
            raise _refused(ident, f"literals of {variables} variables, but got {clause}")
        newest, added, false = ident, added + 1, set(clause)
        for hint in hints:
            if hint not in known:
                raise _refused(ident, f"hints that are clauses, but there is no clause {hint}")
            unit = 0
            for x in known[hint]:
                if x not in false and x != unit:
                    if unit or -x in false:
                        raise _refused(ident, f"hints that are unit, but clause {hint} is not")
                    unit = x
            if unit == 0:
                break
            false.add(-unit)
        else:
            raise _refused(ident, "hints that end in a contradiction, but these do not")
        if not clause:
            return added
        known[ident] = clause
    raise CertificateError("expected a proof of the empty clause, but it never gets there")


def _refused(ident: int, what: str) -> CertificateError:
    return CertificateError(f"expected a proof of every step, but step {ident} was refused: expected {what}")
