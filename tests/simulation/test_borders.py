"""Kernels read nothing beyond their operands, which end where memory without access begins."""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kernel_agreement
from tcformal.backends import machine
from tcformal.design.names import resolve
from tcformal.simulation.compiled import dot_rows, gemm, lane_words
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.kernels.threads import Work

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("no_kernels"),
    pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by a function of Linux"),
    pytest.mark.skipif(not machine.available(), reason="llvmlite is not installed"),
]

#: Steps of 2, 3, 4, 5 and 32 products, some of which are no whole words of encodings.
NAMES = (
    "x86/vdpbf16ps",
    "tfdpa@products=3,a_format=e4m3,b_format=e4m3",
    "hopper/mma.m16n8k4.f32.tf32.tf32.f32",
    "valpey@terms=6,a_format=fp16,b_format=fp16",
    "ada/mma.m16n8k32.f32.e4m3.e4m3.f32",
)


def at_the_border(x: NDArray[Any], order: Any) -> NDArray[Any]:
    """A copy whose last byte is the last one of a page, before one that nobody may read."""
    page = mmap.PAGESIZE
    size = -(-x.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + size), ctypes.c_size_t(page), 0) == 0
    copy = np.frombuffer(memory, x.dtype, x.size, size - x.nbytes).reshape(x.shape, order=order)
    copy[:] = x
    return copy


@pytest.mark.parametrize("name", NAMES)
def test_dot_products_end_where_their_rows_do(name: str) -> None:
    spec = resolve(name)
    for k in (spec.k, 5 * spec.k) if spec.c_format == spec.d_format else (spec.k,):
        for n in (1, 15, 33, 200):
            x = kernel_agreement.operands(spec, k, n, n, 7, finite=n % 2 == 0)
            assert x.c is not None
            a, b = at_the_border(x.a, "C"), at_the_border(np.repeat(x.b.T[:1], n, 0), "C")
            c = x.c[:, 0].copy()
            wanted = lane_words(spec, {"a": a, "b": b, "c": c})
            assert (dot_rows(spec)(a, b, c) == wanted).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", NAMES)
def test_few_rows_end_where_the_matrix_does(name: str, order: str) -> None:
    spec = resolve(name)
    for k in (spec.k, 5 * spec.k) if spec.c_format == spec.d_format else (spec.k,):
        for n in (5, 16, 70, 131):
            x = kernel_agreement.operands(spec, k, n, 2, n)
            assert x.c is not None
            with Work(1, progress=False) as work:
                d = gemm(spec, "a").multiply(MatrixWords(x.a, at_the_border(x.b, order), x.c), work)
            rows, columns = np.divmod(np.arange(2 * n), n)
            given = {"a": x.a[rows], "b": x.b.T[columns], "c": x.c.reshape(-1)}
            assert (d.reshape(-1) == lane_words(spec, given)).all()
