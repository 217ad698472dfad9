"""Kept identifications checked again, without the device: every claim of a record against its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcformal.callbacks import Warn
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.devices.sealed import read_whole, word
from tcformal.errors import RecordError, TcformalError
from tcformal.identification.asking.rates import Rate
from tcformal.identification.record.derived import Derived
from tcformal.identification.record.identification import (
    IDENTIFICATION,
    IdentifyVerdict,
    Settled,
    history_of,
    operands_of,
    subject_of,
)
from tcformal.identification.same import Sameness
from tcformal.programs.chain import same_definition
from tcformal.query.assume import Assumptions
from tcformal.query.pair import question
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Raw, batch_of
from tcformal.simulation.operands.witness import from_data
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.file import RecordFile
from tcformal.store.schema import check
from tcformal.store.store import Store
from tcformal.theory.equality import BY_THEOREM

#: Verdicts whose classes give every answer.
_FITTING = (IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING)


@dataclass(frozen=True, slots=True)
class IdentificationFinding:
    """The check of one identification."""

    device: str
    verdict: str
    status: AuditStatus
    #: One sentence.
    reason: str


def verify_identifications(store: Store, warn: Warn) -> list[IdentificationFinding]:
    """Check the newest identification of every device, formats and K in a results folder."""
    kept = RecordFile(store.folder, IDENTIFICATION, warn)
    records = [kept.line(start).data for start in kept.last_starts()]
    return [verify_identification(record, store) for record in records if record is not None]


def verify_identification(record: Mapping[str, Any], store: Store) -> IdentificationFinding:
    """Check one identification: schema and digests, then each statement by replay on the models.

    What is said to be the same on all inputs holds where the definitions are the same, or the store has a
    checked answer; otherwise the record cannot be checked whole.
    """
    device = str(record.get("device", {}).get("device", "?"))
    verdict = str(record.get("verdict", "?"))
    try:
        check(record, IDENTIFICATION.name)
        with read_whole(f"the identification of {device}"):
            status, reason = _Checks(record, store).run()
    except TcformalError as error:
        status, reason = AuditStatus.FAILED, str(error)
    return IdentificationFinding(device, verdict, status, reason)


class _Checks:
    """The statements of one record, each with its check; RecordError for one that does not hold."""

    def __init__(self, record: Mapping[str, Any], store: Store) -> None:
        self.record, self.store = record, store
        self.operands = operands_of(record)
        self.batch, self.answers = history_of(record)
        self.verdict = IdentifyVerdict(record["verdict"])
        self._given: dict[str, Raw] = {}

    def run(self) -> tuple[AuditStatus, str]:
        if self.record["subject"] != subject_of(self.record):
            raise RecordError("expected the digest of device, formats and K as the subject, but got another")
        self._check_counts()
        self._check_classes()
        refuted, open_ = self._check_axes()
        self._check_nearest()
        self._check_validated()
        derived = Derived(self.record, self.operands, self.batch, self.answers)
        derived.check_verdict()
        derived.check_untested()
        unclear = derived.check_measured()
        if self.verdict in _FITTING:
            open_ += derived.check_others(self._same)
        done = (
            f"{len(self.answers)} answers replayed on {len(self._given)} designs, {refuted} refutations hold"
        )
        if unclear:
            return AuditStatus.UNCHECKED, f"{done}, but {unclear}"
        if open_:
            return AuditStatus.UNCHECKED, f"{done}, but nothing here proves {', '.join(open_[:3])} the same"
        return AuditStatus.HOLDS, done

    def given(self, name: str) -> Raw:
        """What a design gives for every input of the history; RecordError for one of other formats."""
        if name not in self._given:
            self._given[name] = replay(self._design(name), self.batch)
        return self._given[name]

    def _design(self, name: str) -> UnitSpec:
        design = resolve(name)
        if not same_formats(design, self.operands):
            raise RecordError(f"expected designs of the formats of the device, but {name} has others")
        return design

    def agreed(self, name: str) -> int:
        """The number of answers that a design gives."""
        return int((self.given(name) == self.answers).sum())

    def _check_counts(self) -> None:
        r, n = self.record, len(self.answers)
        inputs = np.concatenate([x.reshape(n, -1) for x in self.batch.named().values()], axis=1)
        if len(np.unique(inputs, axis=0)) != n:
            raise RecordError("expected every input of the history once, but some stand there twice")
        if self.verdict in _FITTING and not r["growth"]:
            raise RecordError("expected the number of survivors after each batch, but got none")
        same = sum(x["settled"] != Settled.REFUTED.name.lower() and x["axis"] != "design" for x in r["axes"])
        if self.verdict in _FITTING and not max(1, same) <= r["survivors"] <= r["space"]:
            raise RecordError(
                f"expected {max(1, same)} to {r['space']} survivors, but {r['survivors']} stand there"
            )
        if r["probes"] < n or (r["growth"] and r["growth"][-1][1] != r["survivors"]):
            raise RecordError(
                f"expected at least {n} dot products and {r['survivors']} survivors after the last batch, "
                f"but got {r['probes']} and {r['growth'][-1:]}"
            )
        left = [r["space"], *(count for _, count in r["growth"])]
        asked = [count for count, _ in r["growth"]]
        if self.verdict in _FITTING and (left != sorted(left, reverse=True) or asked != sorted(asked)):
            raise RecordError("expected fewer survivors and more dot products after each batch")
        if sum(map(len, r["classes"])) > max(r["survivors"], 0) and self.verdict in _FITTING:
            raise RecordError(f"expected at most {r['survivors']} designs in the classes, but got more")

    def _check_classes(self) -> None:
        classes, n = self.record["classes"], len(self.answers)
        one = self.verdict is IdentifyVerdict.IDENTIFIED
        if (self.verdict in _FITTING and not classes) or (one and len(classes) != 1):
            raise RecordError(
                f"expected classes for {self.verdict.value}, one if it is unique, but got others"
            )
        for name in (name for row in classes for name in row) if self.verdict in _FITTING else ():
            if self.agreed(name) != n:
                raise RecordError(
                    f"expected {name} to give all {n} answers, but it gives {self.agreed(name)}"
                )
        if one and any(x["settled"] == Settled.UNDECIDED.name.lower() for x in self.record["axes"]):
            raise RecordError("expected no undecided axis of what is identified, but there is one")

    def _check_axes(self) -> tuple[int, list[str]]:
        """The number of refutations, and the designs that nothing here proves the same as the simplest."""
        refuted, open_ = 0, []
        # Structures first: what is proved of their other values is proved by way of them.
        for x in sorted(self.record["axes"], key=lambda x: x["axis"] != "structure"):
            name, settled = x["design"], Settled[x["settled"].upper()]
            if (settled is Settled.REFUTED) != (x["probe"] is not None):
                raise RecordError(f"expected a refuting input exactly where {name} is refuted")
            if settled is Settled.REFUTED:
                if (
                    not x["probe"] < len(self.answers)
                    or self.given(name)[x["probe"]] == self.answers[x["probe"]]
                ):
                    raise RecordError(f"expected input {x['probe']} to refute {name}, but it does not")
                refuted += 1
            elif self.agreed(name) != self.agreed(self.record["classes"][0][0]):
                raise RecordError(f"expected {name} to give as many answers as the simplest design")
            if settled is not Settled.SAME:
                continue
            if x["evidence"].startswith(BY_THEOREM):
                if not self._sameness.by_theorem(self._design(name)).proof:
                    raise RecordError(f"expected {name} to be the same by {x['evidence']}, but it is not")
            elif not self._same(name):
                open_.append(name)
        return refuted, open_

    def _same(self, name: str) -> bool:
        """Whether a design is defined as the simplest one is, or proved here or by a kept answer to be it."""
        first, second = self._design(self.record["classes"][0][0]), self._design(name)
        k = self.operands.k
        if same_definition(first, second, k):
            return True
        found = self.store.find(question(first, second, Assumptions()))
        if found is not None and found.checked and found.certificate is not None:
            return True
        return bool(self._sameness.compared(second).proof)

    @cached_property
    def _sameness(self) -> Sameness:
        """Comparisons with the simplest design; some proofs go by way of designs proved before."""
        return Sameness(self._design(self.record["classes"][0][0]), self.operands.k)

    def _check_nearest(self) -> None:
        n = len(self.answers)
        for x in self.record["nearest"]:
            if (found := {"count": self.agreed(x["design"]), "of": n}) != x["agrees"]:
                raise RecordError(f"expected {found} answers of {x['design']}, but {x['agrees']} stand there")
        for row in self.record["unfit"]:
            if any(self.given(x["design"])[row] == self.answers[row] for x in self.record["nearest"]):
                raise RecordError(f"expected input {row} to fit no design, but it fits one")

    def _check_validated(self) -> None:
        x = self.record["validated"]
        if x is None:
            return
        if list(Rate(**x["misfits"]).interval()) != x["interval"]:
            raise RecordError(f"expected the interval of {x['misfits']}, but {x['interval']} stands there")
        if (self.verdict is IdentifyVerdict.IDENTIFIED and x["misfits"]["count"]) or (
            len(x["shown"]) > x["misfits"]["count"]
        ):
            raise RecordError(f"expected misfits as {self.verdict.value} allows, but got {x['misfits']}")
        if not self.record["classes"] or x["model"] != self.record["classes"][0][0]:
            raise RecordError(f"expected a comparison with the simplest design, but got {x['model']}")
        model, d = self._design(x["model"]), self.operands.d_format
        for misfit in x["shown"]:
            words = [word(d, misfit[name], "a misfit") for name in ("given", "designed")]
            again = {word(d, text, "a misfit") for text in misfit["again"]}
            w = from_data(self.operands, misfit["input"], "a misfit")
            made = int(replay(model, batch_of([w]))[0])
            if made != words[1] or made == words[0] or (again == {words[0]}) != misfit["stays"]:
                raise RecordError(f"expected a misfit of {x['model']}, but {misfit['input']!s:.80} is none")
