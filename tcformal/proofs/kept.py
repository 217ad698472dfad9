"""Claims about units that are kept with their lemmas, or else proved in steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.proofs.claims import register
from tcformal.proofs.lemmas import Keeper, LemmaBook
from tcformal.proofs.verdict import ClaimVerdict
from tcformal.query.question import Kind
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
