"""`statistics`: errors of random matrix products against exact sums."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import click
from rich.text import Text

from tcformal.analysis.bias import bias
from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.analysis.error_cells import Cell, measured_already, sweep_errors
from tcformal.analysis.samples import DISTRIBUTIONS, growth
from tcformal.checks import check_choice
from tcformal.cli.group import OK, json_option, main, results_option
from tcformal.cli.questions.pairs import workers_of
from tcformal.errors import InputError
from tcformal.report.escape import print_json, say, warn
from tcformal.report.numbers.plot import picture_kind, pyplot
from tcformal.report.numbers.statistics import (
    bias_data,
    bias_text,
    growth_picture,
    histogram_picture,
    rows_of,
    sample_data,
    statistics_view,
)  # fmt: skip
from tcformal.report.text import console, progress
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import computation

#: What a picture shows.
PICTURES = ("growth", "histogram")


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--lengths", default="", metavar="N,N,…", help="Products of a dot product; by default one call's."
)
@click.option("--elements", type=int, default=1024, show_default=True, help="Dot products of each length.")
@click.option("--distribution", default="normal", show_default=True,
              help=f"Of the elements of A and B: {', '.join(DISTRIBUTIONS)}, or values with weights, as "
              "'1:3,-1/2:1'; 'A;B' for two.")  # fmt: skip
@click.option("--draw-seed", type=int, default=0, show_default=True, help="Seed of the matrices.")
@click.option(
    "--bias", "with_bias", is_flag=True, help="The mean of fl - xᵀy: exact where it can be counted."
)
@click.option("--bound", "with_bound", is_flag=True, help="Prove a bound for every length too.")
@click.option("--plot", "picture", metavar="FILE", help="A picture (svg, png, pdf); its data beside it.")
@click.option("--show", default="growth", show_default=True, help=f"What it shows: {' or '.join(PICTURES)}.")
@click.option("--sweep", is_flag=True, help="Keep a record of each unit and length; repeated, go on.")
@click.option("--jobs", type=int, help="Processes of a sweep; all processors unless given.")
@click.option("--scheduler", metavar="ADDRESS", help="Sweep on the Dask cluster with this scheduler.")
@results_option
@json_option
def statistics(
    names: tuple[str, ...],
    lengths: str,
    elements: int,
    distribution: str,
    draw_seed: int,
    with_bias: bool,
    with_bound: bool,
    picture: str | None,
    show: str,
    sweep: bool,
    jobs: int | None,
    scheduler: str | None,
    folder: str,
    as_json: bool,
) -> int:
    """Errors of random matrix products against exact sums, in units of u·|A||B|: quantiles and growth with n.

    Every element is compared with its exact sum, not with fp64.  u is 2^-p of D's format of p bits.  Names of
    programs and their files are taken too.
    """
    check_choice("picture", show, PICTURES)
    if picture is not None:
        picture_kind(picture)
        pyplot()  # refuses before anything is computed
    units = [computation(name) for name in names]
    only = [u for u in units if isinstance(u, Unit)]
    if sweep or jobs is not None or scheduler is not None:
        if with_bias or with_bound or show != PICTURES[0] or not sweep:
            raise click.UsageError("expected --sweep for --jobs and --scheduler, without --bias and --bound")
        cells = [
            Cell(u.name, n, elements, distribution, draw_seed)
            for u in units
            for n in _lengths(lengths) or [u.k]
        ]
        return _swept(cells, workers_of(jobs, scheduler), Path(folder), picture, as_json)
    wanted = {u.name: _lengths(lengths) or [u.k] for u in units}
    with progress(transient=True) as bar:
        task = bar.add_task("products", total=None)
        samples = [
            s
            for u in units
            for s in growth(u, wanted[u.name], elements=elements, distribution=distribution, seed=draw_seed)
        ]
        means = {
            (u.name, n): bias(u, n, distribution=distribution, count=elements, seed=draw_seed)
            for u in units
            for n in wanted[u.name]
            if with_bias
        }
        bounds: dict[tuple[str, int], Fraction | None] = {}
        for u in only if with_bound else ():
            for n in wanted[u.name]:
                found = accuracy(
                    u, length=n, subnormals=False, progress=lambda text: bar.update(task, description=text)
                )
                bounds[u.name, n] = found.bound
    rows = rows_of(samples, bounds)
    if as_json:
        print_json({
            "samples": [sample_data(s) for s in samples],
            "bounds": [{"unit": u, "length": n, "bound": None if b is None else float(b)}
                       for (u, n), b in bounds.items()],
            "bias": [{"unit": u, "length": n, **bias_data(x)} for (u, n), x in means.items()],
        })  # fmt: skip
    else:
        statistics_view(rows)
        lines = [bias_text(f"{u}, n = {n}", x) for (u, n), x in means.items()]
        if lines:
            console().print(Text("\n".join(lines)))
    if picture is not None:
        command = ["tcformal", *sys.argv[1:]]
        drawn = growth_picture(picture, command, rows) if show == "growth" else histogram_picture(
            picture, command, samples
        )  # fmt: skip
        say(f"{picture}; data: {drawn}", err=True)
    return OK


def _swept(
    cells: Sequence[Cell], workers: Callable[[], AbstractContextManager[Executor]], folder: Path,
    picture: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Measure the cells that are not kept, and show all of them."""
    path = folder / "statistics.jsonl"
    with workers() as pool, progress(transient=True) as bar:
        task = bar.add_task("cells", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        new = len(list(sweep_errors(path, cells, pool, advance=advance, warn=warn)))
    held = measured_already(path, cells)
    found = [held[c] for c in cells]
    say(f"{new} cells measured now, {len(cells) - new} kept and not measured again, in {path}", err=True)
    rows = [(r.name, r.length, r.finite, *r.numbers, "") for r in found]
    print_json([asdict(r) for r in found]) if as_json else statistics_view(rows)
    if picture is not None:
        say(f"{picture}; data: {growth_picture(picture, ['tcformal', *sys.argv[1:]], rows)}", err=True)
    return OK


def _lengths(text: str) -> list[int]:
    """The lengths of a list between commas."""
    try:
        return [int(x) for x in text.split(",") if x.strip()]
    except ValueError:
        raise InputError(f"expected lengths as 16,64,256 for --lengths, but got {text!r}") from None
