"""A model against its device on many inputs: the rate of misfits, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Advance, ignore_count
from tcformal.checks import MOST_VECTORS, check_int
from tcformal.design.unit import UnitSpec
from tcformal.identification.asker import Asker
from tcformal.identification.rates import Rate
from tcformal.query.assume import Assumptions
from tcformal.query.pair import EqualityQuestion, question
from tcformal.query.shrink.neighbours import candidates
from tcformal.query.shrink.shrink import witness_cost
from tcformal.simulation.operands.batch import batch_of, witness_at
from tcformal.simulation.operands.random import Batch, Raw
from tcformal.simulation.operands.witness import Witness
from tcformal.simulation.replay import replay

#: Simpler inputs asked at once, and how often.
_NEIGHBOURS, _TIMES_SIMPLER = 96, 12


def simplest_unfit(asker: Asker, units: Sequence[UnitSpec], over: Callable[[], bool]) -> Witness | None:
    """The simplest input found on which all of some designs differ from the device, or else the first alone.

    Each round asks the device for the simpler neighbours of the best one so far, in one batch; None where the
    designs give all answers.
    """
    batch, answers = asker.history
    rows = np.flatnonzero(_unfit(units, batch, answers))
    if not rows.size:
        units = units[:1]
        rows = np.flatnonzero(_unfit(units, batch, answers))
    if not rows.size:
        return None
    of = question(asker.spec, asker.spec, Assumptions())
    w = min((witness_at(batch, int(row)) for row in rows), key=lambda x: witness_cost(of, x))
    for _ in range(_TIMES_SIMPLER):
        cost = witness_cost(of, w)
        tried = [x for x in islice(candidates(of, w), 4 * _NEIGHBOURS) if witness_cost(of, x) < cost][
            :_NEIGHBOURS
        ]
        if not tried or over():
            break
        made = batch_of(tried)
        differ = np.flatnonzero(_unfit(units, made, asker.ask(made)))
        if not differ.size:
            break
        w = min((tried[int(row)] for row in differ), key=lambda x: witness_cost(of, x))
    return w


def _unfit(units: Sequence[UnitSpec], batch: Batch, answers: Raw) -> NDArray[np.bool_]:
    """Where no design gives the answer."""
    made: NDArray[np.bool_] = np.all([replay(u, batch) != answers for u in units], axis=0)
    return made


#: Inputs of one call, which a run that is ended asks again.
_CHUNK = 10_000
#: Misfits that are asked again, how often, and those of them that are shrunk.
_SHOWN, _TIMES, _SHRUNK = 16, 4, 3
#: Simpler inputs asked at once, and how often.
_ROUND, _ROUNDS = 256, 12


@dataclass(frozen=True, slots=True)
class Misfit:
    """An input for which the device and the model give different results."""

    witness: Witness
    #: Raw encodings of the D format: the device's result, those when it was asked again, the model's.
    given: int
    again: tuple[int, ...]
    designed: int
    #: The simplest input found on which they differ too, every time, with its own results.
    simpler: Misfit | None = None

    @property
    def stays(self) -> bool:
        """Whether the device gives this result every time."""
        return set(self.again) == {self.given}


@dataclass(frozen=True, slots=True)
class Validated:
    """How a model fits its device on random and directed inputs."""

    model: UnitSpec
    #: Inputs with different results, of all.
    misfits: Rate
    #: The first of them.
    shown: tuple[Misfit, ...]


def validate(
    asker: Asker,
    model: UnitSpec,
    vectors: int = 100_000,
    seed: int = 1,
    advance: Advance = ignore_count,
    *,
    over: Callable[[], bool] = lambda: False,
) -> Validated:
    """Compare a model with its device, half on directed inputs, half on random ones of all families.

    The first misfits are asked again; those that stay are shrunk, as far as the device confirms it.  It ends
    after the inputs of one call where the time is `over`.
    Errors: InputError for a number of inputs below 1; as `Asker.ask`; RecordError for kept answers that
    cannot be made again.
    """
    check_int("vectors", vectors, low=1, high=MOST_VECTORS)
    wrong = done = 0
    found: list[tuple[Witness, int, int]] = []
    for number, start in enumerate(range(0, vectors, _CHUNK)):
        if done and over():
            break
        advance(start, vectors)
        batch, given, designed = asker.drawn(seed + number, min(_CHUNK, vectors - start), model)
        rows = (given != designed).nonzero()[0].tolist()
        wrong, done = wrong + len(rows), done + len(given)
        found += [
            (witness_at(batch, row), int(given[row]), int(designed[row]))
            for row in rows[: _SHOWN - len(found)]
        ]  # fmt: skip
    advance(vectors, vectors)
    return Validated(model, Rate(wrong, done), tuple(_asked_again(asker, model, found)))


def _asked_again(asker: Asker, model: UnitSpec, found: Sequence[tuple[Witness, int, int]]) -> list[Misfit]:
    """Misfits with what the device says to them now, the first that stay with a simpler one."""
    if not found:
        return []
    answers = asker.repeated(batch_of([w for w, _, _ in found]), _TIMES)
    made, shrunk = [], 0
    for (w, given, designed), again in zip(found, answers.T.tolist(), strict=True):
        misfit = Misfit(w, given, tuple(again), designed)
        if misfit.stays and shrunk < _SHRUNK:
            shrunk += 1
            simpler = shrink_misfit(asker, model, w)
            misfit = replace(misfit, simpler=None if simpler is None else _misfit(asker, model, simpler))
        made.append(misfit)
    return made


def _misfit(asker: Asker, model: UnitSpec, w: Witness) -> Misfit | None:
    """One input with what the device gives for it and the model; None where that does not stay."""
    batch = batch_of([w])
    given, designed = int(asker.ask(batch)[0]), int(replay(model, batch)[0])
    again = tuple(asker.repeated(batch, _TIMES)[:, 0].tolist())
    made = Misfit(w, given, again, designed)
    return made if made.stays and given != designed else None


def shrink_misfit(asker: Asker, model: UnitSpec, w: Witness) -> Witness | None:
    """The simplest input found on which device and model differ; None for a model of another K.

    Each round asks the device for the simpler neighbours of the best one so far, in one batch.
    """
    if model.k != asker.k:
        return None
    of: EqualityQuestion = question(model, model, Assumptions())
    cost = witness_cost(of, w)
    for _ in range(_ROUNDS):
        tried = [x for x in islice(candidates(of, w), _ROUND) if witness_cost(of, x) < cost]
        if not tried:
            break
        batch = batch_of(tried)
        differ = (asker.ask(batch) != replay(model, batch)).nonzero()[0].tolist()
        if not differ:
            break
        w = min((tried[row] for row in differ), key=lambda x: witness_cost(of, x))
        cost = witness_cost(of, w)
    return w
