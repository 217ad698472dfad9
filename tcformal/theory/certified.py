"""Certified refinements: units whose every claim was decided with a checked proof, and whose file Coq took.

`refinements.jsonl` has a row for each of them.  A row says something about one circuit, one design and the
sources in Coq as they were, by their digests: where one of them has changed, there is no refinement.
Proofs are not kept, because a claim is decided again about as fast as a kept proof is checked.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from tcformal.backends.cnf import to_cnf
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.ir.build import Graph
from tcformal.ir.walk import digest
from tcformal.programs.chain import chained_dot, declare_inputs
from tcformal.theory.design import coq_design
from tcformal.theory.refinement.plan import Plan
from tcformal.theory.refinement.printing import name
from tcformal.theory.refinement.questions import decide, question, structure
from tcformal.theory.sources import sources_digest

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


def definition(spec: UnitSpec) -> str:
    """SHA-256 of a unit's circuit and of its design in Coq; InputError for what the specification lacks."""
    g = Graph()
    dot = chained_dot(g, spec, declare_inputs(g, spec, spec.k))
    text = f"{digest(g, {'result': dot.result})}\n{coq_design(spec)}"
    return hashlib.sha256(text.encode()).hexdigest()


def kept_refinement(spec: UnitSpec) -> Refinement | None:
    """The kept refinement of a unit; None without one, or for a changed circuit, design or source in Coq.

    Nothing is decided again: `refinement` does that.
    """
    try:
        found = _by_definition().get(definition(spec))
    except InputError:  # a design that the specification does not describe
        return None
    return found if found is not None and found.coq and found.sources == sources_digest() else None


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
    plan, asked, count, different = Plan(spec), set[Hashable](), 0, set[Hashable]()
    for claim in plan.claims():
        count += 1
        graph, wrong = question(claim)
        form = structure(wrong)
        if form in asked:
            continue
        asked.add(form)
        cnf = to_cnf(graph, wrong)
        different.add(cnf.clauses)
        if cnf.clauses not in decided:
            if decide(cnf) is None:
                says = claim.coq(name)[:200]
                raise InputError(f"expected every claim about {spec.name} to hold, but {says} does not")
            decided.add(cnf.clauses)
    return Refinement(
        unit=spec.name, definition=definition(spec), file=_sha256(plan.coq()), claims=count,
        different=len(different), seconds=round(time.process_time() - start, 1),
    )  # fmt: skip


def is_of(x: Refinement, spec: UnitSpec, text: str) -> bool:
    """Whether a refinement is of a unit as it is, and of a file for Coq, in which all its claims stand."""
    return x.definition == definition(spec) and x.file == _sha256(text)


def accepted(x: Refinement, text: str, coq: str, seconds: float) -> Refinement:
    """A refinement whose file Coq has taken; InputError for another file."""
    if _sha256(text) != x.file:
        raise InputError(f"expected the file for Coq of {x.unit}, but got another")
    return replace(x, sources=sources_digest(), coq=coq, coqc_seconds=round(seconds, 1))


def save(path: Path, rows: Iterable[Refinement]) -> None:
    """Write refinements to a file, sorted by unit."""
    lines = [json.dumps(asdict(x)) for x in sorted(rows, key=lambda x: x.unit)]
    path.write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


def load(path: Path) -> list[Refinement]:
    """The refinements of a file that `save` wrote; InputError for another file."""
    try:
        return [Refinement(**json.loads(x)) for x in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError) as error:
        raise InputError(f"expected refinements in {path.name}, but found others: {error}") from error


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
