"""Prepared operands: the same results as of arrays, in every place that takes them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from tcformal.backends import machine
from tcformal.errors import InputError
from tcformal.simulation.arrays import dtypes

QUICK = "volta/mma.m8n8k4.f32.f16.f16.f32"
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"

pytestmark = [
    pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed"),
    pytest.mark.usefixtures("own_kernels"),
]


def drawn(shape: tuple[int, ...], fmt: str, *, special: bool = False) -> NDArray[Any]:
    rng = np.random.default_rng(list(shape))
    x = rng.standard_normal(shape).astype(dtypes()[fmt])
    if special:
        x[..., -1, :] = np.nan
    return x


def same(x: NDArray[Any], y: NDArray[Any]) -> bool:
    return x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("m", [1, 3, 20])
def test_products_are_those_of_the_array(m: int, special: bool) -> None:
    u = tcformal.unit(QUICK)
    a, b = drawn((m, 45), "fp16"), drawn((45, 37), "fp16", special=special)
    wanted = u.matmul(a, b)
    for lying in (b, np.asfortranarray(b)):
        kept = u.prepare(lying)
        lying[:] = 0  # what was prepared is a copy
        assert same(u.matmul(a, kept), wanted)
        assert same(u.matmul(a, kept), wanted)
        lying[:] = drawn((45, 37), "fp16", special=special)
        assert kept.nbytes


def test_stacks_recipes_and_scales_take_it() -> None:
    u = tcformal.unit(QUICK)
    a, b = drawn((2, 3, 40), "fp16"), drawn((40, 20), "fp16")
    kept = u.prepare(b)
    assert same(tcformal.simulate(u, a, kept), tcformal.simulate(u, a, b))
    model = tcformal.gemm(QUICK, "plain@c_place=epilogue,promotion=16")
    wanted = model.matmul(a, b)
    assert same(model.matmul(a, kept), wanted)
    assert len(kept._parts) == 4  # the whole, and each accumulator
    scaled = tcformal.unit(SCALED)
    a, b = drawn((2, 64), "e4m3"), drawn((64, 20), "e4m3")
    rng = np.random.default_rng(1)
    scale_a, scale_b = (
        rng.integers(120, 134, x).astype(np.uint8).view(dtypes()["e8m0"]) for x in ((2, 2), (2, 20))
    )
    wanted = scaled.matmul(a, b, None, scale_a, scale_b)
    kept = scaled.prepare(b, scale_b)
    assert same(scaled.matmul(a, kept, None, scale_a), wanted)
    assert same(tcformal.simulate(scaled, a[None], kept, None, scale_a[None])[0], wanted)


def test_what_does_not_fit_is_refused() -> None:
    u, other = tcformal.unit(QUICK), tcformal.unit("hopper/mma.m16n8k16.f32.f16.f16.f32")
    kept = u.prepare(drawn((8, 8), "fp16"))
    a = drawn((2, 8), "fp16")
    with pytest.raises(InputError, match="expected B prepared for hopper"):
        other.matmul(a, kept)
    with pytest.raises(InputError, match="expected B prepared for hopper"):
        tcformal.gemm(other, "plain").matmul(a, kept)
    with pytest.raises(InputError, match="expected no scale_b beside a prepared B"):
        u.matmul(a, kept, None, None, np.ones((1, 8)))
    with pytest.raises(InputError, match="expected dtype float16 for B"):
        u.prepare(np.ones((4, 4)))
    with pytest.raises(InputError, match="to prepare, but got"):
        u.prepare(np.ones(4, np.float16))
