"""Views of kept answers: the list, one record in full, rows for export."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
from tcformal.report.text import SHOWN, table
from tcformal.simulation.operands.command import explain_command
from tcformal.simulation.operands.witness import Witness
from tcformal.store.answers import is_decided
from tcformal.store.audit.audit import AuditFinding, AuditStatus, State
from tcformal.store.claims import claim_id
from tcformal.store.store import Entry

#: The text of a cell without a value, in a damaged record.
_NOTHING = "?"


def row(entry: Entry) -> dict[str, Any]:
    """One record, unchecked, as a flat row: the question, the answer, its solvers.

    The verdict of the record is in `kept_as`: what nobody checked is UNKNOWN.  `state` says that nothing was
    checked, or that the record is damaged.
    """
    record, question = entry.record, entry.record["question"]
    try:
        entry.check()
        damaged = False
    except RecordError:
        damaged = True
    cells: dict[str, Any] = {
        "id": entry.id,
        "kind": _text(question.get("kind")),
        "verdict": unchecked_verdict(record),
        "kept_as": _text(record.get("verdict")),
        "first": _text(question.get("first") or question.get("unit") or _program(question.get("worse"))),
        "second": _text(
            question.get("second") or question.get("property") or question.get("form")
            or _program(question.get("other"))
        ),
        "k": _NOTHING if damaged else question.get("k") or question["products"],
        "formats": " ".join(f"{x}:{y}" for x, y in question["formats"].items()) if "formats" in question
        and not damaged else "",
        "assumptions": _NOTHING if damaged else "; ".join(question["assumptions"]),
        "reason": "", "witness": "", "results": "",
        "solvers": _NOTHING if damaged else ", ".join(_deciders(record)),
        "confirmed_by": _NOTHING if damaged else ", ".join(record["confirmed_by"]),
        "certificate": _NOTHING if damaged else (record["certificate"] or {}).get("sha256", ""),
        "seconds": _NOTHING if damaged else record["seconds"],
        "date": _text(record.get("date")),
        "tcformal": _text(record.get("tcformal")),
        "state": "damaged" if damaged else NOT_CHECKED,
        "question_sha256": entry.digest,
    }  # fmt: skip
    if not damaged:
        cells["reason"] = unchecked_reason(record)
    if not damaged and record["witness"] is not None:
        cells |= {"witness": _flat(record["witness"]), "results": _flat(record["results"]["results"])}
    return cells


def claim_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """One kept claim, unchecked, as a row beside those of answers."""
    return {
        "id": claim_id(record["claim"], record["unit"]), "kind": "claim",
        "verdict": unchecked_verdict(record), "kept_as": record["verdict"], "first": record["unit"],
        "second": record["claim"], "k": "", "formats": "", "assumptions": "",
        "reason": unchecked_reason(record), "witness": "", "results": "", "solvers": "", "confirmed_by": "",
        "certificate": "", "seconds": record["seconds"], "date": record["date"],
        "tcformal": record["tcformal"], "state": NOT_CHECKED, "question_sha256": "",
    }  # fmt: skip


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


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as comma-separated values under their names."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def results_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row per record."""
    made = table("id", "verdict", "units", "solver", "proof", "date", "remark")
    for r in rows:
        units = f"{r['first']}\n{r['second']}" + (f"\n{r['assumptions']}" if r["assumptions"] else "")
        proof = "yes" if r["certificate"] else "–"
        proof = "no" if proof == "–" and not r["witness"] else proof
        verdict, remark = r["verdict"], "" if r["state"] == NOT_CHECKED else r["state"]
        if verdict != r["kept_as"]:
            verdict, remark = f"{verdict}\nkept as\n{r['kept_as']}", remark or "not\nchecked"
        cells = (r["id"][:SHOWN], verdict, units, r["solvers"], proof, r["date"][:10], remark)
        made.add_row(*(Text(str(cell)) for cell in cells))
    for i in (0, 1, 4, 6):
        made.columns[i].no_wrap = True
    for i, width in ((3, 9), (5, 10)):
        made.columns[i].width = width
    return made


def _program(data: Any) -> Any:
    """The name of a program in a record, which may hold all of it."""
    return data.get("name") if isinstance(data, Mapping) else data


def _deciders(record: Mapping[str, Any]) -> list[str]:
    """The solvers that gave an answer."""
    return [a["name"] for a in record["solvers"] if a["answer"] in ("sat", "unsat")]


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
    head = Text(verdict, style="bold")
    head.append(f": {reason}", style="default not bold")
    lines = [head, Text(f"recorded reason: {record['reason']}")]
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
    answers = table("solver", "version", "answer", ">seconds", "remark")
    for a in record["solvers"]:
        cells = (a["name"], a["version"], a["answer"], f"{a['seconds']:.3f}", a["reason"])
        answers.add_row(*map(Text, cells))
    parts += [answers, *(Text(line) for line in _remarks(entry, state))]
    return Group(*parts)


def _witness(record: Mapping[str, Any]) -> list[RenderableType]:
    """The non-zero operands, and the results."""
    w = record["witness"]
    results = table("result of", "value")
    for name, value in record["results"]["results"].items():
        results.add_row(Text(record["question"].get(name, name)), Text(_both(value)))
    if record["question"]["kind"] == PROPERTY.name:
        made = table("input", "value")
        for name, value in w.items():
            if int(value["hex"], 16):
                made.add_row(name, Text(_both(value)))
        return [made, results]
    made = table(">k", "a[k]", "b[k]")
    pairs = list(zip(w["a"], w["b"], strict=True))
    shown = [i for i, pair in enumerate(pairs) if any(int(x["hex"], 16) for x in pair)]
    for i in shown:
        made.add_row(str(i), *(Text(_both(x)) for x in pairs[i]))
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
