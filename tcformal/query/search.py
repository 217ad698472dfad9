"""Search by seeded vectors: what tells most pairs of units apart before any solver has started."""

from __future__ import annotations

import numpy as np

from tcformal.interp.vector import Vector
from tcformal.operands.batch import columns, inputs_to_try, witness_at
from tcformal.operands.witness import Witness
from tcformal.query.pair import EqualityQuestion
from tcformal.query.shrink.shrink import witness_cost

#: Vectors tried unless the caller says otherwise: half of them directed, half from the families.
VECTORS = 6144
#: So many of the simplest vectors that separate are compared in detail.
_FINALISTS = 48


def search(question: EqualityQuestion, seed: int, n: int = VECTORS) -> Witness | None:
    """The simplest of n seeded operand vectors that satisfies the assumptions and separates.

    None where none does, which says nothing about the vectors that were not tried.
    Shapes: K products, with scales where the units take them.
    Zero, NaN, Inf: vectors whose results are numbers come before those with NaN or Inf.
    """
    tried = inputs_to_try(question.first, question.k, n, seed)
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
