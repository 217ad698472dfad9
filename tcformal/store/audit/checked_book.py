"""Kept lemmas for a proof: every certificate is checked against clauses made anew."""

from __future__ import annotations

import math
import time

from tcformal.errors import NoAnswerError
from tcformal.interp.cnf import to_cnf
from tcformal.proofs.lemmas import Lemma, LemmaBook, Statement
from tcformal.solve.certificate import checker_version, verify
from tcformal.solve.result import Limits, Status
from tcformal.store.lemmas import LemmaCache, checked_lemma

#: Limits of the questions that search for a witness again.
AUDIT_LIMITS = Limits(60.0, 8192, 0)


class RecheckTimeError(NoAnswerError):
    """The time limit for checking is over."""


class CheckedBook(LemmaBook):
    """The lemmas of one folder, each used only after its certificate was checked against its statement.

    No solver is asked: a statement without a checked certificate is UNKNOWN.  A lemma that two solvers
    confirmed and that has no certificate is used, and counted in `unchecked`.
    """

    def __init__(self, cache: LemmaCache) -> None:
        super().__init__(limits=AUDIT_LIMITS)
        self._cache = cache
        #: Deadline of all checks, by time.monotonic.
        self.deadline = math.inf
        self._found: dict[str, Lemma] = {}
        #: Digests of the lemmas used without a certificate.
        self.unchecked: set[str] = set()
        #: Digests of the lemmas whose certificates were checked.
        self.checked: set[str] = set()

    def decide(self, name: str, what: Statement) -> Lemma:
        """The kept lemma of a statement, checked once; UNKNOWN where none is kept.

        Errors: CertificateError for a certificate that does not prove the statement; RecheckTimeError
        after the deadline.
        """
        if time.monotonic() > self.deadline:
            raise RecheckTimeError("expected the lemmas of a claim to be checked in time, but they were not")
        sha256 = what.sha256
        if sha256 not in self._found:
            kept = self._cache.find(sha256)
            if kept is None:
                return Lemma(
                    name=name, sha256=sha256, free_inputs=what.free_inputs, status=Status.UNKNOWN,
                    reason="no such lemma is kept", decided_by="", confirmed_by=(), certificate=None,
                    seconds=0.0,
                )  # fmt: skip
            self._found[sha256] = self._checked(name, kept, what)
        return self._found[sha256]

    def _checked(self, name: str, kept: Lemma, what: Statement) -> Lemma:
        """The kept lemma, after a check of its certificate if it has one."""
        if kept.certificate is None:
            self.unchecked.add(kept.sha256)
            return kept
        steps = verify(to_cnf(what.graph, what.assertion), kept.certificate)
        self.checked.add(kept.sha256)
        return checked_lemma(
            kept, name=name, free_inputs=what.free_inputs, steps=steps, checker=checker_version()
        )  # fmt: skip
