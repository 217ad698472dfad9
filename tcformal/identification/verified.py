"""Kept identifications checked again, without the device: every claim of a record against its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tcformal.callbacks import Warn
from tcformal.design.axes import catalogued_rivals, computed, rivals
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.devices.sealed import read_whole, word
from tcformal.errors import RecordError, TcformalError
from tcformal.identification.certify import BY_WAY_OF, Sameness, as_tree, fault
from tcformal.identification.identification import (
    BETWEEN,
    FITTING,
    IDENTIFICATION,
    OPEN,
    IdentifyVerdict,
    Settled,
    history_of,
    operands_of,
    subject_of,
    untested_clauses,
)
from tcformal.identification.operand_questions import (
    ANY_C,
    REFUSES_C,
    beside_order,
    scales_shown,
    with_signs,
)
from tcformal.identification.order import order_of_unit
from tcformal.identification.rates import Rate
from tcformal.query.assume import Assumptions
from tcformal.query.pair import question
from tcformal.semantics.chain import same_definition
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Raw, batch_of
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import from_data
from tcformal.simulation.structures import parametric_family, point_of
from tcformal.store.audit.audit import AuditStatus
from tcformal.store.file import RecordFile
from tcformal.store.schema import check
from tcformal.store.store import Store
from tcformal.theory.equality import BY_THEOREM

#: Inputs, and their seed, on which a design that gives all answers is compared with the one that was found.
_POOL, _SEED = 6000, 5
#: Verdicts about a design that gives all, or nearly all, answers.
_OF_A_DESIGN = (
    IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING, IdentifyVerdict.FAULTY,
    IdentifyVerdict.CONTRADICTORY,
)  # fmt: skip
#: How the reasons end of what remains though no value is undecided.
_UNFINISHED = ("were not looked at to the end", "searches", "goes on with its answers")


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
        self.k = self.operands.k
        self.batch, self.answers = history_of(record)
        self.verdict = IdentifyVerdict(record["verdict"])
        self.plain = BETWEEN not in record["untested"]
        self._given: dict[str, Raw] = {}

    def run(self) -> tuple[AuditStatus, str]:
        _expect(
            self.record["subject"] == subject_of(self.record),
            "the digest of device, formats and K as the subject, but got another",
        )
        self._check_counts()
        self._check_classes()
        refuted, open_ = self._check_axes()
        self._check_nearest()
        self._check_validated()
        self._check_verdict()
        self._check_untested()
        unclear = self._check_measured()
        done = (
            f"{len(self.answers)} answers replayed on {len(self._given)} designs, {refuted} refutations hold"
        )
        if self.verdict in FITTING:
            open_ += self._check_others()
        if unclear:
            return AuditStatus.UNCHECKED, f"{done}, but {unclear}"
        if open_:
            return AuditStatus.UNCHECKED, f"{done}, but nothing here proves {', '.join(open_[:3])} the same"
        return AuditStatus.HOLDS, done

    # ------------------------------------------------------------------ designs
    def given(self, name: str) -> Raw:
        """What a design gives for every input of the history; RecordError for one of other formats."""
        if name not in self._given:
            self._given[name] = replay(self._design(name), self.batch)
        return self._given[name]

    def _design(self, name: str) -> UnitSpec:
        design = resolve(name)
        _expect(
            same_formats(design, self.operands),
            f"designs of the formats of the device, but {name} has others",
        )
        return design

    def agreed(self, name: str) -> int:
        """The number of answers that a design gives."""
        return int((self.given(name) == self.answers).sum())

    def _fits(self, design: UnitSpec) -> bool:
        """Whether a design gives every answer."""
        return bool((replay(design, self.batch) == self.answers).all())

    @cached_property
    def simplest(self) -> UnitSpec:
        """The simplest design of the class."""
        return resolve(self.record["classes"][0][0])

    @cached_property
    def _tree(self) -> UnitSpec | None:
        """The simplest design as a tree of sums of all k products."""
        return as_tree(self.simplest, self.k)

    @cached_property
    def _sameness(self) -> Sameness:
        """Comparisons with the simplest design; some proofs go by way of designs proved before."""
        return Sameness(self._design(self.simplest.name), self.k)

    def _same(self, name: str, *, by_solvers: bool = True) -> bool:
        """Whether a design is defined as the simplest one is, or proved here or by a kept answer to be it."""
        first, second = self._design(self.simplest.name), self._design(name)
        if same_definition(first, second, self.k):
            self._sameness.proved.append(second)
            return True
        found = self.store.find(question(first, second, Assumptions()))
        if found is not None and found.checked and found.certificate is not None:
            self._sameness.proved.append(second)
            return True
        how = self._sameness.compared if by_solvers else self._sameness.quickly
        return bool(how(second).proof)

    # ------------------------------------------------------------------ the record by itself
    def _check_counts(self) -> None:
        r, n, fits = self.record, len(self.answers), self.verdict in FITTING
        inputs = np.concatenate([x.reshape(n, -1) for x in self.batch.named().values()], axis=1)
        once = len(np.unique(inputs, axis=0)) == n
        _expect(once, "every input of the history once, but some stand there twice")
        _expect(r["growth"] or not fits, "the number of survivors after each batch, but got none")
        other = {x.name.lower() for x in (Settled.SAME, Settled.UNDECIDED)}
        same = sum(x["settled"] in other and x["axis"] != "design" for x in r["axes"])
        _expect(
            not fits or max(1, same) <= r["survivors"] <= r["space"],
            f"{max(1, same)} to {r['space']} survivors, but {r['survivors']} stand there",
        )
        _expect(
            r["probes"] >= n and (not r["growth"] or r["growth"][-1][1] == r["survivors"]),
            f"at least {n} dot products and {r['survivors']} survivors after the last batch, "
            f"but got {r['probes']} and {r['growth'][-1:]}",
        )
        left = [r["space"], *(count for _, count in r["growth"])]
        asked = [count for count, _ in r["growth"]]
        sinks = left == sorted(left, reverse=True) and asked == sorted(asked)
        _expect(sinks or not fits, "fewer survivors and more dot products after each batch")
        few = sum(map(len, r["classes"])) <= max(r["survivors"], 0)
        _expect(few or not fits, f"at most {r['survivors']} designs in the classes, but got more")

    def _check_classes(self) -> None:
        classes, n = self.record["classes"], len(self.answers)
        one, fits = self.verdict is IdentifyVerdict.IDENTIFIED, self.verdict in FITTING
        _expect(
            (classes or not fits) and (len(classes) == 1 or not one),
            f"classes for {self.verdict.value}, one if it is unique, but got others",
        )
        for name in (name for row in classes for name in row) if fits else ():
            agreed = self.agreed(name)
            _expect(agreed == n, f"{name} to give all {n} answers, but it gives {agreed}")
        open_ = {x.name.lower() for x in OPEN}
        undecided = any(x["settled"] in open_ for x in self.record["axes"])
        _expect(not (one and undecided), "no undecided axis of what is identified, but there is one")

    def _check_axes(self) -> tuple[int, list[str]]:
        """The number of refutations, and the designs that nothing here proves the same as the simplest."""
        refuted, open_ = 0, []
        # Structures first: what is proved of their other values is proved by way of them.
        for x in sorted(self.record["axes"], key=lambda x: x["axis"] != "structure"):
            name, settled, probe = x["design"], Settled[x["settled"].upper()], x["probe"]
            _expect(
                (settled is Settled.REFUTED) == (probe is not None),
                f"a refuting input exactly where {name} is refuted",
            )
            if settled is Settled.REFUTED:
                refutes = probe < len(self.answers) and self.given(name)[probe] != self.answers[probe]
                _expect(refutes, f"input {probe} to refute {name}, but it does not")
                refuted += 1
                continue
            if settled is Settled.UNTRIED:
                continue
            alike = self.agreed(name) == self.agreed(self.record["classes"][0][0])
            _expect(alike, f"{name} to give as many answers as the simplest design")
            if settled is not Settled.SAME:
                continue
            if x["evidence"].startswith(BY_THEOREM):
                proof = self._sameness.by_theorem(self._design(name)).proof
                if not proof and x["evidence"].partition(BY_WAY_OF)[2] in open_:
                    open_.append(name)
                    continue
                _expect(proof, f"{name} to be the same by {x['evidence']}, but it is not")
            elif not self._same(name):
                open_.append(name)
        return refuted, open_

    def _check_nearest(self) -> None:
        n = len(self.answers)
        for x in self.record["nearest"]:
            found = {"count": self.agreed(x["design"]), "of": n}
            _expect(found == x["agrees"], f"{found} answers of {x['design']}, but {x['agrees']} stand there")
        for row in self.record["unfit"]:
            fits = any(self.given(x["design"])[row] == self.answers[row] for x in self.record["nearest"])
            _expect(not fits, f"input {row} to fit no design, but it fits one")

    def _check_validated(self) -> None:
        x = self.record["validated"]
        if x is None:
            return
        misfits, one = x["misfits"], self.verdict is IdentifyVerdict.IDENTIFIED
        interval = list(Rate(**misfits).interval())
        _expect(interval == x["interval"], f"the interval of {misfits}, but {x['interval']} stands there")
        _expect(
            not (one and misfits["count"]) and len(x["shown"]) <= misfits["count"],
            f"misfits as {self.verdict.value} allows, but got {misfits}",
        )
        _expect(
            self.record["classes"] and x["model"] == self.record["classes"][0][0],
            f"a comparison with the simplest design, but got {x['model']}",
        )
        model, d = self._design(x["model"]), self.operands.d_format
        for misfit in x["shown"]:
            given, designed = (word(d, misfit[name], "a misfit") for name in ("given", "designed"))
            again = {word(d, text, "a misfit") for text in misfit["again"]}
            made = int(replay(model, batch_of([from_data(self.operands, misfit["input"], "a misfit")]))[0])
            _expect(
                given != made == designed and (again == {given}) == misfit["stays"],
                f"a misfit of {x['model']}, but {misfit['input']!s:.80} is none",
            )

    # ------------------------------------------------------------------ what follows from the answers
    def _check_verdict(self) -> None:
        """The verdict that repeated answers, the class, its other values and the comparison make."""
        verdict, repeated = self.verdict, self.record["repeated"]
        random = repeated is not None and repeated["repetition"].upper() not in ("DETERMINISTIC", "FAULTS")
        _expect(
            random == (verdict is IdentifyVerdict.NON_DETERMINISTIC),
            f"NON-DETERMINISTIC where repeated answers differ, but got {verdict.value}",
        )
        _expect(
            (verdict in _OF_A_DESIGN) == bool(self.record["classes"]),
            f"a design exactly where one was found, but got {verdict.value}",
        )
        several = (self.answers != self.answers[:1]).any()
        _expect(
            not (verdict is IdentifyVerdict.CONSTANT and several),
            "one answer to every input, but several stand there",
        )
        if verdict is IdentifyVerdict.OUTSIDE:
            for u in catalogued_rivals(self.operands, self.k):
                _expect(not self._fits(u), f"no design to give all answers, but {u.name} does")
        if verdict in _OF_A_DESIGN:
            follows = self._following()
            _expect(
                follows is verdict,
                f"{follows.value}, which follows from answers, other values and misfits, but got "
                f"{verdict.value}",
            )

    def _following(self) -> IdentifyVerdict:
        """The verdict about the simplest design that answers, other values and misfits make."""
        r = self.record
        rate = Rate(0, 1) if r["validated"] is None else Rate(**r["validated"]["misfits"])
        once = 0 if r["repeated"] is None else r["repeated"]["other"]["count"]
        if (found := fault(self.simplest.name, rate, once)) is not None:
            return found[0]
        if self.verdict is IdentifyVerdict.FAULTY and "came once only" in r["reason"]:
            return self.verdict  # answers that were corrected are counted in the reason alone
        undecided = any(x["settled"] in {x.name.lower() for x in OPEN} for x in r["axes"])
        if undecided or (self.verdict is IdentifyVerdict.REMAINING and r["reason"].endswith(_UNFINISHED)):
            return IdentifyVerdict.REMAINING
        return IdentifyVerdict.IDENTIFIED

    def _check_untested(self) -> None:
        """The clauses about what was not tested; values were tried of designs in families of trees only."""
        r, plain = self.record, self.plain
        if plain and self.verdict in _OF_A_DESIGN and self._tree is None:
            plain = self.simplest.design.summation != "fused" or self.simplest.k > self.k
        refused = (ANY_C,) if r["measured"].get("accumulator", "").startswith(REFUSES_C) else ()
        seen = r["validated"] is not None
        clauses = untested_clauses(self.operands, self.k, r["measured"], plain=plain, seen=seen)
        _expect(
            tuple(r["untested"]) == (*clauses, *refused),
            f"what was not tested as it follows, but got {'; '.join(r['untested'])}",
        )

    def _check_measured(self) -> str:
        """What was measured, as the simplest design gives it; the reason where that cannot be said.

        The design gives every answer, and so those to the questions about the order.
        """
        said = dict(self.record["measured"])
        if self.operands.d_format.integer and self.verdict in _OF_A_DESIGN:
            return ""
        if not said or self.verdict is IdentifyVerdict.NON_DETERMINISTIC:
            return ""
        if self.verdict not in _OF_A_DESIGN:
            return "what was measured of the order follows from no design"
        name, negated = self.simplest.name, self.simplest.design.negated
        ask = with_signs(lambda x: replay(self.simplest, x), negated, self.operands)
        order = order_of_unit(ask, self.operands, self.k)
        given = order.measured | beside_order(order, negated, "")
        if said.get("accumulator", "").startswith(REFUSES_C):  # in the words of the device
            given["accumulator"] = said["accumulator"]
        if "scales" in said and self.operands.scale_format is not None:
            given["scales"] = scales_shown(self.operands.scale_format)
        _expect({x: said.get(x) for x in given} == given, f"{given} to be measured of {name}, but got {said}")
        more = sorted(said.keys() - given.keys())
        return f"{more[0]} is not measured of {name} today" if more else ""

    def _check_others(self) -> list[str]:
        """The designs beside the simplest that give all answers though nothing here proves them the same.

        Each value of each axis of the design's family, or each catalogued design and neighbour, is refuted by
        an answer, or stands among the axes, or is proved the same.
        Errors: RecordError where inputs tell apart one that is catalogued, or of an axis that is not named:
        the answers do not decide.
        """
        one, name, axes = self.verdict is IdentifyVerdict.IDENTIFIED, self.simplest.name, self.record["axes"]
        told = {(x["axis"], x["value"]) for x in axes}
        known = {computed(resolve(x), self.k) for x in (*(y["design"] for y in axes), name)}
        others = list(self._others())
        _expect(
            axes or not (self.plain and others and one),
            "what is known of other values of the parameters, but none stands there",
        )
        open_ = []
        pool, given = inputs_to_try(self.operands, self.k, _POOL, _SEED), None
        for (axis, value), u in others:
            if (axis, value) in told or computed(u, self.k) in known or not self._fits(u):
                continue
            given = replay(self.simplest, pool) if given is None else given
            listed = axis == "neighbour" or any(axis == x != "design" for x, _ in told)
            apart = bool((replay(u, pool) != given).any())
            decided = listed or not (apart and one)
            _expect(decided, f"an answer that tells {u.name} from {name}, but there is none")
            # A value of an axis whose other values stand there: the space has it since.  What remains says
            # nothing of designs that are not named: solvers would be asked for no statement.
            if apart or not self._same(u.name, by_solvers=one):
                open_.append(f"{axis}={value}")
        return open_

    def _others(self) -> Iterator[tuple[tuple[str, str], UnitSpec]]:
        """Other designs that the simplest is told from: the value of an axis, and the design."""
        if self.plain and self._tree is not None and not self.operands.d_format.integer:
            d, family, point = self._tree.design, parametric_family(self._tree), point_of(self._tree)
            if any(point[axis.name] not in axis.values for axis in family.axes):
                family = parametric_family(self._tree, rare=True)
                point["b_subnormals"] = d.b_subnormals or d.operand_subnormals
            base = [axis.values.index(point[axis.name]) for axis in family.axes]
            for i, axis in enumerate(family.axes):
                for value, text in enumerate(axis.values):
                    if value != base[i]:
                        name = family.name([*base[:i], value, *base[i + 1 :]])
                        yield (axis.name, text), resolve(name)
            units = catalogued_rivals(self.simplest, self.k)
        else:
            units = rivals(self.simplest, self.k)
        for u in units:
            # Units of more products show with more products.
            if u.name != self.simplest.name and u.k <= max(self.k, self.simplest.k):
                yield ("neighbour" if "@" in u.name else "design", u.name), u


def _expect(holds: object, what: str) -> None:
    """RecordError with what was expected where it does not hold."""
    if not holds:
        raise RecordError(f"expected {what}")
