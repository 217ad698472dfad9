"""Answers for other checkers: DIMACS, LRAT, AIGER; apart, because lists of answers load no clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.backends.export.aiger import binary_aiger
from tcformal.backends.second_gates import AndGates, network
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.query.question import Kind, Question, build_question
from tcformal.semantics.chain import circuit
from tcformal.simulation.operands.witness import Witness
from tcformal.solve.certificate import Certificate, certify, lrat, lrat_text
from tcformal.solve.lrat import check
from tcformal.solve.result import Status
from tcformal.solve.sat import run_briefly
from tcformal.store.answers import check_definition, question_of
from tcformal.store.store import Entry, Store

#: Conflicts after which no proof of a question without folding is looked for.
_CONFLICTS = 20_000


@dataclass(frozen=True, slots=True)
class WrittenProof:
    """A question in DIMACS form with a checked LRAT proof, empty where no proof exists.

    `folded`: whether folding alone decides the question; the clauses are then those without folding.
    """

    cnf: str
    lrat: str
    folded: bool

    @property
    def clauses(self) -> int:
        """The number of clauses in the DIMACS text."""
        return self.cnf.count("\n") - 1


def answer_proof(store: Store, entry: Entry) -> WrittenProof:
    """The clauses and the proof of an answer; unsimplified if simplification decides the question.

    Errors: InputError for an answer without a certificate, else as the audit refuses it.
    """
    entry.check()
    record = entry.record
    q = question_of(record)
    check_definition(record, q)
    cnf, certificate = to_cnf(q.graph, _root(record, q)), store.certificate(record)
    if record["witness"] is None and () in cnf.clauses:
        return _proved(_of_gates(*_unfolded(record, q)))
    if certificate is None:
        raise InputError(f"expected an answer with a certificate, but {entry.id[:12]} has none")
    return _checked(cnf, certificate)


def _root(record: Mapping[str, Any], q: Question) -> Node:
    """The node that a record states to be constantly 0."""
    return q.assumed if record["verdict"] == Kind.VACUOUS.name else q.asked


def _checked(cnf: Cnf, certificate: Certificate) -> WrittenProof:
    steps = lrat(cnf, certificate)
    check(cnf.variables, cnf.clauses, steps)
    return WrittenProof(cnf.dimacs(), lrat_text(steps), False)


#: And-gates, the widths of their inputs by name, and the literal of one of them.
_Circuit = tuple[AndGates, Mapping[str, int], int]


def answer_circuit(record: Mapping[str, Any], q: Question) -> bytes:
    """The question of a record as AIGER, by the second definition of the operators.

    Where the record has inputs, these are demanded too, and the output can be 1; else it never is.
    """
    if record["witness"] is not None:
        return _demanded(_circuit(q.graph, q.asked), q.read_witness(record["witness"]))
    root = _root(record, q)
    folded = () in to_cnf(q.graph, root).clauses
    gates, _, literal = _unfolded(record, q) if folded else _circuit(q.graph, root)
    return binary_aiger(gates.n_inputs, [literal], gates.ands)


def run_circuit(spec: UnitSpec, w: Witness, result: int) -> bytes:
    """One dot product of a unit as AIGER: the output can be 1 if the unit gives the result."""
    graph, d = circuit(spec, len(w.a))
    same = graph.eq(d, graph.const(result, d.width))
    return _demanded(_circuit(graph, same), w.inputs())


def _demanded(made: _Circuit, values: Mapping[str, int]) -> bytes:
    """A circuit as AIGER whose output is also that every input has its value."""
    gates, inputs, literal = made
    bits = (values.get(name, 0) >> i & 1 for name, width in inputs.items() for i in range(width))
    for variable, bit in enumerate(bits, 1):
        literal = gates.both(literal, 2 * variable + 1 - bit)
    return binary_aiger(gates.n_inputs, [literal], gates.ands)


def _circuit(graph: Graph, root: Node) -> _Circuit:
    net = network(to_json(graph, {"root": root}))
    return net.gates, net.inputs, net.roots["root"][0]


def _unfolded(record: Mapping[str, Any], q: Question) -> _Circuit:
    """The question built without folding: two circuits of one definition share no gate."""
    again = build_question(record["question"], Graph(folded=False))
    results = getattr(again, "results", None)
    if results is None or results[0] is not results[1]:
        return _circuit(again.graph, _root(record, again))
    first, second = (network(to_json(again.graph, {"result": x, "assumed": again.assumed})) for x in results)
    n, gates = first.gates.n_inputs, AndGates(first.gates.n_inputs)
    gates.ands += first.gates.ands
    further = 2 * len(first.gates.ands)

    def moved(x: int) -> int:
        return x if x >> 1 <= n else x + further

    gates.ands += [(moved(x), moved(y)) for x, y in second.gates.ands]
    same = gates.same([*first.roots["result"]], [moved(x) for x in second.roots["result"]])
    return gates, first.inputs, gates.both(first.roots["assumed"][0], same ^ 1)


def _of_gates(gates: AndGates, inputs: Mapping[str, int], root: int) -> Cnf:
    """Tseitin clauses of and-gates; literals are 2·v and 2·v + 1, and variable 0 is false."""
    false = gates.n_inputs + len(gates.ands) + 1

    def literal(x: int) -> int:
        variable = x >> 1 or false
        return -variable if x & 1 else variable

    clauses: list[tuple[int, ...]] = [(-false,)]
    for i, (x, y) in enumerate(gates.ands, gates.n_inputs + 1):
        p, r = literal(x), literal(y)
        # A gate may take one literal twice, or with its complement.
        rows = [(-i, p), (-i, r), *([] if p == -r else [tuple(dict.fromkeys((i, -p, -r)))])]
        clauses += dict.fromkeys(rows)
    bits, at = {}, 1
    for name, width in inputs.items():
        bits[name] = tuple(range(at, at + width))
        at += width
    return Cnf(false, (*clauses, (literal(root),)), bits)


def _proved(cnf: Cnf) -> WrittenProof:
    """Unsimplified clauses, with a proof where a short run of the solver finds one."""
    outcome = run_briefly(cnf, _CONFLICTS)
    if outcome.status is not Status.UNSAT:
        return WrittenProof(cnf.dimacs(), "", True)
    steps = lrat(cnf, certify(cnf, outcome.proof, "glucose"))
    check(cnf.variables, cnf.clauses, steps)
    return WrittenProof(cnf.dimacs(), lrat_text(steps), True)
