"""`figures`: figures of the literature, drawn again, and with real units."""

from __future__ import annotations

import sys

import click

from tcformal.cli.group import OK, OTHERWISE, json_option, main
from tcformal.figures.mary import FIGURES, LENGTHS, curves_of, points, real_units
from tcformal.figures.published import COLUMNS, differences
from tcformal.matmul.unit import unit as unit_named
from tcformal.report.escape import print_json, say
from tcformal.report.numbers.figures import figure_picture, figure_view, point_data
from tcformal.report.numbers.plot import picture_kind, pyplot
from tcformal.report.text import progress


@main.command()
@click.argument("name", metavar=f"[{'|'.join(FIGURES)}]")
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
    place with the same matrices, scaling and words.  With --published, exit code 1 where a digit differs.
    """
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
    others = list(differences(folder, found))
    for x in others:
        say(str(x), err=True)
    numbers = len(COLUMNS) * len(found)
    say(
        f"{numbers - len(others)} of {numbers} numbers are the published ones to every printed digit",
        err=True,
    )
    return OTHERWISE if others else OK
