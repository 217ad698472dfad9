"""Witnesses against claims that are properties of one unit."""

from __future__ import annotations

from tcformal.proofs.claim import Asking, Counterexample, searched
from tcformal.query.engine import VECTORS_NAME
from tcformal.query.kinds.property.question import (
    PropertyQuestion,
    by_vectors,
    replay_property,
    shrink_inputs,
)


def refuted_by_vectors(q: PropertyQuestion, seed: int) -> Counterexample | None:
    """Inputs among seeded vectors that violate the property, shrunk; None where none does."""
    tried = by_vectors(q, seed)
    return None if tried is None else _replayed(q, shrink_inputs(q, tried), VECTORS_NAME)


def refuted_by_solvers(ask: Asking, q: PropertyQuestion) -> Counterexample | None:
    """Inputs from a solver that violate the property; None where none was found."""
    found = searched(ask, q.graph, q.violated)
    return None if found is None else _replayed(q, *found)


def _replayed(q: PropertyQuestion, model: dict[str, int], finder: str) -> Counterexample:
    """The witness, run again on both calls."""
    run = replay_property(q, model)
    first, second = run.operands
    return Counterexample(
        first=first, second=second, results=(run.integers[0], run.integers[1]), found_by=finder
    )
