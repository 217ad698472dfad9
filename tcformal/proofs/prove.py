"""Prove a claim about one unit, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.matmul.unit import Unit, spec_of
from tcformal.proofs.claim import ClaimVerdict
from tcformal.proofs.claims import register
from tcformal.proofs.lemmas import Keeper, LemmaBook
from tcformal.query.assume import Assumptions
from tcformal.query.question import Kind
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits


class ClaimStore(Protocol):
    """Where claims and their lemmas are kept and served again, such as `tcformal.Store`."""

    @property
    def lemmas(self) -> Keeper:
        """The lemmas that claims rest on."""

    def find_claim(self, claim: str, spec: UnitSpec, *, seconds: float | None = None) -> ClaimVerdict | None:
        """The kept claim, proved again from its lemmas in `seconds`; None where it has to be proved.

        UNKNOWN, and not `checked`, where that takes longer or a lemma has nothing to check.
        """

    def add_claim(self, v: ClaimVerdict) -> None:
        """Keep a claim with its lemmas."""


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
    """Prove a claim about one unit in steps (HOLDS), or refute it by a witness (VIOLATED).

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
    book = LemmaBook(members=members, limits=allowed, certify=certify, keeper=keeper, fresh=fresh)
    return kept_or_proved(
        spec, register.under(claim, assumptions or Assumptions()), store, book=book, fresh=fresh,
        limits=allowed, solvers=members, progress=progress or ignore,
    )  # fmt: skip


def kept_or_proved(
    spec: UnitSpec,
    claim: str,
    store: ClaimStore | None,
    *,
    book: LemmaBook,
    limits: Limits,
    solvers: Sequence[str] | None = None,
    fresh: bool = False,
    seconds: float | None = None,
    progress: Progress = ignore,
) -> ClaimVerdict:
    """The kept claim about a unit, or else a new proof, which is kept; `book` holds the lemmas of both.

    A kept claim that was not checked is proved again; where no proof is found, it stays in the store.

    Ranges and units: `seconds` of the processor for checking a kept claim; the store's own unless given.

    Errors: those of `register.prove_claim`; RecordError where a claim cannot be kept.
    """
    kept = None if store is None or fresh else store.find_claim(claim, spec, seconds=seconds)
    if kept is not None and kept.checked:
        return kept
    v = register.prove_claim(spec, claim, book=book, limits=limits, members=solvers, progress=progress)
    if kept is not None and v.kind in (Kind.UNKNOWN, Kind.TIMEOUT):
        reason = f"{kept.reason}; asked again: {v.reason}"
        return replace(v, kind=Kind.UNKNOWN, reason=reason, served=kept.served, checked=False)
    if store is not None:
        store.add_claim(v)
    return v
