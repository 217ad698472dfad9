"""Pictures of numbers: a figure in a file, and beside it its data with the command that makes them."""

from __future__ import annotations

import csv
import importlib
import io
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tcformal.checks import check_choice
from tcformal.errors import InputError
from tcformal.report.escape import say
from tcformal.version import VERSION

#: Kinds of pictures by the end of their files' names.
KINDS = ("svg", "png", "pdf")
#: A style that prints: serif-free, thin axes, distinct in grey.
_STYLE = {
    "font.size": 9, "axes.linewidth": 0.6, "lines.linewidth": 1.0, "lines.markersize": 3.5,
    "legend.frameon": False, "legend.fontsize": 8, "axes.grid": True, "grid.linewidth": 0.3,
    "grid.alpha": 0.5, "svg.hashsalt": "tcformal", "figure.constrained_layout.use": True,
}  # fmt: skip
MARKERS = ("o", "s", "^", "d", "v", "x", "+", "*")


def check_picture(path: str | None) -> None:
    """InputError for a picture, if one is asked for, that cannot be drawn: before anything is computed."""
    if path is not None:
        _kind(path)
        pyplot()


def _kind(path: str) -> str:
    return check_choice("kind of picture", Path(path).suffix.removeprefix("."), KINDS)


def pyplot() -> Any:
    """matplotlib's figures, without a window; InputError where it is not installed."""
    try:
        importlib.import_module("matplotlib").use("Agg")
    except ModuleNotFoundError:
        raise InputError(
            "expected matplotlib for a picture, which the extra `plot` brings "
            "(pip install 'tcformal[plot]'), but it is not installed"
        ) from None
    return importlib.import_module("matplotlib.pyplot")


def save_picture(
    path: str, header: Sequence[str], rows: Sequence[Sequence[Any]], draw: Callable[[Any], None],
    size: tuple[float, float] = (4.5, 3.2),
) -> None:  # fmt: skip
    """Write a picture, and beside it `.csv` with the data, and say so.

    `draw` is given the figure.  The first line of the data is a comment: this command and the version.
    Errors: InputError for another kind of picture, or without matplotlib.
    """
    kind, plt = _kind(path), pyplot()
    data = Path(path).with_suffix(".csv")
    text = io.StringIO()
    text.write(f"# {shlex.join(['tcformal', *sys.argv[1:]])} (tcformal {VERSION})\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=size)
        try:
            draw(figure)
            made = io.BytesIO()
            # No date: the same data make the same file.
            dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
            figure.savefig(made, format=kind, dpi=200, metadata=dated)
        finally:
            plt.close(figure)
    for where, content in ((data, text.getvalue().encode()), (Path(path), made.getvalue())):
        try:
            where.write_bytes(content)
        except OSError as error:
            raise InputError(f"expected a file that can be written, but {where} cannot: {error}") from None
    say(f"{path}; data: {data}", err=True)
