"""Accumulators that one kernel adds up: the sums as one by one, and which steps are such accumulators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from sampled import one_in
from tcformal.backends import machine
from tcformal.design.names import resolve
from tcformal.design.steps import PlanStep
from tcformal.programs.program import read_program
from tcformal.simulation import evaluation
from tcformal.simulation.arrays import from_raw
from tcformal.simulation.kernels import gemm as kernels
from tcformal.simulation.model_gemm import ModelGemm

QUICK = "volta/mma.m8n8k4.f32.f16.f16.f32"
PLACE = "plain@c_place=epilogue"

pytestmark = [
    pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed"),
    pytest.mark.usefixtures("own_kernels"),
]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """From which k to which accumulators were added up by one kernel."""
    found: list[tuple[int, int]] = []
    real = evaluation.promoted_words

    def told(x: Any, *more: Any) -> Any:
        found.append((x.start, x.stop))
        return real(x, *more)

    monkeypatch.setattr(evaluation, "promoted_words", told)
    return found


def drawn(rng: np.random.Generator, shape: tuple[int, int], rare: float = 0.002) -> NDArray[Any]:
    x = rng.standard_normal(shape).astype(np.float16)
    some = rng.random(shape) < rare
    x[some] = rng.choice(
        np.array([np.inf, -np.inf, np.nan, 65504, 2**-24, -0.0], np.float16), int(some.sum())
    )
    return x


def scales(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[Any]:
    x = (rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)).astype(np.float32)
    x[0, 0] = np.inf
    return x


def one_by_one(model: ModelGemm, a: Any, b: Any, **extras: Any) -> NDArray[Any]:
    """The result where no accumulators are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "accumulators", lambda plan: ())
        return model.matmul(a, b, **extras)


def check(model: ModelGemm, a: Any, b: Any, **extras: Any) -> None:
    """The result in one kernel and one by one."""
    d, wanted = model.matmul(a, b, **extras), one_by_one(model, a, b, **extras)
    assert d.dtype == wanted.dtype
    assert d.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    ("kind", "shape"),
    one_in(3, [("none", (40, 64, 11)), ("product", (13, 71, 40)), ("chained", (40, 63, 11))]),
)
def test_scaled_sums_are_those_of_single_products(
    kind: str, shape: tuple[int, int, int], taken: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and columns in lanes, an accumulator that is not full, several blocks of steps."""
    monkeypatch.setattr(kernels, "_BLOCK_BYTES", 0)
    # A block is three accumulators of two calls each, however many bytes their records have.
    monkeypatch.setattr(kernels.Gemm, "tile_steps", 6)
    (m, k, n), rng = shape, np.random.default_rng(list(shape))
    model = tcformal.gemm(QUICK, f"{PLACE},promotion=8,start=zero,promotion_scales={kind},output=bf16")
    extras: dict[str, Any] = {}
    if kind != "none":
        blocks = -(-k // 8)
        extras = {"scale_a": scales(rng, (m, blocks)), "scale_b": scales(rng, (blocks, n))}
    a, b = drawn(rng, (m, k)), drawn(rng, (k, n))
    check(model, a, b, **extras)
    assert taken == [(0, k)]
    kept = tcformal.unit(QUICK).prepare(b)
    assert model.matmul(a, kept, **extras).tobytes() == model.matmul(a, b, **extras).tobytes()


@pytest.mark.parametrize(
    ("fields", "runs"),
    [
        ("promotion=8,start=zero", [(0, 50)]),
        ("promotion=8,start=first", [(8, 50)]),
        ("promotion=8,splits=2,grain=8,start=first", [(8, 32), (40, 50)]),
        ("promotion=8,first_promotion=12", [(12, 50)]),
        ("promotion=8,first_promotion=12,start=zero", [(0, 20), (20, 50)]),
        ("promotion=2048", []),
        ("splits=3,grain=8", [(24, 50)]),
        ("splits=3,grain=8,partials=bf16", []),
        ("promotion=8,operands=fp32", []),
    ],
)
def test_what_is_added_up_by_one_kernel(fields: str, runs: list[Any], taken: list[Any]) -> None:
    rng = np.random.default_rng(3)
    a, b = drawn(rng, (20, 50)), drawn(rng, (50, 24))
    if "operands" in fields:
        a, b = a.astype(np.float32), b.astype(np.float32)
    check(tcformal.gemm(QUICK, f"{PLACE},{fields}"), a, b)
    assert taken == runs


def test_other_recipes_may_take_the_single_sums(taken: list[Any]) -> None:
    rng, model = np.random.default_rng(6), tcformal.gemm(QUICK, f"{PLACE},promotion=8")
    model.matmul(drawn(rng, (20, 32)), drawn(rng, (32, 24)), memo={})
    assert taken == []


def test_few_rows_are_added_up_one_by_one(taken: list[Any]) -> None:
    rng = np.random.default_rng(4)
    model = tcformal.gemm(QUICK, f"{PLACE},promotion=8")
    check(model, drawn(rng, (kernels.FEW, 32)), drawn(rng, (32, 24)))
    assert taken == []


def test_steps_are_looked_through_from_each_a_few_times() -> None:
    """Where a sum is thousands of rounded steps long, it is not run through again from each of them."""

    class Counted(tuple[PlanStep, ...]):
        reads = 0

        def __getitem__(self, i: Any) -> Any:
            Counted.reads += 1
            return super().__getitem__(i)

    inputs = {"a": "fp16", "b": "fp16", "c": "fp32"}
    body = f"d = call('{QUICK}', a, b, c)\nfor x, y in elements(a, b):\n    d = fma(x, y, d, 'fp32')\n"
    plan = read_program(
        {"title": "call, then more", "source": "none", "inputs": inputs, "body": body}, "x"
    ).plan(400)
    assert evaluation.accumulators(replace(plan, steps=Counted(plan.steps))) == ()
    assert Counted.reads <= 40 * len(plan.steps)


@pytest.mark.long
@pytest.mark.parametrize("name", tcformal.designs())
def test_every_design(name: str, taken: list[Any]) -> None:
    """Any encodings, on every design whose d is a c again and that has no scales of its own."""
    spec = resolve(name)
    if spec.c_format != spec.d_format or spec.scale_format is not None or 2 * spec.k > evaluation._LONGEST:
        pytest.skip("its results are no accumulators, or it takes many products")
    rng = np.random.default_rng(5)
    k = 5 * spec.k
    a, b = (
        from_raw(rng.integers(0, 1 << f.width, shape, np.uint64).astype(f"u{f.storage_bits // 8}"), f)
        for f, shape in ((spec.a_format, (20, k)), (spec.b_format, (k, 40)))
    )
    try:
        model = tcformal.gemm(name, f"{PLACE},promotion={2 * spec.k}")
        wanted = one_by_one(model, a, b)
    except tcformal.InputError as error:
        pytest.skip(str(error))
    assert model.matmul(a, b).tobytes() == wanted.tobytes()
    assert taken
