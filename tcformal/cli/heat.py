"""A picture of how far two outputs are apart, element by element; apart, because it needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcformal.analysis.samples import in_units, values_of
from tcformal.identification.outputs import ProductCase
from tcformal.oracle.values import hex_word
from tcformal.report.plot import pyplot, save_picture

#: Rows and columns of a picture at most: of a larger matrix each point is the largest of a tile.
_POINTS = 512


def product_heat(path: str, case: ProductCase) -> None:
    """A heat map of |got - expected| in units of u·|A||B|, and the elements that differ as data.

    Ranges and units: at most 512 points a side; of a larger product each point, in picture and data, is the
    element of a tile that differs most.

    Zero, NaN, Inf: an element of which one result is NaN or Inf and the other another one is infinitely far.
    Errors: as `save_picture`.
    """
    far = distances(case)
    sides = case.expected, case.got
    rows = [
        (i, j, *(hex_word(case.d_format, int(x[i, j])) for x in sides), far[i, j]) for i, j in _places(far)
    ]
    shown = _tiled(far)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        m, n = far.shape
        colours = pyplot().get_cmap("viridis_r").with_extremes(over="red")  # red: infinitely far
        most = float(shown[np.isfinite(shown)].max(initial=0.0)) or 1.0
        image = axes.imshow(
            np.ma.masked_where(shown == 0, shown), extent=(0, n, m, 0), aspect="auto", vmin=0, vmax=most,
            cmap=colours, interpolation="nearest",
        )  # fmt: skip
        figure.colorbar(image, label="|got − expected| / (u |A||B|)")
        axes.grid(visible=False)
        axes.set(xlabel="column", ylabel="row", title=f"{np.count_nonzero(far)} of {m * n} elements differ")

    save_picture(path, ("row", "column", "expected", "got", "units"), rows, draw)


def distances(case: ProductCase) -> NDArray[np.float64]:
    """|got - expected| of each element in units of u·|alpha|·|A||B|, scales taken in; 0 for the same words.

    Shapes: [M, N].
    """
    expected, got = (values_of(x, case.d_format) for x in (case.expected, case.got))
    a, b = (np.abs(np.asarray(x).astype(np.float64)) for x in (case.a, case.b))
    for name, scales in (("a", case.scale_a), ("b", case.scale_b)):
        if scales is not None:
            axis = 1 if name == "a" else 0
            size = -(-case.k // scales.shape[axis])
            each = np.repeat(np.abs(np.asarray(scales).astype(np.float64)), size, axis=axis)
            a, b = (a * each[:, : case.k], b) if name == "a" else (a, b * each[: case.k])
    sizes = a @ b * abs(1.0 if case.alpha is None else float(case.alpha))
    with np.errstate(invalid="ignore"):
        found = in_units(case.d_format, np.abs(got - expected), sizes)
    found = np.where(np.isnan(found), np.inf, found)
    return np.asarray(np.where(case.expected == case.got, 0.0, found), np.float64)


def _steps(far: NDArray[np.float64]) -> list[int]:
    """Rows and columns of a tile."""
    return [max(1, -(-size // _POINTS)) for size in far.shape]


def _places(far: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The element of each tile that differs most, where one differs."""
    high, wide = _steps(far)
    if high == wide == 1:
        return [(int(i), int(j)) for i, j in np.argwhere(far > 0)]
    found = []
    for top in range(0, far.shape[0], high):
        for left in range(0, far.shape[1], wide):
            tile = far[top : top + high, left : left + wide]
            i, j = divmod(int(tile.argmax()), tile.shape[1])
            if tile[i, j] > 0:
                found.append((top + i, left + j))
    return found


def _tiled(far: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest of each tile, of as many tiles as a picture has points."""
    steps = _steps(far)
    made = np.maximum.reduceat(far, np.arange(0, far.shape[0], steps[0]), axis=0)
    return np.asarray(np.maximum.reduceat(made, np.arange(0, far.shape[1], steps[1]), axis=1), np.float64)
