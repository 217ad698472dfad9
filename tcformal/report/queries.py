"""Query files and their answers for people: a listing, a summary, and the report of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.files.write import write_whole
from tcformal.papers.files import QueryFile
from tcformal.papers.run import OPEN, Answered
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.text import table
from tcformal.version import VERSION, host

#: The solvers' answers that count.
_GIVEN = ("sat", "unsat")


def query_data(query: QueryFile) -> dict[str, Any]:
    """A query file as plain data."""
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
        "agreement": agreement(a).strip("*"),
        "checked": a.checked,
        "reported": a.ask.reported,
        "deviation": a.ask.deviation,
        "seconds": round(a.seconds, 3),
        "served": a.served,
        "answer": dict(a.answer),
    }


def _style(a: Answered) -> str:
    if a.as_expected:
        return "green"
    return "yellow" if a.outcome in OPEN or not a.checked else "red"


def summary(done: Sequence[Answered], seconds: float) -> RenderableType:
    """One line for each query, and in full each ask whose outcome is not the expected one."""
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
                Text(f"{a.query}, {a.ask.name}: {a.headline}, expected {a.ask.expected}", style=_style(a))
            )
    good = sum(a.as_expected for a in done)
    parts.append(Text(f"{good} of {len(done)} answered as expected; {seconds:.1f} s in all", style="dim"))
    return Group(*parts)


def agreement(a: Answered) -> str:
    """The relation of an answer to its source: it agrees, it deviates, or the source asks something else.

    Empty for an outcome that is not the expected one, and for one that was not checked in this run.
    """
    if not a.as_expected:
        return f"**expected {a.ask.expected}**" if a.checked else f"**{NOT_CHECKED}**"
    if not a.ask.reported:
        return "not in the source"
    return "deviates" if a.ask.deviation else "agrees"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _found(answer: Mapping[str, Any]) -> str:
    """The outcome of an ask in a few words: results, or the solver that proved it."""
    if "excess_ulps" in answer:
        return str(answer["reason"])
    if "witness" in answer:
        errors = answer.get("errors", {})
        return "; ".join(
            f"{name} {r['value']}" + (f", error {errors[name]}" if name in errors else "")
            for name, r in answer["results"].items()
        )
    if "stated" in answer:
        return str(answer["results"]["integers"]["value"])
    made = answer.get("certificate")
    if made is not None:
        return f"proved by {made['solver']}, {made['steps']} steps checked by {made['checker']}"
    return str(answer.get("reason", ""))


def _inputs(number: int, a: Answered) -> list[str]:
    """The lines below a table that give the inputs of one answer: commands, or the texts of split inputs."""
    answer = a.answer
    if "witness" not in answer:
        return []
    w = answer["witness"]
    rows = [(f"{x}[{i}]", v) for x in ("a", "b") for i, v in enumerate(w.get(x, ()))]
    given = ", ".join(f"{name} = {v['value']}" for name, v in [*rows, ("c", w.get("c"))] if v)
    commands = [f"`{command}`" for command in answer.get("commands", ())] or [given]
    return [f"{number}. {commands[0]}", *(f"   {command}" for command in commands[1:])]


def _made_by(mine: Sequence[Answered]) -> str:
    """The versions and dates of the answers of a table."""
    solvers = [s for a in mine for s in a.answer.get("solvers", ()) if s["answer"] in _GIVEN]
    versions = {f"{s['name']} {s['version']}" for s in solvers}
    versions |= {f"tcformal {a.answer['tcformal']}" for a in mine if "tcformal" in a.answer}
    days = sorted({a.served[:10] for a in mine if a.served})
    dates = " to ".join(dict.fromkeys((*days[:1], *days[-1:])))
    return "; ".join(text for text in (", ".join(sorted(versions)), dates) if text)


def report_text(queries: Sequence[QueryFile], done: Sequence[Answered]) -> str:
    """The report of all queries: the statements of the sources beside the answers found."""
    counts = Counter(agreement(a) for a in done)
    lines = [
        "# The questions of the papers, asked and answered",
        "",
        f"{len(done)} questions: {counts['agrees']} answers agree with their source, {counts['deviates']} "
        f"deviate from it, {counts['not in the source']} answer questions that are not in the source, "
        f"{sum(not a.as_expected for a in done)} are open. Written by `tcformal run --all` "
        f"(tcformal {VERSION}, {host()}); times are wall seconds of the original answer, including solver "
        "processes, checks and shrinking.",
    ]
    for query in queries:
        mine = [a for a in done if a.query == query.name]
        lines += ["", f"## {query.title}", "", f"`{query.name}` · {query.source}", ""]
        if query.formula:
            lines += ["```", query.formula.strip(), "```", ""]
        if query.note:
            lines += [" ".join(query.note.split()), ""]
        lines += [
            "| | question | assumptions | source | answer | agreement | seconds | evidence |",
            "|--:|---|---|---|---|---|---:|---|",
        ]
        for number, a in enumerate(mine, 1):
            assumed = "; ".join(a.answer.get("assumptions", ()))
            row = (str(number), a.ask.name, assumed, a.ask.reported, a.outcome, agreement(a),
                   f"{a.seconds:.2f}", _found(a.answer))  # fmt: skip
            lines.append(f"| {' | '.join(_cell(text) for text in row)} |")
        given = [line for number, a in enumerate(mine, 1) for line in _inputs(number, a)]
        if given:
            lines += ["", "Inputs:", "", *given]
        for text in dict.fromkeys(a.ask.deviation for a in mine if a.ask.deviation):
            lines += ["", f"Deviation: {' '.join(text.split())}"]
        made = _made_by(mine)
        if made:
            lines += ["", f"Answered by {made}."]
    return "\n".join(lines) + "\n"


def write_report(path: Path, queries: Sequence[QueryFile], done: Sequence[Answered]) -> None:
    """Write the report of all queries."""
    write_whole(path, report_text(queries, done).encode())
