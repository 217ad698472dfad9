"""Views of a claim's answer: a theorem with what it rests on, and inputs that refute."""

from __future__ import annotations

from fractions import Fraction

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.oracle.values import hex_word
from tcformal.proofs.verdict import ClaimPart, ClaimVerdict, Counterexample
from tcformal.report.text import with_decimal
from tcformal.theory.answers import TheoremAnswer


def theorem_view(v: ClaimVerdict, found: TheoremAnswer) -> RenderableType:
    """The verdict, the theorem with its numbers, what the answer rests on, and the way to check it again."""
    head = Text(v.kind.name, style="bold green")
    head.append(f": {v.reason}", style="default not bold")
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
