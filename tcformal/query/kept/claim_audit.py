"""Kept claims made again from kept lemmas alone, each certificate checked against clauses made anew."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import NoAnswerError, RecordError, TcformalError
from tcformal.interp.cnf import to_cnf
from tcformal.query.kept.audit import Standing
from tcformal.query.kept.lemmas import LemmaCache
from tcformal.query.proofs.claims import prove_claim
from tcformal.query.proofs.lemmas import Lemma, LemmaBook, Statement
from tcformal.query.proofs.same_parameters import definition
from tcformal.query.verdict import SETTLED, Kind
from tcformal.solve.certificate import verify
from tcformal.solve.result import Limits, Status

#: For the questions that look for a witness again.
AUDIT_LIMITS = Limits(60.0, 8192, 0)


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """One kept claim, checked again."""

    claim: str
    unit: str
    verdict: str
    standing: Standing
    #: One sentence.
    reason: str


class OutOfTimeError(NoAnswerError):
    """The time for checking is over."""


class CheckedBook(LemmaBook):
    """Lemmas of one folder, each used only after its certificate was checked against its statement.

    No solver is asked: a statement without a checked certificate does not hold here.  A lemma that two
    solvers agreed on and that has no certificate is used, and counted in `unchecked`.
    """

    def __init__(self, cache: LemmaCache) -> None:
        super().__init__(limits=AUDIT_LIMITS)
        self._cache = cache
        #: By time.monotonic; no lemma is looked at after it.
        self.deadline = math.inf
        self._found: dict[str, Lemma] = {}
        #: Digests of the lemmas used without a certificate.
        self.unchecked: set[str] = set()
        #: Digests of the lemmas whose certificates were checked.
        self.checked: set[str] = set()

    def decide(self, name: str, what: Statement) -> Lemma:
        """The kept answer to a statement, checked once; UNKNOWN for one that is not kept.

        Errors: CertificateError for a certificate that does not prove the statement; OutOfTimeError after the
        deadline.
        """
        if time.monotonic() > self.deadline:
            raise OutOfTimeError("expected the lemmas of a claim to be checked in time, but they were not")
        sha256 = what.sha256
        if sha256 not in self._found:
            kept = self._cache.find(sha256)
            if kept is None:
                return Lemma(
                    name=name, sha256=sha256, free_inputs=what.free_inputs, status=Status.UNKNOWN,
                    reason="no such lemma is kept", decided_by="", confirmed_by=(), certificate=None,
                    seconds=0.0,
                )  # fmt: skip
            if kept.certificate is None:
                self.unchecked.add(sha256)
            else:
                verify(to_cnf(what.graph, what.assertion), kept.certificate)
                self.checked.add(sha256)
            self._found[sha256] = kept
        return self._found[sha256]


def audit_claim(record: Mapping[str, Any], book: CheckedBook) -> ClaimFinding:
    """Check one kept claim again: definition, composition, lemmas, witnesses.

    The claim is proved again by the program of today on the lemmas of `book`; a witness is looked for
    again, and replayed.  Nothing of the record is believed.
    """
    try:
        standing, reason = _checked(record, book)
    except TcformalError as error:
        standing, reason = Standing.FAILED, str(error)
    return ClaimFinding(record["claim"], record["unit"], record["verdict"], standing, reason)


def _checked(record: Mapping[str, Any], book: CheckedBook) -> tuple[Standing, str]:
    kind = Kind[record["verdict"]]
    if kind not in SETTLED:
        return Standing.OPEN, f"{kind.name} claims nothing"
    spec = resolve(record["unit"])
    found = definition(spec, spec.k)
    if found != record["definition"]:
        raise RecordError(
            f"expected {spec.name} of definition {record['definition'][:12]}, but it is {found[:12]} today"
        )
    limits = replace(AUDIT_LIMITS, seed=record["limits"]["seed"])
    again = prove_claim(spec, record["claim"], book=book, limits=limits)
    if again.kind is not kind:
        raise RecordError(f"expected {kind.name} again, but got {again.kind.name}: {again.reason}")
    missing = set(record["lemmas"]) ^ {lemma.sha256 for lemma in again.lemmas}
    if kind is Kind.HOLDS and missing:
        raise RecordError(f"expected the lemmas of the record, but {len(missing)} differ")
    used = {lemma.sha256 for lemma in again.lemmas}
    bare = len(used & book.unchecked)
    if bare:
        return Standing.UNCHECKED, f"{bare} of {len(used)} lemmas are confirmed by a second solver only"
    return Standing.HOLDS, f"proved again on {len(used)} lemmas, every certificate checked"
