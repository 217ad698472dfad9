"""`results`: the kept answers; `results verify` is a module of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.progress import track
from rich.text import Text

from tcformal.cli.group import json_option, main, results_option
from tcformal.cli.questions.claims import say_written, write_instance
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.query.options import SolveOptions
from tcformal.query.question import Kind
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report import results as views
from tcformal.report.escape import print_json, say, warn
from tcformal.report.text import SHOWN, console
from tcformal.store.answers import identity_of
from tcformal.store.audit.audit import audit, matches, state
from tcformal.store.claims import claim_id
from tcformal.store.file import Record
from tcformal.store.rechecker import BUDGET_S
from tcformal.store.store import Entry, Store
from tcformal.store.write import write_whole

if TYPE_CHECKING:
    from tcformal.store.audit.written import WrittenProof

Item = TypeVar("Item")


def watched(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """The items, with a transient progress bar on standard error."""
    err = console(stderr=True)
    return track(items, description=doing, console=err, transient=True, disable=not err.is_terminal)


@main.group()
def results() -> None:
    """Kept answers: list, show, verify, proof, export, prune."""


#: Default number of records that `list` shows.
_SHOWN = 20


@results.command(name="list")
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=click.Choice([kind.name for kind in Kind], case_sensitive=False),
    help="Only records that were kept with this verdict; may be repeated.",
)
@click.option("--last", "most", type=click.IntRange(1), default=_SHOWN, show_default=True,
              help="How many records to list, the newest.")  # fmt: skip
@results_option
@json_option
def list_(verdicts: Sequence[str], most: int, folder: str, as_json: bool) -> None:
    """List the newest record about each question, unchecked.

    Nothing is decided by what is kept: UNKNOWN stands before `kept as EQUIVALENT on DATE, not checked`.
    """
    store = Store(Path(folder), warn)
    wanted = (e for e in store.entries() if not verdicts or e.record.get("verdict") in verdicts)
    rows = [views.row(entry) for entry in islice(wanted, most)][::-1]
    claims = (r for r in store.newest_claims() if not verdicts or r["verdict"] in verdicts)
    others = [views.claim_row(record) for record in islice(claims, most)][::-1]
    rows = [row for _, row in merge(_dated(rows), _dated(others), key=itemgetter(0))][-most:]
    if as_json:
        print_json(rows)
        return
    out = console()
    if rows:
        out.print(views.results_table(rows))
    out.print(Text(f"{len(rows)} records, the newest in {store.path}; {NOT_CHECKED}", style="dim"))


def _dated(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of one file in their order, each with the latest date so far; a damaged one has none."""
    last = ""
    for row in rows:
        last = max(last, row["date"] if row["date"][:1].isdigit() else last)
        yield last, row


@results.command()
@click.argument("start", metavar="ID")
@results_option
@json_option
def show(start: str, folder: str, as_json: bool) -> None:
    """Show one record in full; ID is a prefix of its id or of its question's digest.

    A claim is answered again first.
    """
    store = Store(Path(folder), warn)
    entry = _one(store, start)
    if not isinstance(entry, Entry):
        _show_claim(store, entry, as_json)
        return
    entry.check()
    now, finding = state(entry), audit(store, entry, BUDGET_S)
    command = views.record_command(entry.record) if entry.record["witness"] is not None else None
    if as_json:
        verdict, reason = views.audited(entry.record, finding.status, finding.reason)
        print_json(
            {
                "id": entry.id, "verdict": verdict, "reason": reason, "state": now.name.lower(),
                "check": finding.status.name.lower(), "explain": command, "record": entry.record,
            }
        )  # fmt: skip
        return
    out = console()
    out.print(views.record_view(entry, now, finding))
    if command is not None:
        out.print(Text("bit by bit: ", style="dim"), end="")
        say(command)


def _show_claim(store: Store, record: Record, as_json: bool) -> None:
    """One claim with the result of its audit."""
    from tcformal.store.audit.claim_audit import audit_claim  # the list does not wait for the proofs

    finding = audit_claim(store, record)
    verdict, reason = views.audited(record, finding.status, finding.reason)
    name = claim_id(record["claim"], record["unit"])
    if as_json:
        print_json(
            {
                "id": name, "verdict": verdict, "reason": reason, "check": finding.status.name.lower(),
                "record": record,
            }
        )  # fmt: skip
        return
    say(f"{verdict}: {reason}")
    say(f"{record['claim']} of {record['unit']}")
    say(f"answered by {record['answered_by']} on {record['date']}, by tcformal {record['tcformal']}")
    say(f"id: {name}")


def _one(store: Store, start: str) -> Entry | Record:
    """The one answer or claim whose id begins with `start`; InputError where there is none, or another."""
    found: list[Entry | Record] = [entry for entry in store.entries() if matches(entry, start)]
    found += [
        r
        for r in store.newest_claims()
        if start and claim_id(r["claim"], r["unit"]).startswith(start.lower())
    ]
    if not found:
        raise InputError(f"expected the start of a record's id, but got {start!r}: no record has it")
    if len(found) > 1:
        ids = ", ".join(_id(x)[:SHOWN] for x in found[:4])
        raise InputError(f"expected the start of one record's id, but {start!r} fits {len(found)}: {ids}, …")
    return found[0]


def _id(x: Entry | Record) -> str:
    return x.id if isinstance(x, Entry) else claim_id(x["claim"], x["unit"])


@results.command()
@click.argument("start", metavar="ID")
@click.option("-o", "--output", required=True, help="What the two files are named: NAME.cnf and NAME.lrat.")
@results_option
def proof(start: str, output: str, folder: str) -> None:
    """Write the clauses of one answer, and its proof with hints, for checkers by other people.

    NAME.cnf is in DIMACS form, built from the question; NAME.lrat is what LRAT checkers read, cake_lpr and
    the one in the books of ACL2 among them, and has been checked here.  Where folding alone decides the
    question, its clauses are written as they are without folding.  Of a claim that a theorem answers, NAME.v
    is the instance of the theorem, which Coq checks.
    """
    store = Store(Path(folder), warn)
    entry = _one(store, start)
    if isinstance(entry, Entry):
        from tcformal.store.audit.written import answer_proof  # the list does not wait for it

        _write_proof(output, answer_proof(store, entry))
        return
    from tcformal.query.claims.answered import answered

    v = answered(resolve(entry["unit"]), entry["claim"], SolveOptions(store=lambda: store))
    if v.theorem is None and v.asked is not None:
        raise InputError(
            f"expected a claim that a theorem answers, but {v.claim} of {v.unit.name} is a question: "
            f"tcformal results proof {identity_of(v.asked.question)[:SHOWN]}"
        )
    say_written(write_instance(v, output + ".v"))


def _write_proof(output: str, made: WrittenProof) -> None:
    """Write the clauses, and the proof if there is one; say what was written."""
    write_whole(Path(output + ".cnf"), made.cnf.encode())
    said = f"written: {output}.cnf, {made.clauses} clauses"
    if made.lrat:
        write_whole(Path(output + ".lrat"), made.lrat.encode())
        said += f"; {output}.lrat"
    if made.folded:
        said += "; folding alone decides the question, and these clauses are those without folding"
    if not made.lrat:
        said += "; no proof: ask a solver"
    say(said, err=True)


@results.command()
@click.argument("file", metavar="FILE")
@click.option("--csv", "as_csv", is_flag=True, help="Write a flat table.")
@click.option("--json", "as_json", is_flag=True, help="Write the whole records.")
@results_option
def export(file: str, as_csv: bool, as_json: bool, folder: str) -> None:
    """Write all records, unchecked, to FILE, or to standard output for `-`."""
    if as_csv == as_json:
        raise InputError(f"expected one of --csv and --json, but got {'both' if as_csv else 'none'}")
    store = Store(Path(folder), warn)
    entries = store.records()
    rows = [views.row(entry) for entry in watched(entries, "reading records")]
    if as_csv:
        text = views.csv_text(rows)
    else:
        whole = [
            {"id": r["id"], "state": r["state"], "record": e.record}
            for r, e in zip(rows, entries, strict=True)
        ]
        text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        say(text, end="")
    else:
        write_whole(Path(file), text.encode())
        say(f"{len(rows)} records written to {file}", err=True)


@results.command(name="prune")
@click.option("--pack", is_flag=True, help="Pack what stays with xz, and results of devices and products.")
@results_option
@json_option
def prune_(pack: bool, folder: str, as_json: bool) -> None:
    """Remove what cannot be served: superseded, damaged and stale records, and what only these named."""
    from tcformal.devices.log.packing import pack_all, pack_products
    from tcformal.identification.identification import (
        IDENTIFICATION,  # the list does not wait for these
    )
    from tcformal.store.audit.prune import prune
    from tcformal.store.file import RecordFile
    from tcformal.store.locks import exclusive_lock

    done = prune(Store(Path(folder), warn), pack=pack)
    packed = 0
    if pack:
        packed = pack_all(Path(folder) / "hardware") + pack_products(Path(folder) / "products")
        devices = RecordFile(Path(folder), IDENTIFICATION, warn)
        with exclusive_lock(Path(folder)):
            devices.keep(devices.starts(), pack=True)
    if as_json:
        print_json({**asdict(done), "packed": packed})
    else:
        say(
            f"taken out of {folder}: {done.answers} answers, {done.claims} claims, "
            f"{done.certificates} certificates"
            + f"; {packed} results of devices and products packed"
            * bool(packed)
        )
