"""Checks on what a composition has made equal."""

from __future__ import annotations

import random

from tcformal.interp.concrete import Concrete
from tcformal.proofs.tactics.cuts import Composition


def assert_classes_agree(c: Composition, rounds: int = 200) -> None:
    """Every node has the value of its class's representative, on drawn inputs that obey the suppositions."""
    g, draw = c.graph, random.Random(7)
    nodes = [g._nodes[i] for i in range(len(g))]
    run = Concrete(g, nodes)
    for _ in range(rounds):
        values = run({name: draw.getrandbits(n.width) for name, n in g.inputs.items()})
        if any(bool(values[x.index]) is not value for x, value in c.supposed):
            continue
        for node in nodes:
            assert values[node.index] == values[c.representative(node).index], node
