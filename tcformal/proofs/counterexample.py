"""Two runs of units that give other results, on integers and on exact fractions."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.operands.witness import Witness
from tcformal.proofs.verdict import Counterexample
from tcformal.query.replay import results_of


def counterexample(
    first: tuple[UnitSpec, Witness], second: tuple[UnitSpec, Witness], found_by: str
) -> Counterexample | None:
    """Two runs as a counterexample, if their results differ."""
    results = (results_of(*first), results_of(*second))
    found = Counterexample(first=first[1], second=second[1], results=results, found_by=found_by)
    return None if results[0] == results[1] else found
