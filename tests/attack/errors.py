"""Error theorems on inputs: the exact error of every row, and how much of the bound it is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attack.exact import Ints, Numbers, Reals, Sums, Truth, decoded
from attack.statements import ErrorStatement
from tcformal.design.unit import UnitSpec
from tcformal.operands.random import Batch

#: Ratios are rounded by less than this: rows above 1 less this are decided on exact fractions.
_NEAR = 1e-9
#: Exponents below those of all numbers: of what is left out of a maximum.
_NONE = -(1 << 20)


@dataclass(frozen=True, slots=True)
class Ratios:
    """What rows lose of what a theorem allows.

    Shapes: arrays [n]; `met`: rows that obey its hypotheses; `broken`: rows that break it,
    on exact fractions.
    """

    ratio: Reals
    met: Truth
    broken: Truth


@dataclass(slots=True)
class _Row:
    """Products, c and d of all rows of a batch, decoded.

    Shapes: factors [n, k] each; sign [n, k]; c, d [n]; exponent, nonzero [n, k].
    """

    factors: list[Numbers]
    negative: Truth
    exponent: Ints
    nonzero: Truth
    c: Numbers
    d: Numbers


def ratios(spec: UnitSpec, s: ErrorStatement, x: Batch, words: NDArray[Any]) -> Ratios:
    """How much of its bound each row of a batch loses, of results that the unit gave."""
    r = _decoded(spec, s, x, words)
    n = len(r.exponent)
    met = _met(spec, s, r)
    at, met = _limits(spec, s, r, met)
    errors = _errors(spec, r)
    negative, size, e = errors.sizes()
    # s · (d - sum) is along the sign of c, or against it.
    turned = (r.c.negative if s.signed else np.zeros(n, np.bool_)) ^ negative
    base = np.maximum(np.max(np.where(r.nonzero, r.exponent, _NONE), axis=1, initial=_NONE), at["ulp"])
    base = np.maximum(base, np.where(r.c.zero, _NONE, r.c.exponent))
    magnitudes = _magnitudes(s, r, base)
    most = np.where(turned, s.against.rounded(at, magnitudes, base), s.along.rounded(at, magnitudes, base))
    lost = size * np.ldexp(1.0, np.clip(e - base, -1000, 1000).astype(np.int32))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size == 0, 0.0, lost / most)
    ratio = np.where(met, np.nan_to_num(ratio, nan=0.0, posinf=np.inf), 0.0)
    broken = np.zeros(n, np.bool_)
    for i in np.flatnonzero(ratio > 1 - _NEAR):
        broken[i] = _breaks(s, r, at, int(i), bool(turned[i]))
    return Ratios(ratio, met, broken)


def _decoded(spec: UnitSpec, s: ErrorStatement, x: Batch, words: NDArray[Any]) -> _Row:
    a, b = decoded(spec.a_format, x.a), decoded(spec.b_format, x.b)
    c, d = decoded(spec.c_format, x.c), decoded(spec.d_format, words)
    a, b, c = (f.flushed() if flush else f for f, flush in zip((a, b, c), s.flushed, strict=True))
    factors = [a, b]
    if spec.scale_format is not None and spec.scale_block is not None:
        where = np.arange(x.a.shape[1]) // spec.scale_block
        assert x.scale_a is not None
        assert x.scale_b is not None
        factors += [decoded(spec.scale_format, y[:, where]) for y in (x.scale_a, x.scale_b)]
    negative = a.negative ^ b.negative
    if s.alternating:
        negative = negative ^ (np.arange(x.a.shape[1]) % 2 == 1)
    nonzero = np.logical_and.reduce([~f.zero for f in factors])
    exponent = np.asarray(sum(f.exponent for f in factors))
    return _Row(factors, negative, exponent, nonzero, c, d)


def _met(spec: UnitSpec, s: ErrorStatement, r: _Row) -> Truth:
    met = r.d.finite & r.c.finite
    for f in r.factors:
        met = met & f.finite.all(axis=1)
    if s.normal:
        for f in r.factors:
            met = met & ~f.subnormal.any(axis=1)
        met = met & ~r.c.subnormal
    if s.c_bits is not None and (more := spec.c_format.fraction_bits - s.c_bits) > 0:
        met = met & (r.c.significand & np.uint64((1 << more) - 1) == 0)
    return np.asarray(met & r.c.zero if s.zero_c else met)


def _limits(spec: UnitSpec, s: ErrorStatement, r: _Row, met: Truth) -> tuple[dict[str, Ints], Truth]:
    """The least limits of exponents that the hypotheses allow, and where there are some."""
    n, k = r.exponent.shape
    of_c = np.where(r.c.zero, _NONE, r.c.exponent - s.lowered) if s.of_c else np.full(n, _NONE)
    shown = np.where(r.nonzero, r.exponent, _NONE)
    if s.group is not None:
        # Of groups the scales' exponents alone count.
        live = r.nonzero.reshape(n, -1, s.group).any(axis=2)
        scales = np.asarray(sum(f.exponent for f in r.factors[2:])).reshape(n, -1, s.group).max(axis=2)
        shown = np.where(live, scales, _NONE)
    at = {"1": np.zeros(n, np.int64), "ulp": r.d.exponent - s.places}
    top = np.maximum(shown.max(axis=1), of_c)
    if s.own == ("P",):
        at["P"] = np.maximum(shown.max(axis=1), s.least)
    elif s.own:
        size = min(k, spec.design.products)
        for i, name in enumerate(s.own):
            some = np.arange(k) % size % 2 == i
            at[name] = np.maximum(shown[:, some].max(axis=1, initial=_NONE), s.least)
    if s.normal:
        # E is the exponent of a term, and in its range.
        return at | {"E": top}, met & (top >= s.least)
    at["E"] = np.maximum(top, s.least)
    return at, met


def _errors(spec: UnitSpec, r: _Row) -> Sums:
    """d less the exact sum."""
    n, k = r.exponent.shape
    parts = [r.c, r.d, *r.factors]
    low = min(
        [sum(int(f.exponent.min(initial=0)) - f.fraction_bits for f in r.factors)]
        + [int(f.exponent.min(initial=0)) - f.fraction_bits for f in parts[:2]]
    )
    high = max(
        [sum(int(f.exponent.max(initial=0)) + 1 for f in r.factors)]
        + [int(f.exponent.max(initial=0)) + 1 for f in parts[:2]]
    )
    made = Sums(n, low, high)
    for i in range(k):
        place = (slice(None), i)
        made.add_product(~r.negative[place], [f.at(place) for f in r.factors])
    made.add(~r.c.negative, r.c.significand, r.c.exponent - r.c.fraction_bits)
    # What is infinite or NaN is no number, and no row that counts.
    size = np.where(r.d.finite, r.d.significand, np.uint64(0))
    made.add(r.d.negative, size, r.d.exponent - r.d.fraction_bits)
    return made


def _magnitudes(s: ErrorStatement, r: _Row, base: Ints) -> tuple[Reals, Reals, Reals]:
    """Of products with the sign of c, of the others, and of c, in units of 2^base."""
    if not any((*s.against.weights, *s.along.weights)):
        nothing = np.zeros(base.shape)
        return nothing, nothing, nothing
    size = np.ones(r.exponent.shape)
    for f in r.factors:
        size = size * np.ldexp(f.significand.astype(np.float64), -f.fraction_bits)
    size = size * np.ldexp(1.0, np.clip(r.exponent - base[:, None], -1000, 0).astype(np.int32))
    same = r.negative == r.c.negative[:, None]
    c = np.ldexp(
        r.c.significand.astype(np.float64),
        np.clip(r.c.exponent - r.c.fraction_bits - base, -1000, 0).astype(np.int32),
    )
    return (size * same).sum(axis=1), (size * ~same).sum(axis=1), c


def _breaks(s: ErrorStatement, r: _Row, at: dict[str, Ints], i: int, turned: bool) -> bool:
    """Whether one row breaks the theorem, on exact fractions."""
    products = []
    for j in range(r.exponent.shape[1]):
        size = Fraction(1)
        for f in r.factors:
            size *= abs(f.value((i, j)))
        products.append((size, bool(r.negative[i, j])))
    c, d = r.c.value(i), r.d.value(i)
    total = sum((-size if minus else size for size, minus in products), c)
    sign = bool(r.c.negative[i])
    magnitudes = (
        sum((size for size, minus in products if minus == sign), Fraction(0)),
        sum((size for size, minus in products if minus != sign), Fraction(0)),
        abs(c),
    )
    limits = {name: int(x[i]) for name, x in at.items()}
    most = (s.against if turned else s.along).exact(limits, magnitudes)
    lost = abs(d - total)
    return lost > most or (s.strict and lost == most != 0)
