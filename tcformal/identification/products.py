"""A mismatch of two matrix products: the units and recipes that give each of them, and where they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.differences import ulp_distance
from tcformal.callbacks import Advance, ignore_count
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.causes.accident import by_accident
from tcformal.identification.causes.product_faults import ProductFault, product_faults
from tcformal.identification.causes.product_recipes import (
    ProductProducer,
    altered_candidates,
    product_candidates,
)
from tcformal.identification.product_case import ProductCase
from tcformal.simulation.model_gemm import ModelGemm
from tcformal.simulation.operands.batch import Raw

#: Rows and columns of D on which every candidate is tried first.
_TRIED = 6


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two recipes part on one element: the first products after which their results differ.

    Ranges and units: with the products of k from `stop` on left out the results differ, with those from
    `start` on they do not; `results`: raw encodings after `stop`.
    """

    start: int
    stop: int
    results: tuple[int, int]


class ProductVerdict(Enum):
    """What two results of one matrix product are to each other."""

    EQUAL = "the results are the same"
    ROUNDING = "recipes of libraries on units that exist give both results"
    FAULT = "a known fault of a library gives one of the results"
    UNDECIDED = "recipes on units give both results, and a faulty product gives the one obtained as well"
    UNEXPLAINED = "no recipe on a unit that exists gives one of the results"


@dataclass(frozen=True, slots=True)
class ProductHints:
    """Recipes on units altered in one parameter, for a result that none on a unit that exists gives.

    Ranges and units: `chances`: of the expected results and of those obtained, as `by_accident` on a few
    elements.
    """

    tried: int
    expected: tuple[ProductProducer, ...]
    got: tuple[ProductProducer, ...]
    chances: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class ExplainedProduct:
    """The recipes on units that give the expected product, and those that give the one obtained.

    Shapes: `differing` elements of D differ, the first of them, row by row, at `first`; None where none does.
    Ranges and units: `largest`: the most values of D's format between two results; `chance`: `by_accident`
    of the results obtained and all that was tried, on a few elements.
    """

    unit: UnitSpec
    case: ProductCase
    tried: int
    differing: int
    largest: int
    first: tuple[int, int] | None
    expected: tuple[ProductProducer, ...]
    got: tuple[ProductProducer, ...]
    chance: float | None
    #: Faulty products by the recipes that give the expected one, which give the one obtained.
    faults: tuple[ProductFault, ...]
    hints: ProductHints | None
    parting: Parting | None

    @property
    def verdict(self) -> ProductVerdict:
        """Rounding, fault or bug."""
        if self.first is None:
            return ProductVerdict.EQUAL
        if not self.expected or not self.got:
            return ProductVerdict.UNEXPLAINED
        if self.expected[0].fault or self.got[0].fault:
            return ProductVerdict.FAULT
        return ProductVerdict.UNDECIDED if self.faults else ProductVerdict.ROUNDING


def explain_product(
    spec: UnitSpec,
    case: ProductCase,
    recipes: Sequence[str] = (),
    advance: Advance = ignore_count,
    *,
    rivals: bool = True,
) -> ExplainedProduct:
    """Try the unit, and with `rivals` every catalogued design of its formats, by all recipes; then hints.

    Ranges and units: `recipes`: names of further ones to try, such as `stream-k@stream=132`; a candidate
    counts if it gives every element.  Where none gives one of the results, the recipes of the other one are
    tried on units altered in one parameter.
    Zero, NaN, Inf: encodings are compared.
    Errors: InputError for a recipe that does not exist.
    """
    trial = _ProductTrial(case)
    expected, got = trial.of([*product_candidates(spec, case, recipes, rivals)], advance)
    tried, chance = len(trial.results), trial.chance("got")
    right = {p.model.unit: p.model for p in reversed(expected) if not p.fault}
    faults = product_faults(case, [*right.values()][::-1])
    hints = None
    if trial.apart and not (expected and got):
        wanted = [name for name, made in zip(_SIDES, (expected, got), strict=True) if not made]
        altered = [*altered_candidates(spec, case, (*expected, *got))]
        trial.results.clear()
        sides = trial.of(altered, advance, wanted)
        hints = ProductHints(len(trial.results), *sides, (trial.chance("expected"), trial.chance("got")))
    first = trial.apart[0] if trial.apart else None
    apart_at = None
    if first is not None and expected and got:
        apart_at = parting(case, expected[0].model, got[0].model, first)
    apart = ulp_distance(case.d_format, case.expected, case.got)
    return ExplainedProduct(
        spec, case, tried, len(trial.apart), max(0, int(apart.max())), first, expected, got, chance,
        tuple(faults), hints, apart_at,
    )  # fmt: skip


_SIDES = ("expected", "got")


class _ProductTrial:
    """What recipes on units give: on a few elements first, those that differ among them, and then on all."""

    def __init__(self, case: ProductCase) -> None:
        self.case = case
        parted = np.argwhere(case.expected != case.got)
        self.apart = [(int(i), int(j)) for i, j in parted]
        self.places = np.ix_(*(_some(parted[:, axis], case.expected.shape[axis]) for axis in (0, 1)))
        self.small = case.part(self.places[0][:, 0], self.places[1][0])
        #: On those elements, of each that was tried.
        self.results: list[Raw] = []
        self.seen: set[object] = set()

    def of(
        self, candidates: Sequence[ProductProducer], advance: Advance, sides: Sequence[str] = _SIDES
    ) -> tuple[tuple[ProductProducer, ...], tuple[ProductProducer, ...]]:
        """Those that give the expected product and those that give the one obtained, the nearest first."""
        found: dict[str, list[ProductProducer]] = {name: [] for name in _SIDES}
        memos: dict[UnitSpec, dict[object, Raw]] = {}
        for done, one in enumerate(candidates):
            advance(done, len(candidates))
            streamed = bool(one.model.recipe.stream)
            try:
                key = one if streamed else (one.model.unit, one.model.computed(self.case.k))
                if key in self.seen:
                    continue
                self.seen.add(key)
                memo = memos.setdefault(one.model.unit, {})
                whole = self.case.product(one.model) if streamed else None
                d = self.small.product(one.model, memo) if whole is None else whole[self.places]
            except InputError:
                continue  # a recipe that has no place for these operands
            self.results.append(d)
            for name in sides:
                if not (d == getattr(self.small, name)).all():
                    continue
                whole = self.case.product(one.model) if whole is None else whole
                if (whole == getattr(self.case, name)).all():
                    found[name].append(one)
        advance(len(candidates), len(candidates))
        expected, got = (tuple(sorted(made, key=lambda p: p.rank)) for made in found.values())
        return expected, got

    def chance(self, side: str) -> float | None:
        """`by_accident` of one side's results, as wrong ones of the other's."""
        right = getattr(self.small, "got" if side == "expected" else "expected")
        return by_accident(self.case.d_format, right, getattr(self.small, side), self.results)


def _some(places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """A few places, those that differ first, then others evenly spread."""
    wanted = [*dict.fromkeys(places.tolist()), *np.linspace(0, length - 1, _TRIED).astype(int).tolist()]
    return np.array(sorted(list(dict.fromkeys(wanted))[:_TRIED]))


def parting(case: ProductCase, first: ModelGemm, second: ModelGemm, place: tuple[int, int]) -> Parting | None:
    """Both recipes on more and more of an element's products, until their results differ."""
    step = int(np.gcd(first.unit.k, second.unit.k))
    stops = [*range(step, case.k, step), case.k]
    if first.recipe.stream or second.recipe.stream:
        return None
    rows = case.prefixes(place, stops)
    d = [rows.product(model)[:, 0] for model in (first, second)]
    apart = np.flatnonzero(d[0] != d[1])
    if not apart.size:
        return None
    i = int(apart[0])
    return Parting(stops[i] - (stops[i] - 1) % step - 1, stops[i], (int(d[0][i]), int(d[1][i])))
