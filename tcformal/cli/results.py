"""`results`: the kept answers: list, show, verify, proof, export, prune."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main, results_option, wants_json
from tcformal.cli.prove import say_written, write_instance
from tcformal.design.names import resolve
from tcformal.errors import InputError, RecordError
from tcformal.files import write_whole
from tcformal.query.comparison.error_comparison import ProgramsQuestion
from tcformal.query.options import SolveOptions
from tcformal.query.pair import EqualityQuestion
from tcformal.query.properties import PropertyQuestion
from tcformal.query.question import Kind
from tcformal.query.verdict import NOT_CHECKED, kept_as
from tcformal.report.escape import Plain, say, say_command, warn
from tcformal.report.parts import bar
from tcformal.report.results import NOTHING, cell_text, unchecked_reason, unchecked_verdict
from tcformal.report.text import SCREEN, SHOWN, console, headline, table
from tcformal.simulation.operands.witness import Witness, explain_command
from tcformal.store.answers import identity_of
from tcformal.store.audit.audit import AuditFinding, AuditStatus, State, audit, matches, select, state
from tcformal.store.claim_records import claim_id
from tcformal.store.lines import Record
from tcformal.store.rechecker import BUDGET_S
from tcformal.store.store import Entry, Store

if TYPE_CHECKING:  # the list does not wait for these
    from tcformal.identification.kept_products import ProductFinding
    from tcformal.identification.verified import IdentificationFinding
    from tcformal.store.audit.claim_audit import ClaimFinding
    from tcformal.store.audit.written import WrittenProof


Item = TypeVar("Item")


def watched(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """The items, with their progress on standard error."""
    with bar(doing) as advance:
        for i, item in enumerate(items, 1):
            yield item
            advance(i, len(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One record, unchecked, as a flat row: the question, the answer, its solvers.

    `kept_as` is the verdict of the record: what nobody checked is UNKNOWN.  `state` says that nothing was
    checked, or that the record is damaged.
    """

    id: str
    kind: str
    verdict: str
    kept_as: str
    first: str
    second: str
    k: int | str = ""
    formats: str = ""
    assumptions: str = ""
    reason: str = ""
    witness: str = ""
    results: str = ""
    solvers: str = ""
    confirmed_by: str = ""
    certificate: str = ""
    seconds: float | str
    date: str
    tcformal: str
    state: str = NOT_CHECKED
    question_sha256: str = ""


def row(entry: Entry) -> ResultRow:
    """The row of one answer; of a damaged one, what can be read."""
    record, q = entry.record, entry.record["question"]
    made = ResultRow(
        id=entry.id, kind=cell_text(q.get("kind")), verdict=unchecked_verdict(record),
        kept_as=cell_text(record.get("verdict")),
        first=cell_text(q.get("first") or q.get("unit") or _program(q.get("worse"))),
        second=cell_text(q.get("second") or q.get("property") or q.get("form") or _program(q.get("other"))),
        k=NOTHING, assumptions=NOTHING, solvers=NOTHING, confirmed_by=NOTHING, certificate=NOTHING,
        seconds=NOTHING, date=cell_text(record.get("date")), tcformal=cell_text(record.get("tcformal")),
        state="damaged", question_sha256=entry.digest,
    )  # fmt: skip
    try:
        entry.check()
    except RecordError:
        return made
    shown = record["witness"] is not None
    return replace(
        made, k=q.get("k") or q["products"], assumptions="; ".join(q["assumptions"]),
        formats=" ".join(f"{x}:{y}" for x, y in q.get("formats", {}).items()),
        reason=unchecked_reason(record), witness=_flat(record["witness"]) if shown else "",
        results=_flat(record["results"]["results"]) if shown else "",
        solvers=", ".join(a["name"] for a in record["solvers"] if a["answer"] in ("sat", "unsat")),
        confirmed_by=", ".join(record["confirmed_by"]),
        certificate=(record["certificate"] or {}).get("sha256", ""), seconds=record["seconds"],
        state=NOT_CHECKED,
    )  # fmt: skip


def claim_row(record: Mapping[str, Any]) -> ResultRow:
    """The row of one kept claim."""
    return ResultRow(
        id=claim_id(record["claim"], record["unit"]), kind="claim", verdict=unchecked_verdict(record),
        kept_as=record["verdict"], first=record["unit"], second=record["claim"],
        reason=unchecked_reason(record), seconds=record["seconds"], date=record["date"],
        tcformal=record["tcformal"],
    )  # fmt: skip


def _flat(named: Mapping[str, Any]) -> str:
    """Encodings by name, in one cell: rows of them in brackets."""
    texts = []
    for name, value in named.items():
        text = value["hex"] if "hex" in value else f"[{' '.join(v['hex'] for v in value)}]"
        if text != "[]":
            texts.append(f"{name}={text}")
    return " ".join(texts)


def csv_text(rows: Sequence[ResultRow]) -> str:
    """Rows as comma-separated values under their names."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, [field.name for field in fields(ResultRow)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    return out.getvalue()


def results_table(rows: Sequence[ResultRow]) -> Table:
    """One row per record: what was kept and by whom on a line, then what was asked."""
    made = table("id", "answer")
    for r in rows:
        verdict = r.verdict if r.verdict == r.kept_as else f"{r.verdict}, kept as {r.kept_as}"
        proof = " with a proof" if r.certificate else ""
        by = f" by {r.solvers}" if r.solvers else ""
        remark = r.state if r.state != NOT_CHECKED else "not checked" if r.verdict != r.kept_as else ""
        said = f"{verdict} on {r.date[:10]}{by}{proof}" + (f": {remark}" if remark else "")
        asked = " and ".join(x for x in (r.first, r.second) if x)
        made.add_row(r.id[:SHOWN], f"{said}\n{asked}" + (f"; {r.assumptions}" if r.assumptions else ""))
    made.columns[0].no_wrap = True
    return made


def _program(data: Any) -> Any:
    """The name of a program in a record, which may hold all of it."""
    return data.get("name") if isinstance(data, Mapping) else data


def record_command(record: Mapping[str, Any]) -> str | None:
    """The `tcformal explain` command that shows a separating witness; None for other kinds."""
    question = record["question"]
    if question["kind"] != EqualityQuestion.KIND:
        return None
    rows = {**record["witness"], "c": [record["witness"]["c"]]}
    # As it was written then: the units may have gone since.
    texts: dict[tuple[str, int], str] = {}
    raws: dict[str, tuple[int, ...]] = {}
    for which in ("a", "b", "c", "scale_a", "scale_b"):
        raws[which] = tuple(int(x["hex"], 16) for x in rows[which])
        for raw, x in zip(raws[which], rows[which], strict=True):
            texts[which, raw] = x["hex"] if "nan" in x["value"] else x["value"]
    (c,) = raws["c"]
    w = Witness(raws["a"], raws["b"], c, raws["scale_a"], raws["scale_b"])
    names = [question["first"], question["second"]]
    return explain_command(names, w, lambda which, raw: texts[which, raw])


def audited(record: Mapping[str, Any], status: AuditStatus, why: str) -> tuple[str, str]:
    """The verdict of a record after its audit, UNKNOWN where it was not checked or is refused; the reason."""
    if status in (AuditStatus.HOLDS, AuditStatus.OPEN):
        return record["verdict"], why
    said = kept_as(record["verdict"], record["date"])
    if status is AuditStatus.FAILED:
        said = said.replace("not checked", status.value)
    return Kind.UNKNOWN.name, f"{said}: {why}"


def record_view(entry: Entry, state: State, finding: AuditFinding) -> RenderableType:
    """One record in full, headed by the result of its audit."""
    record, q = entry.record, entry.record["question"]
    verdict, reason = audited(record, finding.status, finding.reason)
    lines = [headline(verdict, "bold", f": {reason}"), Text(f"recorded reason: {record['reason']}")]
    if q["kind"] == EqualityQuestion.KIND:
        lines.append(Text(f"units: {q['first']}\n       {q['second']}"))
    elif q["kind"] == ProgramsQuestion.KIND:
        lines.append(Text(f"programs: {_program(q['worse'])}\n          {_program(q['other'])}"))
    else:
        lines.append(Text(f"unit: {q['unit']}; {q.get('property') or q['form']}"))
    if "formats" in q:
        formats = ", ".join(f"{x.upper()} {y}" for x, y in q["formats"].items())
        lines.append(Text(f"K = {q['k']}; {formats}"))
    if q["assumptions"]:
        lines.append(Text("assumed: " + "; ".join(q["assumptions"])))
    parts: list[RenderableType] = [*lines]
    if record["witness"] is not None:
        parts += _witness(record)
    answers = table("solver", "version", "answer", ">seconds", "remark", rows=(
        (a["name"], a["version"], a["answer"], f"{a['seconds']:.3f}", a["reason"]) for a in record["solvers"]
    ))  # fmt: skip
    parts += [answers, *(Text(line) for line in _remarks(entry, state))]
    return Group(*parts)


def _witness(record: Mapping[str, Any]) -> list[RenderableType]:
    """The non-zero operands, and the results."""
    w = record["witness"]
    results = table("result of", "value", rows=(
        (record["question"].get(name, name), _both(value))
        for name, value in record["results"]["results"].items()
    ))  # fmt: skip
    if record["question"]["kind"] == PropertyQuestion.KIND:
        inputs = ((name, _both(value)) for name, value in w.items() if int(value["hex"], 16))
        return [table("input", "value", rows=inputs), results]
    pairs = list(zip(w["a"], w["b"], strict=True))
    shown = [i for i, pair in enumerate(pairs) if any(int(x["hex"], 16) for x in pair)]
    made = table(">k", "a[k]", "b[k]", rows=((str(i), *map(_both, pairs[i])) for i in shown))
    rest = len(pairs) - len(shown)
    tail = f"c = {_both(w['c'])}" + (f"; the other {rest} products are 0·0" if rest else "")
    for x in "ab":
        if w[f"scale_{x}"]:
            tail += f"\nscales of {x}: " + ", ".join(_both(v) for v in w[f"scale_{x}"])
    return [made, Text(tail), results]


def _both(x: Mapping[str, str]) -> str:
    return f"{x['value']} ({x['hex']})"


def _remarks(entry: Entry, state: State) -> list[str]:
    """The other keys of the record, a line each."""
    record, limits, made = entry.record, entry.record["limits"], entry.record["certificate"]
    lines = [f"confirmed by: {', '.join(record['confirmed_by'])}"] if record["confirmed_by"] else []
    if made is not None:
        lines.append(
            f"certificate: {made['file']}, {made['steps']} steps of {made['format']} by {made['solver']}, "
            f"checked by {made['checker']} in {made['seconds']:.2f} s when it was kept"
        )
    elif record["verdict"] in ("EQUIVALENT", "HOLDS", "VACUOUS"):
        lines.append("certificate: none; not re-checkable")
    return [
        *lines,
        f"limits: {limits['time_s']:g} s, {limits['memory_mb']} MiB, seed {limits['seed']}; "
        f"{record['seconds']:.2f} s in all",
        f"answered: {record['date']} by tcformal {record['tcformal']}",
        f"id: {entry.id}",
        f"definition: {entry.digest}",
        f"state: {state.name.lower()}, {state.value}",
    ]


@main.group()
def results() -> None:
    """Kept answers: list, show, verify, proof, export, prune."""


#: Default number of records that `list` shows.
_SHOWN = 15


@results.command(name="list")
@click.option("--verdict", "verdicts", multiple=True,
              type=click.Choice([kind.name for kind in Kind], case_sensitive=False),
              help="Only records that were kept with this verdict; may be repeated.")  # fmt: skip
@click.option("--last", "most", type=click.IntRange(1), default=_SHOWN, show_default=True,
              help="How many records to list, the newest.")  # fmt: skip
@results_option
@json_option
def list_(verdicts: Sequence[str], most: int, folder: str) -> Answer:
    """List the newest record about each question, unchecked.

    Nothing is decided by what is kept: UNKNOWN stands before `kept as EQUIVALENT on DATE, not checked`.
    """
    store = Store(Path(folder), warn)
    wanted = (e for e in store.entries() if not verdicts or e.record.get("verdict") in verdicts)
    rows = [row(entry) for entry in islice(wanted, most)][::-1]
    claims = (r for r in store.newest_claims() if not verdicts or r["verdict"] in verdicts)
    others = [claim_row(record) for record in islice(claims, most)][::-1]
    rows = [row for _, row in merge(_dated(rows), _dated(others), key=itemgetter(0))][-most:]
    count = f"{len(rows)} record{'s' * (len(rows) != 1)}"
    view: list[RenderableType] = [Text(f"{count}, the newest in {store.path}; {NOT_CHECKED}")]
    view += [results_table(rows)] if rows else []
    return Answer([asdict(row) for row in rows], Group(*view))


def _dated(rows: Sequence[ResultRow]) -> Iterator[tuple[str, ResultRow]]:
    """Rows of one file in their order, each with the latest date so far; a damaged one has none."""
    last = ""
    for row in rows:
        last = max(last, row.date if row.date[:1].isdigit() else last)
        yield last, row


@results.command()
@click.argument("start", metavar="ID")
@results_option
@json_option
def show(start: str, folder: str) -> Answer:
    """Show one record in full; ID is a prefix of its id or of its question's digest.

    A claim is answered again first.
    """
    store = Store(Path(folder), warn)
    entry = one_record(store, start)
    if not isinstance(entry, Entry):
        return _claim(store, entry)
    entry.check()
    now, finding = state(entry), audit(store, entry, BUDGET_S)
    command = record_command(entry.record) if entry.record["witness"] is not None else None
    verdict, reason = audited(entry.record, finding.status, finding.reason)
    data = {
        "id": entry.id, "verdict": verdict, "reason": reason, "state": now.name.lower(),
        "check": finding.status.name.lower(), "explain": command, "record": entry.record,
    }  # fmt: skip

    def text() -> None:
        out = console()
        out.print(record_view(entry, now, finding))
        if command is not None:
            out.print(Text("bit by bit: ", style="dim"), end="")
            say_command(command)

    return Answer(data, text)


def _claim(store: Store, record: Record) -> Answer:
    """One claim with the result of its audit."""
    from tcformal.store.audit.claim_audit import audit_claim  # the list does not wait for the proofs

    finding = audit_claim(store, record)
    verdict, reason = audited(record, finding.status, finding.reason)
    check = finding.status.name.lower()
    data = {"id": _id(record), "verdict": verdict, "reason": reason, "check": check, "record": record}
    return Answer(
        data,
        f"{verdict}: {reason}\n{record['claim']} of {record['unit']}\nanswered by {record['answered_by']} "
        f"on {record['date']}, by tcformal {record['tcformal']}\nid: {_id(record)}",
    )


def one_record(store: Store, start: str) -> Entry | Record:
    """The one answer or claim whose id begins with `start`; InputError where there is none, or another."""
    found: list[Entry | Record] = [entry for entry in store.entries() if matches(entry, start)]
    found += [r for r in store.newest_claims() if start and _id(r).startswith(start.lower())]
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
    entry = one_record(store, start)
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
    rows = [row(entry) for entry in watched(entries, "reading records")]
    if as_csv:
        text = csv_text(rows)
    else:
        pairs = zip(rows, entries, strict=True)
        whole = [{"id": r.id, "state": r.state, "record": e.record} for r, e in pairs]
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
def prune_(pack: bool, folder: str) -> Answer:
    """Remove what cannot be served: superseded, damaged and stale records, and what only these named."""
    from tcformal.devices.runs import pack_all, pack_products
    from tcformal.identification.identification import IDENTIFICATION  # lists do not wait for these
    from tcformal.store.audit.prune import prune
    from tcformal.store.file import RecordFile
    from tcformal.store.lines import folder_lock

    done = prune(Store(Path(folder), warn), pack=pack)
    packed = 0
    if pack:
        packed = pack_all(Path(folder) / "hardware") + pack_products(Path(folder) / "products")
        devices = RecordFile(Path(folder), IDENTIFICATION, warn)
        with folder_lock(Path(folder), exclusive=True):
            devices.keep(devices.starts(), pack=True)
    said = f"{done.answers} answers, {done.claims} claims, {done.certificates} certificates"
    said += f"\npacked: {packed} results of devices and products" if packed else ""
    return Answer({**asdict(done), "packed": packed}, f"taken out of {folder}: {said}")


_WORD = {
    AuditStatus.HOLDS: "holds", AuditStatus.FAILED: "FAILED", AuditStatus.UNCHECKED: "unchecked",
    AuditStatus.OPEN: "open",
}  # fmt: skip


@results.command()
@click.argument("starts", nargs=-1, metavar="[ID]...")
@click.option("--claims", "with_claims", is_flag=True, help="Answer the kept claims again too.")
@click.option(
    "--all", "every", is_flag=True, help="A line for each record that holds, however many there are."
)
@results_option
@json_option
def verify(starts: tuple[str, ...], with_claims: bool, every: bool, folder: str) -> Answer:
    """Check kept records: schema, question, witnesses by replay, certificates step by step.

    Of identifications of devices, every answer is replayed on the designs that it fits or refutes, and
    verdict, other values and order are derived again; of identified products, what follows from the counts.

    With --claims, a kept claim is answered again, and its record has to say the same; ID is then a text in
    the names of claims and units, such as error-bound, or both, as in 'error-bound of UNIT'.

    Exit code 1 if any record fails, 0 if all that can be checked hold, 3 if none could be checked.
    """
    store, told = Store(Path(folder), warn), _Told(every=every, quiet=wants_json())
    entries = [] if starts and with_claims else select(store.records(), starts)
    findings: list[AuditFinding] = []
    claims: list[ClaimFinding] = []
    for entry in watched(entries, "checking answers"):
        findings.append(audit(store, entry))
        told.answer(findings[-1])
    broken = [] if starts else store.broken()
    devices = [] if starts or with_claims else _identifications(store)
    products = [] if starts or with_claims else _products(store)
    for found in products:
        told.line(found.status, f"{found.file} {{}}: {found.reason}")
    for device in devices:
        told.line(device.status, f"{device.device} {{}}: {device.verdict}, {device.reason}")
    if with_claims:
        # Imported here: the check of answers does not wait for theorems.
        from tcformal.store.audit.claim_audit import audit_claim, claims_with

        broken += [] if starts else store.claims.broken()
        for record in watched(claims_with(store.claims.all(), starts), "answering claims again"):
            claims.append(audit_claim(store, record))
            told.claim(claims[-1])
    for sentence in broken:
        told.line(AuditStatus.FAILED, f"{'':{SHOWN}} {{}}: {sentence}")
    data = {
        "records": [_standing(f, id=f.entry.id) for f in findings],
        "claims": [_standing(c, claim=c.claim, unit=c.unit, verdict=c.verdict) for c in claims],
        "identifications": [_standing(x, device=x.device, verdict=x.verdict) for x in devices],
        "products": [_standing(x, file=x.file, records=x.count) for x in products],
        "broken": broken, **{s.name.lower(): n for s, n in told.counts.items()},
    }  # fmt: skip
    code = OK if told.counts[AuditStatus.HOLDS] else NO_ANSWER
    return Answer(data, told.end, OTHERWISE if told.counts[AuditStatus.FAILED] else code)


def _identifications(store: Store) -> list[IdentificationFinding]:
    """The checks of the identifications in the folder, if it has any."""
    from tcformal.identification.identification import IDENTIFICATION
    from tcformal.identification.verified import verify_identifications

    return verify_identifications(store, warn) if [*store.folder.glob(IDENTIFICATION.file + "*")] else []


def _products(store: Store) -> list[ProductFinding]:
    """The checks of the identified products in the folder."""
    from tcformal.identification.kept_products import PRODUCTS, verify_products

    return verify_products(store.folder) if (store.folder / PRODUCTS).is_dir() else []


def _standing(
    f: AuditFinding | ClaimFinding | IdentificationFinding | ProductFinding, **own: object
) -> Plain:
    """A finding as plain data, after what it is about."""
    return {**own, "standing": f.status.name.lower(), "reason": f.reason}


def _said(status: AuditStatus, record: Mapping[str, Any]) -> str:
    """What is said of a record's verdict before the reason of its status."""
    if status is AuditStatus.FAILED:
        return ""
    if status is AuditStatus.UNCHECKED:
        return f"{kept_as(record['verdict'], record['date'])}: "
    return f"{record['verdict']}, "


class _Told:
    """Prints each finding at once: all that do not hold, and a screenful of those that do; counts them."""

    def __init__(self, *, every: bool, quiet: bool) -> None:
        self.counts = dict.fromkeys(AuditStatus, 0)
        self._every, self._quiet = every, quiet

    def line(self, status: AuditStatus, text: str) -> None:
        """One finding; `{}` in the text stands for its status."""
        self.counts[status] += 1
        if not self._quiet and (
            self._every or status is not AuditStatus.HOLDS or self.counts[status] <= SCREEN
        ):
            say(text.replace("{}", _WORD[status], 1))

    def answer(self, f: AuditFinding) -> None:
        """One finding about an answer."""
        self.line(f.status, f"{f.entry.id[:SHOWN]} {{}}: {_said(f.status, f.entry.record)}{f.reason}")

    def claim(self, c: ClaimFinding) -> None:
        """One finding about a claim."""
        said = f"kept as {c.verdict}, not checked" if c.status is AuditStatus.UNCHECKED else c.verdict
        self.line(c.status, f"{c.claim} of {c.unit} {{}}: {said}, {c.reason}")

    def end(self) -> None:
        """The counts."""
        if not self._every and self.counts[AuditStatus.HOLDS] > SCREEN:
            say(f"… {self.counts[AuditStatus.HOLDS] - SCREEN} more hold: --all lists them")
        hold, failed, unchecked, left = (self.counts[x] for x in _WORD)
        held = f"{hold} record{' holds' if hold == 1 else 's hold'}"
        say(f"{held}, {failed} failed, {unchecked} not re-checkable, {left} without an answer")
