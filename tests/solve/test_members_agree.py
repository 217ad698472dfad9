"""Every member decides random questions as the operator table does: models replay, proofs are checked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from dags import evaluate, random_graph, random_inputs
from tcformal.backends import cnf as cnf_module
from tcformal.backends.blast import Bits, Blast
from tcformal.backends.cnf import to_cnf
from tcformal.errors import CertificateError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve.certificate import certify
from tcformal.solve.members import available, registry
from tcformal.solve.result import Limits, Status
from tcformal.solve.worker import load_runner

SEED = 20261122
LIMITS = Limits(60.0, 4096, 0)


def questions(rng: random.Random, count: int) -> Iterator[tuple[Graph, Node, bool | None]]:
    """Questions about random graphs, each with its answer where that is known beforehand.

    Do the roots ever take the values that they have at some inputs (yes), any values (nobody knows),
    or, with the inputs given, others than they have there (no)?
    """
    for _ in range(count):
        graph, roots = random_graph(rng, 3, 45, rng.choice((2, 4, 8, 12)))
        inputs = random_inputs(rng, graph)
        values = evaluate(graph, roots, inputs)

        def are(targets: Sequence[int], graph: Graph = graph, roots: Sequence[Node] = roots) -> Node:
            return graph.and_(
                *[graph.eq(root, graph.const(t, root.width)) for root, t in zip(roots, targets, strict=True)]
            )

        given = [graph.eq(node, graph.const(inputs[name], node.width)) for name, node in graph.inputs.items()]
        yield graph, are(values), True
        yield graph, graph.and_(*given, graph.not_(are(values))), False
        one = rng.randrange(len(roots))
        targets = [*values[:one], rng.getrandbits(roots[one].width), *values[one + 1 :]]
        yield graph, are(targets), None
        yield graph, graph.eq(roots[one], graph.const(targets[one], roots[one].width)), None


def disagreements(rng: random.Random, count: int, members: Sequence[str]) -> Iterator[str]:
    """Where a member says otherwise than is known, than its own evidence, or than the first member."""
    for number, (graph, assertion, known) in enumerate(questions(rng, count)):
        expected = known
        for name in members:
            outcome = load_runner(registry[name].runner)(graph, assertion, LIMITS)
            if outcome.status not in (Status.SAT, Status.UNSAT):
                yield f"question {number}: {name} said {outcome.status.value}"
                continue
            answered = outcome.status is Status.SAT
            if expected is None:
                expected = answered
            if answered != expected:
                yield f"question {number}: {name} said {outcome.status.value}"
            elif answered:
                model = {input_name: (outcome.model or {}).get(input_name, 0) for input_name in graph.inputs}
                if evaluate(graph, [assertion], model) != [1]:
                    yield f"question {number}: the model of {name} does not replay"
            elif registry[name].proves:
                try:
                    certify(to_cnf(graph, assertion), outcome.proof, name)
                except CertificateError as error:
                    yield f"question {number}: {name}: {error}"


@pytest.mark.slow
def test_all_members_agree() -> None:
    assert {registry[name].proves for name in available()} == {True, False}
    assert list(disagreements(random.Random(SEED), 6, available())) == []


def test_random_questions_have_both_answers() -> None:
    """What nobody knows beforehand is sometimes true and sometimes false."""
    run = load_runner(registry["glucose"].runner)
    open_questions = [q for q in questions(random.Random(SEED), 30) if q[2] is None]
    answers = [run(graph, assertion, LIMITS).status for graph, assertion, _ in open_questions]
    assert answers.count(Status.SAT) > 10
    assert answers.count(Status.UNSAT) > 10


def wrong_comparison(self: Blast, x: Bits, y: Bits) -> int:
    return self.gates.majority(x[-1], y[-1] ^ 1, 1)


def test_comparison_of_members_rejects_a_wrong_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clauses of a wrong circuit are told from the other members' encodings."""
    monkeypatch.setattr(Blast, "_at_least", wrong_comparison)
    assert next(disagreements(random.Random(SEED), 60, ["z3", "glucose"]), None) is not None


@pytest.mark.parametrize("kind", ["and", "xor", "choice", "majority"])
def test_comparison_of_members_rejects_a_missing_clause(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cnf_module._PICK, kind, cnf_module._PICK[kind][1:])
    assert next(disagreements(random.Random(SEED), 60, ["z3", "glucose"]), None) is not None
