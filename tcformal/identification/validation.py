"""A model against its device on many inputs: the rate of misfits, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tcformal.checks import MOST_VECTORS, check_int
from tcformal.design.unit import UnitSpec
from tcformal.identification.asker import Asker
from tcformal.identification.hypotheses import numbers_only
from tcformal.identification.rates import Rate
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, rows_of, witness_at
from tcformal.simulation.operands.inputs import every_product
from tcformal.simulation.operands.witness import Witness

#: Inputs of one call, which a run that is ended asks again.
_CHUNK = 10_000
#: The seed of all products of short operands, beyond those of other inputs, and inputs below which none of
#: them are asked.
_PAIRS, _FEWEST_PAIRS = 1 << 20, 256
#: Misfits that are asked again, how often, and those of them that are shrunk.
_SHOWN, _TIMES, _SHRUNK = 16, 4, 3
#: Simpler inputs asked at once, and how often.
_ROUND, _FEW, _ROUNDS = 256, 96, 12


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
    *,
    over: Callable[[], bool] = lambda: False,
) -> Validated:
    """Compare a model with its device, half on directed inputs, half on random ones of all families.

    Before them come all products of short operands, where there are fewer than `vectors`: a table of products
    may be wrong in one of them.
    The first misfits are asked again; those that stay are shrunk, as far as the device confirms it.  It ends
    after the inputs of one call where the time is `over`.
    Errors: InputError for a number of inputs below 1; as `Asker.ask`; RecordError for kept answers that
    cannot be made again.
    """
    check_int("vectors", vectors, low=1, high=MOST_VECTORS)
    wrong = done = 0
    found: list[tuple[Witness, int, int]] = []
    every = every_product(asker.spec, asker.k, _PAIRS) if vectors > _FEWEST_PAIRS else None
    pairs = 0 if every is None or len(every.c) >= vectors else len(every.c)
    starts = [(n, False) for n in range(0, vectors - pairs, _CHUNK)]
    starts = [*((n, True) for n in range(0, pairs, _CHUNK)), *starts]
    for number, (start, of_pairs) in enumerate(starts):
        if done and over():
            break
        if of_pairs:
            assert every is not None
            some = rows_of(every, np.arange(start, min(start + _CHUNK, pairs)))
            batch, given, designed = asker.compared(_PAIRS + number, some, model)
        else:
            seed = 1 + start // _CHUNK
            batch, given, designed = asker.drawn(seed, min(_CHUNK, vectors - pairs - start), model)
        rows = np.flatnonzero(given != designed)
        wrong, done = wrong + rows.size, done + len(given)
        for row in rows[: _SHOWN - len(found)].tolist():
            found.append((witness_at(batch, row), int(given[row]), int(designed[row])))
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
            if model.k == asker.k:
                simpler = _simplest(asker, [model], [w], _ROUND, _ROUND, lambda: False)
                misfit = replace(misfit, simpler=_misfit(asker, model, simpler))
        made.append(misfit)
    return made


def _misfit(asker: Asker, model: UnitSpec, w: Witness) -> Misfit | None:
    """One input with what the device gives for it and the model; None where that does not stay."""
    batch = batch_of([w])
    given, designed = int(asker.ask(batch)[0]), int(replay(model, batch)[0])
    again = tuple(asker.repeated(batch, _TIMES)[:, 0].tolist())
    made = Misfit(w, given, again, designed)
    return made if made.stays and given != designed else None


def simplest_unfit(
    asker: Asker, units: Sequence[UnitSpec], over: Callable[[], bool], *, numbers: bool = False
) -> Witness | None:
    """The simplest input found on which all of some designs differ from the device, or else the first alone.

    None where the designs give all answers.  It begins with an input whose result is a number, if `numbers`.
    """
    batch, answers = asker.history
    if numbers:
        batch, answers = numbers_only(asker.spec.d_format, batch, answers)
    rows = np.flatnonzero(_unfit(units, batch, answers))
    if not rows.size:
        units = units[:1]
        rows = np.flatnonzero(_unfit(units, batch, answers))
    if not rows.size:
        return None
    found = [witness_at(batch, int(row)) for row in rows]
    return _simplest(asker, units, found, 4 * _FEW, _FEW, over)


def _simplest(
    asker: Asker, units: Sequence[UnitSpec], found: Sequence[Witness], looked: int, most: int,
    over: Callable[[], bool],
) -> Witness:  # fmt: skip
    """The simplest input found, from the simplest of some on, to which no design gives the device's answer.

    Each round asks the device for the simpler neighbours of the best one so far, in one batch.
    """
    from tcformal.query.assume import Assumptions  # a device that a design fits waits for none of them
    from tcformal.query.pair import question
    from tcformal.query.shrink import candidates, witness_cost

    of = question(asker.spec, asker.spec, Assumptions())
    w = min(found, key=lambda x: witness_cost(of, x))
    for _ in range(_ROUNDS):
        cost = witness_cost(of, w)
        tried = [x for x in islice(candidates(of, w), looked) if witness_cost(of, x) < cost][:most]
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
    return np.asarray(np.all([replay(u, batch) != answers for u in units], axis=0), np.bool_)
