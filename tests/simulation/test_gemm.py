"""Whole products on arrays: stacks, results in eight bits, what is refused, cuBLASLt's configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcformal import InputError, plan_cublaslt, simulate
from tcformal.design.unit import Evidence

HALF = "hopper/mma.m16n8k16.f32.f16.f16.f32"


def operands(shape_a: tuple[int, ...], shape_b: tuple[int, ...]) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.standard_normal(shape_a).astype(np.float16), rng.standard_normal(shape_b).astype(np.float16)


def test_stacks_are_their_matrices() -> None:
    name = "cublaslt-21@splits=2,output=fp16"
    a, b = operands((2, 3, 80), (2, 80, 4))
    bias = np.arange(4, dtype=np.float16)
    d = simulate(HALF, a, b, recipe=name, bias=bias, alpha=2)
    assert d.shape == (2, 3, 4)
    assert d.dtype == np.float16
    for i in range(2):
        assert (d[i] == simulate(HALF, a[i], b[i], recipe=name, bias=bias, alpha=2)).all()
    tall = simulate(HALF, a, b[0], recipe=name, bias=bias, alpha=2)
    assert (tall[0] == d[0]).all()


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


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"algo": {"ID": 13}}, "^expected a configuration of cuBLASLt whose recipe is known"),
        ({"algo": {"ID": 66, "SPLITK_NUM": -2}}, "whose recipe is known, but got stream-K"),
        ({"algo": {"ID": 66, "SPLITK_NUM": 2, "REDUCTION_SCHEME": 7}}, "but got reduction scheme 7"),
        ({"d": "e4m3"}, "but got results in e4m3"),
        ({"algo": {}}, "^expected the field ID"),
        ({"algo": [66]}, "^expected the fields ID, TILE_ID"),
        ({"b": "fp4"}, "^expected a known format of B"),
        ({"shape": 3}, "^expected a known key of a cuBLASLt record"),
        ({"arch": "ada", "algo": 66}, "no source says on this architecture how they add"),
        ({"arch": "mi300x"}, "^expected a known architecture of NVIDIA"),
    ],
    ids=str,
)  # fmt: skip
def test_configurations_without_a_recipe_are_refused(change: dict[str, Any], sentence: str) -> None:
    record = {"a": "bf16", "b": "bf16", "d": "bf16", "compute": "32F", "algo": {"ID": 66, "STAGES_ID": 35}}
    assert plan_cublaslt(record).recipe.name == "cublaslt-66@output=bf16"
    with pytest.raises(InputError, match=sentence):
        plan_cublaslt({**record, **change})


@pytest.mark.parametrize(
    ("arch", "prefix"),
    [("sm_80", "ampere"), ("rtx4090", "ada"), ("H100", "hopper"), ("sm_120", "rtx-blackwell")],
)
def test_kernels_of_cutlass_are_called_with_the_units_of_every_gpu(arch: str, prefix: str) -> None:
    algo = {"ID": 21, "STAGES_ID": 13}
    found = plan_cublaslt(
        {"arch": arch, "a": "bf16", "b": "bf16", "d": "fp32", "compute": "32F", "algo": algo}
    )
    assert found.unit == f"{prefix}/mma.m16n8k16.f32.bf16.bf16.f32"
    inferred = {fact.evidence for fact in found.recipe.facts.values()} == {Evidence.INFERRED}
    assert inferred == (prefix != "hopper")


@pytest.mark.parametrize(("scheme", "merged"), [(1, "merge=serial"), (2, "fused=c"), (4, "partials=output")])
def test_reduction_schemes_say_how_parts_are_merged(scheme: int, merged: str) -> None:
    algo = {"ID": 24, "SPLITK_NUM": 7, "REDUCTION_SCHEME": scheme, "STAGES_ID": 20}
    found = plan_cublaslt({"a": "fp16", "b": "fp16", "d": "fp16", "compute": "32F", "algo": algo})
    assert merged in found.recipe.name.split(",")
