"""`figures`: figures of the literature, drawn again, and with real units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from tcformal.analysis import khattak
from tcformal.analysis.khattak import TableLine
from tcformal.analysis.mary import (
    COLUMNS,
    FIGURES,
    LENGTHS,
    Curve,
    Point,
    curves_of,
    differences,
    points,
    real_units,
)
from tcformal.checks import check_choice
from tcformal.cli.group import OK, OTHERWISE, Answer, json_option, main
from tcformal.errors import InputError
from tcformal.report.escape import Plain, say
from tcformal.report.parts import telling
from tcformal.report.plot import MARKERS, check_picture, save_picture
from tcformal.report.text import console, fitting, many
from tcformal.simulation.matrix_unit import unit as unit_named

#: The lines of real units, in their order.
_LINES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))
#: The columns of the data beside a picture; real units follow.
HEADER = ("curve", "n", "error", "bound", "error-nrl", "bound-nrl", "theorem")


def point_data(x: Point) -> Plain:
    """A point as plain data."""
    return {
        "inputs": x.curve.inputs, "accumulator": x.curve.accumulator, "words": x.curve.words,
        "subnormals": x.curve.subnormals, "n": x.n, "error": x.error, "bound": x.bound,
        "error_unbounded": x.unbounded, "bound_unbounded": x.bound_unbounded, "theorem": x.theorem,
        "units": dict(x.units),
    }  # fmt: skip


def _units(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(name for x in points for name, _ in x.units))


def rows_of_points(points: Sequence[Point]) -> list[tuple[Any, ...]]:
    """One row for each point, printed as the published data are; empty where a unit has no such curve."""
    names = _units(points)
    return [
        (
            str(x.curve), x.n,
            *(f"{v:e}" for v in (x.error, x.bound, x.unbounded, x.bound_unbounded, x.theorem)),
            *(f"{dict(x.units)[name]:e}" if name in dict(x.units) else "" for name in names),
        )
        for x in points
    ]  # fmt: skip


def figure_view(points: Sequence[Point]) -> None:
    """Print one line for each point, and one for each real unit on it."""
    rows = (tuple(map(str, row[: len(HEADER)])) for row in rows_of_points(points))
    worst = max(points, key=lambda x: x.error / x.theorem)
    curves = len({x.curve for x in points})
    share = f"{100 * worst.error / worst.theorem:.3g} % of their bound ({worst.curve}, n = {worst.n})"
    console().print(f"{len(points)} points of {curves} curves; the errors are at most {share}")
    console().print(fitting("curve", *(f">{name}" for name in HEADER[1:]), rows=rows))
    real = [
        (str(x.curve), str(x.n), f"{error:e}", f"{error / x.theorem:.3g}", name)
        for x in points
        for name, error in x.units
    ]
    if real:
        console().print(fitting("curve", ">n", ">error", ">of the bound", "unit", rows=real))


def table_line_data(x: TableLine) -> Plain:
    """A line of a published table as plain data."""
    return {
        "inputs": x.table.inputs, "gpu": x.table.gpu, "words": x.table.words, "unit": x.unit, "n": x.n,
        "error": x.error, "bound": x.bound,
    }  # fmt: skip


def figure_picture(path: str, points: Sequence[Point]) -> None:
    """A panel for each pair of formats, without and with subnormals.

    Symbols are the model's errors, the thin line above them the bound of theorem (3.25) or (4.32), and lines
    without symbols real units.
    """
    chosen = list(dict.fromkeys(x.curve for x in points))
    pairs = list(dict.fromkeys((c.inputs, c.accumulator) for c in chosen))
    kept = list(dict.fromkeys(c.subnormals for c in chosen))

    def draw(figure: Any) -> None:
        axes = figure.subplots(len(pairs), len(kept), squeeze=False, sharex=True, sharey="row")
        for r, (a, c) in enumerate(pairs):
            for k, on in enumerate(kept):
                panel = axes[r][k]
                for p in (1, 2, 3):
                    _draw(panel, Curve(a, c, p, on), [x for x in points if x.curve == Curve(a, c, p, on)])
                panel.set(xscale="log", yscale="log")
                panel.set_title(f"{a}/{c}, {'with' if on else 'without'} subnormals", fontsize=8)
        for panel in axes[-1]:
            panel.set_xlabel("n")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", fontsize=6, ncols=3)

    size = (3.4 * len(kept), 2.6 * len(pairs) + 0.3)
    header = (*HEADER, *_units(points))
    save_picture(path, header, rows_of_points(points), draw, size)


def _draw(panel: Any, curve: Curve, points: Sequence[Point]) -> None:
    """The curves of one number of words."""
    if not points:
        return
    n = [x.n for x in points]
    (line,) = panel.plot(
        n, [x.error for x in points], marker=MARKERS[curve.words - 1], label=f"p = {curve.words}", ls=""
    )
    colour = line.get_color()
    panel.plot(n, [x.theorem for x in points], color=colour, lw=0.5, label=f"bound, p = {curve.words}")
    names = _units(points)
    architectures = [name.partition("/")[0] for name in names]  # their formats are the panel's
    short = architectures if len(set(names)) == len(set(architectures)) else names
    for i, name in enumerate(names):
        errors = [dict(x.units).get(name, float("nan")) for x in points]
        label = short[i] if curve.words == 1 else None
        panel.plot(n, errors, ls=_LINES[i % len(_LINES)], color=colour, alpha=0.7, label=label)


#: The tables of errors on GPUs, beside the figures.
_TABLES = "khattak-gemm"


@main.command()
@click.argument("name", metavar=f"[{'|'.join((*FIGURES, _TABLES))}]")
@click.option("--points", "count", type=int, default=16, show_default=True,
              help=f"Points of every curve, of {len(LENGTHS)}; the last take minutes.")  # fmt: skip
@click.option("--words", type=int, help="Only the curves of so many words.")
@click.option("--unit", "units", multiple=True, metavar="UNIT", help="Draw a real unit too; may be repeated.")
@click.option("--real", is_flag=True, help="Draw units of Hopper, Ada, Blackwell and CDNA3 too.")
@click.option("--published", "folder", metavar="FOLDER",
              help="Compare with the published .dat files in this folder, digit by digit.")  # fmt: skip
@click.option("--plot", "picture", metavar="FILE", help="A picture (svg, png, pdf); its data beside it.")
@json_option
def figures(
    name: str, count: int, words: int | None, units: tuple[str, ...], real: bool, folder: str | None,
    picture: str | None,
) -> Answer:  # fmt: skip
    """Draw a figure of the literature again: mary-5.1 and mary-5.2, errors of Model 1 against n.

    The points are those of the published data, from the same random numbers; a real unit takes the model's
    place with the same matrices, scaling and words.  khattak-gemm: the tables of errors of matrix products on
    V100, A100, H100, L40S, B200, MI100, MI250X and MI300X that were published with models of these GPUs,
    computed by the units here; --words and --unit choose some.
    With --published, exit code 1 where a digit differs.
    """
    if name == _TABLES:
        return _tables(count, words, units, real or picture is not None, folder)
    check_choice("figure", name, (*FIGURES, _TABLES))
    check_picture(picture)
    known = sorted({c.words for c in curves_of(name)})
    if words is not None and words not in known:
        raise InputError(f"expected one of {', '.join(map(str, known))} for --words, but got {words}")
    chosen = [c for c in curves_of(name) if words in (None, c.words)]
    names = list(dict.fromkeys([*(real_units(chosen) if real else ()), *units]))
    with telling(name) as tell:
        units_drawn = [unit_named(u) for u in names]
        found = list(points(chosen, count=count, units=units_drawn, progress=tell))
    if picture is not None:
        figure_picture(picture, found)
    others = None if folder is None else [str(x) for x in differences(folder, found)]
    code = _compared(others, len(COLUMNS) * len(found))
    return Answer([point_data(x) for x in found], lambda: figure_view(found), code)


def _tables(count: int, words: int | None, units: tuple[str, ...], drawn: bool, folder: str | None) -> Answer:
    """The tables of errors on GPUs, those of some units or words only."""
    if drawn:
        raise click.UsageError(f"expected --real and --plot with {' or '.join(FIGURES)} only")
    for unit in units:
        check_choice("unit of a table", unit, khattak.UNITS.values())
    chosen = [
        t
        for t in khattak.tables()
        if words in (None, t.words) and (not units or khattak.UNITS[t.inputs, t.gpu] in units)
    ]
    if not chosen:
        raise InputError(f"expected the words of some table, but got {words}")
    with telling(_TABLES) as tell:
        found = list(khattak.entries(chosen, count=count, progress=tell))
    worst = max(found, key=lambda x: x.error / x.bound)
    share = f"{100 * worst.error / worst.bound:.3g} % of their bound ({worst.table}, n = {worst.n})"
    many_tables = many(len({str(x.table) for x in found}), "table")
    said = f"{many(len(found), 'line')} of {many_tables}; the errors are at most {share}"
    rows = ((str(x.table), *map(str, x.row()), x.unit) for x in found)
    view = Group(Text(said), fitting("table", ">n", ">error", ">bound", "unit", rows=rows))
    others = None if folder is None else list(khattak.differences(folder, found))
    code = _compared(others, len(khattak.COLUMNS) * len(found))
    return Answer([table_line_data(x) for x in found], view, code)


def _compared(others: list[str] | None, numbers: int) -> int:
    """Say which numbers are not the published ones, if they are compared; the exit code."""
    if others is None:
        return OK
    for x in others:
        say(x, err=True)
    say(
        f"{numbers - len(others)} of {numbers} numbers are the published ones to every printed digit",
        err=True,
    )
    return OTHERWISE if others else OK
