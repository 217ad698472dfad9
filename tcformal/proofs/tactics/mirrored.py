"""The nodes of a circuit that its mirror is made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tcformal.ir.build import Graph
from tcformal.ir.node import Node


def rounded_numbers(g: Graph) -> dict[int, tuple[Node, Node, Node]]:
    """Sign, exponent and overflow of every labelled rounded number, by the index of its significand."""
    labels = g.labels
    ending = "rounded.significand"
    found = {}
    for name, stage in labels.items():
        if name.endswith(ending):
            parts = ("sign", "exponent", "overflow")
            sign, exponent, overflow = (labels[f"{name[: -len('significand')]}{p}"].node for p in parts)
            found[stage.node.index] = (sign, exponent, overflow)
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
