"""Where the sums of a product's elements are cut: blocks of K, or stream-K's shares, with fields that no name
lists; apart, because only outputs that no other recipe gives are asked for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import product

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
from tcformal.programs.recipe_steps import KPart, parts_at
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
#: Parts of an element at most, and how many recipes that give all elements are kept.
_PARTS, _KEPT = 32, 4


def _candidates(shape: tuple[int, int], k: int) -> Iterator[Recipe]:
    """Blocks of K of every length, and every way of sharing a product out, usual numbers of workers first."""
    for x in range(_BLOCK, k, _BLOCK):
        yield recipe("onednn").varied(promotion=x)
    sizes = [[x for x in _TILES if length <= x * _ACROSS and x < 2 * length] for length in shape]
    steps = [x for x in _STEPS if x < k <= x * _LONG]
    for step, rows, columns in product(steps, *sizes):
        every, known = -(-shape[0] // rows) * -(-shape[1] // columns) * -(-k // step), set[int]()
        for workers in dict.fromkeys((*_WORKERS, *range(2, _FEW + 1))):
            share = -(-every // workers)
            if share < every and share not in known:
                known.add(share)
                yield recipe("stream-k").varied(stream=workers, tile=step, tile_m=rows, tile_n=columns)


def _unusual(r: Recipe) -> tuple[bool, int, int]:
    """How far fields are from those of libraries: workers, tile of D, step; of blocks their length."""
    if not r.stream:
        return False, 0, r.promotion
    tile = abs(r.tile_m.bit_length() - 8) + abs(r.tile_n.bit_length() - 8)
    return r.stream not in _WORKERS, tile, abs(r.tile.bit_length() - 6)


def cut_makers(
    case: ProductCase, want: Raw, places: NDArray[np.intp], makers: Makers, progress: Progress = ignore
) -> list[ProductProducer]:
    """Blocks of K and stream-K on units, with the fields that give all of some elements.

    Shapes: places [n, 2]; want [n].
    Ranges and units: fields that give the same are told apart by nothing: usual ones go first.
    """
    found, x = [], Elements.of(case, places)
    every = list(_candidates(case.shape, case.k))
    for unit, others in makers:
        progress(f"trying blocks of K and stream-K on {unit.name}")
        left = [r for r in every if not (r.tile or r.promotion) % unit.k]
        for i in range(len(places)):
            left = _fitting(unit, left, x.part(np.array([i])), want[i : i + 1])
        cut = [r for r in left if any(_cut(_parts(unit, r, x, i)) for i in range(len(places)))]
        for r in sorted(cut, key=_unusual)[:_KEPT]:
            found.append(ProductProducer(gemm(unit, with_output(r, x, unit)), False, others[0].units))
    return found


def _parts(unit: UnitSpec, r: Recipe, x: Elements, i: int) -> tuple[KPart, ...]:
    return parts_at(unit, r, x.k, x.shape, x.places[i].tolist())


def _cut(parts: tuple[KPart, ...]) -> int:
    """How often a sum is cut."""
    return sum(map(len, parts)) - 1


def _fitting(unit: UnitSpec, left: Sequence[Recipe], x: Elements, want: Raw) -> list[Recipe]:
    """The recipes that give one element; all ways of cutting its sum are computed side by side."""
    alike: dict[tuple[KPart, ...], list[Recipe]] = {}
    for r in left:
        parts = _parts(unit, r, x, 0)
        if _cut(parts) < _PARTS:
            alike.setdefault(parts, []).append(r)
    plans, words, tried = [], dict[str, Raw](), list[list[Recipe]]()
    for parts, some in alike.items():
        with contextlib.suppress(InputError):  # operands for which the recipe has no place
            plan, words = planned(gemm(unit, with_output(some[0], x, unit)), x, parts)
            plans.append(plan)
            tried.append(some)
    made = results_of(plans, words, {}) if plans else []
    return [
        r
        for d, some in zip(made, tried, strict=True)
        if same_words(d.astype(want.dtype), want, x.d_format).all()
        for r in some
    ]
