"""The question behind a claim, and its decision with a checked proof."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tcformal.backends.cnf import Cnf
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import reachable
from tcformal.solve.certificate import checked_steps
from tcformal.solve.result import Status
from tcformal.solve.sat import refuted
from tcformal.theory.terms import Bits, Claim, make


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
            made[node] = make(g, node.op, [made[y] for y in node.args], node.params)
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


def structure(wrong: Node) -> Hashable:
    """What makes two questions the same: their nodes, by operator and place."""
    return tuple([(x.op, x.params, *[y.index for y in x.args]) for x in reachable([wrong])])


def decide(cnf: Cnf) -> int | None:
    """The steps of a checked refutation of the clauses of a claim's negation; None where the claim is false.

    Errors: CertificateError for a refutation that the checker refuses.
    """
    outcome = refuted(cnf)
    return None if outcome.status is not Status.UNSAT else checked_steps(cnf, outcome.proof or "")
