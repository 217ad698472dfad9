"""Query files and their answers for people: a listing, a summary, and the report of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.query.papers.files import QueryFile
from tcformal.query.papers.run import OPEN, Answered
from tcformal.records.lines import write_whole
from tcformal.report.text import table


def query_data(query: QueryFile) -> dict[str, Any]:
    """A file as plain data."""
    return {
        "name": query.name,
        "title": query.title,
        "source": query.source,
        "formula": query.formula,
        "parameters": dict(query.parameters),
        "asks": len(query.concrete()),
    }


def listing(queries: Sequence[QueryFile]) -> RenderableType:
    """Every query with its source."""
    made = table("query", "title", "source", ">asks")
    for query in queries:
        made.add_row(query.name, query.title, query.source, str(len(query.concrete())))
    return made


def answered_data(a: Answered) -> dict[str, Any]:
    """One answered ask as plain data."""
    return {
        "query": a.query,
        "ask": a.ask.name,
        "outcome": a.outcome,
        "expected": a.ask.expected,
        "as_expected": a.as_expected,
        "reported": a.ask.reported,
        "deviation": a.ask.deviation,
        "seconds": round(a.seconds, 3),
        "served": a.served,
        "answer": dict(a.answer),
    }


def _style(a: Answered) -> str:
    if a.as_expected:
        return "green"
    return "yellow" if a.outcome in OPEN else "red"


def summary(done: Sequence[Answered], seconds: float) -> RenderableType:
    """One line for each query, and each ask that did not come out as expected in full."""
    made = table("query", ">asks", ">as expected", ">seconds")
    for name, group in groupby(done, key=lambda a: a.query):
        asks = list(group)
        good = sum(a.as_expected for a in asks)
        made.add_row(
            name, str(len(asks)), Text(str(good), style="green" if good == len(asks) else "red"),
            f"{sum(a.seconds for a in asks):.2f}",
        )  # fmt: skip
    parts: list[RenderableType] = [made]
    for a in done:
        if not a.as_expected:
            parts.append(
                Text(f"{a.query}, {a.ask.name}: {a.outcome}, expected {a.ask.expected}", style=_style(a))
            )
    good = sum(a.as_expected for a in done)
    parts.append(Text(f"{good} of {len(done)} answered as expected; {seconds:.1f} s in all", style="dim"))
    return Group(*parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _found(answer: Mapping[str, Any]) -> str:
    """What an answer found, in a few words: inputs that are not zero, results, or who proved it."""
    if "excess_ulps" in answer:
        return f"{answer['reason']}; {_witness(answer)}" if "witness" in answer else str(answer["reason"])
    if "witness" in answer and "property" in answer:
        inputs = answer["witness"].items()
        given = ", ".join(f"{name} = {v['value']}" for name, v in inputs if int(v["hex"], 16))
        results = "; ".join(f"{label} = {r['value']}" for label, r in answer["results"].items())
        return f"{given or 'all zero'}: {results}"
    if "witness" in answer:
        return _witness(answer)
    if "stated" in answer:
        return f"{answer['unit']}: {answer['results']['integers']['value']}"
    made = answer.get("certificate")
    if made is not None:
        return f"proved by {made['solver']}, {made['steps']} steps checked by {made['checker']}"
    return str(answer.get("reason", ""))


def _witness(answer: Mapping[str, Any]) -> str:
    """The products that are not zero, c, and the results."""
    w = answer["witness"]
    pairs = [(x, y) for x, y in zip(w["a"], w["b"], strict=True) if int(x["hex"], 16) or int(y["hex"], 16)]
    terms = ["·".join(f"({v['value']})" for v in pair) for pair in pairs] + [f"({w['c']['value']})"]
    return f"{' + '.join(terms)}: {_results(answer)}"


def _results(answer: Mapping[str, Any]) -> str:
    """Both results of a witness; of two algorithms, with their names and errors."""
    results, errors = answer["results"], answer.get("errors")
    if errors is None:
        return f"{results['first']['value']} and {results['second']['value']}"
    return "; ".join(f"{name} {r['value']}, error {errors[name]}" for name, r in results.items())


def write_report(path: Path, queries: Sequence[QueryFile], done: Sequence[Answered]) -> None:
    """Write the report of all queries: what the sources say beside what we found."""
    good = sum(a.as_expected for a in done)
    lines = [
        "# The questions of the papers, asked and answered",
        "",
        f"{good} of {len(done)} questions answered as expected. Made by `tcformal run --all`; times are wall "
        "seconds of the answer when it was given, solver processes, checking and shrinking included.",
    ]
    for query in queries:
        lines += ["", f"## {query.title}", "", f"`{query.name}` · {query.source}", ""]
        if query.formula:
            lines += ["```", query.formula.strip(), "```", ""]
        if query.note:
            lines += [" ".join(query.note.split()), ""]
        lines += ["| question | the source | we | seconds | found |", "|---|---|---|---:|---|"]
        mine = [a for a in done if a.query == query.name]
        for a in mine:
            ours = a.outcome if a.as_expected else f"**{a.outcome}**, expected {a.ask.expected}"
            row = (a.ask.name, a.ask.reported, ours, f"{a.seconds:.2f}", _found(a.answer))
            lines.append(f"| {' | '.join(_cell(text) for text in row)} |")
        deviations = dict.fromkeys(a.ask.deviation for a in mine if a.ask.deviation)
        for text in deviations:
            lines += ["", f"Deviation: {' '.join(text.split())}"]
    write_whole(path, ("\n".join(lines) + "\n").encode())
