"""The distance of two units: its supremum by their theorems, an interval for each element of a product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.apart.replayed import exact as exactly
from tcformal.apart.replayed import replayed, witness
from tcformal.bounds.accuracy import accuracy
from tcformal.bounds.program.calls import CallBound, CallBounds
from tcformal.bounds.theorems import Theorems
from tcformal.callbacks import Progress, ignore
from tcformal.checks import check_int
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError, InvariantError
from tcformal.formats.spec import Format
from tcformal.kernels.gemm import MatrixWords
from tcformal.matmul import arrays
from tcformal.matmul.errors import difference, values_of
from tcformal.matmul.unit import Unit, spec_of
from tcformal.operands.witness import Witness
from tcformal.oracle.values import decode
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.prove import ClaimStore
from tcformal.solve.result import Limits

#: Most products of a dot product whose largest distance is sought.
LONGEST = 1 << 12
#: Elements of |A||B| are computed in binary64, whose rounding errors this share of them covers, for each k.
_ROUNDED = 2.0**-52
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Between which ends the second unit's results lie, less the first one's, element by element.

    Shapes: low, high, covered [M, N].
    Ranges and units: low <= D2 - D1 <= high wherever `covered`; elsewhere -inf and inf.  `constants`: what
    both units lose of Σ|x_k·y_k| and of |c| at most where operands are normal.
    """

    units: tuple[UnitSpec, UnitSpec]
    low: Reals
    high: Reals
    covered: NDArray[np.bool_]
    constants: tuple[CallBound, CallBound]
    claims: tuple[ClaimVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestDistance:
    """What is known of sup |fl1 - fl2| / Σ|x_k·y_k| for two units and a length, c = 0.

    Ranges and units: `bound`: the sum of what both lose, for normal operands without underflow and overflow;
    `attained`: what the inputs give, replayed on integers and on exact fractions.
    """

    units: tuple[UnitSpec, UnitSpec]
    length: int
    bound: Fraction
    attained: Fraction
    inputs: Witness
    results: tuple[int, int]
    claims: tuple[ClaimVerdict, ...]

    def __post_init__(self) -> None:
        if self.attained > self.bound:
            names = " and ".join(u.name for u in self.units)
            raise InvariantError(
                f"expected results of {names} at most {float(self.bound):.7g}·Σ|x_k·y_k| apart, as is "
                f"proved, but replayed ones are {float(self.attained):.7g} apart"
            )


def distances(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    exact: bool = False,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: ClaimStore | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> Distances:
    """An interval for D2 - D1 of two units on my matrices, element by element, without computing D2.

    Shapes: A [M, K], B [K, N], C [M, N] or None (zeros), as for `Unit.matmul`.
    Ranges and units: from theorems of both units: each result lies within own·(|A||B|) + other·|C| of the
    exact one, subnormal factors counted as the least normal number.  `exact`: compute D1 and its exact error,
    so that only the second unit's theorem counts: narrower, but every element takes an exact sum.
    Zero, NaN, Inf: elements of rows or columns with NaN or Inf, or that may overflow or underflow, are not
    covered.
    Errors: InputError for operands that do not fit, for units with scales or of unlike formats, and where
    there is no theorem; those of `Unit.matmul`.
    Source: claims `relative-error` and `error-bound` of the kernel.
    """
    units = _alike(first, second)
    x = arrays.product(units[0], a, b, c, None, None)
    known = CallBounds(Theorems(store, limits or Limits(), solvers, certify, fresh, progress))
    sums = _Matrices(units[0], x)
    sides = [_side(known, u, sums) for u in units]
    covered = sides[0].covered & sides[1].covered
    low, high = -(sides[0].error + sides[1].error), sides[0].error + sides[1].error
    if exact:
        lost = _lost(Unit(units[0]), x, covered)
        # The difference, the sums below and their own margin are rounded: four times more than that.
        margin = np.abs(lost) * 4 * _ROUNDED
        low = np.maximum(low, -sides[1].error - lost - margin)
        high = np.minimum(high, sides[1].error - lost + margin)
    return Distances(
        units=units, low=np.where(covered, low, -np.inf), high=np.where(covered, high, np.inf),
        covered=covered, constants=(sides[0].normal, sides[1].normal), claims=_claims(known),
    )  # fmt: skip


def largest_distance(
    first: str | Unit | UnitSpec,
    second: str | Unit | UnitSpec,
    *,
    length: int | None = None,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    store: ClaimStore | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> LargestDistance:
    """sup |fl1 - fl2| / Σ|x_k·y_k| of two units: a bound, and inputs of either's constant that come near.

    Shapes: `length` products from 1 to 4096, by default those of the longer call.
    Ranges and units: operands are normal or zero, c is 0.
    Zero, NaN, Inf: no result overflows.
    Errors: InputError for units with scales or of unlike formats, a length out of range, and where there is
    no theorem.
    Source: claims `relative-error` and `error-bound` of the kernel.
    """
    units = _alike(first, second)
    n = max(u.k for u in units) if length is None else check_int("length", length, low=1, high=LONGEST)
    bounds = CallBounds(Theorems(store, limits or Limits(), solvers, certify, fresh, progress))
    bound = sum((bounds.of(u, n, zero_c=True, normal=True).own for u in units), Fraction(0))
    found = []
    for u in units:
        built = accuracy(u, length=n, subnormals=False, prove=False, progress=progress).attained
        a = [word for w, times in built.calls for word in w.a * times]
        b = [word for w, times in built.calls for word in w.b * times]
        found.append(_apart(units, a[:n], b[:n]))
    ratio, inputs, results = max(found, key=lambda x: x[0])
    return LargestDistance(
        units=units, length=n, bound=bound, attained=ratio, inputs=inputs, results=results,
        claims=_claims(bounds),
    )  # fmt: skip


def _apart(
    units: tuple[UnitSpec, UnitSpec], a: list[int], b: list[int]
) -> tuple[Fraction, Witness, tuple[int, int]]:
    """How far the results of one row are apart, in units of Σ|x_k·y_k|."""
    found = []
    for u in units:
        rest = [0] * (-len(a) % u.k)
        row = np.array([*a, *rest], np.uint64), np.array([*b, *rest], np.uint64)
        found.append((u, witness(Unit(u), *row, 0)))
    results = replayed(Unit(units[0]), found[0][1]), replayed(Unit(units[1]), found[1][1])
    size = exactly(Unit(units[0]), found[0][1])[1]
    values = [decode(units[0].d_format, r) for r in results]
    apart = abs(values[0].number - values[1].number)
    return apart / size if size else Fraction(0), found[0][1], results


def _alike(first: str | Unit | UnitSpec, second: str | Unit | UnitSpec) -> tuple[UnitSpec, UnitSpec]:
    """Two units of equal formats, without scales."""
    units = spec_of(first), spec_of(second)
    for u in units:
        if u.scale_format is not None:
            raise InputError(f"expected two units without scales, but got {u.name}")
    if units[0].operands != units[1].operands:
        shown = (", ".join(f.name for f in (o.a, o.b, o.c, o.d)) for o in (u.operands for u in units))
        raise InputError(f"expected two units of equal formats, but got {' and '.join(shown)}")
    return units


def _claims(known: CallBounds) -> tuple[ClaimVerdict, ...]:
    return tuple({(v.unit.name, v.claim): v for _, p in known.made for v in p.claims}.values())


class _Matrices:
    """What both units' bounds need of the matrices.

    Shapes: sizes, raised, last [M, N]: Σ|x_k·y_k|, the same with every factor at least the least normal
    number, and |c|, each rounded up; normal, usable [M, N].
    Ranges and units: all products and c are multiples of 2^grid.
    """

    def __init__(self, u: UnitSpec, x: MatrixWords) -> None:
        self.products = x.a.shape[1]
        p, q = values_of(x.a, u.a_format), values_of(x.b, u.b_format)
        z = np.zeros((1, 1)) if x.c is None else values_of(x.c, u.c_format)
        self.zero_c = not z.any()
        rows, columns = np.isfinite(p).all(1), np.isfinite(q).all(0)
        p, q = np.abs(np.where(np.isfinite(p), p, 0)), np.abs(np.where(np.isfinite(q), q, 0))
        shape = (len(p), q.shape[1])
        grown = 1 + (self.products + 8) * _ROUNDED
        self.sizes = (p @ q) * grown
        least = 2.0**u.a_format.e_min, 2.0**u.b_format.e_min
        self.raised = (np.maximum(p, least[0]) @ np.maximum(q, least[1])) * grown
        self.last = np.broadcast_to(np.abs(z), shape)
        plain = [((v == 0) | (v >= low)) for v, low in zip((p, q), least, strict=True)]
        self.normal = np.outer(plain[0].all(1), plain[1].all(0))
        self.usable = np.outer(rows, columns) & np.isfinite(self.last) & np.isfinite(self.raised)
        grids = [_grid(v) for v in (p, q)]
        self.grid = min(sum(grids), _grid(np.abs(z)))


def _grid(values: Reals) -> int:
    """The e of the largest 2^e of which all numbers are multiples; a large one for zeros."""
    some = np.unique(values[values > 0])
    if not some.size:
        return 1 << 12
    fraction, exponent = np.frexp(some)
    whole = (fraction * 2.0**53).astype(np.int64)
    low = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - 53 + low).min())


@dataclass(frozen=True, slots=True)
class _UnitErrors:
    """One unit's largest errors, [M, N], where they are known, and its constants."""

    error: Reals
    covered: NDArray[np.bool_]
    normal: CallBound


def _side(known: CallBounds, u: UnitSpec, s: _Matrices) -> _UnitErrors:
    normal = known.of(u, s.products, zero_c=s.zero_c, normal=True)
    error, covered = _error(normal, s.sizes, s.last), s.normal & (s.grid >= _least(u, normal))
    if not s.normal.all():
        other = known.of(u, s.products, zero_c=s.zero_c, normal=False)
        error = np.where(s.normal, error, _error(other, s.raised, s.last))
        covered = covered | (~s.normal & (s.grid >= _least(u, other)))
    top = float(decode(u.d_format, u.d_format.largest).number)
    fits = 2 * (s.raised + s.last + error) < top
    return _UnitErrors(error, covered & s.usable & fits, normal)


def _least(u: UnitSpec, x: CallBound) -> int:
    """Where every multiple of 2^e that is not zero is no underflow."""
    d: Format = u.d_format
    return max(x.least, d.e_min)


def _error(x: CallBound, sizes: Reals, last: Reals) -> Reals:
    """own·Σ|x_k·y_k| + other·|c|, rounded up."""
    up = 1 + 8 * _ROUNDED
    return np.asarray((float(x.own) * up * sizes + float(x.other) * up * last) * up)


def _lost(u: Unit, x: MatrixWords, where: NDArray[np.bool_]) -> Reals:
    """fl - (xᵀy + c) of the elements asked for, each the exact difference rounded once; 0 elsewhere."""
    given = [arrays.from_raw(w, f) for w, f in ((x.a, u.a_format), (x.b, u.b_format))]
    c = None if x.c is None else arrays.from_raw(x.c, u.c_format)
    d = values_of(arrays.to_raw("D", u.matmul(given[0], given[1], c, progress=False), u.d_format), u.d_format)
    p, q = values_of(x.a, u.a_format), values_of(x.b, u.b_format)
    last = None if x.c is None else values_of(x.c, u.c_format)
    made = np.zeros(d.shape)
    for i, j in np.argwhere(where):
        row, column = p[i], q[:, j]
        if last is not None:
            row, column = np.append(row, last[i, j]), np.append(column, 1.0)
        made[i, j] = difference(u, float(d[i, j]), row, column)
    return made
