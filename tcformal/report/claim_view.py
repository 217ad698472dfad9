"""Views of claims: the answer with what it rests on or the inputs that refute it, and a table of many."""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.oracle.values import hex_word
from tcformal.query.claims.claim_verdict import ClaimPart, ClaimVerdict, Counterexample
from tcformal.query.question import Kind
from tcformal.report.markdown import Section
from tcformal.report.text import headline, table, with_decimal
from tcformal.theory.theorems import STATEMENTS, TheoremAnswer

_COLOUR = {Kind.HOLDS: "bold green", Kind.VIOLATED: "bold yellow"}

#: Column headings of the claims.
_SHORT = {
    "product-order": "order", "sign-magnitude": "signs", "carry-bits": "carry",
    "negation-symmetry": "sign", "error-bound": "bound", "zero-exponent": "zero", "zero-products": "fill",
    "integer-sums": "integers", "relative-error": "relative", "monotonicity": "monotone",
    "exact-sum": "exact", "correctly-rounded": "rounded",
}  # fmt: skip
#: So many claims have a column each.
_COLUMNS = 3


def claim_view(v: ClaimVerdict) -> RenderableType:
    """One claim's answer: a theorem, the inputs that refute it, what solvers say, or what is in the way."""
    shown = [x for p in v.parts if p.witness is not None for x in counterexample_view(v, p, p.witness)]
    if v.theorem is not None:
        return Group(theorem_view(v, v.theorem), *shown)
    head = headline(v.kind.name, _COLOUR.get(v.kind, "bold red"), f": {v.reason}")
    why = [Text(f"no theorem: {v.in_the_way}")] if v.in_the_way else []
    by = {"witness": "by inputs that refute it", "solvers": "by solvers"}.get(v.answered_by, "by nothing")
    again = Text(f"answered {by} in {v.seconds:.2f} s", style="dim")
    return Group(head, Text(f"{v.claim} of {v.unit.name}"), *shown, *why, again)


def theorem_view(v: ClaimVerdict, found: TheoremAnswer) -> RenderableType:
    """The verdict, the theorem with its numbers, what the answer rests on, and the way to check it again."""
    head = headline(v.kind.name, "bold green", f": {v.reason}")
    x = found.instance
    numbers = ", ".join(f"{name} = {_shown(number)}" for name, number in x.numbers.items())
    where = f" of {found.source}" if found.source else ", by computation"
    said = [] if found.says == v.reason else [found.says]
    lines = [
        f"{v.claim} of {v.unit.name}",
        f"theorem {found.name}{where}: {'; '.join([*said, numbers] if numbers else said) or 'as above'}",
    ]
    met = [*x.conditions, *x.constants]
    if met:
        lines.append(f"met: {'; '.join(met)}")
    lines.append(f"rests on: {'; '.join(found.rests_on)}")
    again = f"answered by a theorem in {v.seconds:.3f} s; to check it with Coq: --coq FILE"
    return Group(head, *map(Text, lines), Text(again, style="dim"))


def counterexample_view(v: ClaimVerdict, part: ClaimPart, w: Counterexample) -> list[RenderableType]:
    """The results that differ, and the operands."""
    from tcformal.report.tables import witness_table  # a theorem alone does not wait for it

    d = v.unit.operands.d
    results = " and ".join(f"{with_decimal(d, r)} ({hex_word(d, r)})" for r in w.results)
    return [
        Text(f"{part.name}: results {results}; found by {w.found_by}, replayed on integers and fractions"),
        witness_table(v.unit, w.first),
    ]


def _shown(number: Fraction) -> str:
    """A number, and about how large it is where it is a fraction."""
    return str(number) if number.denominator == 1 else f"{number} (~{float(number):.6g})"


def claims_table(
    verdicts: Mapping[str, Sequence[ClaimVerdict]], refused: Mapping[tuple[str, str], str]
) -> RenderableType:
    """One row per unit, and first how often each verdict is given; `refused` are claims that do not apply.

    Few claims have a column each; many have a letter, and verdicts their first one.
    """
    asked = {v.claim for row in verdicts.values() for v in row} | {claim for _, claim in refused}
    claims = [c for c in _SHORT if c in asked]
    many = len(claims) > _COLUMNS
    letters = string.ascii_lowercase[: len(claims)]
    totals: list[Text] = []
    shown: list[Kind] = []
    for letter, c in zip(letters, claims, strict=True):
        kinds = Counter(v.kind for row in verdicts.values() for v in row if v.claim == c)
        unfit = sum(claim == c for _, claim in refused)
        counts = [f"{n} {kind.name}" for kind, n in kinds.items()]
        counts += [f"{unfit} not applicable"] if unfit else []
        totals.append(Text(f"{letter}  " * many + f"{c}: {', '.join(counts)}"))
        shown += [kind for kind in kinds if kind not in shown]
    made = table(*([" ".join(letters)] if many else [_SHORT[c] for c in claims]), "unit", ">s")
    for name, row in verdicts.items():
        of = {v.claim: v.kind for v in row}
        cells = [
            Text(of[c].name[: 1 if many else None], style=_COLOUR.get(of[c], "bold red"))
            if c in of
            else Text("–")
            for c in claims
        ]
        made.add_row(
            *([Text(" ").join(cells)] if many else cells), name, f"{sum(v.seconds for v in row):.1f}"
        )
    for column in made.columns[:-2]:
        column.no_wrap = True
    legend = ", ".join(f"{kind.name[0]} {kind.name}" for kind in shown)
    return Group(*totals, *([Text(f"{legend}, – not applicable", style="dim")] if many else []), made)


def claims_section(records: Iterable[Mapping[str, Any]]) -> Section:
    """How many units each kept claim holds of, by verdict and by what answered it: nothing is checked."""
    from tcformal.design.catalog import distinct_designs  # one answer does not wait for these
    from tcformal.query.verdict import NOT_CHECKED

    units = distinct_designs()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        unit, claim = record["unit"], record["claim"]
        if unit in units and claim.partition("; ")[0] in STATEMENTS:
            counts[claim][record["verdict"]] += 1
            counts[claim][record["answered_by"]] += 1
    rows = []
    for claim, n in sorted(counts.items()):
        decided = [n["HOLDS"], n["theorem"], n["solvers"], n["VIOLATED"]]
        rest = sum(n[kind.name] for kind in Kind) - n["HOLDS"] - n["VIOLATED"]
        rows.append((claim, *(f"{x:,}" for x in (*decided, rest))))
    return Section(
        "Claims about units",
        f"Answers about one unit of each distinct design, {NOT_CHECKED} --claims; tcformal prove UNIT "
        "--claim NAME answers one again.",
        ("claim", ">kept as HOLDS", ">by a theorem", ">by solvers", ">kept as VIOLATED", ">no answer"),
        rows,
    )
