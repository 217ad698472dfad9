"""`sweep`: every design against the exact oracle, or the compiled kernels against integers."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tcformal.analysis.sweeps import compiled, conformance
from tcformal.checks import MOST_JOBS, MOST_VECTORS, check_int
from tcformal.cli.group import OK, OTHERWISE, json_option, main, results_option
from tcformal.design.catalog import distinct_designs
from tcformal.query.pairs.pool import SturdyPool
from tcformal.report.escape import print_json, say, warn
from tcformal.report.text import progress


@main.command()
@click.option(
    "--vectors", type=int, default=100_000, show_default=True, help="Number of vectors for each design."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first batch.")
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True, help="Number of processes.")
@click.option("--only", default="", help="Only designs with this text in their names.")
@click.option(
    "--kernels",
    is_flag=True,
    help="Compare compiled matrix products with integers instead, one unit per arithmetic.",
)
@results_option
@json_option
def sweep(vectors: int, seed: int, jobs: int, only: str, kernels: bool, folder: str, as_json: bool) -> int:
    """Compare NumPy lanes, integers and the exact oracle on every distinct design; resumes if repeated."""
    check_int("vectors", vectors, low=1, high=MOST_VECTORS)
    check_int("seed", seed, low=0)
    check_int("jobs", jobs, low=1, high=MOST_JOBS)
    path = Path(folder) / ("kernels.jsonl" if kernels else "conformance.jsonl")
    names = compiled.representatives() if kernels else list(distinct_designs())
    with SturdyPool(jobs) as pool, progress() as bar:
        task = bar.add_task("sweeping", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        work = (compiled.compare if kernels else conformance.sweep)(
            path, vectors, seed, pool, only=lambda n: only in n, advance=advance
        )
        swept = len(list(work))
    held = (compiled if kernels else conformance).done_already(path, vectors, warn)
    wrong = {name: r.examples for name, r in held.items() if _mismatches(r)}
    if as_json:
        print_json({"swept": swept, "held": len(held), "wrong": list(wrong)})
    else:
        what = ("units", "outputs") if kernels else ("designs", "vectors")
        say(
            f"{swept} {what[0]} swept now, {len(held)} of {len(names)} held in {path} "
            f"with at least {vectors} {what[1]} each; {len(wrong)} with mismatches; "
            "those of earlier runs are not re-checked"
        )
        for name, examples in wrong.items():
            say("\n".join((name, *examples)))
    return OTHERWISE if wrong else OK


def _mismatches(record: conformance.SweepRecord | compiled.Compared) -> int:
    if isinstance(record, compiled.Compared):
        return record.mismatches
    return record.integer_mismatches + record.oracle_mismatches
