"""`region`: within which spread of exponents two units, or all pairs of units, agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from tcformal.cli.group import NO_ANSWER, OK, json_option, main
from tcformal.cli.questions.claims import exit_code
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.files.write import write_whole
from tcformal.proofs.claims.agreement import agreement_claim
from tcformal.proofs.lemmas import LemmaBook
from tcformal.proofs.prove import kept_or_proved
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.nearest import at_once
from tcformal.query.pair import question
from tcformal.query.pairs.pairs import groups
from tcformal.query.pairs.variants import variants
from tcformal.query.verdict import DECIDED
from tcformal.report.escape import print_json
from tcformal.report.regions import (
    REGIONS,
    RegionAnswer,
    counts,
    region_data,
    region_view,
    regions_table,
    regions_text,
)
from tcformal.report.text import console, counting, progress

#: The table is written after so many answers, and after each proof.
_OFTEN = 20


@main.command(name="region")
@click.argument("first", metavar="UNIT", required=False)
@click.argument("second", metavar="UNIT", required=False)
@click.option("--all", "every", is_flag=True, help=f"Every pair of designs; {REGIONS} in the results folder.")
@click.option("--filter", "only", metavar="TEXT", default="", help="With --all: pairs with TEXT in a name.")
@click.option("--assume", multiple=True, metavar="WHAT", help="finite with exponents=-14..15 or c=0; may be "
              "repeated.  Without it: finite, each with c=0 or not, and with exponents that do not overflow "
              "or not.")  # fmt: skip
@click.option(
    "--vectors", "idle", is_flag=True, help="Try no proof: only inputs on which units differ are looked for."
)
@solver_options()
@json_option
def region(
    first: str | None,
    second: str | None,
    every: bool,
    only: str,
    assume: Sequence[str],
    idle: bool,
    how: SolverOptions,
    as_json: bool,
) -> int:
    """Find the largest spread of exponents within which two units give the same bits.

    The spread is the difference between the largest and the least exponent of the non-zero products and c;
    agreement within it is proved, and the next spread has a witness.  Where the results differ though all
    exponents are equal, a witness shows it (exit 1).  What is not proved in ten times the time limit is left
    open.
    """
    if every != (first is None) or (second is None) != (first is None):
        raise click.UsageError("expected two units, or --all")
    if only and not every:
        raise click.UsageError("expected --filter with --all only")
    if first is not None and second is not None:
        pairs = [(resolve(first), resolve(second))]
    else:
        pairs = [(resolve(p.first), resolve(p.second)) for group in groups(only) for p in group.pairs]
    whole = every and not only and not assume
    answers = _ask(pairs, assume, how, Path(how.folder) / REGIONS if whole else None, idle=idle)
    if as_json:
        print_json([region_data(x) for x in answers])
    else:
        console().print(regions_table(answers) if every else region_view(answers))
    if not every:
        return exit_code([x.verdict for x in answers])
    return OK if all(x.decided for x in answers) else NO_ANSWER


def _ask(
    pairs: Sequence[tuple[UnitSpec, UnitSpec]],
    assume: Sequence[str],
    how: SolverOptions,
    path: Path | None,
    *,
    idle: bool,
) -> list[RegionAnswer]:
    """Every pair under the assumptions given, or under each of the usual ones; kept one by one.

    What has no answer yet comes first, and of that units that differ at spread 0, because the others need
    proofs; what was left open comes last.  The table at `path` is written now and then, and after each proof,
    with the kept answers that were not asked again so far.
    """
    store = how.store()
    certify = True if how.certify is None else how.certify
    book = LemmaBook(
        members=how.solvers,
        limits=how.limits,
        certify=certify,
        keeper=store.lemmas,
        fresh=how.fresh,
        idle=idle,
    )
    asked: list[tuple[UnitSpec, UnitSpec, Assumptions]] = []
    for one, other in pairs:
        given = [from_texts(one.operands.c, assume)] if assume else variants(one, other)
        asked += [(one, other, what) for what in given]
    answers, kept = dict[int, RegionAnswer](), dict[int, RegionAnswer]()
    for i, (one, other, what) in enumerate(asked):
        was = None if how.fresh else store.unchecked_claim(agreement_claim(other, what), one)
        if was is not None:
            kept[i] = RegionAnswer(one.name, other.name, what, was)

    def written() -> None:
        if path is not None:
            write_whole(path, regions_text(_in_order(kept | answers), len(asked)).encode())

    with progress(*counting("doing")) as bar:
        task = bar.add_task("regions", total=len(asked), doing="")

        def ask(i: int) -> None:
            one, other, what = asked[i]
            v = kept_or_proved(
                one, agreement_claim(other, what), store, book=book, limits=how.limits,
                solvers=how.solvers, fresh=how.fresh,
                progress=lambda text: bar.update(task, doing=text),
            )  # fmt: skip
            answers[i] = RegionAnswer(one.name, other.name, what, v)
            bar.update(task, advance=1, description=counts(list(answers.values())))
            # A proof takes long, and a run that is ended should leave what it found.
            if i in later or len(answers) % _OFTEN == 0:
                written()

        written()
        later: list[int] = []
        for i, parts in enumerate(asked):
            if i not in kept:
                if at_once(question(*parts), how.limits.seed) is None:
                    later.append(i)
                else:
                    ask(i)
        # What was answered before is taken as it is where no proof is tried.
        again = () if idle else sorted(kept, key=lambda i: kept[i].verdict.kind not in DECIDED)
        for i in (*later, *again):
            ask(i)
    written()
    return _in_order(kept | answers)


def _in_order(answers: Mapping[int, RegionAnswer]) -> list[RegionAnswer]:
    return [answers[i] for i in sorted(answers)]
