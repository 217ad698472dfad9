"""`run`: the questions of the papers, asked and compared with the expected answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from tcformal.checks import check_positive
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main, results_option
from tcformal.errors import InputError
from tcformal.papers.checked import check_asks
from tcformal.papers.files import Ask, QueryFile, find, known_queries, load
from tcformal.papers.run import OPEN, Answered, Setting, run
from tcformal.query.engine import DEFAULT_LIMITS
from tcformal.report import queries as views
from tcformal.report.escape import print_json, warn
from tcformal.report.text import console, progress
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.store.store import Store


@main.command(name="run")
@click.argument("names", nargs=-1, metavar="QUERY...")
@click.option("--all", "every", is_flag=True, help="Run every query of the package.")
@click.option("--list", "listed", is_flag=True, help="List the queries; ask nothing.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the query; may be repeated.",
)
@click.option("--only", metavar="TEXT", help="Only the asks with TEXT in their names.")
@click.option("--solvers", help="Solvers, separated by commas, in order of start.")
@click.option("--time-limit", type=float, default=DEFAULT_LIMITS.time_s, show_default=True,
              help="Time limit of each solver, in seconds.")  # fmt: skip
@click.option("--certify/--no-certify", default=None, help="An unsat answer needs a checked proof / a second "
              "solver; neither given: whichever comes first.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Ask the solvers even if an answer is kept.")
@results_option
@json_option
def run_queries(
    names: Sequence[str],
    every: bool,
    listed: bool,
    settings: Sequence[str],
    only: str | None,
    solvers: str | None,
    time_limit: float,
    certify: bool | None,
    fresh: bool,
    folder: str,
    as_json: bool,
) -> int:
    """Ask the questions of query files (names or paths) and compare the answers with the expected ones.

    With --all, REPORT.md in the results folder compares the answers with the sources' statements.

    \b
    A file of your own, asked by `tcformal run mine.toml` (all keys: queries/README.md):
      title = "Do three carry bits suffice for five terms?"
      source = "VALPEY §4.3"
      [[ask]]
      name = "3 bits or 4"
      separate = ["valpey@terms=5,carry_bits=3", "valpey@terms=5,carry_bits=4"]
      expected = "EQUIVALENT"
    """
    if bool(names) == (every or listed):
        raise InputError("expected names of queries, or --all, or --list, but got none or both")
    files = [find(name) for name in names] or [load(path, name) for name, path in known_queries().items()]
    if listed:
        print_json([views.query_data(f) for f in files]) if as_json else console().print(views.listing(files))
        return OK
    check_positive("--time-limit", time_limit)
    limits = Limits(time_s=time_limit, memory_mb=DEFAULT_LIMITS.memory_mb, seed=DEFAULT_LIMITS.seed)
    members = None if solvers is None else check_members([s.strip() for s in solvers.split(",")])
    setting = Setting(Store(Path(folder), warn), limits, members, certify, fresh=fresh)
    asked = [(f, _named(f.concrete(_settings(settings)), only)) for f in files]
    if not any(asks for _, asks in asked):
        raise InputError(f"expected an ask with {only!r} in its name, but found none")
    for query, asks in asked:
        check_asks(query, asks)
    start = time.monotonic()
    done = _run_all(asked, setting)
    if every and only is None:
        views.write_report(Path(folder) / "REPORT.md", [f for f, _ in asked], done)
    if as_json:
        print_json([views.answered_data(a) for a in done])
    else:
        console().print(views.summary(done, time.monotonic() - start))
    if any(a.outcome in OPEN or not a.checked for a in done):
        return NO_ANSWER
    return OK if all(a.as_expected for a in done) else OTHERWISE


def _settings(texts: Sequence[str]) -> dict[str, str]:
    made = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"expected --set NAME=VALUE, but got {text!r}")
        made[name] = value
    return made


def _named(asks: list[Ask], only: str | None) -> list[Ask]:
    """The asks with a text in their names; all asks for no text."""
    return [ask for ask in asks if only is None or only in ask.name]


def _run_all(asked: Sequence[tuple[QueryFile, list[Ask]]], setting: Setting) -> list[Answered]:
    """Run every ask of every file, with a progress bar that names the current one."""
    done: list[Answered] = []
    with progress(transient=True) as bar:
        task = bar.add_task("", total=sum(len(asks) for _, asks in asked))
        for query, asks in asked:
            bar.update(task, description=query.name)
            for answered in run(query, asks, setting):
                done.append(answered)
                bar.advance(task)
    return done
