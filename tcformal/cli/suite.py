"""`suite`: the fewest inputs that tell all designs of a space apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tcformal.checks import MOST_AT_ONCE, MOST_JOBS, check_int, check_positive
from tcformal.cli.group import BAD_INPUT, NO_ANSWER, OK, OTHERWISE, fail, json_option, main
from tcformal.design.space import space
from tcformal.errors import InputError
from tcformal.files.named import json_of, read_named
from tcformal.files.write import write_whole
from tcformal.report.escape import print_json, printable_json, say
from tcformal.report.suite import check_prefix, suite_csv, suite_header, suite_view
from tcformal.report.text import console, progress
from tcformal.solve.result import Limits
from tcformal.suites.made import Suite, complaints
from tcformal.suites.suite import DEFAULT_LIMITS, SHRINK_S, VECTORS, suite
from tcformal.suites.suitefile import from_json, to_json


@main.command(
    name="suite",
)
@click.argument("names", nargs=-1, metavar="[UNIT]...")
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME[=VALUES]",
    help="Values of a parameter, as 1,5..7; without values, all sensible ones.  Several multiply.",
)
@click.option("--formats", help="Start from the catalogue's designs of these formats: A,B,C,D.")
@click.option("--arch", "archs", multiple=True, help="Only designs of this architecture; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "c"]),
    default="table",
    show_default=True,
    help="How to print the suite.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file to write instead of printing.")
@click.option("--prefix", default="suite", show_default=True, help="What C names begin with.")
@click.option(
    "--check",
    "checked",
    type=click.Path(exists=True, dir_okay=False),
    help="Evaluate a suite written with --json again, and say what is wrong with it.",
)
@click.option(
    "--vectors",
    type=int,
    default=VECTORS,
    show_default=True,
    help="Inputs to try in one round before solvers are asked.",
)
@click.option(
    "--seed", type=int, default=DEFAULT_LIMITS.seed, show_default=True, help="Seed of inputs and solvers."
)
@click.option("--solvers", help="Solvers to ask, separated by commas, in order of start.")
@click.option(
    "--time-limit",
    type=float,
    default=DEFAULT_LIMITS.time_s,
    show_default=True,
    help="Seconds for each solver on one pair.",
)
@click.option(
    "--memory-limit",
    type=int,
    default=DEFAULT_LIMITS.memory_mb,
    show_default=True,
    help="MiB for each solver.",
)
@click.option(
    "--shrink-time",
    type=float,
    default=SHRINK_S,
    show_default=True,
    help="Seconds for making one input readable.",
)
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True, help="Solvers at a time.")
@json_option
def suite_(
    names: Sequence[str],
    vary: Sequence[str],
    formats: str | None,
    archs: Sequence[str],
    form: str,
    output: str | None,
    prefix: str,
    checked: str | None,
    vectors: int,
    seed: int,
    solvers: str | None,
    time_limit: float,
    memory_limit: int,
    shrink_time: float,
    jobs: int,
    as_json: bool,
) -> int:
    """Find the fewest inputs that tell all designs of a family apart.

    One UNIT alone stands for itself and every variation of one of its parameters; with --vary, for the
    given values only.  Several UNITs, or --formats, are compared with each other.  Designs that no input
    tells apart are proved equal.  Exit 0 if every pair is settled, 3 if some is not.
    """
    if checked is not None:
        if names or vary or formats or archs:
            raise InputError("expected --check alone, but got designs too")
        return _check(Path(checked), as_json)
    check_positive("--time-limit", time_limit)
    check_int("--memory-limit", memory_limit, low=1)
    check_int("--jobs", jobs, low=1, high=MOST_JOBS)
    check_int("--vectors", vectors, low=2, high=MOST_AT_ONCE)
    check_prefix(prefix)
    form = "json" if as_json else form
    if form == "table" and output is not None:
        raise InputError("expected --format json, csv or c with --output, but got table")
    of = space(names, vary=vary, formats=formats, archs=archs)
    members = None if solvers is None else [s.strip() for s in solvers.split(",")]
    with progress(transient=True) as bar:
        task = bar.add_task("starting", total=None)
        made = suite(
            of, vectors=vectors, seed=seed, solvers=members, shrink_s=shrink_time, jobs=jobs,
            limits=Limits(time_s=time_limit, memory_mb=memory_limit, seed=seed),
            told=lambda what, done, total: bar.update(task, description=what, completed=done, total=total),
        )  # fmt: skip
    _write(made, form, output, prefix)
    return NO_ANSWER if made.undecided else OK


def _write(made: Suite, form: str, output: str | None, prefix: str) -> None:
    """Print a suite, or write it to a file."""
    if form == "table":
        console().print(suite_view(made))
        return
    texts = {
        "json": lambda: printable_json(to_json(made)) + "\n",
        "csv": lambda: suite_csv(made),
        "c": lambda: suite_header(made, prefix),
    }
    text = texts[form]()
    if output is None:
        say(text, end="")
        return
    if not Path(output).parent.is_dir():
        raise InputError(f"expected a file that can be written, but got {output}: there is no such folder")
    write_whole(Path(output), text.encode())


def _check(path: Path, as_json: bool) -> int:
    """Evaluate a written suite again."""
    try:
        data: Any = json_of(read_named(path, "a suite"))
    except ValueError as error:
        fail(f"expected a suite as JSON in {path}, but got {error}", BAD_INPUT)
    made = from_json(data)
    found = complaints(made)
    if as_json:
        print_json({"inputs": len(made.inputs), "designs": len(made.designs), "wrong": found})
    else:
        say(
            "\n".join(found) or f"{len(made.inputs)} inputs and {len(made.designs)} designs: nothing is wrong"
        )
    return OTHERWISE if found else OK
