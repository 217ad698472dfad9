"""`probe campaign`: every measurement of a device, in order of value, within a time limit."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tcformal.checks import MOST_JOBS, MOST_VECTORS, check_int, check_positive
from tcformal.cli.devices.probe import probe
from tcformal.cli.group import NO_ANSWER, OK, OTHERWISE, json_option, results_option
from tcformal.devices.campaign import Campaign
from tcformal.devices.isolated import opened
from tcformal.devices.sealed import MOST_SEED
from tcformal.errors import InputError
from tcformal.query.pairs.pool import SturdyPool
from tcformal.report.devices import campaign as views
from tcformal.report.escape import print_json, say
from tcformal.report.parts import show

#: Largest values that are taken for intended.
_MOST_MINUTES = 10_080


@probe.command()
@click.option("--device", "device_name", required=True, help="cuda:N, cpu, model:UNIT, model:ARCH, …")
@click.option(
    "--minutes", type=float, default=8.0, show_default=True, help="Time limit of the campaign, in minutes."
)
@click.option(
    "--vectors", type=int, default=1_000_000, show_default=True, help="Random dot products per unit."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the first random dot products.")
@click.option("--unit", "units", multiple=True, help="Only this unit; may be repeated.")
@click.option(
    "--jobs", type=int, default=None, help="Processes for the models; by default all cores but two."
)
@click.option("--answers", default="results", show_default=True, type=click.Path(path_type=Path),
              help="Folder of kept answers, whose witnesses are run too.")  # fmt: skip
@results_option
@json_option
def campaign(
    device_name: str,
    minutes: float,
    vectors: int,
    seed: int,
    units: Sequence[str],
    jobs: int | None,
    answers: Path,
    folder: str,
    as_json: bool,
) -> int:
    """Measure every unit of a device, in order of value, within a time limit; resumes if repeated.

    Exit 0: all results equal the models'; 1: some differ; 3: some unit could not be measured.
    """
    start = time.monotonic()
    if check_positive("--minutes", minutes) > _MOST_MINUTES:
        raise InputError(f"expected at most {_MOST_MINUTES} for --minutes, a week, but got {minutes:g}")
    check_int("--vectors", vectors, low=0, high=MOST_VECTORS)
    check_int("--seed", seed, low=0, high=MOST_SEED)
    cores = os.cpu_count() or 1
    jobs = max(1, cores - 2) if jobs is None else check_int("--jobs", jobs, low=1, high=MOST_JOBS)
    with opened(device_name) as device, _pool(jobs) as pool:
        made = Campaign(
            device, Path(folder), seconds=60 * minutes - (time.monotonic() - start), clock=time.monotonic,
            pool=pool, jobs=jobs, vectors=vectors, seed=seed, units=units, answers=answers,
            say=lambda sentence: say(sentence, err=True),
        )  # fmt: skip
        tally = made.run()
    if as_json:
        print_json({"folder": str(tally.folder), **tally.data()})
    else:
        show(views.campaign_view(tally))
    return OTHERWISE if tally.mismatches else NO_ANSWER if tally.faults or tally.unchecked else OK


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[SturdyPool]:
    """The processes for the models; they are ended, whatever they do, at the end."""
    pool = SturdyPool(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
