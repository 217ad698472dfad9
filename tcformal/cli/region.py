"""`region`: within which spread of exponents two units agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click
from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.cli.group import Answer, json_option, main, verbose_option
from tcformal.cli.prove import exit_code, say_written, write_instance
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.design.integer_sums import check_floating
from tcformal.design.names import named_together, resolve
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.claims.answered import answered
from tcformal.query.claims.claim_verdict import ClaimVerdict, PartStatus
from tcformal.query.pairs.pairs import variants
from tcformal.query.question import Kind
from tcformal.report.claim_view import claim_view
from tcformal.report.escape import Plain, verbose
from tcformal.report.parts import bar
from tcformal.report.text import console
from tcformal.theory.theorems import agreement_of


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
    for x in answers if verbose() else answers[:1]:
        parts += [Text(), claim_view(x.verdict)]
    if len(answers) > 1 and not verbose():
        parts.append(Text("\n-v: the theorem and the inputs of the others too", style="dim"))
    return Group(*parts)


def region_data(x: RegionAnswer) -> Plain:
    """One region as plain data."""
    return {
        "units": [x.first, x.second],
        "assumptions": x.assumed.spellings(),
        "agree_up_to_spread": int(x.shown) if x.shown.isdecimal() else None,
        "shown": x.shown,
        "proof": x.verdict.to_json(),
    }


@main.command(name="region")
@click.argument("first", metavar="UNIT")
@click.argument("second", metavar="UNIT")
@click.option("--assume", multiple=True, metavar="WHAT", help="finite with exponents=-14..15 or c=0; may be "
              "repeated.  Without it: finite, each with c=0 or not, and with exponents that do not overflow "
              "or not.")  # fmt: skip
@click.option("--coq", metavar="FILE", help="With --assume: write the theorem's instance, and "
              "say which command checks it with the shipped sources in Coq.")  # fmt: skip
@solver_options()
@verbose_option
@json_option
def region(first: str, second: str, assume: Sequence[str], coq: str | None, how: SolverOptions) -> Answer:
    """Find the largest spread of exponents within which two units give the same bits.

    The spread is the difference between the largest and the least exponent of the non-zero products and c;
    agreement within it is a theorem, and the next spread has a witness.  Where results differ though all
    exponents are equal, a witness shows it (exit 1).
    """
    if coq is not None and not assume:
        raise click.UsageError("expected --coq with --assume")
    one, other = map(resolve, named_together((first, second)))
    check_floating(one, "region")
    given = [from_texts(one.operands.c, assume)] if assume else variants(one, other)
    answers = []
    with bar("regions") as advance:
        for i, what in enumerate(given, 1):
            v = answered(one, agreement_of(other.name, what.spellings()), how)
            answers.append(RegionAnswer(one.name, other.name, what, v))
            advance(i, len(given))
    written = {} if coq is None else write_instance(answers[0].verdict, coq)

    def text() -> None:
        console().print(region_view(answers))
        say_written(written)

    data = [region_data(x) | ({"coq": written} if written else {}) for x in answers]
    return Answer(data, text, exit_code([x.verdict for x in answers]))
