"""`figures`: figures of the literature, drawn again, and with real units."""

from __future__ import annotations

import sys

import click

from tcformal.analysis import khattak
from tcformal.analysis.mary import COLUMNS, FIGURES, LENGTHS, curves_of, differences, points, real_units
from tcformal.checks import check_choice
from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.errors import InputError
from tcformal.report.escape import print_json, say
from tcformal.report.numbers.figures import (
    figure_picture,
    figure_view,
    point_data,
    table_line_data,
    tables_view,
)
from tcformal.report.numbers.plot import picture_kind, pyplot
from tcformal.report.text import progress
from tcformal.simulation.matrix_unit import unit as unit_named

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
    picture: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Draw a figure of the literature again: mary-5.1 and mary-5.2, errors of Model 1 against n.

    The points are those of the published data, from the same random numbers; a real unit takes the model's
    place with the same matrices, scaling and words.  khattak-gemm: the tables of errors of matrix products on
    V100, A100, H100, L40S, B200, MI100, MI250X and MI300X that were published with models of these GPUs,
    computed by the units here; --words and --unit choose some.
    With --published, exit code 1 where a digit differs.
    """
    if name == _TABLES:
        return _tables(count, words, units, real or picture is not None, folder, as_json)
    if picture is not None:
        picture_kind(picture)
        pyplot()
    chosen = [c for c in curves_of(name) if words is None or c.words == words]
    names = list(dict.fromkeys([*(real_units(chosen) if real else ()), *units]))
    with progress(transient=True) as bar:
        task = bar.add_task(name, total=None)
        found = list(
            points(
                chosen, count=count, units=[unit_named(u) for u in names],
                progress=lambda text: bar.update(task, description=text),
            )
        )  # fmt: skip
    if as_json:
        print_json([point_data(x) for x in found])
    else:
        figure_view(found)
    if picture is not None:
        say(f"{picture}; data: {figure_picture(picture, ['tcformal', *sys.argv[1:]], found)}", err=True)
    if folder is None:
        return OK
    return _compared([str(x) for x in differences(folder, found)], len(COLUMNS) * len(found))


def _tables(
    count: int, words: int | None, units: tuple[str, ...], drawn: bool, folder: str | None, as_json: bool
) -> int:
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
    with progress(transient=True) as bar:
        task = bar.add_task(_TABLES, total=None)
        found = list(
            khattak.entries(
                chosen, count=count, progress=lambda text: bar.update(task, description=text)
            )
        )  # fmt: skip
    if as_json:
        print_json([table_line_data(x) for x in found])
    else:
        tables_view(found)
    if folder is None:
        return OK
    return _compared(list(khattak.differences(folder, found)), len(khattak.COLUMNS) * len(found))


def _compared(others: list[str], numbers: int) -> int:
    """Say which numbers are not the published ones; the exit code."""
    for x in others:
        say(x, err=True)
    say(
        f"{numbers - len(others)} of {numbers} numbers are the published ones to every printed digit",
        err=True,
    )
    return OTHERWISE if others else OK
