"""A recipe on a unit as program steps: the parts of K, and the computation of one element of D, in order.

Apart from `simulation.recipe`, because programs know nothing of arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tcformal.design.steps import ConstantStep, InputStep, ProgramPlan, conversion_into
from tcformal.design.unit import UnitSpec
from tcformal.encodings.catalog import FORMATS, format_named
from tcformal.encodings.spec import Format, Specials
from tcformal.errors import InputError
from tcformal.programs.functions import Builder, StepValue, add, call, convert, fma, mul
from tcformal.programs.recipe import Recipe
from tcformal.semantics.chain import scale_count

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


def parts_at(
    unit: UnitSpec, recipe: Recipe, k: int, shape: tuple[int, int], place: Sequence[int]
) -> tuple[KPart, ...]:
    """The parts of K products for one element of D, in order of addition; of stream-K by the element's tile.

    Source: STREAM-K abstract: an even share of all steps for every worker.
    """
    if not recipe.stream:
        return parts_of(unit, recipe, k)
    high, wide = (
        -(-length // tile) for length, tile in zip(shape, (recipe.tile_m, recipe.tile_n), strict=True)
    )
    steps = -(-k // recipe.tile)
    share = -(-high * wide * steps // recipe.stream)
    first = (place[0] // recipe.tile_m * wide + place[1] // recipe.tile_n) * steps
    cuts = [first, *range((first // share + 1) * share, first + steps, share), first + steps]
    runs = [((a - first) * recipe.tile, min(k, (b - first) * recipe.tile)) for a, b in pairwise(cuts)]
    return tuple(_part(unit, recipe, [run]) for run in runs)


def check_unit(unit: UnitSpec, recipe: Recipe) -> None:
    """Raise InputError for a unit that the recipe cannot call."""
    if unit.scale_format is not None and recipe.promotion_scales != "none":
        raise InputError(
            f"expected a unit without scales of its own for the recipe {recipe.name}, but got {unit.name}"
        )
    for name in ("promotion", "first_promotion", "tile"):
        count = getattr(recipe, name)
        if count % unit.k:
            raise InputError(
                f"expected a {name} of whole calls of {unit.name}, which take {unit.k} products, "
                f"but got {count}"
            )


#: Scales of promoted sums.
SCALE = FORMATS["fp32"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """The optional operands of a product: formats of C and bias, and whether alpha and beta are given."""

    c: Format | None = None
    bias: Format | None = None
    alpha: bool = False
    beta: bool = False


def output_of(unit: UnitSpec, recipe: Recipe) -> Format:
    """The format of D."""
    return unit.d_format if recipe.output == "accumulator" else format_named(recipe.output)


def recipe_plan(
    unit: UnitSpec, recipe: Recipe, k: int, parts: Sequence[KPart], extras: Extras
) -> ProgramPlan:
    """The steps from one row of A and one column of B to one element of D.

    Shapes: inputs a, b: k elements; c, alpha, beta, bias: one; scale_a, scale_b: one for each `promotion`
    products, where the recipe has scales, and one for each block of a unit with scales.
    Ranges and units: alpha and beta in the accumulator's format, a recipe's scales in fp32.
    Errors: InputError for a unit, C or bias that the recipe cannot take.
    """
    return _Recipe(unit, recipe, k, extras).plan(parts)


class _Recipe:
    """A builder of the steps of one recipe."""

    def __init__(self, unit: UnitSpec, recipe: Recipe, k: int, extras: Extras) -> None:
        self.unit, self.recipe, self.k, self.extras = unit, recipe, k, extras
        self.steps = Builder()
        self.wide, self.narrow = unit.d_format, output_of(unit, recipe)
        # Sums of integers are the result as they are: nothing is rounded.
        sums = self.narrow.integer and self.narrow == self.wide
        if not sums:
            conversion_into("RNE", self.narrow)
        if self.narrow.specials is not Specials.IEEE and not recipe.saturate and not sums:
            raise InputError(
                f"expected saturate=true for results in {self.narrow.name}, which has no Inf, "
                f"but the recipe {recipe.name} has saturate=false"
            )
        self.a, self.b = self.operand("a", unit.a_format), self.operand("b", unit.b_format)
        self.scales: list[StepValue] = []
        if unit.scale_format is not None:
            count = scale_count(unit, k)
            self.scales = [self.input(f"scale_{x}", unit.scale_format, count) for x in "ab"]
        if unit.c_format != unit.d_format and k > unit.k:
            raise InputError(
                f"expected K of at most {unit.k} for {unit.name}, whose D cannot be the next C, but got K={k}"
            )

    def plan(self, parts: Sequence[KPart]) -> ProgramPlan:
        """All steps; the last one gives D."""
        if self.recipe.merge == "serial":
            d = self.serial(parts)
        else:
            d = self.finished(self.merged(parts), self.given_c())
        return ProgramPlan(tuple(self.steps.steps), d.index, self.k)

    def input(self, letter: str, fmt: Format, length: int | None) -> StepValue:
        """Add an input of the product."""
        return self.steps.add(InputStep(fmt=fmt, length=length, name=letter, letter=letter))

    def operand(self, letter: str, fmt: Format) -> StepValue:
        """A row of A or a column of B, converted to the unit's format."""
        if self.recipe.operands == "given":
            return self.input(letter, fmt, self.k)
        return convert(self.steps, self.input(letter, FORMATS[self.recipe.operands], self.k), fmt.name)

    def given_c(self) -> StepValue | None:
        """The input C, if it is added to the finished sum."""
        if self.extras.c is None or self.recipe.c_place == "accumulator":
            return None
        return self.input("c", self.extras.c, None)

    # ------------------------------------------------------------------ sums
    def part(self, part: KPart) -> StepValue:
        """The sum of one part: its accumulators with promotion."""
        if not self.recipe.promotion:
            (only,) = part
            return self.chain(only)
        total: StepValue | None = None
        first = part[0][0][0] if self.recipe.scales_of == "first-part" else 0
        for accumulator in part:
            block = (accumulator[0][0] - first) // self.recipe.promotion
            total = self.promoted(total, self.chain(accumulator), block)
        if total is None:
            raise InputError("expected at least one accumulator in a part, but got none")
        return total

    def chain(self, accumulator: Accumulator) -> StepValue:
        """Chained calls of the unit from zero or from C."""
        unit, steps = self.unit, self.steps
        if self.recipe.c_place == "accumulator" and self.extras.c is not None:
            d = self.input("c", unit.c_format, None)
        else:
            d = self.zero(unit.c_format)
        for start, stop in accumulator:
            a, b = (steps.slice(x, start, stop - start) for x in (self.a, self.b))
            if start % (unit.scale_block or 1):
                raise InputError(
                    f"expected parts of whole blocks of {unit.scale_block} products for {unit.name}, "
                    f"but got one from k = {start} on"
                )
            block, count = start // (unit.scale_block or 1), scale_count(unit, stop - start)
            d = call(steps, unit, a, b, d, *(steps.slice(x, block, count) for x in self.scales))
        return d

    def promoted(self, total: StepValue | None, d: StepValue, block: int) -> StepValue:
        """The running sum plus a full accumulator times its scales."""
        kind = self.recipe.promotion_scales
        if kind == "none":
            return self.added(total, d)
        count = -(-self.k // self.recipe.promotion)
        a, b = (self.steps.element(self.input(f"scale_{x}", SCALE, count), block) for x in "ab")
        wide = self.wide.name
        before = self.zero(self.wide) if total is None else total
        if kind == "product":
            return fma(self.steps, mul(self.steps, a, b, wide), d, before, wide)
        return fma(self.steps, mul(self.steps, d, a, wide), b, before, wide)

    def added(self, total: StepValue | None, d: StepValue) -> StepValue:
        """The running sum plus another term, in the accumulator's format."""
        if total is None and self.recipe.start == "first":
            return d
        return add(self.steps, self.zero(self.wide) if total is None else total, d, self.wide.name)

    def waiting(self, d: StepValue) -> StepValue:
        """A partial sum converted to its storage format."""
        if self.recipe.partials == "accumulator":
            return d
        name = self.narrow.name if self.recipe.partials == "output" else self.recipe.partials
        return convert(self.steps, d, name)

    def zero(self, fmt: Format) -> StepValue:
        """The constant +0."""
        return self.steps.add(ConstantStep(fmt=fmt, length=None, name="zero", word=0))

    def merged(self, parts: Sequence[KPart]) -> StepValue:
        """The sum of all parts, in the recipe's order of merging."""
        if self.recipe.merge == "tree":
            return self.halved(parts)
        total: StepValue | None = None
        sums: list[StepValue] = []
        splits = self.recipe.splits
        half = -(-splits // 2) if self.recipe.merge == "halves" else 0
        for i, part in enumerate(parts):
            with self.steps.naming(f"part{i}"):
                d = self.waiting(self.part(part))
                # Of fewer parts than `splits` it is the last ones that are empty.
                if not half or i + 1 == splits:
                    total = self.added(total, d)
                elif i < half:
                    sums.append(d)
                else:
                    sums[i - half] = add(self.steps, sums[i - half], d, self.wide.name)
        for i, d in enumerate(sums):
            with self.steps.naming(f"part{i}"):
                total = self.added(total, d)
        if total is None:
            raise InputError("expected at least one part of K, but got none")
        return total

    def halved(self, parts: Sequence[KPart]) -> StepValue:
        """Tree reduction: the second half of the parts is added to the first until one is left."""
        sums: list[StepValue] = []
        for i, part in enumerate(parts):
            with self.steps.naming(f"part{i}"):
                sums.append(self.waiting(self.part(part)))
        left = self.recipe.splits
        while left > 1:
            # Of fewer parts than `splits` it is the last ones that are empty.
            left = -(-left // 2)
            for i, d in enumerate(sums[left:]):
                sums[i] = add(self.steps, sums[i], d, self.wide.name)
            sums = sums[:left]
        return sums[0]

    # ------------------------------------------------------------------ what follows the sum
    def serial(self, parts: Sequence[KPart]) -> StepValue:
        """Serial reduction: each part is finished with the previous D in place of C."""
        if self.extras.bias is not None and len(parts) > 1:
            raise InputError(
                f"expected no bias for the recipe {self.recipe.name}, whose parts are added to D one by one"
            )
        d: StepValue | None = None
        for i, part in enumerate(parts):
            with self.steps.naming(f"part{i}"):
                total = self.part(part)
                d = self.finished(total, self.given_c()) if d is None else self.finished(total, d, again=True)
        if d is None:
            raise InputError("expected at least one part of K, but got none")
        return d

    def finished(self, total: StepValue, c: StepValue | None, *, again: bool = False) -> StepValue:
        """The epilogue alpha·sum + beta·C + bias in D's format; with `again`, C is the previous D and beta is
        1."""
        steps, wide = self.steps, self.wide.name
        alpha = self.input("alpha", self.wide, None) if self.extras.alpha else None
        beta = self.input("beta", self.wide, None) if self.extras.beta and not again else None
        if c is None:
            made = total if alpha is None else mul(steps, alpha, total, wide)
        elif self.recipe.fused == "sum":
            scaled = c if beta is None else mul(steps, beta, c, wide)
            made = (
                add(steps, total, scaled, wide) if alpha is None else fma(steps, alpha, total, scaled, wide)
            )
        else:
            scaled = total if alpha is None else mul(steps, alpha, total, wide)
            if beta is None:
                made = add(steps, scaled, c, wide)
            elif self.recipe.fused == "c":
                made = fma(steps, beta, c, scaled, wide)
            else:
                made = add(steps, scaled, mul(steps, beta, c, wide), wide)
        if self.extras.bias is not None and not again:
            made = add(steps, made, self.input("bias", self.extras.bias, None), wide)
        if self.narrow == self.wide:
            return made
        return convert(steps, made, self.narrow.name, "RNE", self.recipe.saturate)
