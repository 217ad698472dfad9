"""Whole products beside a unit: the recipes that make each output, where they part, faults, hints."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal import simulate
from tcformal.cli import main
from tcformal.cli.heat import _places, _tiled, distances
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.identification import product_hints
from tcformal.identification.comparison import Compared, Difference, compare_outputs
from tcformal.identification.outputs import ProductCase, outputs

HALF = "ada/mma.m16n8k16.f32.f16.f16.f32"
EIGHT = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
K = 72


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One parameter of a unit is varied: enough to tell units and hints apart."""
    from tcformal.design.axes import neighbours as real

    monkeypatch.setattr(
        product_hints, "neighbours", lambda spec: (u for u in real(spec) if "@conversion=" in u.name)
    )


def halves() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.standard_normal((5, K)).astype(np.float16), rng.standard_normal((K, 4)).astype(np.float16)


def compared(unit: str, expected: Any, got: Any, a: Any, b: Any, **extras: Any) -> Compared:
    return compare_outputs(outputs(expected, got, a=a, b=b, **extras), unit=resolve(unit))


def names(found: tuple[Any, ...]) -> list[tuple[str, str]]:
    return [(p.model.unit.name, p.model.recipe.name) for p in found]


def test_split_k_against_one_accumulator_is_rounding() -> None:
    a, b = halves()
    expected = simulate(HALF, a, b)
    got = simulate(HALF, a, b, recipe="cublaslt-66@splits=2")
    found = compared(HALF, expected, got, a, b)
    assert (found.kind, found.bug, found.hints) == (Difference.ORDER, None, None)
    assert names(found.expected)[0] == (HALF, "plain")
    assert found.expected[0].units[0] == HALF
    assert {"turing/mma.m16n8k8.f32.f16.f16.f32", "ampere/mma.m16n8k16.f32.f16.f16.f32"} <= {
        *found.expected[0].units
    }
    assert (HALF, "cublaslt-66@grain=128,splits=2") in names(found.got)
    assert found.first == tuple(np.argwhere(expected != got)[0])
    assert found.differing == (expected != got).sum()
    # The first part takes 64 products: before them nothing can differ.
    assert found.parting is not None
    assert (found.parting.start, found.parting.stop) == (64, K)


@pytest.mark.long
def test_other_units_are_tried_too() -> None:
    a, b = halves()
    expected = simulate(HALF, a, b)
    got = simulate("volta/mma.m8n8k4.f32.f16.f16.f32", a, b, recipe="cublaslt-21@tile=32,splits=2")
    found = compare_outputs(outputs(expected, got, a=a, b=b))
    assert found.kind is Difference.ROUNDING
    assert names(found.got)[0][0].startswith("volta/")


def test_a_dropped_tail_is_recognised() -> None:
    a, b = np.ones((3, K), np.float16), np.ones((K, 2), np.float16)
    expected = simulate(HALF, a, b)
    assert (expected == K).all()
    got = np.full_like(expected, K - K % 64)
    found = compared(HALF, expected, got, a, b)
    assert found.kind is Difference.BUG
    assert found.got[0].fault.startswith("a known fault: the incomplete last tile of k is left out")
    assert found.parting is not None
    assert (found.parting.start, found.parting.stop) == (64, K)


def test_scales_of_the_first_part_are_recognised() -> None:
    rng = np.random.default_rng(4)
    k = 256
    import ml_dtypes

    a = rng.standard_normal((3, k)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.standard_normal((k, 2)).astype(ml_dtypes.float8_e4m3fn)
    scales: dict[str, Any] = {
        "scale_a": rng.uniform(0.5, 2, (3, k // 128)).astype(np.float32),
        "scale_b": rng.uniform(0.5, 2, (k // 128, 2)).astype(np.float32),
    }
    expected = simulate(EIGHT, a, b, recipe="cutlass-sm90-fp8-scaled", **scales)
    got = simulate(
        EIGHT, a, b, recipe="cutlass-sm90-fp8-scaled@splits=2,grain=128,scales_of=first-part", **scales
    )
    found = compared(EIGHT, expected, got, a, b, **scales)
    assert not found.expected[0].fault
    assert found.got[0].fault == "a known fault: every part of K uses the scales of the first one"
    assert found.parting is not None
    assert found.parting.start >= 128


def test_what_no_recipe_gives_is_said(tmp_path: Path) -> None:
    """A noise of a few units in the last place."""
    a, b = halves()
    expected = simulate(HALF, a, b, recipe="cublaslt-21@tile=32")
    steps = np.arange(expected.size, dtype=np.uint32).reshape(expected.shape) % 3
    got = (expected.view(np.uint32) + steps).view(np.float32)
    path = tmp_path / "product.npz"
    np.savez(path, a=a, b=b, expected=expected, got=got)
    run = CliRunner().invoke(main, ["explain-mismatch", HALF, "--file", str(path), "--only-unit", "--json"])
    assert run.exit_code == 3, run.output
    data = json.loads(run.stdout)
    assert data["verdict"] == "UNEXPLAINED"
    assert data["got_by"] == []
    assert data["differing"] == 13
    assert (data["first"]["row"], data["first"]["column"]) == (0, 1)
    (found,) = (x for x in data["expected_by"] if x["recipe"] == "cublaslt-21@tile=16")
    assert found["unit"] == HALF
    assert found["units"][0] == HALF
    assert "ada/mma.m16n8k8.f32.f16.f16.f32" in found["units"]
    assert data["hints"]["tried"] > 0
    assert data["hints"]["got_by"] == []


def test_a_unit_altered_in_one_parameter_is_a_hint() -> None:
    a, b = halves()
    altered = f"{HALF}@conversion=RNE-FP32"
    found = compared(HALF, simulate(HALF, a, b), simulate(altered, a, b), a, b)
    assert (found.kind, found.got) == (Difference.UNEXPLAINED, ())
    assert found.hints is not None
    assert (altered, "plain") in names(found.hints.got)
    assert found.hints.expected == ()
    assert found.hints.chances[1] is not None
    assert 0 < found.hints.chances[1] < 1e-3


def test_of_one_element_the_chance_of_an_accident_is_said(tmp_path: Path) -> None:
    """One element of two recipes; of eight none is said."""
    a, b = halves()
    expected, split = simulate(HALF, a, b), simulate(HALF, a, b, recipe="cublaslt-66@splits=2")
    all_of_them = compared(HALF, expected, split, a, b)
    assert (all_of_them.differing, all_of_them.chance) == (8, None)
    i, j = np.argwhere(expected != split)[0]
    some = {"a": a[[i]], "b": b[:, [j]], "expected": expected[[i]][:, [j]], "got": split[[i]][:, [j]]}
    found = compared(HALF, some["expected"], some["got"], some["a"], some["b"])
    assert found.chance is not None
    assert found.chance >= 0.1
    np.savez(tmp_path / "product.npz", **some)
    words = ["compare", HALF, "--file", str(tmp_path / "product.npz"), "--only-unit"]
    said = " ".join(CliRunner().invoke(main, words).output.split())
    assert "; or by accident (" in said
    assert "that one of them fits by accident" in said


def test_a_lone_element_is_wrong_though_a_recipe_gives_it() -> None:
    """An element one unit in the last place off, which is that of some recipe."""
    a, b = halves()
    expected = simulate(HALF, a, b)
    got = expected.copy()
    got[2, 1] = np.nextafter(got[2, 1], np.float32(0), dtype=np.float32)
    found = compared(HALF, expected, got, a, b)
    assert found.kind is Difference.BUG
    assert found.bug is not None
    assert "one element" in found.bug.what


@pytest.mark.parametrize(("start", "stop"), [(7, 8), (56, 72), (0, 5), (30, 41)])
def test_lost_products_are_named_and_no_rounding(start: int, stop: int) -> None:
    a, b = halves()
    lost = a.copy()
    lost[:, start:stop] = 0
    found = compared(HALF, simulate(HALF, a, b), simulate(HALF, lost, b), a, b)
    assert found.kind is Difference.BUG
    assert found.bug is not None
    which = f"the product of k = {start} is" if stop == start + 1 else f"k = {start} to {stop - 1}"
    assert which in found.bug.what
    assert found.bug.what.endswith("missing")


@pytest.mark.parametrize(("what", "factor"), [("subtracted", -1), ("counted twice", 2)])
def test_one_small_product_that_goes_wrong_in_one_element_is_no_rounding(what: str, factor: int) -> None:
    """Of the size of what units round off."""
    kinds: set[Difference] = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        a = rng.standard_normal((1, 16)).astype(np.float16)
        b = rng.standard_normal((16, 1)).astype(np.float16)
        a[0, 5], b[5] = 2.0**-11, 2.0**-10
        wrong = a.copy()
        wrong[0, 5] *= factor
        expected, got = simulate(HALF, a, b), simulate(HALF, wrong, b)
        if (expected == got).all():
            continue
        found = compared(HALF, expected, got, a, b)
        assert found.bug is not None
        assert found.bug.what == f"the product of k = 5 is {what}"
        kinds.add(found.kind)
    assert kinds == {Difference.BUG}


def test_what_differs_is_a_picture(tmp_path: Path) -> None:
    """Beside it the elements, in units of u·|A||B|."""
    pytest.importorskip("matplotlib")
    a, b = halves()
    expected = simulate(HALF, a, b)
    got = expected.copy()
    got[2, 1] = np.nextafter(got[2, 1], np.float32(0), dtype=np.float32)
    got[4, 3] = np.nan
    path, picture = tmp_path / "product.npz", tmp_path / "heat.svg"
    np.savez(path, a=a, b=b, expected=expected, got=got)
    words = ["explain-mismatch", HALF, "--file", str(path), "--only-unit", "--plot", str(picture)]
    run = CliRunner().invoke(main, words)
    assert run.exit_code == 3, run.output
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    first, *lines = picture.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
    assert first.startswith("# tcformal ")
    rows = {(row["row"], row["column"]): float(row["units"]) for row in csv.DictReader(lines)}
    size = float((np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)))[2, 1])
    apart = abs(float(got[2, 1]) - float(expected[2, 1])) / size * 2**24
    assert rows == {("2", "1"): pytest.approx(apart), ("4", "3"): np.inf}


def test_the_picture_of_a_large_product_keeps_the_largest_of_a_tile() -> None:
    far = np.zeros((1200, 3))
    far[1199, 2], far[700, 0], far[701, 0] = 5, 1, 2
    made = _tiled(far)
    assert made.shape == (400, 3)
    assert (made.max(), made[399, 2], made[233, 0]) == (5, 5, 2)
    assert np.count_nonzero(made) == 2
    assert _places(far) == [(701, 0), (1199, 2)]


def test_scales_count_in_the_size_of_a_difference() -> None:
    a, b = np.ones((1, 4), np.float32), np.ones((4, 1), np.float32)
    case = ProductCase(
        a=a, b=b, expected=np.array([[0x40000000]], np.uint32), got=np.array([[0x40000001]], np.uint32),
        d_format=format_named("fp32"), scale_a=np.array([[2.0, 4.0]], np.float32),
        scale_b=np.array([[1.0], [0.5]], np.float32), alpha=-2.0,
    )  # fmt: skip
    assert distances(case)[0, 0] == 2.0**-22 / (2 * (2 + 2 + 2 + 2)) * 2**24


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"b": np.ones((7, 2), np.float16)}, "expected b of shape [72, 4]"),
        ({"got": np.ones((5, 3), np.float32)}, "expected got of shape [5, 4]"),
        ({"a": np.ones((5, K), np.uint32)}, "expected words of 16 bits for fp16 in a of"),
        ({"d": np.ones((5, 4))}, "expected the arrays expected, got, a, b"),
        ({"alpha": np.ones(2)}, "expected one number alpha in"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    a, b = halves()
    d = np.ones((5, 4), np.float32)
    np.savez(tmp_path / "product.npz", **{"expected": d, "got": d, "a": a, "b": b, **change})
    run = CliRunner().invoke(main, ["compare", HALF, "--file", str(tmp_path / "product.npz")])
    assert run.exit_code == 2
    assert sentence in " ".join(run.stderr.split())


def test_words_are_of_the_units_formats(tmp_path: Path) -> None:
    """Operands as raw encodings; of results that are narrower than the unit's the format is given."""
    a, b = halves()
    d = simulate(HALF, a, b, recipe="plain@output=bf16").view(np.uint16)
    np.savez(tmp_path / "product.npz", a=a.view(np.uint16), b=b.view(np.uint16), expected=d)
    words = ["compare", HALF, "--file", str(tmp_path / "product.npz"), "--only-unit", "--json"]
    assert CliRunner().invoke(main, words).exit_code == 2
    run = CliRunner().invoke(main, [*words, "--output", "bf16"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["verdict"] == "MADE BY"
