"""The choice of the next inputs: those whose answers split what is left most evenly, and can be digested."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcformal.identification.survivors.tables import LARGEST_JOIN, Survivors
from tcformal.simulation.operands.batch import Batch, Raw, rows_of

#: Designs that stand for all that are left, drawn so many times for one round.
_SAMPLE, _SAMPLES = 64, 3
#: Inputs whose parameters are looked at before one is chosen.
_LOOKED_AT = 40


def next_inputs(alive: Sequence[Survivors], pool: Batch, most: int) -> list[int]:
    """Rows of a pool to ask next, at most so many; none where no row tells the designs apart.

    Inputs that depend on fewer parameters come first, because their answers remove rows of small tables;
    those that depend on all come when little is left.
    """
    rows = _telling(alive, pool)
    pool = rows_of(pool, rows)
    picked: list[int] = []
    costs: dict[int, float] = {}
    # Where all that is left is looked at, the next sample is the same.
    whole = all(survivors.count <= _each(alive) for survivors in alive)
    for _ in range(1 if whole else _SAMPLES):
        _pick(alive, pool, most, picked, costs)
    return [int(rows[i]) for i in picked]


def _telling(alive: Sequence[Survivors], pool: Batch) -> NDArray[np.intp]:
    """The rows of a pool whose results may depend on what is left."""
    every = np.arange(len(pool.c))
    seen = [survivors.certain(pool, every) for survivors in alive]
    unsure = [(x.unknown != 0) | (x.value != seen[0].value) for x in seen]
    return np.flatnonzero(np.any(unsure, axis=0))


def _pick(
    alive: Sequence[Survivors], pool: Batch, most: int, picked: list[int], costs: dict[int, float]
) -> None:
    """More rows, that tell apart some designs that those picked before do not."""
    outputs = _sampled(alive, pool)
    labels = np.unique(outputs[:, picked], axis=0, return_inverse=True)[1].reshape(-1)
    while len(picked) < most:
        gain = _gains(outputs, labels)
        if picked:
            gain[picked] = 0
        best = [int(r) for r in np.argsort(-gain, kind="stable")[:_LOOKED_AT] if gain[r] > 1e-9]
        if not best:
            break
        new = [row for row in best if row not in costs]
        costs |= dict(zip(new, _costs(alive, pool, new), strict=True))
        row = max(best, key=lambda r: gain[r] / costs[r])
        picked.append(row)
        labels = np.unique(np.stack([labels, outputs[:, row]]), axis=1, return_inverse=True)[1].reshape(-1)


def _sampled(alive: Sequence[Survivors], pool: Batch) -> Raw:
    """The results of some designs of every family."""
    made = []
    for survivors in alive:
        made.append(survivors.family.outputs(survivors.sample(_each(alive)), pool))
    return np.concatenate(made)


def _each(alive: Sequence[Survivors]) -> int:
    """The designs of one family that are looked at."""
    return max(4, _SAMPLE // max(1, len(alive)))


def _gains(outputs: Raw, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """The entropy in bits that each row of the pool adds to a partition of the designs."""
    rows = outputs.shape[1]
    base = _entropy(labels)
    gains = np.zeros(rows)
    for row in range(rows):
        column = outputs[:, row]
        if (column == column[0]).all():
            continue
        both = np.unique(np.stack([labels.astype(np.uint64), column]), axis=1, return_inverse=True)[1]
        gains[row] = _entropy(both.reshape(-1)) - base
    return gains


def _entropy(labels: NDArray[np.intp]) -> float:
    share = np.bincount(labels) / len(labels)
    share = share[share > 0]
    return float(-(share * np.log2(share)).sum())


def _costs(alive: Sequence[Survivors], pool: Batch, rows: Sequence[int]) -> list[float]:
    """How hard the answers are to digest: the sizes of the tables that they join, on a scale of bits."""
    sizes = [1] * len(rows)
    for survivors in alive:
        for i, axes in enumerate(survivors.reads(pool, rows, 3)):
            sizes[i] = max(sizes[i], survivors.join_size(axes))
    bits = [float(np.log2(size + 1)) for size in sizes]
    return [b if size <= LARGEST_JOIN else 8 * b for b, size in zip(bits, sizes, strict=True)]
