"""Which members are started first: kinds of questions, the measured table, and how an order is learnt."""

from __future__ import annotations

import pytest

from benchmarks.questions import QUESTIONS
from benchmarks.solvers import Run, faults
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve import order
from tcformal.solve.members import Member, available, registry
from tcformal.solve.order import KINDS, in_order, kind_of
from tcformal.solve.portfolio import decide
from tcformal.solve.result import Limits


def parts() -> dict[str, Node]:
    """An assertion of each kind."""
    graph = Graph()
    x, y, wide = graph.input("x", 8), graph.input("y", 8), graph.input("wide", 65)
    product = graph.mul_expand(x, y)
    return {
        "constant": graph.truth(True),
        "wide": graph.and_(graph.any_bit(product), graph.any_bit(wide)),
        "products": graph.any_bit(product),
        "sums": graph.any_bit(graph.add_mod(x, y)),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_told(kind: str) -> None:
    assert kind_of(parts()[kind]) == kind


def test_members_follow_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"kinds": {kind: {"order": ["z3", "kissat", "cvc5"]} for kind in KINDS}}
    monkeypatch.setattr(order, "measured", lambda: table)
    assertion = parts()["sums"]
    assert in_order(["cvc5", "new", "kissat", "newer"], assertion) == ("kissat", "cvc5", "new", "newer")
    monkeypatch.setitem(registry, "kissat", Member("no-such-kissat", "nowhere:run", proves=True))
    graph = Graph()
    decision = decide(graph, graph.truth(True), limits=Limits(60.0, 4096, 0), jobs=1)
    assert next(a.solver for a in decision.answers) == "z3"
    assert {a.solver for a in decision.answers} == set(available())


# ---------------------------------------------------------------------- the benchmark's questions
@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        (["sat", "timeout", "sat"], False),
        (["unsat", "timeout", "timeout"], True),
        (["sat", "unsat", "timeout"], True),
        (["sat", "crash", "sat"], True),
        (["timeout", "timeout", "memory"], False),
    ],
)
def test_the_benchmark_notices_wrong_answers(answers: list[str], wrong: bool) -> None:
    """Against each other, and against what was known: this question has inputs."""
    asked = next(asked for asked in QUESTIONS if asked.expected == "sat")
    row = {f"member {i}": Run(answer, 1.0, 1.0) for i, answer in enumerate(answers)}
    assert [fault.partition(":")[0] for fault in faults({asked.name: row})] == [asked.name] * wrong
