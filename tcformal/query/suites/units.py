"""Public suites of units, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcformal.design.names import resolve
from tcformal.design.space import space
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.query.suites import suite as suites
from tcformal.query.suites.made import Suite
from tcformal.simulation.matrix_unit import Unit, spec_of
from tcformal.solve.result import Limits


def suite(
    units: str | Unit | UnitSpec | Sequence[str | Unit | UnitSpec],
    *,
    vary: Sequence[str] = (),
    vectors: int = suites.VECTORS,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    jobs: int | None = None,
    total_s: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Suite:
    """Find the fewest inputs on which every two designs differ or are proved equal.

    Shapes: one unit alone stands for itself and every variation of one of its parameters; with `vary`
    (`["fraction_bits=10..40"]`), each unit takes every combination of the values; several units are compared
    with each other.  Units of equal operand formats and scales, at most 10,000 designs.
    Ranges and units: `vectors` inputs, at least 2, are tried in one round before solvers are asked; `limits`
    hold for each solver on one pair of designs, 20 s unless given, and their seed draws the inputs too;
    `jobs` solvers run at a time; no pair is asked about later than `total_s` seconds after the start;
    `solvers` and `progress` are those of `separate`.
    Zero, NaN, Inf: results are compared as encodings.
    Errors: UnknownNameError for unknown units, parameters or solvers; InputError for designs that cannot be
    compared, or fewer than two of them; MissingSolverError for a solver that is not installed;
    SolverDisagreementError where lanes, integers and the oracle do not agree on an input.  A pair without an
    answer stands in `undecided` of the result.
    Source: the units' own.
    """
    listed = [units] if isinstance(units, str | Unit | UnitSpec) else list(units)
    allowed = limits or suites.DEFAULT_LIMITS
    return suites.suite(
        space([_name(u) for u in listed], vary=vary), vectors=vectors, seed=allowed.seed, solvers=solvers,
        limits=allowed, jobs=jobs, total_s=total_s,
        progress=lambda what, _done, _all: None if progress is None else progress(what),
    )  # fmt: skip


def _name(u: str | Unit | UnitSpec) -> str:
    """The name that resolves to a unit; InputError for a unit without one."""
    spec = spec_of(u)
    if resolve(spec.name) != spec:
        raise InputError(f"expected a unit as its name defines it, but got another of the name {spec.name}")
    return spec.name
