"""Regions of agreement as they are shown: a spread, every one, none, or open."""

from __future__ import annotations

from tcformal.cli.region import RegionAnswer, region_data
from tcformal.design.names import resolve
from tcformal.query.assume import Assumptions
from tcformal.query.claims.claim_verdict import ClaimPart, ClaimVerdict, PartStatus
from tcformal.query.question import Kind

AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"


def region(kind: Kind, *parts: tuple[str, PartStatus, bool]) -> RegionAnswer:
    """An answer of these parts: name, status, and whether it is the control."""
    made = tuple(ClaimPart(name=name, status=status, control=control) for name, status, control in parts)
    verdict = ClaimVerdict(
        claim="agreement", unit=resolve(AMPERE), kind=kind, reason="", answered_by="", seconds=0.0, parts=made
    )
    return RegionAnswer(AMPERE, HOPPER, Assumptions(("finite",)), verdict)


def test_a_region_is_the_spread_that_is_proved() -> None:
    outside = ("spread 5", PartStatus.VIOLATED, True)
    proved = region(Kind.HOLDS, ("spread 4", PartStatus.HOLDS, False), outside)
    every = region(Kind.HOLDS, ("every spread", PartStatus.HOLDS, False))
    none = region(Kind.VIOLATED, ("spread 0", PartStatus.VIOLATED, False))
    left = region(Kind.UNKNOWN, outside)
    assert [x.shown for x in (proved, every, none, left)] == ["4", "every", "none", "open"]
    spreads = [region_data(x)["agree_up_to_spread"] for x in (proved, every, none, left)]
    assert spreads == [4, None, None, None]
