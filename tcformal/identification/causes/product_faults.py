"""Faults of whole products that are no arithmetic: products of some k left out, taken twice, or negated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import values_of
from tcformal.identification.causes.sum_faults import FaultKind
from tcformal.identification.product_case import ProductCase
from tcformal.simulation.model_gemm import ModelGemm

#: Elements that a fault must explain, and faults that are replayed on them.
_ELEMENTS, _MOST = 16, 256
#: Products up to which every range of k is tried; of more, ranges whose ends are multiples of 1/512 of K.
_ENDS = 512
#: How far a predicted change may be from the one seen: multiples of u·Σ|a·b| and of the expected rounding.
_NEAR = 4
_FACTORS = {FaultKind.LEFT_OUT: 0.0, FaultKind.TWICE: 2.0, FaultKind.NEGATED: -1.0}


@dataclass(frozen=True, slots=True)
class ProductFault:
    """A recipe whose products of k from `start` up to `stop` are treated otherwise."""

    model: ModelGemm
    kind: FaultKind
    start: int
    stop: int

    def __str__(self) -> str:
        which = f"k = {self.start}" + (f" to {self.stop - 1}" if self.stop > self.start + 1 else "")
        name = f"{self.model.recipe.name} on {self.model.unit.name}"
        return f"{name} {self.kind.value} the products of {which}"


def product_faults(case: ProductCase, models: Sequence[ModelGemm]) -> list[ProductFault]:
    """The faults of recipes that give all differing elements obtained, short ranges of k first.

    Shapes: of many elements the first sixteen that differ are compared.
    Ranges and units: one k, or a range of k that is left out, the same for all elements; of those that change
    the sum in binary64 about as much as it differs.  None where sums are scaled, or stream-K.
    Zero, NaN, Inf: none where a result or an operand is NaN or Inf.
    """
    places = np.argwhere(case.expected != case.got)[:_ELEMENTS]
    if case.scaled or not len(places):
        return []
    rows = [case.part(np.array([i]), np.array([j])) for i, j in places]
    hypotheses = list(_likely(rows))[:_MOST]
    found = []
    for model in models:
        left = [] if model.recipe.stream else hypotheses
        for row in rows:
            if left:
                left = _that_give(row, model, left)
        found += [ProductFault(model, *x) for x in left]
    return sorted(found, key=lambda x: x.stop - x.start)


_Hypothesis = tuple[FaultKind, int, int]


def _likely(rows: Sequence[ProductCase]) -> Iterator[_Hypothesis]:
    """Faults that change the sums of all elements about as much as they differ, the nearest first."""
    products = np.array([_doubles(x.a)[0] * _doubles(x.b)[:, 0] for x in rows])
    if rows[0].alpha is not None:
        products = products * float(rows[0].alpha)
    fmt, k = rows[0].d_format, products.shape[1]
    expected, got = (
        np.array([float(values_of(getattr(x, name), fmt)[0, 0]) for x in rows])
        for name in ("expected", "got")
    )
    if not (np.isfinite(products).all() and np.isfinite(expected).all() and np.isfinite(got).all()):
        return
    change = got - expected
    size = np.abs(products).sum(1) * 2.0**-fmt.precision
    plain = all(x is None for x in (rows[0].c, rows[0].bias))
    rounding = np.abs(expected - products.sum(1)) if plain else 0.0
    near = _NEAR * (size + rounding) + np.finfo(np.float64).tiny
    made: list[tuple[float, _Hypothesis]] = []
    for kind, factor in _FACTORS.items():
        off = (np.abs((factor - 1) * products - change[:, None]) / near[:, None]).max(0)
        made += [(float(off[i]), (kind, int(i), int(i) + 1)) for i in np.flatnonzero(off <= 1)]
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(products, 1)], 1)
    ends = np.unique(np.linspace(0, k, min(k, _ENDS) + 1).astype(int))
    for start in ends.tolist():
        stops = ends[ends > start + 1]
        lost = sums[:, stops] - sums[:, [start]]
        off = (np.abs(-lost - change[:, None]) / near[:, None]).max(0, initial=0.0)
        made += [
            (float(off[i]), (FaultKind.LEFT_OUT, start, int(stops[i]))) for i in np.flatnonzero(off <= 1)
        ]
    yield from (x for _, x in sorted(made, key=lambda y: (y[0], y[1][2] - y[1][1])))


def _that_give(row: ProductCase, model: ModelGemm, faults: Sequence[_Hypothesis]) -> list[_Hypothesis]:
    """The faults with which a recipe gives one element."""
    tried, changed = [], []
    for kind, start, stop in faults:
        a = _doubles(row.a)[0].copy()
        a[start:stop] *= _FACTORS[kind]
        words = a.astype(row.a.dtype)
        if (_doubles(words) == a).all():
            tried.append((kind, start, stop))
            changed.append(words)
    if not tried:
        return []
    n = len(tried)
    many = row.part(np.zeros(n, np.int64), np.zeros(1, np.int64))
    d = replace(many, a=np.array(changed)).product(model)[:, 0]
    return [x for x, word in zip(tried, d, strict=True) if word == row.got[0, 0]]


def _doubles(x: NDArray[Any]) -> NDArray[np.float64]:
    return x.astype(np.float64)
