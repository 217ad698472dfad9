"""VALPEY's Table 4: each of its ten queries, our time beside the paper's, on one page.

    python -m benchmarks.table4

writes benchmarks/table4.md.  A query's questions are those of its file under queries/valpey: the time is
that of one answer, assumptions, solvers, checking of the proof, replay and shrinking included, nothing
served from the store; the slowest of the file's questions counts, each as the median of its repetitions.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from datetime import date
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from tcformal.analysis.queryfile import Ask, find
from tcformal.design.names import resolve
from tcformal.query.assume import from_texts
from tcformal.query.comparison.error_comparison import comparison_parameters, error_comparison
from tcformal.query.comparison.parameters import ComparisonParameters
from tcformal.query.engine import answer
from tcformal.query.pair import question
from tcformal.report.text import table
from tcformal.version import processor

TABLE = Path(__file__).resolve().parent / "table4.md"

#: The paper's rows: its name, seconds with z3 4.8.9 and with cvc5 1.0.2, our query, part of the ask's name.
ROWS = (
    ("Exact Multiplication", "0.55", "0.027", "valpey/exact-multiplication", "rounded to fp16"),
    ("Exact Addition in FP16", "27.59", "0.12", "valpey/exact-addition", ""),
    ("Rounding of Final Result", "0.52", "0.008", "valpey/rounding-of-result", ""),
    ("Rounding of Accumulator", "0.34", "0.017", "valpey/rounding-of-accumulator", " or "),
    ("Accumulation Order", "9.87", "0.25", "valpey/accumulation-order", "tree"),
    ("Normalization", "9.63", "0.25", "valpey/normalisation", "after each addition"),
    ("Subnormal FP16 Inputs", "0.117", "0.016", "valpey/subnormals", "fp16 operands"),
    ("Subnormal FP16 Outputs", "0.682", "0.024", "valpey/subnormals", "fp16 results"),
    ("3 Carry Bits", "410.25", "72.793", "valpey/carry-bits", "5 terms: 2"),
    ("4 Carry Bits (Ampere)", "none in 6 h", "none in 6 h", "valpey/carry-bits", "9 terms: 3"),
)


def seconds(ask: Ask, repetitions: int) -> tuple[str, float]:
    """The outcome of one question and the median of its wall times."""
    times, outcome = [], ""
    for _ in range(repetitions):
        start = time.monotonic()
        first, second = (resolve(name) for name in ask.body["separate"])
        q = question(first, second, from_texts(first.operands.c, ask.body.get("assume", ())))
        outcome = answer(q).kind.name
        times.append(time.monotonic() - start)
    return outcome, statistics.median(times)


def property_5(repetitions: int) -> tuple[str, float]:
    """Property 5 in the form of Table 5, signed, on the first generation."""
    what: ComparisonParameters = comparison_parameters(
        "volta/mma.m8n8k4.f32.f16.f16.f32", worse="ootomo-yokota"
    )
    times, outcome = [], ""
    for _ in range(repetitions):
        start = time.monotonic()
        outcome = answer(error_comparison(what)).kind.name
        times.append(time.monotonic() - start)
    return outcome, statistics.median(times)


@click.command()
@click.option("--repetitions", type=int, default=3, show_default=True)
def main(repetitions: int) -> None:
    """Time the ten queries of Table 4, and Property 5."""
    console = Console()
    made = table("query", ">z3 (paper)", ">cvc5 (paper)", ">ours", "outcome", ">questions")
    lines = [
        "# VALPEY's Table 4 and Property 5: the paper's seconds and ours",
        "",
        f"{date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, {processor()}; the "
        "paper's on a 32-core EPYC 7502P. Ours: the slowest question of each row, median of "
        f"{repetitions}, from building the question to the shrunk and replayed witness.",
        "",
        "| query | z3 (paper) | cvc5 (paper) | ours | outcome | questions |",
        "|---|---:|---:|---:|---|---:|",
    ]
    rows = []
    for name, z3, cvc5, query, part in track(ROWS, description="asking", console=Console(stderr=True)):
        asks = [a for a in find(query).concrete() if a.kind == "separate" and part in a.name]
        found = [seconds(a, repetitions) for a in asks]
        outcomes = ", ".join(dict.fromkeys(outcome for outcome, _ in found))
        rows.append((name, z3, cvc5, f"{max(s for _, s in found):.2f}", outcomes, str(len(found))))
    outcome, spent = property_5(repetitions)
    rows.append(("Property 5 (Table 5 form)", "", "under 5 min", f"{spent:.2f}", outcome, "1"))
    for row in rows:
        made.add_row(*row)
        lines.append(f"| {' | '.join(row)} |")
    console.print(made)
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
