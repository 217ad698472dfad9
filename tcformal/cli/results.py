"""`results`: the answers that were kept; `verify` has a module of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.progress import track
from rich.text import Text

from tcformal.cli.group import json_option, main, print_json, results_option
from tcformal.errors import InputError
from tcformal.query.kept.audit import State, chosen, state
from tcformal.query.kept.store import Entry, Store
from tcformal.query.verdict import Kind
from tcformal.records.lines import write_whole
from tcformal.report import results as views
from tcformal.report.text import console

Item = TypeVar("Item")


def warn(sentence: str) -> None:
    """Tell a person of something that does not change the answer."""
    click.echo(f"warning: {' '.join(sentence.split())}", err=True)


def watched(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """The items, with a bar for people on standard error that vanishes at the end."""
    err = console(stderr=True)
    return track(items, description=doing, console=err, transient=True, disable=not err.is_terminal)


@main.group()
def results() -> None:
    """The answers that were kept: list, show, verify, export."""


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [views.row(entry, state(entry)) for entry in watched(entries, "building the questions again")]


@results.command(name="list")
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=click.Choice([kind.name for kind in Kind], case_sensitive=False),
    help="Only records of this verdict; may be repeated.",
)
@results_option
@json_option
def list_(verdicts: Sequence[str], folder: str, as_json: bool) -> None:
    """List the records, the last one about each question."""
    store = Store(Path(folder), warn)
    entries = [e for e in store.records() if not verdicts or e.record.get("verdict") in verdicts]
    rows = _rows(entries)
    if as_json:
        print_json(rows)
        return
    out = console()
    if rows:
        out.print(views.results_table(rows))
    counts = {state: sum(r["state"] == state.name.lower() for r in rows) for state in State}
    told = "".join(f", {n} {s.name.lower()}" for s, n in counts.items() if n and s is not State.CURRENT)
    out.print(Text(f"{len(rows)} records in {store.path}{told}", style="dim"))


@results.command()
@click.argument("start", metavar="ID")
@results_option
@json_option
def show(start: str, folder: str, as_json: bool) -> None:
    """Show everything of one record; ID is the start of its id or of its question's digest."""
    store = Store(Path(folder), warn)
    found = chosen(store.records(), (start,))
    if len(found) > 1:
        ids = ", ".join(e.id[: views.SHOWN] for e in found[:4])
        raise InputError(f"expected the start of one record's id, but {start!r} fits {len(found)}: {ids}, …")
    (entry,) = found
    entry.check()
    now = state(entry)
    command = views.record_command(entry.record) if entry.record["witness"] is not None else None
    if as_json:
        print_json({"id": entry.id, "state": now.name.lower(), "explain": command, "record": entry.record})
        return
    out = console()
    out.print(views.record_view(entry, now))
    if command is not None:
        out.print(Text("bit by bit: ", style="dim"), end="")
        click.echo(command)


@results.command()
@click.argument("file", metavar="FILE")
@click.option("--csv", "as_csv", is_flag=True, help="Write a flat table.")
@click.option("--json", "as_json", is_flag=True, help="Write the whole records.")
@results_option
def export(file: str, as_csv: bool, as_json: bool, folder: str) -> None:
    """Write the records into FILE, or to standard output for a FILE of `-`."""
    if as_csv == as_json:
        raise InputError(f"expected one of --csv and --json, but got {'both' if as_csv else 'none'}")
    store = Store(Path(folder), warn)
    entries = store.records()
    rows = _rows(entries)
    if as_csv:
        text = views.csv_text(rows)
    else:
        whole = [
            {"id": r["id"], "state": r["state"], "record": e.record}
            for r, e in zip(rows, entries, strict=True)
        ]
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        click.echo(text, nl=False)
    else:
        write_whole(Path(file), text.encode())
        click.echo(f"{len(rows)} records written to {file}", err=True)
