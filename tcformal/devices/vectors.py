"""Test vectors of a unit, results included, for builders of simulators; apart from the command."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tcformal.checks import MOST_AT_ONCE, check_choice, check_int
from tcformal.design.unit import UnitSpec
from tcformal.devices.directed import directed
from tcformal.devices.sealed import MOST_SEED
from tcformal.encodings.spec import Format
from tcformal.errors import SolverDisagreementError
from tcformal.query.replay import oracle_result
from tcformal.simulation.matrix_unit import replay
from tcformal.simulation.operands.batch import (
    Batch,
    Raw,
    batch,
    batch_of,
    one_operand,
    rows_of,
    together,
    witness_at,
)

KINDS: dict[str, str] = {
    "directed": "inputs made for the unit: roundings, alignments, signs of zero, overflows, NaN",
    "boundary": "extremes, subnormals, neighbours of 1, Inf and NaN in some places, zeros in the others",
    "random": "equal parts of random bits, close exponents, cancelling sums, zeros, subnormals, extremes",
}
#: Results that are computed again in exact fractions.
REPLAYED = 32


@dataclass(frozen=True, slots=True)
class UnitVectors:
    """Dot products of one unit with their results: `kinds` and `d` have an entry for each row of `inputs`."""

    unit: UnitSpec
    seed: int
    kinds: tuple[str, ...]
    inputs: Batch
    d: Raw
    #: Results that were computed again in exact fractions.
    replayed: int

    def columns(self) -> dict[str, tuple[Format, Raw]]:
        """Format and words of a, b, the scales of scaled units, c and d, by name; words as [n, values]."""
        formats = self.unit.input_formats() | {"d": self.unit.operands.d}
        words = self.inputs.named() | {"d": self.d}
        order = [name for name in ("a", "b", "scale_a", "scale_b", "c", "d") if name in words]
        return {name: (formats[name], words[name].reshape(len(self.d), -1)) for name in order}


def vectors_of(spec: UnitSpec, n: int, *, kind: str | None = None, seed: int = 1) -> UnitVectors:
    """`n` dot products of one call of a unit, of one kind or of all in equal parts, with their results.

    Ranges and units: fewer where a unit has fewer directed inputs and `kind` asks for these; else random ones
    take their places.
    Errors: InputError for a number or a kind that does not fit; SolverDisagreementError where a result is not
    the one of exact fractions.
    """
    check_int("-n", n, low=1, high=MOST_AT_ONCE)
    check_int("--seed", seed, low=0, high=MOST_SEED)
    chosen = KINDS if kind is None else (check_choice("kind of vectors", kind, KINDS),)
    parts: dict[str, Batch] = {}
    for i, name in enumerate(chosen):
        left = n - sum(len(x.c) for x in parts.values())
        count = left // (len(chosen) - i)
        if count:
            parts[name] = _drawn(spec, name, count, seed)
    inputs = together(*parts.values())
    d = replay(spec, inputs)
    rows = np.unique(np.linspace(0, len(d) - 1, REPLAYED).astype(int))
    for row in rows:
        exact = oracle_result(spec, witness_at(inputs, row))
        if exact != d[row]:
            raise SolverDisagreementError(
                f"expected one result of {spec.name}, but got {int(d[row]):#x}, and {exact:#x} in fractions"
            )
    kinds = tuple(name for name, x in parts.items() for _ in range(len(x.c)))
    return UnitVectors(spec, seed, kinds, inputs, d, len(rows))


def _drawn(spec: UnitSpec, kind: str, count: int, seed: int) -> Batch:
    """Dot products of one kind."""
    rng = np.random.default_rng(seed)
    if kind == "directed":
        every = batch_of(list(dict.fromkeys(x.witness for x in directed(spec))))
        return rows_of(every, np.sort(rng.permutation(len(every.c))[:count]))
    made = batch(spec, spec.k, count, seed)
    if kind == "random":
        return made
    # Some three products of each sum: with more, nearly every sum is NaN.
    full = rng.random(made.a.shape) < min(1, 3 / spec.k)
    a, b = (
        np.where(full, one_operand(rng, fmt, made.a.shape, "edges"), np.uint64(0))
        for fmt in (spec.a_format, spec.b_format)
    )
    return replace(made, a=a, b=b, c=one_operand(rng, spec.c_format, made.c.shape, "edges"))
