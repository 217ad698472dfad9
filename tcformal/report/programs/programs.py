"""Programs for people and as plain data: cards, lists, comparisons, traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.errors import TcformalError
from tcformal.oracle.numerals import number_text
from tcformal.oracle.values import format_value, hex_word
from tcformal.programs.program import Program
from tcformal.query.explain.program_trace import ProgramStage, ProgramTrace
from tcformal.query.programs import ProgramsCompared
from tcformal.report.data import explanation_data
from tcformal.report.text import table, value_and_hex, with_decimal

#: Elements of a vector that are shown.
_SHOWN = 4


def program_data(p: Program) -> dict[str, Any]:
    """A program as plain data."""
    return {
        "name": p.name, "title": p.title, "source": p.source, "note": p.note.strip(),
        "inputs": {letter: _format(p, letter) for letter in "abc"}, "parameters": dict(p.parameters),
        "body": p.body.strip("\n"),
    }  # fmt: skip


def _format(p: Program, letter: str) -> str:
    try:
        return p.input_format(letter).name
    except TcformalError:
        return str(p.inputs[letter])


def programs_table(programs: Sequence[Program]) -> RenderableType:
    """One row for each program."""
    made = table("program", "a · b + c", "what it computes")
    for p in programs:
        formats = [_format(p, letter) for letter in "abc"]
        made.add_row(p.name, f"{formats[0]} · {formats[1]} + {formats[2]}", p.title)
    return made


def program_card(p: Program, products: int | None) -> RenderableType:
    """A program's text, parameters and source; with a length, its steps."""
    data = program_data(p)
    lines = [p.title, f"source: {p.source}"]
    lines.append("inputs: " + ", ".join(f"{k} in {v}" for k, v in data["inputs"].items()))
    lines += [f"parameter {key} = {value}" for key, value in p.parameters.items()]
    parts: list[RenderableType] = [Text(p.name, style="bold"), Text("\n".join(lines))]
    if data["note"]:
        parts.append(Text(data["note"], style="dim"))
    parts.append(Text("\n" + data["body"]))
    if products is not None:
        made = table("step", "format", "what")
        for step in p.plan(products).steps:
            made.add_row(step.name, "" if step.fmt is None else step.fmt.name, step.text)
        parts += [Text(f"\nsteps for {products} products:"), made]
    return Group(*parts)


def compared_view(r: ProgramsCompared) -> RenderableType:
    """A comparison for people: verdict, means, inputs, results and errors."""
    style = {"VIOLATED": "bold red", "HOLDS": "bold green"}.get(r.kind.name, "bold yellow")
    head = Text(r.kind.name, style=style)
    head.append(f": {r.reason}", style="default not bold")
    parts: list[RenderableType] = [head, Text("assumed: " + "; ".join(r.asked.texts()))]
    if r.drawn is not None:
        d = r.drawn
        counts = f"rows: {d.tried} tried, {d.compared} compared; worse {d.worse}, better {d.better}"
        if d.excess is not None:
            unit = "ulp" if r.asked.measure == "ulp" else "of Σ|a·b|"
            counts += f"; largest excess {float(d.excess):.4g} {unit}"
        parts.append(Text(counts))
    if r.witness is not None and r.results is not None:
        parts += _witness(r)
    means = f"means: {r.means}; {r.seconds:.2f} s"
    parts.append(Text(means, style="dim"))
    return Group(*parts)


def _witness(r: ProgramsCompared) -> list[RenderableType]:
    w, formats = r.witness, r.asked.formats
    if w is None or r.results is None:
        return []
    rows = table(">k", "a[k]", "b[k]")
    live = [i for i in range(len(w.a)) if w.a[i] or w.b[i]]
    for i in live[:16]:
        rows.add_row(str(i), value_and_hex(formats["a"], w.a[i]), value_and_hex(formats["b"], w.b[i]))
    rest = len(w.a) - len(live[:16])
    tail = f"c = {value_and_hex(formats['c'], w.c)}" + (f"; {rest} products more" if rest else "")
    made = table("program", "result", "encoding", "error in ulp")
    run = None if r.verdict is None else r.verdict.replayed
    ulps = [None, None] if run is None or run.ulps is None else list(run.ulps)
    for label, raw, fmt, error in zip(r.asked.labels, r.results, r.asked.result_formats, ulps, strict=True):
        text = "" if error is None else f"{float(error):.6g}"
        made.add_row(label, with_decimal(fmt, raw), hex_word(fmt, raw), text)
    parts: list[RenderableType] = [rows, Text(tail), made]
    if run is not None and run.exact is not None:
        parts.append(Text(f"exact: {number_text(run.exact)}"))
    return parts


def trace_view(trace: ProgramTrace) -> RenderableType:
    """Every stage of a program, with its value."""
    made = table("stage", "what", "value")
    for stage in trace.stages:
        made.add_row(stage.name, stage.text, _words(stage))
    fmt = trace.fmt
    result = Text(f"d = {with_decimal(fmt, trace.result)} ({hex_word(fmt, trace.result)})", style="bold")
    return Group(Text(trace.program.name, style="bold"), made, result)


def _words(stage: ProgramStage) -> str:
    texts = [value_and_hex(stage.fmt, x) for x in stage.words[:_SHOWN]]
    rest = len(stage.words) - len(texts)
    return "\n".join([*texts, f"… {rest} more"] if rest else texts)


def trace_data(trace: ProgramTrace) -> dict[str, Any]:
    """Every stage of a program as plain data, calls with their own."""
    fmt = trace.fmt
    stages = []
    for stage in trace.stages:
        row: dict[str, Any] = {
            "name": stage.name, "what": stage.text, "format": stage.fmt.name,
            "values": [format_value(stage.fmt, x) for x in stage.words],
            "hex": [hex_word(stage.fmt, x) for x in stage.words],
        }  # fmt: skip
        if stage.trace is not None:
            row["call"] = explanation_data([stage.trace])["units"][0]
        stages.append(row)
    return {
        "program": trace.program.name, "stages": stages, "value": format_value(fmt, trace.result),
        "hex": hex_word(fmt, trace.result),
    }  # fmt: skip
