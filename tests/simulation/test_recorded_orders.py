"""Scans for the order of a sum: what they ask for, and recordings given bit for bit by calls of a unit."""

from __future__ import annotations

import json
import lzma
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from simulation.recorded import computed, planned, what_matters
from tcformal import gemm, simulate

ROOT = Path(__file__).resolve().parents[2]
#: What made the operands where the scans were recorded, and what says which unit a product calls.
INPUTS = runpy.run_path(str(ROOT / "hw_probes" / "gemm" / "inputs.py"))
DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "fp32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "fp64": np.float64,
}  # fmt: skip
CALLED = {
    "fp16": "hopper/wgmma.m64n8k16.f32.f16.f16", "bf16": "hopper/wgmma.m64n8k16.f32.bf16.bf16",
    "e4m3": "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "tf32": "hopper/wgmma.m64n8k8.f32.tf32.tf32",
}  # fmt: skip
RECORDINGS = sorted((ROOT / "results" / "products").glob("*/orders-cublaslt.jsonl.xz"))

Scan = dict[str, Any]


def operands(p: Scan) -> list[NDArray[Any]]:
    """A [m, k], B [k, n] and, where it takes part, C [m, n]."""
    made = [INPUTS["scan_operand"](p, which) for which in ("abc" if p["scan"] == "with c" else "ab")]
    values = [x.view(DTYPES[p[y if y != "c" else "d"]]) for x, y in zip(made, "abc", strict=False)]
    return [values[0], *(np.ascontiguousarray(x.T) for x in values[1:])]


def words(p: Scan, unit: str) -> NDArray[Any]:
    """The raw words of a scan with results in fp32, computed by calls of a unit."""
    return simulate(unit, *operands(p), progress=False).view(np.uint32)


def units_of_least(p: Scan, d: NDArray[Any]) -> NDArray[np.int64]:
    """Results as integers: counts of terms, or masks of marks."""
    (_, _, small_a, small_b), _ = INPUTS["_scan_of"](p)
    whole = np.ldexp(d.astype(np.float64), -small_a - small_b)
    assert (whole == np.rint(whole)).all()
    return np.asarray(whole.astype(np.int64))


def lost(p: Scan, d: NDArray[Any], row: int, column: int) -> set[int]:
    """The places of k whose marks do not reach a result of a scan of sets."""
    found = INPUTS["places"](p)
    mask = int(units_of_least(p, d[row : row + 1, column : column + 1])[0, 0])
    return {k for i, k in enumerate(found["marks"][row]) if not mask >> i & 1}


def asked(**more: Any) -> Scan:
    """A scan of fp16 to fp32."""
    return {"scan": "sets", "m": 64, "n": 64, "k": 96, "a": "fp16", "b": "fp16", "d": "fp32", **more}


@pytest.mark.parametrize("fmt", ["fp16", "bf16", "e4m3", "tf32"])
def test_marks_of_the_call_that_holds_both_places_are_lost(fmt: str) -> None:
    p = asked(a=fmt, b=fmt)
    unit = CALLED[fmt]
    step = {"tf32": 8, "e4m3": 32}.get(fmt, 16)
    d = simulate(unit, *operands(p), progress=False)
    found = INPUTS["places"](p)
    for row, column in ((0, 0), (7, 20), (30, 5), (63, 63)):
        x, y = found["p"][row], found["q"][column]
        # A chain: what came before the first of both is lost with c, what comes after the second is not.
        gone = {k for k in found["marks"][row] if k < (max(x, y) // step + 1) * step}
        assert lost(p, d, row, column) == gone


def test_counts_are_those_of_the_terms_that_remain() -> None:
    p = asked(scan="pairs")
    d = simulate(CALLED["fp16"], *operands(p), progress=False)
    found = INPUTS["places"](p)
    counts = units_of_least(p, np.where(np.equal.outer(found["p"], found["q"]), 0, d))
    # Places 0 and 95 of 96 lose all; two in the first call of 16 lose that call.
    assert counts[0, -1] == 0
    assert counts[0, 1] == 96 - 16


def test_a_large_c_joins_where_the_unit_takes_it() -> None:
    p = asked(scan="with c")
    d = simulate(CALLED["fp16"], *operands(p), progress=False)
    found = INPUTS["places"](p)
    for row, column in ((0, 0), (40, 50)):
        gone = {k for k in found["marks"][row] if k < (found["q"][column] // 16 + 1) * 16}
        assert lost(p, d, row, column) == gone


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize(("fmt", "tall"), [("fp32", "b"), ("fp32", "a")])
def test_rows_in_one_operand_show_a_chain(fmt: str, tall: str, splits: int) -> None:
    m, n, k = (1, 256, 100) if tall == "b" else (256, 1, 100)
    base = {"m": m, "n": n, "k": k, "tall": tall, "a": fmt, "b": fmt, "d": "fp32"}
    recipe = f"cublaslt-20@tile=4,splits={splits},grain=4,ragged_grain=0,grain_unit=products"
    chain = gemm("cdna1/v_mfma_f32_32x32x2f32", recipe)

    def kept(p: Scan) -> NDArray[Any]:
        return np.asarray(chain.matmul(*operands(p), progress=False)).ravel()

    p = {"scan": "rows", **base}
    found, got = INPUTS["row_places"](p), np.ldexp(kept(p).astype(np.float64), 30).astype(np.int64)
    last = np.maximum(found["p"], found["q"])[:, None]
    marks = found["marks"]
    bits = (got[:, None] >> np.arange(marks.shape[1]) & 1).astype(bool)
    # In one chain just the terms after both large numbers remain; with K in two parts, others do too.
    assert (bits == (marks > last)).all() == (splits == 1)
    p = {"scan": "row pairs", **base}
    found, got = INPUTS["row_places"](p), np.ldexp(kept(p).astype(np.float64), 60)
    expected = k - 1 - np.maximum(found["p"], found["q"])
    assert (got == expected)[found["p"] != found["q"]].all() == (splits == 1)


def test_scales_are_laid_out_by_kind() -> None:
    shapes = {"tensor": (1, 1), "rows": (300, 1), "1x128": (300, 8), "128x128": (3, 8)}
    for kind, shape in shapes.items():
        x = INPUTS["scales"](kind, "a", 300, 1000).view(np.float32)
        assert x.shape == shape
        assert (x >= 2**-4).all()
        assert (x < 2**4).all()
        assert (INPUTS["scales"](kind, "a", 300, 1000, ones=True).view(np.float32) == 1).all()


@pytest.mark.parametrize("scan", ["sets", "pairs"])
def test_another_order_gives_another_matrix(scan: str) -> None:
    p = asked(scan=scan)
    first, second = (
        words(p, f"{unit}.f32.f16.f16.f32") for unit in ("hopper/mma.m16n8k16", "ampere/mma.m16n8k8")
    )
    assert (first != second).any()


def test_words_are_packed_and_read_again() -> None:
    d = words(asked(), CALLED["fp16"])
    text = INPUTS["packed"](d)
    assert (INPUTS["unpacked"](text, d.shape, 32) == d).all()
    many = np.random.default_rng(1).integers(0, 1 << 16, d.shape, np.uint64).astype(np.uint16)
    assert (INPUTS["unpacked"](INPUTS["packed"](many), d.shape, 16) == many).all()
    # One other word, and the digest by which a matrix is kept no longer fits.
    other = d.copy()
    other[3, 5] ^= 1
    assert INPUTS["digest"](INPUTS["unpacked"](INPUTS["packed"](other), d.shape, 32)) != INPUTS["digest"](d)


# ---------------------------------------------------------------------------------------- recordings


@cache
def recorded() -> tuple[list[Scan], dict[str, Scan]]:
    """The scans, and the matrices by digest, of every machine."""
    scans: list[Scan] = []
    matrices: dict[str, Scan] = {}
    for path in RECORDINGS:
        with lzma.open(path, "rt") as file:
            for line in map(json.loads, file):
                if line["kind"] == "scan":
                    scans.append(line)
                elif line["kind"] == "matrix":
                    matrices[line["sha256"]] = line
    return scans, matrices


def check(rows: int, longest: int, wanted: tuple[int, ...] = ()) -> dict[int, int]:
    """Compare scans with the products that their algorithms compute; how many, by algorithm."""
    seen: dict[int, int] = {}
    for p in recorded()[0]:
        if p["m"] > rows or p["k"] > longest:
            continue
        given = operands(p)
        made: dict[Any, str] = {}
        for r in p["results"]:
            for fields in r["algos"]:
                if not planned(p, fields) or (wanted and fields[0] not in wanted):
                    continue
                key = what_matters(p, fields)
                if key not in made:
                    made[key] = INPUTS["digest"](computed(p, fields, given[0], given[1], *given[2:]))
                assert made[key] == r["sha256"], (p, fields)
                seen[fields[0]] = seen.get(fields[0], 0) + 1
    return seen


needs_recordings = pytest.mark.skipif(not RECORDINGS, reason="results/products has no scans of orders")


@needs_recordings
def test_scans_of_cublaslt_are_chains_of_units() -> None:
    assert check(rows=16, longest=72, wanted=(21, 66)).keys() == {21, 66}


@needs_recordings
@pytest.mark.long
def test_scans_are_products_in_the_known_order() -> None:
    seen = check(rows=128, longest=1100)
    assert seen.keys() >= {20, 21, 22, 23, 35, 36, 55, 66}
    assert sum(seen.values()) > 2500


@needs_recordings
def test_matrices_have_the_digests_that_they_are_kept_by() -> None:
    for name, line in list(recorded()[1].items())[:200]:
        d = INPUTS["unpacked"](line["words"], tuple(line["shape"]), line["width"])
        assert INPUTS["digest"](d) == name
