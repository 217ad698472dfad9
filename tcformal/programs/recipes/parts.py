"""Partition of K by a recipe: parts, their accumulators, and the k runs of each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.programs.recipes.recipe import Recipe

#: Consecutive k from start to stop, taken by calls of the unit, the last of which is filled up with zeros.
KRun = tuple[int, int]
#: What one accumulator takes from zero, in order.
Accumulator = tuple[KRun, ...]
#: The accumulators that are added up before a part is done.
KPart = tuple[Accumulator, ...]


def parts_of(unit: UnitSpec, recipe: Recipe, k: int) -> tuple[KPart, ...]:
    """The parts of K products, in order of addition."""
    if recipe.tail == "dropped" and recipe.splits > 1:
        if k < recipe.tile:
            raise InputError(f"expected K >= {recipe.tile} for the recipe {recipe.name}, but got {k}")
        k -= k % recipe.tile
    return tuple(_part(unit, recipe, runs) for runs in _shares(unit, recipe, k))


def _shares(unit: UnitSpec, recipe: Recipe, k: int) -> Iterator[list[KRun]]:
    """The k runs of each part, before promotion."""
    if recipe.splits == 1:
        yield [(0, k)]
    elif recipe.turns:
        for first in range(0, min(k, recipe.splits * recipe.tile), recipe.tile):
            starts = range(first, k, recipe.splits * recipe.tile)
            yield [(start, min(start + recipe.tile, k)) for start in starts]
    else:
        grain = _grain(unit, recipe, recipe.grain)
        if recipe.ragged_grain and k % grain:
            grain = _grain(unit, recipe, recipe.ragged_grain)
        length = -(-k // recipe.splits)
        length = -(-length // grain) * grain
        for start in range(0, k, length):
            yield [(start, min(start + length, k))]


def _grain(unit: UnitSpec, recipe: Recipe, grain: int) -> int:
    if recipe.grain_unit == "products":
        return grain
    return max(1, grain // (unit.a_format.storage_bits // 8))


def _part(unit: UnitSpec, recipe: Recipe, runs: list[KRun]) -> KPart:
    """The accumulators of a part: a residue may come first, and promotion may end them."""
    if recipe.residue == "first":
        (start, stop), tile = runs[0], recipe.tile
        rest = (stop - start) % tile
        if rest and stop - start > tile:
            runs = [(start, start + rest), (start + rest, stop)]
    if not recipe.promotion:
        return (_joined(unit, runs),)
    return tuple(_promoted(recipe, runs))


def _joined(unit: UnitSpec, runs: list[KRun]) -> Accumulator:
    """Merge adjacent runs whose boundary needs no padding."""
    merged = runs[:1]
    for start, stop in runs[1:]:
        before = merged[-1]
        if before[1] == start and (start - before[0]) % unit.k == 0:
            merged[-1] = (before[0], stop)
        else:
            merged.append((start, stop))
    return tuple(merged)


def _promoted(recipe: Recipe, runs: list[KRun]) -> Iterator[Accumulator]:
    """Runs split where an accumulator is full; an incomplete first tile counts as a whole one."""
    until = recipe.first_promotion or recipe.promotion
    place, now = 0, []
    for i, (first, stop) in enumerate(runs):
        start = first
        while start < stop:
            end = min(stop, start + until - place)
            now.append((start, end))
            place += end - start
            start = end
            if place == until:
                yield tuple(now)
                place, until, now = 0, recipe.promotion, []
        if i + 1 < len(runs):
            # The rest of the tile is zeros.
            fill = -(stop - first) % recipe.tile
            while place + fill >= until:
                fill -= until - place
                if now:
                    yield tuple(now)
                place, until, now = 0, recipe.promotion, []
            place += fill
    if now:
        yield tuple(now)


def streamed(recipe: Recipe, tiles: int, k: int) -> list[list[KRun]]:
    """Stream-K: for each tile of D, its workers' k runs in ascending order.

    Source: STREAM-K abstract: an even share of all iterations for every worker.
    """
    steps = -(-k // recipe.tile)
    share = -(-tiles * steps // recipe.stream)
    tiles_of = []
    for tile in range(tiles):
        first, last = tile * steps, (tile + 1) * steps
        cuts = [first, *range((first // share + 1) * share, last, share), last]
        tiles_of.append(
            [((a - first) * recipe.tile, min(k, (b - first) * recipe.tile)) for a, b in pairwise(cuts)]
        )
    return tiles_of


def part_of_run(unit: UnitSpec, recipe: Recipe, run: KRun) -> KPart:
    """A part that consists of one k run."""
    return _part(unit, recipe, [run])


def check_unit(unit: UnitSpec, recipe: Recipe) -> None:
    """Raise InputError for a unit that the recipe cannot call."""
    if unit.scale_format is not None:
        raise InputError(
            f"expected a unit without scales of its own for the recipe {recipe.name}, but got {unit.name}"
        )
    for name in ("promotion", "first_promotion"):
        count = getattr(recipe, name)
        if count % unit.k:
            raise InputError(
                f"expected a {name} of whole calls of {unit.name}, which take {unit.k} products, "
                f"but got {count}"
            )
    if recipe.tile and recipe.tile % unit.k:
        raise InputError(
            f"expected a tile of whole calls of {unit.name}, which take {unit.k} products, "
            f"but got {recipe.tile}"
        )
