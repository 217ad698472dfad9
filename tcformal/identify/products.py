"""A mismatch of two matrix products: the units and recipes that give each of them, and where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Advance, ignore_count
from tcformal.design.axes import catalogued_rivals, computed
from tcformal.design.unit import UnitSpec, takes
from tcformal.errors import InputError
from tcformal.formats.spec import Specials
from tcformal.identify.product_case import ProductCase
from tcformal.matmul.differ import steps_between
from tcformal.matmul.recipe import ModelGemm, gemm
from tcformal.operands.random import Raw
from tcformal.programs.recipes.names import recipe
from tcformal.programs.recipes.recipe import Recipe

#: Rows and columns of D on which every candidate is tried first.
_TRIED = 6
_SPLITS = (2, 3, 4, 5, 6, 7, 8, 12, 16)
_TILES = (16, 32, 64, 128)
#: Recipes of which the fault that drops the tail is tried.
_DROPPING = ("cublaslt-66@grain=128", "cublaslt-21@tile=32")
#: Fields whose other value is a fault of a library that was seen, in words.
FAULTS = {
    ("tail", "dropped"): "a known fault: the incomplete last tile of k is left out where K is split",
    ("scales_of", "first-part"): "a known fault: every part of K uses the scales of the first one",
}


@dataclass(frozen=True, slots=True)
class ProductProducer:
    """A recipe on a unit that gives every element of a result."""

    model: ModelGemm
    #: Whether the unit is the one that was asked about.
    own: bool

    @property
    def fault(self) -> str:
        """What is wrong with the recipe, empty where it is a library's as it should be."""
        values = self.model.recipe.parameters().items()
        return "; ".join(FAULTS[pair] for pair in values if pair in FAULTS)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The nearest first: without fault, the unit itself, few fields set."""
        return bool(self.fault), not self.own, self.model.recipe.name.count("=")


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two recipes part on one element: the first products after which their results differ.

    Ranges and units: with the products of k from `stop` on left out the results differ, with those from
    `start` on they do not; `results`: raw encodings after `stop`.
    """

    start: int
    stop: int
    results: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExplainedProduct:
    """The recipes on units that give the expected product, and those that give the one obtained.

    Shapes: `differing` elements of D differ, the first of them, row by row, at `first`; None where none does.
    Ranges and units: `largest`: the most values of D's format between two results.
    """

    unit: UnitSpec
    case: ProductCase
    tried: int
    differing: int
    largest: int
    first: tuple[int, int] | None
    expected: tuple[ProductProducer, ...]
    got: tuple[ProductProducer, ...]
    parting: Parting | None

    @property
    def both(self) -> bool:
        """Whether known arithmetic, of libraries without a fault, gives both results."""
        return all(found and not found[0].fault for found in (self.expected, self.got))


def explain_product(
    spec: UnitSpec,
    case: ProductCase,
    recipes: Sequence[str] = (),
    advance: Advance = ignore_count,
    *,
    rivals: bool = True,
) -> ExplainedProduct:
    """Try the unit, and with `rivals` every catalogued design of its formats, by all recipes.

    Ranges and units: `recipes`: names of further ones to try, such as `stream-k@stream=132`; a candidate
    counts if it gives every element.
    Zero, NaN, Inf: encodings are compared.
    Errors: InputError for a recipe that does not exist.
    """
    parted = np.argwhere(case.expected != case.got)
    rows, columns = (_some(parted[:, axis], case.expected.shape[axis]) for axis in (0, 1))
    small = case.part(rows, columns)
    candidates = [*_candidates(spec, case, recipes, rivals)]
    found: dict[str, list[ProductProducer]] = {"expected": [], "got": []}
    results: dict[str, Raw] = {"expected": case.expected, "got": case.got}
    seen: set[object] = set()
    tried = 0
    memos: dict[UnitSpec, dict[object, Raw]] = {}
    for done, one in enumerate(candidates):
        advance(done, len(candidates))
        streamed = bool(one.model.recipe.stream)
        try:
            key = one if streamed else (one.model.unit, one.model.computed(case.k))
            if key in seen:
                continue
            seen.add(key)
            memo = memos.setdefault(one.model.unit, {})
            d = case.product(one.model) if streamed else small.product(one.model, memo)
        except InputError:
            continue  # a recipe that has no place for these operands
        tried += 1
        whole = d if streamed else None
        for name, wanted in results.items():
            if not (d == (wanted if streamed else wanted[np.ix_(rows, columns)])).all():
                continue
            whole = case.product(one.model) if whole is None else whole
            if (whole == wanted).all():
                found[name].append(one)
    advance(len(candidates), len(candidates))
    expected, got = (tuple(sorted(made, key=lambda p: p.rank)) for made in found.values())
    first = (int(parted[0, 0]), int(parted[0, 1])) if len(parted) else None
    apart = steps_between(case.d_format, case.expected, case.got)
    parting = None
    if first is not None and expected and got:
        parting = _parting(case, expected[0].model, got[0].model, first)
    return ExplainedProduct(
        spec, case, tried, len(parted), max(0, int(apart.max())), first, expected, got, parting
    )  # fmt: skip


def _some(places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """A few places, those that differ first, then others evenly spread."""
    wanted = [*dict.fromkeys(places.tolist()), *np.linspace(0, length - 1, _TRIED).astype(int).tolist()]
    return np.array(sorted(list(dict.fromkeys(wanted))[:_TRIED]))


def _candidates(
    spec: UnitSpec, case: ProductCase, recipes: Sequence[str], rivals: bool
) -> Iterator[ProductProducer]:
    """The unit and its rivals, by every recipe; nearer ones first."""
    others = catalogued_rivals(spec, case.k) if rivals else []
    units = [spec, *(u for u in others if u.name != spec.name)]
    units = list({computed(u, case.k): u for u in reversed(units) if takes(u, case.k)}.values())[::-1]
    if spec.scale_format is not None:
        raise InputError(
            f"expected a unit without scales of its own for a whole product, but got {spec.name}"
        )
    named = [recipe(name) for name in recipes]
    for u in units:
        for one in (*named, *_recipes(u, case)):
            try:
                yield ProductProducer(gemm(u, _to(one, case, u)), u is spec)
            except InputError:
                continue  # a recipe that this unit cannot follow


def _to(one: Recipe, case: ProductCase, u: UnitSpec) -> Recipe:
    """The recipe with results in the product's format."""
    if case.d_format == u.d_format or one.output == case.d_format.name:
        return one
    fields: dict[str, str | bool] = {"output": case.d_format.name}
    if case.d_format.specials is not Specials.IEEE:
        fields["saturate"] = True
    listed = ",".join(f"{key}={str(value).lower()}" for key, value in fields.items())
    return one.altered(f"{one.name}{',' if '@' in one.name else '@'}{listed}", fields)


def _recipes(u: UnitSpec, case: ProductCase) -> Iterator[Recipe]:
    """Every recipe with the fields that libraries choose by the product."""
    whole, split = _families(u, case)
    for name in whole:
        yield recipe(name)
    for base in split:
        for s in _SPLITS:
            if s > case.k:
                continue
            made = recipe(f"{base}{',' if '@' in base else '@'}splits={s}")
            yield made
            for tile in _TILES[1:]:
                if case.k % tile and base in _DROPPING:
                    yield made.altered(
                        f"{made.name},tail=dropped,tile={tile}", {"tail": "dropped", "tile": tile}
                    )
            if case.scaled:
                yield made.altered(f"{made.name},scales_of=first-part", {"scales_of": "first-part"})


def _families(u: UnitSpec, case: ProductCase) -> tuple[list[str], list[str]]:
    """Names of recipes for K whole, and of those for parts of it."""
    if case.scaled:
        families = ["deepgemm-sm90@output=accumulator", "cutlass-sm90-fp8-scaled"]
        return families, [f"{x}{',' if '@' in x else '@'}grain=128" for x in families]
    # Where C joins an unscaled sum, both fused multiply–adds are the same.
    fused = ["", ",fused=c"] if case.alpha is not None and case.c is not None else [""]
    whole = ["plain", "cublaslt-55", *(f"cublaslt-55@{x[1:]}" for x in fused if x)]
    whole += [f"cublaslt-21@tile={tile}{x}" for tile in _TILES for x in fused]
    narrow = case.d_format != u.d_format
    split = [
        f"cublaslt-{number}{x}{y}"
        for number in ("66@grain=128", *(f"21@tile={tile}" for tile in _TILES), "36@tile=16", "36@tile=32")
        for x in fused
        for y in (("", ",partials=output") if narrow else ("",))
    ]
    # In the accumulator's format and without alpha, serial sums are those of a workspace.
    serial = [f"cutlass-split-k-serial@tile={t},grain={t}" for t in _TILES[1:]]
    split += [*serial, "cutlass-split-k-parallel@tile=32"]
    if u.a_format.storage_bits == 8:
        whole += ["cublaslt-66-promoted", "cutlass-sm90-fp8", "cutlass-sm80-fp8"]
        whole += ["cutlass-sm80-fp8@tile=128,promotion=128"]
        split += ["cublaslt-66-promoted@grain=128"]
    return whole, split


def _parting(
    case: ProductCase, first: ModelGemm, second: ModelGemm, place: tuple[int, int]
) -> Parting | None:
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
