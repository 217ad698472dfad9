"""Matrix products of integers: BLAS, the generic kernels and Python integers, wrapping and saturating."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tcformal
from tcformal.design.names import resolve
from tcformal.errors import InputError
from tcformal.simulation.compiled import dot_words
from tcformal.simulation.integer_products import integer_product, numbers
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.threads import Work
from tcformal.simulation.matrix_unit import Unit, replay
from tcformal.simulation.operands.batch import Batch, Raw

WRAP, SATURATE = "hopper/wgmma.m64n8k32.s32.s8.s8", "hopper/wgmma.m64n8k32.satfinite.s32.s8.s8"
UNITS = (
    WRAP, SATURATE, "x86/vpdpbusd", "x86/vpdpbuuds", "x86/vpdpwssd", "a100:int4",
    "ampere/mma.m16n8k64.s32.u4.s4.s32", "arm/udot",
)  # fmt: skip


def words(name: str, m: int, k: int, n: int, seed: int = 1) -> tuple[NDArray[Any], ...]:
    u, rng = resolve(name), np.random.default_rng(seed)
    shapes = ((u.a_format, (m, k)), (u.b_format, (k, n)), (u.c_format, (m, n)))
    return tuple(
        rng.integers(0, 1 << f.width, shape, np.uint64).astype(f"u{f.storage_bits // 8}")
        for f, shape in shapes
    )


def nothing(a: Raw, b: Raw, c: Raw) -> Raw:
    raise AssertionError(f"expected no sum that may saturate, but got {len(a)}")


@pytest.mark.parametrize("name", UNITS)
def test_blas_is_python_integers(name: str) -> None:
    """K beyond what one sum in a floating-point number holds exactly; c small, so that nothing saturates."""
    u = resolve(name)
    a, b, c = words(name, 5, 3000 if "vpdpw" not in name else 1, 7)
    c &= np.array(0xFFFF, c.dtype)
    with Work(1, False) as work:
        d = integer_product(u, MatrixWords(a, b, c), work, nothing)
    exact = numbers(u.a_format, a, object) @ numbers(u.b_format, b, object) + numbers(u.c_format, c, object)
    assert d is not None
    assert d.tolist() == [[int(x) % (1 << u.d_format.width) for x in row] for row in exact]


def test_what_may_saturate_is_left_to_the_calls() -> None:
    u = resolve(SATURATE)
    a, b = np.full((2, 64), 0x80, np.uint8), np.full((64, 2), 0x80, np.uint8)
    c = np.full((2, 2), 0x7FFFFFFF, np.uint32)
    with Work(1, False) as work:
        assert integer_product(u, MatrixWords(a, b, c), work, nothing) is None
        assert integer_product(u, MatrixWords(a, b, c >> np.uint32(4)), work, nothing) is not None
    # The second call takes off what the first one added: it saturated on the way.
    b[32:] = 0x7F
    i8, i32 = np.int8, np.int32
    d = Unit(u).matmul(a.view(i8), b.view(i8), c.view(i32))
    assert d.tolist() == [[0x7FFFFFFF - 32 * 128 * 127] * 2] * 2
    wrapped = tcformal.simulate(WRAP, a.view(i8), b.view(i8), c.view(i32))
    assert wrapped.dtype == i32
    assert wrapped.tolist() == [[0x7FFFFFFF + 32 * 128 - (1 << 32)] * 2] * 2


@pytest.mark.parametrize("name", [SATURATE, "x86/vpdpbusds", "x86/vpdpbuuds"])
def test_the_few_that_may_saturate_are_asked_singly(name: str) -> None:
    u = resolve(name)
    end = u.d_format.largest
    a, b, c = words(name, 48, 4 * u.k, 48)
    c = c // 8 * 3
    c[::9, ::7] = end
    asked = []

    def dots(a: Raw, b: Raw, c: Raw) -> Raw:
        asked.append(len(a))
        return dot_words(u, {"a": a, "b": b, "c": c})

    with Work(1, False) as work:
        d = integer_product(u, MatrixWords(a, b, c), work, dots)
    assert d is not None
    i, j = np.indices(c.shape).reshape(2, -1)
    assert d.ravel().tolist() == replay(u, Batch(a[i], b.T[j], c[i, j])).tolist()
    assert asked == [np.count_nonzero(c == end)]
    assert (d == end).any()
    assert (d[c == end] != end).any() == bool(u.a_format.sign_bit or u.b_format.sign_bit)


def test_dtypes_of_integers() -> None:
    a = np.array([[1, -8]], ml_dtypes.int4)
    assert tcformal.simulate("a100:int4", a, a.T).tolist() == [[65]]
    with pytest.raises(InputError, match="expected dtype int8 for A"):
        tcformal.simulate("h100:int8", np.ones((1, 1), np.float32), np.ones((1, 1), np.int8))
