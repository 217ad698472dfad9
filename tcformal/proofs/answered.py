"""A claim about one unit, answered: by a theorem, else by inputs that refute it, else by a proof in steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tcformal.callbacks import Progress, ignore
from tcformal.design.unit import UnitSpec
from tcformal.proofs.verdict import ClaimPart, ClaimVerdict
from tcformal.query.question import Kind
from tcformal.solve.result import Limits
from tcformal.theory.answers import AGREEMENT, SEPARATOR, in_the_way, theorem_answer
from tcformal.version import commit, host

if TYPE_CHECKING:  # a theorem's answer needs neither a store nor lemmas
    from tcformal.proofs.kept import ClaimStore
    from tcformal.proofs.lemmas import LemmaBook

#: The one assumption that every claim that takes assumptions can be asked under: it is obeyed by zeros.
_ZERO_C = ("c=0x0",)
#: Claims that can be asked under it.
_OF_C = (
    "product-order", "negation-symmetry", "error-bound", "relative-error", "exact-sum", "correctly-rounded",
)  # fmt: skip


def answered(
    spec: UnitSpec,
    claim: str,
    store: Callable[[], ClaimStore | None],
    *,
    book: Callable[[], LemmaBook],
    limits: Limits,
    solvers: Sequence[str] | None = None,
    fresh: bool = False,
    progress: Progress = ignore,
) -> ClaimVerdict:
    """The verdict on a claim: HOLDS by a theorem, VIOLATED by inputs, else what `kept_or_proved` gives.

    `claim` is a name with its assumptions; `store` and `book` are made only where they are needed.
    Errors: those of `kept_or_proved`.
    """
    found = at_once(spec, claim, limits, progress)
    if found is not None:
        return found
    from tcformal.proofs.kept import kept_or_proved  # builds circuits and asks solvers

    v = kept_or_proved(
        spec, claim, store(), book=book(), limits=limits, solvers=solvers, fresh=fresh, progress=progress
    )
    if v.kind in (Kind.HOLDS, Kind.VIOLATED):
        return v
    return replace(v, composition=in_the_way(spec, claim))


def at_once(spec: UnitSpec, claim: str, limits: Limits, progress: Progress = ignore) -> ClaimVerdict | None:
    """The verdict of a theorem, or of inputs that refute the claim; None where there is neither.

    UNKNOWN where no theorem answers, and the unit is too large for inputs to be looked for.

    Nothing is asked of solvers, and nothing is kept: both are found again in no time.
    Errors: UnknownNameError and InputError for a claim that does not exist or says nothing of the unit, which
    no theorem is about.
    """
    start = time.monotonic()
    name, *assumed = claim.split(SEPARATOR)
    of_two = name == AGREEMENT
    if not of_two and assumed and (tuple(assumed) != _ZERO_C or name not in _OF_C):
        from tcformal.proofs.claims.register import conditions  # reads circuits

        conditions(claim, spec)
    found = theorem_answer(spec, claim)

    def verdict(kind: Kind, reason: str, by: str, why: str = "", *parts: ClaimPart) -> ClaimVerdict:
        return ClaimVerdict(
            claim=claim, unit=spec, kind=kind, reason=reason, composition=why, parts=parts, lemmas=(),
            limits=limits, seconds=time.monotonic() - start, commit=commit(), machine=host(),
            answered_by=by, theorem=found,
        )  # fmt: skip

    if of_two:
        from tcformal.proofs.region import region_at_once  # builds circuits

        shown = region_at_once(spec, claim, found, limits.seed)
        if shown is None:
            return None
        parts, reason = shown
        if found is None:
            return verdict(Kind.VIOLATED, reason, "witness", "", *parts)
        return verdict(Kind.HOLDS, reason, "theorem", "", *parts)
    if found is not None:
        return verdict(Kind.HOLDS, found.reason, "theorem")
    from tcformal.programs.chain import not_built  # as what follows, only without a theorem

    if sentence := not_built(spec):
        return verdict(Kind.UNKNOWN, f"{in_the_way(spec, claim)}; to look for inputs, {sentence}", "nothing")
    from tcformal.proofs.witnesses import witness  # builds circuits

    progress("looking for inputs that refute the claim")
    refuted = witness(spec, claim, limits.seed)
    if refuted is None:
        return None
    part, reason = refuted
    why = in_the_way(spec, claim)
    return verdict(Kind.VIOLATED, reason, "witness", "" if why in reason else why, part)
