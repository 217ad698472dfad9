"""Which members are started first: kinds of questions, the measured table, and how an order is learnt."""

from __future__ import annotations

import pytest

from benchmarks.questions import QUESTIONS, Asked
from benchmarks.solvers import Run, faults, learn, rank
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.solve import portfolio
from tcformal.solve.members import Member, available, registry
from tcformal.solve.portfolio import KINDS, decide, in_order, kind_of, measured
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


def test_the_table_has_every_kind_and_every_member() -> None:
    """A kind or a member that was not measured would be started by luck: run the benchmark."""
    table = measured()["kinds"]
    assert sorted(table) == sorted(KINDS)
    for kind in KINDS:
        assert sorted(table[kind]["order"]) == sorted(registry)
        assert table[kind]["median_processor_s"].keys() == table[kind]["answered"].keys() == set(registry)
        assert table[kind]["questions"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_one_of_the_first_two_sees_another_encoding_or_costs_too_much(kind: str) -> None:
    first, second = measured()["kinds"][kind]["order"][:2]
    if registry[first].proves and registry[second].proves:
        medians = measured()["kinds"][kind]["median_processor_s"]
        others = [medians[name] for name, member in registry.items() if not member.proves]
        assert min(others) > medians[second]


def test_members_follow_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"kinds": {kind: {"order": ["z3", "kissat", "cvc5"]} for kind in KINDS}}
    monkeypatch.setattr(portfolio, "measured", lambda: table)
    assertion = parts()["sums"]
    assert in_order(["cvc5", "new", "kissat", "newer"], assertion) == ("kissat", "cvc5", "new", "newer")
    monkeypatch.setitem(registry, "kissat", Member("no-such-kissat", "nowhere:run", proves=True))
    graph = Graph()
    decision = decide(graph, graph.truth(True), limits=Limits(60.0, 4096, 0), jobs=1)
    assert next(a.solver for a in decision.answers) == "z3"
    assert {a.solver for a in decision.answers} == set(available())


#: Seconds of four members on three questions; p and q work on our own clauses.
TIMES = {"p": [1.0, 1.0, 9.0], "q": [2.0, 0.5, 9.0], "s": [9.0, 9.0, 1.0], "t": [3.0, 3.0, 3.0]}


def test_the_second_place_goes_to_what_the_first_lacks() -> None:
    assert rank(TIMES, {"p", "q"}) == ["t", "p", "s", "q"]
    assert rank({name: TIMES[name] for name in "pqs"}, {"p", "q"}) == ["p", "s", "q"]


def test_the_second_place_goes_to_another_encoding_unless_that_costs_too_much() -> None:
    times = {"p": [1.0, 4.0], "q": [4.0, 1.0], "s": [4.0, 1.4], "t": [5.0, 5.0]}
    assert rank(times, {"p", "q"})[:2] == ["p", "s"]
    times["s"] = [4.0, 3.0]
    assert rank(times, {"p", "q"})[:2] == ["p", "q"]


def test_nobody_is_ranked_twice_or_left_out() -> None:
    assert rank({}, ()) == []
    assert sorted(rank(TIMES, ())) == sorted(TIMES)


# ---------------------------------------------------------------------- the benchmark's questions
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.name)
def test_the_benchmarks_questions_are_questions(asked: Asked) -> None:
    _, assertion = asked.build()
    assert assertion.width == 1
    assert kind_of(assertion) in KINDS


def test_the_benchmark_has_questions_of_every_kind() -> None:
    assert {kind_of(asked.build()[1]) for asked in QUESTIONS} == set(KINDS)
    assert len({asked.name for asked in QUESTIONS}) == len(QUESTIONS)


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


def test_the_benchmark_learns_per_kind() -> None:
    """A member without an answer is charged twice the limit; processor time counts, not wall time."""
    runs = {
        "a": {name: Run("sat", 9.0, i + 1.0) for i, name in enumerate(available())},
        "b": {name: Run("timeout", 9.0, 9.0) for name in available()},
    }
    table = learn(runs, {"a": "sums", "b": "wide"}, Limits(10.0, 4096, 0))
    assert list(table) == ["wide", "sums"]
    assert table["sums"]["median_processor_s"] == {n: i + 1.0 for i, n in enumerate(available())}
    assert set(table["wide"]["median_processor_s"].values()) == {20.0}
    assert set(table["wide"]["answered"].values()) == {0}
    assert table["sums"]["order"][0] == available()[0]
