"""The simplest input to which none of some designs gives the device's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tcformal.design.unit import UnitSpec
from tcformal.identification.asking.ask import Asker
from tcformal.query.assume import Assumptions
from tcformal.query.pair import question
from tcformal.query.shrink import candidates, witness_cost
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of, witness_at
from tcformal.simulation.operands.witness import Witness

#: Simpler inputs asked at once, and how often.
_ROUND, _ROUNDS = 96, 12


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
    for _ in range(_ROUNDS):
        cost = witness_cost(of, w)
        tried = [x for x in islice(candidates(of, w), 4 * _ROUND) if witness_cost(of, x) < cost][:_ROUND]
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
