"""Two designs proved equal in steps, where one question would be too large for every solver."""

from __future__ import annotations

from collections.abc import Sequence

from tcformal.design.unit import UnitSpec
from tcformal.proofs.claim import Asking, PartStatus
from tcformal.proofs.claims.zero_exponent import same_results
from tcformal.proofs.lemmas import LemmaBook
from tcformal.solve.result import Limits


def equal_in_steps(
    first: UnitSpec,
    second: UnitSpec,
    book: LemmaBook,
    limits: Limits,
    members: Sequence[str] | None = None,
) -> tuple[str, tuple[str, ...]] | None:
    """Why two designs never differ, and who decided and confirmed the lemmas; None if that was not proved.

    Only designs that differ in the exponent of zero terms are tried.
    """
    found = same_results(Asking(first, book, limits, members, lambda _: None), second)
    if found is None or found[0].status is not PartStatus.HOLDS:
        return None
    part, tried = found
    used = {sha256 for step in part.steps for sha256 in step.lemmas}
    who = {name for x in tried if x.sha256 in used for name in (x.decided_by, *x.confirmed_by)}
    return f"the exponent of zero terms changes nothing: claim zero-exponent, {len(used)} lemmas", tuple(
        sorted(who)
    )
