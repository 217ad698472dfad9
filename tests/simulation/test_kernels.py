"""Matrix products on compiled kernels: shapes, layouts, specials, threads, the cache, life without LLVM."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import kernel_agreement
import tcformal
from tcformal.backends import lanes, llvm, machine
from tcformal.backends.lanes import Code, lane_for
from tcformal.errors import InputError
from tcformal.simulation import compiled as models
from tcformal.simulation.arrays import by_dot_products
from tcformal.simulation.kernels import threads as work
from tcformal.simulation.kernels.gemm import MatrixWords
from tcformal.simulation.matrix_unit import unit
from tcformal.simulation.operands.batch import Raw, batch

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


@pytest.mark.usefixtures("compiled")
def test_overflow_on_the_way() -> None:
    """A result that became Inf is the c of later steps, and meets an Inf of the other sign."""
    name = "volta/mma.m8n8k4.f16.f16.f16.f16"
    a, b = np.full((3, 40), 200, np.float16), np.full((40, 20), 200, np.float16)
    a[1] = -200
    a[2, 36:] = -np.inf
    d = unit(name).matmul(a, b)
    assert same(d, on_lanes(name, a, b))
    assert (d[0] == np.inf).all()
    assert (d[1] == -np.inf).all()
    assert np.isnan(d[2]).all()


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
    wrong = largest_sum()
    models.gemm.cache_clear()
    assert np.allclose(wrong, -62.06, atol=0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_scales() -> None:
    rng = np.random.default_rng(5)
    a, b = normal(1, (5, 70), ml_dtypes.float8_e4m3fn), normal(2, (70, 19), ml_dtypes.float8_e4m3fn)
    scales = {
        "scale_a": rng.integers(120, 134, (5, 3), dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu),
        "scale_b": rng.integers(120, 134, (3, 19), dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu),
    }
    wanted = on_lanes(SCALED, a, b, **scales)
    assert same(unit(SCALED).matmul(a, b, **scales), wanted)
    scales["scale_a"][2, 1] = np.array(0xFF, np.uint8).view(ml_dtypes.float8_e8m0fnu)
    spoilt = unit(SCALED).matmul(a, b, **scales)
    assert np.isnan(spoilt[2]).all()
    assert same(spoilt[[0, 1, 3, 4]], wanted[[0, 1, 3, 4]])


@pytest.mark.usefixtures("compiled")
def test_layouts_give_the_same_and_nothing_is_modified() -> None:
    u = unit(QUICK)
    a, b, c = normal(1, (6, 20)), normal(2, (20, 40)), normal(3, (6, 40), np.float32)
    plain = u.matmul(a, b, c)
    swapped = a.astype(a.dtype.newbyteorder(">"))
    strided = np.asfortranarray(np.repeat(b, 2, axis=1))[:, ::2]
    backwards = np.ascontiguousarray(c[::-1])[::-1]
    frozen = a.copy()
    frozen.flags.writeable = False
    for given in ((swapped, b, c), (a, strided, c), (frozen, b, backwards), (a, b, c)):
        before = [x.tobytes() for x in given]
        assert same(u.matmul(*given), plain)
        assert [x.tobytes() for x in given] == before


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_reject(threads: Any) -> None:
    with pytest.raises(InputError, match=r"^expected an integer.* for threads"):
        unit(QUICK).matmul(normal(1, (1, 1)), normal(2, (1, 1)), threads=threads)


def test_large_products_take_kernels_and_small_ones_none(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    real = models.gemm

    def told(spec: Any, side: str) -> Any:
        taken.append(side)
        return real(spec, side)

    monkeypatch.setattr(models, "gemm", told)
    monkeypatch.setattr(models, "_LOADED", set[object]())
    u = unit(QUICK)
    u.matmul(normal(1, (10, 16)), normal(2, (16, 10)))
    assert taken == []
    u.matmul(normal(1, (128, 128)), normal(2, (128, 128)))
    u.matmul(normal(1, (5000, 210)), normal(2, (210, 1)))
    assert taken == ["a", "b"]
    u.matmul(normal(1, (2, 16)), normal(2, (16, 100)))  # small, but its kernel is there already
    assert taken == ["a", "b", "a"]


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
def test_lanes_are_as_wide_as_their_bounds() -> None:
    assert [lane_for(0, high) for high in (0, 2**32 - 1, 2**32, 2**64 - 1, 2**64)] == [32, 32, 64, 64, 128]
    assert [lane_for(low, 0) for low in (-1, -(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1)] == [
        32, 32, 64, 64, 128,
    ]  # fmt: skip
    assert lane_for(-1, 2**31) == 64


def test_a_lane_that_is_too_narrow_rejects() -> None:
    with pytest.raises(InputError, match=r"^expected bounds that 32 bits hold, but got \[0, 4294967296\]$"):
        Code(16, "v").value("%x", 0, 2**32, 32)


# ------------------------------------------------------------------ the cache of machine code
def files(folder: Path) -> list[Path]:
    return sorted((folder / "tcformal" / "kernels").glob("*"))


def test_machine_code_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert machine.Module(EMPTY, {"nothing": ()}).compiled
    (kept,) = files(tmp_path)
    again: Any = machine.Module(EMPTY, {"nothing": ()})
    assert not again.compiled
    again.nothing()
    other = EMPTY.replace("ret", "br label %end\nend:\n  ret")
    assert machine.Module(other, {"nothing": ()}).compiled
    assert len(files(tmp_path)) == 2
    assert kept in files(tmp_path)


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


def test_a_folder_that_cannot_be_written_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert machine.cache_folder() is None
    module: Any = machine.Module(EMPTY, {"nothing": ()})
    module.nothing()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "made"))
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    assert machine.Module(EMPTY, {"nothing": ()}).compiled
    assert files(tmp_path / "made") == []


# ------------------------------------------------------------------ threads and progress
def test_the_pieces_make_up_the_whole() -> None:
    for threads in (1, 2, 5):
        seen, lock = np.zeros((70, 11), int), threading.Lock()

        def run(rows: slice, tiles: slice, seen: NDArray[Any] = seen, lock: Any = lock) -> None:
            with lock:
                seen[rows, tiles] += 1

        with work.Work(threads, progress=False) as pieces:
            pieces.split_pairs(70, 11, 1 << 16, run)
        assert (seen == 1).all()


def test_a_failing_piece_is_heard() -> None:
    def run(_: slice) -> None:
        raise InputError("a piece that fails")

    with pytest.raises(InputError, match="a piece that fails"), work.Work(2, progress=False) as pieces:
        pieces.split(100, 1 << 20, run)


def test_pieces_run_on_other_threads() -> None:
    names: set[str] = set()
    with work.Work(2, progress=False) as pieces:
        pieces.split(8, 1 << 25, lambda _: names.add(threading.current_thread().name))
    assert names
    assert all(name.startswith("tcformal") for name in names)


def test_a_bar_is_shown_to_whoever_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for patience, shown in ((3600.0, False), (-1.0, True)):
        monkeypatch.setattr(work, "_PATIENCE", patience)
        with work.Work(1, progress=True) as pieces:
            pieces.expect(100)
            pieces.split_pairs(10, 10, 1 << 20, lambda *_: None)
        assert ("multiplying" in capsys.readouterr().err) is shown


# ------------------------------------------------------------------ dot products row by row
@pytest.mark.parametrize(
    ("name", "k"),
    [
        (QUICK, 12),
        (SCALED, 32),
        pytest.param("cdna1/v_mfma_f32_32x32x4bf16", 4, marks=pytest.mark.slow),
        pytest.param("ampere/mma.m8n8k4.f64.f64.f64.f64", 4, marks=pytest.mark.long),
    ],
)
def test_many_rows_are_compiled(name: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of every family, from both sides of the step to compiled code."""
    u = unit(name)
    x = batch(u.spec, k, 1003, 3)
    operands: list[Any] = [x.a, x.b, x.c] if x.scale_a is None else [x.a, x.b, x.c, x.scale_a, x.scale_b]
    monkeypatch.setattr(models, "_LOADED", set())
    monkeypatch.setattr(models, "_SEEN", Counter())
    on_lanes = u.dot_bits(*operands)
    assert not models._LOADED
    monkeypatch.setattr(models, "_ROWS_WORTH_COMPILING", 1500)
    compiled = u.dot_bits(*operands)
    assert {(u.spec, "rows")} == models._LOADED
    assert same(compiled, on_lanes)
    assert u.dot_bits(*(part[:0] for part in operands)).shape == (0,)


def test_rows_that_do_not_fit_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code reads no word that is wider than its format."""
    monkeypatch.setattr(models, "_ROWS_WORTH_COMPILING", 0)
    a, c = np.zeros((2, 4), np.uint32), np.zeros(2, np.uint32)
    with pytest.raises(InputError, match=r"^expected encodings of 16 bits for a\[1\], but got 0x10000$"):
        unit(QUICK).dot_bits(a + np.array([0, 0x10000, 0, 0], np.uint32), a, c)
    with pytest.raises(InputError, match=r"^expected an unsigned integer array for b\[0\]"):
        unit(QUICK).dot_bits(a, a.astype(np.int64), c)


def words_on_lanes(name: str, x: MatrixWords) -> NDArray[Any]:
    """A product of raw encodings without kernels."""
    spec = unit(name).spec

    def by_rows(a: Any, b: Any, c: Any, *scales: Any) -> Any:
        given = {"a": a, "b": b, "c": c} | dict(zip(("scale_a", "scale_b"), scales, strict=False))
        return models.lane_words(spec, given)

    with work.Work(1, progress=False) as threads:
        return by_dot_products(unit(name).spec, by_rows, x, threads)


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        QUICK,
        pytest.param("cdna1/v_mfma_f32_32x32x2f32", marks=pytest.mark.slow),
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
        x = kernel_agreement.operands(spec, k + more, m, m, columns, finite=finite)
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


@pytest.mark.parametrize("special", [False, True])
def test_stacks_are_their_matrices(special: bool) -> None:
    u, rng = unit(QUICK), np.random.default_rng(2)
    s, m, k, n = 30, 33, 33, 35
    a, b = (rng.standard_normal(x).astype(np.float16) for x in ((s, m, k), (s, k, n)))
    c = rng.standard_normal((m, n)).astype(np.float32)
    if special:
        a[3, 5, 6], b[7, 3, 4] = np.nan, np.inf
    words = [x.view(f"u{x.itemsize}") for x in (a, b, np.broadcast_to(c, (s, m, n)).copy())]
    made = models.stack_words(u.spec, words[0], words[1], words[2], 1, False)
    assert made is not None
    wanted = np.stack([u.matmul(a[i], b[i], c) for i in range(s)])
    assert same(made.view(np.float32), wanted)
    assert same(tcformal.simulate(u, a, b, c), wanted)
    assert models.stack_words(unit(SCALED).spec, words[0], words[1], words[2], 1, False) is None


def test_sums_of_hundreds_of_bits_are_compiled_one_by_one() -> None:
    """Two scales of e8m0 spread products over 576 bits; lanes of these are compiled for many minutes."""
    name = "tree@steps=join((0..31)+c),a_format=e4m3,b_format=e4m3,c_format=fp32,d_format=fp32,scale=e8m0/32"
    spec = unit(name).spec
    rows = models.dot_rows(spec)
    for which in ("finite", "any"):
        text = rows.text(which)
        assert " i576 " in text
        assert "x i576>" not in str(machine._optimised(text)[1])
    rng, n = np.random.default_rng(3), 500
    words: dict[str, Raw] = {x: rng.integers(0, 256, (n, spec.k)).astype(np.uint8) for x in "ab"}
    words |= {f"scale_{x}": rng.integers(100, 150, (n, 1)).astype(np.uint8) for x in "ab"}
    words["c"] = rng.integers(0, 1 << 32, n).astype(np.uint32)
    assert (rows(**words) == models.lane_words(spec, words)).all()
