"""Views and pictures of figures that are drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcformal.analysis.khattak import TableLine
from tcformal.analysis.mary import Curve, Point
from tcformal.report.numbers.plot import MARKERS, save_picture
from tcformal.report.text import console, table

#: The lines of real units, in their order.
_LINES = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))
#: The columns of the data beside a picture; real units follow.
HEADER = ("curve", "n", "error", "bound", "error-nrl", "bound-nrl", "theorem")


def point_data(x: Point) -> dict[str, Any]:
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
    made = table("curve", *(f">{name}" for name in HEADER[1:]))
    for row in rows_of_points(points):
        made.add_row(*map(str, row[: len(HEADER)]))
    console().print(made)
    if not _units(points):
        return
    real = table("curve", ">n", "unit", ">error", ">of the theorem's bound")
    for x in points:
        for name, error in x.units:
            real.add_row(str(x.curve), str(x.n), name, f"{error:e}", f"{error / x.theorem:.3g}")
    console().print(real)


def table_line_data(x: TableLine) -> dict[str, Any]:
    """A line of a published table as plain data."""
    return {
        "inputs": x.table.inputs, "gpu": x.table.gpu, "words": x.table.words, "unit": x.unit, "n": x.n,
        "error": x.error, "bound": x.bound,
    }  # fmt: skip


def tables_view(found: Sequence[TableLine]) -> None:
    """Print one line for each line of the published tables."""
    made = table("table", "unit", ">n", ">error", ">bound")
    for x in found:
        made.add_row(str(x.table), x.unit, *x.row())
    console().print(made)


def figure_picture(path: str, command: Sequence[str], points: Sequence[Point]) -> Path:
    """A panel for each pair of formats, without and with subnormals; the path of the data.

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
    return save_picture(path, command, header, rows_of_points(points), draw, size)


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
