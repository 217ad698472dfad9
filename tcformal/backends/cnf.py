"""Conjunctive normal form of a question: an assertion's gates, Tseitin clauses, a map to inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from tcformal.backends.blast import Blast
from tcformal.backends.gates import CLAUSES, FALSE, TRUE
from tcformal.errors import InputError, WidthError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node

#: A clause of so many literals in DIMACS form; no gate has longer ones.
_LINES = tuple("%d " * length + "0\n" for length in range(5))

#: The clauses of each kind of gate, each as what picks it from (0, output, operand, …, −operand, −output):
#: position −t is the complement of position t.
_PICK = {kind: tuple(itemgetter(*clause) for clause in clauses) for kind, clauses in CLAUSES.items()}


@dataclass(frozen=True, slots=True)
class Cnf:
    """A CNF formula that is satisfiable exactly if some input makes the assertion 1.

    Shapes: `clauses` are rows of DIMACS literals ±1…±`variables`; `inputs` holds, for every input of the
    question, its bits from the lowest: a literal, or 0 for a bit that the question does not depend on.
    """

    variables: int
    clauses: tuple[tuple[int, ...], ...]
    inputs: Mapping[str, tuple[int, ...]]

    def dimacs(self) -> str:
        """The clauses in DIMACS form."""
        lines = [_LINES[len(clause)] % clause for clause in self.clauses]
        return f"p cnf {self.variables} {len(self.clauses)}\n" + "".join(lines)

    def digest(self) -> str:
        """SHA-256 of the DIMACS form, which identifies the formula in certificates."""
        return hashlib.sha256(self.dimacs().encode()).hexdigest()

    def model(self, true: Iterable[int]) -> dict[str, int]:
        """Input values from a solver's true literals; unconstrained bits are 0.

        Errors: InputError for a literal that no variable has.
        """
        held = set(true)
        unknown = next((x for x in held if not 0 < abs(x) <= self.variables), None)
        if unknown is not None:
            raise InputError(f"expected literals of {self.variables} variables, but got {unknown}")
        return {
            name: sum(1 << i for i, bit in enumerate(bits) if bit in held)
            for name, bits in self.inputs.items()
        }


def to_cnf(graph: Graph, assertion: Node) -> Cnf:
    """The CNF of the question whether some input makes `assertion` (width 1) equal 1.

    Equal questions give equal clauses in equal order.  Errors: WidthError for another width.
    """
    if assertion.width != 1:
        raise WidthError(f"expected an assertion of width 1, but got width {assertion.width}")
    blast = Blast(graph)
    ((root,),) = blast.run([assertion])
    rows, cone = blast.gates.rows, blast.gates.cone([root])
    #: The DIMACS literal of each literal of the gates; 0 for a gate that the assertion does not need.
    literal = [0] * (2 * len(rows))
    for variable, gate in enumerate(cone, 1):
        literal[2 * gate : 2 * gate + 2] = variable, -variable
    clauses: list[tuple[int, ...]] = []
    for variable, gate in enumerate(cone, 1):
        kind, args = rows[gate]
        if args:
            operands = [literal[x] for x in args]
            terminals = (0, variable, *operands, *[-x for x in reversed(operands)], -variable)
            clauses += [pick(terminals) for pick in _PICK[kind]]
    if root > TRUE:
        clauses.append((literal[root],))
    elif root == FALSE:
        clauses.append(())
    inputs = {name: tuple(literal[bit] for bit in bits) for name, bits in blast.inputs.items()}
    return Cnf(len(cone), tuple(clauses), inputs)
