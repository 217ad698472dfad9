"""Charts: every point is marked, nothing overlaps or leaves the picture, and colour is never alone."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from tcformal.report.chart import STEM, STYLE, Axis, Point, Series, chart
from tcformal.report.identified import growth_picture

SVG = "{http://www.w3.org/2000/svg}"
X, Y = Axis(0, 10, ((0, "0"), (10, "10"))), Axis(1, 1000, ((1, "1"), (1000, "1000")), log=True)


def drawn(*series: Series) -> ElementTree.Element:
    return ElementTree.fromstring(chart(X, Y, series, title="t", words="w", size=(340, 230)))


def test_axes_are_linear_or_in_factors() -> None:
    assert X.share(2.5) == 0.25
    assert Y.share(10) == pytest.approx(1 / 3)


def test_series_differ_in_shape_and_dash() -> None:
    root = drawn(*(Series(i, [Point(1, 10 + i), Point(5, 100)]) for i in range(4)))
    marks = [x.get("d") for x in root.iter(f"{SVG}path") if "mark" in str(x.get("class"))]
    assert len(marks) == 8
    assert len(set(marks)) == 4
    assert len(set(re.findall(r"\.s\d\.line\{stroke-dasharray:([^}]*)", STYLE))) == 4


def test_marks_at_one_place_stand_side_by_side() -> None:
    root = drawn(*(Series(i, [Point(5, 10)]) for i in range(3)))
    places = [str(g.get("transform")) for g in root.iter(f"{SVG}g")]
    assert len(set(places)) == 3


def test_labels_overlap_nothing_and_stay_inside() -> None:
    points = [Point(x, 10 * (1 + x % 2), f"label {x}") for x in range(0, 10, 2)]
    texts = [x for x in drawn(Series(0, points)).iter(f"{SVG}text") if x.get("class") == "halo"]
    boxes = [(float(t.get("x") or 0), float(t.get("y") or 0), 6.1 * len(t.text or "")) for t in texts]
    assert len(boxes) == 5
    assert all(x >= 0 and x + wide <= 341 and 9 <= y <= 230 for x, y, wide in boxes)
    for (x, y, wide), (other, below, wider) in itertools.combinations(boxes, 2):
        assert abs(y - below) >= 11 or x + wide <= other or other + wider <= x


def test_a_point_that_leads_somewhere_says_what_it_shows() -> None:
    root = drawn(
        Series(STEM, [Point(1, 1), Point(1, 9)], marks=""),
        Series(0, [Point(1, 9, "", "a.html#<x>", "9 & 1")]),
    )
    (link,) = root.iter(f"{SVG}a")
    assert (link.get("href"), link.get("aria-label")) == ("a.html#<x>", "9 & 1")


def test_the_curve_of_an_identification_falls_in_steps() -> None:
    root = ElementTree.fromstring(growth_picture(1000, [(4, 30), (9, 1)]))
    (line,) = (x for x in root.iter(f"{SVG}path") if "line" in str(x.get("class")))
    heights = [float(y) for y in re.findall(r"V([\d.]+)", str(line.get("d")))]
    assert heights == sorted(heights)
    assert "1,000 designs at first, 1 after 9" in str(root.find(f"{SVG}desc").text)  # type: ignore[union-attr]
