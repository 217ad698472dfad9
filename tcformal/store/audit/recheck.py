"""A process that checks kept evidence again, one JSON request a line: certificates, and whole claims.

A request holds `folder`, `seconds` of the processor, and one of two things: `dag` (the text of a DAG whose
root is named `assertion`) and `certificate` (what a record says of it); or `claim`, `unit` and `tree` (a kept
proof for the kernel, or nothing).  With `trim`, proofs of earlier versions are kept again, trimmed.  The
answer holds `steps` and `checker`, and with `trim` `certificate`; or `claim` (the record of the claim proved
again), `lemmas` (what was found of each that was checked) and `bare` (the number of those without a
certificate); or `refused` with the reason, or `late`.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tcformal.design.names import resolve
from tcformal.errors import TcformalError
from tcformal.interp.cnf import to_cnf
from tcformal.interpreter import collect_rarely
from tcformal.ir.walk import from_json
from tcformal.proofs.claims.register import prove_claim
from tcformal.proofs.lemmas import Lemma, LemmaBook, Statement
from tcformal.solve.certificate import CHECKER, trimmed, verify
from tcformal.solve.processes.spawning import init_child
from tcformal.solve.result import Limits, Status
from tcformal.solve.worker import limit_resource
from tcformal.store.certificates import PROOF, CertificateFile, certificate_record
from tcformal.store.claims import claim_record, short_name
from tcformal.store.lemmas import LemmaCache, checked_lemma
from tcformal.store.locks import shared_lock
from tcformal.store.store import Store

#: For the questions that look for a witness again.
WITNESS_LIMITS = Limits(60.0, 8192, 0)
#: Address space of this process, in bytes.
_MEMORY = 6 << 30


class DeadlineError(BaseException):
    """The time for a request is up; no `except Exception` holds it up."""


#: Seconds after which the alarm rings again: the first is lost where Python is in a finalizer just then.
_AGAIN_S = 1.0


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """DeadlineError in here once the processor has worked so long, at whatever line Python is then."""
    armed = True

    def ring(*_: object) -> None:
        if armed:
            raise DeadlineError

    if seconds <= 0:
        raise DeadlineError  # a timer may ring only after what is done here
    signal.signal(signal.SIGPROF, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-6), _AGAIN_S)
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)


class CheckedBook(LemmaBook):
    """Lemmas of one folder, each used only after its certificate was checked against its statement.

    No solver is asked, but for a lemma without a kept proof that is to be proved anew: a statement
    without a checked certificate does not hold here.  A lemma that two solvers agreed on and that has no
    certificate is otherwise used, and counted in `unchecked`.
    """

    def __init__(self, cache: LemmaCache) -> None:
        super().__init__(limits=WITNESS_LIMITS)
        #: Where the lemmas are looked up.
        self.cache = cache
        #: Whether lemmas with a proof of an earlier version are kept again with a trimmed one.
        self.trim = False
        #: Digests, or short names, of the lemmas that are proved anew where no proof is kept.
        self.anew: frozenset[str] = frozenset()
        #: Whether those are kept.
        self.keep = False
        #: Digests of the lemmas used without a certificate.
        self.unchecked: set[str] = set()
        #: Digests of the lemmas whose certificates were checked.
        self.checked: set[str] = set()

    def decide(self, name: str, what: Statement, *, conflicts: int | None = None) -> Lemma:
        """The kept answer to a statement, checked once; UNKNOWN for one that is not kept.

        Errors: CertificateError for a certificate that does not prove the statement.
        """
        sha256 = what.sha256
        if sha256 not in self._known:
            kept = self.cache.find(sha256)
            if kept is None:
                kept = Lemma(
                    name=name, sha256=sha256, free_inputs=what.free_inputs, status=Status.UNKNOWN,
                    reason="no such lemma is kept", decided_by="", confirmed_by=(), certificate=None,
                    seconds=0.0,
                )  # fmt: skip
                if self.anew.isdisjoint((sha256, short_name(sha256))):
                    return kept
            self._known[sha256] = self._checked(name, kept, what, conflicts)
        return self._known[sha256]

    def _checked(self, name: str, kept: Lemma, what: Statement, conflicts: int | None) -> Lemma:
        """The kept lemma, after a check of its certificate if it has one."""
        if kept.certificate is None:
            if self.anew:
                made = super().decide(name, what, conflicts=conflicts)
                if self.keep:
                    self.cache.add(made)
                (self.unchecked if made.certificate is None else self.checked).add(kept.sha256)
                return made
            self.unchecked.add(kept.sha256)
            return kept
        cnf, proof = to_cnf(what.graph, what.assertion), kept.certificate
        old = self.trim and self.cache.file_of(kept.sha256) != PROOF.file
        if old:
            proof = trimmed(cnf, proof)
        steps = proof.steps if old else verify(cnf, proof)
        self.checked.add(kept.sha256)
        found = checked_lemma(
            replace(kept, certificate=proof), name=name, free_inputs=what.free_inputs, steps=steps,
            checker=CHECKER,
        )  # fmt: skip
        if old:
            self.cache.add(found)
        return found


class CheckBench:
    """The books of checked lemmas, one for each results folder, kept from one request to the next."""

    def __init__(self) -> None:
        #: By folder, and whether lemmas without a kept proof may have been proved anew.
        self._books: dict[tuple[str, bool], CheckedBook] = {}
        self._certificates: dict[str, CertificateFile] = {}
        self._cut_off = False

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; what is refused, or late, is an answer too."""
        self.tidy()
        try:
            with deadline(request["seconds"]):
                return self._claim(request) if "claim" in request else self._proof(request)
        except DeadlineError:
            self._cut_off = True
            return {"late": True}
        except TcformalError as error:
            return {"refused": str(error)}

    def tidy(self) -> None:
        """After a late request, keep the checked lemmas alone: what else is cached may be half-made."""
        if not self._cut_off:
            return
        self._cut_off = False
        for cached in [x for x in gc.get_objects() if isinstance(x, functools._lru_cache_wrapper)]:
            cached.cache_clear()
        self._certificates.clear()
        for (folder, _), book in self._books.items():
            book.cache = Store(Path(folder)).lemmas

    def _claim(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folder, anew = request["folder"], frozenset(request.get("anew", ()))
        book = self._books.setdefault((folder, bool(anew)), CheckedBook(Store(Path(folder)).lemmas))
        spec, book.trim, book.anew = resolve(request["unit"]), bool(request.get("trim")), anew
        book.keep = bool(request.get("keep"))
        v = prove_claim(
            spec, request["claim"], book=book, limits=WITNESS_LIMITS, tree=request.get("tree", "")
        )
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

    def _proof(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Check one certificate against the clauses of a DAG, made here."""
        graph, roots = from_json(request["dag"])
        folder = Path(request["folder"])
        kept = self._certificates.setdefault(request["folder"], CertificateFile(folder))
        made, cnf = kept.find(request["certificate"]), to_cnf(graph, roots["assertion"])
        if not request.get("trim"):
            return {"steps": verify(cnf, made), "checker": CHECKER}
        made = trimmed(cnf, made)
        with shared_lock(folder):
            kept.keep(made)
        return {"steps": made.steps, "checker": CHECKER, "certificate": certificate_record(made)}


def main() -> None:
    """Answer requests until standard input ends; what a checker itself prints goes to stderr."""
    init_child(int(sys.argv[1]))
    limit_resource(resource.RLIMIT_AS, _MEMORY)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    collect_rarely()
    bench = CheckBench()
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.answer(json.loads(line))), file=out, flush=True)
        bench.tidy()


if __name__ == "__main__":
    main()
