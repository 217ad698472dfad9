"""The second definition of the operators: DAGs read from JSON, nothing simplified."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from dags import evaluate, random_graph, random_inputs
from kept import FOUR, FOUR_25, ask, certified, separated
from tcformal.backends.concrete import Concrete
from tcformal.backends.second_gates import network
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.walk import to_json
from tcformal.query import pair
from tcformal.query.question import Question

SEED = 20261122


@pytest.mark.parametrize("number", range(6))
def test_random_dags(number: int) -> None:
    """DAGs of every operator, up to 128 bits wide."""
    rng = random.Random(f"{SEED}.{number}")
    graph, roots = random_graph(rng, 4, 60, 128)
    named = {f"r{i}": root for i, root in enumerate(roots)}
    net = network(to_json(graph, named))
    rows = [random_inputs(rng, graph) for _ in range(40)]
    expected = [dict(zip(named, evaluate(graph, roots, row), strict=True)) for row in rows]
    assert net.evaluate(rows) == expected


@pytest.mark.parametrize("width", [105, 111, 128])
def test_no_carry_is_lost(width: int) -> None:
    """A carry and a borrow through every place, each of them seen in the bit above."""
    graph = Graph()
    x, y = graph.input("x", width), graph.input("y", width)
    net = network(to_json(graph, {"sum": graph.add_mod(x, y), "difference": graph.sub_mod(x, y)}))
    rows = [{"x": 1 << i, "y": 1 << i} for i in range(width)]
    rows += [{"x": (1 << width) - 1, "y": 1}, {"x": 0, "y": 1}]
    ones = (1 << width) - 1
    expected = [{"sum": row["x"] + row["y"] & ones, "difference": row["x"] - row["y"] & ones} for row in rows]
    assert net.evaluate(rows) == expected


def test_nothing_is_simplified_or_shared() -> None:
    """x ∧ x twice, and its conjunction with true: three gates, as they stand."""
    text = json.dumps(
        {
            "nodes": [
                ["input", [], [1, "x"]],
                ["const", [], [1, "0x1"]],
                ["and_", [0, 0], []],
                ["and_", [0, 0], []],
                ["and_", [2, 1], []],
            ],
            "roots": {"r": 4},
        }
    )
    assert network(text).gates.ands == [(2, 2), (2, 2), (4, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"nodes":[["sqrt",[],[]]],"roots":{"r":0}}',
        '{"nodes":[["not_",[0],[]]],"roots":{"r":0}}',
        '{"nodes":[["input",[],[2,"x"]],["input",[],[3,"y"]],["and_",[0,1],[]]],"roots":{"r":2}}',
    ],
    ids=["nothing", "operator", "order", "widths"],
)
def test_another_text_rejects(text: str) -> None:
    with pytest.raises(InputError, match="expected the JSON text of a DAG"):
        network(text)


# ------------------------------------------------------------------------------ without folding
def test_a_graph_that_is_not_folded_keeps_what_it_is_asked_for() -> None:
    plain = Graph(folded=False)
    x = plain.input("x", 4)
    assert plain.eq(x, x).op == "eq"
    assert plain.not_(plain.not_(x)).op == "not_"
    assert plain.add_mod(plain.const(1, 4), plain.const(2, 4)).op == "add_mod"
    assert plain.extract(x, 3, 0).op == "extract"
    assert plain.eq(x, x) is plain.eq(x, x)


@pytest.mark.parametrize("made", [separated, certified], ids=["separated", "equivalent"])
def test_an_unfolded_question_has_the_same_values(made: Callable[[], Any]) -> None:
    """Both results, the assumptions and the assertion, on the independent gates and on integers."""
    q: Question = made().question
    again = q.build(q.parts(), Graph(folded=False))
    assert len(again.graph) > len(q.graph)
    net = network(to_json(again.graph, {"assumed": again.assumed, "asked": again.asked}))
    rng = random.Random(SEED)
    rows = [random_inputs(rng, q.graph) for _ in range(50)]
    run = Concrete(q.graph, [q.assumed, q.asked])
    expected = [dict(zip(("assumed", "asked"), run(row), strict=True)) for row in rows]
    assert net.evaluate(rows) == expected


# ------------------------------------------------------------------------------ what "differ" means
@pytest.mark.parametrize("bit", [0, 1, 22, 23, 30, 31])
def test_every_bit_of_two_results_makes_them_differ(bit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign, the exponent and the significand: results that are one bit apart differ on every input."""
    sides: list[Any] = []

    def one_bit_apart(g: Graph, spec: object, x: Any) -> object:
        sides.append(g.xor(x.c, g.const((1 << bit) * (len(sides) % 2), 32)))
        return type("Dot", (), {"result": sides[-1]})

    monkeypatch.setattr(pair, "chained_dot", one_bit_apart)
    q = ask(FOUR, FOUR_25)
    run = Concrete(q.graph, [q.differ])
    for c in (0, 1 << bit, 0x80000000, 0x3F800000, 0xFFFFFFFF):
        assert run({**dict.fromkeys(q.graph.inputs, 0), "c": c}) == [1]
