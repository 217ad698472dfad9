"""Views of claims: one verdict with its lemmas, and a table of many."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.design.operations import operation
from tcformal.errors import RecordError
from tcformal.programs.chain import definition
from tcformal.proofs.claims.register import CLAIMS, refused
from tcformal.proofs.verdict import ClaimVerdict, PartStatus
from tcformal.query.question import Kind
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.claims import counterexample_view
from tcformal.report.text import table
from tcformal.store.claims import lemmas_used

_COLOUR = {Kind.HOLDS: "bold green", Kind.VIOLATED: "bold yellow"}

#: Column headings of the claims.
_SHORT = {
    "product-order": "order", "sign-magnitude": "signs", "carry-bits": "carry",
    "negation-symmetry": "sign", "error-bound": "bound", "zero-exponent": "zero", "zero-products": "fill",
    "integer-sums": "integers", "relative-error": "relative", "monotonicity": "monotone",
    "exact-sum": "exact", "correctly-rounded": "rounded",
}  # fmt: skip


def claim_view(v: ClaimVerdict) -> RenderableType:
    """One claim verdict: the result, its proof from parts, the witness, the lemmas."""
    head = Text(v.kind.name, style=_COLOUR.get(v.kind, "bold red"))
    head.append(f": {v.reason}", style="default not bold")
    body: list[RenderableType] = [head, Text(f"{v.claim} of {v.unit.name}")]
    if v.composition:
        body.append(Text(v.composition))
    count = Counter(p.status for p in v.parts if not p.control)
    parts = ", ".join(f"{count[s]} {s.value}" for s in PartStatus if count[s]) or "none"
    controls = [p for p in v.parts if p.control]
    also = f"; control {controls[0].name}: {controls[0].status.value}" if controls else ""
    body.append(Text(f"parts: {parts}{also}"))
    shown = next((p for p in v.parts if p.witness is not None), None)
    if shown is not None and shown.witness is not None:
        body += counterexample_view(v, shown, shown.witness)
    if v.lemmas:
        body.append(_lemmas(v))
    if v.answered_by != "proof":
        by = "inputs that refute it" if v.answered_by == "witness" else "nothing"
        return Group(*body, Text(f"answered by {by} in {v.seconds:.2f} s", style="dim"))
    folded = sum(x.decided_by == "folding" for x in v.lemmas)
    also = f", {folded} of them true by folding alone" if folded else ""
    body.append(
        Text(f"{len(v.lemmas)} lemmas{also}, {v.applications} applications; {v.seconds:.2f} s", style="dim")
    )
    return Group(*body)


def _lemmas(v: ClaimVerdict) -> RenderableType:
    """The lemmas that needed a solver, and those that do not hold; checker versions are in the record."""
    uses: Counter[str] = Counter()
    for part in v.parts:
        for step in part.steps:
            uses.update(step.lemmas)
    made = table("lemma", ">uses", "answer", "decided by", "confirmed by", ">s")
    for x in v.lemmas:
        if x.decided_by != "folding":
            made.add_row(
                x.name, str(uses[x.sha256]), x.status.value, x.decided_by,
                ", ".join(who.partition(" ")[0] for who in x.confirmed_by) or "none", f"{x.seconds:.2f}",
            )  # fmt: skip
    return made


def claims_table(
    verdicts: Mapping[str, Sequence[ClaimVerdict]], refused: Mapping[tuple[str, str], str]
) -> RenderableType:
    """One row per unit, one column per claim; `refused` are claims that do not apply to a unit."""
    asked = {v.claim for row in verdicts.values() for v in row} | {claim for _, claim in refused}
    claims = [c for c in _SHORT if c in asked]
    made = table("unit", *(_SHORT[c] for c in claims), ">s")
    for name, row in verdicts.items():
        of = {v.claim: v for v in row}
        cells = [
            Text(of[c].kind.name, style=_COLOUR.get(of[c].kind, "bold red")) if c in of else Text("–")
            for c in claims
        ]
        made.add_row(name, *cells, f"{sum(v.seconds for v in row):.1f}")
    for column in made.columns[1:]:
        column.no_wrap = True
    totals = []
    for c in claims:
        kinds = Counter(v.kind.name for row in verdicts.values() for v in row if v.claim == c)
        unfit = sum(claim == c for _, claim in refused)
        counts = [f"{n} {kind}" for kind, n in kinds.items()] + ([f"{unfit} not applicable"] if unfit else [])
        totals.append(f"{c}: {', '.join(counts)}")
    return Group(made, *(Text(line) for line in totals))


def claims_section(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Markdown about the kept claims: the verdicts by claim and operation, and what the proofs are made of.

    Nothing is checked here, and the text says so; records about past definitions are left out.
    """
    operations = {name: operation(catalogue()[name]).name for name in distinct_designs()}
    verdicts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record in records:
        unit = record["unit"]
        if unit not in operations or record["definition"] != definition(catalogue()[unit]):
            continue
        claimed = CLAIMS.get(record["claim"].partition("; ")[0])
        if claimed is None or not claimed.fits(catalogue()[unit]):
            continue  # asked of it by an earlier version
        holds = record["verdict"] == Kind.HOLDS.name
        with contextlib.suppress(RecordError, ValueError):  # a record that cannot be read is none
            made = _made_of(record) if holds else Counter[str]()
            verdicts[record["claim"], operations[unit]].update(made + Counter([record["verdict"]]))
    lines = [
        "", "## Claims about units", "",
        f"Verdicts on one unit of each distinct design that the claim fits, {NOT_CHECKED} --claims; "
        "`tcformal prove UNIT --claim NAME` checks one when it serves it. What proofs that hold are "
        "made of: stages of two circuits that are one definition, applications of lemmas that folding alone "
        "decides, applications of lemmas with a proof by a SAT solver, steps of the kernel.", "",
        "| claim | operation | designs | kept as HOLDS | kept as VIOLATED | OPEN | refused | none "
        "| definition | folding | SAT | rules |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    conditional = sorted({claim for claim, _ in verdicts if claim.partition("; ")[0] in _SHORT} - {*_SHORT})
    for claim in (*_SHORT, *conditional):
        fits = CLAIMS[claim.partition("; ")[0]].fits
        fitting = [u for u in operations if fits(catalogue()[u])]
        no = Counter(operations[u] for u in fitting if refused(claim, catalogue()[u]))
        for name, number in Counter(operations[u] for u in fitting).items():
            count = verdicts[claim, name]
            decided = [count[kind.name] for kind in (Kind.HOLDS, Kind.VIOLATED)]
            asked = sum(count[kind.name] for kind in Kind)
            if asked or claim in _SHORT:
                cells = [number, *decided, asked - sum(decided), no[name], number - asked - no[name]]
                cells += [count[how] for how in ("definition", "folding", "SAT", "rules")]
                lines.append(f"| {claim} | {name} | {' | '.join(f'{n:,}' for n in cells)} |")
    closing = (
        "OPEN: neither proof nor witness was found in the time of the question; refused: `prove` says in a "
        "sentence why the claim says nothing of the unit; none: not asked, or no statement of it is written."
    )
    return [*lines, "", closing]


def _made_of(record: Mapping[str, Any]) -> Counter[str]:
    """The steps of a kept proof by their kind."""
    made, folded = Counter[str](), {*map(str, record.get("folded", []))}
    lemmas_used(record)  # refuses a place where no lemma is
    for part in record["parts"]:
        for step in part["steps"]:
            if part.get("tree"):  # one step, named by the number of the kernel's
                made["rules"] += int(step["cuts"][0].partition(" ")[0])
            if step["how"] == "same definition":
                made["definition"] += len(step["cuts"])
            for place, uses in step.get("lemmas", {}).items():
                made["folding" if place in folded else "SAT"] += uses
    return made
