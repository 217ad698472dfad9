"""The recipes of libraries by which products are tried on units, and where two of them part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tcformal.design.unit import UnitSpec
from tcformal.encodings.spec import Specials
from tcformal.identification.outputs import ProductCase, ProductOperands
from tcformal.programs.recipe import Recipe, recipe
from tcformal.simulation.model_gemm import ModelGemm

#: Parts of K, and tiles, of the recipes that are tried.
_SPLITS = (2, 3, 4, 5, 6, 7, 8, 12, 16)
_TILES = (16, 32, 64, 128)
#: Steps besides of kernels without a matrix unit.
_OF_CORES = (8,)
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
    def of_cores(self) -> bool:
        """Whether these are fused multiply–adds one after the other, as a processor's cores do them."""
        d, tree = self.model.unit.design, self.model.unit.tree
        one = d.products == 1 and d.fraction_bits is None and d.conversion.startswith("RNE")
        wide = self.model.unit.a_format == self.model.unit.d_format
        return not self.units or (one and wide and tree is None and self.model.unit.emulation is None)

    @property
    def reference(self) -> bool:
        """Whether these are sums in fp64, rounded once."""
        return not self.units and self.model.unit.d_format.name == "fp64" != self.model.d_format.name

    @property
    def fault(self) -> str:
        """What is wrong with the recipe, empty where it is a library's as it should be."""
        values = self.model.recipe.parameters().items()
        return "; ".join(FAULTS[pair] for pair in values if pair in FAULTS)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The nearest first: without fault, the unit itself, few fields set."""
        return bool(self.fault), not self.own, self.model.recipe.name.count("=")


def with_output(one: Recipe, case: ProductOperands, u: UnitSpec) -> Recipe:
    """The recipe with results in the product's format."""
    if case.d_format == u.d_format or one.output == case.d_format.name:
        return one
    fields: dict[str, str | bool] = {"output": case.d_format.name}
    if case.d_format.specials is not Specials.IEEE:
        fields["saturate"] = True
    return one.varied(**fields)


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
                    yield made.varied(tail="dropped", tile=tile)
            if case.scaled:
                yield made.varied(scales_of="first-part")


def _families(u: UnitSpec, case: ProductCase) -> tuple[list[str], list[str]]:
    """Names of recipes for K whole, and of those for parts of it."""
    if case.scaled:
        families = ["deepgemm-sm90@output=accumulator", "cutlass-sm90-fp8-scaled"]
        return families, [f"{x}{',' if '@' in x else '@'}grain=128" for x in families]
    # Where C joins an unscaled sum, both fused multiply–adds are the same.
    fused = ["", ",fused=c"] if case.alpha is not None and case.c is not None else [""]
    whole = ["plain", "cublaslt-55", *(f"cublaslt-55@{x[1:]}" for x in fused if x)]
    tiles = [*_OF_CORES, *_TILES] if u.a_format == u.d_format else _TILES
    whole += [f"cublaslt-21@tile={tile}{x}" for tile in tiles for x in fused]
    narrow = case.d_format != u.d_format
    split = [
        f"cublaslt-{number}{x}{y}"
        for number in (
            "66@grain=128",
            *(f"21@tile={tile}" for tile in tiles),
            *(f"36@tile={tile}" for tile in tiles if tile < 64),
        )
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


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two recipes part on one element: the first products after which their results differ.

    Ranges and units: with the products of k from `stop` on left out the results differ, with those from
    `start` on they do not; `results`: raw encodings after `stop`.
    """

    start: int
    stop: int
    results: tuple[int, int]


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
