"""The table of regions: what is proved, none, and open, and how many are not asked yet."""

from __future__ import annotations

from dataclasses import replace

from tcformal.design.names import resolve
from tcformal.proofs.claim import ClaimPart, Finding, PartStatus, claim_verdict
from tcformal.query.assume import Assumptions
from tcformal.report.regions import RegionAnswer, regions_text
from tcformal.solve.result import Limits

AMPERE, HOPPER = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"


def region(what: Assumptions, *parts: tuple[str, PartStatus, bool]) -> RegionAnswer:
    """An answer of these parts: name, status, and whether it is the control."""
    made = tuple(ClaimPart(name=name, status=status, control=control) for name, status, control in parts)
    finding = Finding(parts=made, composition="", reason="proved")
    spec = resolve(AMPERE)
    return RegionAnswer(AMPERE, HOPPER, what, claim_verdict("agreement", spec, finding, [], Limits(), 0.0))


def test_cells_say_what_was_shown() -> None:
    outside = ("spread 5", PartStatus.VIOLATED, True)
    proved = region(Assumptions(("finite",)), ("spread 4", PartStatus.HOLDS, False), outside)
    none = region(Assumptions(("finite",), c=0), ("spread 0", PartStatus.VIOLATED, False))
    left = region(
        Assumptions(("finite",), (-3, 3)),
        ("spread 4", PartStatus.OPEN, False), ("spread 3", PartStatus.HOLDS, False), outside,
    )  # fmt: skip
    unconfirmed = region(Assumptions(("finite",), (-3, 3), 0), ("spread 0", PartStatus.OPEN, False))
    assert [x.shown for x in (proved, none, left, unconfirmed)] == ["4", "none", "3, open to 4", "open"]
    assert [x.decided for x in (proved, none, left, unconfirmed)] == [True, True, False, False]
    text = regions_text([proved, none, left, unconfirmed], 6)
    assert f"| `{AMPERE}`<br>`{HOPPER}` | 4 | none | 3, open to 4 | open | -3..3 |" in text
    assert "1 spread proved, 1 differ at spread 0, 2 open; 2 more have not been asked" in text
    assert "earlier runs" not in text
    kept = replace(none, verdict=replace(none.verdict, checked=False))
    text = regions_text([proved, kept], 2)
    assert "1 of them are from earlier runs: kept, not re-checked" in text
    assert "## Open" not in text
