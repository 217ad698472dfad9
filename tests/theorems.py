"""Every theorem of a proof on random inputs."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction

from tcformal.interp.concrete import Concrete
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.proofs.kernel.rules import ABOVE, AT_LEAST, Poly, ProofKernel
from tcformal.proofs.packed import unpacked
from tcformal.proofs.statements.error_bound import ErrorBound
from tcformal.proofs.statements.integer_sums import IntegerSum
from tcformal.proofs.statements.monotone import MonotoneSum
from tcformal.proofs.statements.relative_bound import RelativeBound


def value_at(p: Poly, values: Mapping[Node, int]) -> Fraction:
    """The value of a polynomial."""
    total = Fraction(0)
    for (atoms, exponents), q in p.terms.items():
        for n in atoms:
            q *= values[n]
        total += q * Fraction(2) ** sum(c * values[n] for n, c in exponents)
    return total


def check_theorems(
    stated: ErrorBound | IntegerSum | MonotoneSum | RelativeBound,
    tree: str,
    drawn: Callable[[Graph, random.Random], dict[str, int]],
    times: int = 40,
) -> None:
    """No theorem of a proof is false on `times` random inputs, and hypotheses often hold."""
    kernel = ProofKernel(stated.graph, stated.roots, lambda *_: True)
    for data in unpacked(tree)[0]:
        kernel.step(*data)
    about = [t.about for t in kernel.theorems if isinstance(t.about, Node)]
    nodes = list(dict.fromkeys([*kernel.numbers, *about, *(h for t in kernel.theorems for h in t.hyps)]))
    run, rng = Concrete(stated.graph, nodes), random.Random(15)
    met = 0
    for _ in range(times):
        values = dict(zip(nodes, run(drawn(stated.graph, rng)), strict=True))
        for t in kernel.theorems:
            if not all(values[h] for h in t.hyps):
                continue
            met += 1
            if isinstance(t.about, Node):
                assert values[t.about] == 1
                continue
            x = value_at(t.about, values)
            assert x > 0 if t.relation == ABOVE else x >= 0 if t.relation == AT_LEAST else x == 0
    assert met > times * len(kernel.theorems) / 4
