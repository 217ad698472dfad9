"""Views of regions of agreement: within which spread of exponents two units give the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.query.claims.claim_verdict import ClaimVerdict, PartStatus
from tcformal.query.question import Kind
from tcformal.report.claims import claim_view

if TYPE_CHECKING:  # a theorem's answer does not wait for it
    from tcformal.query.assume import Assumptions


@dataclass(frozen=True, slots=True)
class RegionAnswer:
    """Within which spread two units agree under some assumptions."""

    first: str
    second: str
    assumed: Assumptions
    verdict: ClaimVerdict

    @property
    def shown(self) -> str:
        """The largest spread, `none` where units differ at spread 0, `every`, or `open`."""
        if self.verdict.kind not in (Kind.HOLDS, Kind.VIOLATED):
            return "open"
        held = next((p.name for p in self.verdict.parts if p.status is PartStatus.HOLDS), "none")
        return held.removeprefix("spread ").removesuffix(" spread")


def region_view(answers: Sequence[RegionAnswer]) -> RenderableType:
    """One pair: the answer under each assumption in a line, then the theorem and inputs of each."""
    lines = [
        Text(
            f"{x.verdict.kind.name}: {x.verdict.reason}, where {' and '.join(x.assumed.texts()) or 'finite'}"
        )
        for x in answers
    ]
    parts: list[RenderableType] = [*lines, Text(f"{answers[0].first}\n{answers[0].second}")]
    for x in answers:
        parts += [Text(), claim_view(x.verdict)]
    return Group(*parts)


def region_data(x: RegionAnswer) -> dict[str, Any]:
    """One region as plain data."""
    return {
        "units": [x.first, x.second],
        "assumptions": x.assumed.spellings(),
        "agree_up_to_spread": int(x.shown) if x.shown.isdecimal() else None,
        "shown": x.shown,
        "proof": x.verdict.to_json(),
    }
