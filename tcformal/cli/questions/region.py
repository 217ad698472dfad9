"""`region`: within which spread of exponents two units, or all pairs of units, agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcformal.cli.group import NO_ANSWER, OK, json_option, main
from tcformal.cli.questions.claims import exit_code, say_written, write_instance
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.design.names import resolve
from tcformal.design.unit import UnitSpec
from tcformal.files.write import write_whole
from tcformal.proofs.answered import answered, at_once
from tcformal.query.assume import Assumptions, from_texts
from tcformal.query.pairs.variants import variants
from tcformal.query.question import Kind
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
from tcformal.report.text import Counted, console
from tcformal.theory.answers import agreement_of

if TYPE_CHECKING:  # a theorem's answer needs neither
    from tcformal.proofs.lemmas import LemmaBook
    from tcformal.proofs.verdict import ClaimVerdict
    from tcformal.store.store import Store

#: A spread is proved, or refuted by inputs of one exponent.
_DECIDED = (Kind.HOLDS, Kind.VIOLATED)


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
@click.option("--coq", metavar="FILE", help="With --assume of two UNITs: write the theorem's instance, and "
              "say which command checks it with the shipped sources in Coq.")  # fmt: skip
@solver_options()
@json_option
def region(
    first: str | None,
    second: str | None,
    every: bool,
    only: str,
    assume: Sequence[str],
    idle: bool,
    coq: str | None,
    how: SolverOptions,
    as_json: bool,
) -> int:
    """Find the largest spread of exponents within which two units give the same bits.

    The spread is the difference between the largest and the least exponent of the non-zero products and c;
    agreement within it is a theorem, or proved in steps, and the next spread has a witness.  Where results
    differ though all exponents are equal, a witness shows it (exit 1).  What is not proved in ten times the
    time limit is left open.
    """
    if every != (first is None) or (second is None) != (first is None):
        raise click.UsageError("expected two units, or --all")
    if only and not every:
        raise click.UsageError("expected --filter with --all only")
    if coq is not None and (every or not assume):
        raise click.UsageError("expected --coq with two units and --assume")
    if first is not None and second is not None:
        pairs = [(resolve(first), resolve(second))]
    else:
        from tcformal.query.pairs.pairs import groups  # two units do not wait for all

        pairs = [(resolve(p.first), resolve(p.second)) for group in groups(only) for p in group.pairs]
    whole = every and not only and not assume
    answers = _ask(pairs, assume, how, Path(how.folder) / REGIONS if whole else None, idle=idle)
    written = {} if coq is None else write_instance(answers[0].verdict, coq)
    if as_json:
        print_json([region_data(x) | ({"coq": written} if written else {}) for x in answers])
    else:
        console().print(regions_table(answers) if every else region_view(answers))
        say_written(written)
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
    """Every pair under the assumptions given, or under each of the usual ones.

    Theorems and inputs of one exponent come first, then proofs in steps, which are kept one by one: of what
    has no answer yet, then of what was answered before, last of what was left open.  The table at `path` is
    written after each proof, with the kept answers that were not asked again so far.
    """

    @cache
    def store() -> Store:
        return how.store()

    @cache
    def book() -> LemmaBook:
        from tcformal.proofs.lemmas import LemmaBook

        certify = True if how.certify is None else how.certify
        return LemmaBook(
            members=how.solvers, limits=how.limits, certify=certify, keeper=store().lemmas, fresh=how.fresh,
            idle=idle,
        )  # fmt: skip

    asked: list[tuple[UnitSpec, UnitSpec, Assumptions]] = []
    for one, other in pairs:
        given = [from_texts(one.operands.c, assume)] if assume else variants(one, other)
        asked += [(one, other, what) for what in given]
    answers, kept = dict[int, RegionAnswer](), dict[int, RegionAnswer]()

    def written() -> None:
        if path is not None:
            write_whole(path, regions_text(_in_order(kept | answers), len(asked)).encode())

    with Counted("regions", len(asked)) as bar:

        def found(i: int, v: ClaimVerdict) -> None:
            one, other, what = asked[i]
            answers[i] = RegionAnswer(one.name, other.name, what, v)
            bar.done(counts(list(answers.values())))

        later = []
        for i, (one, other, what) in enumerate(asked):
            v = at_once(one, _claim(other, what), how.limits)
            if v is not None:
                found(i, v)
                continue
            was = None if how.fresh else store().unchecked_claim(_claim(other, what), one)
            if was is not None:
                kept[i] = RegionAnswer(one.name, other.name, what, was)
            # What was answered before is taken as it is where no proof is tried.
            if was is None or not idle:
                later.append((0 if was is None else 1 if was.kind in _DECIDED else 2, i))
        written()
        for _, i in sorted(later):
            one, other, what = asked[i]
            found(i, answered(
                one, _claim(other, what), store, book=book, limits=how.limits, solvers=how.solvers,
                fresh=how.fresh, progress=bar.doing,
            ))  # fmt: skip
            written()
    return _in_order(kept | answers)


def _in_order(answers: Mapping[int, RegionAnswer]) -> list[RegionAnswer]:
    return [answers[i] for i in sorted(answers)]


def _claim(second: UnitSpec, what: Assumptions) -> str:
    return agreement_of(second.name, what.spellings())
