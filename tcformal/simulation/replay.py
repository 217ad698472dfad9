"""Replay of a dot product on one unit: the Fraction oracle, and its agreement with the integers."""

from __future__ import annotations

from functools import lru_cache

from tcformal.backends.concrete import Concrete
from tcformal.design.unit import UnitSpec
from tcformal.errors import SolverDisagreementError
from tcformal.oracle.exact import unit_dot
from tcformal.semantics.chain import circuit
from tcformal.simulation.operands.witness import Witness


def oracle_result(spec: UnitSpec, witness: Witness) -> int:
    """The result of a unit on the Fraction oracle, applied to consecutive blocks of k products."""
    c = witness.c
    per_call = -(-spec.k // (spec.scale_block or spec.k))
    for call, start in enumerate(range(0, len(witness.a), spec.k)):
        part = slice(start, start + spec.k)
        scales = slice(call * per_call, (call + 1) * per_call)
        a, b = witness.a[part], witness.b[part]
        c = unit_dot(spec, a, b, c, witness.scale_a[scales], witness.scale_b[scales])
    return c


def results_of(spec: UnitSpec, w: Witness) -> int:
    """One result, on integers and on the Fraction oracle; SolverDisagreementError where they differ."""
    (integers,) = _on_integers(spec, len(w.a))(w.inputs())
    fractions = oracle_result(spec, w)
    if integers != fractions:
        raise SolverDisagreementError(
            f"expected one result of {spec.name} on integers and fractions, "
            f"but got {integers:#x} and {fractions:#x} on {w}"
        )
    return integers


@lru_cache(maxsize=4)
def _on_integers(spec: UnitSpec, k: int) -> Concrete:
    """An integer evaluator of K products on one unit."""
    graph, root = circuit(spec, k)
    return Concrete(graph, [root])
