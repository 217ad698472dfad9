"""Views of kept answers: the list, one record in full, rows for export."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.analysis.exported import ExportRecord
from tcformal.design.catalog import catalogue, distinct_designs
from tcformal.errors import RecordError
from tcformal.programs.chain import definition
from tcformal.query.kinds.comparison.programs import PROGRAMS
from tcformal.query.kinds.equality import EQUALITY
from tcformal.query.kinds.property.kind import PROPERTY
from tcformal.query.question import Kind
from tcformal.query.verdict import NOT_CHECKED, kept_as
from tcformal.report.markdown import Section
from tcformal.report.text import SHOWN, headline, table
from tcformal.simulation.operands.command import explain_command
from tcformal.simulation.operands.witness import Witness
from tcformal.store.answers import is_decided
from tcformal.store.audit.audit import AuditFinding, AuditStatus, State
from tcformal.store.claims import claim_id
from tcformal.store.store import Entry

#: The text of a cell without a value, in a damaged record.
_NOTHING = "?"


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
        id=entry.id, kind=_text(q.get("kind")), verdict=unchecked_verdict(record),
        kept_as=_text(record.get("verdict")),
        first=_text(q.get("first") or q.get("unit") or _program(q.get("worse"))),
        second=_text(q.get("second") or q.get("property") or q.get("form") or _program(q.get("other"))),
        k=_NOTHING, assumptions=_NOTHING, solvers=_NOTHING, confirmed_by=_NOTHING, certificate=_NOTHING,
        seconds=_NOTHING, date=_text(record.get("date")), tcformal=_text(record.get("tcformal")),
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


def unchecked_verdict(record: Mapping[str, Any]) -> str:
    """The verdict of a record that nobody checked: UNKNOWN where it is decided."""
    return Kind.UNKNOWN.name if is_decided(record) else _text(record.get("verdict"))


def unchecked_reason(record: Mapping[str, Any]) -> str:
    """The reason of `unchecked_verdict`."""
    return kept_as(record["verdict"], record["date"]) if is_decided(record) else str(record["reason"])


def _text(value: Any) -> str:
    """The text of a cell; `?` for a missing or damaged one."""
    return value if isinstance(value, str) else _NOTHING


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
    """One row per record."""
    made = table("id", "verdict", "units", "solver", "proof", "date", "remark")
    for r in rows:
        units = f"{r.first}\n{r.second}" + (f"\n{r.assumptions}" if r.assumptions else "")
        proof = "yes" if r.certificate else "–" if r.witness else "no"
        verdict, remark = r.verdict, "" if r.state == NOT_CHECKED else r.state
        if verdict != r.kept_as:
            verdict, remark = f"{verdict}\nkept as\n{r.kept_as}", remark or "not\nchecked"
        made.add_row(r.id[:SHOWN], verdict, units, r.solvers, proof, r.date[:10], remark)
    for i in (0, 1, 4, 6):
        made.columns[i].no_wrap = True
    for i, width in ((3, 9), (5, 10)):
        made.columns[i].width = width
    return made


def _program(data: Any) -> Any:
    """The name of a program in a record, which may hold all of it."""
    return data.get("name") if isinstance(data, Mapping) else data


def record_command(record: Mapping[str, Any]) -> str | None:
    """The `tcformal explain` command that shows a separating witness; None for other kinds."""
    question = record["question"]
    if question["kind"] != EQUALITY.name:
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
    if q["kind"] == EQUALITY.name:
        lines.append(Text(f"units: {q['first']}\n       {q['second']}"))
    elif q["kind"] == PROGRAMS.name:
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
    if record["question"]["kind"] == PROPERTY.name:
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


def exports_section(kept: Iterable[ExportRecord]) -> Section:
    """How many exported designs the tools of their users took, and how they ran; today's definitions only."""
    found: dict[str, list[ExportRecord]] = defaultdict(list)
    distinct = distinct_designs()
    for r in kept:
        if r.unit in distinct and r.definition == definition(catalogue()[r.unit]):
            found[r.to].append(r)
    rows = []
    for to, mine in found.items():
        tools = ", ".join(dict.fromkeys(tool for r in mine for tool in r.tools))
        least = min((r.vectors for r in mine if not r.refused), default=0)
        counts = [len(mine), sum(bool(r.refused) for r in mine), least, sum(r.mismatches for r in mine)]
        rows.append((to, tools, *(f"{n:,}" for n in counts)))
    return Section(
        "Designs for other tools",
        f"Files that tcformal export writes of the {len(distinct)} distinct designs, read by tools of their "
        "users and run on the same random inputs: all results but the mismatches are those of integers.  By "
        "python -m benchmarks.exports; kept, not re-checked.",
        ("format", "tools", ">designs", ">refused", ">inputs of each", ">mismatches"),
        rows,
    )
