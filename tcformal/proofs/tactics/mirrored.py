"""The nodes of a circuit that its mirror is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tcformal.ir.node import Node
from tcformal.semantics.stages import Dot


def rounded_numbers(dots: Sequence[Dot]) -> dict[int, tuple[Node, Node, Node]]:
    """Sign, exponent and overflow of every rounded number, by the index of its significand."""
    found = {}
    for dot in dots:
        for step in dot.steps:
            for rounded in (None if step.floor is None else step.floor.rounded, step.rounded):
                if rounded is not None:
                    sign, significand, exponent, overflow = rounded.parts
                    found[significand.index] = (sign, exponent, overflow)
    return found


def met(roots: Sequence[Node], stop: Collection[int]) -> list[Node]:
    """The nodes of `stop` that a walk down from the roots meets first, in the order of meeting."""
    found: dict[int, Node] = {}
    seen: set[int] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node.index in seen:
            continue
        seen.add(node.index)
        if node.index in stop and node.op != "const":
            found[node.index] = node
        else:
            stack.extend(reversed(node.args))
    return list(found.values())
