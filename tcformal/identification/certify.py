"""Every other value of every axis of what was identified: the refuting input, the proof, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tcformal.callbacks import Progress
from tcformal.design.names import resolve
from tcformal.design.trees.arrangements import tree_of
from tcformal.design.trees.tree import stage_designs
from tcformal.design.unit import UnitSpec
from tcformal.identification.asking.ask import Asker
from tcformal.identification.asking.rates import Rate
from tcformal.identification.asking.repeat import FEW
from tcformal.identification.record.identification import AxisOutcome, IdentifyVerdict, Settled
from tcformal.identification.same import Likeness, Sameness
from tcformal.identification.search import Search
from tcformal.identification.survivors.tables import Survivors
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import batch_of, rows_of, witness_at
from tcformal.simulation.operands.inputs import inputs_to_try
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.structures import Designs

#: Inputs, and their seed, that are tried on designs which give all answers.
_POOL, _SEED = 6000, 5


@dataclass(frozen=True, slots=True)
class _OtherValue:
    """One other value of an axis: the simplest design of a family with it."""

    survivors: Survivors
    design: Designs
    axis: str
    value: str
    name: str

    def outcome(self, asker: Asker, found: Likeness | None = None) -> AxisOutcome:
        """What is known of it; a witness was asked of the device before."""
        probe = _refuting(self.survivors, self.design, asker)
        proof = "" if found is None or probe is not None else found.proof
        settled = Settled.REFUTED if probe is not None else Settled.SAME if proof else Settled.UNDECIDED
        return AxisOutcome(self.axis, self.value, self.name, settled, probe, proof)


def certified(
    search: Search, simplest: UnitSpec, asker: Asker, same: Sameness, progress: Progress
) -> list[AxisOutcome]:
    """What is known of each value that the simplest design does not have, one axis changed at a time.

    Theorems and pools of inputs come first for all values, then solvers.  Inputs that tell values from the
    simplest design's are asked of the device together, after the pools and after the solvers.
    """
    values = {x.name: x for survivors in search.alive for x in _values(survivors, simplest, asker.k)}
    made: dict[str, AxisOutcome] = {}
    for ask in (None, same.quickly, same.by_solvers):
        known: dict[str, Likeness] = {}
        told: list[Witness] = []
        for name, x in values.items():
            if ask is None or made[name].settled is not Settled.UNDECIDED or same.told(resolve(name), told):
                continue
            progress(f"proving that {x.axis}={x.value} changes nothing")
            known[name] = found = ask(resolve(name))
            told += [] if found.witness is None else [found.witness]
        if told:
            asker.ask(batch_of(told))
        for name, x in values.items():
            if ask is None or made[name].settled is Settled.UNDECIDED:
                made[name] = x.outcome(asker, known.get(name))
    return sorted(made.values(), key=lambda x: x.axis == "structure")


def settled_designs(
    others: Sequence[UnitSpec], axes: Sequence[AxisOutcome], asker: Asker, same: Sameness
) -> list[AxisOutcome]:
    """What is known of other designs that give all answers, where no value of an axis stands for them.

    Inputs that tell them from the simplest, some with NaN operands, are asked of the device together.
    """
    known = {x.design for x in axes if x.settled is Settled.SAME}
    others = [u for u in others if u.name not in known]
    pool = inputs_to_try(asker.spec, asker.k, _POOL, _SEED)
    given, told = replay(same.base, pool), []
    likeness: dict[str, Likeness] = {}
    for u in others:
        apart = np.flatnonzero(replay(u, pool) != given)
        told += [witness_at(pool, int(row)) for row in apart[:1]]
        if not apart.size:
            likeness[u.name] = found = same.quickly(u)
            told += [] if found.witness is None else [found.witness]
    if told:
        asker.ask(batch_of(told))
    batch, answers = asker.history
    made, counted = [], asker.trusted(batch)
    for u in others:
        wrong = counted[replay(u, rows_of(batch, counted)) != answers[counted]]
        found = likeness.get(u.name, Likeness())
        proof = "" if wrong.size or found.witness else found.proof or same.by_solvers(u).proof
        settled = Settled.REFUTED if wrong.size else Settled.SAME if proof else Settled.UNDECIDED
        made.append(
            AxisOutcome("design", u.name, u.name, settled, int(wrong[0]) if wrong.size else None, proof)
        )
    return made


def certainty(listed: bool, trees: bool, varied: bool, near: bool = False) -> str:
    """What is known where no design is undecided, with a place for the simplest one's name.

    `listed`: it is a catalogued design, tried with its neighbours, or `near` to one; `trees`: after trees of
    sums.
    """
    if listed:
        others = "no tree of sums that was tried does" if trees else "trees of sums were not tried"
        return (
            f"of the catalogued designs and those with {'one or two parameters' if near else 'one parameter'}"
            f" changed only {{}} gives all answers; {others}"
        )
    if varied:
        return "every other value of each parameter of {} is refuted, or proved to change nothing"
    return "of the designs that were tried only those that are proved equal to {} give all answers"


def fault(name: str, rate: Rate, once: int) -> tuple[IdentifyVerdict, str] | None:
    """The verdict on a device that does not always give what a design does; None for one that does.

    `rate`: results that are not the design's; `once`: answers to repeated inputs that did not come again.
    """
    if rate.count > FEW * rate.of:
        reason = f"{name} gave every answer, but not {rate.count} of {rate.of} later ones"
        return IdentifyVerdict.CONTRADICTORY, reason
    if rate.count or once:
        more = f", and {once} answers to repeated inputs came once only" if once else ""
        return IdentifyVerdict.FAULTY, f"{name} gives all but {rate.count} of {rate.of} answers{more}"
    return None


def varied_by(alive: Sequence[Survivors], simplest: UnitSpec, k: int) -> bool:
    """Whether designs that were tried have the simplest one's parameters, with every other value of each."""
    if simplest.k <= k and not k % simplest.k and tree_of(simplest, k) is not None:
        return True
    sums = {resolve(s.family.name(s.simplest()[0])).design.summation for s in alive}
    return simplest.design.summation != "fused" and simplest.design.summation in sums


def _values(survivors: Survivors, simplest: UnitSpec, k: int) -> list[_OtherValue]:
    """Every other value of each axis of a family, and itself where the simplest design has another."""
    family, base = survivors.family, _base(survivors, simplest, k)
    made = []
    if (name := family.name(base[0])) != simplest.name:
        # First, because what is proved of the others is proved by way of it.
        made.append(_OtherValue(survivors, base, "structure", name, name))
    for i, axis in enumerate(family.axes):
        for value in range(len(axis.values)):
            if value != base[0, i]:
                design = base.copy()
                design[0, i] = value
                made.append(
                    _OtherValue(survivors, design, axis.name, axis.values[value], family.name(design[0]))
                )
    return made


def _base(survivors: Survivors, simplest: UnitSpec, k: int) -> Designs:
    """The design of a family that has the simplest design's parameters, or else the plainest that is left."""
    plainest = survivors.simplest()
    made = None if simplest.k > k or k % simplest.k else tree_of(simplest, k)
    if made is None or made.tree is None:
        return plainest
    stages = stage_designs(made.tree, made.design)
    base = plainest.copy()
    for i, axis in enumerate(survivors.family.axes):
        stage, _, name = axis.name.rpartition(".")
        value = getattr(stages.get(stage, made.design), name, None)
        if name == "b_subnormals" and value is None:
            value = made.design.operand_subnormals
        text = "exact" if value is None else str(value)
        if text in axis.values and axis.values.index(text) in survivors.values(i):
            base[0, i] = axis.values.index(text)
    return base


def _refuting(survivors: Survivors, design: Designs, asker: Asker) -> int | None:
    """The first input of the history to which a design gives another answer than the device."""
    batch, answers = asker.history
    wrong = asker.trusted(batch)
    wrong = wrong[survivors.family.outputs(design, rows_of(batch, wrong))[0] != answers[wrong]]
    return int(wrong[0]) if wrong.size else None
