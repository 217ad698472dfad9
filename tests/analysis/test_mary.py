"""Figures 5.1 and 5.2 of MARY: points of the published data, rounding of the model, real units."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcformal.analysis.figures.mary import (
    LENGTHS,
    Curve,
    curves,
    curves_of,
    points,
    row,
)
from tcformal.analysis.figures.published import data_name, differences
from tcformal.errors import InputError, UnknownNameError

#: Lines of the published data (narrow-range-FP-underflow-experiments, 95b7205), by curve.
PUBLISHED = {
    Curve("e4m3", "fp16", 1, False): (
        (10, "1.792245e-03", "2.071094e-01", "1.791534e-03", "1.298828e-01"),
        (13, "6.174656e-03", "2.801564e-01", "6.129233e-03", "1.313477e-01"),
        (18, "2.023212e-02", "4.694923e-01", "2.021926e-02", "1.337891e-01"),
        (24, "5.662695e-03", "8.258575e-01", "5.662845e-03", "1.367188e-01"),
    ),
}


def test_the_curves_are_those_of_both_figures() -> None:
    assert len(curves()) == 30
    assert len(curves_of("mary-5.1")) == 12
    assert len(curves_of("mary-5.2")) == 18
    assert (LENGTHS[0], LENGTHS[7], LENGTHS[-1], len(LENGTHS)) == (10, 78, 1000000, 40)


@pytest.mark.slow
@pytest.mark.parametrize("curve", PUBLISHED, ids=str)
def test_points_are_the_published_ones(curve: Curve) -> None:
    wanted = PUBLISHED[curve]
    assert tuple(row(x) for x in points([curve], count=len(wanted))) == wanted


@pytest.mark.parametrize(
    ("figure", "sentence"), [("mary-5.3", "expected a known figure, but got 'mary-5.3'")]
)
def test_figures_reject(figure: str, sentence: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        curves_of(figure)
    assert sentence in str(error.value)


def test_published_data_are_compared_digit_by_digit(tmp_path: Path) -> None:
    curve = next(iter(PUBLISHED))
    lines = [" ".join(map(str, line)) for line in PUBLISHED[curve]]
    path = tmp_path / data_name(curve)
    path.write_text("\n".join(["n error bound error-nrl bound-nrl", *lines[:2], ""]))
    x, y, z = points([curve], count=3)
    assert list(differences(tmp_path, [x, y])) == []
    assert [d.published for d in differences(tmp_path, [z])] == ["none"] * 5
    path.write_text(path.read_text().replace("6.129233e-03", "6.129234e-03"))
    (found,) = differences(tmp_path, [x, y])
    assert (found.n, found.column, found.ours) == (13, "error-nrl", "6.129233e-03")
    path.write_text("n error\n10 1\n")
    with pytest.raises(InputError, match="expected the columns n error bound error-nrl bound-nrl"):
        list(differences(tmp_path, [x]))
    for n in ("²", "9" * 5000, "-1"):
        path.write_text(f"n error bound error-nrl bound-nrl\n{n} 1 1 1 1\n")
        with pytest.raises(InputError, match="expected n and 4 numbers in") as found_wrong:
            list(differences(tmp_path, [x]))
        assert len(str(found_wrong.value)) < 400
