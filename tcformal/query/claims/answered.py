"""The answer to a claim: a theorem first, then refuting inputs, then solvers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcformal.callbacks import Progress
from tcformal.checks import check_choice
from tcformal.design.unit import UnitSpec
from tcformal.errors import InputError
from tcformal.query.claims.claim_verdict import ClaimPart, ClaimVerdict, PartStatus
from tcformal.query.options import AnswerStore, SolveOptions, solve_options
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.theory.theorems import AGREEMENT, SEPARATOR, STATEMENTS, in_the_way, theorem_answer
from tcformal.version import commit, host

if TYPE_CHECKING:  # a theorem's answer needs no store, and names of units are given to `prove_claim` alone
    from tcformal.query.assume import Assumptions
    from tcformal.query.verdict import Verdict
    from tcformal.simulation.matrix_unit import Unit


#: The one assumption that every claim that takes assumptions can be asked under: it is obeyed by zeros.
_ZERO_C = ("c=0x0",)
#: Claims that can be asked under it.
_OF_C = (
    "product-order", "negation-symmetry", "error-bound", "relative-error", "exact-sum", "correctly-rounded",
)  # fmt: skip
#: A question's verdict as a claim's.
_AS_CLAIM = {Kind.EQUIVALENT: Kind.HOLDS, Kind.SEPARATED: Kind.VIOLATED}


def answered(spec: UnitSpec, claim: str, how: SolveOptions) -> ClaimVerdict:
    """The verdict on a claim: HOLDS by a theorem, VIOLATED by inputs, or the solvers' answer.

    `claim` is a name with its assumptions; the store keeps what solvers answer.  A claim
    that is no single question, and that neither theorem nor inputs answer, is UNKNOWN.
    Errors: UnknownNameError and InputError for a claim that does not exist or says nothing of the unit; those
    of `query.engine.kept_or_answered`.
    """
    start = time.monotonic()
    name, *assumed = claim.split(SEPARATOR)
    check_choice("claim", name, [*STATEMENTS, AGREEMENT])
    if name == AGREEMENT and not assumed:
        raise InputError(f"expected {AGREEMENT}{SEPARATOR}UNIT and assumptions, but got {claim!r}")
    if name != AGREEMENT and assumed and (tuple(assumed) != _ZERO_C or name not in _OF_C):
        from tcformal.query.claims.register import conditions  # builds circuits

        conditions(claim, spec)
    found = theorem_answer(spec, claim)

    def verdict(
        kind: Kind, reason: str, by: str, parts: Sequence[ClaimPart] = (), asked: Verdict[Any] | None = None
    ) -> ClaimVerdict:
        why = "" if found is not None else in_the_way(spec, claim)
        return ClaimVerdict(
            claim=claim, unit=spec, kind=kind, reason=reason, in_the_way="" if why in reason else why,
            parts=tuple(parts), seconds=time.monotonic() - start, commit=commit(), machine=host(),
            answered_by=by, theorem=found, asked=asked,
        )  # fmt: skip

    if name == AGREEMENT:
        from tcformal.query.claims.witnesses import region_shown  # builds circuits

        kind, parts, reason = region_shown(spec, claim, found, how.limits.seed)
        by = "theorem" if found is not None else "witness" if kind is Kind.VIOLATED else "nothing"
        return verdict(kind, reason, by, parts)
    if found is not None:
        return verdict(Kind.HOLDS, found.reason, "theorem")
    from tcformal.query.claims.register import conditions, refused
    from tcformal.semantics.chain import not_built  # as what follows, only without a theorem

    if sentence := not_built(spec):
        return verdict(Kind.UNKNOWN, f"{in_the_way(spec, claim)}; to look for inputs, {sentence}", "nothing")
    what = conditions(claim, spec)
    if sentence := refused(claim, spec):
        raise InputError(sentence)
    from tcformal.query.claims.witnesses import claim_question, constructed_witness, counterexample_of
    from tcformal.query.engine import kept_or_answered

    how.progress("looking for inputs that refute the claim")
    made = constructed_witness(spec, claim, how.limits.seed)
    if made is not None:
        return verdict(Kind.VIOLATED, made[1], "witness", [made[0]])
    q = claim_question(spec, claim, what)
    if q is None:
        return verdict(Kind.UNKNOWN, in_the_way(spec, claim), "nothing")
    # A unit that is made for the question has no name to be kept under: the claim is kept, and asked again.
    v = kept_or_answered(q, replace(how, unkept=lambda _: None))
    kind = _AS_CLAIM.get(v.kind, v.kind)
    said = STATEMENTS[name] + (f" where {' and '.join(what.texts())}" if what else "")
    if kind is Kind.VIOLATED:
        part = ClaimPart(name=said, status=PartStatus.VIOLATED, witness=counterexample_of(v))
        return verdict(kind, f"not always: {said}", "witness", [part], v)
    by = "solvers" if kind in (Kind.HOLDS, Kind.VACUOUS) else "nothing"
    return verdict(kind, f"{said}: {v.reason}" if v.kind is Kind.EQUIVALENT else v.reason, by, asked=v)


def prove_claim(
    unit: str | Unit | UnitSpec,
    claim: str,
    *,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    assumptions: Assumptions | None = None,
    store: AnswerStore | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ClaimVerdict:
    """Answer a claim about one unit by a theorem, by refuting inputs, or by solvers.

    Shapes: one call of the unit on its k products.
    Ranges and units: `claim` is one of `product-order`, `sign-magnitude`, `carry-bits`, `negation-symmetry`,
    `error-bound`, `relative-error`, `integer-sums`, `monotonicity`, `exact-sum`, `correctly-rounded`,
    `zero-exponent` and `zero-products`; the other arguments are those of `separate`.
    Zero, NaN, Inf: as the claim says; every claim speaks of all inputs that obey its assumptions.
    Errors: UnknownNameError for an unknown claim, unit or solver; InputError for a unit that the claim says
    nothing of, or for an assumption that it cannot use; MissingSolverError for a solver that is not
    installed; RecordError for an answer that cannot be kept.  No answer is a verdict, not an error: UNKNOWN,
    TIMEOUT or ERROR with the evidence.
    Source: the unit's own.

    Examples:
        >>> tcformal.prove_claim("valpey@terms=3", "product-order")
        <HOLDS product-order of valpey@terms=3, by theorem>
    """
    from tcformal.query.assume import Assumptions
    from tcformal.query.claims.register import under
    from tcformal.simulation.matrix_unit import spec_of
    from tcformal.solve.members import check_members

    spec = spec_of(unit)
    members = None if solvers is None else check_members(solvers)
    how = solve_options(limits, members, certify, store, fresh=fresh, progress=progress)
    v = answered(spec, under(claim, assumptions or Assumptions()), how)
    if store is not None:
        store.add_claim(v)
    return v
