"""Replay of a witness of two units, on integers and on the Fraction oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tcformal.backends.concrete import Concrete
from tcformal.design.unit import UnitSpec
from tcformal.errors import SolverDisagreementError
from tcformal.oracle.exact import unit_dot
from tcformal.programs.chain import circuit
from tcformal.query.pair import EqualityQuestion
from tcformal.simulation.operands.witness import Witness


@dataclass(frozen=True, slots=True)
class EqualityReplay:
    """The results of both units on one witness.

    Ranges and units: results are raw encodings of the D format.
    """

    witness: Witness
    assumed: bool
    #: Results on the integer interpretation.
    integers: tuple[int, int]
    #: Results on the Fraction oracle.
    oracle: tuple[int, int]

    @property
    def agrees(self) -> bool:
        """Whether integers and oracle computed the same results."""
        return self.integers == self.oracle

    @property
    def separates(self) -> bool:
        """Whether the witness satisfies the assumptions and the units differ on it."""
        return self.assumed and self.agrees and self.integers[0] != self.integers[1]

    @property
    def confirms(self) -> bool:
        """Whether the replay confirms that the units differ, on integers and on the oracle."""
        return self.separates


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


def replay(question: EqualityQuestion, witness: Witness) -> EqualityReplay:
    """Run a witness through both units on integers and on the oracle."""
    assumed, _, first, second = question.evaluator()(witness.inputs())
    oracle = (oracle_result(question.first, witness), oracle_result(question.second, witness))
    return EqualityReplay(witness, bool(assumed), (first, second), oracle)
