"""`separate --all-pairs`: every pair of catalogued units, on this machine or a cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial

import click

from tcformal.checks import MOST_JOBS, check_int
from tcformal.cli.group import NO_ANSWER, OK
from tcformal.cli.questions.options import SolverOptions
from tcformal.query.pairs.all_pairs import AskOptions, PairOutcome, campaign
from tcformal.query.pairs.pairs import Pair, groups, without_counterpart
from tcformal.query.pairs.pool import SturdyPool, cluster
from tcformal.report.escape import print_json
from tcformal.report.pairs import pairs_data, pairs_view, tally
from tcformal.report.text import console, counting, progress


def workers_of(jobs: int | None, scheduler: str | None) -> Callable[[], AbstractContextManager[Executor]]:
    """A function that makes the executor: a local pool of `jobs` processes, or a Dask cluster."""
    if scheduler is not None:
        if jobs is not None:
            raise click.UsageError("expected --jobs or --scheduler, but got both")
        return partial(cluster, scheduler)
    jobs = os.cpu_count() or 1 if jobs is None else jobs
    return partial(SturdyPool, check_int("--jobs", jobs, low=1, high=MOST_JOBS))


def ask_all(
    text: str,
    *,
    assume: Sequence[str],
    how: SolverOptions,
    as_json: bool,
    workers: Callable[[], AbstractContextManager[Executor]],
) -> int:
    """Ask every pair with `text` in a name, print the answers, and return the exit code."""
    store = how.opened()
    ask_options = AskOptions(assume=tuple(assume), how=how.alone())
    start = time.monotonic()
    chosen = groups(text)
    alone = without_counterpart(text)
    outcomes: dict[Pair, PairOutcome] = {}
    pairs = [pair for group in chosen for pair in group.pairs]
    with progress(*counting("tally")) as bar:
        task = bar.add_task("pairs", total=len(pairs), tally="")
        for outcome in campaign(pairs, ask_options, store, workers):
            outcomes[outcome.pair] = outcome
            bar.update(task, completed=len(outcomes), tally=tally(outcomes))
    seconds = time.monotonic() - start
    if as_json:
        print_json(pairs_data(chosen, outcomes, alone, seconds))
    else:
        out = console()
        out.print(pairs_view(chosen, outcomes, alone, seconds, out.width))
    return OK if all(outcome.decided for outcome in outcomes.values()) else NO_ANSWER
