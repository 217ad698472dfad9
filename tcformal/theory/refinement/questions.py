"""The question behind a claim, and its decision with a certificate."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.interp.cnf import Cnf
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.certificate import Certificate, certify
from tcformal.solve.result import Status
from tcformal.solve.sat import refuted
from tcformal.theory.terms import Bits, Claim


def question(claim: Claim) -> tuple[Graph, Node]:
    """The graph and the node that is 1 where everything given holds and the goal does not."""
    g = Graph(folded=False)
    made: dict[Node, Node] = {}
    wanted = [y for e in (*claim.given, claim.goal) for y in e.nodes()]
    for node in _ordered(wanted, claim.free):
        if node in claim.free or node.op == "input":
            made[node] = g.input(f"v{len(made)}", node.width)
        elif node.op == "const":
            made[node] = g.const(node.params[1], node.width)
        else:
            made[node] = g.make(node.op, [made[y] for y in node.args], node.params)
    bits_of = Bits(g, made)
    wrong = g.make("not_", (bits_of.formula(claim.goal),))
    for x in claim.given:
        wrong = g.make("and_", (wrong, bits_of.formula(x)))
    return g, wrong


def _ordered(wanted: Sequence[Node], free: frozenset[Node]) -> list[Node]:
    """The nodes between the cut and those wanted, arguments first."""
    seen: set[Node] = set()
    stack = list(wanted)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in free:
                stack += node.args
    return sorted(seen, key=lambda x: x.index)


def decide(cnf: Cnf) -> Certificate | None:
    """The checked refutation of the clauses of a claim's negation; None where the claim is false."""
    outcome = refuted(cnf)
    return None if outcome.status is not Status.UNSAT else certify(cnf, outcome.proof, "glucose42")
