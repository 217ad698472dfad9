"""Refinement: that a unit's circuit computes what its design does, from words to words (`coq/Unit.v`).

A unit's circuit, the plan of its cut points and the claims about them are data for `Unit.v`, whose theorem
`words_to_words` says that the claims suffice; for a design of `Wide.v`, data for `WideUnit.v`, for scaled
groups for `GroupUnit.v`, for a sum that remembers what is cut off for `StickyUnit.v`, for blocks that are
skipped for `SkippingUnit.v`.  Each claim is decided by a solver whose proof is checked.  The plan is read off
the stage records and not trusted: a wrong cut point makes a claim false, or Coq refuse the unit.

`refinements.jsonl` has a row for each unit whose claims were decided and whose file Coq took.  It says
something about one circuit, one design and the sources in Coq as they were, by their digests: where one of
them has changed, there is no refinement.  Proofs are not kept: a claim is decided again about as fast.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tcformal.backends.cnf import to_cnf
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.node import Node
from tcformal.ir.walk import digest, reachable
from tcformal.semantics.chain import chained_dot, declare_inputs
from tcformal.solve.certificate import checked_steps
from tcformal.solve.result import Status
from tcformal.solve.sat import refuted
from tcformal.theory.checked import sources_digest
from tcformal.theory.circuits import name
from tcformal.theory.design import coq_design, coq_wide, wide_parameter
from tcformal.theory.formulas import (
    Bits,
    Claim,
    make,
)
from tcformal.theory.plans.groups import ScaledGroupsPlan, of_scaled_groups
from tcformal.theory.plans.integers import IntegerPlan, coq_integer_design
from tcformal.theory.plans.plan import Plan
from tcformal.theory.plans.skipping import SkippingPlan, skips_blocks
from tcformal.theory.plans.sticky import StickyPlan, keeps_a_sticky_bit
from tcformal.theory.plans.wide import WidePlan


def question(claim: Claim) -> tuple[Graph, Node]:
    """The graph and the node that is 1 where everything given holds and the goal does not."""
    g = Graph(folded=False)
    made: dict[Node, Node] = {}
    wanted = [y for e in (*claim.given, claim.goal) for y in e.nodes()]
    for node in sorted(_between(wanted, claim.free), key=lambda x: x.index):
        if node in claim.free or node.op == "input":
            made[node] = g.input(f"v{len(made)}", node.width)
        elif node.op == "const":
            made[node] = g.const(node.params[1], node.width)
        else:
            made[node] = make(g, node.op, [made[y] for y in node.args], node.params)
    bits_of = Bits(g, made)
    wrong = g.make("not_", (bits_of.formula(claim.goal),))
    for x in claim.given:
        wrong = g.make("and_", (wrong, bits_of.formula(x)))
    return g, wrong


def _between(wanted: Sequence[Node], free: frozenset[Node]) -> set[Node]:
    """The nodes between the cut and those wanted."""
    seen, stack = set[Node](), list(wanted)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += () if node in free else node.args
    return seen


#: The rows that are kept, sorted by unit.
KEPT = Path(__file__).parent / "refinements.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """That a unit's circuit computes what its design does, from words to words.

    Ranges and units: `claims` counts those of the file for Coq, `different` those among them that were
    decided; `seconds` of the processor were spent on them, `coqc_seconds` on the file.
    """

    unit: str
    #: SHA-256 of the circuit and of the design in Coq.
    definition: str
    #: SHA-256 of the file for Coq.
    file: str
    #: SHA-256 of the sources in Coq that the file requires.
    sources: str = ""
    claims: int
    different: int
    seconds: float
    #: The version of Coq that took the file; empty where none was asked.
    coq: str = ""
    coqc_seconds: float = 0.0

    def sentence(self) -> str:
        """What an answer rests on."""
        return (
            f"unit refined: its circuit computes the specification's words, by {self.claims} claims that "
            f"were decided with checked proofs, not again now, and a file that Coq {self.coq} accepted"
        )


_AnyPlan = Plan | WidePlan | StickyPlan | ScaledGroupsPlan | SkippingPlan | IntegerPlan


def _way(spec: UnitSpec) -> tuple[Callable[[UnitSpec], _AnyPlan], str]:
    """What makes a unit's plan, and the source in Coq that its file requires."""
    if spec.d_format.integer:
        return IntegerPlan, "IntegerCircuit.v"
    if of_scaled_groups(spec):
        return ScaledGroupsPlan, "GroupUnit.v"
    if wide_parameter(spec):
        return WidePlan, "WideUnit.v"
    if skips_blocks(spec):
        return SkippingPlan, "SkippingUnit.v"
    return (StickyPlan, "StickyUnit.v") if keeps_a_sticky_bit(spec) else (Plan, "Unit.v")


def plan_of(spec: UnitSpec) -> _AnyPlan:
    """A unit's circuit, its cut points and the claims about them; InputError as these have it."""
    return _way(spec)[0](spec)


def sources_of(spec: UnitSpec) -> str:
    """SHA-256 of the sources in Coq that a unit's file requires."""
    return sources_digest(_way(spec)[1])


def definition(spec: UnitSpec) -> str:
    """SHA-256 of a unit's circuit and of its design in Coq; InputError for what the specification lacks."""
    g = Graph()
    dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
    of_numbers = coq_wide if wide_parameter(spec) else coq_design
    design = coq_integer_design(spec) if spec.d_format.integer else of_numbers(spec)
    text = f"{digest(g, {'result': dot.result})}\n{design}"
    return hashlib.sha256(text.encode()).hexdigest()


def kept_refinement(spec: UnitSpec) -> Refinement | None:
    """The kept refinement of a unit; None without one, or for a changed circuit, design or source in Coq.

    Nothing is decided again: `refinement` does that.
    """
    try:
        found = _by_definition().get(definition(spec))
    except InputError:  # a design that the specification does not describe
        return None
    return found if found is not None and found.coq and found.sources == sources_of(spec) else None


@cache
def _by_definition() -> dict[str, Refinement]:
    return {x.definition: x for x in load(KEPT)}


def refinement(spec: UnitSpec, decided: set[Hashable] | None = None) -> Refinement:
    """Decide every claim about a unit's circuit, and check each proof; claims in `decided`, where they are
    collected for other units, are left out.

    Errors: InputError for a unit that has no plan, and for a claim that is false; CertificateError for a
    proof that the checker refuses.
    """
    start = time.process_time()
    decided = set() if decided is None else decided
    plan, asked, count, different = plan_of(spec), set[Hashable](), 0, set[Hashable]()
    for claim in plan.claims():
        count += 1
        graph, wrong = question(claim)
        # What makes two questions the same: their nodes, by operator and place.
        form = tuple([(x.op, x.params, *[y.index for y in x.args]) for x in reachable([wrong])])
        if form in asked:
            continue
        asked.add(form)
        cnf = to_cnf(graph, wrong)
        different.add(cnf.clauses)
        if cnf.clauses not in decided:
            outcome = refuted(cnf)
            if outcome.status is not Status.UNSAT:
                says = claim.coq(name)[:200]
                raise InputError(f"expected every claim about {spec.name} to hold, but {says} does not")
            checked_steps(cnf, outcome.proof or "")
            decided.add(cnf.clauses)
    return Refinement(
        unit=spec.name, definition=definition(spec), file=file_digest(plan.coq()), claims=count,
        different=len(different), seconds=round(time.process_time() - start, 1),
    )  # fmt: skip


def load(path: Path) -> list[Refinement]:
    """The refinements of a file that `save` wrote; InputError for another file."""
    try:
        return [Refinement(**json.loads(x)) for x in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError) as error:
        raise InputError(f"expected refinements in {path.name}, but found others: {error}") from error


def file_digest(text: str) -> str:
    """SHA-256 of a file for Coq."""
    return hashlib.sha256(text.encode()).hexdigest()
