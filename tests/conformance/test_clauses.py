"""Gates and clauses: each kind of gate, the network's folding, and what the clauses of a question say."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pysat.solvers import Solver

from dags import evaluate, random_graph, random_inputs
from tcformal.backends import cnf as cnf_module
from tcformal.backends import gates as gates_module
from tcformal.backends.blast import Bits, Blast
from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.backends.gates import CLAUSES, EVALUATE, FALSE, TRUE, Gates
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS
from tcformal.ir.walk import from_json, reachable, to_json


def negate(x: int) -> int:
    """The complement of a literal."""
    return x ^ 1


SEED = 20261121
ROOT = Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------------- kinds of gates
@pytest.mark.parametrize("kind", sorted(CLAUSES))
def test_clauses_say_what_the_gate_computes(kind: str) -> None:
    """All clauses hold exactly where the output is the gate's value."""
    assert clauses_that_lie(kind) == []


def clauses_that_lie(kind: str) -> list[tuple[int, ...]]:
    """The rows (output, operand, …) on which the clauses say otherwise than the evaluation."""
    arity = max(abs(t) for clause in CLAUSES[kind] for t in clause) - 1
    return [
        row
        for row in itertools.product((0, 1), repeat=arity + 1)
        if all(any(row[abs(t) - 1] == (t > 0) for t in clause) for clause in CLAUSES[kind])
        != (row[0] == EVALUATE[kind](*row[1:]))
    ]


def test_every_kind_has_a_meaning_and_clauses() -> None:
    assert CLAUSES.keys() == EVALUATE.keys()


@pytest.mark.parametrize("kind", sorted(CLAUSES))
def test_comparison_of_clauses_rejects(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One complemented literal in any clause, or a clause too few, is found."""
    right = CLAUSES[kind]
    needed = right[:4] if kind == "choice" else right
    for i, clause in enumerate(needed):
        for j in range(len(clause)):
            wrong = (*clause[:j], -clause[j], *clause[j + 1 :])
            monkeypatch.setitem(CLAUSES, kind, (*right[:i], wrong, *right[i + 1 :]))
            assert clauses_that_lie(kind) != []
        monkeypatch.setitem(CLAUSES, kind, (*needed[:i], *needed[i + 1 :]))
        assert clauses_that_lie(kind) != []


# ---------------------------------------------------------------------- the network
#: Each way to make a gate, the number of operands, and its meaning on bits.
MAKERS: dict[str, tuple[int, Callable[..., int], Callable[..., int]]] = {
    "and_": (2, Gates.and_, lambda x, y: x & y),
    "or_": (2, Gates.or_, lambda x, y: x | y),
    "xor": (2, Gates.xor, lambda x, y: x ^ y),
    "choice": (3, Gates.choice, lambda c, y, n: y if c else n),
    "majority": (3, Gates.majority, lambda x, y, z: int(x + y + z > 1)),
    "all_": (3, lambda g, *row: g.all_(row), lambda *row: min(row)),
    "any_": (3, lambda g, *row: g.any_(row), lambda *row: max(row)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_folding_keeps_the_function(name: str) -> None:
    """Every choice of operands among constants, inputs, gates of them, and complements of all these."""
    arity, make, meaning = MAKERS[name]
    gates = Gates()
    x, y, z = (gates.input() for _ in range(3))
    pool = [FALSE, x, y, z, gates.and_(x, y), gates.and_(x, negate(y)), gates.xor(x, y)]
    pool += [negate(literal) for literal in pool]
    made = [(row, make(gates, *row)) for row in itertools.product(pool, repeat=arity)]
    flat = [literal for row, result in made for literal in (*row, result)]
    for bits in itertools.product((0, 1), repeat=3):
        values = gates.evaluate(
            flat, {literal >> 1: bit for literal, bit in zip((x, y, z), bits, strict=True)}
        )
        held = dict(zip(flat, values, strict=True))
        assert [row for row, result in made if held[result] != meaning(*(held[o] for o in row))] == []


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "majority"])
def test_the_order_of_operands_does_not_matter(name: str) -> None:
    arity, make, _ = MAKERS[name]
    gates = Gates()
    inputs = [gates.input() for _ in range(arity)]
    for signs in itertools.product((0, 1), repeat=arity):
        operands = [x ^ sign for x, sign in zip(inputs, signs, strict=True)]
        assert len({make(gates, *row) for row in itertools.permutations(operands)}) == 1


def test_equal_functions_share_a_gate() -> None:
    gates = Gates()
    x, y, z = (gates.input() for _ in range(3))
    assert gates.xor(negate(x), y) == negate(gates.xor(x, y))
    assert gates.majority(*map(negate, (x, y, z))) == negate(gates.majority(x, y, z))
    assert gates.choice(negate(x), y, z) == gates.choice(x, z, y)
    assert gates.choice(x, negate(y), negate(z)) == negate(gates.choice(x, y, z))
    assert len(gates.rows) == 1 + 3 + 3 + 1  # the constant, the inputs, one gate each, choice both ways


def test_nothing_is_true_of_no_literals() -> None:
    gates = Gates()
    assert (gates.all_([]), gates.any_([])) == (TRUE, FALSE)


def test_the_cone_holds_what_is_needed_only() -> None:
    gates = Gates()
    x, y, z = (gates.input() for _ in range(3))
    gates.and_(y, z)
    both = gates.and_(x, y)
    assert gates.cone([negate(both), TRUE]) == [x >> 1, y >> 1, both >> 1]


# ---------------------------------------------------------------------- clauses of a question
def satisfiable(cnf: Cnf, assumed: list[int]) -> bool:
    """Whether the clauses can hold beside some literals."""
    if not all(cnf.clauses):
        return False
    with Solver(name="glucose42", bootstrap_with=[list(clause) for clause in cnf.clauses]) as solver:
        return bool(solver.solve(assumptions=assumed))


def answer_clauses(graph: Graph, assertion: Node) -> str:
    """The answer of a SAT solver to the clauses of a question."""
    return "sat" if satisfiable(to_cnf(graph, assertion), []) else "unsat"


def literals(cnf: Cnf, inputs: dict[str, int]) -> list[int]:
    """The literals that say that the inputs have these values."""
    pairs = [(bit, inputs[name] >> i & 1) for name, bits in cnf.inputs.items() for i, bit in enumerate(bits)]
    return [bit if value else -bit for bit, value in pairs if bit]


def lies(rng: random.Random, graphs: int) -> Iterator[str]:
    """Where random graphs, as gates and as clauses, say otherwise than the operator table."""
    for number in range(graphs):
        graph, roots = random_graph(rng, 3, 50, rng.choice((2, 5, 9, 24, 70)))
        blast = Blast(graph)
        rows = blast.run(roots)
        for _ in range(3):
            inputs = random_inputs(rng, graph)
            values = evaluate(graph, roots, inputs)
            bits = {
                bit >> 1: inputs[name] >> i & 1
                for name, row in blast.inputs.items()
                for i, bit in enumerate(row)
            }
            for root, row, value in zip(roots, rows, values, strict=True):
                if blast.gates.evaluate(row, bits) != [value >> i & 1 for i in range(root.width)]:
                    yield f"gates of {root} in graph {number}"
            pairs = zip(roots, values, strict=True)
            claim = graph.and_(*[graph.eq(root, graph.const(value, root.width)) for root, value in pairs])
            for assertion, truth in ((claim, True), (graph.not_(claim), False)):
                cnf = to_cnf(graph, assertion)
                if satisfiable(cnf, literals(cnf, inputs)) != truth:
                    yield f"clauses of graph {number}"


def test_random_graphs_mean_what_the_table_says() -> None:
    assert list(lies(random.Random(SEED), 12)) == []


def test_random_graphs_try_every_operator() -> None:
    rng = random.Random(SEED)
    graphs = [random_graph(rng, 3, 50, 9)[1] for _ in range(20)]
    assert {node.op for roots in graphs for node in reachable(roots)} == set(OPS)


def wrong_pick(kind: str, position: int) -> Callable[[pytest.MonkeyPatch], None]:
    """Clauses of a kind of gate in which one clause is another one's copy."""

    def install(monkeypatch: pytest.MonkeyPatch) -> None:
        picks = list(cnf_module._PICK[kind])
        picks[position] = picks[position - 1]
        monkeypatch.setitem(cnf_module._PICK, kind, tuple(picks))

    return install


def wrong_handler(name: str, method: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """A handler of the bit-blaster that does something else."""
    return lambda monkeypatch: monkeypatch.setattr(Blast, name, method)


def wrong_gate(kind: str, meaning: Callable[..., int]) -> Callable[[pytest.MonkeyPatch], None]:
    """A gate with another meaning."""
    return lambda monkeypatch: monkeypatch.setitem(gates_module.EVALUATE, kind, meaning)


RIGHT_SHIFT = Blast._shift


def forgets_carry_in(self: Blast, _: Node, x: Bits, y: Bits) -> Bits:
    return self._add(x, tuple(map(negate, y)), FALSE)[0]


def brings_zeros_in(self: Blast, _: Node, x: Bits, amount: Bits) -> Bits:
    return self._shift(x, amount, FALSE, left=False)


def wraps_far_shifts(self: Blast, x: Bits, amount: Bits, fill: int, left: bool) -> Bits:
    return RIGHT_SHIFT(self, x, amount[: (len(x) - 1).bit_length()], fill, left)


def says_less(self: Blast, _: Node, x: Bits, y: Bits) -> Bits:
    return (negate(self._at_least(x, y)),)


def swaps_halves(self: Blast, _: Node, high: Bits, low: Bits) -> Bits:
    return high + low


def adds_for_product(self: Blast, node: Node, x: Bits, y: Bits) -> Bits:
    none = (FALSE,) * node.width
    return self._add((x + none)[: node.width], (y + none)[: node.width], FALSE)[0]


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "clause of and": wrong_pick("and", 2),
    "clause of xor": wrong_pick("xor", 3),
    "clause of choice": wrong_pick("choice", 1),
    "clause of majority": wrong_pick("majority", 4),
    "meaning of choice": wrong_gate("choice", lambda c, y, n: n if c else y),
    "meaning of majority": wrong_gate("majority", lambda x, y, z: x | y | z),
    "difference without its carry in": wrong_handler("on_sub_mod", forgets_carry_in),
    "zeros for the sign": wrong_handler("on_ashr", brings_zeros_in),
    "far shifts wrap": wrong_handler("_shift", wraps_far_shifts),
    "less for at most": wrong_handler("on_ule", says_less),
    "signs not looked at": wrong_handler("on_slt", says_less),
    "halves swapped": wrong_handler("on_concat", swaps_halves),
    "sum for product": wrong_handler("on_mul_expand", adds_for_product),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_comparison_of_random_graphs_rejects(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong gate, clause or handler is found."""
    FAULTS[fault](monkeypatch)
    assert next(lies(random.Random(SEED), 60), None) is not None


@pytest.mark.parametrize("width", [1, 2, 3])
def test_clauses_hold_at_exactly_the_inputs_of_the_assertion(width: int) -> None:
    """All inputs of a question with products, shifts and sums: the clauses hold where it does."""
    graph = Graph()
    x, y, amount = graph.input("x", width), graph.input("y", width), graph.input("amount", 2)
    moved = graph.shl_mod(graph.mul_expand(x, y), amount)
    assertion = graph.slt(moved, graph.neg_mod(graph.zero_extend_to(x, 2 * width)))
    cnf = to_cnf(graph, assertion)
    for row in itertools.product(range(1 << width), range(1 << width), range(4)):
        inputs = dict(zip(("x", "y", "amount"), row, strict=True))
        assert satisfiable(cnf, literals(cnf, inputs)) == evaluate(graph, [assertion], inputs)[0]


def question() -> tuple[Graph, Node]:
    """x + y = 5 for two inputs of which one has a bit too many, and an input that is not asked about."""
    graph = Graph()
    x, y = graph.input("x", 4), graph.input("y", 5)
    graph.input("idle", 9)
    return graph, graph.eq(graph.add_mod(x, graph.extract(y, 3, 0)), graph.const(5, 4))


def test_a_model_is_read_from_the_lowest_bit() -> None:
    graph, assertion = question()
    cnf = to_cnf(graph, assertion)
    assert cnf.inputs["y"][4] == 0
    assert "idle" not in cnf.inputs
    x, y = cnf.inputs["x"], cnf.inputs["y"]
    assert cnf.model([x[0], x[3], -y[1], y[2]]) == {"x": 9, "y": 4}
    assert cnf.model([]) == {"x": 0, "y": 0}


@pytest.mark.parametrize("literal", [0, 10_000, -10_000])
def test_a_model_rejects(literal: int) -> None:
    cnf = to_cnf(*question())
    with pytest.raises(InputError) as caught:
        cnf.model([1, literal])
    assert str(caught.value) == f"expected literals of {cnf.variables} variables, but got {literal}"


def test_dimacs_is_the_text_of_the_clauses() -> None:
    graph = Graph()
    x = graph.input("x", 2)
    cnf = to_cnf(graph, graph.not_(graph.and_(graph.bit(x, 0), graph.bit(x, 1))))
    assert cnf.dimacs() == "p cnf 3 4\n-3 1 0\n-3 2 0\n3 -1 -2 0\n-3 0\n"


@pytest.mark.parametrize(("value", "text"), [(0, "p cnf 0 1\n0\n"), (1, "p cnf 0 0\n")])
def test_dimacs_of_a_constant(value: int, text: str) -> None:
    graph = Graph()
    assert to_cnf(graph, graph.const(value, 1)).dimacs() == text


def test_equal_questions_give_equal_bytes() -> None:
    """What else a graph holds, and a way over text, change nothing."""
    rng = random.Random(SEED)
    for _ in range(20):
        graph, roots = random_graph(rng, 3, 50, 12)
        assertion = graph.any_bit(roots[0])
        once = to_cnf(graph, assertion)
        graph.mul_expand(graph.input("other", 5), roots[-1])
        again, named = from_json(to_json(graph, {"assertion": assertion}))
        assert to_cnf(graph, assertion) == once
        assert to_cnf(again, named["assertion"]).dimacs() == once.dimacs()


def test_equal_questions_give_equal_bytes_in_another_process() -> None:
    graph, roots = random_graph(random.Random(SEED), 3, 60, 12)
    assertion = graph.any_bit(roots[0])
    program = (
        "import sys; from tcformal.backends.cnf import to_cnf; from tcformal.ir.walk import from_json\n"
        "graph, roots = from_json(sys.stdin.read()); print(to_cnf(graph, roots['assertion']).digest())"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=to_json(graph, {"assertion": assertion}),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        )
        assert done.stdout.strip() == to_cnf(graph, assertion).digest()


def test_a_wide_assertion_is_rejected() -> None:
    graph, _ = question()
    with pytest.raises(WidthError, match="expected an assertion of width 1, but got width 4"):
        to_cnf(graph, graph.inputs["x"])
