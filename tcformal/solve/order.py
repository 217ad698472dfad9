"""Which members to start first, by the kind of a question: learnt from measured times, kept in order.json.

`python -m benchmarks.solvers` writes that file: for each kind the order, and beside it what was measured.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from typing import Any

from tcformal.ir.node import Node
from tcformal.ir.walk import reachable

#: Bits above which a word counts as wide.
WIDE = 64

#: The kinds of questions; the first one that fits is a question's kind.
KINDS: Mapping[str, str] = {
    "constant": "both sides build the same definition",
    "wide": f"words of more than {WIDE} bits: sums that keep every bit",
    "products": "dot products whose sums are cut",
    "sums": "no products: lemmas about sums and their order",
}

#: How much longer the first two members may take together when the second sees another encoding than the
#: first, which guards against what is wrong with one encoding, or hard in it.
SECOND_ENCODING = 1.25


def kind_of(assertion: Node) -> str:
    """The kind of the question whether some input makes `assertion` equal 1."""
    if assertion.op == "const":
        return "constant"
    nodes = reachable([assertion])
    if any(node.width > WIDE for node in nodes):
        return "wide"
    return "products" if any(node.op == "mul_expand" for node in nodes) else "sums"


@functools.cache
def measured() -> Mapping[str, Any]:
    """What the benchmark wrote: the machine, and for each kind the order of the members and their medians."""
    text = resources.files("tcformal.solve").joinpath("order.json").read_text(encoding="utf-8")
    table: Mapping[str, Any] = json.loads(text)
    return table


def in_order(names: Sequence[str], assertion: Node) -> tuple[str, ...]:
    """`names` in the order in which a portfolio starts them on this question; unmeasured members are last."""
    order = measured()["kinds"][kind_of(assertion)]["order"]
    return tuple(sorted(names, key=lambda name: order.index(name) if name in order else len(order)))


def rank(seconds: Mapping[str, Sequence[float]], own: Collection[str]) -> list[str]:
    """The order in which members should be started, from their times on the same questions.

    Each place goes to the member with which those placed so far, each question being settled by the
    fastest of them, need the least time in all; between equals, to the one that needs less by itself.
    The second place goes to another encoding than the first one's unless that costs too much.
    Ranges and units: processor seconds, the time limit's double where a member gave no answer; `own` are the
    members on our own clauses.
    """
    order: list[str] = []
    best = [float("inf")] * max(map(len, seconds.values()), default=0)

    def together(name: str) -> float:
        return sum(map(min, best, seconds[name]))

    while left := [name for name in seconds if name not in order]:
        ranked = sorted(left, key=lambda name: (together(name), sum(seconds[name])))
        other = [name for name in ranked if order and (name in own) != (order[0] in own)]
        if len(order) == 1 and other and together(other[0]) <= SECOND_ENCODING * together(ranked[0]):
            ranked = other
        order.append(ranked[0])
        best = list(map(min, best, seconds[ranked[0]]))
    return order
