"""What pairs of large terms hide in an order of summation, and whether masks agree with it."""

from __future__ import annotations

from collections.abc import Mapping

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


def _leaves(step: Step, c: int) -> Leaves:
    found = frozenset(step.products())
    return found | {c} if any("c" in x.children for x in step.steps()) else found
