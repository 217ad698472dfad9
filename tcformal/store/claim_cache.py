"""The claims of a results folder, each proved again from its kept lemmas before it is served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcformal.callbacks import Warn
from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError
from tcformal.programs.chain import definition
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.lemmas import Lemma
from tcformal.query.question import Kind
from tcformal.query.verdict import DECIDED, kept_as
from tcformal.store.answers import read_limits
from tcformal.store.certificates import TreeFile
from tcformal.store.claims import (
    claim_content,
    claim_record,
    kept_tree,
    lemmas_used,
    read_claim,
    with_trees,
)
from tcformal.store.file import RecordFile
from tcformal.store.lemmas import LemmaCache, checked_lemma
from tcformal.store.locks import shared_lock
from tcformal.store.rechecker import Rechecker
from tcformal.store.schema import seal


class ClaimCache:
    """Kept claims and their lemmas; claims that cannot be served are reported to `warn`."""

    def __init__(
        self, records: RecordFile, trees: TreeFile, lemmas: LemmaCache, rechecker: Rechecker, warn: Warn
    ) -> None:
        self._records = records
        self._trees = trees
        self._lemmas = lemmas
        self._rechecker = rechecker
        self._warn = warn

    def find(self, claim: str, spec: UnitSpec, *, seconds: float | None = None) -> ClaimVerdict | None:
        """The kept claim about this definition, proved again from its lemmas; None where it has to be asked.

        Given `seconds`, lemmas without a kept proof are proved anew, and kept.
        The verdict served is that of the new proof.  It is UNKNOWN, and not `checked`, where the proof takes
        more than `seconds`, and where a lemma has no certificate.
        """
        record = self._records.newest(claim, spec.name)
        if record is None or Kind[record["verdict"]] not in DECIDED:
            return None
        if record["definition"] != definition(spec):
            return None
        try:
            tree = kept_tree(record, self._trees)
            # Who has time for the whole proof has some for lemmas whose proofs were not kept.
            anew = () if seconds is None else lemmas_used(record)
            found = self._rechecker.claim(
                self._lemmas.folder, claim, spec.name, seconds, tree=tree, anew=anew, keep=True
            )
        except RecordError as error:
            found = {"refused": str(error)}
        if "refused" in found:
            self._warn(f"the claim {claim} of {spec.name} is asked again: {found['refused']}")
            return None
        again = found.get("claim")
        if again is None or found["bare"]:
            return self._unchecked(record, spec)
        if Kind[again["verdict"]] not in DECIDED:
            return None
        if again["verdict"] != record["verdict"]:
            was, gives = record["verdict"], again["verdict"]
            self._warn(f"the claim {claim} of {spec.name} was kept as {was}, but its lemmas give {gives}")
        try:
            lemmas = self._lemmas_of(again, found.get("lemmas", {}))
            return read_claim(again, spec, lemmas, served=record["date"], checked=True)
        except RecordError as error:
            self._warn(f"the claim {claim} of {spec.name} is asked again: {error}")
            return None

    def _unchecked(self, record: Mapping[str, Any], spec: UnitSpec) -> ClaimVerdict | None:
        """The claim of a record whose proof was not checked: UNKNOWN, and nothing that the record says."""
        try:
            limits = read_limits(record)
        except RecordError as error:
            self._warn(f"the claim {record['claim']} of {spec.name} is asked again: {error}")
            return None
        return ClaimVerdict(
            claim=record["claim"], unit=spec, kind=Kind.UNKNOWN,
            reason=kept_as(record["verdict"], record["date"]), composition="", parts=(), lemmas=(),
            limits=limits, seconds=record["seconds"], version=record["tcformal"],
            commit=record.get("commit", ""), machine=record.get("machine", ""), served=record["date"],
            checked=False,
        )  # fmt: skip

    def unchecked(self, claim: str, spec: UnitSpec) -> ClaimVerdict | None:
        """The newest record of a claim about this definition, decided or not; nothing is checked.

        Its lemmas are left out.
        """
        record = self._records.newest(claim, spec.name)
        if record is None or record["definition"] != definition(spec):
            return None
        try:
            return read_claim(record, spec, (), served=record["date"], checked=False)
        except RecordError:
            return None

    def _lemmas_of(self, record: Mapping[str, Any], checked: Mapping[str, Any]) -> tuple[Lemma, ...]:
        """The lemmas that a claim's record uses, with the results of the checks made now."""
        lemmas = []
        for sha256 in lemmas_used(record):
            lemma = self._lemmas.find(sha256)
            if lemma is None:
                raise RecordError(f"expected the lemma {sha256[:12]} to be kept, but it is not")
            if sha256 in checked:
                lemma = checked_lemma(lemma, **checked[sha256])
            lemmas.append(lemma)
        return tuple(lemmas)

    def add(self, v: ClaimVerdict) -> None:
        """Keep a claim with the digests of its lemmas, unless the newest record is equal."""
        with shared_lock(self._lemmas.folder):  # a proof that no claim names yet stays
            record = with_trees(claim_record(v), self._trees.keep)
            last = self._records.newest(v.claim, v.unit.name)
            if last is None or claim_content(last) != claim_content(record):
                self._records.add(seal(record, "claim"))
