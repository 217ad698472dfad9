"""Mismatches of whole products: the recipes that give each result, where they part, and known faults."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tcformal import InputError, simulate
from tcformal.cli import main
from tcformal.cli.explain_mismatch import _places, _tiled, distances
from tcformal.design.names import resolve
from tcformal.encodings.catalog import format_named
from tcformal.identification import product_causes
from tcformal.identification.causes import FaultKind
from tcformal.identification.product_causes import (
    ExplainedProduct,
    ProductCase,
    ProductVerdict,
    explain_product,
    product_case,
    product_faults,
)
from tcformal.simulation.model_gemm import gemm

HALF = "ada/mma.m16n8k16.f32.f16.f16.f32"
EIGHT = "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"
K = 72


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One parameter of a unit is varied: enough to tell units and hints apart."""
    from tcformal.design.axes import neighbours as real

    monkeypatch.setattr(
        product_causes, "neighbours", lambda spec: (u for u in real(spec) if "@conversion=" in u.name)
    )


def halves() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.standard_normal((5, K)).astype(np.float16), rng.standard_normal((K, 4)).astype(np.float16)


def explained(unit: str, expected: Any, got: Any, a: Any, b: Any, **extras: Any) -> ExplainedProduct:
    spec = resolve(unit)
    arrays = {"a": a, "b": b, "expected": expected, "got": got, **extras}
    return explain_product(spec, product_case(spec, arrays, "a test"), rivals=False)


def names(found: tuple[Any, ...]) -> list[tuple[str, str]]:
    return [(p.model.unit.name, p.model.recipe.name) for p in found]


def test_split_k_against_one_accumulator_is_rounding() -> None:
    a, b = halves()
    expected = simulate(HALF, a, b)
    got = simulate(HALF, a, b, recipe="cublaslt-66@splits=2")
    found = explained(HALF, expected, got, a, b)
    assert (found.verdict, found.faults, found.hints) == (ProductVerdict.ROUNDING, (), None)
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
    spec = resolve(HALF)
    arrays = {"a": a, "b": b, "expected": expected, "got": got}
    found = explain_product(spec, product_case(spec, arrays, "a test"))
    assert found.verdict is ProductVerdict.ROUNDING
    assert names(found.got)[0][0].startswith("volta/")


def test_a_dropped_tail_is_recognised() -> None:
    a, b = np.ones((3, K), np.float16), np.ones((K, 2), np.float16)
    expected = simulate(HALF, a, b)
    assert (expected == K).all()
    got = np.full_like(expected, K - K % 64)
    found = explained(HALF, expected, got, a, b)
    assert found.verdict is ProductVerdict.FAULT
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
    found = explained(EIGHT, expected, got, a.view(np.uint8), b.view(np.uint8), **scales)
    assert not found.expected[0].fault
    assert found.got[0].fault == "a known fault: every part of K uses the scales of the first one"
    assert found.parting is not None
    assert found.parting.start >= 128


def test_what_no_recipe_gives_is_said(tmp_path: Path) -> None:
    a, b = halves()
    expected = simulate(HALF, a, b, recipe="cublaslt-21@tile=32")
    got = expected.copy()
    got[2, 1] = np.nextafter(got[2, 1], np.float32(0), dtype=np.float32)
    path = tmp_path / "product.npz"
    np.savez(path, a=a, b=b, expected=expected, got=got)
    run = CliRunner().invoke(main, ["explain-mismatch", HALF, "--file", str(path), "--only-unit", "--json"])
    assert run.exit_code == 1, run.output
    data = json.loads(run.stdout)
    assert data["verdict"] == "unexplained"
    assert data["got_by"] == []
    assert (data["differing"], data["largest"]) == (1, 1)
    assert (data["first"]["row"], data["first"]["column"]) == (2, 1)
    (found,) = (x for x in data["expected_by"] if x["recipe"] == "cublaslt-21@tile=16")
    assert (found["unit"], found["fault"]) == (HALF, "")
    assert found["units"][0] == {
        "arch": "ada",
        "processors": ["L4", "L40S", "RTX 40"],
        "names": [HALF, "ada/mma.m16n8k8.f32.f16.f16.f32"],
    }
    assert data["hints"]["tried"] > 0
    assert data["hints"]["got_by"] == []


def test_a_unit_altered_in_one_parameter_is_a_hint() -> None:
    a, b = halves()
    altered = f"{HALF}@conversion=RNE-FP32"
    found = explained(HALF, simulate(HALF, a, b), simulate(altered, a, b), a, b)
    assert (found.verdict, found.got) == (ProductVerdict.UNEXPLAINED, ())
    assert found.hints is not None
    assert (altered, "plain") in names(found.hints.got)
    assert found.hints.expected == ()
    assert found.hints.chances[1] is not None
    assert 0 < found.hints.chances[1] < 1e-3


@pytest.mark.parametrize(("start", "stop"), [(7, 8), (56, 72), (0, 5), (30, 41)])
def test_lost_products_are_named_and_no_rounding(start: int, stop: int) -> None:
    a, b = halves()
    lost = a.copy()
    lost[:, start:stop] = 0
    found = explained(HALF, simulate(HALF, a, b), simulate(HALF, lost, b), a, b)
    assert found.verdict in (ProductVerdict.UNEXPLAINED, ProductVerdict.FAULT)
    assert [(x.kind, x.start, x.stop) for x in found.faults] == [(FaultKind.LEFT_OUT, start, stop)]


@pytest.mark.parametrize(("kind", "factor"), [(FaultKind.NEGATED, -1), (FaultKind.TWICE, 2)])
def test_one_small_product_that_goes_wrong_in_one_element_is_no_rounding(
    kind: FaultKind, factor: int
) -> None:
    """Of the size of what units round off, so that one may give the result by accident."""
    verdicts: set[ProductVerdict] = set()
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
        spec = resolve(HALF)
        case = product_case(spec, {"a": a, "b": b, "expected": expected, "got": got}, "a test")
        assert any((x.kind, x.start) == (kind, 5) for x in product_faults(case, [gemm(HALF)]))
        if len(verdicts) < 2:
            verdicts.add(explain_product(spec, case, rivals=False).verdict)
    assert verdicts
    assert verdicts <= {ProductVerdict.UNDECIDED, ProductVerdict.UNEXPLAINED}


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
    assert run.exit_code == 1, run.output
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
        ({"b": np.ones((7, 2), np.float16)}, r"^expected b of shape \[72, 2\] in a test"),
        ({"got": np.ones((5, 3), np.float32)}, r"^expected got of shape \[5, 4\] in a test"),
        ({"a": np.ones((5, K), np.float32)}, "^expected fp16 for a in a test, but got float32"),
        ({"d": np.ones((5, 4))}, "^expected the arrays a, b"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], sentence: str) -> None:
    a, b = halves()
    d = np.ones((5, 4), np.float32)
    with pytest.raises(InputError, match=sentence):
        explained(HALF, **{"expected": d, "got": d, "a": a, "b": b, **change})
