"""Whole products on arrays: stacks, results in eight bits, what is refused, cuBLASLt's configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcformal import InputError, simulate

HALF = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def operands(shape_a: tuple[int, ...], shape_b: tuple[int, ...]) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.standard_normal(shape_a).astype(np.float16), rng.standard_normal(shape_b).astype(np.float16)


def test_results_in_eight_bits_saturate_or_are_refused() -> None:
    a, b = np.full((1, 64), 64, np.float16), np.full((64, 1), 64, np.float16)
    d = simulate(HALF, a, b, recipe="cublaslt-66@output=e4m3,saturate=true")
    assert float(d[0, 0]) == 448
    assert float(simulate(HALF, a, b, recipe="cublaslt-66@output=e5m2")[0, 0]) == float("inf")
    assert float(simulate(HALF, a, b, recipe="cublaslt-66@output=e5m2,saturate=true")[0, 0]) == 57344
    with pytest.raises(InputError, match=r"^expected saturate=true for results in e4m3, which has no Inf"):
        simulate(HALF, a, b, recipe="cublaslt-66@output=e4m3")


@pytest.mark.parametrize(
    ("extras", "sentence"),
    [
        ({"alpha": 2}, "^expected a recipe beside alpha"),
        ({"recipe": "plain", "beta": 2, "c": np.ones((2, 3), np.float32)}, "^expected no beta for the"),
        ({"recipe": "cublaslt-66", "beta": 2}, "^expected C beside beta = 2"),
        ({"recipe": "cublaslt-66", "c": np.ones((2, 3))}, "^expected dtype float32 for C, but got float64"),
        ({"recipe": "deepgemm-sm90@promotion=32"}, r"^expected scale_a of shape \[2, 1\]"),
        ({"recipe": "cublaslt-66", "scale_a": np.ones(1)}, "^expected no scale_a for the recipe"),
        (
            {"recipe": "cutlass-split-k-serial@grain=16,tile=16", "bias": np.ones(3, np.float32)},
            "^expected no bias for the recipe",
        ),
        ({"recipe": "cublaslt-6"}, "^expected a known recipe, but got 'cublaslt-6'"),
        ({"recipe": "cublaslt-66@splits"}, "^expected FIELD=VALUE in the recipe"),
        ({"recipe": "stream-k@splits=2"}, "^expected splits or stream for the recipe"),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_place_is_refused(extras: dict[str, Any], sentence: str) -> None:
    a, b = operands((2, 32), (32, 3))
    with pytest.raises(InputError, match=sentence):
        simulate(HALF, a, b, **extras)
