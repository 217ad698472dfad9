"""Replay: no sat answer is believed before integers and the Fraction oracle agree with it."""

from __future__ import annotations

from dataclasses import dataclass

from tcformal.design.unit import UnitSpec
from tcformal.oracle.exact import dot as oracle_dot
from tcformal.query.spec import Question, Witness


@dataclass(frozen=True, slots=True)
class Replay:
    """What a witness does when it is run again.

    Ranges and units: results are raw encodings of the D format.
    """

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


def oracle_result(spec: UnitSpec, witness: Witness) -> int:
    """The unit on the Fraction oracle, applied to consecutive runs of k products."""
    c, o = witness.c, spec.operands
    for start in range(0, len(witness.a), spec.k):
        stop = start + spec.k
        c = oracle_dot(spec.design, o.a, o.b, o.c, o.d, witness.a[start:stop], witness.b[start:stop], c)
    return c


def replay(question: Question, witness: Witness) -> Replay:
    """Run a witness through both units on integers and on the oracle."""
    assumed, _, first, second = question.evaluator()(witness.inputs())
    oracle = (oracle_result(question.first, witness), oracle_result(question.second, witness))
    return Replay(bool(assumed), (first, second), oracle)
