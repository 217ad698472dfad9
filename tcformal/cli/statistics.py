"""`statistics`: errors of random matrix products against exact sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.text import Text

from tcformal.analysis.bias import Bias, bias
from tcformal.analysis.bounds.accuracy import accuracy
from tcformal.analysis.error_cells import Cell, measured_already, sweep_errors
from tcformal.analysis.samples import DISTRIBUTIONS, ErrorSample, growth
from tcformal.checks import check_choice
from tcformal.cli.all_pairs import workers_of
from tcformal.cli.group import Answer, json_option, main, results_option, whole_numbers
from tcformal.encodings.spec import Format
from tcformal.report.escape import Plain, say, warn
from tcformal.report.parts import bar, telling
from tcformal.report.plot import MARKERS, check_picture, save_picture
from tcformal.report.text import console, table
from tcformal.simulation.matrix_unit import Unit
from tcformal.simulation.runnable import computation

#: The columns of the data beside a picture of growth.
HEADER = ("unit", "n", "elements", "median", "q95", "max", "mean", "bound")
_BINS = 40


def rows_of(
    samples: Sequence[ErrorSample], bounds: Mapping[tuple[str, int], Fraction | None]
) -> list[tuple[Any, ...]]:
    """One row for each sample: quantiles of |fl - xᵀy| and the mean of fl - xᵀy, in units of u·|A||B|."""
    made: list[tuple[Any, ...]] = []
    for s in samples:
        q = s.quantiles
        bound = bounds.get((s.unit.name, s.length))
        shown = "" if bound is None else float(bound * 2**s.unit.d_format.precision)
        mean = float(np.mean(s.relative)) if s.errors.size else float("nan")
        made.append((
            s.unit.name, s.length, s.errors.size, q.get(0.5, ""), q.get(0.95, ""), q.get(1.0, ""), mean, shown
        ))  # fmt: skip
    return made


def in_one_unit(
    rows: Sequence[tuple[Any, ...]], formats: Mapping[str, Format]
) -> tuple[list[tuple[Any, ...]], Format]:
    """Rows in units of the least u of some formats of D, by unit, and the format that has it."""
    finest = max(formats.values(), key=lambda f: f.precision)
    return [
        (
            name,
            n,
            count,
            *(x if x == "" else x * 2.0 ** (finest.precision - formats[name].precision) for x in found),
        )
        for name, n, count, *found in rows
    ], finest


def statistics_view(rows: Sequence[tuple[Any, ...]], formats: Mapping[str, Format]) -> None:
    """Print one line for each unit and length, in one unit of error; `formats` of D by unit."""
    rows, finest = in_one_unit(rows, formats)
    unlike = len({f.precision for f in formats.values()}) > 1
    bounded = any(row[-1] != "" for row in rows)
    heads = ("unit", ">n", ">elements", ">median", ">95 %", ">largest", ">mean", *[">bound"] * bounded)
    out, made, last = console(), table(*heads), ""
    longest = {name: (n, most) for name, n, _, _, _, most, *_ in rows if most != ""}
    said = ", ".join(f"{most:.3g} u on {name} (n = {n})" for name, (n, most) in longest.items())
    out.print(Text(f"The largest errors found: {said or 'none, as no result is finite'}"))
    for name, *numbers, bound in rows:
        cells = [f"{x:.4g}" if x != "" else "" for x in numbers]
        if bounded:
            share = "" if bound == "" else f"{bound / 2**finest.precision * 100:.3g} % = {bound:.4g}"
            cells.append(share)
        made.add_row("" if name == last else name, *cells)
        last = name
    out.print(made)
    u = f"2^-{finest.precision}, that of {finest}, for all" if unlike else "2^-p of D's format"
    out.print(Text(f"in units of u·Σ|x_k·y_k|, u = {u}: |fl - xᵀy|, and as mean fl - xᵀy"))


def sample_data(s: ErrorSample) -> Plain:
    """A sample as plain data: quantiles and a histogram."""
    some = bool(s.errors.size)
    counts, edges = np.histogram(np.abs(s.relative), _BINS) if some else (np.array([]), np.array([]))
    return {
        "unit": s.unit.name, "length": s.length, "u": f"2^-{s.unit.d_format.precision}",
        "elements": int(s.errors.size), "not_finite": s.not_finite,
        "quantiles": {str(q): x for q, x in s.quantiles.items()},
        "mean": float(np.mean(s.relative)) if some else None,
        "histogram": {"counts": [int(x) for x in counts], "edges": [float(x) for x in edges]},
    }  # fmt: skip


def bias_data(x: Bias) -> Plain:
    """A mean error as plain data."""
    return asdict(x) | {"mean": str(x.mean) if x.exact else float(x.mean)}


def bias_text(name: str, x: Bias) -> str:
    """A mean error as a sentence."""
    if x.exact:
        return (
            f"{name}: E[fl - xᵀy] = {x.mean} exactly, over all {x.count} tuples; {x.relative:.4g}·u relative"
        )
    return (
        f"{name}: the mean of fl - xᵀy over {x.count} random dot products is {x.relative:.4g}·u relative to "
        f"Σ|x_k·y_k|, between {x.low:.4g} and {x.high:.4g} with a two-sided confidence of 95 %"
    )


def growth_picture(path: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Median, 95 % and largest error against n, with bounds."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for i, name in enumerate(dict.fromkeys(row[0] for row in rows)):
            mine = [row for row in rows if row[0] == name]
            n = [row[1] for row in mine]
            mark = MARKERS[i % len(MARKERS)]
            (line,) = axes.plot(n, [row[5] for row in mine], marker=mark, label=f"{name}: largest")
            axes.plot(n, [row[3] for row in mine], ":", color=line.get_color(), label="median")
            if any(row[7] != "" for row in mine):
                proved = [(row[1], row[7]) for row in mine if row[7] != ""]
                axes.plot(*zip(*proved, strict=True), "--", color=line.get_color(), label="proved bound")
        axes.set(xscale="log", yscale="log", xlabel="n", ylabel="|fl − xᵀy| / (u |x|ᵀ|y|)")
        axes.legend()

    save_picture(path, HEADER, rows, draw)


def histogram_picture(path: str, samples: Sequence[ErrorSample]) -> None:
    """The distribution of the signed errors of each sample."""
    top = max((float(np.abs(s.relative).max()) for s in samples if s.errors.size), default=1.0) or 1.0
    edges = np.linspace(-top, top, 2 * _BINS + 1)
    counts = [np.histogram(s.relative, edges)[0] for s in samples]
    rows = [
        (s.unit.name, s.length, float(low), float(high), int(n))
        for s, found in zip(samples, counts, strict=True)
        for low, high, n in zip(edges[:-1], edges[1:], found, strict=True)
    ]

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for s, found in zip(samples, counts, strict=True):
            axes.stairs(found, edges, label=f"{s.unit.name}, n = {s.length}")
        axes.set(xlabel="(fl − xᵀy) / (u |x|ᵀ|y|)", ylabel="elements")
        axes.legend()

    save_picture(path, ("unit", "n", "low", "high", "elements"), rows, draw)


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
    names: tuple[str, ...], lengths: str, elements: int, distribution: str, draw_seed: int, with_bias: bool,
    with_bound: bool, picture: str | None, show: str, sweep: bool, jobs: int | None, scheduler: str | None,
    folder: str,
) -> Answer:  # fmt: skip
    """Errors of random matrix products against exact sums, in units of u·|A||B|: quantiles and growth with n.

    Every element is compared with its exact sum, not with fp64.  u is 2^-p of D's format of p bits, and of
    results of several formats that of the finest.  Names of programs and their files are taken too.
    """
    check_choice("picture", show, PICTURES)
    check_picture(picture)
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
        return _swept(cells, workers_of(jobs, scheduler), Path(folder), picture)
    wanted = {u.name: _lengths(lengths) or [u.k] for u in units}
    with telling("products") as tell:
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
                found = accuracy(u, length=n, subnormals=False, progress=tell)
                bounds[u.name, n] = found.bound
    rows, formats = rows_of(samples, bounds), {s.unit.name: s.unit.d_format for s in samples}

    def data() -> Plain:
        return {
            "samples": [sample_data(s) for s in samples],
            "bounds": [{"unit": u, "length": n, "bound": None if b is None else float(b)}
                       for (u, n), b in bounds.items()],
            "bias": [{"unit": u, "length": n, **bias_data(x)} for (u, n), x in means.items()],
        }  # fmt: skip

    def text() -> None:
        statistics_view(rows, formats)
        lines = [bias_text(f"{u}, n = {n}", x) for (u, n), x in means.items()]
        if lines:
            console().print(Text("\n".join(lines)))

    if picture is not None:
        growth_picture(picture, in_one_unit(rows, formats)[0]) if show == "growth" else histogram_picture(
            picture, samples
        )
    return Answer(data, text)


def _swept(
    cells: Sequence[Cell], workers: Callable[[], AbstractContextManager[Executor]], folder: Path,
    picture: str | None,
) -> Answer:  # fmt: skip
    """Measure the cells that are not kept, and show all of them."""
    path = folder / "statistics.jsonl"
    with workers() as pool, bar("cells") as advance:
        new = len(list(sweep_errors(path, cells, pool, advance=advance, warn=warn)))
    held = measured_already(path, cells)
    found = [held[c] for c in cells]
    say(f"{new} cells measured now, {len(cells) - new} kept and not measured again, in {path}", err=True)
    rows = [(r.name, r.length, r.finite, *r.numbers, "") for r in found]
    formats = {c.name: computation(c.name).d_format for c in cells}
    if picture is not None:
        growth_picture(picture, in_one_unit(rows, formats)[0])
    return Answer([asdict(r) for r in found], lambda: statistics_view(rows, formats))


def _lengths(text: str) -> list[int]:
    """The lengths of a list between commas; none for no text."""
    return whole_numbers("--lengths", text) if text.strip() else []
