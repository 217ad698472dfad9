"""The least spread at which two units were seen to differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.programs.chain import OperandNodes
from tcformal.query.pair import EqualityQuestion
from tcformal.query.spread import gaps_of
from tcformal.simulation.operands.batch import columns, witness_at
from tcformal.simulation.operands.spread import close
from tcformal.simulation.operands.witness import Witness

#: Dot products tried at once, and the largest spread that is tried.
VECTORS, _MOST = 6144, 48


@dataclass(frozen=True, slots=True)
class Nearest:
    """A separating witness of the least spread that was met."""

    witness: Witness
    spread: int


def nearest(q: EqualityQuestion, seed: int, n: int = VECTORS) -> Nearest | None:
    """A separating witness of the least spread among seeded vectors; None where no vector separates.

    Spreads below were tried with as many vectors, which proves nothing about them.
    """
    found, most = at_once(q, seed, n), _MOST
    if found is not None:
        return found
    while most >= 0:
        better = _least(q, seed, n, most)
        if better is None:
            return found
        found, most = better, better.spread - 1
    return found


def at_once(q: EqualityQuestion, seed: int, n: int = VECTORS) -> Nearest | None:
    """A separating witness whose terms all have one exponent; None where no vector is one."""
    return within(q, seed, 0, n // 4)


def within(q: EqualityQuestion, seed: int, most: int, n: int = VECTORS // 4) -> Nearest | None:
    """A separating witness of a spread up to `most`, the least among n vectors; None where none is one."""
    return _least(q, seed, n, most)


def _least(q: EqualityQuestion, seed: int, n: int, most: int) -> Nearest | None:
    """The witness of the least spread, and of the fewest terms, among n vectors of spreads up to `most`."""
    g, tried = q.graph, close(q.first, q.k, n, seed, most, q.assumptions.exponents)
    if q.assumptions.c is not None:
        tried.c[:] = q.assumptions.c
    terms = gaps_of(g, q.first, operands_of(q)).terms
    gaps = [g.ite(x.live, x.gap, g.const(0, x.gap.width)) for x in terms]
    values = Vector(g, columns(tried)).run([q.differ, *gaps])
    differ, *below = (np.broadcast_to(x, (n,)) for x in values)
    spread = np.max([x.astype(np.int64) for x in below], axis=0)
    rows = np.flatnonzero(differ & (spread <= most))
    if not rows.size:
        return None
    count = ((tried.a[rows] != 0) & (tried.b[rows] != 0)).sum(axis=1)
    best = rows[np.lexsort((count, spread[rows]))[0]]
    return Nearest(witness_at(tried, int(best)), int(spread[best]))


def operands_of(q: EqualityQuestion) -> OperandNodes:
    """The input nodes of a question."""
    named = q.graph.inputs
    rows = {name: [named[f"{name}[{i}]"] for i in range(q.k)] for name in ("a", "b")}
    scales = {
        letter: [x for name, x in named.items() if name.startswith(f"scale_{letter}[")] for letter in "ab"
    }
    return OperandNodes(rows["a"], rows["b"], named["c"], scales["a"], scales["b"])
