"""Audit of a stored suite: equal designs are proved again, and the number of inputs is bounded again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tcformal.query.engine import answer
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.suites.made import LISTED, Equal, Suite, complaints, fewest, redundant
from tcformal.query.suites.panel import Panel
from tcformal.simulation.operands.batch import witness_at
from tcformal.simulation.operands.inputs import inputs_to_try, pool_of
from tcformal.solve.result import Limits
from tcformal.theory.equality import equal_by_theorem

#: Inputs on which equal designs are compared before anything is proved; of larger spaces fewer.
_VECTORS, _VECTORS_OF_MANY = 6144, 768


@dataclass(slots=True)
class Examined:
    """The audit of a suite: sentences on wrong statements and on unproved ones."""

    wrong: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)


def examined(
    made: Suite, limits: Limits, *, solvers: Sequence[str] | None = None, jobs: int | None = None
) -> Examined:
    """Audit a suite: its results, its inputs' necessity, the lower bound, and its equal designs.

    Nothing that the suite says of a proof is believed: designs that it calls equal build one definition, or
    are compared on vectors and then proved equal again, with a checked certificate, within `limits`.
    Errors: UnknownNameError or MissingSolverError for solvers that cannot be asked.
    """
    found = Examined(complaints(made))
    if found.wrong:
        return found
    found.wrong += [f"expected inputs that are all needed, but input {i} is not" for i in redundant(made)]
    few = fewest(made)
    if not min(1, few) <= made.at_least <= few:
        found.wrong.append(
            f"expected at most {few} as the least number of inputs, and 1 where any is needed, but got "
            f"{made.at_least}"
        )
    panel = Panel(made.designs)
    apart = _on_vectors(made, panel)
    found.wrong += apart.values()
    for e in made.equal:
        if e.second not in apart and not panel.same_definition(e.first, e.second):
            _prove(found, panel, e, limits, solvers, jobs)
    return found


def _on_vectors(made: Suite, panel: Panel) -> dict[int, str]:
    """A sentence for each design that a vector distinguishes from its alleged equal."""
    if not made.equal:
        return {}
    many = len(made.designs) > LISTED
    drawn = pool_of if many else inputs_to_try
    x = drawn(made.designs[0], made.k, _VECTORS_OF_MANY if many else _VECTORS, made.seed)
    asked = sorted({i for e in made.equal for i in (e.first, e.second)})
    results = dict(zip(asked, panel.evaluate(x, asked), strict=True))
    apart = {}
    for e in made.equal:
        rows = np.flatnonzero(results[e.first] != results[e.second])
        if rows.size:
            apart[e.second] = (
                f"expected equal results of {_names(panel, e)}, but they differ on "
                f"{witness_at(x, int(rows[0]))}"
            )
    return apart


def _prove(
    found: Examined, panel: Panel, e: Equal, limits: Limits, solvers: Sequence[str] | None, jobs: int | None
) -> None:
    """Prove two designs equal by theorems, at few products, or at full length; record a failure."""
    pair = e.first, e.second
    first, second = (panel.designs[i] for i in pair)
    if equal_by_theorem(first, second, panel.k) is not None:
        return
    how = SolveOptions(solvers=solvers, limits=limits, certify=True, jobs=jobs)
    if panel.step(pair) < panel.k and answer(panel.short_question(pair), how).kind is Kind.EQUIVALENT:
        return
    v = answer(panel.question([pair]), how)
    if v.kind is Kind.SEPARATED:
        found.wrong.append(f"expected equal results of {_names(panel, e)}, but they differ on {v.witness}")
    elif v.kind is not Kind.EQUIVALENT:
        found.unproved.append(f"{_names(panel, e)} are not proved equal: {v.kind.name}, {v.reason}")


def _names(panel: Panel, e: Equal) -> str:
    return f"{panel.designs[e.first].name} and {panel.designs[e.second].name}"
