"""Explanation of a mismatch: the designs that give the expected result, those that give the one obtained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import chain
from math import prod

import numpy as np

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.identification.cases import MismatchCase, MismatchValue
from tcformal.identification.causes.accident import by_accident
from tcformal.identification.causes.producers import Producer, altered_producers, existing_producers, merged
from tcformal.identification.causes.sum_faults import SumFault, faults_that_give
from tcformal.oracle.values import NumberClass, decode
from tcformal.programs.chain import common_k
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.trace import Divergence, Trace, divergence
from tcformal.query.replay import oracle_result
from tcformal.simulation.matrix_unit import padded_witness, replay
from tcformal.simulation.operands.batch import Batch, Raw, batch_of
from tcformal.simulation.operands.witness import Witness

_SIDES = ("expected", "got")
#: Cases up to which the oracle sifts the designs.
_FEW = 16


class MismatchVerdict(Enum):
    """What two results of the same operands are to each other."""

    EQUAL = "the results are the same"
    ROUNDING = "units that exist, or plain computations, give both results"
    UNDECIDED = "units that exist give both results, and a faulty sum gives the one obtained as well"
    UNEXPLAINED = "no unit that exists gives one of the results"


@dataclass(frozen=True, slots=True)
class Hints:
    """What would explain results that nothing that exists gives: units altered in one parameter.

    Ranges and units: `chances`: of the expected results and of those obtained, as `by_accident` of the
    altered designs.  No designs stand on a side that something that exists gives; variations of a unit do
    not where the unit itself gives the results.
    """

    tried: int
    expected: tuple[Producer, ...]
    got: tuple[Producer, ...]
    chances: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Explained:
    """The units and computations that give the expected results, and those that give the results obtained.

    Ranges and units: `own`: the unit's own results; `exact`: the exact sums, None where an operand is NaN
    or Inf; `chance`: `by_accident` of the results obtained and all `tried` designs.
    """

    unit: UnitSpec
    cases: tuple[MismatchCase, ...]
    tried: int
    own: tuple[int, ...]
    exact: tuple[Fraction | None, ...]
    expected: tuple[Producer, ...]
    got: tuple[Producer, ...]
    chance: float | None
    #: Faulty sums of the designs that give the expected results, which give those obtained.
    faults: tuple[SumFault, ...]
    #: None where designs that exist give both results.
    hints: Hints | None
    #: The nearest design of each, both traces of a case on which they differ, and their divergence.
    pair: tuple[Producer, Producer] | None
    traces: tuple[Trace, Trace] | None
    divergence: Divergence | None

    @property
    def verdict(self) -> MismatchVerdict:
        """Rounding or bug."""
        if all(case.expected == case.got for case in self.cases):
            return MismatchVerdict.EQUAL
        if not self.expected or not self.got:
            return MismatchVerdict.UNEXPLAINED
        # A sum that loses a c below its last place is what units differ in.
        faulty = any(not fault.of_c for fault in self.faults)
        return MismatchVerdict.UNDECIDED if faulty else MismatchVerdict.ROUNDING


def explain_mismatch(
    spec: UnitSpec, cases: Sequence[MismatchCase], advance: Advance = ignore_count
) -> Explained:
    """Try the unit, every catalogued design of its formats and plain computations; then altered units.

    Shapes: dot products of one length; a unit of fewer products is called repeatedly, if its result can
    be the next c; a unit of more products gets zeros.
    Ranges and units: a design counts if it gives the results of all cases.  Of a few cases the oracle says
    so; every design that is named is replayed on its circuit.  Altered units are tried where nothing that
    exists gives one of the results, and are hints.
    Zero, NaN, Inf: encodings are compared; `nan` equals any NaN.
    Errors: InputError for no cases, or cases of different lengths; SolverDisagreementError where oracle and
    circuit of a design that gives the results differ.
    """
    lengths = {len(case.witness.a) for case in cases}
    if len(lengths) != 1:
        raise InputError(f"expected dot products of one length, but got lengths {sorted(lengths)}")
    k = lengths.pop()
    trial = _Trial(spec, tuple(cases), batch_of([case.witness for case in cases]), advance)
    existing = list(existing_producers(spec, k))
    expected, got = (merged(x, spec, k) for x in trial.of(existing))
    chance = trial.chance(existing, "got")
    faults = faults_that_give([p.design for p in expected], cases) if expected else []
    hints = None
    if not (expected and got):
        altered = list(altered_producers(existing, k))
        wanted = [name for name, made in zip(_SIDES, (expected, got), strict=True) if not made]
        first, second = trial.of(altered, wanted)
        chances = trial.chance(altered, "expected"), trial.chance(altered, "got")
        hints = Hints(len(altered), tuple(first), tuple(second), chances)
    pair = _nearest([*expected, *(hints.expected if hints else ())], [*got, *(hints.got if hints else ())])
    traces = None if pair is None else _traces(pair, cases, trial.results)
    return Explained(
        spec, tuple(cases), len(existing), tuple(int(x) for x in trial.results[spec.name]),
        tuple(exact_sum(spec, case.witness) for case in cases), expected, got, chance, tuple(faults), hints,
        pair, traces, None if traces is None else divergence(*traces),
    )  # fmt: skip


class _Trial:
    """The results of designs on all cases."""

    def __init__(
        self, spec: UnitSpec, cases: tuple[MismatchCase, ...], batch: Batch, advance: Advance
    ) -> None:
        self.d, self.cases, self.batch, self.advance = spec.operands.d, cases, batch, advance
        self.results: dict[str, Raw] = {}
        self.gives: dict[tuple[str, str], bool] = {}

    def of(
        self, candidates: Sequence[Producer], sides: Sequence[str] = _SIDES
    ) -> tuple[list[Producer], list[Producer]]:
        """Those that give the expected results and those that give the ones obtained, near kinds first.

        Of sides that are not asked for there are none.
        """
        found: dict[str, list[Producer]] = {name: [] for name in _SIDES}
        for done, one in enumerate(candidates):
            self.advance(done, len(candidates))
            words = self.results[one.design.name] = _sifted(one.design, self.cases, self.batch)
            fitting = []
            for name in sides:
                values: list[MismatchValue] = [getattr(case, name) for case in self.cases]
                fits = all(v.is_given_by(self.d, words[i : i + 1])[0] for i, v in enumerate(values))
                self.gives[name, one.design.name] = fits
                if fits and (one.base is one.design or not self.gives.get((name, one.base.name), False)):
                    fitting.append(found[name])
            if fitting:
                _confirm(one.design, words, self.batch)
            for made in fitting:
                made.append(one)
        self.advance(len(candidates), len(candidates))
        expected, got = (sorted(made, key=lambda p: p.kind) for made in found.values())
        return expected, got

    def chance(self, candidates: Sequence[Producer], side: str) -> float | None:
        """`by_accident` of one side's results, as wrong ones of the other's."""
        sides = {
            name: np.array([getattr(case, name).raw for case in self.cases], np.uint64) for name in _SIDES
        }
        right = sides["got" if side == "expected" else "expected"]
        return by_accident(self.d, right, sides[side], (self.results[p.design.name] for p in candidates))


def _sifted(design: UnitSpec, cases: Sequence[MismatchCase], batch: Batch) -> Raw:
    """What a design gives: of a few cases by the oracle, which builds no circuit."""
    if len(cases) > _FEW:
        return replay(design, batch)
    return np.array(
        [oracle_result(design, padded_witness(design, case.witness)) for case in cases], dtype=np.uint64
    )


def _confirm(design: UnitSpec, words: Raw, batch: Batch) -> None:
    """Replay a design on its circuit; SolverDisagreementError where that differs from the oracle."""
    circuit = replay(design, batch)
    if not np.array_equal(circuit, words):
        i = int(np.flatnonzero(circuit != words)[0])
        raise SolverDisagreementError(
            f"expected one result of {design.name} in case {i}, but got {int(words[i]):#x} of the oracle and "
            f"{int(circuit[i]):#x} of the circuit"
        )


def exact_sum(spec: UnitSpec, w: Witness) -> Fraction | None:
    """Σ a_k·b_k + c of one dot product, scales included; None where an operand is NaN or Inf."""
    o, scale, block = spec.operands, spec.scale_format, spec.scale_block or 1
    factors = [(o.a, w.a), (o.b, w.b)]
    if scale is not None:
        factors += [(scale, tuple(s[i // block] for i in range(len(w.a)))) for s in (w.scale_a, w.scale_b)]
    values = [[decode(fmt, word) for word in words] for fmt, words in factors]
    c = decode(o.c, w.c)
    if any(x.kind is not NumberClass.FINITE for x in (c, *chain.from_iterable(values))):
        return None
    products = (prod(x.number for x in row) for row in zip(*values, strict=True))
    return sum(products, start=c.number)


def _nearest(expected: Sequence[Producer], got: Sequence[Producer]) -> tuple[Producer, Producer] | None:
    """The pair of designs to report: near kinds, and variations of one unit rather than of two."""
    pairs = [(e, g) for e in expected for g in got if e.design is not g.design]
    if not pairs:
        return None
    return min(pairs, key=lambda p: (p[0].kind + p[1].kind, p[0].base is not p[1].base))


def _traces(
    pair: tuple[Producer, Producer], cases: Sequence[MismatchCase], results: dict[str, Raw]
) -> tuple[Trace, Trace] | None:
    """The traces of both designs on the first case that separates them."""
    first, second = (p.design for p in pair)
    apart = np.flatnonzero(results[first.name] != results[second.name])
    if not apart.size:
        return None
    w = cases[int(apart[0])].witness
    try:
        common_k(first, second)
    except InputError:
        return None  # one of the two takes the operands in another number of calls
    wide = max((padded_witness(u, w) for u in (first, second)), key=lambda x: len(x.a))
    return explain_witness(first, wide), explain_witness(second, wide)
