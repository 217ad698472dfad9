"""The lemma cache: proved lemmas, kept with their certificates and used again for the same statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tcformal.callbacks import Warn
from tcformal.errors import RecordError
from tcformal.proofs.lemmas import Lemma
from tcformal.query.verdict import NOT_CHECKED
from tcformal.solve.members import registry
from tcformal.solve.result import Status
from tcformal.store.certificates import PROOF, CertificateFile
from tcformal.store.file import RecordFile
from tcformal.store.locks import shared_lock
from tcformal.store.schema import now, seal
from tcformal.version import VERSION

#: Checks that a certificate proves the statement in a DAG: `steps` and `checker`, or the reason in `refused`.
CertificateCheck = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


def checked_lemma(lemma: Lemma, *, name: str, free_inputs: int, steps: int, checker: str) -> Lemma:
    """A kept lemma with the result of the check made in this run."""
    assert lemma.certificate is not None, "a lemma without a certificate has nothing to check"
    made = replace(lemma.certificate, steps=steps, checker=checker)
    return replace(
        lemma, name=name, certificate=made, free_inputs=free_inputs,
        confirmed_by=(*lemma.confirmed_by, checker),
        reason=f"the proof of {made.solver} was checked by {checker}",
    )  # fmt: skip


class LemmaCache:
    """The lemmas of one results folder, for programs that continue where they were stopped.

    A kept lemma is used again only for the statement that it was proved of, identified by its SHA-256, and
    only after `check` has found that its certificate proves that statement.  Records that are not used are
    reported to `warn`.
    """

    def __init__(
        self, records: RecordFile, certificates: CertificateFile, warn: Warn, check: CertificateCheck
    ) -> None:
        self.folder = records.path.parent
        self.records = records
        self.certificates = certificates
        self._warn = warn
        self._check = check

    def find(self, sha256: str) -> Lemma | None:
        """The kept lemma of a statement, as recorded and unchecked; None where none is kept."""
        record = self.records.newest(sha256)
        if record is None:
            return None
        try:
            certificate = record["certificate"]
            made = None if certificate is None else self.certificates.find(certificate)
        except RecordError as error:
            self._warn(f"the lemma {sha256[:12]} is proved again: {error}")
            return None
        # Only a check made now counts as a confirmation by a checker.
        decider = registry.get(record["decided_by"])
        known = [name for name in record["confirmed_by"] if name in registry]
        solvers = tuple(name for name in known if decider is not None and registry[name].confirms(decider))
        return Lemma(
            name=record["name"], sha256=sha256, free_inputs=record["free_inputs"], status=Status.UNSAT,
            reason=NOT_CHECKED, decided_by=record["decided_by"], confirmed_by=solvers, certificate=made,
            seconds=record["seconds"],
        )  # fmt: skip

    def folded(self) -> frozenset[str]:
        """The digests of the kept lemmas that folding alone decides, as recorded and unchecked."""
        return frozenset(r["sha256"] for r in self.records.all() if r["decided_by"] == "folding")

    def file_of(self, sha256: str) -> str:
        """The file that holds the proof of a kept lemma; empty where there is none."""
        record = self.records.newest(sha256)
        return "" if record is None or record["certificate"] is None else str(record["certificate"]["file"])

    def checked(self, name: str, sha256: str, dag: str, free_inputs: int) -> Lemma | None:
        """The kept lemma of the statement in `dag`, its certificate checked; None where it must be proved.

        A lemma that only two solvers confirmed has nothing to check, and must be proved again.
        """
        lemma, record = self.find(sha256), self.records.newest(sha256)
        if lemma is None or record is None or lemma.certificate is None:
            return None
        found = self._check(dag, record["certificate"])
        if "steps" in found:
            return checked_lemma(
                lemma, name=name, free_inputs=free_inputs, steps=found["steps"], checker=found["checker"]
            )  # fmt: skip
        self._warn(
            f"the lemma {sha256[:12]} is proved again: {found.get('refused', 'checking took too long')}"
        )
        return None

    def add(self, lemma: Lemma) -> None:
        """Keep a lemma that holds, its certificate first; other lemmas are not kept."""
        if not lemma.holds:
            return
        plain = lemma.to_json()
        if lemma.certificate is not None:
            plain["certificate"] = {**plain["certificate"], "file": PROOF.file}
        record = seal({**plain, "date": now(), "tcformal": VERSION}, "lemma")
        with shared_lock(self.folder):
            if lemma.certificate is not None:
                self.certificates.keep(lemma.certificate)
            self.records.add(record)
