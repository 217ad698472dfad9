"""What pairs of large terms hide in an order of summation, and whether masks agree with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcformal.design.trees.tree import Step

#: Terms: products by their numbers, and c by the next one.
Leaves = frozenset[int]
Couple = frozenset[int]


def misfit(root: Step, known: Mapping[Couple, Leaves], bits: Mapping[Step, int | None], c: int) -> str:
    """Why masks do not fit an order; empty where they do.

    Shapes: `known`: the leaves that each pair was seen to hide; `bits`: as of `Order`; `c`: the leaf of c.
    """
    wrong = sum(seen != hidden_by(root, pair, bits, c) for pair, seen in known.items())
    if not wrong:
        return ""
    return f"{wrong} of {len(known)} pairs hide other terms than they would in this order"


def hidden_by(step: Step, pair: Couple, bits: Mapping[Step, int | None], c: int) -> Leaves:
    """What a pair hides in a sum, as far as its leaves go; the other arguments as of `misfit`."""
    parts = {x: _leaves(x if isinstance(x, Step) else Step((x,)), c) for x in step.children}
    inside = [x for x, leaves in parts.items() if pair <= leaves and isinstance(x, Step)]
    if inside:
        return hidden_by(inside[0], pair, bits, c)
    exact = step in bits and bits[step] is None
    return frozenset().union(*(leaves for leaves in parts.values() if not exact or leaves & pair))


def exact_parts(among: Leaves, seen: Mapping[Couple, Leaves]) -> set[Leaves] | None:
    """The parts of an exact sum, where a pair hides the two parts that it is in; None where it has no such.

    Shapes: `seen` is what pairs of leaves of the sum hide.
    """
    top = {p: s for p, s in seen.items() if not any(s < t and t != among for t in seen.values())}
    parts: set[Leaves] = set()
    for leaf in among:
        own = [s for p, s in top.items() if leaf in p]
        if len(own) > 1:
            parts.add(frozenset.intersection(*own))
    # Where a leaf was only asked with leaves of one part, that part is still among its own.
    parts = {part for part in parts if not any(other < part for other in parts)}
    added = True
    while added:
        added = False
        for p, s in top.items():
            known = [part for part in parts if part & p]
            if len(known) == 1 and p - known[0] and s - known[0] not in parts:
                parts.add(s - known[0])
                added = True
    whole = sum(map(len, parts)) == len(among) and among.union(*parts) == among
    return parts if whole and among not in parts else None


def spaced_alike(heads: Sequence[int], groups: Sequence[frozenset[int]]) -> list[tuple[int, int]]:
    """Parts that are as far from each other as two which were found to be in one inner sum.

    A chain of inner sums shows whole that way, where part by part each would be asked after the last.
    """
    for group in groups:
        places = [n for n, head in enumerate(heads) if head in group]
        if len(places) > 1:
            stride = places[1] - places[0]
            return list(zip(heads, heads[stride:], strict=False))
    return []


def _leaves(step: Step, c: int) -> Leaves:
    found = frozenset(step.products())
    return found | {c} if any("c" in x.children for x in step.steps()) else found
