"""`suite`: the fewest inputs that separate all designs of a space."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tcformal.checks import MOST_AT_ONCE, MOST_JOBS, check_int, check_positive
from tcformal.cli.group import BAD_INPUT, NO_ANSWER, OK, OTHERWISE, fail, json_option, main
from tcformal.cli.output import write_output
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.design.space import space
from tcformal.errors import InputError
from tcformal.files import json_of, read_named
from tcformal.query.suites.made import Suite, examined, from_json, to_json
from tcformal.query.suites.suite import DEFAULT_LIMITS, SHRINK_S, VECTORS, suite_of
from tcformal.report.escape import print_json, printable_json, say
from tcformal.report.suite import check_prefix, suite_csv, suite_header, suite_view
from tcformal.report.text import console, progress


@main.command(
    name="suite",
)
@click.argument("names", nargs=-1, metavar="[UNIT]...")
@click.option(
    "--vary",
    multiple=True,
    metavar="NAME[=VALUES]",
    help="A parameter to vary, over values such as 1,5..7 or its usual ones; repeated: all combinations.",
)
@click.option("--formats", help="Compare the catalogue's designs of these formats: A,B,C,D.")
@click.option("--arch", "archs", multiple=True, help="Only designs of this architecture; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "c"]),
    default="table",
    show_default=True,
    help="Output format of the suite.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="File to write the suite to; by default it is printed.",
)
@click.option("--prefix", default="suite", show_default=True, help="Prefix of the names in C.")
@click.option(
    "--check",
    "checked",
    type=click.Path(exists=True, dir_okay=False),
    help="Check a suite written with --json: evaluate it again, prove equal designs again, and print every "
    "deviation.",
)
@click.option(
    "--vectors",
    type=int,
    default=VECTORS,
    show_default=True,
    help="Random inputs in one round, before solvers are asked.",
)
@solver_options(
    "certify", "fresh", "folder", limits=DEFAULT_LIMITS, time="each solver on one pair",
    seed="inputs and solvers",
)  # fmt: skip
@click.option(
    "--shrink-time",
    type=float,
    default=SHRINK_S,
    show_default=True,
    help="Time limit for shrinking one input, in seconds.",
)
@click.option("--total-time", type=float, help="Seconds after which no further pair is asked about; those "
              "that are left are undecided, all else is kept; 40 for more than 256 designs.")  # fmt: skip
@click.option(
    "--jobs",
    type=int,
    default=os.cpu_count() or 1,
    show_default=True,
    help="Number of solver processes at a time.",
)
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
    how: SolverOptions,
    shrink_time: float,
    total_time: float | None,
    jobs: int,
    as_json: bool,
) -> int:
    """Find the fewest inputs that separate all designs of a space.

    One UNIT alone stands for itself and every variation of one of its parameters; with --vary, for the
    given values only.  Several UNITs, or --formats, are compared with each other.  Designs that no input
    separates are proved equal.  Exit 0 if every pair is decided, 3 if some is not.
    """
    if checked is not None:
        if names or vary or formats or archs:
            raise InputError("expected --check alone, but got designs too")
        return _check(Path(checked), how, jobs, as_json)
    check_int("--jobs", jobs, low=1, high=MOST_JOBS)
    if total_time is not None:
        check_positive("--total-time", total_time)
    check_int("--vectors", vectors, low=2, high=MOST_AT_ONCE)
    check_prefix(prefix)
    form = "json" if as_json else form
    if form == "table" and output is not None:
        raise InputError("expected --format json, csv or c with --output, but got table")
    of = space(names, vary=vary, formats=formats, archs=archs)
    with progress(transient=True) as bar:
        task = bar.add_task("starting", total=None)
        made = suite_of(
            of, replace(how.alone(), jobs=jobs), vectors=vectors, shrink_s=shrink_time, total_s=total_time,
            progress=lambda doing, done, of_: bar.update(task, description=doing, completed=done, total=of_),
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
    write_output(output, text.encode())


def _check(path: Path, how: SolverOptions, jobs: int, as_json: bool) -> int:
    """Check a written suite: everything that it says is derived again."""
    try:
        data: Any = json_of(read_named(path, "a suite"))
    except ValueError as error:
        fail(f"expected a suite as JSON in {path}, but got {error}", BAD_INPUT)
    made = from_json(data)
    found = examined(made, replace(how.alone(), jobs=jobs))
    if data.get("separated") != to_json(made)["separated"]:
        found.wrong.append("expected in `separated` the input that tells each pair apart, but got others")
    if as_json:
        counts = {"inputs": len(made.inputs), "designs": len(made.designs)}
        print_json({**counts, "wrong": found.wrong, "unproved": found.unproved})
    else:
        so_far = "nothing is wrong" if not found.unproved else "nothing wrong was found"
        whole = f"{len(made.inputs)} inputs and {len(made.designs)} designs: {so_far}"
        say("\n".join([*(found.wrong or [whole]), *found.unproved]))
    return OTHERWISE if found.wrong else NO_ANSWER if found.unproved else OK
