"""The choice of a suite's inputs among those that were tried, and simpler inputs in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tcformal.query.shrink.shrink import shrink, witness_cost
from tcformal.query.suites.cover import cover, irredundant, needed_alone
from tcformal.query.suites.made import IndexPair
from tcformal.query.suites.panel import Panel, Results
from tcformal.query.suites.splits import split_cover
from tcformal.simulation.operands.batch import Index, batch_of, rows_of, witness_at
from tcformal.simulation.operands.random import Batch
from tcformal.simulation.operands.witness import Witness


def chosen_of_many(
    panel: Panel, inputs: Batch, results: Results, firsts: Sequence[int]
) -> tuple[list[Witness], int]:
    """Few inputs that tell apart all classes that any does, the simplest first; a bound of their number."""
    costs = _quick_costs(panel, inputs, results)
    found = split_cover(results[np.array(firsts, np.intp)], costs)
    rows = sorted(found.chosen, key=lambda row: costs[row])
    return [witness_at(inputs, row) for row in rows], found.at_least


def chosen(
    panel: Panel, inputs: Batch, results: Results, pairs: Sequence[IndexPair]
) -> tuple[list[Witness], int]:
    """Few of the inputs tried that tell all pairs apart, and a lower bound for their number."""
    rows, masks = _distinct(panel, inputs, results, pairs)
    universe = (1 << len(pairs)) - 1
    costs = _quick_costs(panel, rows_of(inputs, rows), results[:, rows])
    found = cover(masks, costs, universe)
    return [witness_at(inputs, int(rows[i])) for i in found.chosen], found.at_least


def readable(
    panel: Panel,
    inputs: Sequence[Witness],
    pairs: Sequence[IndexPair],
    seconds: float,
    progress: Callable[[str, int, int], None],
) -> list[Witness]:
    """Each input shrunk to what still tells apart the pairs that only it does; the simplest first."""
    if not pairs:
        return []
    universe = (1 << len(pairs)) - 1
    made = list(inputs)
    for i in range(len(made)):
        progress("making inputs readable", i, len(made))
        masks = _masks(panel.evaluate(batch_of(made)), pairs)
        own = needed_alone(range(len(made)), masks, universe, i)
        wanted = [pair for j, pair in enumerate(pairs) if own >> j & 1]
        if wanted:
            made[i] = shrink(panel.question(wanted), made[i], seconds=seconds)
    masks = _masks(panel.evaluate(batch_of(made)), pairs)
    simple = panel.question([pairs[0]])
    costs = [witness_cost(simple, w) for w in made]
    kept = irredundant(masks, costs, universe)
    return [made[i] for i in sorted(kept, key=lambda i: costs[i])]


def _distinct(
    panel: Panel, inputs: Batch, results: Results, pairs: Sequence[IndexPair]
) -> tuple[Index, list[int]]:
    """The cheapest input for each set of pairs that inputs tell apart, and these sets."""
    every = _quick_costs(panel, inputs, results)
    masks = _masks(results, pairs)
    cheapest: dict[int, int] = {}
    for row, mask in enumerate(masks):
        held = cheapest.get(mask)
        if mask and (held is None or every[row] < every[held]):
            cheapest[mask] = row
    return np.array(list(cheapest.values()), np.intp), list(cheapest)


def _masks(results: Results, pairs: Sequence[IndexPair]) -> list[int]:
    """For each input the pairs that it tells apart, as bits."""
    first, second = (np.array([pair[i] for pair in pairs], np.intp) for i in (0, 1))
    return [
        int.from_bytes(np.packbits(column[first] != column[second], bitorder="little").tobytes(), "little")
        for column in results.T
    ]


def _quick_costs(panel: Panel, x: Batch, results: Results) -> list[int]:
    """How hard inputs are to read, roughly: products that are not zero, set bits, NaN or Inf in results."""
    terms = ((x.a != 0) | (x.b != 0)).sum(axis=1)
    bits = np.bitwise_count(x.a).sum(axis=1) + np.bitwise_count(x.b).sum(axis=1) + np.bitwise_count(x.c)
    d = panel.designs[0].operands.d
    special = np.any(d.is_special(results), axis=0)
    return [int(c) for c in 400 * (terms + (x.c != 0)) + 12 * bits.astype(np.int64) + 4000 * special]
