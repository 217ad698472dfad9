"""Whole products of libraries on real GPUs, given bit for bit by calls of the unit that their kernels use."""

from __future__ import annotations

import json
import lzma
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal import simulate

ROOT = Path(__file__).resolve().parents[2]
#: What made the operands where the products were recorded.
INPUTS = runpy.run_path(str(ROOT / "hw_probes" / "gemm" / "inputs.py"))
DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "fp32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
#: The unit that cuBLASLt's algorithm 66 calls, by the formats of A and B.
CALLED = {
    ("fp16", "fp16"): "hopper/wgmma.m64n8k16.f32.f16.f16",
    ("bf16", "bf16"): "hopper/wgmma.m64n8k16.f32.bf16.bf16",
    ("e4m3", "e4m3"): "hopper/wgmma.m64n8k32.f32.e4m3.e4m3",
    ("e4m3", "e5m2"): "hopper/wgmma.m64n8k32.f32.e4m3.e5m2",
    ("e5m2", "e4m3"): "hopper/wgmma.m64n8k32.f32.e5m2.e4m3",
}
#: What has no place in these tests: what is added, scaled, batched or laid out in another way.
_MORE = {"beta", "alpha", "bias", "scales", "batch", "trans"}
_PROMOTED = 128  # products that one accumulator of the 8-bit kernels takes without fast accumulation
_ALGORITHM, _SPLITS = 0, 2  # of an algorithm's fields


@cache
def recorded(name: str) -> list[dict[str, Any]]:
    """The products in the recordings of one library."""
    lines: list[dict[str, Any]] = []
    for path in sorted((ROOT / "results" / "products").glob(f"*/{name}.jsonl.xz")):
        with lzma.open(path, "rt") as file:
            lines += [line for line in map(json.loads, file) if line["kind"] == "product"]
    return lines


def operands(a: str, b: str, m: int, n: int, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A [m, k] and B [k, n] of a recorded product."""
    x, y = INPUTS["operand"](a, "a", m, k), INPUTS["operand"](b, "b", n, k)
    return x.view(DTYPES[a]), np.ascontiguousarray(y.view(DTYPES[b]).T)


def called(unit: str, a: NDArray[Any], b: NDArray[Any], every: int | None) -> NDArray[Any]:
    """A·B by calls of a unit, each result the next c; with `every`, closed after so many products."""
    if every is None:
        return simulate(unit, a, b, progress=False)
    parts = (
        simulate(unit, np.ascontiguousarray(a[:, k : k + every]), b[k : k + every], progress=False)
        for k in range(0, a.shape[1], every)
    )
    total = next(parts)
    for part in parts:
        total = total + part
    return total


def digest(d: NDArray[Any], fmt: str) -> str:
    """What the recording keeps of a result, after its conversion."""
    with np.errstate(over="ignore"):
        words = d.astype(DTYPES[fmt]).view(f"u{np.dtype(DTYPES[fmt]).itemsize}")
    return str(INPUTS["digest"](words))


def of_cublaslt(rows: int, longest: int) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Plain products of algorithm 66 without split K, with the digests of what it gave."""
    for p in recorded("cublaslt"):
        if _MORE & set(p) or p["m"] > rows or p["k"] > longest or (p["a"], p["b"]) not in CALLED:
            continue
        given = {
            r["sha256"]
            for r in p["results"]
            if any(x[_ALGORITHM] == 66 and x[_SPLITS] == 1 for x in r["algos"]) and p["compute"] == "32F"
        }
        if given:
            yield p, given


def check_cublaslt(rows: int, longest: int) -> dict[str, int]:
    """Compare; the number of products by the formats of A."""
    seen: dict[str, int] = {}
    for p, given in of_cublaslt(rows, longest):
        every = _PROMOTED if p.get("fast") == 0 else None
        a, b = operands(p["a"], p["b"], p["m"], p["n"], p["k"])
        assert {digest(called(CALLED[p["a"], p["b"]], a, b, every), p["d"])} == given, p
        seen[p["a"]] = seen.get(p["a"], 0) + 1
    return seen


def test_cublaslt_is_calls_of_wgmma() -> None:
    assert check_cublaslt(rows=64, longest=128).keys() == {"fp16", "bf16", "e4m3", "e5m2"}


@pytest.mark.long
def test_cublaslt_is_calls_of_wgmma_in_every_recorded_product() -> None:
    seen = check_cublaslt(rows=512, longest=40_000)
    assert all(count > 60 for count in seen.values()), seen


@pytest.mark.parametrize(
    ("unit", "every"),
    [("ampere/mma.m16n8k16.f32.bf16.bf16.f32", None), ("hopper/wgmma.m64n8k16.f32.bf16.bf16", 64)],
    ids=["another-unit", "closed-accumulators"],
)
def test_other_arithmetic_gives_other_bits(unit: str, every: int | None) -> None:
    for p, given in of_cublaslt(64, 512):
        if p["a"] == "bf16" and p["d"] == "fp32" and p["k"] == 512:
            a, b = operands(p["a"], p["b"], p["m"], p["n"], p["k"])
            assert digest(called(unit, a, b, every), p["d"]) not in given
            return
    pytest.fail("expected a recorded product of bf16 with K=512, but there is none")


def test_triton_is_calls_of_the_instructions_in_its_code() -> None:
    seen = set()
    for p in recorded("triton"):
        names = [
            x.replace(".sync.aligned", "").replace("wgmma.mma_async", "wgmma") for x in p["instructions"]
        ]
        unit = "hopper/" + names[0].replace(".row.col", "") if len(names) == 1 else ""
        direct = p["precision"] == "tf32" and p["imprecise"] is None and p["k"] <= 128
        if not direct or not unit or (p["a"].startswith("e") and "/mma." in unit):
            continue  # more than one call for a product, or operands that are converted first
        d = called(unit, *operands(p["a"], p["a"], p["m"], p["n"], p["k"]), None)
        assert digest(d, "fp32") == p["sha256"], p
        seen.add(p["a"])
    assert seen == {"fp16", "bf16", "fp32", "e4m3", "e5m2"}
