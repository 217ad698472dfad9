"""Builders of summation trees: the usual arrangements, and the tree of any design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tcformal.checks import check_choice, check_int
from tcformal.design.names import tree_name
from tcformal.design.spec import Design
from tcformal.design.trees.tree import PLAIN, STAGE_PARAMETERS, Step, Tree, Value, tree
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError

#: How the products of one call are divided into groups.
GROUPINGS: dict[str, str] = {
    "contiguous": "group i takes the products from i·size on",
    "strided": "of n groups, group i takes every n-th product from i on",
    "reversed": "as contiguous, the last group first",
}
#: How the sums of groups are put together.
COMBINATIONS: dict[str, str] = {
    "fused": "all in one sum",
    "chain": "one after the other, in the order of the groups",
    "pairwise": "neighbours level by level, an odd one out moves up as it is",
}


def groups(k: int, size: int, grouping: str = "contiguous") -> list[tuple[int, ...]]:
    """The products 0 … k - 1 in groups of `size`; InputError unless k is a multiple of it."""
    check_choice("grouping", grouping, GROUPINGS)
    check_int("size", size, low=1, high=k)
    if k % size:
        raise InputError(f"expected k to be a multiple of size={size}, but got {k}")
    count = k // size
    if grouping == "strided":
        return [tuple(range(i, k, count)) for i in range(count)]
    rows = [tuple(range(i, i + size)) for i in range(0, k, size)]
    return rows[::-1] if grouping == "reversed" else rows


def combined(parts: Sequence[int | str | Step], combination: str, stage: str = "") -> int | str | Step:
    """Combine parts (products, c, sums) by sums of one stage: fused, chained or pairwise."""
    check_choice("combination", combination, COMBINATIONS)
    if combination == "fused":
        return Step(tuple(parts), stage)
    if combination == "chain":
        total = parts[0]
        for x in parts[1:]:
            total = Step((total, x), stage)
        return total
    level = list(parts)
    while len(level) > 1:
        pairs = [Step(tuple(level[i : i + 2]), stage) for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *level[2 * len(pairs) :]]
    return level[0]


def running(
    parts: Iterable[Sequence[int | str | Step]], start: int | str | Step, stage: str = ""
) -> int | str | Step:
    """A chain of sums: each adds the next group to the sum so far, from `start` on."""
    total = start
    for group in parts:
        total = Step((*group, total), stage)
    return total


def permuted(step: Step, order: Sequence[int]) -> Step:
    """A tree with its products permuted: k = order[i] takes the place of i."""
    moved = (
        permuted(x, order) if isinstance(x, Step) else order[x] if isinstance(x, int) else x
        for x in step.children
    )
    return Step(tuple(moved), step.stage)


def tree_unit(spec: UnitSpec, made: Tree, design: Design | None = None) -> UnitSpec:
    """A unit of the same formats with the summation tree `made`, under the name that resolves to it.

    Its parameters are the unit's, or those of `design`.
    """
    design = plain(spec.design if design is None else design, made.k)
    name = tree_name(spec, design, made)
    return replace(spec, name=name, k=made.k, design=design, tree=made, emulation=None)


def plain(design: Design, k: int) -> Design:
    """A design without its own order of summation: one sum of k products and c."""
    return replace(design, **PLAIN, products=k)  # type: ignore[arg-type]


def tree_of(spec: UnitSpec, k: int) -> UnitSpec | None:
    """The unit as a tree unit with equal results for dot products of k terms.

    Shapes: k is a multiple of the unit's block, or of its k where it is composed or a tree.
    None for designs that are no tree of fused sums: TR-FDPA and GTR-FDPA, sums of groups, scales, a c aligned
    apart or added to a sum that is not rounded, factors in pieces, lost bits jammed or a sticky bit, blocks
    skipped, a NaN rule of pairs of products; where a subnormal partial sum counts as a zero in some
    steps only, and where a c is taken in another way than a partial sum.
    Errors: InputError for a k that is no such multiple.
    """
    d = spec.design
    if spec.scale_format is not None or d.group is not None or d.framed or d.summation in ("tr", "gtr"):
        return None
    if d.piece_bits is not None or d.nan_rule == "products_c":
        return None
    if d.c_position == "after" or d.lost_bits != "cut" or d.zero_words != "summed" or d.exponent_step != 1:
        return None
    pairs = spec.emulation is not None or d.summation == "pair_chains"
    if d.nan_rule != "word" and (pairs or (d.summation, d.c_position) == ("fused", "last")):
        return None
    length = min(k, d.products, spec.k) if spec.emulation is None and spec.tree is None else spec.k
    if k % length:
        raise InputError(f"expected k to be a multiple of {length} for {spec.name}, but got {k}")
    if spec.tree is None and k != length and d.special_words != "special":
        return None  # the result of a block is no c in a tree
    if spec.tree is not None:
        return spec if k == spec.k else None
    if spec.emulation is not None:
        return _composed(spec) if k == spec.k else None
    between = d.c_subnormals != "kept" and d.result_subnormals == "kept"
    if between and (d.summation, d.c_position) != ("fused", "joined"):
        return None
    blocks = [range(i, i + length) for i in range(0, k, length)]
    partial: dict[str, Value] = {"conversion": d.accumulator or d.conversion}
    return _with_stages(spec, chained_blocks(d, blocks, "c"), {"partial": partial}, k, nan_rule=d.nan_rule)


def _with_stages(
    spec: UnitSpec, root: Step, stages: Mapping[str, Mapping[str, Value]], k: int, **more: object
) -> UnitSpec:
    """A tree unit whose stages override parameters of the unit's design."""
    base = plain(spec.design, k)
    own = {s: {n: v for n, v in row.items() if getattr(base, n) != v} for s, row in stages.items()}
    root = _renamed(root, {s for s, row in own.items() if row})
    used = {x.stage for x in root.steps()}
    whole = tree(root, {s: row for s, row in own.items() if s in used})
    return tree_unit(spec, replace(whole, **more))  # type: ignore[arg-type]


def _renamed(step: Step, kept: set[str]) -> Step:
    """A tree in which unkept stages are replaced by the unit's default stage."""
    children = (_renamed(x, kept) if isinstance(x, Step) else x for x in step.children)
    return Step(tuple(children), step.stage if step.stage in kept else "")


def chained_blocks(d: Design, blocks: Iterable[Sequence[int]], start: int | str | Step) -> Step:
    """A chain of blocks of products: each block takes the previous result as its c."""
    total = start
    for ks in blocks:
        total = _block(d, ks, total)
    assert isinstance(total, Step)
    return total


def _block(d: Design, block: Sequence[int], c: int | str | Step) -> Step:
    """The tree of one block of products and its c, in the design's order."""
    ks = [block[i if d.order == "ascending" else i ^ 1] for i in range(len(block))]
    if d.c_position == "joined":
        return Step((*ks, c))
    if d.c_position == "first":
        return Step((combined([c, *ks[:-1]], "chain", "partial"), ks[-1]))
    if d.summation == "pair_chains":
        pairs = [Step((ks[i], ks[i + 1]), "partial") for i in range(0, len(ks), 2)]
        chains = [combined(["zero", *half], "chain", "partial") for half in (pairs[0::2], pairs[1::2])]
        return Step((Step(tuple(chains), "partial"), c))
    if d.summation == "two_chains":
        chains = [combined(["zero", *half], "chain", "partial") for half in (ks[0::2], ks[1::2])]
        return Step((Step(tuple(chains), "partial"), c))
    how = {"fused": "fused", "sequential": "chain", "pairwise": "pairwise"}[d.summation]
    return Step((combined(ks, how, "partial"), c))


def _composed(spec: UnitSpec) -> UnitSpec | None:
    """The tree of a compiler's composition: the parts chained from +0, then c.

    None where the last addition treats zeros, subnormals or NaNs in another way than the parts.
    """
    how, d = spec.emulation, spec.design
    assert how is not None
    if d.zero_sign == "sum" or (d.c_subnormals, d.result_subnormals) != ("kept", "kept"):
        return None
    if how.addition.nan_word != d.nan_word:
        return None
    parts: int | str | Step = "zero"
    for part in how.parts:
        length = min(len(part), d.products)
        parts = chained_blocks(d, [part[i : i + length] for i in range(0, len(part), length)], parts)
    addition = {name: getattr(how.addition, name) for name in STAGE_PARAMETERS}
    # An exact sum does not see with which exponent a subnormal is encoded.
    converted = None if d.fraction_bits is None else how.converted
    return _with_stages(
        spec, Step((parts, "c"), "addition"), {"addition": addition}, spec.k, converted=converted
    )
