"""Where the sums of a product's elements are cut: blocks of K, or stream-K's shares, with fields that no name
lists; apart, because only outputs that no other recipe gives are asked for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.bugs import same_words
from tcformal.identification.outputs import ProductCase
from tcformal.identification.product_elements import Elements, Makers, planned
from tcformal.identification.product_recipes import ProductProducer, with_output
from tcformal.programs.recipe import Recipe, recipe
from tcformal.programs.recipe_steps import part_of_run
from tcformal.simulation.evaluation import results_of
from tcformal.simulation.model_gemm import gemm
from tcformal.simulation.operands.batch import Raw

#: Products that a worker takes at a time, and rows and columns of a tile of D.
_STEPS, _TILES = (16, 32, 64, 128), (8, 16, 32, 64, 128, 256)
#: Multiprocessors of GPUs, which are the workers; and other numbers of workers, up to this one.
_WORKERS, _FEW = (132, 108, 148, 304, 114, 142, 128, 84, 80, 78, 72, 58, 56, 46, 40), 32
#: Tiles in a row or column, and steps of an element, at most.
_ACROSS, _LONG = 16, 128
#: Blocks of K are multiples of so many products.
_BLOCK = 32
#: Parts of an element at most, and how many fields that explain all elements are kept.
_PARTS, _KEPT = 32, 4


@dataclass(frozen=True, slots=True)
class Block:
    """Blocks of K, each summed from zero, and added up in order."""

    products: int

    def cuts(self, shape: tuple[int, int], k: int, place: Sequence[int]) -> tuple[int, ...]:
        """The k at which the sum of an element begins, is cut, and ends."""
        return *range(0, k, self.products), k

    def unusual(self) -> tuple[bool, int, int]:
        """How far the fields are from those of libraries."""
        return False, 0, self.products

    def recipe(self) -> Recipe:
        """The recipe with these fields."""
        return recipe("onednn").varied(promotion=self.products)


@dataclass(frozen=True, slots=True)
class Share:
    """Fields of stream-K: the tile of D, the products of a step, and the steps of a worker."""

    rows: int
    columns: int
    step: int
    steps: int
    workers: int

    def unusual(self) -> tuple[bool, int, int]:
        """How far the fields are from those of libraries: workers, tile of D, step."""
        usual = abs(self.rows.bit_length() - 8) + abs(self.columns.bit_length() - 8)
        return self.workers not in _WORKERS, usual, abs(self.step.bit_length() - 6)

    def recipe(self) -> Recipe:
        """The recipe with these fields."""
        return recipe("stream-k").varied(
            stream=self.workers, tile=self.step, tile_m=self.rows, tile_n=self.columns
        )

    def cuts(self, shape: tuple[int, int], k: int, place: Sequence[int]) -> tuple[int, ...]:
        """The k at which the sum of an element begins, is cut, and ends."""
        each = -(-k // self.step)
        tile = place[0] // self.rows * -(-shape[1] // self.columns) + place[1] // self.columns
        first = tile * each
        inner = range((first // self.steps + 1) * self.steps, first + each, self.steps)
        return 0, *((x - first) * self.step for x in inner), k


def blocks(k: int, unit: UnitSpec) -> Iterator[Block]:
    """Every length of blocks that cuts K products."""
    return (Block(x) for x in range(_BLOCK, k, _BLOCK) if not x % unit.k)


def shares(shape: tuple[int, int], k: int, unit: UnitSpec) -> Iterator[Share]:
    """Every way of sharing a product out, the usual numbers of workers first."""
    sizes = [[x for x in _TILES if length <= x * _ACROSS and x < 2 * length] for length in shape]
    for step in _STEPS:
        if step % unit.k or not step < k <= step * _LONG:
            continue
        for rows in sizes[0]:
            for columns in sizes[1]:
                tiles = -(-shape[0] // rows) * -(-shape[1] // columns)
                every, known = tiles * -(-k // step), set[int]()
                for workers in dict.fromkeys((*_WORKERS, *range(2, _FEW + 1))):
                    steps = -(-every // workers)
                    if steps < every and steps not in known:
                        known.add(steps)
                        yield Share(rows, columns, step, steps, workers)


def cut_makers(
    case: ProductCase, want: Raw, places: NDArray[np.intp], makers: Makers, progress: Progress = ignore
) -> list[ProductProducer]:
    """Blocks of K and stream-K on units, with the fields that give all of some elements.

    Shapes: places [n, 2]; want [n].
    Ranges and units: fields that give the same are told apart by nothing: usual ones go first.
    """
    found, x = [], Elements.of(case, places)
    for unit, others in makers:
        progress(f"trying blocks of K and stream-K on {unit.name}")
        left: list[Block | Share] = [*blocks(case.k, unit), *shares(case.shape, case.k, unit)]
        for i in range(len(places)):
            left = _fitting(unit, left, x.part(np.array([i])), want[i : i + 1])
        cut = [s for s in left if any(len(s.cuts(case.shape, case.k, p)) > 2 for p in places.tolist())]
        for s in sorted(cut, key=lambda s: s.unusual())[:_KEPT]:
            one = with_output(s.recipe(), x, unit)
            found.append(ProductProducer(gemm(unit, one), False, others[0].units))
    return found


def _fitting(unit: UnitSpec, left: Sequence[Block | Share], x: Elements, want: Raw) -> list[Block | Share]:
    """The fields that give one element; all ways of cutting its sum are computed side by side."""
    place = x.places[0].tolist()
    by_cuts: dict[tuple[int, ...], list[Block | Share]] = {}
    for s in left:
        cuts = s.cuts(x.shape, x.k, place)
        if len(cuts) <= _PARTS:
            by_cuts.setdefault(cuts, []).append(s)
    if not by_cuts:
        return []
    base = recipe("stream-k").varied(tile=unit.k)
    plans, words = [], dict[str, Raw]()
    with contextlib.suppress(InputError):  # operands for which the recipe has no place
        model = gemm(unit, with_output(base, x, unit))
        for cuts in by_cuts:
            parts = tuple(part_of_run(unit, model.recipe, run) for run in pairwise(cuts))
            plan, words = planned(model, x, parts)
            plans.append(plan)
    made = results_of(plans, words, {}) if plans else []
    return [
        s
        for d, some in zip(made, by_cuts.values(), strict=False)
        if same_words(d.astype(want.dtype), want, x.d_format).all()
        for s in some
    ]
