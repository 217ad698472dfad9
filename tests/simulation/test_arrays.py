"""Matrix products of arrays: padding, chaining, dtypes, memory layouts, refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError
from tcformal.simulation.arrays import dtypes, from_raw, to_raw
from tcformal.simulation.matrix_unit import unit

AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"
NVFP4 = "rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"


def normal(seed: int, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_raw_encodings_and_values_are_the_same_bits(name: str) -> None:
    fmt = FORMATS[name]
    raw = np.arange(1 << min(fmt.width, 12), dtype=f"u{dtypes()[name].itemsize}")
    assert np.array_equal(to_raw("x", from_raw(raw, fmt), fmt), raw)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (2, 17, 3), (1, 48, 1)])
def test_k_is_padded_and_chained(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    u = unit(AMPERE)
    a, b, c = normal(1, (m, k), np.float16), normal(2, (k, n), np.float16), normal(3, (m, n), np.float32)
    d = u.matmul(a, b, c)
    assert d.dtype == np.float32
    calls = -(-k // 16)
    for i in range(m):
        for j in range(n):
            row, column = (np.zeros((1, calls * 16), np.uint16) for _ in range(2))
            row[0, :k], column[0, :k] = a[i].view(np.uint16), b[:, j].view(np.uint16)
            total = c[i : i + 1, j].view(np.uint32)
            for call in range(calls):
                part = slice(16 * call, 16 * call + 16)
                total = u.dot_bits(row[:, part], column[:, part], total)
            assert d[i, j].view(np.uint32) == total[0]


def test_scales_act_by_block() -> None:
    u = unit(NVFP4)
    fp4 = ml_dtypes.float4_e2m1fn
    a, b = normal(1, (4, 70), fp4), normal(2, (70, 3), fp4)
    ones = np.full((4, 5), 0x38, np.uint8), np.full((5, 3), 0x38, np.uint8)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(u.matmul(a, b, None, *ones), exact.astype(np.float32))
    doubled = ones[0].copy()
    doubled[:, 4] = 0x40
    tail = a[:, 64:].astype(np.float64) @ b[64:].astype(np.float64)
    assert np.array_equal(u.matmul(a, b, None, doubled, ones[1]), (exact + tail).astype(np.float32))


def test_tf32_takes_float32_and_ignores_its_low_bits() -> None:
    u = unit("ampere/mma.m16n8k8.f32.tf32.tf32.f32")
    a, b = normal(1, (2, 8), np.float32), normal(2, (8, 2), np.float32)
    cut = (a.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    assert np.array_equal(u.matmul(a, b), u.matmul(cut, b))


F16 = np.zeros((2, 16), np.float16)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            (F16.astype(np.float32), F16.T),
            "expected dtype float16 for A (fp16), but got float32",
        ),
        ((F16, F16.T.astype(np.int16)), "expected dtype float16 for B (fp16), but got int16"),
        (
            (F16, F16),
            "expected A of shape [M, K] and B of shape [K, N] with M, N, K >= 1, but got [2, 16] and [2, 16]",
        ),
        (
            (F16[:, :0], F16.T[:0]),
            "expected A of shape [M, K] and B of shape [K, N] with M, N, K >= 1, but got [2, 0] and [0, 2]",
        ),
        ((F16, F16.T, np.zeros((3, 2), np.float32)), "expected C of shape [2, 2], but got [3, 2]"),
        ((F16, F16.T, None, F16), f"expected no scales for {AMPERE}, but got some"),
    ],
)
def test_matmul_rejects(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        unit(AMPERE).matmul(*arguments)
    assert str(caught.value) == sentence


def test_scaled_matmul_rejects() -> None:
    u = unit(NVFP4)
    x = np.zeros((2, 64), ml_dtypes.float4_e2m1fn)
    with pytest.raises(InputError, match=r"^expected scale_a and scale_b for .*, but got none$"):
        u.matmul(x, x.T)
    with pytest.raises(
        InputError, match=r"^expected scale_a of shape \[2, 4\] and scale_b of shape \[4, 2\]"
    ):
        u.matmul(x, x.T, None, np.zeros((2, 3), np.uint8), np.zeros((4, 2), np.uint8))


def test_a_unit_with_unequal_c_and_d_is_not_chained() -> None:
    u = unit("volta/mma.m8n8k4.f32.f16.f16.f16")
    x = np.zeros((2, 8), np.float16)
    with pytest.raises(InputError, match=r"^expected K of at most 4 for volta/.*, but got K=8$"):
        u.matmul(x, x.T)
