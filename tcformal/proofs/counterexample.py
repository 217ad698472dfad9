"""Two runs of units that give other results, on integers and on exact fractions."""

from __future__ import annotations

from tcformal.design.unit import UnitSpec
from tcformal.errors import SolverDisagreementError
from tcformal.interp.concrete import Concrete
from tcformal.operands.witness import Witness
from tcformal.programs.chain import circuit
from tcformal.proofs.verdict import Counterexample
from tcformal.query.replay import oracle_result


def results_of(spec: UnitSpec, w: Witness) -> int:
    """One result on integers and on the Fraction oracle; SolverDisagreementError where they differ."""
    graph, root = circuit(spec, len(w.a))
    (integers,) = Concrete(graph, [root])(w.inputs())
    fractions = oracle_result(spec, w)
    if integers != fractions:
        raise SolverDisagreementError(
            f"expected one result of {spec.name} on integers and fractions, "
            f"but got {integers:#x} and {fractions:#x} on {w}"
        )
    return integers


def counterexample(
    first: tuple[UnitSpec, Witness], second: tuple[UnitSpec, Witness], found_by: str
) -> Counterexample | None:
    """Two runs as a counterexample, if their results differ."""
    results = (results_of(*first), results_of(*second))
    found = Counterexample(first=first[1], second=second[1], results=results, found_by=found_by)
    return None if results[0] == results[1] else found
