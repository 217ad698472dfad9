"""Measured quantities in query files: errors of random products, and monotonicity defects in c."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcformal.analysis.distance.monotone import monotonicity
from tcformal.analysis.drawn import weighted
from tcformal.analysis.errors import error_sample
from tcformal.analysis.papers.numbers import read_number
from tcformal.checks import check_int, read_int
from tcformal.errors import InputError
from tcformal.oracle.numerals import number_text
from tcformal.query.options import SolveOptions
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import RunnableProgram, computation

#: Digits to which a stated error is compared.
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class MeasureAsked:
    """A parsed ask about a measured quantity, with its expectation.

    Ranges and units: `random`: the largest error of random products in units of u·|A||B|; `falls`: ulps by
    which the result falls at least where c grows by one step.  One of both.
    """

    of: Unit | RunnableProgram
    length: int
    random: Fraction | None
    falls: Fraction | None
    elements: int
    distribution: str
    seed: int


def measure_asked(body: Mapping[str, Any]) -> MeasureAsked:
    """Parse the key `measure`; InputError for invalid values."""
    values = body["measure"]
    of = computation(values["of"])
    if ("random" in values) == ("falls" in values):
        raise InputError("expected one of random and falls to measure")
    numbers = {"length": of.k, "elements": 1024, "seed": 0}
    for key in numbers:
        if key in values:
            text = values[key]
            number = read_int(key, text) if isinstance(text, str) else text
            numbers[key] = check_int(key, number, low=int(key != "seed"))
    distribution = values.get("distribution", "normal")
    weighted(of.a_format, distribution)  # refuses what it does not know
    wanted = [read_number(key, values[key]) if key in values else None for key in ("random", "falls")]
    return MeasureAsked(
        of, numbers["length"], wanted[0], wanted[1], numbers["elements"], distribution, numbers["seed"]
    )


def measure(x: MeasureAsked, how: SolveOptions) -> tuple[str, dict[str, Any]]:
    """Measure a quantity: REPRODUCED or DIFFERENT for errors; FOUND, HOLDS or UNKNOWN for defects."""
    if x.random is not None:
        return _random(x, x.random)
    defects = monotonicity(
        x.of, length=x.length, limits=how.limits, solvers=how.solvers, certify=how.certify, store=how.store(),
        fresh=how.fresh,
    )  # fmt: skip
    fall = defects.largest("c")
    data: dict[str, Any] = {"checked": defects.claim is None or defects.claim.checked}
    if fall is None:
        said = "proved not to" if defects.proved else "none found"
        return ("HOLDS" if defects.proved else "UNKNOWN"), data | {"reason": f"falls where c grows: {said}"}
    met = x.falls is not None and fall.ulps >= x.falls
    return ("FOUND" if met else "UNKNOWN"), data | {
        "reason": f"falls by {number_text(fall.ulps)} ulps where c grows, replayed twice",
        "ulps": float(fall.ulps), "relative": float(fall.relative),
        "inputs": [{k: hex(v) for k, v in w.inputs().items() if v} for w in (fall.first, fall.second)],
    }  # fmt: skip


def _random(x: MeasureAsked, stated: Fraction) -> tuple[str, dict[str, Any]]:
    """The errors of seeded random products, compared with the stated largest one."""
    s = error_sample(x.of, x.length, elements=x.elements, distribution=x.distribution, seed=x.seed)
    q = s.quantiles
    largest = q.get(1.0, float("nan"))
    same = f"{largest:.{_DIGITS}g}" == f"{float(stated):.{_DIGITS}g}"
    u = s.unit.d_format.precision
    reason = (
        f"{s.errors.size} products of {x.length}: median {q.get(0.5, 0):.4g}, largest {largest:.4g} in units "
        f"of 2^-{u}·|A||B|"
    )
    return ("REPRODUCED" if same else "DIFFERENT"), {"reason": reason, "largest": largest, "checked": True}
