"""Designs of sums of integers: which products are summed in which step, and what each sum becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tcformal.design.axes import altered, axis_values
from tcformal.design.names import resolve
from tcformal.design.rounding import conversion
from tcformal.design.spec import Design
from tcformal.design.trees.arrangements import combined, tree_unit
from tcformal.design.trees.tree import Step, tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.identification.integer_questions import Seen

#: A part of a sum.
Part = int | str | Step
#: Stages of sums with c, of narrow sums of products, and of products alone.
_STEPS, _GROUPS, _PRODUCTS = "s", "g", "p"
#: The stage of narrow sums of narrow sums, where these become something else.
_SUMS = "h"
#: Widths of partial sums that are tried whatever is seen.
_WIDTHS = (16, 24)


@dataclass(frozen=True, slots=True)
class Tried:
    """A design that is tried, with what it is another value of."""

    unit: UnitSpec
    axis: str
    value: str


def sums_of(spec: UnitSpec, k: int, seen: Seen) -> Iterator[Tried]:
    """Trees of sums as they were seen, with every conversion that fits what was seen of each stage."""
    d = spec.d_format.name.upper()
    finals = f"WRAP-{d}", f"SAT-{d}"
    of_products: list[str | None] = [*seen.of_products] or [None]
    of_groups: list[tuple[str, str] | None] = [
        None,
        *((x, y) for x in seen.of_groups for y in seen.of_groups),
    ]
    of_steps: list[str | None] = [None, *seen.of_c]
    for final, alone, narrow, step in product(finals, of_products, of_groups, of_steps):
        inner, outer = narrow or (None, None)
        sums = _GROUPS if inner == outer else _SUMS
        for root in _roots(k, seen, alone is not None, sums if narrow else "", step is not None):
            stages = {_PRODUCTS: alone, _GROUPS: inner, _SUMS: outer, _STEPS: step}
            used = {x.stage for x in root.steps()}
            rows = {s: {"conversion": t} for s, t in stages.items() if t is not None and s in used}
            own = Design(products=k, conversion=final, nan_word=0)
            try:
                made = tree_unit(replace(spec, tree=None), tree(root, rows), own)
            except InputError:
                continue
            said = ", ".join(f"{s}: {row['conversion']}" for s, row in rows.items())
            yield Tried(made, "sums", f"{root}, {said or 'no partial sum is narrow'}, {final}")


def _roots(k: int, seen: Seen, alone: bool, narrow: str, step: bool) -> Iterator[Step]:
    """The trees of the steps with c that were seen, with each arrangement of narrow sums.

    `narrow`: the stage of sums of narrow sums; empty without these.
    """
    leaf: list[Part] = [Step((i,), _PRODUCTS) if alone else i for i in range(k)]
    groups = seen.groups or (tuple(range(k)),)
    stage = _STEPS if step else ""
    for arranged in _arranged(leaf, groups, narrow) if narrow else [leaf]:
        levels = _levels(arranged, seen.levels)
        if levels is None:
            continue
        if not seen.has_c:
            yield _wide(Step(tuple(x for level in levels for x in level), stage), step)
            continue
        yield from _with_c(levels, stage, step)
    if step:
        # Partial sums of products alone are as narrow as those with c.
        for part in _arrangements([*leaf], _STEPS, _STEPS):
            last = Step((part, "c"), _STEPS) if seen.has_c else Step((part,), _STEPS)
            yield _wide(last, True)
            yield Step((part, "c"), "") if seen.has_c else Step((part,), "")


def _with_c(levels: Sequence[Sequence[Part]], stage: str, step: bool) -> Iterator[Step]:
    """Steps that add a level each to c; narrow ones in a result that is not, or in whose last step."""
    firsts: list[Part] = ["c", Step(("c",), stage)] if step else ["c"]
    for first in firsts:
        total: Part = first
        for level in levels:
            total = Step((*level, total), stage) if level else total
        if not isinstance(total, Step):
            continue
        yield _wide(total, step)
        if step:
            yield Step(total.children, "")
    if len(levels) == 1 and step:
        for length in (n for n in (1, 2, 4, 8, 16, 32, 64) if n < len(levels[0]) and not len(levels[0]) % n):
            total = "c"
            for start in range(0, len(levels[0]), length):
                total = Step((*levels[0][start : start + length], total), stage)
            assert isinstance(total, Step)
            yield _wide(total, step)


def _wide(root: Step, step: bool) -> Step:
    """A sum as the result: converted once more where its own conversion is a stage's."""
    return Step((root,), "") if step else root


def _levels(parts: Sequence[Part], levels: Sequence[Sequence[int]]) -> list[list[Part]] | None:
    """Parts by the step that adds them; None where a part belongs to several."""
    place = {i: n for n, level in enumerate(levels) for i in level}
    made: list[list[Part]] = [[] for _ in levels]
    for x in parts:
        ns = {place[i] for i in ([x] if isinstance(x, int) else x.products() if isinstance(x, Step) else [])}
        if len(ns) != 1:
            return None
        made[ns.pop()].append(x)
    return made


def _arranged(leaf: Sequence[Part], groups: Sequence[Sequence[int]], outer: str) -> Iterator[list[Part]]:
    """The products in narrow sums, all of one arrangement."""
    each = [list(_arrangements([leaf[i] for i in group], _GROUPS, outer)) for group in groups]
    for n in range(max(map(len, each)) if all(each) else 0):
        yield [of[n] if n < len(of) else of[0] for of in each]


def _arrangements(parts: Sequence[Part], inner: str, outer: str) -> Iterator[Part]:
    """One sum of parts; chains of them or of their sums in blocks, neighbours or strided; pairwise sums.

    `inner` and `outer`: the stages of blocks, and of sums of these; there are blocks where they differ.
    """
    n, seen = len(parts), set[str]()
    blocks = [[[x] for x in parts]] if inner == outer else []
    for size in (s for s in (2, 4, 8, 16, 32, 64) if s < n and not n % s):
        blocks.append([list(parts[i : i + size]) for i in range(0, n, size)])
        blocks.append([list(parts[i :: n // size]) for i in range(n // size)])
    for of in blocks:
        ways = ("fused", "chain") if len(of[0]) > 1 else ("fused",)
        for within, how in product(ways, ("fused", "chain", "pairwise")):
            some = [x[0] if len(x) == 1 else combined(x, within, inner) for x in of]
            for order in (some, some[::-1]) if how == "chain" else (some,):
                made = combined(order, how, outer)
                made = made if isinstance(made, Step) else Step((made,), outer)
                if made.text not in seen:
                    seen.add(made.text)
                    yield made


def beside(unit: UnitSpec) -> Iterator[Tried]:
    """The designs with one parameter changed: overflow, products of a step, order, widths of partial sums."""
    values = {name: list(row) for name, row in axis_values(unit).items()}
    if unit.tree is None:
        width, hows = unit.d_format.width, ("WRAP", "SAT")
        orders = "summation=sequential,c_position=first", "summation=fused,c_position=last"
        values["accumulator"] = [
            f"{how}-INT{n},{order}"
            for how in hows
            for n in (*_WIDTHS, width - 1, width + 1)
            for order in orders
        ]
    else:
        for stage, name, text in unit.tree.settings:
            values[f"{stage}.{name}"] = list(_near(str(text)))
    for name, row in values.items():
        for value in row:
            try:
                made = resolve(altered(unit, f"{name}={value}"))
            except InputError:
                continue
            if (made.design, made.tree) != (unit.design, unit.tree):
                yield Tried(made, name, str(value))


def _near(text: str) -> Iterator[str]:
    """Conversions beside one: the other overflow, the other sign, a bit more or less."""
    how, _, of = text.partition("-")
    unsigned, n = of.startswith("U"), conversion(text).fraction_bits + conversion(text).signed
    for h, u, m in product(("WRAP", "SAT"), (False, True), (n - 1, n, n + 1)):
        if sum((h != how, u != unsigned, m != n)) == 1:
            yield f"{h}-{'U' * u}INT{m}"
