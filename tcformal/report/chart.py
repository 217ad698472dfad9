"""A chart as SVG text: lines and points on two axes, told apart by shape, dash and words beside colour."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

#: Colours of the series and of ink, hair lines and paper: in daylight, in the dark.  After Okabe and Ito.
_LIGHT = ("#0072b2", "#c04f00", "#007a59", "#a3487f", "#1a1a1a", "#5b6166", "#dcdcd8", "#fff")
_DARK = ("#56b4e9", "#f0803c", "#2cc79a", "#e29bc4", "#ececea", "#a9afb6", "#3a3f46", "#14171b")
_NAMES = ("s0", "s1", "s2", "s3", "ink", "dim", "hair", "paper")
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
#: The style of a thin line between points that belong together.
STEM = len(_DASHES)
#: Outlines of marks around (0, 0), one for each series.
_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z", "M-4 -4H4V4H-4Z", "M0 -5.6L5.6 0L0 5.6L-5.6 0Z",
    "M0 -5.2L5.2 4.2H-5.2Z",
)  # fmt: skip


def _colours(values: Sequence[str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in zip(_NAMES, values, strict=True))


STYLE = (
    f".chart{{{_colours(_LIGHT)}}}@media(prefers-color-scheme:dark){{.chart{{{_colours(_DARK)}}}}}"
    ".chart{font:11px system-ui,sans-serif}.chart text{fill:var(--ink)}.chart .tick{fill:var(--dim)}"
    ".chart .hair{stroke:var(--hair);fill:none}.chart .back{fill:var(--paper)}"
    ".chart .line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".chart .mark{stroke-width:2}.chart .open{fill:var(--paper)}.chart .hit{fill:transparent}"
    f".chart .s{STEM}.line{{stroke:var(--dim);stroke-width:1;stroke-dasharray:1 3}}"
    ".chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
    + "".join(
        f".chart .s{i}{{stroke:var(--s{i})}}.chart .s{i}.mark:not(.open){{fill:var(--s{i})}}"
        + f".chart .s{i}.line{{stroke-dasharray:{dash or 'none'}}}"
        for i, dash in enumerate(_DASHES)
    )
)


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: its ends, its ticks with their texts, and whether steps are factors."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1."""
        low, high, x = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return (x - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Point:
    """One point: its place, the word beside it, where it leads, and its sentence."""

    x: float
    y: float
    label: str = ""
    href: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour, dash and shape, from 0 to 3; STEM for a thin line without marks.

    `line`: joined, `steps` by horizontal steps.  `marks`: `full`, `open` or none.
    """

    style: int
    points: Sequence[Point]
    line: str = "straight"
    marks: str = "full"


#: Pixels above, below and at the right of the plot, between marks, and of a character and a line of text.
_TOP, _BOTTOM, _RIGHT, _SIDE, _CHAR, _ROW = 22, 22, 14, 8, 6.1, 13


def chart(
    x: Axis, y: Axis, series: Sequence[Series], *, title: str, words: str, size: tuple[int, int] = (340, 230),
    style: str = "",
) -> str:  # fmt: skip
    """The picture; `words` say what it shows to those who do not see it, `style` makes it stand alone."""
    width, height = size
    left = 8 + math.ceil(_CHAR * max(len(text) for _, text in y.ticks))

    def at(point: Point) -> tuple[float, float]:
        down = height - _BOTTOM - (height - _TOP - _BOTTOM) * y.share(point.y)
        return left + 8 + (width - left - 8 - _RIGHT) * x.share(point.x), down

    key = f"c{zlib.crc32((title + words).encode()):08x}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="group" aria-labelledby="{key}t {key}d" '
        f'viewBox="0 0 {width} {height}"><title id="{key}t">{escape(title)}</title>'
        f'<desc id="{key}d">{escape(words)}</desc>{style and f"<style>{style}</style>"}'
        f'<rect class="back" width="{width}" height="{height}"/>'
    ]
    for value, text in y.ticks:
        down = at(Point(x.low, value))[1]
        out.append(f'<path class="hair" d="M{left} {down:.1f}H{width - _RIGHT}"/>')
        out.append(_tick(left - 4, down + 4, text, "end"))
    out += [_tick(at(Point(value, y.low))[0], height - 6, text, "middle") for value, text in x.ticks]
    for one in series:
        out += _line(one, [at(point) for point in one.points])
    marks: list[tuple[Series, Point, tuple[float, float]]] = []
    for one in series:
        for point in one.points if one.marks else ():
            (px, py), seen = at(point), [place for _, _, place in marks]
            # Marks at one place stand side by side.
            while any(math.dist((px, py), place) < _SIDE for place in seen):
                px += _SIDE
            marks.append((one, point, (px, py)))
    taken = [(px - 6, py - 6, px + 6, py + 6) for _, _, (px, py) in marks]
    for one, point, (along, down) in marks:
        said = escape(point.said)
        drawn = f'<path class="mark s{one.style} {one.marks}" d="{_SHAPES[one.style]}"/>'
        if point.href:
            drawn = f'<title>{said}</title><circle class="hit" r="12"/>{drawn}'
            drawn = f'<a href="{escape(point.href)}" aria-label="{said}">{drawn}</a>'
        out.append(f'<g transform="translate({along:.1f} {down:.1f})">{drawn}</g>')
    for point, place in [(p, at(p)) for one in series for p in one.points if p.label]:
        along, down = _free(point.label, place, taken, (left, width))
        out.append(f'<text class="halo" x="{along:.1f}" y="{down:.1f}">{escape(point.label)}</text>')
    return "".join([*out, "</svg>"])


def key_mark(style: int) -> str:
    """The mark of a series, for a legend in words."""
    mark = f'<path class="mark s{style} full" d="{_SHAPES[style]}"/>'
    return f'<svg class="chart" viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">{mark}</svg>'


def _tick(along: float, down: float, text: str, anchor: str) -> str:
    """The text of a tick."""
    return f'<text class="tick" x="{along:.1f}" y="{down:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(one: Series, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """The line through a series' points."""
    if one.line and len(places) > 1:
        (px, py), *rest = places
        form = "H{0:.1f}V{1:.1f}" if one.line == "steps" else "L{0:.1f} {1:.1f}"
        path = "".join(form.format(*place) for place in rest)
        yield f'<path class="line s{one.style}" d="M{px:.1f} {py:.1f}{path}"/>'


def _free(
    text: str,
    place: tuple[float, float],
    taken: list[tuple[float, float, float, float]],
    ends: tuple[int, int],
) -> tuple[float, float]:
    """Where a label overlaps nothing: above, below, beside the mark, or farther; it is then taken."""
    (px, py), wide = place, len(text) * _CHAR
    left, right = ends
    middle = min(max(px - wide / 2, left), right - wide)
    tries = [(middle, py - 9), (middle, py + 18), (px + 9, py + 4), (px - 9 - wide, py + 4)]
    tries += [(middle + shift, py + drop) for drop in (-9, 18, -22, 31) for shift in (-wide / 2, wide / 2)]

    def box(along: float, down: float) -> tuple[float, float, float, float]:
        return along, down - _ROW + 3, along + wide, down + 2

    def clash(some: tuple[float, float, float, float]) -> int:
        outside = some[0] < left or some[2] > right or some[1] < 0
        return 9 * outside + sum(
            some[0] < b[2] and b[0] < some[2] and some[1] < b[3] and b[1] < some[3] for b in taken
        )

    best = min(tries, key=lambda spot: clash(box(*spot)))
    taken.append(box(*best))
    return best
