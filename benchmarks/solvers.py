"""Every member of the portfolio alone, and the whole portfolio, on the same questions: a table of medians.

    python -m benchmarks.solvers

writes tcformal/solve/order.json, from which the portfolio takes the order of its members, and
benchmarks/solvers.md, the same table for people.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.questions import QUESTIONS, Asked
from tcformal.solve.certificate import CHECKER
from tcformal.solve.members import available, registry
from tcformal.solve.portfolio import KINDS, decide, kind_of, measured
from tcformal.solve.result import Limits
from tcformal.version import VERSION, processor

ROOT = Path(__file__).resolve().parents[1]
ORDER, TABLE = ROOT / "tcformal" / "solve" / "order.json", ROOT / "benchmarks" / "solvers.md"

#: A run that takes longer is not repeated.
REPEATED_BELOW_S = 2.0

PORTFOLIO = "all"

#: How much longer the first two members may take together when the second sees another encoding than the
#: first, which guards against what is wrong with one encoding, or hard in it.
SECOND_ENCODING = 1.25


@dataclass(frozen=True, slots=True)
class Run:
    """One question put to one member, or to all.

    Ranges and units: medians of wall seconds and of processor seconds, all of its processes together.
    """

    answer: str
    seconds: float
    processor_s: float

    @property
    def decided(self) -> bool:
        """Whether there was an answer."""
        return self.answer in ("sat", "unsat")

    def text(self) -> str:
        """The time, or why there is none."""
        return f"{self.seconds:.2f}" if self.decided else "–"


def run(asked: Asked, who: str, limits: Limits, repetitions: int) -> Run:
    """Ask one member, or all; proofs on our own clauses are checked, an SMT solver is believed."""
    graph, assertion = asked.build()
    members = None if who == PORTFOLIO else [who]
    proves = who == PORTFOLIO or registry[who].proves
    wall: list[float] = []
    processor: list[float] = []
    while True:
        start = os.times()
        decision = decide(graph, assertion, members=members, limits=limits, confirm=proves, certify=proves)
        spent = [now - then for now, then in zip(os.times(), start, strict=True)]
        wall.append(spent[-1])
        processor.append(sum(spent[:-1]))
        if len(wall) == repetitions or wall[0] > REPEATED_BELOW_S:
            return Run(decision.status.value, statistics.median(wall), statistics.median(processor))


def rank(seconds: Mapping[str, Sequence[float]], own: Collection[str]) -> list[str]:
    """The start order of members that minimises expected waiting, from their times on the same questions.

    Each place goes to the member with which those placed so far, each question being settled by the
    fastest of them, need the least time in all; between equals, to the one that needs less by itself.
    The second place goes to another encoding than the first one's unless that costs too much.
    Ranges and units: processor seconds, the time limit's double where a member gave no answer; `own` are the
    members on our own clauses.
    """
    order: list[str] = []
    best = [float("inf")] * max(map(len, seconds.values()), default=0)

    def together(name: str) -> float:
        return sum(map(min, best, seconds[name]))

    while left := [name for name in seconds if name not in order]:
        ranked = sorted(left, key=lambda name: (together(name), sum(seconds[name])))
        other = [name for name in ranked if order and (name in own) != (order[0] in own)]
        if len(order) == 1 and other and together(other[0]) <= SECOND_ENCODING * together(ranked[0]):
            ranked = other
        order.append(ranked[0])
        best = list(map(min, best, seconds[ranked[0]]))
    return order


def machine() -> dict[str, Any]:
    """The machine and the programs that were measured, and what else ran there at the start."""
    versions = {registry[name].distribution: registry[name].version for name in available()}
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "packages": {**versions, "tcformal": VERSION},
        "checker": CHECKER,
        "date": date.today().isoformat(),
    }


def learn(runs: dict[str, dict[str, Run]], kinds: dict[str, str], limits: Limits) -> dict[str, Any]:
    """For each kind of question the order of the members, their medians and how many they answered.

    Processor time is what counts, because it depends less on what else the machine does.
    """
    members = available()
    own = {name for name in members if registry[name].proves}
    table = {}
    for kind in sorted(set(kinds.values()), key=list(KINDS).index):
        mine = [name for name in runs if kinds[name] == kind]
        by_member = {member: [runs[name][member] for name in mine] for member in members}
        seconds = {
            member: [r.processor_s if r.decided else 2 * limits.time_s for r in row]
            for member, row in by_member.items()
        }
        table[kind] = {
            "order": rank(seconds, own),
            "questions": len(mine),
            "median_processor_s": {
                member: round(statistics.median(row), 2) for member, row in seconds.items()
            },
            "answered": {member: sum(r.decided for r in row) for member, row in by_member.items()},
        }
    return table


def faults(runs: dict[str, dict[str, Run]]) -> list[str]:
    """Answers that cannot be right: two that differ, or one that differs from what was known."""
    known = {asked.name: asked.expected for asked in QUESTIONS}
    found = []
    for name, row in runs.items():
        answers = {r.answer for r in row.values() if r.decided} | {known[name]} - {""}
        if len(answers) > 1 or "crash" in {r.answer for r in row.values()}:
            found.append(f"{name}: " + ", ".join(f"{who} {r.answer}" for who, r in row.items()))
    return found


def lines(runs: dict[str, dict[str, Run]], kinds: dict[str, str], columns: Sequence[str]) -> list[list[str]]:
    """The rows of the table: question, kind, answer, and the time of each column."""
    rows = []
    for name, row in runs.items():
        answer = next((r.answer for r in row.values() if r.decided), "none")
        rows.append([name, kinds[name], answer, *[row[column].text() for column in columns]])
    return rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], limits: Limits, repetitions: int) -> str:
    """The table for people."""
    about = machine()
    packages = ", ".join(f"{name} {version}" for name, version in about["packages"].items())
    text = [
        "# Solvers side by side",
        "",
        f"Written by `python -m benchmarks.solvers` on {about['date']}: {about['cpu']}, "
        f"{about['cores']} cores, load {about['load']}, Python {about['python']}, {packages}; "
        f"proofs checked by {about['checker']}.",
        "",
        f"Median wall seconds of {repetitions} runs, from the call to the answer (a run of more than "
        f"{REPEATED_BELOW_S:g} s is not repeated); – is no answer in {limits.time_s:g} s.  "
        f"{', '.join(n for n in available() if registry[n].proves)} include the check of their proof; "
        f"{', '.join(n for n in available() if not registry[n].proves)} are believed; "
        f"`{PORTFOLIO}` is the whole portfolio with a checked proof.",
        "",
    ]
    for row in (head, ["---"] * 3 + ["--:"] * (len(head) - 3), *rows):
        text.append("| " + " | ".join(row) + " |")
    return "\n".join(text) + "\n"


@click.command()
@click.option("--time-s", default=10.0, show_default=True, help="Time limit of each member.")
@click.option("--repetitions", default=3, show_default=True, help="Runs of each short question.")
def main(time_s: float, repetitions: int) -> None:
    """Measure every member and the portfolio, and write what was learnt."""
    limits, members = Limits(time_s, 8192, 0), available()
    columns = [*members, PORTFOLIO]
    kinds = {asked.name: kind_of(asked.build()[1]) for asked in QUESTIONS}
    runs: dict[str, dict[str, Run]] = {asked.name: {} for asked in QUESTIONS}
    about = machine()

    def measure(columns: Sequence[str]) -> None:
        for asked in QUESTIONS:
            for who in columns:
                runs[asked.name][who] = made = run(asked, who, limits, repetitions)
                times = f"{made.seconds:.2f} s, processor {made.processor_s:.2f} s"
                click.echo(f"{asked.name}: {who} {made.answer} {times}", err=True)

    measure(members)
    table = {"machine": about, "time_s": time_s, "kinds": learn(runs, kinds, limits)}
    ORDER.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    measured.cache_clear()
    measure([PORTFOLIO])

    head, rows = ["question", "kind", "answer", *columns], lines(runs, kinds, columns)
    shown = Table(*head[:3], *[f"{name}" for name in columns], box=None, padding=(0, 1, 0, 0))
    for row in rows:
        shown.add_row(*row)
    Console(width=100).print(shown)
    TABLE.write_text(markdown(head, rows, limits, repetitions), encoding="utf-8")
    wrong = faults(runs)
    for line in wrong:
        click.echo(f"error: expected answers that agree, but got {line}", err=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
