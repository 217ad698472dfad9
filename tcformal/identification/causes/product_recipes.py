"""The recipes on units that may have given a matrix product: those that exist, and altered units."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tcformal.design.axes import neighbours
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, takes
from tcformal.encodings.spec import Specials
from tcformal.errors import InputError
from tcformal.identification.causes.producers import same_arithmetic
from tcformal.identification.product_case import ProductCase
from tcformal.programs.recipe import Recipe, recipe
from tcformal.simulation.model_gemm import ModelGemm, gemm

#: Units, and recipes on each, of which variations are tried.
_BASES = 3
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
    #: The catalogued units of this arithmetic, those nearest to the one that was asked about first.
    units: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """What is wrong with the recipe, empty where it is a library's as it should be."""
        values = self.model.recipe.parameters().items()
        return "; ".join(FAULTS[pair] for pair in values if pair in FAULTS)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The nearest first: without fault, the unit itself, few fields set."""
        return bool(self.fault), not self.own, self.model.recipe.name.count("=")


def product_candidates(
    spec: UnitSpec, case: ProductCase, recipes: Sequence[str], rivals: bool
) -> Iterator[ProductProducer]:
    """The unit and its rivals, by every recipe; nearer ones first."""
    if spec.scale_format is not None:
        raise InputError(
            f"expected a unit without scales of its own for a whole product, but got {spec.name}"
        )
    own, *others = same_arithmetic(spec, case.k)
    units = [(spec, own), *((resolve(names[0]), names) for names in others if rivals)]
    named = [recipe(name) for name in recipes]
    for u, names in units:
        if takes(u, case.k):
            yield from _by_recipes(u, (*named, *recipes_for(u, case)), case, own=u is spec, names=names)


def altered_candidates(
    spec: UnitSpec, case: ProductCase, found: Sequence[ProductProducer]
) -> Iterator[ProductProducer]:
    """The unit, and those that give the other result, altered in one parameter, by the recipes that do."""
    units = dict.fromkeys([spec, *(p.model.unit for p in found)])
    recipes = dict.fromkeys([*(p.model.recipe for p in found if not p.fault), recipe("plain")])
    for base in list(units)[:_BASES]:
        for u in neighbours(base):
            if takes(u, case.k):
                yield from _by_recipes(u, list(recipes)[:_BASES], case, own=base is spec)


def _by_recipes(
    u: UnitSpec, recipes: Iterable[Recipe], case: ProductCase, *, own: bool, names: tuple[str, ...] = ()
) -> Iterator[ProductProducer]:
    for one in recipes:
        with contextlib.suppress(InputError):  # a recipe that this unit cannot follow
            yield ProductProducer(gemm(u, with_output(one, case, u)), own, names)


def with_output(one: Recipe, case: ProductCase, u: UnitSpec) -> Recipe:
    """The recipe with results in the product's format."""
    if case.d_format == u.d_format or one.output == case.d_format.name:
        return one
    fields: dict[str, str | bool] = {"output": case.d_format.name}
    if case.d_format.specials is not Specials.IEEE:
        fields["saturate"] = True
    listed = ",".join(f"{key}={str(value).lower()}" for key, value in fields.items())
    return one.altered(f"{one.name}{',' if '@' in one.name else '@'}{listed}", fields)


def recipes_for(u: UnitSpec, case: ProductCase) -> Iterator[Recipe]:
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
