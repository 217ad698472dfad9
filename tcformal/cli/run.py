"""`run`: the questions of the papers, asked and compared with the expected answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from tcformal.analysis.asks import OPEN, Answered, check_asks, run
from tcformal.analysis.queryfile import Ask, QueryFile, find, known_queries, load
from tcformal.analysis.records import EXPORTS, held
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, Answer, json_option, main
from tcformal.cli.solver_options import SolverOptions, solver_options
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.files import write_whole
from tcformal.query.verdict import NOT_CHECKED
from tcformal.report.claim_view import claims_section
from tcformal.report.escape import Plain, say, warn
from tcformal.report.markdown import Section, markdown, table_lines
from tcformal.report.parts import telling
from tcformal.report.references import counted_references, references
from tcformal.report.results import exports_section
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


def query_data(query: QueryFile) -> Plain:
    """A query file as plain data."""
    return {
        "name": query.name, "title": query.title, "source": query.source, "formula": query.formula,
        "parameters": dict(query.parameters), "asks": len(query.concrete()),
    }  # fmt: skip


def listing(queries: Sequence[QueryFile], *, titles: bool) -> RenderableType:
    """The names of the queries, a folder on a line; or every query with its whole title and source."""
    if not titles:
        made = table("folder", "queries")
        for folder, group in groupby(queries, key=lambda x: x.name.partition("/")[0]):
            made.add_row(folder, ", ".join(x.name.partition("/")[2] for x in group))
        asks = sum(len(x.concrete()) for x in queries)
        return Group(Text(f"{len(queries)} queries with {asks} asks: tcformal run FOLDER/QUERY"), made)
    made = table("query", ">asks", "title", "source")
    made.columns[0].no_wrap = True
    for x in queries:
        made.add_row(x.name, str(len(x.concrete())), x.title, x.source)
    return made


def answered_data(a: Answered) -> Plain:
    """One answered ask as plain data."""
    return {
        "query": a.query, "ask": a.ask.name, "outcome": a.outcome, "expected": a.ask.expected,
        "as_expected": a.as_expected, "agreement": agreement(a).strip("*"), "checked": a.checked,
        "reported": a.ask.reported, "deviation": a.ask.deviation, "seconds": round(a.seconds, 3),
        "served": a.served, "answer": dict(a.answer),
    }  # fmt: skip


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
    open_ = [a for a in done if not a.as_expected]
    lines = [Text(_unexpected(a), "yellow" if a.outcome in OPEN or not a.checked else "red") for a in open_]
    return Group(Text(f"{_counted(done)}; {seconds:.1f} s in all"), made, *lines)


def answered_view(a: Answered) -> None:
    """Print one answer: its outcome and its relation to the source, and the commands that show it."""
    say(f"{a.outcome}: {a.query}, {a.ask.name}: {_found(a.answer)}")
    if a.ask.reported:
        say(f"the source says: {a.ask.reported}: {agreement(a).strip('*')}")
    for command in a.answer.get("commands", ()):
        say(command)


def _unexpected(a: Answered) -> str:
    """An answer that is not the expected one, and what is known of a kept one that was not checked."""
    why = "" if a.checked else f": {a.answer.get('reason', NOT_CHECKED)}"
    return f"{a.query}, {a.ask.name}: {a.outcome}, expected {a.ask.expected}{why}"


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
        "# Kept answers", "", f"{_counted(done)}.", "",
        f"Made by `tcformal run --all` (tcformal {VERSION}{_at(commit())}, {host()}).  `tcformal report` "
        "writes a page for each question: its source's statement, the answer, inputs, and the command.",
    ]  # fmt: skip
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


@main.command(name="run")
@click.argument("names", nargs=-1, metavar="QUERY...")
@click.option("--all", "every", is_flag=True, help="Every query that comes with the package.")
@click.option(
    "--list", "listed", is_flag=True, help="List the queries instead; with --all, their sources too."
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@click.option("--only", metavar="TEXT", help="Only the asks that have TEXT in their names.")
@click.option("--statements", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write each query as a text for the authors of its source: statement, inputs, "
              "both results.")  # fmt: skip
@solver_options("memory_limit", "seed")
@json_option
def run_queries(
    names: Sequence[str], every: bool, listed: bool, settings: Sequence[str], only: str | None,
    statements: Path | None, how: SolverOptions,
) -> Answer:  # fmt: skip
    """Ask the questions of query files (names or paths) and compare the answers with the expected ones.

    With --all, REPORT.md in the results folder counts the answers, and the kept verdicts on claims.

    \b
    A file of your own, asked by `tcformal run mine.toml` (all keys: queries/README.md):
      title = "Do three carry bits suffice for five terms?"
      source = "VALPEY §4.3"
      [[ask]]
      name = "3 bits or 4"
      separate = ["valpey@terms=5,carry_bits=3", "valpey@terms=5,carry_bits=4"]
      expected = "EQUIVALENT"
    """
    if bool(names) == (every or listed):
        raise InputError("expected names of queries, or --all, or --list, but got none or both")
    files = [find(name) for name in names] or [load(path, name) for name, path in known_queries().items()]
    if listed:
        more = [] if every else [Text("--list --all: with titles and sources", style="dim")]
        return Answer([query_data(f) for f in files], Group(listing(files, titles=every), *more))
    store = how.opened()
    given = _settings(settings)
    asked = [(f, [ask for ask in f.concrete(given) if only is None or only in ask.name]) for f in files]
    if not any(asks for _, asks in asked):
        raise InputError(f"expected an ask with {only!r} in its name, but found none")
    for query, asks in asked:
        check_asks(query, asks)
    start = time.monotonic()
    done = _run_all(asked, how)
    if every and only is None:
        folder = Path(how.folder)
        sections = (
            claims_section(store.claims.all()), counted_references([*references(folder, warn)]),
            exports_section(held(folder / EXPORTS, warn)),
        )  # fmt: skip
        write_whole(folder / "REPORT.md", report_text(done, sections).encode())
    if statements is not None:
        write_statements(statements, [f for f, _ in asked], done)
    code = OK if all(a.as_expected for a in done) else OTHERWISE
    if any(a.outcome in OPEN or not a.checked for a in done):
        code = NO_ANSWER
    return Answer([answered_data(a) for a in done], summary(done, time.monotonic() - start), code)


def _settings(texts: Sequence[str]) -> dict[str, str]:
    made = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"expected --set NAME=VALUE, but got {text!r}")
        made[name] = value
    return made


def _run_all(asked: Sequence[tuple[QueryFile, list[Ask]]], how: SolverOptions) -> list[Answered]:
    """Run every ask of every file, with a progress bar that names the current one."""
    done: list[Answered] = []
    total = sum(len(asks) for _, asks in asked)
    with telling("") as tell:
        for query, asks in asked:
            tell(query.name, len(done), total)
            for answered in run(query, asks, how):
                done.append(answered)
                tell(query.name, len(done), total)
    return done
