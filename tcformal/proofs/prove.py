"""Prove a claim about one unit, by name."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.matmul.unit import Unit, spec_of
from tcformal.proofs.answered import answered
from tcformal.proofs.claims import register
from tcformal.proofs.kept import ClaimStore as ClaimStore
from tcformal.proofs.kept import kept_or_proved as kept_or_proved
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.verdict import ClaimVerdict
from tcformal.query.assume import Assumptions
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits


def prove_claim(
    unit: str | Unit | UnitSpec,
    claim: str,
    *,
    limits: Limits | None = None,
    solvers: Sequence[str] | None = None,
    certify: bool | None = None,
    assumptions: Assumptions | None = None,
    store: ClaimStore | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ClaimVerdict:
    """Answer a claim about one unit by a theorem or a proof in steps (HOLDS), or by a witness (VIOLATED).

    Shapes: one call of the unit on its k products.
    Ranges and units: `claim` is one of `product-order`, `sign-magnitude`, `carry-bits`, `negation-symmetry`,
    `error-bound`, `relative-error`, `integer-sums`, `monotonicity`, `exact-sum`, `correctly-rounded`,
    `zero-exponent` and `zero-products`; `limits` hold for each lemma and each search for a witness; the other
    arguments are those of `separate`.
    Zero, NaN, Inf: as the claim says; every claim speaks of all inputs that obey its assumptions.
    Errors: UnknownNameError for an unknown claim, unit or solver; InputError for a unit that the claim does
    not fit, or for an assumption that it cannot use; MissingSolverError for a solver that is not installed;
    RecordError for an answer that cannot be kept.  No answer is a verdict, not an error: UNKNOWN, TIMEOUT or
    ERROR with the evidence.
    Source: the unit's own.
    """
    spec, allowed = spec_of(unit), limits or Limits()
    members = None if solvers is None else check_members(solvers)
    keeper = None if store is None else store.lemmas
    return answered(
        spec, register.under(claim, assumptions or Assumptions()), lambda: store,
        book=lambda: LemmaBook(
            members=members, limits=allowed, certify=certify, keeper=keeper, fresh=fresh
        ),
        fresh=fresh, limits=allowed, solvers=members, progress=progress or ignore,
    )  # fmt: skip
