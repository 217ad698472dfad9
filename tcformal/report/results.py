"""Views of kept answers: the list, one record in full, rows for export."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tcformal.query.command import explain_command
from tcformal.query.kept.audit import State
from tcformal.query.kept.store import Entry
from tcformal.query.spec import Witness
from tcformal.report.text import table

#: Digits of an id or digest that people are shown.
SHOWN = 12

#: What a cell holds where a damaged record has nothing to show.
_NOTHING = "?"


def row(entry: Entry, state: State) -> dict[str, Any]:
    """One record as a flat row: what was asked, what was found, who says so, and whether that is current."""
    record, question = entry.record, entry.record["question"]
    damaged = state is State.DAMAGED
    said: dict[str, Any] = {
        "id": entry.id,
        "verdict": record.get("verdict", _NOTHING),
        "first": question.get("first", _NOTHING),
        "second": question.get("second", _NOTHING),
        "k": question["k"],
        "formats": _NOTHING if damaged else " ".join(f"{x}:{y}" for x, y in question["formats"].items()),
        "assumptions": _NOTHING if damaged else "; ".join(question["assumptions"]),
        "witness_a": "", "witness_b": "", "witness_c": "", "witness_scale_a": "", "witness_scale_b": "",
        "first_result": "", "second_result": "",
        "solvers": _NOTHING if damaged else ", ".join(_deciders(record)),
        "confirmed_by": _NOTHING if damaged else ", ".join(record["confirmed_by"]),
        "certificate": _NOTHING if damaged else (record["certificate"] or {}).get("sha256", ""),
        "seconds": _NOTHING if damaged else record["seconds"],
        "date": record.get("date", _NOTHING),
        "tcformal": record.get("tcformal", _NOTHING),
        "state": state.name.lower(),
        "question_sha256": entry.digest,
    }  # fmt: skip
    if not damaged and record["witness"] is not None:
        w, results = record["witness"], record["results"]
        rows = ("a", "b", "scale_a", "scale_b")
        said |= {f"witness_{x}": " ".join(v["hex"] for v in w[x]) for x in rows}
        said |= {"witness_c": w["c"]["hex"]}
        said |= {f"{side}_result": results[side]["hex"] for side in ("first", "second")}
    return said


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
    made = table("id", "verdict", "units", "solver", "proof", "date", "state")
    for r in rows:
        units = f"{r['first']}\n{r['second']}" + (f"\n{r['assumptions']}" if r["assumptions"] else "")
        proof = "yes" if r["certificate"] else "no" if r["verdict"] in ("EQUIVALENT", "VACUOUS") else "–"
        cells = (r["id"][:SHOWN], r["verdict"], units, r["solvers"], proof, r["date"][:10], r["state"])
        made.add_row(*(Text(str(cell)) for cell in cells))
    for i in (0, 1, 4, 6):
        made.columns[i].no_wrap = True
    for i, width in ((3, 9), (5, 10)):
        made.columns[i].width = width
    return made


def _deciders(record: Mapping[str, Any]) -> list[str]:
    """The solvers that gave an answer."""
    return [a["name"] for a in record["solvers"] if a["answer"] in ("sat", "unsat")]


def record_command(record: Mapping[str, Any]) -> str:
    """The `tcformal explain` command that shows a record's witness bit by bit."""
    said, question = {**record["witness"], "c": [record["witness"]["c"]]}, record["question"]
    # As it was written then: the units may have gone since.
    texts: dict[tuple[str, int], str] = {}
    raws: dict[str, tuple[int, ...]] = {}
    for which in ("a", "b", "c", "scale_a", "scale_b"):
        raws[which] = tuple(int(x["hex"], 16) for x in said[which])
        for raw, x in zip(raws[which], said[which], strict=True):
            texts[which, raw] = x["hex"] if "nan" in x["value"] else x["value"]
    (c,) = raws["c"]
    w = Witness(raws["a"], raws["b"], c, raws["scale_a"], raws["scale_b"])
    names = [question["first"], question["second"]]
    return explain_command(names, w, lambda which, raw: texts[which, raw])


def record_view(entry: Entry, state: State) -> RenderableType:
    """Everything of one whole record, for people."""
    record, q = entry.record, entry.record["question"]
    head = Text(record["verdict"], style="bold")
    head.append(f": {record['reason']}", style="default not bold")
    formats = ", ".join(f"{x.upper()} {y}" for x, y in q["formats"].items())
    lines = [head, Text(f"units: {q['first']}\n       {q['second']}"), Text(f"K = {q['k']}; {formats}")]
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
    w = record["witness"]
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
    results = table("unit", "result")
    for side in ("first", "second"):
        results.add_row(Text(record["question"][side]), Text(_both(record["results"][side])))
    return [made, Text(tail), results]


def _both(x: Mapping[str, str]) -> str:
    return f"{x['value']} ({x['hex']})"


def _remarks(entry: Entry, state: State) -> list[str]:
    """The rest of a record, a line each."""
    record, limits, made = entry.record, entry.record["limits"], entry.record["certificate"]
    lines = [f"confirmed by: {', '.join(record['confirmed_by'])}"] if record["confirmed_by"] else []
    if made is not None:
        lines.append(
            f"certificate: {made['file']}, {made['steps']} steps of {made['format']} by {made['solver']}, "
            f"checked by {made['checker']} in {made['seconds']:.2f} s"
        )
    elif record["verdict"] in ("EQUIVALENT", "VACUOUS"):
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
