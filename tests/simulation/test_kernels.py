"""Matrix products on compiled kernels: shapes, layouts, specials, threads, the cache, life without LLVM."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kernel_agreement as sweep
from tcformal.backends import lanes, llvm, lowering, machine
from tcformal.backends.lanes import Code, lane_for
from tcformal.errors import InputError
from tcformal.simulation import compiled as models
from tcformal.simulation.arrays import by_dot_products
from tcformal.simulation.kernels import work
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.unit import unit

#: A unit whose kernels are compiled in half a second.
QUICK = "volta/mma.m8n8k4.f32.f16.f16.f32"
SCALED = "rtx-blackwell/mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"
EMPTY = "define void @nothing() {\n  ret void\n}"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder for the tests of this file."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        models.gemm.cache_clear()
        yield folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every product is compiled, however small."""
    monkeypatch.setattr(models, "_WORTH_COMPILING", 0)


def on_lanes(name: str, *operands: Any, **more: Any) -> NDArray[Any]:
    """The same product without kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "_WORTH_COMPILING", 1 << 62)
        patch.setattr(models, "_LOADED", set[object]())
        return unit(name).matmul(*operands, **more)


def same(x: NDArray[Any], y: NDArray[Any]) -> bool:
    """Equal dtype, shape and bits, NaN words and signs of zero included."""
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def normal(seed: int, shape: tuple[int, int], dtype: Any = np.float16) -> NDArray[Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (7, 13, 5), (2, 3, 101), (101, 3, 2), (1, 40, 67), (67, 40, 1), (16, 8, 16), (33, 31, 65)],
)
def test_awkward_shapes(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b, c = normal(1, (m, k)), normal(2, (k, n)), normal(3, (m, n), np.float32)
    assert same(unit(QUICK).matmul(a, b, c), on_lanes(QUICK, a, b, c))
    assert same(unit(QUICK).matmul(a, b), on_lanes(QUICK, a, b))


@pytest.mark.usefixtures("compiled")
def test_panels_and_blocks_of_k(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands cut in many blocks, each way, with NaN and Inf in some of them only."""
    monkeypatch.setattr("tcformal.simulation.kernels.gemm._PANEL", 32)
    monkeypatch.setattr("tcformal.simulation.kernels.gemm._TILE_BYTES", 600)
    monkeypatch.setattr("tcformal.simulation.kernels.gemm._BLOCK_BYTES", 0)
    a, b = normal(1, (70, 41)), normal(2, (41, 90))
    a[3, 2], a[40, 40], b[7, 1], b[20, 80] = np.nan, np.inf, -np.inf, 0.0
    a[40, 20] = 65504
    wanted = on_lanes(QUICK, a, b)
    assert np.isnan(wanted[3]).all()
    assert np.isinf(wanted[40]).any()
    for threads in (1, 3):
        assert same(unit(QUICK).matmul(a, b, threads=threads), wanted)


def largest_sum() -> NDArray[Any]:
    """A sum of sixteen products just below 4 and a c just below 2."""
    edge = np.float16(1.9990234375)
    a, b = np.zeros((1, 32), np.float16), np.zeros((32, 40), np.float16)
    a[0, 0], b[0] = edge, 1
    a[0, 16:], b[16:] = edge, edge
    models.gemm.cache_clear()
    return unit("hopper/mma.m16n8k16.f32.f16.f16.f32").matmul(a, b)


@pytest.mark.usefixtures("compiled")
def test_seventeen_terms_need_more_than_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lanes that the bounds choose are wide enough; 32 bits give what HAWKEYE's simulator gives."""
    assert (largest_sum() == np.float32(65.93653869628906)).all()

    def hoped(low: int, high: int) -> int:
        return 32 if lane_for(low, high) == 64 and max(-low, high) < 1 << 34 else lane_for(low, high)

    monkeypatch.setattr(lanes, "lane_for", hoped)
    monkeypatch.setattr(llvm, "lane_for", hoped)
    monkeypatch.setattr(lowering, "lane_for", hoped)
    wrong = largest_sum()
    models.gemm.cache_clear()
    assert np.allclose(wrong, -62.06, atol=0.01)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (np.zeros((2, 0), np.float16), np.zeros((0, 3), np.float16), "with M, N, K >= 1"),
        (np.zeros((2, 4), np.float32), np.zeros((4, 3), np.float16), "expected dtype float16 for A"),
        (np.zeros((2, 4), np.float16), np.zeros((5, 3), np.float16), "expected A of shape"),
        (np.zeros(4, np.float16), np.zeros((4, 3), np.float16), "expected A of shape"),
    ],
)
def test_operands_reject(a: Any, b: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        unit(QUICK).matmul(a, b)


@pytest.mark.usefixtures("compiled")
def test_without_llvm_the_results_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = normal(1, (4, 9)), normal(2, (9, 20))
    wanted = unit(QUICK).matmul(a, b)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    machine.available.cache_clear()
    try:
        assert not machine.available()
        monkeypatch.setattr(models, "gemm", None)
        assert same(unit(QUICK).matmul(a, b), wanted)
    finally:
        machine.available.cache_clear()


# ------------------------------------------------------------------ lanes
def test_a_lane_that_is_too_narrow_rejects() -> None:
    with pytest.raises(InputError, match=r"^expected bounds that 32 bits hold, but got \[0, 4294967296\]$"):
        Code(16, "v").value("%x", 0, 2**32, 32)


# ------------------------------------------------------------------ the cache of machine code
def files(folder: Path) -> list[Path]:
    return sorted((folder / "tcformal" / "kernels").glob("*"))


@pytest.mark.parametrize("spoilt", [b"", b"x" * 40, None])
def test_a_spoilt_file_is_compiled_again(
    spoilt: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine.Module(EMPTY, {"nothing": ()})
    (kept,) = files(tmp_path)
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] if spoilt is None else spoilt)
    assert machine.Module(EMPTY, {"nothing": ()}).compiled
    assert kept.read_bytes() == whole


# ------------------------------------------------------------------ dot products row by row
def words_on_lanes(name: str, x: MatrixWords) -> NDArray[Any]:
    """A product of raw encodings without kernels."""
    spec = unit(name).spec

    def by_rows(a: Any, b: Any, c: Any, *scales: Any) -> Any:
        given = {"a": a, "b": b, "c": c} | dict(zip(("scale_a", "scale_b"), scales, strict=False))
        return models.dot_products(spec, spec.k).on_lanes(given, len(c)).astype(c.dtype)

    with work.Work(1, progress=False) as threads:
        return by_dot_products(unit(name).spec, by_rows, x, threads)


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        QUICK,
        "cdna1/v_mfma_f32_32x32x2f32",
        pytest.param(SCALED, marks=pytest.mark.long),
        pytest.param("ampere/mma.m8n8k4.f64.f64.f64.f64", marks=pytest.mark.long),
        pytest.param("x86/vdpbf16ps", marks=pytest.mark.long),
        pytest.param("arm/bfdot.ebf1", marks=pytest.mark.long),
    ],
)
def test_few_rows_and_dot_products_are_those_of_lanes(name: str, turned: bool, finite: bool) -> None:
    """Few rows and few columns, ends of k and of tiles included, and the same elements row by row."""
    spec = unit(name).spec
    # Whole pieces of short steps, and steps that are left.
    k = spec.k * max(3, 38 // spec.k)
    for side, m, columns, more in (("a", 1, 70, 0), ("a", 3, 33, 1), ("b", 50, 2, 1)):
        x = sweep.operands(spec, k + more, m, m, columns, finite=finite)
        if turned:
            x = replace(x, a=np.asfortranarray(x.a), b=np.asfortranarray(x.b))
        wanted = words_on_lanes(name, x)
        kernels = models.gemm(spec, side)
        with work.Work(1, progress=False) as threads:
            assert (kernels.multiply(x, threads) == wanted).all()
        if not more:
            assert x.c is not None
            scales: tuple[Any, ...] = ()
            if x.scale_a is not None and x.scale_b is not None:
                scales = np.repeat(x.scale_a, columns, 0), x.scale_b.T
            found = models.dot_rows(spec)(np.repeat(x.a, columns, 0), x.b.T, x.c[0], *scales)
            assert (found == wanted[0]).all()
