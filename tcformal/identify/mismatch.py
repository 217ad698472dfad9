"""Explanation of a mismatch: the designs that give the expected result, those that give the one obtained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.aliases import ALIASES
from tcformal.design.axes import catalogued_rivals, computed, neighbours
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, takes
from tcformal.errors import InputError, SolverDisagreementError
from tcformal.identify.cases import MismatchCase, MismatchValue
from tcformal.matmul.replay import padded_witness, replay
from tcformal.operands.batch import batch_of
from tcformal.operands.random import Batch
from tcformal.operands.witness import Witness
from tcformal.oracle.values import NumberClass, decode
from tcformal.programs.chain import common_k
from tcformal.query.explain.divergence import Divergence, divergence
from tcformal.query.explain.explain import explain_witness
from tcformal.query.explain.steps import Trace
from tcformal.query.replay import oracle_result

#: Cases up to which the oracle sifts the designs.
_FEW = 16
#: Products up to which a computation is one design.
_MOST = 256


class MismatchKind(IntEnum):
    """The relation of a design to the given unit, the nearest first."""

    UNIT = 0
    OTHER_UNIT = 1
    COMPUTATION = 2
    VARIATION = 3
    OTHER_VARIATION = 4


@dataclass(frozen=True, slots=True)
class Producer:
    """A design that gives the results of every case, and its description."""

    design: UnitSpec
    kind: MismatchKind
    #: The unit that a variation is one of; the design itself otherwise.
    base: UnitSpec
    what: str


@dataclass(frozen=True, slots=True)
class Explained:
    """The designs that give the expected results, and those that give the results obtained.

    Ranges and units: `own`: the unit's own results; `exact`: the exact sums, None where an operand is NaN
    or Inf.  Variations of a unit are listed only where the unit itself does not give the results.
    """

    unit: UnitSpec
    cases: tuple[MismatchCase, ...]
    tried: int
    own: tuple[int, ...]
    exact: tuple[Fraction | None, ...]
    expected: tuple[Producer, ...]
    got: tuple[Producer, ...]
    #: The nearest design of each, both traces of a case on which they differ, and their divergence.
    pair: tuple[Producer, Producer] | None
    traces: tuple[Trace, Trace] | None
    divergence: Divergence | None

    @property
    def both(self) -> bool:
        """Whether known arithmetic gives both results."""
        return bool(self.expected) and bool(self.got)


def explain_mismatch(
    spec: UnitSpec, cases: Sequence[MismatchCase], advance: Advance = ignore_count
) -> Explained:
    """Try the unit, every catalogued design of its formats, plain computations, and all their variations.

    Shapes: dot products of one length; a unit of fewer products is called repeatedly, if its result can
    be the next c; a unit of more products gets zeros.
    Ranges and units: a design counts if it gives the results of all cases.  Of a few cases the oracle says
    so; units, computations and the nearest pair are replayed on their circuits, other variations are not.
    Zero, NaN, Inf: encodings are compared; `nan` equals any NaN.
    Errors: InputError for no cases, or cases of different lengths; SolverDisagreementError where oracle and
    circuit of a design that gives the results differ.
    """
    lengths = {len(case.witness.a) for case in cases}
    if len(lengths) != 1:
        raise InputError(f"expected dot products of one length, but got lengths {sorted(lengths)}")
    k = lengths.pop()
    batch = batch_of([case.witness for case in cases])
    d = spec.operands.d
    candidates = list(_candidates(spec, k))
    found: dict[str, list[Producer]] = {"expected": [], "got": []}
    gives: dict[tuple[str, str], bool] = {}
    results: dict[str, NDArray[np.uint64]] = {}
    for done, one in enumerate(candidates):
        advance(done, len(candidates))
        words = _sifted(one.design, cases, batch)
        results[one.design.name] = words
        for name, made in found.items():
            values: list[MismatchValue] = [getattr(case, name) for case in cases]
            fits = all(v.is_given_by(d, words[i : i + 1])[0] for i, v in enumerate(values))
            gives[name, one.design.name] = fits
            if fits and (one.base is one.design or not gives.get((name, one.base.name), False)):
                made.append(one)
        if one.base is one.design and any(gives[name, one.design.name] for name in found):
            _confirm(one.design, words, batch)
    advance(len(candidates), len(candidates))
    expected, got = (tuple(sorted(made, key=lambda p: p.kind)) for made in found.values())
    pair = _nearest(expected, got)
    for one in pair or ():
        _confirm(one.design, results[one.design.name], batch)
    traces = None if pair is None else _traces(pair, cases, results)
    return Explained(
        spec, tuple(cases), len(candidates), tuple(int(x) for x in results[spec.name]),
        tuple(exact_sum(spec, case.witness) for case in cases), expected, got, pair, traces,
        None if traces is None else divergence(*traces),
    )  # fmt: skip


def _sifted(design: UnitSpec, cases: Sequence[MismatchCase], batch: Batch) -> NDArray[np.uint64]:
    """What a design gives: of a few cases by the oracle, which builds no circuit."""
    if len(cases) > _FEW:
        return replay(design, batch)
    return np.array(
        [oracle_result(design, padded_witness(design, case.witness)) for case in cases], dtype=np.uint64
    )


def _confirm(design: UnitSpec, words: NDArray[np.uint64], batch: Batch) -> None:
    """Replay a design on its circuit; SolverDisagreementError where that differs from the oracle."""
    circuit = replay(design, batch)
    if not np.array_equal(circuit, words):
        i = int(np.flatnonzero(circuit != words)[0])
        raise SolverDisagreementError(
            f"expected one result of {design.name} in case {i}, but got {int(words[i]):#x} of the oracle and "
            f"{int(circuit[i]):#x} of the circuit"
        )


def _candidates(spec: UnitSpec, k: int) -> Iterator[Producer]:
    """Every design to try, each definition once, nearer kinds first."""
    seen: set[tuple[object, ...]] = set()

    def new(u: UnitSpec) -> bool:
        if not takes(u, k):
            return False
        key = computed(u, k)
        fresh = key not in seen
        seen.add(key)
        return fresh

    if not takes(spec, k):
        raise InputError(
            f"expected at most {spec.k} products for {spec.name}, whose result cannot be the next c, "
            f"but got {k}"
        )
    new(spec)
    yield Producer(spec, MismatchKind.UNIT, spec, "the unit")
    others = [u for u in catalogued_rivals(spec, k) if new(u)]
    for u in others:
        yield Producer(u, MismatchKind.OTHER_UNIT, u, "another unit")
    for name, what in computations(spec, k):
        u = resolve(name)
        if new(u):
            yield Producer(u, MismatchKind.COMPUTATION, u, what)
    for base in (spec, *others):
        kind = MismatchKind.VARIATION if base is spec else MismatchKind.OTHER_VARIATION
        for u in neighbours(base):
            if new(u):
                yield Producer(u, kind, base, "one parameter changed")


def computations(spec: UnitSpec, k: int) -> Iterator[tuple[str, str]]:
    """Designs of plain computations, without a unit, with their descriptions.

    None for units with scales, for more products than one design takes, and for results of a format that
    is not IEEE 754.
    """
    o = spec.operands
    if spec.scale_format is not None or k > _MOST or o.d.name not in ("fp64", "fp32", "fp16", "bf16"):
        return
    usual = resolve("fma").operands.names()
    formats = "".join(f",{x}_format={name}" for x, name in o.names().items() if name != usual[x])
    for alias, (_, what) in ALIASES.items():
        if not (alias.startswith("fp64") and o.d.name == "fp64"):
            yield f"{alias}@k={k}{formats}", what.replace("d's format", o.d.name)


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
    pair: tuple[Producer, Producer], cases: Sequence[MismatchCase], results: dict[str, NDArray[np.uint64]]
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
