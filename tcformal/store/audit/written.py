"""Export of answers for other checkers: DIMACS and LRAT; apart, because lists of answers load no clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcformal.backends.cnf import Cnf, to_cnf
from tcformal.backends.second_gates import AndGates, network
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import to_json
from tcformal.query.question import Kind, Question, kind_of
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
        again = kind_of(q).build(record["question"], Graph(folded=False))
        results = getattr(again, "results", None)
        if results is not None and results[0] is results[1]:
            return _unfolded(_two_circuits(again, *results))
        return _unfolded(_plain_cnf(again.graph, _root(record, again)))
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


def _plain_cnf(graph: Graph, root: Node) -> Cnf:
    """The unsimplified clauses of a root: one variable for every gate."""
    net = network(to_json(graph, {"root": root}))
    return _of_gates(net.gates, net.inputs, net.roots["root"][0])


def _two_circuits(q: Question, first: Node, second: Node) -> Cnf:
    """The clauses that two circuits of one definition, without shared gates, differ."""
    nets = [network(to_json(q.graph, {"result": x, "assumed": q.assumed})) for x in (first, second)]
    n, gates = nets[0].gates.n_inputs, AndGates(nets[0].gates.n_inputs)
    gates.ands += nets[0].gates.ands
    further = 2 * len(nets[0].gates.ands)

    def moved(x: int) -> int:
        return x if x >> 1 <= n else x + further

    gates.ands += [(moved(x), moved(y)) for x, y in nets[1].gates.ands]
    results = [*nets[0].roots["result"]], [moved(x) for x in nets[1].roots["result"]]
    asked = gates.both(nets[0].roots["assumed"][0], gates.same(*results) ^ 1)
    return _of_gates(gates, nets[0].inputs, asked)


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


def _unfolded(cnf: Cnf) -> WrittenProof:
    """Unsimplified clauses, with a proof where a short run of the solver finds one."""
    outcome = run_briefly(cnf, _CONFLICTS)
    if outcome.status is not Status.UNSAT:
        return WrittenProof(cnf.dimacs(), "", True)
    steps = lrat(cnf, certify(cnf, outcome.proof, "glucose"))
    check(cnf.variables, cnf.clauses, steps)
    return WrittenProof(cnf.dimacs(), lrat_text(steps), True)
