"""Views of regions of agreement: one pair in full, and the table of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.proofs.verdict import ClaimVerdict, PartStatus
from tcformal.query.question import Kind
from tcformal.report.claims import counterexample_view, theorem_view
from tcformal.report.text import table
from tcformal.version import VERSION, commit, host

if TYPE_CHECKING:  # a theorem's answer does not wait for these
    from tcformal.query.assume import Assumptions

#: The file of the table of all pairs, in the results folder.
REGIONS = "REGIONS.md"

#: A spread is proved, or refuted by inputs of one exponent.
_ANSWERS = (Kind.HOLDS, Kind.VIOLATED)


@dataclass(frozen=True, slots=True)
class RegionAnswer:
    """Within which spread two units agree under some assumptions."""

    first: str
    second: str
    assumed: Assumptions
    verdict: ClaimVerdict

    @property
    def decided(self) -> bool:
        """Whether the region is proved, up to a witness or of every input, or a witness leaves none."""
        return self.verdict.kind in _ANSWERS and self.verdict.checked

    @property
    def shown(self) -> str:
        """The largest spread, `none` where units differ at spread 0, `every`, or what is proved and open."""
        held = next((p.name for p in self.verdict.parts if p.status is PartStatus.HOLDS), "none")
        held = held.removeprefix("spread ").removesuffix(" spread")
        if self.verdict.kind in _ANSWERS:
            return held
        left = [p.name.removeprefix("spread ") for p in self.verdict.parts if p.status is PartStatus.OPEN]
        return f"{held}, open to {left[0]}" if left and held.isdecimal() else "open"


def headings(assumed: Assumptions) -> str:
    """The column of some assumptions: `c = 0, no overflow`."""
    words = ["c = 0"] if assumed.c == 0 else []
    words += ["no overflow"] if assumed.exponents is not None else []
    return ", ".join(words) or "finite"


def region_view(answers: Sequence[RegionAnswer]) -> RenderableType:
    """One pair: a line for each assumption, then every proof and witness."""
    made = table("assumed", ">agree up to spread")
    for x in answers:
        made.add_row("; ".join(x.assumed.texts()) or "nothing", Text(x.shown))
    parts: list[RenderableType] = [Text(f"{answers[0].first}\n{answers[0].second}"), made]
    for x in answers:
        parts += [Text(), *_proof(x.verdict)]
    return Group(*parts)


def _proof(v: ClaimVerdict) -> list[RenderableType]:
    """What shows one region: the theorem and inputs of the next spread, or proofs in steps."""
    if v.theorem is None:
        from tcformal.report.lemmas import claim_view  # as above

        return [claim_view(v)]
    shown = [x for p in v.parts if p.witness is not None for x in counterexample_view(v, p, p.witness)]
    return [theorem_view(v, v.theorem), *shown]


def region_data(x: RegionAnswer) -> dict[str, Any]:
    """One region as plain data."""
    return {
        "units": [x.first, x.second],
        "assumptions": x.assumed.spellings(),
        "agree_up_to_spread": int(x.shown) if x.shown.isdecimal() else None,
        "shown": x.shown,
        "proof": x.verdict.to_json(),
    }


def _columns(answers: Sequence[RegionAnswer]) -> list[str]:
    return list(dict.fromkeys(headings(x.assumed) for x in answers))


def _rows(answers: Sequence[RegionAnswer]) -> Mapping[tuple[str, str], dict[str, RegionAnswer]]:
    rows: dict[tuple[str, str], dict[str, RegionAnswer]] = {}
    for x in answers:
        rows.setdefault((x.first, x.second), {})[headings(x.assumed)] = x
    return rows


def _cell(x: RegionAnswer) -> str:
    """What is known of a region, marked where a kept proof was not checked."""
    return x.shown if x.verdict.checked else f"{x.shown}, not checked"


def _kind(text: str) -> str:
    return "proved" if text.isdecimal() else text if text in ("none", "every") else "open"


def counts(answers: Sequence[RegionAnswer]) -> str:
    """How many regions are proved, none, and open."""
    kinds = Counter(_kind(x.shown) for x in answers)
    words = {"proved": "spread proved", "every": "every spread", "none": "differ at spread 0", "open": "open"}
    return ", ".join(f"{kinds[k]} {word}" for k, word in words.items() if kinds[k])


def regions_table(answers: Sequence[RegionAnswer]) -> RenderableType:
    """One row for each pair."""
    columns = _columns(answers)
    made = table("units", *(f">{name}" for name in columns))
    for (first, second), row in _rows(answers).items():
        made.add_row(f"{first}\n{second}", *(Text(row[c].shown if c in row else "") for c in columns))
    return Group(made, Text(f"{len(answers)} regions: {counts(answers)}"))


def regions_text(answers: Sequence[RegionAnswer], asked: int) -> str:
    """The table of all pairs as Markdown; `asked` regions in all, of which some have no answer yet."""
    from tcformal.query.verdict import NOT_CHECKED  # as above

    columns = _columns(answers)
    pairs = _rows(answers)
    lines = [
        "# Where two units agree", "",
        "The largest spread of exponents within which both units of a pair give the same bits on all inputs "
        "that the column allows: proved, with a witness at the next spread that is replayed on integers and "
        "on fractions.  The spread is the difference between the largest and the least exponent of the "
        "non-zero terms of the whole dot product, the exact products and c; a product's exponent is the sum "
        "of its factors' exponents, whatever its significand, and a subnormal has that of the least normal "
        "number.  `none`: the results differ where all exponents are equal, which a replayed witness shows.  "
        "`every`: they agree on all inputs.  `open`: no proof was found up to where there is no witness.",
        "", "Operands are finite in every column.  `no overflow`: the exponents of all elements are in the "
        "range named in the last column, in which no sum leaves the range of D.", "",
        "| units | " + " | ".join(columns) + " | range |", "|---|" + "---:|" * len(columns) + "---|",
    ]  # fmt: skip
    for (first, second), row in pairs.items():
        cells = [_cell(row[c]) if c in row else "" for c in columns]
        spans = {x.assumed.exponents for x in row.values()} - {None}
        span = ", ".join(f"{s[0]}..{s[1]}" for s in spans if s)
        lines.append(f"| `{first}`<br>`{second}` | {' | '.join(cells)} | {span} |")
    still = [x for x in answers if x.verdict.kind not in _ANSWERS]
    before = sum(not x.verdict.checked for x in answers)
    rest = f"; {asked - len(answers)} more have not been asked" if asked > len(answers) else ""
    lines += ["", f"{len(pairs)} pairs, {len(answers)} regions: {counts(answers)}{rest}."]
    if before:
        lines += ["", f"{before} of them are from earlier runs: {NOT_CHECKED}."]
    if still:
        lines += ["", "## Open", ""]
        lines += [f"- `{x.first}`, `{x.second}`, {headings(x.assumed)}: {x.verdict.reason}" for x in still]
    lines += ["", f"tcformal {VERSION}, commit {commit() or 'unknown'}, {host()}"]
    return "\n".join(lines) + "\n"
