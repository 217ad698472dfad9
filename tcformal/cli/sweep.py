"""`sweep`: every design against the exact oracle."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click
from rich.progress import Progress

from tcformal.checks import check_int
from tcformal.cli.group import OK, OTHERWISE, json_option, main, print_json
from tcformal.design.catalog import distinct_designs
from tcformal.query import conformance
from tcformal.report.text import console


@main.command()
@click.option("--vectors", type=int, default=100_000, show_default=True, help="Vectors for each design.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first piece.")
@click.option("--jobs", type=int, default=os.cpu_count() or 1, show_default=True, help="Processes.")
@click.option("--only", default="", help="Only designs whose name contains this text.")
@click.option(
    "--results",
    "folder",
    envvar="TCFORMAL_RESULTS",
    default="results",
    show_default=True,
    help="Results folder.",
)
@json_option
def sweep(vectors: int, seed: int, jobs: int, only: str, folder: str, as_json: bool) -> int:
    """Compare lanes, integers and the exact oracle on every distinct design; resumable."""
    check_int("vectors", vectors, low=1)
    check_int("seed", seed, low=0)
    check_int("jobs", jobs, low=1)
    path = Path(folder) / "conformance.jsonl"
    with ProcessPoolExecutor(jobs) as pool, Progress(console=console(stderr=True)) as bar:
        task = bar.add_task("sweeping", total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        records = list(conformance.sweep(path, vectors, seed, pool, only=lambda n: only in n, told=told))
    held = conformance.done_already(path, vectors)
    wrong = [r for r in held.values() if r.integer_mismatches or r.oracle_mismatches]
    if as_json:
        print_json({"swept": len(records), "held": len(held), "wrong": [r.unit for r in wrong]})
    else:
        click.echo(
            f"{len(records)} designs swept now, {len(held)} of {len(distinct_designs())} held in {path} "
            f"with at least {vectors} vectors each; {len(wrong)} with mismatches"
        )
        for r in wrong:
            click.echo("\n".join((r.unit, *r.examples)))
    return OTHERWISE if wrong else OK
