"""Views and pictures of errors of matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from tcformal.analysis.bias import Bias
from tcformal.analysis.samples import ErrorSample
from tcformal.report.numbers.plot import MARKERS, save_picture
from tcformal.report.text import console, table

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


def statistics_view(rows: Sequence[tuple[Any, ...]]) -> None:
    """Print one line for each unit and length."""
    made = table("unit", ">n", ">elements", ">median", ">95 %", ">largest", ">mean", ">bound")
    for name, n, count, *numbers in rows:
        made.add_row(name, str(n), str(count), *(f"{x:.4g}" if x != "" else "" for x in numbers))
    console().print(made)
    console().print(
        Text("|fl - xᵀy| and, as mean, fl - xᵀy, in units of u·Σ|x_k·y_k|, u = 2^-p of D's format")
    )


def sample_data(s: ErrorSample) -> dict[str, Any]:
    """A sample as plain data: quantiles and a histogram."""
    counts, edges = np.histogram(np.abs(s.relative), _BINS) if s.errors.size else (np.array([]), np.array([]))
    return {
        "unit": s.unit.name,
        "length": s.length,
        "elements": int(s.errors.size),
        "not_finite": s.not_finite,
        "quantiles": {str(q): x for q, x in s.quantiles.items()},
        "mean": float(np.mean(s.relative)) if s.errors.size else None,
        "histogram": {"counts": [int(x) for x in counts], "edges": [float(x) for x in edges]},
    }


def bias_data(x: Bias) -> dict[str, Any]:
    """A mean error as plain data."""
    return {
        "count": x.count, "exact": x.exact, "mean": str(x.mean) if x.exact else float(x.mean),
        "relative": x.relative, "low": x.low, "high": x.high,
    }  # fmt: skip


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


def growth_picture(path: str, command: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Path:
    """Median, 95 % and largest error against n, with bounds; the path of the data."""

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

    return save_picture(path, command, HEADER, rows, draw)


def histogram_picture(path: str, command: Sequence[str], samples: Sequence[ErrorSample]) -> Path:
    """The distribution of the signed errors of each sample; the path of the data."""
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

    return save_picture(path, command, ("unit", "n", "low", "high", "elements"), rows, draw)
