"""`separate --all-pairs`: every pair of catalogued units, on this machine or a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

from tcformal.checks import MOST_JOBS, check_int, check_positive
from tcformal.cli.group import NO_ANSWER, OK
from tcformal.query.pairs.campaign import AskOptions, PairOutcome, campaign
from tcformal.query.pairs.cluster import cluster
from tcformal.query.pairs.pairs import Pair, groups, without_counterpart
from tcformal.query.pairs.pool import SturdyPool
from tcformal.report.escape import print_json, warn
from tcformal.report.pairs import pairs_data, pairs_view, tally
from tcformal.report.text import console, progress, shown
from tcformal.solve.members import check_members
from tcformal.solve.result import Limits
from tcformal.store.store import Store


def workers_of(jobs: int | None, scheduler: str | None) -> Callable[[], AbstractContextManager[Executor]]:
    """A function that makes the executor: a local pool of `jobs` processes, or a Dask cluster."""
    if scheduler is not None:
        if jobs is not None:
            raise click.UsageError("expected --jobs or --scheduler, but got both")
        return partial(cluster, scheduler)
    jobs = os.cpu_count() or 1 if jobs is None else jobs
    return partial(SturdyPool, check_int("--jobs", jobs, low=1, high=MOST_JOBS))


def ask_all(
    text: str, options: Mapping[str, Any], workers: Callable[[], AbstractContextManager[Executor]]
) -> int:
    """Ask every pair with `text` in a name, print the answers, and return the exit code."""
    solvers = options["solvers"]
    ask_options = AskOptions(
        assume=tuple(options["assume"]),
        solvers=None if solvers is None else check_members([s.strip() for s in solvers.split(",")]),
        limits=Limits(
            time_s=check_positive("--time-limit", options["time_limit"]),
            memory_mb=check_int("--memory-limit", options["memory_limit"], low=1),
            seed=options["seed"],
        ),
        certify=options["certify"],
        fresh=options["fresh"],
    )
    store = Store(Path(options["folder"]), warn)
    start = time.monotonic()
    chosen = groups(text)
    alone = without_counterpart(text)
    outcomes: dict[Pair, PairOutcome] = {}
    pairs = [pair for group in chosen for pair in group.pairs]
    columns = (
        shown("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(),
        shown("{task.fields[tally]}"),
    )  # fmt: skip
    with progress(*columns) as bar:
        task = bar.add_task("pairs", total=len(pairs), tally="")
        for outcome in campaign(pairs, ask_options, store, workers):
            outcomes[outcome.pair] = outcome
            bar.update(task, completed=len(outcomes), tally=tally(outcomes))
    seconds = time.monotonic() - start
    if options["as_json"]:
        print_json(pairs_data(chosen, outcomes, alone, seconds))
    else:
        out = console()
        out.print(pairs_view(chosen, outcomes, alone, seconds, out.width))
    return OK if all(outcome.decided for outcome in outcomes.values()) else NO_ANSWER
