"""Arrays as operands of units with block scales: by NumPy and ml_dtypes, and as the programs make them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tcformal
from tcformal.errors import InputError, UnknownNameError
from tcformal.simulation.arrays import dtypes

MX = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.{}.{}.ue8m0"
NV = "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
MOST = {"e4m3": 448.0, "e5m2": 57344.0, "e3m2": 28.0, "e2m3": 7.5, "e2m1": 6.0}
CUDA: dict[str, Any] = {"rounding": "RU", "by_largest": True}


def normal(seed: int, *shape: int) -> np.ndarray:
    """Numbers of many sizes, block by block."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, (shape[0], 1))).astype(np.float32)


@pytest.mark.parametrize("how", [{}, {"rounding": "RNE"}, {"rounding": "RU"}, CUDA])
@pytest.mark.parametrize("word", sorted(MOST))
def test_mx_blocks_are_those_of_frexp_and_ml_dtypes(word: str, how: dict[str, Any]) -> None:
    """Scales in binary64, elements by casts after a clip: every bit."""
    x, most = normal(1, 40, 100), MOST[word]
    blocks = np.pad(x, ((0, 0), (0, 28))).reshape(40, 4, 32)
    amax = np.abs(blocks).max(2)
    by = (amax / np.float32(most)) if how.get("by_largest") else amax * 2.0 ** -np.floor(np.log2(most))
    m, e = np.frexp(by.astype(np.float64))
    e = e - 1 + {"RZ": m > 1, "RNE": m >= 0.75, "RU": m > 0.5}[how.get("rounding", "RZ")]
    kept = np.clip(blocks / 2.0 ** e[..., None], -most, most).astype(np.float32).astype(dtypes()[word])
    q = tcformal.quantise(x, MX.format(word, word), **how)
    np.testing.assert_array_equal(q.scales.view(np.uint8), e + 127)
    np.testing.assert_array_equal(q.elements.view(np.uint8), kept.reshape(40, 128)[:, :100].view(np.uint8))
    assert q.tensor_scale == 1


def test_nvfp4_is_the_reference_quantiser_in_numpy() -> None:
    """The steps of the reference in float32, one rounded operation each, casts by ml_dtypes."""
    x, f = normal(2, 30, 64), np.float32
    encode = f(448 * 6) / np.abs(x).max()
    decode = f(1) / encode
    blocks = x.reshape(30, 4, 16)
    s = np.minimum(np.abs(blocks).max(2) * (encode * (f(1) / f(6))), f(448)).astype(ml_dtypes.float8_e4m3fn)
    with np.errstate(divide="ignore", over="ignore"):
        by = np.minimum(f(1) / (s.astype(f) * decode), np.finfo(f).max)
    words = np.clip(blocks * by[..., None], f(-6), f(6)).astype(ml_dtypes.float4_e2m1fn)
    q = tcformal.quantise(x, NV)
    assert q.tensor_scale == decode
    np.testing.assert_array_equal(q.scales.view(np.uint8), s.view(np.uint8))
    # Of a scale that is 0 the elements are nothing.
    live = np.repeat(s.astype(f) != 0, 16, 1)
    np.testing.assert_array_equal(q.elements.view(np.uint8)[live], words.reshape(30, 64).view(np.uint8)[live])


@pytest.mark.parametrize(
    ("name", "unit", "how"),
    [
        ("mx", MX.format("e4m3", "e4m3"), {}),
        ("mx@rounding=RU,by_largest=true", MX.format("e4m3", "e4m3"), CUDA),
        ("nvfp4", NV, {}),
    ],
)
def test_products_of_quantised_arrays_are_the_programs(name: str, unit: str, how: dict[str, Any]) -> None:
    """A row times a column, which are whole tensors: the same result, bit for bit."""
    for seed in range(5):
        x, y = normal(seed, 1, 80), normal(seed + 9, 80, 1)
        a, b = tcformal.quantise(x, unit, **how), tcformal.quantise(y, unit, "b", **how)
        alpha = float(a.tensor_scale * b.tensor_scale)
        d = tcformal.simulate(
            unit, a.elements, b.elements, None, a.scales, b.scales, recipe="plain", alpha=alpha
        )
        np.testing.assert_array_equal(d, tcformal.program(name).matmul(x, y))


def test_stacks_zeros_and_narrow_arrays_are_taken() -> None:
    x = np.stack([normal(1, 6, 40), np.zeros((6, 40), np.float32)])
    q = tcformal.quantise(x, MX.format("e4m3", "e4m3"))
    assert (q.elements.shape, q.scales.shape) == ((2, 6, 40), (2, 6, 2))
    assert not q.scales[1].view(np.uint8).any()
    half = tcformal.quantise(x[0].astype(ml_dtypes.bfloat16), NV, "b")
    assert (half.elements.shape, half.scales.shape) == ((6, 40), (1, 40))
    assert half.scales.dtype == ml_dtypes.float8_e4m3fn
    assert tcformal.quantise(np.zeros((1, 16), np.float16), NV).elements.view(np.uint8).sum() in (0, 16 * 7)


@pytest.mark.parametrize(
    ("x", "unit", "how", "sentence"),
    [
        (np.ones((1, 16)), NV, {}, "expected a matrix of float32, float16 or bfloat16, but got float64"),
        (np.ones(16, np.float32), NV, {}, r"but got float32 \[16\]"),
        (
            np.ones((1, 16), np.float32),
            "h100:fp16",
            {},
            "a unit with block scales, such as b200:mxf8, but got",
        ),
        (np.ones((1, 16), np.float32), NV, {"rounding": "RU"}, "no rounding of the scales of NVFP4"),
        (np.ones((1, 16), np.float32), MX.format("e4m3", "e4m3"), {"rounding": "UP"}, "a known rounding"),
    ],
)
def test_what_does_not_fit_rejects(x: np.ndarray, unit: str, how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        tcformal.quantise(x, unit, **how)
    with pytest.raises(UnknownNameError, match="operand"):
        tcformal.quantise(np.ones((1, 16), np.float32), NV, "c")
