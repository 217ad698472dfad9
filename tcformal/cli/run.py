"""`run`: the questions of the papers, asked and compared with the expected answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.text import Text

from tcformal.analysis.asks import OPEN, Answered, check_asks, run
from tcformal.analysis.queryfile import Ask, QueryFile, find, known_queries, load
from tcformal.analysis.records import EXPORTS, held
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, main
from tcformal.cli.questions.options import SolverOptions, solver_options
from tcformal.errors import InputError
from tcformal.files import write_whole
from tcformal.report import queries as views
from tcformal.report.claims import claims_section
from tcformal.report.devices.references import counted_references, references
from tcformal.report.escape import print_json, warn
from tcformal.report.results import exports_section
from tcformal.report.text import console, progress


@main.command(name="run")
@click.argument("names", nargs=-1, metavar="QUERY...")
@click.option("--all", "every", is_flag=True, help="Every query that comes with the package.")
@click.option(
    "--list", "listed", is_flag=True, help="List the queries instead; with --all, their sources too."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@click.option("--only", metavar="TEXT", help="Only the asks that have TEXT in their names.")
@click.option(
    "--statements",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write each query as a text for the authors of its source: statement, inputs, both results.",
)
@solver_options("memory_limit", "seed")
@json_option
def run_queries(
    names: Sequence[str],
    every: bool,
    listed: bool,
    settings: Sequence[str],
    only: str | None,
    statements: Path | None,
    how: SolverOptions,
    as_json: bool,
) -> int:
    """Ask the questions of query files (names or paths) and compare the answers with the expected ones.

    With --all, REPORT.md in the results folder counts the answers, and the kept verdicts on claims.

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
        print_json([views.query_data(f) for f in files]) if as_json else _print_list(files, every)
        return OK
    store = how.opened()
    asked = [(f, _named(f.concrete(_settings(settings)), only)) for f in files]
    if not any(asks for _, asks in asked):
        raise InputError(f"expected an ask with {only!r} in its name, but found none")
    for query, asks in asked:
        check_asks(query, asks)
    start = time.monotonic()
    done = _run_all(asked, how)
    if every and only is None:
        folder = Path(how.folder)
        sections = (
            claims_section(store.claims.all()), counted_references([*references(folder, warn)]),
            exports_section(held(folder / EXPORTS, warn)),
        )  # fmt: skip
        write_whole(folder / "REPORT.md", views.report_text(done, sections).encode())
    if statements is not None:
        views.write_statements(statements, [f for f, _ in asked], done)
    if as_json:
        print_json([views.answered_data(a) for a in done])
    else:
        console().print(views.summary(done, time.monotonic() - start))
    if any(a.outcome in OPEN or not a.checked for a in done):
        return NO_ANSWER
    return OK if all(a.as_expected for a in done) else OTHERWISE


def _print_list(files: Sequence[QueryFile], every: bool) -> None:
    """The queries, one on a line; with --all, their sources too."""
    out = console()
    out.print(views.listing(files, sources=every))
    if not every:
        out.print(Text("--list --all: with the sources", style="dim"))


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


def _run_all(asked: Sequence[tuple[QueryFile, list[Ask]]], how: SolverOptions) -> list[Answered]:
    """Run every ask of every file, with a progress bar that names the current one."""
    done: list[Answered] = []
    with progress(transient=True) as bar:
        task = bar.add_task("", total=sum(len(asks) for _, asks in asked))
        for query, asks in asked:
            bar.update(task, description=query.name)
            for answered in run(query, asks, how):
                done.append(answered)
                bar.advance(task)
    return done
