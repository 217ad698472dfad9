"""Figures 5.1 and 5.2 of MARY: points of the published data, rounding of the model, real units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal.analysis.mary import (
    LENGTHS,
    REAL,
    Curve,
    added,
    curves,
    curves_of,
    data_name,
    differences,
    points,
    precision_of,
    real_units,
    rounded,
    row,
    theorem,
)
from tcformal.cli import main
from tcformal.encodings.catalog import format_named
from tcformal.errors import InputError
from tcformal.simulation.matrix_unit import unit

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


def test_rounding_is_that_of_the_model() -> None:
    """e4m3, subnormals on and off: of each number the nearest of all values of the format, ties to even."""
    p = precision_of(format_named("e4m3"))
    x = np.concatenate([np.random.default_rng(2).standard_normal(300) * 2.0**k for k in (0, 6, -6, -8)])
    x = np.clip(np.append(x, [2.0**-7, 2.0**-7 * 1.001, 3 * 2.0**-10, 448.0]), -448, 448)
    fractions = np.arange(8, 16) / 8
    normal = np.concatenate([fractions * 2.0**e for e in range(-6, 9)])
    for on in (True, False):
        grid = np.concatenate([[0], np.arange(1, 8) * 2.0**-9 if on else [], normal[normal <= 448]])
        found = rounded(x, p, subnormals=on, bounded=True)
        assert np.isin(np.abs(found), grid).all()
        distance = np.abs(np.abs(x)[:, None] - grid).min(1)
        assert (np.abs(found - x) == distance).all()
    tie = np.array([2.0**-7])
    assert rounded(tie, p, subnormals=False, bounded=True)[0] == 0
    wide = rounded(np.array([1.0625 * 2.0**-300, 1.1875 * 2.0**300]), p, subnormals=False, bounded=False)
    assert wide.tolist() == [2.0**-300, 1.25 * 2.0**300]


def test_formats_of_more_exponents_round_too() -> None:
    """CDNA3's e5m2 reaches one binade further down than the OCP's."""
    p = precision_of(format_named("e5m2fnuz"))
    x = np.array([57344.0, 1.1 * 2.0**-15, 2.0**-17, 2.0**-18])
    assert rounded(x, p, subnormals=True, bounded=True).tolist() == [57344, 2.0**-15, 2.0**-17, 0]
    assert rounded(x, p, subnormals=False, bounded=True).tolist() == [57344, 2.0**-15, 0, 0]


def test_real_units_are_those_of_the_curves_formats() -> None:
    names = real_units(curves_of("mary-5.1"))
    assert {name.partition("/")[0] for name in names} == {"hopper", "ada", "blackwell", "cdna3"}
    assert not any("f16.f16" in name for name in names)
    assert set(names) < set(real_units(curves_of("mary-5.2"))) == set(REAL)


def test_sums_of_words_are_rounded_once() -> None:
    one, d = np.ones((1, 2), np.float32), np.array([[2.0**4, 3 * 2.0**3]], np.float32)
    assert added(one, d, 28).tolist() == [[1, 1 + 2.0**-23]]


@pytest.mark.long
@pytest.mark.parametrize(
    ("curve", "wanted"),
    [
        (
            Curve("e4m3", "fp16", 1, False),
            (30, (52233, "3.096908e-04", "1.527991e+08", "2.705398e-04", "2.562939e+01")),
        )
    ],
)
def test_long_points_are_the_published_ones(curve: Curve, wanted: tuple[int, tuple[object, ...]]) -> None:
    place, line = wanted
    assert [row(x) for x in points([curve], count=place)][-1] == line


def test_a_real_unit_takes_the_models_place() -> None:
    """Hopper's fp8 on the first curve: with fp32 results its error is below the bound of Theorem 3.1."""
    curve = Curve("e4m3", "fp16", 1, False)
    name = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
    (x,) = points([curve], count=1, units=[unit(name)])
    [(shown, error)] = x.units
    assert shown == name
    assert 0 < error < theorem(curve, 10)
    assert error == pytest.approx(x.error, rel=0.5)
    assert error != x.error


def test_units_of_other_formats_reject() -> None:
    with pytest.raises(InputError, match="expected units of the curves' input formats"):
        list(points(curves_of("mary-5.1"), units=[unit("hopper/mma.m16n8k8.f32.tf32.tf32.f32")]))


def test_a_picture_without_matplotlib_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    load = importlib.import_module

    def missing(name: str, package: str | None = None) -> object:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return load(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    done = CliRunner().invoke(main, ["figures", "mary-5.1", "--plot", "f.svg"])
    assert done.exit_code == 2
    assert (
        "which the extra `plot` brings (pip install 'tcformal[plot]'), but it is not installed" in done.output
    )


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
