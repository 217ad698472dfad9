"""Query files and their answers for people: a listing, summaries, and texts for the authors of sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.analysis.asks import OPEN, Answered
from tcformal.analysis.queryfile import QueryFile
from tcformal.design.names import resolve
from tcformal.files import write_whole
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.sections import Section, markdown, table_lines
from tcformal.report.text import table
from tcformal.simulation.operands.witness import Witness, by_value, explain_command
from tcformal.version import VERSION, commit, host

#: How an answer compares with what its source says.
AGREEMENTS = ("agrees", "deviates", "asks something else")

_HEADS = (">", "question", "assumptions", "source", "answer", "agreement", ">seconds", "evidence")

#: Values of inputs that a line gives: a product of matrices has thousands.
_SHOWN = 64

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


def listing(queries: Sequence[QueryFile], *, sources: bool) -> RenderableType:
    """Every query: on a line, or with its whole title and source."""
    made = table("query", ">asks", "title", *(["source"] if sources else []))
    made.columns[0].no_wrap = True
    for query in queries:
        more = [query.source] if sources else []
        made.add_row(query.name, str(len(query.concrete())), query.title, *more)
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


def _why(a: Answered) -> str:
    """What is known of a kept answer that was not checked."""
    return "" if a.checked else f": {a.answer.get('reason', NOT_CHECKED)}"


def _style(a: Answered) -> str:
    if a.as_expected:
        return "green"
    return "yellow" if a.outcome in OPEN or not a.checked else "red"


def summary(done: Sequence[Answered], seconds: float) -> RenderableType:
    """One line for each query, and in full each ask whose outcome is not the expected one."""
    made = table("query", ">asks", *(f">{name}" for name in AGREEMENTS), ">open", ">seconds")
    for name, group in groupby(done, key=lambda a: a.query):
        asks = list(group)
        counts = Counter(agreement(a) for a in asks)
        left = sum(not a.as_expected for a in asks)
        made.add_row(
            name, str(len(asks)), *(str(counts[agreed]) for agreed in AGREEMENTS),
            Text(str(left), style="red" if left else "green"), f"{sum(a.seconds for a in asks):.2f}",
        )  # fmt: skip
    parts: list[RenderableType] = [made]
    for a in done:
        if not a.as_expected:
            parts.append(
                Text(
                    f"{a.query}, {a.ask.name}: {a.outcome}, expected {a.ask.expected}{_why(a)}",
                    style=_style(a),
                )
            )
    parts.append(Text(f"{_counted(done)}; {seconds:.1f} s in all", style="dim"))
    return Group(*parts)


def agreement(a: Answered) -> str:
    """The relation of an answer to its source: it agrees, it deviates, or the source asks something else.

    Empty for an outcome that is not the expected one, and for one that was not checked in this run.
    """
    if not a.as_expected:
        return f"**expected {a.ask.expected}**" if a.checked else "**not checked**"
    if not a.ask.reported:
        return AGREEMENTS[2]
    return AGREEMENTS[1] if a.ask.deviation else AGREEMENTS[0]


def _counted(done: Sequence[Answered]) -> str:
    """How many answers agree with their source, deviate from it, or are to something else."""
    counts = Counter(agreement(a) for a in done)
    agrees, deviates, other = (counts[name] for name in AGREEMENTS)
    return (
        f"{len(done)} questions: {agrees} answers agree with the source, {deviates} deviate from it, {other} "
        f"are to something that the source does not ask, {sum(not a.as_expected for a in done)} are open"
    )


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
    if "parts" in answer:
        return _refuted(number, answer)
    if "witness" not in answer:
        return []
    w = answer["witness"]
    rows = [(f"{x}[{i}]", v) for x in ("a", "b") for i, v in enumerate(w.get(x, ()))]
    rows = [(name, v) for name, v in (*rows, ("c", w.get("c"))) if v]
    given = ", ".join(f"{name} = {v['value']}" for name, v in rows[:_SHOWN])
    if len(rows) > _SHOWN:
        given += f" and {len(rows) - _SHOWN} more values: `tcformal run {a.query} --json`"
    commands = [f"`{command}`" for command in answer.get("commands", ())] or [given]
    return [f"{number}. {commands[0]}", *(f"   {command}" for command in commands[1:])]


def _refuted(number: int, claim: Mapping[str, Any]) -> list[str]:
    """The commands that show each refuted part of a claim: the unit on its inputs."""
    spec = resolve(claim["unit"])
    lines = []
    for part in claim["parts"]:
        if part["control"] or "witness" not in part:
            continue
        said = part["witness"]
        rows = [said["inputs"], *([said["second_inputs"]] if "second_inputs" in said else [])]
        given = [Witness.of({name: int(text, 16) for name, text in row.items()}) for row in rows]
        shown = [explain_command([spec.name], w, by_value(spec), command="eval") for w in given]
        lines += [f"{number}. {part['name']}: `{shown[0]}`", *(f"   `{command}`" for command in shown[1:])]
    return lines


def _at(text: str) -> str:
    return f" at commit {text}" if text else ""


def _made_by(mine: Sequence[Answered]) -> list[str]:
    """The versions, commits, days and machines of the answers of a table."""
    solvers = [s for a in mine for s in a.answer.get("solvers", ()) if s["answer"] in _GIVEN]
    versions = {f"{s['name']} {s['version']}" for s in solvers}
    given = [a for a in mine if "tcformal" in a.answer]
    versions |= {f"tcformal {a.answer['tcformal']}{_at(str(a.answer.get('commit', '')))}" for a in given}
    days = sorted({a.served[:10] for a in mine if a.served})
    dates = " to ".join(dict.fromkeys((*days[:1], *days[-1:])))
    # What is evaluated anew in each run, such as golden inputs, is evaluated here.
    machines = {str(a.answer.get("machine", "")) or "a machine that was not recorded" for a in given}
    machines |= {host() for a in mine if "tcformal" not in a.answer}
    who = "; ".join(text for text in (", ".join(sorted(versions)), dates) if text)
    where = f"Machine: {'; '.join(sorted(machines))}."
    return [f"Answered by {who}. {where}" if who else where]


def report_text(done: Sequence[Answered], sections: Sequence[Section]) -> str:
    """The summary of all answers in Markdown; `tcformal report` has a page for each query."""
    lines = [
        "# Kept answers",
        "",
        f"{_counted(done)}.",
        "",
        f"Made by `tcformal run --all` (tcformal {VERSION}{_at(commit())}, {host()}).  `tcformal report` "
        "writes a page for each question: its source's statement, the answer, inputs, and the command.",
    ]
    return "\n".join([*lines, *(line for section in sections for line in markdown(section))]) + "\n"


def _section(query: QueryFile, done: Sequence[Answered]) -> list[str]:
    """The source's statement, every ask with its answer, and the inputs."""
    mine = [a for a in done if a.query == query.name]
    lines = [f"`{query.name}` · {query.source}", ""]
    if query.formula:
        lines += ["```", query.formula.strip(), "```", ""]
    if query.note:
        lines += [" ".join(query.note.split()), ""]
    rows = [
        (
            str(number), a.ask.name, "; ".join(a.answer.get("assumptions", ())), a.ask.reported, a.outcome,
            agreement(a), f"{a.seconds:.2f}", _found(a.answer),
        )
        for number, a in enumerate(mine, 1)
    ]  # fmt: skip
    lines += table_lines(_HEADS, rows)
    given = [line for number, a in enumerate(mine, 1) for line in _inputs(number, a)]
    if given:
        lines += ["", "Inputs:", "", *given]
    for text in dict.fromkeys(a.ask.deviation for a in mine if a.ask.deviation):
        lines += ["", f"Deviation: {' '.join(text.split())}"]
    return [*lines, "", *_made_by(mine)] if mine else lines


def statement_text(query: QueryFile, done: Sequence[Answered]) -> str:
    """A query as a text to send to the authors of its source: statement, inputs, both results."""
    again = f"Sources of each design: `tcformal units DESIGN`; again: `tcformal run {query.name} --fresh`."
    return "\n".join([f"# {query.title}", "", *_section(query, done), "", again]) + "\n"


def write_statements(path: Path, queries: Sequence[QueryFile], done: Sequence[Answered]) -> None:
    """Write the text of each query into a folder."""
    for query in queries:
        write_whole(path / f"{query.name.replace('/', '-')}.md", statement_text(query, done).encode())
