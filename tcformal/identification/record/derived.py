"""What a kept identification says, derived again from its answers: verdict, other values, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from tcformal.design.axes import catalogued_rivals, computed, rivals
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.unit import UnitSpec
from tcformal.errors import RecordError
from tcformal.identification.asking.alone import ANY_C, REFUSES_C, beside_order, with_signs
from tcformal.identification.asking.rates import Rate
from tcformal.identification.asking.repeat import Repetition
from tcformal.identification.certify import fault
from tcformal.identification.order.order import order_of
from tcformal.identification.order.tasks import AskBatch
from tcformal.identification.record.identification import BETWEEN, IdentifyVerdict, Settled, untested_clauses
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.structures import parametric_family, point_of

#: Inputs, and their seed, on which a design that gives all answers is compared with the one that was found.
_POOL, _SEED = 6000, 5
#: Verdicts about a design that gives all, or nearly all, answers.
_OF_A_DESIGN = (
    IdentifyVerdict.IDENTIFIED, IdentifyVerdict.REMAINING, IdentifyVerdict.FAULTY,
    IdentifyVerdict.CONTRADICTORY,
)  # fmt: skip
#: How the reasons end of what remains though no value is undecided.
_UNFINISHED = ("were not looked at to the end", "searches")


class Derived:
    """The statements that follow from the answers of one record; RecordError for a record that differs."""

    def __init__(self, record: Mapping[str, Any], operands: UnitSpec, batch: Batch, answers: Raw) -> None:
        self.record, self.operands, self.batch, self.answers = record, operands, batch, answers
        self.verdict = IdentifyVerdict(record["verdict"])
        self.k = operands.k
        self.plain = BETWEEN not in record["untested"]

    @cached_property
    def simplest(self) -> UnitSpec:
        """The simplest design of the class."""
        return resolve(self.record["classes"][0][0])

    def fits(self, design: UnitSpec) -> bool:
        """Whether a design gives every answer."""
        return bool((replay(design, self.batch) == self.answers).all())

    # ------------------------------------------------------------------ verdict
    def check_verdict(self) -> None:
        """The verdict that repeated answers, the class, its other values and the comparison make."""
        r, repeated = self.record, self.record["repeated"]
        random = repeated is not None and Repetition[repeated["repetition"].upper()] not in (
            Repetition.DETERMINISTIC, Repetition.FAULTS,
        )  # fmt: skip
        if random != (self.verdict is IdentifyVerdict.NON_DETERMINISTIC):
            raise RecordError(
                f"expected NON-DETERMINISTIC where repeated answers differ, but got {self.verdict.value}"
            )
        if (self.verdict in _OF_A_DESIGN) != bool(r["classes"]):
            raise RecordError(f"expected a design exactly where one was found, but got {self.verdict.value}")
        if self.verdict is IdentifyVerdict.CONSTANT and (self.answers != self.answers[:1]).any():
            raise RecordError("expected one answer to every input, but several stand there")
        if self.verdict is IdentifyVerdict.OUTSIDE:
            for u in catalogued_rivals(self.operands, self.k):
                if self.fits(u):
                    raise RecordError(f"expected no design to give all answers, but {u.name} does")
        if self.verdict in _OF_A_DESIGN:
            self._check_of_a_design()

    def _check_of_a_design(self) -> None:
        r = self.record
        rate = Rate(0, 1) if r["validated"] is None else Rate(**r["validated"]["misfits"])
        once = 0 if r["repeated"] is None else r["repeated"]["other"]["count"]
        undecided = any(x["settled"] == Settled.UNDECIDED.name.lower() for x in r["axes"])
        found = fault(self.simplest.name, rate, once)
        if found is not None:
            follows = found[0]
        elif self.verdict is IdentifyVerdict.FAULTY and "came once only" in r["reason"]:
            follows = self.verdict  # answers that were corrected are counted in the reason alone
        elif undecided or (self.verdict is IdentifyVerdict.REMAINING and r["reason"].endswith(_UNFINISHED)):
            follows = IdentifyVerdict.REMAINING
        else:
            follows = IdentifyVerdict.IDENTIFIED
        if follows is not self.verdict:
            raise RecordError(
                f"expected {follows.value}, which follows from answers, other values and misfits, but got "
                f"{self.verdict.value}"
            )

    # ------------------------------------------------------------------ untested, measured
    def check_untested(self) -> None:
        """The clauses about what was not tested; values were tried of designs in families of trees only."""
        seen = self.record["validated"] is not None
        said, plain = tuple(self.record["untested"]), self.plain
        if plain and self.verdict in _OF_A_DESIGN and self._tree is None and self._is_fused:
            plain = False
        refused = (ANY_C,) if self.record["measured"].get("accumulator", "").startswith(REFUSES_C) else ()
        if said != (*untested_clauses(self.operands, self.k, plain=plain, seen=seen), *refused):
            raise RecordError(f"expected what was not tested as it follows, but got {'; '.join(said)}")

    @property
    def _is_fused(self) -> bool:
        return self.simplest.design.summation == "fused" and self.simplest.k <= self.k

    @cached_property
    def _tree(self) -> UnitSpec | None:
        """The simplest design as a tree of sums of all k products."""
        whole = self.simplest.k <= self.k and not self.k % self.simplest.k
        return tree_of(self.simplest, self.k) if whole else None

    def check_measured(self) -> str:
        """What was measured, as the simplest design gives it; the reason where that cannot be said.

        The design gives every answer, and so those to the questions about the order.
        """
        said = dict(self.record["measured"])
        if not said or self.verdict is IdentifyVerdict.NON_DETERMINISTIC:
            return ""
        if self.verdict not in _OF_A_DESIGN:
            return "what was measured of the order follows from no design"
        negated = self.simplest.design.negated
        ask: AskBatch = lambda x: replay(self.simplest, x)  # noqa: E731
        order = order_of(with_signs(ask, negated, self.operands), self.operands.operands, self.k)
        given = order.measured | beside_order(order, negated, "")
        if said.get("accumulator", "").startswith(REFUSES_C):  # in the words of the device
            given["accumulator"] = said["accumulator"]
        if {name: said.get(name) for name in given} != given:
            raise RecordError(f"expected {given} to be measured of {self.simplest.name}, but got {said}")
        more = sorted(said.keys() - given.keys())
        return f"{more[0]} is not measured of {self.simplest.name} today" if more else ""

    # ------------------------------------------------------------------ other values
    def check_others(self, same: Callable[[str], bool]) -> list[str]:
        """The designs beside the simplest that give all answers though nothing here proves them the same.

        Each value of each axis of the design's family, or each catalogued design and neighbour, is refuted by
        an answer, or stands among the axes, or is proved the same.
        Errors: RecordError where inputs tell apart one that is catalogued, or of an axis that is not named:
        the answers do not decide.
        """
        said = {x["design"] for x in self.record["axes"]}
        told = {(x["axis"], x["value"]) for x in self.record["axes"]}
        designs = {x for x in told if x[0] == "design"}
        known = {computed(resolve(name), self.k) for name in said} | {computed(self.simplest, self.k)}
        others = list(self._others())
        if self.plain and others and not said and self.verdict is IdentifyVerdict.IDENTIFIED:
            raise RecordError(
                "expected what is known of other values of the parameters, but none stands there"
            )
        open_ = []
        pool, given = inputs_to_try(self.operands, self.k, _POOL, _SEED), None
        for value, u in others:
            if value in told or computed(u, self.k) in known or not self.fits(u):
                continue
            given = replay(self.simplest, pool) if given is None else given
            listed = value[0] == "neighbour" or any(axis == value[0] for axis, _ in told - designs)
            apart = bool((replay(u, pool) != given).any())
            if apart and not listed and self.verdict is IdentifyVerdict.IDENTIFIED:
                raise RecordError(
                    f"expected an answer that tells {u.name} from {self.simplest.name}, but there is none"
                )
            # A value of an axis whose other values stand there: the space has it since.
            if apart or not same(u.name):
                open_.append(f"{value[0]}={value[1]}")
        return open_

    def _others(self) -> Iterator[tuple[tuple[str, str], UnitSpec]]:
        """Other designs that the simplest is told from: the value of an axis, and the design."""
        if self.plain and self._tree is not None:
            family, point = parametric_family(self._tree), point_of(self._tree)
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
            if u.name != self.simplest.name:
                yield ("neighbour" if "@" in u.name else "design", u.name), u
