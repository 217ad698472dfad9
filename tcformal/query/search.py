"""Search by seeded vectors, which separates most pairs of units without a solver."""

from __future__ import annotations

import numpy as np

from tcformal.backends.vector import Vector
from tcformal.query.pair import EqualityQuestion
from tcformal.query.shrink.shrink import witness_cost
from tcformal.simulation.operands.batch import columns, inputs_to_try, witness_at
from tcformal.simulation.operands.boundaries import boundaries
from tcformal.simulation.operands.few import boundaries_of, few
from tcformal.simulation.operands.random import Batch
from tcformal.simulation.operands.witness import Witness

#: Default number of vectors: half of them directed, half from the families.
VECTORS = 6144
#: Number of dot products of a few terms beside a boundary.
_FEW = 4000
#: Number of the simplest separating vectors that are compared in detail.
_FINALISTS = 48


def search(question: EqualityQuestion, seed: int, n: int = VECTORS) -> Witness | None:
    """The simplest of n seeded operand vectors that satisfies the assumptions and separates.

    Where none does, sums that lie where few of them do are tried, then a few terms beside the boundaries of
    either unit.  None says nothing about other vectors.
    Shapes: K products, with scales for units that take them.
    Zero, NaN, Inf: vectors whose results are numbers come before those with NaN or Inf.
    """
    found = _simplest(question, inputs_to_try(question.first, question.k, n, seed))
    if found is None and question.first.scale_format is None:
        found = _simplest(question, boundaries(question.first, question.k, seed))
    units = [question.first]
    if boundaries_of(question.second) != boundaries_of(question.first):
        units.append(question.second)
    for unit in units:
        found = found or _simplest(question, few(unit, question.k, _FEW, seed))
    return found


def _simplest(question: EqualityQuestion, tried: Batch) -> Witness | None:
    """The simplest of some vectors that separates."""
    n = len(tried.c)
    if question.assumptions.c is not None:
        tried.c[:] = question.assumptions.c
    roots = [question.differ, *question.results]
    differ, *results = (np.broadcast_to(x, (n,)) for x in Vector(question.graph, columns(tried)).run(roots))
    rows = np.flatnonzero(differ)
    if not rows.size:
        return None
    d = question.first.operands.d
    special = np.any([d.is_special(x[rows].astype(np.uint64)) for x in results], axis=0)
    terms = ((tried.a[rows] != 0) | (tried.b[rows] != 0)).sum(axis=1)
    order = np.lexsort((terms, special))[:_FINALISTS]
    kept = [i for i in order if special[i] == special[order[0]]]
    finalists = [witness_at(tried, int(rows[i])) for i in kept]
    return min(finalists, key=lambda w: witness_cost(question, w))
