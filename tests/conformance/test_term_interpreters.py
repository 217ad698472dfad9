"""Every term interpreter gives each operator the meaning that the operator table gives it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import bitwuzla
import cvc5
import pytest
import z3

from dags import evaluate, random_graph, random_inputs
from sampled import one_in
from smtlib_script import to_smtlib
from tcformal.backends.terms.term_bitwuzla import BitwuzlaTerms
from tcformal.backends.terms.term_cvc5 import Cvc5Terms
from tcformal.backends.terms.term_z3 import Z3Terms
from tcformal.backends.terms.terms import TERM_OPS, TermInterpreter
from tcformal.errors import InputError, UnknownNameError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.ops import OPS
from tcformal.ir.walk import Interpreter, reachable

SEED = 20240611


def answer_z3(graph: Graph, assertion: Node) -> str:
    terms = Z3Terms(graph)
    solver = z3.SolverFor("QF_BV", terms.context)
    solver.add(terms.assertion(assertion))
    return str(solver.check())


def answer_cvc5(graph: Graph, assertion: Node) -> str:
    terms = Cvc5Terms(graph)
    solver = cvc5.Solver(terms.manager)
    solver.setLogic("QF_BV")
    solver.assertFormula(terms.assertion(assertion))
    return str(solver.checkSat())


def answer_bitwuzla(graph: Graph, assertion: Node) -> str:
    terms = BitwuzlaTerms(graph)
    solver = bitwuzla.Bitwuzla(terms.manager)
    solver.assert_formula(terms.assertion(assertion))
    return {bitwuzla.Result.SAT: "sat", bitwuzla.Result.UNSAT: "unsat"}[solver.check_sat()]


def answer_text_z3(graph: Graph, assertion: Node) -> str:
    solver = z3.SolverFor("QF_BV", z3.Context())
    solver.from_string(to_smtlib(graph, assertion))
    return str(solver.check())


def answer_text_cvc5(graph: Graph, assertion: Node) -> str:
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    parser = cvc5.InputParser(solver)
    text = to_smtlib(graph, assertion, status="unknown")
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
    replies = []
    while not (command := parser.nextCommand()).isNull():
        replies.append(command.invoke(solver, parser.getSymbolManager()))
    return str(replies[-1]).strip()


ANSWERS = [answer_z3, answer_cvc5, answer_bitwuzla, answer_text_z3, answer_text_cvc5]


def claims(graph: Graph, roots: list[Node], inputs: dict[str, int]) -> tuple[Node, Node]:
    """What is true of `roots` at these inputs, and its denial at the same inputs."""
    given = [graph.eq(node, graph.const(inputs[name], node.width)) for name, node in graph.inputs.items()]
    values = evaluate(graph, roots, inputs)
    found = graph.and_(*[graph.eq(r, graph.const(v, r.width)) for r, v in zip(roots, values, strict=True)])
    return graph.and_(*given, found), graph.and_(*given, graph.not_(found))


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
def test_random_graphs_mean_what_the_table_says(answer: Callable[[Graph, Node], str]) -> None:
    rng = random.Random(SEED)
    met: set[str] = set()
    for _ in range(50):
        graph, roots = random_graph(rng, 4, 50, rng.choice((2, 5, 9, 24, 70)))
        met.update(node.op for node in reachable(roots))
        right, wrong = claims(graph, roots, random_inputs(rng, graph))
        assert answer(graph, right) == "sat"
        assert answer(graph, wrong) == "unsat"
    assert met == set(OPS)


@pytest.mark.parametrize("name", one_in(2, ["shl_mod", "lshr", "ashr"]))
@pytest.mark.parametrize("answer", ANSWERS)
def test_shifts_of_every_pair_of_small_widths(answer: Callable[[Graph, Node], str], name: str) -> None:
    for width, amount_width in [(1, 1), (1, 3), (2, 1), (3, 2), (3, 5), (4, 3), (5, 2)]:
        graph = Graph()
        x, amount = graph.input("x", width), graph.input("amount", amount_width)
        shifted = graph.make(name, (x, amount))
        wrong = []
        for value in range(1 << width):
            for distance in range(1 << amount_width):
                here = graph.eq(x, graph.const(value, width))
                here = graph.and_(here, graph.eq(amount, graph.const(distance, amount_width)))
                (expected,) = evaluate(graph, [shifted], {"x": value, "amount": distance})
                wrong.append(graph.and_(here, graph.not_(graph.eq(shifted, graph.const(expected, width)))))
        assert answer(graph, graph.or_(*wrong)) == "unsat"


def test_truth_values_do_not_tower() -> None:
    graph = Graph()
    x, y = graph.input("x", 8), graph.input("y", 8)
    less = graph.ult(x, y)
    root = graph.and_(graph.not_(graph.eq(less, graph.truth(True))), graph.ite(less, graph.eq(x, y), less))
    text = to_smtlib(graph, root)
    assert "#b" not in text
    assert text.count("ite") == 1


def test_text_is_one_script() -> None:
    graph = Graph()
    x = graph.input("a[0].x", 8)
    text = to_smtlib(graph, graph.eq(graph.add_mod(x, x), graph.const(6, 8)), status="sat")
    assert text == (
        "(set-logic QF_BV)\n"
        "(set-info :status sat)\n"
        "(declare-const |a[0].x| (_ BitVec 8))\n"
        "(define-fun n0 () (_ BitVec 8) (bvadd |a[0].x| |a[0].x|))\n"
        "(define-fun n1 () Bool (= n0 #x06))\n"
        "(assert n1)\n"
        "(check-sat)\n"
    )


def test_text_keeps_clear_of_the_inputs_names() -> None:
    graph = Graph()
    differ = graph.not_(graph.eq(graph.input("n0", 4), graph.input("n_1", 4)))
    assert answer_text_z3(graph, differ) == "sat"


def test_text_of_a_deep_graph_is_not_nested() -> None:
    graph = Graph()
    x = y = graph.input("x", 8)
    for i in range(20_000):
        y = graph.xor(graph.add_mod(y, x), graph.const(i % 251, 8))
    lines = to_smtlib(graph, graph.bit(y, 0)).splitlines()
    assert max(len(line) for line in lines) < 80


@pytest.mark.parametrize("name", ["a|b", "a\\b", "a\nb", "bvadd", "ite", "@x", "true"])
def test_text_rejects_names_it_cannot_carry(name: str) -> None:
    graph = Graph()
    with pytest.raises(InputError, match="expected an input name that SMT-LIB can quote"):
        to_smtlib(graph, graph.bit(graph.input(name, 2), 0))


def test_text_rejects_an_unknown_status() -> None:
    graph = Graph()
    with pytest.raises(UnknownNameError, match="expected a known status, but got 'stat': the closest"):
        to_smtlib(graph, graph.bit(graph.input("x", 2), 0), status="stat")


def test_assertion_rejects_a_wide_node() -> None:
    graph = Graph()
    with pytest.raises(WidthError, match="expected width 1 for a truth value, but got width 2"):
        to_smtlib(graph, graph.input("x", 2))


def test_a_class_without_an_operator_is_rejected_when_created() -> None:
    names = OPS.keys() - {"ashr"}
    handlers: dict[str, Any] = {f"on_{name}": lambda self, node, *args: None for name in names}
    with pytest.raises(TypeError, match="expected Lame to define every operator, but it lacks ashr"):
        type("Lame", (Interpreter,), handlers)


def test_a_back_end_without_a_kind_is_rejected_when_created() -> None:
    with pytest.raises(TypeError, match="expected Lame to know every QF_BV operator, but it lacks bvmul"):

        class Lame(TermInterpreter[str]):
            KINDS: ClassVar[dict[str, str]] = {name: name for name in TERM_OPS - {"bvmul"}}


def test_the_base_class_cannot_be_made() -> None:
    base: Any = TermInterpreter
    with pytest.raises(TypeError, match="expected a complete interpreter, but TermInterpreter is partial"):
        base(Graph())
