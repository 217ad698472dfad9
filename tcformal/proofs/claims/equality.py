"""Claim `equality`: two designs give the same results, by what is proved of each parameter that differs."""

from __future__ import annotations

import time
from dataclasses import replace

from tcformal.callbacks import Progress, ignore
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec, same_formats
from tcformal.errors import InputError
from tcformal.proofs.claim import Asking, ClaimPart, ClaimVerdict, Finding, PartStatus, claim_verdict
from tcformal.proofs.claims.sums.changes import PROOFS, changes_between
from tcformal.proofs.lemmas import Lemma, LemmaBook
from tcformal.proofs.step_by_step import same_steps
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.question import Kind
from tcformal.solve.result import Limits

#: The claim's name, which the second unit and the assumptions follow.
NAME = "equality"
SEPARATOR = "; "


def is_equality(claim: str) -> bool:
    """Whether a claim's name is one of these."""
    return claim.startswith(NAME + SEPARATOR)


def equality_claim(second: UnitSpec, what: Assumptions | None = None) -> str:
    """The claim's name with the second unit and the assumptions: `equality; UNIT; c=0x0`."""
    return SEPARATOR.join([NAME, second.name, *(what or Assumptions()).spellings()])


def equality(ask: Asking) -> tuple[Finding, list[Lemma]]:
    """The unit and a second one, one parameter after the other.

    Errors: InputError for designs that differ in what no lemma here speaks of.
    """
    second, *texts = ask.claim.split(SEPARATOR)[1:]
    what = from_texts(ask.spec.operands.c, texts)
    return _changed(replace(ask, assumed=what), resolve(second), ask.spec.k)


def equal_in_steps(
    first: UnitSpec, second: UnitSpec, book: LemmaBook, limits: Limits, k: int | None = None,
    *, what: Assumptions | None = None, progress: Progress = ignore,
) -> ClaimVerdict | None:  # fmt: skip
    """The proof that two designs give one result for every dot product of `k` terms; None without one.

    Shapes: k is that of both units unless given.
    Ranges and units: every dot product that obeys the assumptions `what`; that some does is not asked.
    """
    start, claim = time.monotonic(), equality_claim(second, what)
    ask = Asking(first, book, limits, None, progress, claim=claim, assumed=what or Assumptions())
    if k is None and first.k != second.k:
        return None
    try:
        found, lemmas = _changed(ask, second, k or first.k)
    except InputError:
        return None
    made = claim_verdict(claim, first, found, lemmas, limits, start)
    return made if made.kind is Kind.HOLDS else None


def deciders(v: ClaimVerdict) -> tuple[str, ...]:
    """Who decided and who confirmed the lemmas of a proof."""
    return tuple(sorted({name for x in v.lemmas for name in (x.decided_by, *x.confirmed_by)}))


def equal_in_sums(
    first: UnitSpec, second: UnitSpec, book: LemmaBook, limits: Limits, k: int | None = None,
    *, progress: Progress = ignore,
) -> ClaimVerdict | None:  # fmt: skip
    """The proof that no sum of two designs hands on another value; None without one, and for scales.

    Shapes: both designs take as many products; with k so many, and words of 0 fill whole calls up.
    """
    start, claim = time.monotonic(), equality_claim(second)
    if (
        (k is None and first.k != second.k)
        or not same_formats(first, second)
        or first.scale_format is not None
    ):
        return None
    try:
        found = same_steps(Asking(first, book, limits, None, progress, claim=claim), second, k)
    except InputError:  # exponents wider than those of any sum that lemmas speak of
        return None
    if found is None:
        return None
    part, lemmas = found
    whole = Finding(
        parts=(replace(part, name="the sums one after the other"),),
        composition="each sum has one value in both designs, from the inner ones to the result",
        reason="no sum hands on another value",
    )
    made = claim_verdict(claim, first, whole, lemmas, limits, start)
    return made if made.kind is Kind.HOLDS else None


def _changed(ask: Asking, second: UnitSpec, k: int) -> tuple[Finding, list[Lemma]]:
    """Every change on the way from one design to the other, each with its proof.

    Soundness: the designs on the way begin with the first and end with the second, and neighbours differ in
    one parameter, or in how their sums are written.  Each part is proved of all inputs of its two designs, so
    that the ends, too, have one result for every input.
    """
    parts: list[ClaimPart] = []
    applied: list[Lemma] = []
    for change in changes_between(ask.spec, second, k, ask.assumed):
        ask.progress(change.name)
        found = PROOFS[change.parameter](ask, change)
        if found is None:
            raise InputError(f"expected {change.name} to change nothing, but no lemma says so")
        part, lemmas = found
        parts.append(replace(part, name=change.name))
        applied += lemmas
        if part.status is not PartStatus.HOLDS:
            break
    names, notes = ", ".join(part.name for part in parts), [part.note for part in parts if part.note]
    return Finding(
        parts=tuple(parts),
        composition=f"one parameter after the other, no input tells {names}",
        reason="; ".join([f"no input tells {names} apart", *notes]),
    ), applied  # fmt: skip
