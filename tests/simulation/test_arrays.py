"""Matrix products of arrays: padding, chaining, dtypes, memory layouts, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tcformal.encodings.catalog import FORMATS
from tcformal.errors import InputError
from tcformal.simulation.arrays import dtypes, from_raw, to_raw
from tcformal.simulation.unit import unit

AMPERE = "ampere/mma.m16n8k16.f32.f16.f16.f32"


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


F16 = np.zeros((2, 16), np.float16)


@pytest.mark.parametrize(
    "arguments",
    [
        (F16.astype(np.float32), F16.T), (F16, F16.T.astype(np.int16)), (F16, F16), (F16[:, :0], F16.T[:0]),
        (F16, F16.T, np.zeros((3, 2), np.float32)), (F16, F16.T, None, F16),
    ],
)  # fmt: skip
def test_matmul_rejects(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match="expected "):
        unit(AMPERE).matmul(*arguments)
