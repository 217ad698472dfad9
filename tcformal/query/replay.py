"""Replay: no sat answer is believed before integers and the Fraction oracle agree with it."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.operands.witness import Witness
from tcformal.oracle.exact import unit_dot
from tcformal.query.pair import EqualityQuestion


@dataclass(frozen=True, slots=True)
class Replay:
    """What a witness does when it is run again.

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
        """Whether the witness obeys the assumptions and the two units really differ on it."""
        return self.assumed and self.agrees and self.integers[0] != self.integers[1]

    @property
    def confirms(self) -> bool:
        """What every question asks of a replay: here, that the two units differ."""
        return self.separates


def oracle_result(spec: UnitSpec, witness: Witness) -> int:
    """The unit on the Fraction oracle, applied to consecutive runs of k products."""
    c = witness.c
    per_call = -(-spec.k // (spec.scale_block or spec.k))
    for call, start in enumerate(range(0, len(witness.a), spec.k)):
        part = slice(start, start + spec.k)
        scales = slice(call * per_call, (call + 1) * per_call)
        a, b = witness.a[part], witness.b[part]
        c = unit_dot(spec, a, b, c, witness.scale_a[scales], witness.scale_b[scales])
    return c


def replay(question: EqualityQuestion, witness: Witness) -> Replay:
    """Run a witness through both units on integers and on the oracle."""
    assumed, _, first, second = question.evaluator()(witness.inputs())
    oracle = (oracle_result(question.first, witness), oracle_result(question.second, witness))
    return Replay(witness, bool(assumed), (first, second), oracle)
